// An in-order queue waits for an event from elsewhere before its next command, and names the event of its last one.
#include "check.hpp"

PROGRAM("external_event") {
    sycl::queue queue{sycl::property::queue::in_order()};
    sycl::queue other{queue.get_context(), queue.get_device(), sycl::property::queue::in_order()};
    constexpr std::size_t count = 1 << 20, bytes = count * sizeof(int);
    check::memory<int> memory(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(count);
    check::that(!queue.ext_oneapi_get_last_event().has_value(), "a queue without commands has a last event");
    for (int round = 1; round <= 20; round++) {
        queue.ext_oneapi_set_external_event(other.fill(memory.data, round, count));
        queue.memcpy(back.data(), memory.data, bytes);
        const auto last = queue.ext_oneapi_get_last_event();
        check::that(last.has_value(), "a queue with a command has no last event");
        other.ext_oneapi_set_external_event(*last);
        other.fill(memory.data, -1, count);
        sycl::event{*last}.wait();
        check::each(back.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
    }
    // An event that was set and that no command followed is the last one.
    auto set = other.fill(memory.data, 40, count);
    queue.ext_oneapi_set_external_event(set);
    queue.wait();
    check::that(set.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                "waiting for the queue does not wait for the event that was set");

    sycl::queue unordered{queue.get_context(), queue.get_device()};
    check::that(check::code_of([&] { unordered.ext_oneapi_get_last_event(); }, "the last event of an out-of-order queue") ==
                    sycl::errc::invalid, "the last event of an out-of-order queue is not errc::invalid");
    check::that(check::code_of([&] { unordered.ext_oneapi_set_external_event(set); }, "an event set for an out-of-order queue") ==
                    sycl::errc::invalid, "an event set for an out-of-order queue is not errc::invalid");
}
