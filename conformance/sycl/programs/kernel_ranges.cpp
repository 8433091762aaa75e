// Kernels from source over one, two and three dimensions and as a single task; every index is visited once.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) one(int *out) { out[0] = 42; }
    KERNEL(syclex::nd_range_kernel<1>) line(int *out) {
        const auto item = this_item::get_nd_item<1>();
        out[item.get_global_id(0)] += static_cast<int>(item.get_group(0) * 1000 + item.get_local_id(0));
    }
    KERNEL(syclex::nd_range_kernel<2>) plane(int *out) {
        const auto item = this_item::get_nd_item<2>();
        out[item.get_global_linear_id()] += static_cast<int>(item.get_global_id(0) * 1000 + item.get_global_id(1));
    }
    KERNEL(syclex::nd_range_kernel<3>) space(int *out) {
        const auto item = this_item::get_nd_item<3>();
        const auto id = item.get_global_id();
        out[(id[0] * item.get_global_range(1) + id[1]) * item.get_global_range(2) + id[2]] +=
            static_cast<int>(id[0] * 10000 + id[1] * 100 + id[2]);
    }
)";

PROGRAM("kernel_ranges") {
    sycl::queue queue{sycl::property::queue::in_order()};
    auto bundle = check::compile(queue.get_context(), source);
    constexpr std::size_t count = 4096;
    check::memory<int> out(count, queue, sycl::usm::alloc::shared);
    const auto run = [&](const char *name, auto range) {
        queue.fill(out.data, 0, count);
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data);
            handler.parallel_for(range, bundle.ext_oneapi_get_kernel(name));
        });
        queue.wait_and_throw();
    };
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(out.data);
        handler.single_task(bundle.ext_oneapi_get_kernel("one"));
    });
    queue.wait_and_throw();
    check::same(out[0], 42, "what the single task wrote");
    run("line", sycl::nd_range<1>(count, 64));
    check::each(out.data, count, [](std::size_t i) { return static_cast<int>(i / 64 * 1000 + i % 64); }, "line");
    run("plane", sycl::nd_range<2>({32, 128}, {4, 16}));
    check::each(out.data, count, [](std::size_t i) { return static_cast<int>(i / 128 * 1000 + i % 128); }, "plane");
    run("space", sycl::nd_range<3>({8, 16, 32}, {2, 4, 8}));
    check::each(out.data, count,
                [](std::size_t i) { return static_cast<int>(i / 512 * 10000 + i / 32 % 16 * 100 + i % 32); }, "space");
}
