// Commands that ask for an event of a certain mode: the event works, whatever the mode makes of waiting for it.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/experimental/event_mode_property.hpp>

using namespace check::syclex;

PROGRAM("event_mode") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        constexpr std::size_t count = 1 << 18, bytes = count * sizeof(int);
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        for (const auto mode : {event_mode_enum::low_power, event_mode_enum::none}) {
            const properties asking{event_mode{mode}};
            for (int round = 0; round < 10; round++) {
                const auto filled = submit_with_event(queue, asking, [&](sycl::handler &handler) { fill(handler, memory.data, round, count); });
                const auto barred = submit_with_event(queue, asking, [&](sycl::handler &handler) { partial_barrier(handler, {filled}); });
                auto copied = submit_with_event(queue, asking, [&](sycl::handler &handler) {
                    handler.depends_on(barred);
                    check::syclex::memcpy(handler, back.data(), memory.data, bytes);
                });
                copied.wait_and_throw();
                check::that(filled.get_info<sycl::info::event::command_execution_status>() ==
                                sycl::info::event_command_status::complete, "what was waited for is not complete");
                check::each(back.data(), count, [&](std::size_t) { return round; }, "the memory");
                submit(queue, asking, [&](sycl::handler &handler) { barrier(handler); });
            }
        }
        queue.wait_and_throw();
    }
}
