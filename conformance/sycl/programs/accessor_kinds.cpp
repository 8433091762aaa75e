// Accessors of parts as a kernel's arguments: the address, the two ranges and the beginning are those of the part that was
// asked for, and a buffer that is part of another is seen through both.
#include "check.hpp"

static const char *const source = R"(
    #define ACCESSOR(type, name) type *name, unsigned long name##_range, unsigned long name##_memory, unsigned long name##_first
    KERNEL(syclex::nd_range_kernel<1>) add(ACCESSOR(int, data), long *seen, int by) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        data[data_first + i] += by;
        if (i == 0) {
            seen[0] = static_cast<long>(data_range);
            seen[1] = static_cast<long>(data_memory);
            seen[2] = static_cast<long>(data_first);
        }
    }
)";

PROGRAM("accessor_kinds") {
    sycl::queue queue;
    const auto kernel = check::kernel(queue, source, "add");
    constexpr std::size_t count = 1024;
    check::memory<long> seen(3, queue, sycl::usm::alloc::shared);
    std::vector<int> mine(count, 1);
    {
        sycl::buffer<int> buffer{mine.data(), count};
        for (std::size_t first : {0, 64, 960}) {
            queue.submit([&](sycl::handler &handler) {
                sycl::accessor<int, 1, sycl::access_mode::read_write> part{buffer, handler, sycl::range<1>(64), sycl::id<1>(first)};
                handler.set_args(part, seen.data, 10);
                handler.parallel_for(sycl::nd_range<1>(64, 32), kernel);
            });
            queue.wait_and_throw();
            check::same(seen[0], 64L, "the range of the part");
            check::same(seen[1], static_cast<long>(count), "the range of the memory");
            check::same(seen[2], static_cast<long>(first), "the beginning of the part");
        }
        // A part of a buffer that is a buffer itself.
        sycl::buffer<int> half{buffer, sycl::id<1>(512), sycl::range<1>(256)};
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor<int, 1, sycl::access_mode::read_write> all{half, handler};
            handler.set_args(all, seen.data, 100);
            handler.parallel_for(sycl::nd_range<1>(256, 32), kernel);
        });
        queue.wait_and_throw();
        check::same(seen[1], 256L, "the range of the smaller buffer");
        // Contents that a command throws away are not brought, and what it writes is there.
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor fresh{half, handler, sycl::write_only, sycl::no_init};
            handler.fill(fresh, 7);
        });
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor<int, 1, sycl::access_mode::read_write> all{half, handler};
            handler.set_args(all, seen.data, 1000);
            handler.parallel_for(sycl::nd_range<1>(256, 32), kernel);
        });
    }
    check::each(mine.data(), count,
                [](std::size_t i) { return i >= 512 && i < 768 ? 1007 : i < 128 || i >= 960 ? 11 : 1; }, "the memory");
}
