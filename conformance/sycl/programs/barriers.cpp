// Barriers of an out-of-order queue, whole and for some events, by every way that there is to ask for one: what comes behind
// a barrier sees what was in front of it.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>

using namespace check::syclex;

PROGRAM("barriers") {
    sycl::queue queue, other{queue.get_context(), queue.get_device()};
    constexpr std::size_t count = 1 << 18, bytes = count * sizeof(int);
    check::memory<int> a(count, queue, sycl::usm::alloc::device);
    check::memory<int> b(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(2 * count);
    const auto both = [&](int value, const char *what) {
        queue.memcpy(back.data(), a.data, bytes);
        queue.memcpy(back.data() + count, b.data, bytes);
        queue.wait_and_throw();
        check::each(back.data(), 2 * count, [&](std::size_t) { return value; }, what);
    };
    for (int round = 0; round < 10; round++) {
        queue.fill(a.data, 10 * round, count);
        queue.fill(b.data, 10 * round, count);
        barrier(queue);
        both(10 * round, "behind a barrier without an event");

        queue.fill(a.data, 10 * round + 1, count);
        queue.fill(b.data, 10 * round + 1, count);
        queue.ext_oneapi_submit_barrier();
        both(10 * round + 1, "behind a barrier with an event");

        const auto first = queue.fill(a.data, 10 * round + 2, count);
        const auto second = other.fill(b.data, 10 * round + 2, count);
        partial_barrier(queue, {first, second});
        both(10 * round + 2, "behind a barrier for two events, one of another queue");

        const auto third = other.fill(a.data, 10 * round + 3, count);
        const auto fourth = queue.fill(b.data, 10 * round + 3, count);
        const auto done = queue.ext_oneapi_submit_barrier({third, fourth});
        both(10 * round + 3, "behind a barrier for two events that gives one");

        const auto fifth = other.fill(b.data, 10 * round + 4, count, done);
        submit(queue, [&](sycl::handler &handler) { partial_barrier(handler, {fifth}); });
        queue.fill(a.data, 10 * round + 4, count);
        submit(queue, [&](sycl::handler &handler) { barrier(handler); });
        both(10 * round + 4, "behind barriers of command groups");
    }
    queue.ext_oneapi_submit_barrier(std::vector<sycl::event>{}).wait();
    sycl::queue empty{queue.get_context(), queue.get_device()};
    const auto nothing = empty.ext_oneapi_submit_barrier();
    nothing.get_info<sycl::info::event::command_execution_status>();
    sycl::event{nothing}.wait();
    check::that(nothing.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                "a barrier of an empty queue is not complete");
}
