// A variable of the device in a run-time-compiled bundle: its address, its value between launches, copies to and from it.
#include "check.hpp"

static const char *const source = R"(
    syclex::device_global<int> counter;
    syclex::device_global<float[4], decltype(syclex::properties{syclex::device_image_scope})> table;
    KERNEL(syclex::single_task_kernel) count(int by) { counter.get() += by; }
    KERNEL(syclex::single_task_kernel) sum(float *out) { *out = table[0] + table[1] + table[2] + table[3]; }
)";

PROGRAM("device_global") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    auto bundle = check::compile(queue.get_context(), source);
    check::that(bundle.ext_oneapi_has_device_global("counter"), "the variable is missing");
    check::same(bundle.ext_oneapi_get_device_global_size("counter"), sizeof(int), "the variable's size");
    auto *counter = static_cast<int *>(bundle.ext_oneapi_get_device_global_address("counter", device));
    const int start = 100;
    queue.memcpy(counter, &start, sizeof start).wait();
    const auto kernel = bundle.ext_oneapi_get_kernel("count");
    for (int by = 1; by <= 10; by++) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(by);
            handler.single_task(kernel);
        });
    }
    int value = -1;
    queue.memcpy(&value, counter, sizeof value).wait();
    check::same(value, 155, "the variable");
}
