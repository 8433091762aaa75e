// The process ends while the device works: nobody waited, nothing was freed, and the end neither hangs nor crashes.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) slow(int *out, int rounds) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        int value = static_cast<int>(i);
        for (int round = 0; round < rounds; round++) value = value * 1664525 + 1013904223;
        out[i] = value;
    }
)";

PROGRAM("bad/exit_with_work") {
    static sycl::queue ordered{sycl::property::queue::in_order()};
    static sycl::queue loose{ordered.get_context(), ordered.get_device()};
    constexpr std::size_t count = 1024;
    static int *data = sycl::malloc_device<int>(count, ordered);
    const auto kernel = check::kernel(ordered, source, "slow");
    for (auto *queue : {&ordered, &loose}) {
        for (int i = 0; i < 4; i++) {
            queue->submit([&](sycl::handler &handler) {
                handler.set_args(data, 3000);
                handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
            });
        }
        queue->fill(data, 1, count);
    }
}
