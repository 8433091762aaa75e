// What a kernel says of itself for one queue: how large its groups may be, how many run at once, how many sub-groups they have.
#include "check.hpp"
#if __has_include(<sycl/ext/oneapi/experimental/kernel_queue_info.hpp>)
#include <sycl/ext/oneapi/experimental/kernel_queue_info.hpp>
#endif

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) mark(int *out) { out[this_item::get_nd_item<1>().get_global_id(0)] = 1; }
)";

PROGRAM("occupancy") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    const auto kernel = check::kernel(queue, source, "mark");
    namespace ask = check::syclex::info::kernel_queue_specific;
    const auto largest = kernel.ext_oneapi_get_info<ask::max_work_group_size>(queue);
    check::same(largest, kernel.get_info<sycl::info::kernel_device_specific::work_group_size>(device), "the largest group");
    const auto units = device.get_info<sycl::info::device::max_compute_units>();
    std::size_t before = std::size_t(-1);
    for (std::size_t group : {std::size_t{32}, std::size_t{256}, largest}) {
        const auto most = kernel.ext_oneapi_get_info<ask::max_num_work_groups>(queue, sycl::range<1>(group), 0);
        check::that(most >= units && most % units == 0, std::to_string(most) + " groups are not some for each compute unit");
        check::that(most <= before, "more of larger groups run at once");
        before = most;
        check::same(kernel.ext_oneapi_get_info<ask::max_num_work_groups>(queue, sycl::range<2>(1, group), 0), most, "in two dimensions");
        check::same(kernel.ext_oneapi_get_info<ask::max_num_work_groups>(queue, sycl::range<3>(1, 1, group), 0), most,
                    "in three dimensions");
        const auto local = device.get_info<sycl::info::device::local_mem_size>();
        const auto fewer = kernel.ext_oneapi_get_info<ask::max_num_work_groups>(queue, sycl::range<1>(group), local - 1024);
        check::that(fewer >= 1 && fewer <= most, "local memory lets more groups run at once");
        check::same(kernel.ext_oneapi_get_info<ask::max_sub_group_size>(queue, sycl::range<3>(1, 1, group)), 32u, "a sub-group's size");
    }
    check::same(kernel.ext_oneapi_get_info<ask::num_sub_groups>(queue, sycl::range<3>(1, 1, largest)), largest / 32,
                "the sub-groups of the largest group");
    const auto sizes = kernel.ext_oneapi_get_info<ask::max_work_item_sizes<3>>(queue);
    check::that(sizes[2] >= largest, "the last dimension is smaller than the largest group");
    check::same(kernel.ext_oneapi_get_info<ask::max_work_item_sizes<1>>(queue)[0], sizes[2], "the only dimension");
    check::code_of([&] { kernel.ext_oneapi_get_info<ask::max_num_work_groups>(queue, sycl::range<1>(0), 0); }, "groups of nothing");
}
