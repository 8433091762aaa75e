// A whole graph takes over the arguments of another one of the same shape.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

PROGRAM("graph_whole_update") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_graph)) {
        throw check::skipped("the device has no graphs that can be changed");
    }
    auto bundle = check::compile(queue.get_context(), source);
    const auto add = bundle.ext_oneapi_get_kernel("add"), twice = bundle.ext_oneapi_get_kernel("twice");
    check::memory<int> one(1, queue, sycl::usm::alloc::device), two(1, queue, sycl::usm::alloc::device);
    auto record = [&](check::syclex::command_graph<> &graph, int *to, int value) {
        graph.begin_recording(queue);
        for (const auto *kernel : {&add, &twice}) {
            queue.submit([&](sycl::handler &handler) {
                handler.set_args(to, value);
                handler.single_task(*kernel);
            });
        }
        graph.end_recording();
    };
    check::syclex::command_graph<> first{queue.get_context(), queue.get_device()};
    check::syclex::command_graph<> second{queue.get_context(), queue.get_device()};
    record(first, one.data, 3);
    record(second, two.data, 4);
    auto executable = first.finalize(check::syclex::property::graph::updatable{});
    int back[2];
    auto launch = [&](int left, int right, const char *what) {
        queue.fill(one.data, 1, 1);
        queue.fill(two.data, 1, 1);
        queue.ext_oneapi_graph(executable);
        queue.memcpy(back, one.data, sizeof(int));
        queue.memcpy(back + 1, two.data, sizeof(int)).wait_and_throw();
        check::same(back[0], left, what);
        check::same(back[1], right, what);
    };
    launch((1 + 3) * 2 + 3, 1, "before the update");
    executable.update(second);
    launch(1, (1 + 4) * 2 + 4, "after the update");
}
