// A dynamic command group: a node is one of two kernels, chosen between launches.
#include "check.hpp"

#include <functional>

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

PROGRAM("graph_command_groups") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_graph)) {
        throw check::skipped("the device has no graphs that can be changed");
    }
    auto bundle = check::compile(queue.get_context(), source);
    const auto add = bundle.ext_oneapi_get_kernel("add"), twice = bundle.ext_oneapi_get_kernel("twice");
    check::memory<int> data(1, queue, sycl::usm::alloc::device);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    using group_function = std::function<void(sycl::handler &)>;
    auto group = [&](const sycl::kernel &kernel, int value) -> group_function {
        return [&data, &kernel, value](sycl::handler &handler) {
            handler.set_args(data.data, value);
            handler.single_task(kernel);
        };
    };
    check::syclex::dynamic_command_group groups{graph, std::vector<group_function>{group(add, 5), group(twice, 1)}};
    auto node = graph.add(groups);
    auto executable = graph.finalize(check::syclex::property::graph::updatable{});
    int back = 0;
    const int should[] = {10 + 5, 10 * 2 + 1, 10 + 5};
    for (std::size_t round = 0; round < 3; round++) {
        groups.set_active_index(round % 2);
        executable.update(node);
        queue.fill(data.data, 10, 1);
        queue.ext_oneapi_graph(executable);
        queue.memcpy(&back, data.data, sizeof back).wait_and_throw();
        check::same(back, should[round], "round " + std::to_string(round));
    }
}
