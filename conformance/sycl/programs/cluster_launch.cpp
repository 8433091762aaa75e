// Groups that are launched in clusters, where the device has those: the work is the same, and clusters that do not divide
// the grid are refused.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/cluster_group_prop.hpp>
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) mark(int *out, int by) {
        const auto item = this_item::get_nd_item<1>();
        out[item.get_global_id(0)] += by + static_cast<int>(item.get_group(0));
    }
    KERNEL(syclex::nd_range_kernel<2>) mark_2d(int *out) {
        const auto item = this_item::get_nd_item<2>();
        out[item.get_global_linear_id()] = static_cast<int>(item.get_group(0) * 100 + item.get_group(1));
    }
)";

using namespace check::syclex;

PROGRAM("cluster_launch") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_cuda_cluster_group)) {
        throw check::skipped("the device has no clusters");
    }
    auto bundle = check::compile(queue.get_context(), source);
    const auto mark = bundle.ext_oneapi_get_kernel("mark"), mark_2d = bundle.ext_oneapi_get_kernel("mark_2d");
    constexpr std::size_t count = 64 * 32;
    check::memory<int> out(count, queue, sycl::usm::alloc::shared);
    for (std::size_t size : {1, 2, 4, 8}) {
        std::fill_n(out.data, count, 0);
        const properties cluster{cuda::cluster_size<1>(sycl::range<1>(size))};
        nd_launch(queue, launch_config{sycl::nd_range<1>(count, 64), cluster}, mark, out.data, 5);
        queue.wait_and_throw();
        check::each(out.data, count, [](std::size_t i) { return 5 + static_cast<int>(i / 64); },
                    "in clusters of " + std::to_string(size));
    }
    const properties flat{cuda::cluster_size<2>(sycl::range<2>(2, 4))};
    nd_launch(queue, launch_config{sycl::nd_range<2>({32, 64}, {4, 8}), flat}, mark_2d, out.data);
    queue.wait_and_throw();
    check::each(out.data, count, [](std::size_t i) { return static_cast<int>(i / 64 / 4 * 100 + i % 64 / 8); }, "in flat clusters");
    check::code_of(
        [&] {
            const properties odd{cuda::cluster_size<1>(sycl::range<1>(3))};
            nd_launch(queue, launch_config{sycl::nd_range<1>(count, 64), odd}, mark, out.data, 5);
            queue.wait_and_throw();
        },
        "clusters that do not divide the grid");
}
