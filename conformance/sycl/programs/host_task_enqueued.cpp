// Host tasks that are put into a queue without asking for an event: they run in the queue's order, and what comes behind
// them waits for them.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>

#include <atomic>

using namespace check::syclex;

PROGRAM("host_task_enqueued") {
    sycl::queue queue{sycl::property::queue::in_order()};
    constexpr std::size_t count = 4096, bytes = count * sizeof(int);
    check::memory<int> host(count, queue, sycl::usm::alloc::host);
    check::memory<int> device(count, queue, sycl::usm::alloc::device);
    std::atomic<int> calls{0};
    fill(queue, device.data, 1, count);
    for (int round = 0; round < 20; round++) {
        check::syclex::memcpy(queue, host.data, device.data, bytes);
        host_task(queue, [&, round] {
            for (std::size_t i = 0; i < count; i++) {
                host.data[i] += round;
            }
            calls++;
        });
        check::syclex::memcpy(queue, device.data, host.data, bytes);
        submit(queue, [&](sycl::handler &handler) { host_task(handler, [&] { calls++; }); });
    }
    std::vector<int> back(count);
    check::syclex::memcpy(queue, back.data(), device.data, bytes);
    queue.wait_and_throw();
    check::same(calls.load(), 40, "the number of calls");
    check::each(back.data(), count, [](std::size_t) { return 1 + 19 * 20 / 2; }, "what the tasks did");

    // A task may use the queue's device itself.
    sycl::queue other{queue.get_context(), queue.get_device(), sycl::property::queue::in_order()};
    fill(queue, device.data, 5, count);
    host_task(queue, [&] { other.memcpy(back.data(), device.data, bytes).wait(); });
    queue.wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 5; }, "what a task copied");
}
