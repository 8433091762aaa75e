// A graph that is built node by node: a diamond by dependencies and by edges, launched several times.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

PROGRAM("graph_explicit") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph)) {
        throw check::skipped("the device has no graphs");
    }
    auto bundle = check::compile(queue.get_context(), source);
    const auto add = bundle.ext_oneapi_get_kernel("add");
    constexpr int width = 20;
    check::memory<int> data(width + 1, queue, sycl::usm::alloc::device);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    auto first = graph.add([&](sycl::handler &handler) { handler.fill(data.data, 1, width + 1); });
    auto last = graph.add([&](sycl::handler &handler) { handler.memcpy(data.data + width, data.data, sizeof(int)); });
    for (int i = 0; i < width; i++) {
        auto node = graph.add(
            [&](sycl::handler &handler) {
                handler.set_args(data.data + i, i + 10);
                handler.single_task(add);
            },
            {check::syclex::property::node::depends_on(first)});
        graph.make_edge(node, last);
    }
    auto executable = graph.finalize();
    std::vector<int> back(width + 1);
    for (int round = 0; round < 3; round++) {
        queue.fill(data.data, 0, width + 1);
        queue.ext_oneapi_graph(executable);
        queue.memcpy(back.data(), data.data, (width + 1) * sizeof(int)).wait_and_throw();
        check::each(back.data(), width + 1, [&](std::size_t i) { return i == width ? 11 : static_cast<int>(i) + 11; },
                    "round " + std::to_string(round));
    }
}
