// Commands without any work: no bytes, no elements, no action, no events to wait for. They end, their events are
// complete, and the order around them holds.
#include "check.hpp"

PROGRAM("nothing_to_do") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        constexpr std::size_t count = 1000, bytes = count * sizeof(int);
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        std::vector<sycl::event> events;
        events.push_back(queue.fill(memory.data, 5, count));
        const auto next = [&](auto command) { events.push_back(command()); };
        next([&] { return queue.memcpy(memory.data, back.data(), 0, events.back()); });
        next([&] { return queue.memcpy(nullptr, nullptr, 0, events.back()); });
        next([&] { return queue.memset(memory.data, 1, 0, events.back()); });
        next([&] { return queue.fill(memory.data, 9, 0, events.back()); });
        next([&] { return queue.copy(back.data(), memory.data, 0, events.back()); });
        next([&] { return queue.ext_oneapi_memcpy2d(memory.data, 64, back.data(), 64, 0, 10, events.back()); });
        next([&] { return queue.ext_oneapi_memcpy2d(memory.data, 64, back.data(), 64, 16, 0, events.back()); });
        next([&] { return queue.ext_oneapi_submit_barrier({events.back()}); });
        next([&] { return queue.submit([&](sycl::handler &handler) { handler.depends_on(events.back()); }); });
        next([&] { return queue.memcpy(back.data(), memory.data, bytes, events.back()); });
        events.back().wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 5; }, "the memory");
        for (std::size_t i = 0; i < events.size(); i++) {
            check::that(events[i].get_info<sycl::info::event::command_execution_status>() ==
                            sycl::info::event_command_status::complete,
                        "command " + std::to_string(i) + " in front of the last one is not complete");
        }
        queue.wait_and_throw();
        queue.wait_and_throw();
        check::that(queue.ext_oneapi_empty(), "the queue is not empty");
    }
    sycl::queue idle;
    idle.wait();
    idle.ext_oneapi_submit_barrier().wait();
    sycl::event::wait({});
    sycl::free(nullptr, idle);
    sycl::free(sycl::malloc_device(0, idle), idle);
    sycl::free(sycl::malloc_shared(0, idle), idle);
    sycl::free(sycl::malloc_host(0, idle), idle);
}
