// Launches that begin elsewhere than at zero, in each number of dimensions, and launches of very many groups.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) line(int *out) {
        const auto item = this_item::get_nd_item<1>();
        out[item.get_global_id(0)] = static_cast<int>(item.get_global_id(0) * 10 + item.get_offset()[0]);
    }
    KERNEL(syclex::nd_range_kernel<2>) plane(int *out) {
        const auto item = this_item::get_nd_item<2>();
        out[item.get_global_id(0) * 100 + item.get_global_id(1)] = static_cast<int>(item.get_global_linear_id());
    }
    KERNEL(syclex::nd_range_kernel<3>) count(unsigned *out) {
        const auto item = this_item::get_nd_item<3>();
        if (item.get_local_linear_id() == 0) {
            sycl::atomic_ref<unsigned, sycl::memory_order::relaxed, sycl::memory_scope::device> total(out[0]);
            total += 1u;
            sycl::atomic_ref<unsigned, sycl::memory_order::relaxed, sycl::memory_scope::device> last(out[1]);
            last.fetch_max(static_cast<unsigned>(item.get_group_linear_id()));
        }
    }
)";

PROGRAM("kernel_offsets") {
    sycl::queue queue{sycl::property::queue::in_order()};
    auto bundle = check::compile(queue.get_context(), source);
    constexpr std::size_t count = 10000;
    check::memory<int> out(count, queue, sycl::usm::alloc::shared);
    const auto launch = [&](const char *name, auto range, auto *data) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(data);
            handler.parallel_for(range, bundle.ext_oneapi_get_kernel(name));
        });
        queue.wait_and_throw();
    };
    std::fill_n(out.data, count, -1);
    launch("line", sycl::nd_range<1>{sycl::range<1>(640), sycl::range<1>(64), sycl::id<1>(333)}, out.data);
    check::each(out.data, count, [](std::size_t i) { return i >= 333 && i < 973 ? static_cast<int>(i) * 10 + 333 : -1; }, "a line");
    std::fill_n(out.data, count, -1);
    launch("plane", sycl::nd_range<2>{sycl::range<2>(20, 32), sycl::range<2>(2, 8), sycl::id<2>(50, 30)}, out.data);
    check::each(out.data, count,
                [](std::size_t i) {
                    const auto row = i / 100, column = i % 100;
                    const bool inside = row >= 50 && row < 70 && column >= 30 && column < 62;
                    return inside ? static_cast<int>((row - 50) * 32 + column - 30) : -1;
                },
                "a plane");
    // More groups in the last dimension of SYCL than the native grid has in its others, and as many as those have there.
    check::memory<unsigned> total(2, queue, sycl::usm::alloc::shared);
    for (const auto &groups : {sycl::range<3>(1, 1, 70000), sycl::range<3>(1, 300, 5), sycl::range<3>(7, 11, 13)}) {
        total[0] = total[1] = 0;
        launch("count", sycl::nd_range<3>{groups * sycl::range<3>(1, 1, 2), sycl::range<3>(1, 1, 2)}, total.data);
        check::same(total[0], groups.size(), "the number of groups");
        check::same(total[1], groups.size() - 1, "the last group");
    }
    check::code_of([&] { launch("count", sycl::nd_range<3>{{70000, 1, 1}, {1, 1, 1}}, total.data); }, "too many groups in the first dimension");
}
