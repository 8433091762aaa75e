// A kernel that writes where no memory is: waiting says so by an exception, and the process ends by itself.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) far(int *out) {
        out[(1ul << 42) + this_item::get_nd_item<1>().get_global_id(0)] = 1;
    }
)";

PROGRAM("bad/kernel_out_of_bounds") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "far");
    int *data = sycl::malloc_device<int>(64, queue);
    check::code_of(
        [&] {
            queue.submit([&](sycl::handler &handler) {
                handler.set_args(data);
                handler.parallel_for(sycl::nd_range<1>(64, 64), kernel);
            });
            queue.wait_and_throw();
        },
        "waiting for a kernel that wrote where no memory is");
    // The device is lost for this process; what is still released must not stop it from ending.
    try {
        sycl::free(data, queue);
    } catch (const sycl::exception &) {
    }
}
