// Times of host tasks and barriers in a queue with profiles: each in order, and the commands of the
// device among themselves.
#include "check.hpp"

namespace when = sycl::info::event_profiling;

PROGRAM("host_task_times") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{{sycl::property::queue::enable_profiling(), sycl::property::queue::in_order()}}
                                    : sycl::queue{sycl::property::queue::enable_profiling()};
        constexpr std::size_t count = 1 << 18;
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<sycl::event> events;
        int ran = 0;
        events.push_back(queue.fill(memory.data, 1, count));
        for (int round = 0; round < 5; round++) {
            events.push_back(queue.ext_oneapi_submit_barrier({events.back()}));
            events.push_back(queue.submit([&](sycl::handler &handler) {
                handler.depends_on(events.back());
                handler.host_task([&] { ran++; });
            }));
            events.push_back(queue.fill(memory.data, round, count, events.back()));
        }
        queue.wait_and_throw();
        check::same(ran, 5, "the number of calls");
        for (std::size_t i = 0; i < events.size(); i++) {
            const auto submitted = events[i].get_profiling_info<when::command_submit>();
            const auto started = events[i].get_profiling_info<when::command_start>();
            const auto ended = events[i].get_profiling_info<when::command_end>();
            const std::string what = "command " + std::to_string(i);
            check::that(submitted > 0 && submitted <= started && started <= ended, what + " has its times in no order");
            // The runtime itself gives host tasks and barriers behind them their times, the device gives fills theirs.
            if (i >= 3 && i % 3 == 0) {
                check::that(events[i - 3].get_profiling_info<when::command_end>() <= ended, what + " ended before the fill in front of it");
            }
        }
    }
}
