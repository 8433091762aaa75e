// Local memory of a size that the launch decides, one block and two; barriers order it.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) reverse(int *data, syclex::work_group_memory<int[]> scratch) {
        const auto item = this_item::get_nd_item<1>();
        const auto local = item.get_local_id(0), size = item.get_local_range(0);
        scratch[local] = data[item.get_global_id(0)];
        sycl::group_barrier(item.get_group());
        data[item.get_global_id(0)] = scratch[size - 1 - local];
    }
    KERNEL(syclex::nd_range_kernel<1>)
    rotate(int *data, syclex::work_group_memory<int[]> scratch, syclex::work_group_memory<long[]> other) {
        const auto item = this_item::get_nd_item<1>();
        const auto local = item.get_local_id(0), size = item.get_local_range(0);
        scratch[local] = data[item.get_global_id(0)];
        other[local] = 1000;
        sycl::group_barrier(item.get_group());
        data[item.get_global_id(0)] = scratch[(local + 1) % size] + static_cast<int>(other[(local + 2) % size]);
    }
)";

PROGRAM("local_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    auto bundle = check::compile(queue.get_context(), source);
    constexpr std::size_t count = 2048;
    check::memory<int> data(count, queue, sycl::usm::alloc::shared);
    for (std::size_t group : {64, 128, 256}) {
        std::iota(data.data, data.data + count, 0);
        queue.submit([&](sycl::handler &handler) {
            check::syclex::work_group_memory<int[]> scratch{group, handler};
            handler.set_args(data.data, scratch);
            handler.parallel_for(sycl::nd_range<1>(count, group), bundle.ext_oneapi_get_kernel("reverse"));
        });
        queue.wait_and_throw();
        check::each(data.data, count, [&](std::size_t i) { return static_cast<int>(i / group * group + group - 1 - i % group); },
                    "reversed");
        std::iota(data.data, data.data + count, 0);
        queue.submit([&](sycl::handler &handler) {
            check::syclex::work_group_memory<int[]> scratch{group, handler};
            check::syclex::work_group_memory<long[]> other{group, handler};
            handler.set_args(data.data, scratch, other);
            handler.parallel_for(sycl::nd_range<1>(count, group), bundle.ext_oneapi_get_kernel("rotate"));
        });
        queue.wait_and_throw();
        check::each(data.data, count, [&](std::size_t i) { return static_cast<int>(i / group * group + (i + 1) % group + 1000); },
                    "rotated");
    }
}
