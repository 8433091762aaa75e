// Dynamic parameters: an address and a value are changed between launches, in one node and in two at once.
#include "check.hpp"

#include <type_traits>

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

// Release 2026.1 has a parameter belong to a graph.
template <typename T> static auto parameter([[maybe_unused]] check::syclex::command_graph<> &graph, T value) {
    using made = check::syclex::dynamic_parameter<T>;
    if constexpr (std::is_constructible_v<made, const T &>) {
        return made{value};
    } else {
        return made{graph, value};
    }
}

PROGRAM("graph_parameters") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_graph)) {
        throw check::skipped("the device has no graphs that can be changed");
    }
    const auto add = check::kernel(queue, source, "add");
    check::memory<int> data(3, queue, sycl::usm::alloc::device);
    check::syclex::command_graph<> graph{queue.get_context(), queue.get_device()};
    auto to = parameter<int *>(graph, data.data);
    auto value = parameter<int>(graph, 1);
    auto adding = [&](sycl::handler &handler) {
        handler.set_arg(0, to);
        handler.set_arg(1, value);
        handler.single_task(add);
    };
    auto first = graph.add(adding);
    auto second = graph.add(adding, {check::syclex::property::node::depends_on(first)});
    auto executable = graph.finalize(check::syclex::property::graph::updatable{});
    std::vector<int> back(3);
    auto launch = [&](std::vector<int> should, const char *what) {
        queue.fill(data.data, 0, 3);
        queue.ext_oneapi_graph(executable);
        queue.memcpy(back.data(), data.data, 3 * sizeof(int)).wait_and_throw();
        check::each(back.data(), 3, [&](std::size_t i) { return should[i]; }, what);
    };
    launch({2, 0, 0}, "as recorded");
    to.update(data.data + 1);
    value.update(10);
    launch({2, 0, 0}, "before the nodes are updated");
    executable.update(first);
    launch({1, 10, 0}, "one node updated");
    to.update(data.data + 2);
    executable.update(std::vector<check::syclex::node>{first, second});
    launch({0, 0, 20}, "both nodes updated");
}
