// Local memory that a kernel finds without an argument: as many bytes as the launch says, and variables of the group.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/work_group_scratch_memory.hpp>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) reverse(int *data) {
        const auto item = this_item::get_nd_item<1>();
        const auto local = item.get_local_id(0), size = item.get_local_range(0);
        auto *scratch = static_cast<int *>(syclex::get_work_group_scratch_memory());
        scratch[local] = data[item.get_global_id(0)];
        sycl::group_barrier(item.get_group());
        data[item.get_global_id(0)] = scratch[size - 1 - local];
    }
)";

using namespace check::syclex;

PROGRAM("scratch_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "reverse");
    constexpr std::size_t count = 2048;
    check::memory<int> data(count, queue, sycl::usm::alloc::shared);
    for (std::size_t group : {32, 128, 256}) {
        std::iota(data.data, data.data + count, 0);
        const properties bytes{work_group_scratch_size(group * sizeof(int))};
        nd_launch(queue, launch_config{sycl::nd_range<1>(count, group), bytes}, kernel, data.data);
        queue.wait_and_throw();
        check::each(data.data, count, [&](std::size_t i) { return static_cast<int>(i / group * group + group - 1 - i % group); },
                    "groups of " + std::to_string(group));
    }
    const auto most = queue.get_device().get_info<sycl::info::device::local_mem_size>();
    check::code_of(
        [&] {
            nd_launch(queue, launch_config{sycl::nd_range<1>(64, 64), properties{work_group_scratch_size(64 * most)}}, kernel, data.data);
            queue.wait_and_throw();
        },
        "more local memory than there is");
}
