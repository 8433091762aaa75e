// A kernel's assertion that does not hold is an error of the queue, and the process lives on to see it.
#include "check.hpp"

#include <sys/wait.h>
#include <unistd.h>

static const char *const source = R"(
    #include <cassert>
    KERNEL(syclex::nd_range_kernel<1>) hold(int *data, int limit) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        assert(data[i] < limit && "too large");
        data[i]++;
    }
)";

PROGRAM("bad/kernel_asserts") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_native_assert)) {
        throw check::skipped("the device has no assertions");
    }
    const auto kernel = check::kernel(queue, source, "hold");
    int *data = sycl::malloc_shared<int>(256, queue);
    std::iota(data, data + 256, 0);
    const auto launch = [&](int limit) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(data, limit);
            handler.parallel_for(sycl::nd_range<1>(256, 64), kernel);
        });
        queue.wait_and_throw();
    };
    launch(256);
    check::each(data, 256, [](std::size_t i) { return static_cast<int>(i) + 1; }, "where it holds");
    check::code_of([&] { launch(100); }, "an assertion that does not hold");
    // The device is lost for this process; what is still released must not stop it from ending.
    try {
        sycl::free(data, queue);
    } catch (const sycl::exception &) {
    }
}
