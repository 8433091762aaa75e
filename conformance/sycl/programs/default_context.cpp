// Contexts: the platform's own, which all its queues share, one for each device, and what each says of itself.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/current_device.hpp>

#include <thread>

PROGRAM("default_context") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    const auto platform = devices[0].get_platform();
    const auto shared = platform.khr_get_default_context();
    check::that(shared == platform.khr_get_default_context(), "the platform has another default context each time");
    check::same(shared.get_devices().size(), platform.get_devices().size(), "the devices of the default context");
    check::that(shared.get_platform() == platform, "the default context is of another platform");
    for (const auto &device : devices) {
        check::that(sycl::queue{device}.get_context() == shared, "a queue is not of the default context");
    }
    sycl::context own{devices[0]};
    check::that(own != shared && own.get_devices() == std::vector<sycl::device>{devices[0]}, "a context of one device has others");

    // Memory of the default context serves all its queues.
    sycl::queue first{devices[0], sycl::property::queue::in_order()}, last{devices.back(), sycl::property::queue::in_order()};
    constexpr std::size_t count = 1000;
    check::memory<int> host(count, first, sycl::usm::alloc::host);
    last.fill(host.data, 6, count).wait();
    first.submit([&](sycl::handler &handler) { handler.memset(host.data, 1, 4); }).wait();
    check::each(host.data, count, [](std::size_t i) { return i == 0 ? 0x01010101 : 6; }, "memory that two devices wrote");
    check::that(sycl::get_pointer_type(host.data, shared) == sycl::usm::alloc::host, "host memory is of another kind");

    // Each thread has a device of its own.
    namespace mine = check::syclex::this_thread;
    check::that(mine::get_current_device() == sycl::device{sycl::default_selector_v}, "the first current device is not the default one");
    mine::set_current_device(devices.back());
    check::that(mine::get_current_device() == devices.back(), "the current device is another than the one that was set");
    bool same = false;
    std::thread{[&] { same = mine::get_current_device() == sycl::device{sycl::default_selector_v}; }}.join();
    check::that(same, "another thread's current device was set, too");
}
