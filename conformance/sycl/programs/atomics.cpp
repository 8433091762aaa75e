// Atomic operations on global and local memory: sums, extremes, exchange, of 32 and 64 bits and floating point.
#include "check.hpp"

static const char *const source = R"(
    template <typename T> using relaxed = sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::device>;
    KERNEL(syclex::nd_range_kernel<1>) all(int *i, unsigned long *u, float *f, double *d, syclex::work_group_memory<int[]> local) {
        const auto item = this_item::get_nd_item<1>();
        const int id = static_cast<int>(item.get_global_id(0));
        relaxed<int>(i[0]).fetch_add(id);
        relaxed<int>(i[1]).fetch_max(id);
        relaxed<int>(i[2]).fetch_or(1 << (id % 31));
        int old = relaxed<int>(i[3]).load(), wanted;
        do { wanted = old + 2; } while (!relaxed<int>(i[3]).compare_exchange_strong(old, wanted));
        relaxed<unsigned long>(u[0]).fetch_add(1ul << 33);
        relaxed<unsigned long>(u[1]).fetch_min(static_cast<unsigned long>(1000 + id));
        relaxed<float>(f[0]).fetch_add(0.5f);
        relaxed<double>(d[0]).fetch_add(0.25);
        if (item.get_local_id(0) == 0) local[0] = 0;
        sycl::group_barrier(item.get_group());
        sycl::atomic_ref<int, sycl::memory_order::relaxed, sycl::memory_scope::work_group> mine(local[0]);
        mine.fetch_add(1);
        sycl::group_barrier(item.get_group());
        if (item.get_local_id(0) == 0) relaxed<int>(i[4]).fetch_add(local[0]);
    }
)";

PROGRAM("atomics") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "all");
    constexpr int count = 1024;
    check::memory<int> i(5, queue, sycl::usm::alloc::shared);
    check::memory<unsigned long> u(2, queue, sycl::usm::alloc::shared);
    check::memory<float> f(1, queue, sycl::usm::alloc::shared);
    check::memory<double> d(1, queue, sycl::usm::alloc::shared);
    queue.fill(i.data, 0, 5);
    queue.fill(u.data, 0ul, 1);
    queue.fill(u.data + 1, ~0ul, 1);
    queue.fill(f.data, 0.0f, 1);
    queue.fill(d.data, 0.0, 1);
    queue.submit([&](sycl::handler &handler) {
        check::syclex::work_group_memory<int[]> local{1, handler};
        handler.set_args(i.data, u.data, f.data, d.data, local);
        handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
    });
    queue.wait_and_throw();
    check::same(i[0], count * (count - 1) / 2, "the sum");
    check::same(i[1], count - 1, "the maximum");
    check::same(i[2], 0x7fffffff, "the union of bits");
    check::same(i[3], 2 * count, "the sum by exchange");
    check::same(u[0], (1ul << 33) * count, "the sum of 64 bits");
    check::same(u[1], 1000ul, "the minimum of 64 bits");
    check::same(f[0], 0.5f * count, "the sum of floats");
    check::same(d[0], 0.25 * count, "the sum of doubles");
    check::same(i[4], count, "the sum of sums in local memory");
}
