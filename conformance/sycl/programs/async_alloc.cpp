// Allocation and release as commands of a queue, from the device's own pool: the memory is usable by what follows.
// leaks: primary context retain, stream, event, memory pool: libsycl of both releases never releases the event of an allocation on an in-order queue.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/async_alloc/async_alloc.hpp>

PROGRAM("async_alloc") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_async_memory_alloc)) {
        throw check::skipped("the device has no stream-ordered allocation");
    }
    constexpr std::size_t count = 100000;
    std::vector<int> back(count);
    for (int round = 0; round < 20; round++) {
        auto *data = static_cast<int *>(check::syclex::async_malloc(queue, sycl::usm::alloc::device, count * sizeof(int)));
        check::that(data != nullptr, "no memory");
        queue.fill(data, round, count);
        queue.memcpy(back.data(), data, count * sizeof(int));
        check::syclex::async_free(queue, data);
        if (round % 5 == 0) {
            queue.wait_and_throw();
            check::each(back.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
        }
    }
    queue.wait_and_throw();

    sycl::queue loose{queue.get_context(), queue.get_device()};
    void *data = nullptr;
    auto made = loose.submit([&](sycl::handler &handler) {
        data = check::syclex::async_malloc(handler, sycl::usm::alloc::device, count * sizeof(int));
    });
    auto filled = loose.fill(static_cast<int *>(data), 77, count, made);
    auto copied = loose.memcpy(back.data(), data, count * sizeof(int), filled);
    loose.submit([&](sycl::handler &handler) {
        handler.depends_on(copied);
        check::syclex::async_free(handler, data);
    });
    loose.wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 77; }, "out of order");
}
