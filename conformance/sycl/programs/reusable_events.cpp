// One event that queues signal again and again, with times and without, and on every device of its context.
#include "check.hpp"

#if __has_include(<sycl/ext/oneapi/experimental/reusable_events.hpp>)

using status = sycl::info::event_command_status;

static status status_of(const sycl::event &event) {
    return event.get_info<sycl::info::event::command_execution_status>();
}

// One queue fills, signals and goes on; another waits for the signal alone and reads what was filled before it.
static void order(sycl::queue one, sycl::queue other, sycl::event event) {
    constexpr std::size_t count = 1 << 16;
    check::memory<int> data(count, one, sycl::usm::alloc::host);
    for (int round = 1; round <= 3; round++) {
        one.fill(data.data, round, count);
        check::syclex::enqueue_signal_event(one, event);
        check::syclex::enqueue_wait_event(other, event);
        std::vector<int> seen(count);
        other.memcpy(seen.data(), data.data, count * sizeof(int)).wait_and_throw();
        check::each(seen.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
        event.wait();
        check::that(status_of(event) == status::complete, "the event is not complete after a wait");
        one.wait_and_throw();
    }
}

static void times(sycl::queue queue) {
    check::syclex::properties with{check::syclex::enable_profiling{}};
    auto start = check::syclex::make_event(queue.get_context(), with);
    auto end = check::syclex::make_event(queue.get_context(), with);
    constexpr std::size_t count = 1 << 20;
    check::memory<int> data(count, queue, sycl::usm::alloc::device);
    std::uint64_t last = 0;
    for (int round = 0; round < 3; round++) {
        check::syclex::enqueue_signal_event(queue, start);
        queue.fill(data.data, round, count);
        check::syclex::enqueue_signal_event(queue, end);
        end.wait();
        const auto from = start.get_profiling_info<sycl::info::event_profiling::command_end>();
        const auto to = end.get_profiling_info<sycl::info::event_profiling::command_end>();
        check::that(last < from && from < to, "the times of round " + std::to_string(round) + " are " + std::to_string(last) +
                                                  ", " + std::to_string(from) + ", " + std::to_string(to));
        check::that(end.get_profiling_info<sycl::info::event_profiling::command_start>() <= to, "it ends before it starts");
        last = to;
    }
}

PROGRAM("reusable_events") {
    sycl::queue one{sycl::property::queue::in_order()};
    const auto context = one.get_context();
    sycl::queue other{context, one.get_device(), sycl::property::queue::in_order()};
    sycl::queue loose{context, one.get_device()};
    auto event = check::syclex::make_event(context);
    check::that(status_of(event) == status::complete, "a new event is not complete");
    event.wait();
    order(one, other, event);
    times(one);
    times(loose);
    // The platform's own context has every device.
    const auto devices = one.get_device().get_platform().get_devices();
    const sycl::context all{devices};
    auto shared = check::syclex::make_event(all);
    for (const auto &device : devices) {
        sycl::queue near{all, device, sycl::property::queue::in_order()};
        order(near, sycl::queue{all, devices[0], sycl::property::queue::in_order()}, shared);
        times(near);
    }
}

#else

PROGRAM("reusable_events") {
    throw check::skipped("this release has no reusable events");
}

#endif
