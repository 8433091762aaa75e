// Commands of an in-order queue run in the order of their submission, with no event named between them.
#include "check.hpp"

PROGRAM("queue_in_order") {
    sycl::queue queue{sycl::property::queue::in_order()};
    check::that(queue.is_in_order(), "the queue is not in order");
    constexpr std::size_t count = 1 << 16;
    check::memory<int> a(count, queue, sycl::usm::alloc::device);
    check::memory<int> b(count, queue, sycl::usm::alloc::device);
    std::vector<int> result(count, -1);
    for (int round = 0; round < 50; round++) {
        queue.fill(a.data, round, count);
        queue.memcpy(b.data, a.data, count * sizeof(int));
        queue.fill(a.data, -1, count);
        queue.memcpy(result.data(), b.data, count * sizeof(int));
        if (round % 10 == 9) {
            queue.wait_and_throw();
            check::each(result.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
        }
    }
    queue.wait_and_throw();
    check::that(queue.ext_oneapi_empty(), "a queue that was waited for is not empty");
}
