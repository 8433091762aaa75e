// A kernel whose groups all run at once and meet at barriers of the whole grid: what one group wrote before a barrier every
// other one reads behind it.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/experimental/root_group.hpp>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) relay(int *data, int rounds) {
        const auto item = this_item::get_nd_item<1>();
        const auto root = item.ext_oneapi_get_root_group();
        const auto i = item.get_global_id(0), count = item.get_global_range(0), group = item.get_local_range(0);
        for (int round = 0; round < rounds; round++) {
            const int *from = data + (round % 2) * count;
            int *to = data + (1 - round % 2) * count;
            to[i] = from[(i + group) % count] + 1;
            sycl::group_barrier(root);
        }
    }
)";

using namespace check::syclex;

static std::size_t groups_at_once(const sycl::kernel &kernel, const sycl::queue &queue, std::size_t group) {
#if __has_include(<sycl/ext/oneapi/experimental/kernel_queue_info.hpp>)
    return kernel.ext_oneapi_get_info<info::kernel::max_num_work_groups_sync>(queue.get_device(), sycl::range<1>(group));
#else
    return kernel.ext_oneapi_get_info<info::kernel_queue_specific::max_num_work_groups>(queue, sycl::range<1>(group), 0);
#endif
}

PROGRAM("root_group") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    const auto kernel = check::kernel(queue, source, "relay");
    constexpr std::size_t group = 64, rounds = 7;
    const auto most = groups_at_once(kernel, queue, group);
    check::that(most >= device.get_info<sycl::info::device::max_compute_units>(),
                "fewer groups can run at once than there are compute units: " + std::to_string(most));
    const std::size_t groups = std::min<std::size_t>(most, 8), count = groups * group;
    check::memory<int> data(2 * count, queue, sycl::usm::alloc::shared);
    for (bool by_handler : {true, false}) {
        std::iota(data.data, data.data + count, 0);
        const sycl::nd_range<1> range{count, group};
        const launch_config config{range, properties{use_root_sync}};
        if (by_handler) {
            submit(queue, [&](sycl::handler &handler) { nd_launch(handler, config, kernel, data.data, static_cast<int>(rounds)); });
        } else {
            nd_launch(queue, config, kernel, data.data, static_cast<int>(rounds));
        }
        queue.wait_and_throw();
        check::each(data.data + rounds % 2 * count, count,
                    [&](std::size_t i) { return static_cast<int>((i + rounds * group) % count + rounds); }, "what went around");
    }
    check::code_of(
        [&] {
            const std::size_t many = (most + 1) * group;
            check::memory<int> large(2 * many, queue, sycl::usm::alloc::device);
            nd_launch(queue, launch_config{sycl::nd_range<1>{many, group}, properties{use_root_sync}}, kernel, large.data, 1);
            queue.wait_and_throw();
        },
        "a launch of more groups than can run at once");
}
