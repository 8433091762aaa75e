// Very many events: a command that waits for a thousand, a chain of thousands, and events that outlive queue and context.
#include "check.hpp"

PROGRAM("events_many") {
    std::vector<sycl::event> kept;
    constexpr std::size_t count = 1000;
    {
        sycl::queue queue, other{queue.get_context(), queue.get_device(), sycl::property::queue::in_order()};
        check::memory<int> memory(count, queue, sycl::usm::alloc::device), single(1, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        std::vector<sycl::event> all;
        for (std::size_t i = 0; i < count; i++) {
            auto &on = i % 3 == 0 ? other : queue;
            all.push_back(on.fill(memory.data + i, static_cast<int>(i), 1));
        }
        queue.memcpy(back.data(), memory.data, count * sizeof(int), all).wait_and_throw();
        check::each(back.data(), count, [](std::size_t i) { return static_cast<int>(i); }, "behind a thousand commands");
        queue.ext_oneapi_submit_barrier(all).wait();
        sycl::event last = queue.fill(single.data, -1, 1);
        for (int i = 0; i < 3000; i++) {
            last = (i % 2 == 0 ? queue : other).fill(single.data, i, 1, last);
            if (i % 100 == 0) {
                kept.push_back(last);
            }
        }
        int end = 0;
        queue.memcpy(&end, single.data, sizeof end, last).wait_and_throw();
        check::same(end, 2999, "the end of the chain");
        kept.push_back(last);
        other.wait();
        queue.wait();
    }
    for (auto &event : kept) {
        check::that(event.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                    "an event that outlived its queue is not complete");
        event.wait();
    }
}
