// Waiting for a device waits for all its queues, whoever owns them; the device it is asked of needs no queue.
#include "check.hpp"

PROGRAM("device_wait") {
    sycl::device device;
    if (!device.has(sycl::aspect::ext_oneapi_device_wait)) {
        throw check::skipped("the device cannot be waited for");
    }
    device.ext_oneapi_wait_and_throw();
    sycl::context own{device};
    sycl::queue first{device, sycl::property::queue::in_order()}, second{device}, third{own, device};
    constexpr std::size_t count = 1 << 20;
    check::memory<int> a(count, first, sycl::usm::alloc::device);
    check::memory<int> c(count, third, sycl::usm::alloc::device);
    std::vector<int> from_a(count), from_c(count);
    for (int round = 0; round < 10; round++) {
        const auto filled = first.fill(a.data, round, count);
        const auto copied = second.memcpy(from_a.data(), a.data, count * sizeof(int), filled);
        const auto other = third.fill(c.data, -round, count);
        const auto back = third.memcpy(from_c.data(), c.data, count * sizeof(int), other);
        device.ext_oneapi_wait();
        for (const auto &event : {filled, copied, other, back}) {
            check::that(event.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                        "a command is not complete after its device was waited for");
        }
        check::each(from_a.data(), count, [&](std::size_t) { return round; }, "the first queue's memory");
        check::each(from_c.data(), count, [&](std::size_t) { return -round; }, "the third queue's memory");
    }
    check::that(first.ext_oneapi_empty() && second.ext_oneapi_empty() && third.ext_oneapi_empty(),
                "a queue is not empty after its device was waited for");
}
