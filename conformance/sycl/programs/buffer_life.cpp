// Where a buffer's contents end: in memory of the host's, by iterators, nowhere; seen under other types, and kept by
// buffers that outlive the queue.
#include "check.hpp"

#include <memory>

static void fill(sycl::queue &queue, sycl::buffer<int> &buffer, int value) {
    queue.submit([&](sycl::handler &handler) { handler.fill(sycl::accessor{buffer, handler, sycl::write_only}, value); });
}

PROGRAM("buffer_life") {
    constexpr std::size_t count = 5000;
    sycl::queue queue;
    std::vector<int> mine(count, 1), copied(count, 0), kept(count, 3);
    {
        sycl::buffer<int> in_place{mine.data(), count, {sycl::property::buffer::use_host_ptr()}};
        sycl::buffer<int> from_range{kept.begin(), kept.end()};
        sycl::buffer<int> elsewhere{sycl::range<1>(count)};
        elsewhere.set_final_data(copied.begin());
        fill(queue, in_place, 10);
        fill(queue, from_range, 11);
        fill(queue, elsewhere, 12);
    }
    check::each(mine.data(), count, [](std::size_t) { return 10; }, "the memory that a buffer used");
    check::each(kept.data(), count, [](std::size_t) { return 3; }, "the range that a buffer began with");
    check::each(copied.data(), count, [](std::size_t) { return 12; }, "where a buffer's end was set to");
    {
        sycl::buffer<int> quiet{mine.data(), count};
        quiet.set_write_back(false);
        fill(queue, quiet, 13);
    }
    check::each(mine.data(), count, [](std::size_t) { return 10; }, "memory that is not written back");

    auto shared = std::make_shared<std::vector<int>>(count, 5);
    const std::vector<int> sixes(50, 6);
    {
        sycl::buffer<int> buffer{std::shared_ptr<int>{shared, shared->data()}, sycl::range<1>(count)};
        auto bytes = buffer.reinterpret<unsigned char>(sycl::range<1>(4 * count));
        auto plane = buffer.reinterpret<int, 2>(sycl::range<2>(100, 50));
        queue.submit([&](sycl::handler &handler) {
            handler.fill(sycl::accessor{bytes, handler, sycl::range<1>(8), sycl::id<1>(4), sycl::write_only}, static_cast<unsigned char>(1));
        });
        queue.submit([&](sycl::handler &handler) {
            handler.copy(sixes.data(), sycl::accessor{plane, handler, sycl::range<2>(10, 5), sycl::id<2>(90, 45), sycl::write_only});
        });
        sycl::host_accessor host{plane, sycl::read_only};
        check::same(host[0][1], 0x01010101, "the second element");
    }
    check::each(shared->data(), count,
                [](std::size_t i) { return i == 1 || i == 2 ? 0x01010101 : i / 50 >= 90 && i % 50 >= 45 ? 6 : 5; }, "the shared memory");

    // A buffer goes from queue to queue and to the host, and is there when the queues are gone.
    sycl::buffer<int> traveller{sycl::range<1>(count)};
    for (int round = 0; round < 5; round++) {
        sycl::queue one{sycl::context{queue.get_device()}, queue.get_device()};
        fill(one, traveller, round);
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor access{traveller, handler, sycl::range<1>(count / 2), sycl::id<1>(0), sycl::write_only};
            handler.fill(access, -round);
        });
        if (round % 2 == 0) {
            sycl::host_accessor host{traveller, sycl::read_write};
            check::same(host[0], -round, "the beginning");
            host[count - 1] = 77;
        }
    }
    sycl::host_accessor host{traveller, sycl::read_only};
    check::each(&host[0], count, [](std::size_t i) { return i < count / 2 ? -4 : i == count - 1 ? 77 : 4; }, "what travelled");
}
