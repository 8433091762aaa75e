// Sub-groups of 32: identity, shuffles, votes and reductions.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) all(int *out) {
        const auto item = this_item::get_nd_item<1>();
        const auto group = item.get_sub_group();
        const int lane = static_cast<int>(group.get_local_linear_id());
        int *mine = out + item.get_global_id(0) * 8;
        mine[0] = static_cast<int>(group.get_local_linear_range());
        mine[1] = static_cast<int>(group.get_group_linear_id());
        mine[2] = sycl::shift_group_left(group, lane, 1);
        mine[3] = sycl::permute_group_by_xor(group, lane, 5);
        mine[4] = sycl::select_from_group(group, lane * 10, 31 - lane);
        mine[5] = sycl::reduce_over_group(group, lane, sycl::plus<int>());
        mine[6] = sycl::any_of_group(group, lane == 17) + 2 * sycl::all_of_group(group, lane < 31);
        mine[7] = sycl::inclusive_scan_over_group(group, 1, sycl::plus<int>());
    }
)";

PROGRAM("sub_groups") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "all");
    constexpr std::size_t count = 256, group = 128;
    check::memory<int> out(count * 8, queue, sycl::usm::alloc::shared);
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(out.data);
        handler.parallel_for(sycl::nd_range<1>(count, group), kernel);
    });
    queue.wait_and_throw();
    for (std::size_t i = 0; i < count; i++) {
        const int lane = static_cast<int>(i % 32);
        const int *mine = out.data + i * 8;
        const std::string at = " of work-item " + std::to_string(i);
        check::same(mine[0], 32, "the size" + at);
        check::same(mine[1], static_cast<int>(i % group / 32), "the sub-group" + at);
        if (lane < 31) {
            check::same(mine[2], lane + 1, "the shift" + at);
        }
        check::same(mine[3], lane ^ 5, "the exchange" + at);
        check::same(mine[4], (31 - lane) * 10, "the selection" + at);
        check::same(mine[5], 496, "the sum" + at);
        check::same(mine[6], 1, "the votes" + at);
        check::same(mine[7], lane + 1, "the scan" + at);
    }
}
