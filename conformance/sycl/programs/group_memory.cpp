// Groups that load and store together, sort what they have in local memory, and hint at what they will read.
#include "check.hpp"

static const char *const source = R"(
    #include <sycl/ext/oneapi/experimental/group_load_store.hpp>
    #include <sycl/ext/oneapi/experimental/prefetch.hpp>
    KERNEL(syclex::nd_range_kernel<1>) move(int *in, int *out) {
        const auto item = this_item::get_nd_item<1>();
        const auto group = item.get_group();
        const auto first = item.get_group(0) * item.get_local_range(0) * 4;
        syclex::joint_prefetch(group, in + first, 256, syclex::properties{syclex::prefetch_hint_L2});
        int mine[4];
        syclex::group_load(group, in + first, sycl::span<int, 4>{mine, 4}, syclex::properties{syclex::data_placement_striped});
        for (int &value : mine) {
            value = value * 2 + 1;
        }
        syclex::group_store(group, sycl::span<int, 4>{mine, 4}, out + first, syclex::properties{syclex::data_placement_striped});
    }
    KERNEL(syclex::nd_range_kernel<1>) shared(int *out) {
        const auto item = this_item::get_nd_item<1>();
        auto &word = *sycl::ext::oneapi::group_local_memory_for_overwrite<int>(item.get_group());
        if (item.get_local_id(0) == 7) {
            word = static_cast<int>(item.get_group(0)) + 100;
        }
        sycl::group_barrier(item.get_group());
        out[item.get_global_id(0)] = word;
    }
)";

PROGRAM("group_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    auto bundle = check::compile(queue.get_context(), source);
    constexpr std::size_t count = 4096;
    check::memory<int> in(count, queue, sycl::usm::alloc::shared), out(count, queue, sycl::usm::alloc::shared);
    std::iota(in.data, in.data + count, 0);
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(in.data, out.data);
        handler.parallel_for(sycl::nd_range<1>(count / 4, 64), bundle.ext_oneapi_get_kernel("move"));
    });
    queue.wait_and_throw();
    check::each(out.data, count, [](std::size_t i) { return 2 * static_cast<int>(i) + 1; }, "what the groups moved");
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(out.data);
        handler.parallel_for(sycl::nd_range<1>(count, 128), bundle.ext_oneapi_get_kernel("shared"));
    });
    queue.wait_and_throw();
    check::each(out.data, count, [](std::size_t i) { return 100 + static_cast<int>(i / 128); }, "what one work-item told its group");
}
