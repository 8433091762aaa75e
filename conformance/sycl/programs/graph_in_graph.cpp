// A finished graph is a node of another one, twice, and still runs by itself.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

PROGRAM("graph_in_graph") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph)) {
        throw check::skipped("the device has no graphs");
    }
    auto bundle = check::compile(queue.get_context(), source);
    const auto add = bundle.ext_oneapi_get_kernel("add"), twice = bundle.ext_oneapi_get_kernel("twice");
    check::memory<int> data(1, queue, sycl::usm::alloc::device);
    auto launch = [&](const sycl::kernel &kernel, int value) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(data.data, value);
            handler.single_task(kernel);
        });
    };
    check::syclex::command_graph inner{queue.get_context(), queue.get_device()};
    inner.begin_recording(queue);
    launch(add, 1);
    launch(twice, 0);
    inner.end_recording();
    auto inner_executable = inner.finalize();
    check::syclex::command_graph outer{queue.get_context(), queue.get_device()};
    outer.begin_recording(queue);
    launch(add, 10);
    queue.ext_oneapi_graph(inner_executable);
    launch(add, 100);
    queue.ext_oneapi_graph(inner_executable);
    outer.end_recording();
    auto outer_executable = outer.finalize();
    int back = 0;
    for (int round = 0; round < 2; round++) {
        queue.fill(data.data, 0, 1);
        queue.ext_oneapi_graph(outer_executable);
        queue.memcpy(&back, data.data, sizeof back).wait_and_throw();
        check::same(back, ((10 + 1) * 2 + 100 + 1) * 2, "the outer graph");
    }
    queue.fill(data.data, 0, 1);
    queue.ext_oneapi_graph(inner_executable);
    queue.memcpy(&back, data.data, sizeof back).wait_and_throw();
    check::same(back, 2, "the inner graph by itself");
}
