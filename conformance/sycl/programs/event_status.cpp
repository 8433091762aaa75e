// An event tells how far its command is, is done once it was waited for, and serves another queue as a dependency.
#include "check.hpp"

PROGRAM("event_status") {
    sycl::queue first{sycl::property::queue::in_order()};
    sycl::queue second{first.get_context(), first.get_device(), sycl::property::queue::in_order()};
    constexpr std::size_t count = 1 << 20;
    check::memory<int> memory(count, first, sycl::usm::alloc::device);
    std::vector<int> back(count);
    for (int round = 0; round < 20; round++) {
        auto filled = first.fill(memory.data, round, count);
        auto copied = second.memcpy(back.data(), memory.data, count * sizeof(int), filled);
        const auto status = copied.get_info<sycl::info::event::command_execution_status>();
        check::that(status == sycl::info::event_command_status::submitted ||
                        status == sycl::info::event_command_status::running ||
                        status == sycl::info::event_command_status::complete,
                    "the status of a command is none that there is");
        copied.wait_and_throw();
        check::that(copied.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                    "a command that was waited for is not complete");
        check::that(filled.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                    "what a finished command depends on is not complete");
        check::each(back.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
    }
    sycl::event none;
    none.wait();
    check::that(none.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                "an event of nothing is not complete");
    auto last = first.ext_oneapi_get_last_event();
    check::that(last.has_value(), "an in-order queue with commands has no last event");
    last->wait();
}
