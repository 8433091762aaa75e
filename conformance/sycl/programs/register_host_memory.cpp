// Memory that the process has from elsewhere becomes known to the driver: kernels and copies use it, and after it was
// taken back it is the process's own again.
#include "check.hpp"

#if __has_include(<sycl/ext/oneapi/experimental/register_host_memory.hpp>)
#include <sycl/ext/oneapi/experimental/register_host_memory.hpp>

#include <sys/mman.h>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) raise(int *data, int by) { data[this_item::get_nd_item<1>().get_global_id(0)] += by; }
    KERNEL(syclex::nd_range_kernel<1>) read(const int *from, int *to) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        to[i] = from[i] * 2;
    }
)";

// Pages of the process.
struct pages {
    int *data;
    std::size_t bytes;

    explicit pages(std::size_t size)
        : data(static_cast<int *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))), bytes(size) {
        check::that(data != MAP_FAILED, "there is no memory");
    }
    ~pages() { munmap(data, bytes); }
};

PROGRAM("register_host_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_register_host_memory)) {
        throw check::skipped("the device cannot have memory registered");
    }
    auto bundle = check::compile(context, source);
    const auto launch = [&](const char *name, auto... arguments) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(arguments...);
            handler.parallel_for(sycl::nd_range<1>(4096, 64), bundle.ext_oneapi_get_kernel(name));
        });
    };
    constexpr std::size_t count = 4096, bytes = count * sizeof(int);
    pages memory{bytes};
    check::memory<int> device(count, queue, sycl::usm::alloc::device);
    for (int round = 0; round < 3; round++) {
        std::iota(memory.data, memory.data + count, round);
        check::syclex::register_host_memory(memory.data, bytes, context);
        check::that(sycl::get_pointer_type(memory.data, context) == sycl::usm::alloc::host, "registered memory is no host memory");
        launch("raise", memory.data, 100);
        queue.memcpy(device.data, memory.data, bytes);
        queue.fill(memory.data, -1, count / 2);
        queue.wait_and_throw();
        check::each(memory.data, count,
                    [&](std::size_t i) { return i < count / 2 ? -1 : static_cast<int>(i) + round + 100; }, "the registered memory");
        queue.memcpy(memory.data, device.data, bytes).wait_and_throw();
        check::each(memory.data, count, [&](std::size_t i) { return static_cast<int>(i) + round + 100; }, "what was copied back");
        check::syclex::unregister_host_memory(memory.data, context);
        check::that(sycl::get_pointer_type(memory.data, context) == sycl::usm::alloc::unknown,
                    "memory that was taken back is still known");
    }
    check::syclex::register_host_memory(memory.data, bytes, context, check::syclex::properties{check::syclex::read_only});
    std::vector<int> back(count);
    launch("read", static_cast<const int *>(memory.data), device.data);
    queue.memcpy(back.data(), device.data, bytes).wait_and_throw();
    check::each(back.data(), count, [](std::size_t i) { return 2 * (static_cast<int>(i) + 102); }, "what was read");
    check::syclex::unregister_host_memory(memory.data, context);

    check::code_of([&] { check::syclex::unregister_host_memory(memory.data, context); }, "taking back what is not registered");
    check::code_of([&] { check::syclex::register_host_memory(nullptr, bytes, context); }, "registering nothing");
}
#else
PROGRAM("register_host_memory") { throw check::skipped("this release registers no memory"); }
#endif
