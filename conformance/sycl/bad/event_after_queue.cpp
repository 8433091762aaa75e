// Events live longer than their queue, than all other objects of their context, and can still be waited for and asked.
#include "check.hpp"
#include <optional>

PROGRAM("bad/event_after_queue") {
    constexpr std::size_t count = 1 << 20;
    for (bool ordered : {true, false}) {
        std::vector<sycl::event> events;
        std::vector<int> back(count);
        sycl::context context;
        int *data = nullptr;
        {
            auto properties = ordered ? sycl::property_list{sycl::property::queue::in_order(),
                                                            sycl::property::queue::enable_profiling()}
                                      : sycl::property_list{sycl::property::queue::enable_profiling()};
            sycl::queue queue{context, sycl::device{}, properties};
            data = sycl::malloc_device<int>(count, queue);
            events.push_back(queue.fill(data, 1, count));
            events.push_back(queue.memcpy(back.data(), data, count * sizeof(int), events.back()));
        }
        events.back().wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 1; }, "what the queue did");
        for (auto &event : events) {
            check::that(event.get_info<sycl::info::event::command_execution_status>() ==
                            sycl::info::event_command_status::complete,
                        "an event without its queue is not complete");
            check::that(event.get_profiling_info<sycl::info::event_profiling::command_end>() > 0, "no time of the end");
        }
        sycl::queue other{context, sycl::device{}, sycl::property::queue::in_order()};
        other.memcpy(back.data(), data, sizeof(int), events).wait_and_throw();
        sycl::free(data, context);
    }
}
