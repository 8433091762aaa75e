// Algorithms over a whole work-group: reduction, scans, broadcast.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) all(const int *in, int *out) {
        const auto item = this_item::get_nd_item<1>();
        const auto group = item.get_group();
        const auto i = item.get_global_id(0);
        out[4 * i] = sycl::reduce_over_group(group, in[i], sycl::plus<int>());
        out[4 * i + 1] = sycl::exclusive_scan_over_group(group, in[i], sycl::plus<int>());
        out[4 * i + 2] = sycl::group_broadcast(group, in[i], 5);
        out[4 * i + 3] = sycl::reduce_over_group(group, in[i], sycl::maximum<int>());
    }
)";

PROGRAM("group_algorithms") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "all");
    constexpr std::size_t count = 512, group = 128;
    check::memory<int> in(count, queue, sycl::usm::alloc::shared);
    check::memory<int> out(4 * count, queue, sycl::usm::alloc::shared);
    for (std::size_t i = 0; i < count; i++) {
        in[i] = static_cast<int>(i * 7 % 31);
    }
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(in.data, out.data);
        handler.parallel_for(sycl::nd_range<1>(count, group), kernel);
    });
    queue.wait_and_throw();
    for (std::size_t first = 0; first < count; first += group) {
        int sum = 0, most = 0;
        for (std::size_t i = first; i < first + group; i++) {
            check::same(out[4 * i + 1], sum, "the scan of work-item " + std::to_string(i));
            sum += in[i];
            most = std::max(most, in[i]);
        }
        for (std::size_t i = first; i < first + group; i++) {
            check::same(out[4 * i], sum, "the sum of work-item " + std::to_string(i));
            check::same(out[4 * i + 2], in[first + 5], "the broadcast to work-item " + std::to_string(i));
            check::same(out[4 * i + 3], most, "the maximum of work-item " + std::to_string(i));
        }
    }
}
