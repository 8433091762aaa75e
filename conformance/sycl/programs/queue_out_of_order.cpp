// On an out-of-order queue the dependencies that were named hold: a diamond, a long chain, and a barrier.
#include "check.hpp"

PROGRAM("queue_out_of_order") {
    sycl::queue queue;
    check::that(!queue.is_in_order(), "the queue is in order");
    constexpr std::size_t count = 1 << 15;
    check::memory<int> top(count, queue, sycl::usm::alloc::device);
    check::memory<int> left(count, queue, sycl::usm::alloc::device);
    check::memory<int> right(count, queue, sycl::usm::alloc::device);
    std::vector<int> l(count), r(count);

    auto start = queue.fill(top.data, 7, count);
    auto a = queue.memcpy(left.data, top.data, count * sizeof(int), start);
    auto b = queue.memcpy(right.data, top.data, count * sizeof(int), start);
    auto over = queue.fill(top.data, 8, count, {a, b});
    auto c = queue.memcpy(l.data(), left.data, count * sizeof(int), over);
    auto d = queue.memcpy(r.data(), right.data, count * sizeof(int), {over, b});
    sycl::event::wait({c, d});
    check::each(l.data(), count, [](std::size_t) { return 7; }, "left");
    check::each(r.data(), count, [](std::size_t) { return 7; }, "right");

    sycl::event last;
    for (int i = 0; i < 200; i++) {
        last = queue.fill(top.data, i, count, last);
    }
    queue.memcpy(l.data(), top.data, count * sizeof(int), last).wait();
    check::each(l.data(), count, [](std::size_t) { return 199; }, "the end of the chain");

    queue.fill(left.data, 1, count);
    queue.fill(right.data, 2, count);
    auto barrier = queue.ext_oneapi_submit_barrier();
    auto after = queue.memcpy(l.data(), left.data, count * sizeof(int), barrier);
    auto some = queue.ext_oneapi_submit_barrier({after});
    queue.memcpy(r.data(), right.data, count * sizeof(int), some).wait();
    queue.wait_and_throw();
    check::each(l.data(), count, [](std::size_t) { return 1; }, "left after the barrier");
    check::each(r.data(), count, [](std::size_t) { return 2; }, "right after the barrier");
}
