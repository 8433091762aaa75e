// Host memory that was registered with a context of two devices serves both, and for no longer than it is registered.
#include "check.hpp"

#if __has_include(<sycl/ext/oneapi/experimental/register_host_memory.hpp>)
#include <sycl/ext/oneapi/experimental/register_host_memory.hpp>

#include <sys/mman.h>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) add(int *data, int by) { data[this_item::get_nd_item<1>().get_global_id(0)] += by; }
)";

PROGRAM("registered_two_devices") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    if (devices.size() < 2 || !devices[0].has(sycl::aspect::ext_oneapi_register_host_memory)) {
        throw check::skipped("this machine has one device, or it cannot have memory registered");
    }
    sycl::queue first{devices[0], sycl::property::queue::in_order()}, second{devices[1], sycl::property::queue::in_order()};
    const auto context = first.get_context();
    const auto kernel = check::kernel(first, source, "add");
    constexpr std::size_t count = 8192, bytes = count * sizeof(int);
    auto *data = static_cast<int *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    check::that(data != MAP_FAILED, "there is no memory");
    for (int round = 0; round < 5; round++) {
        std::fill_n(data, count, round);
        check::syclex::register_host_memory(data, bytes, context);
        sycl::event event;
        for (auto *queue : {&first, &second, &first}) {
            event = queue->submit([&](sycl::handler &handler) {
                handler.depends_on(event);
                handler.set_args(data, 10);
                handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
            });
        }
        event.wait_and_throw();
        check::that(sycl::get_pointer_type(data, context) == sycl::usm::alloc::host, "registered memory is no host memory");
        check::syclex::unregister_host_memory(data, context);
        check::each(data, count, [&](std::size_t) { return round + 30; }, "round " + std::to_string(round));
    }
    munmap(data, bytes);
}
#else
PROGRAM("registered_two_devices") { throw check::skipped("this release registers no memory"); }
#endif
