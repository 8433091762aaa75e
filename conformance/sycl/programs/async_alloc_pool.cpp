// Stream-ordered allocation from a pool of one's own: its threshold, its maximum size, blocks that start as zero.
// leaks: primary context retain, stream, event: libsycl of both releases never releases the event of an allocation on an in-order queue.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/async_alloc/async_alloc.hpp>
#include <sycl/ext/oneapi/experimental/async_alloc/memory_pool.hpp>

PROGRAM("async_alloc_pool") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_async_memory_alloc)) {
        throw check::skipped("the device has no stream-ordered allocation");
    }
    constexpr std::size_t count = 1 << 18;
    check::syclex::memory_pool pool{queue, sycl::usm::alloc::device,
                                    check::syclex::properties{check::syclex::initial_threshold{std::size_t{1} << 20},
                                                              check::syclex::maximum_size{std::size_t{64} << 20}}};
    check::that(pool.get_device() == queue.get_device() && pool.get_context() == queue.get_context(), "the pool is elsewhere");
    check::that(pool.get_alloc_kind() == sycl::usm::alloc::device, "the pool is of another kind");
    check::same(pool.get_threshold(), std::size_t{1} << 20, "the threshold");
    pool.increase_threshold_to(std::size_t{4} << 20);
    check::same(pool.get_threshold(), std::size_t{4} << 20, "the raised threshold");

    std::vector<int> back(count);
    auto *data = static_cast<int *>(check::syclex::async_malloc_from_pool(queue, count * sizeof(int), pool));
    queue.fill(data, 11, count);
    queue.memcpy(back.data(), data, count * sizeof(int));
    queue.wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 11; }, "the block");
    check::that(pool.get_used_size_current() >= count * sizeof(int), "the pool does not count its block");
    check::that(pool.get_reserved_size_current() >= pool.get_used_size_current(), "the pool uses more than it has");
    check::syclex::async_free(queue, data);
    queue.wait_and_throw();
    check::same(pool.get_used_size_current(), 0u, "what an empty pool uses");

    check::code_of([&] { check::syclex::async_malloc_from_pool(queue, std::size_t{256} << 20, pool); },
                   "a block beyond the pool's maximum");

    check::syclex::memory_pool zeroed{queue, sycl::usm::alloc::device,
                                      check::syclex::properties{check::syclex::zero_init{}}};
    data = static_cast<int *>(check::syclex::async_malloc_from_pool(queue, count * sizeof(int), zeroed));
    queue.memcpy(back.data(), data, count * sizeof(int));
    check::syclex::async_free(queue, data);
    queue.wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 0; }, "the zeroed block");
}
