// A function of the host between commands of a graph, called at each launch.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

PROGRAM("graph_host_task") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph)) {
        throw check::skipped("the device has no graphs");
    }
    const auto add = check::kernel(queue, source, "add");
    check::memory<int> data(1, queue, sycl::usm::alloc::host);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    auto launch = [&](sycl::handler &handler) {
        handler.set_args(data.data, 1);
        handler.single_task(add);
    };
    auto before = graph.add(launch);
    auto task = graph.add([&](sycl::handler &handler) { handler.host_task([&] { *data.data *= 10; }); },
                          {check::syclex::property::node::depends_on(before)});
    graph.add(launch, {check::syclex::property::node::depends_on(task)});
    auto executable = graph.finalize();
    *data.data = 1;
    int should = 1;
    for (int round = 0; round < 3; round++) {
        queue.ext_oneapi_graph(executable);
        queue.wait_and_throw();
        should = (should + 1) * 10 + 1;
        check::same(*data.data, should, "round " + std::to_string(round));
    }
}
