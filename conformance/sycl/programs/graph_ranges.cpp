// The range of a node is changed between launches.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) mark(int *out) { out[this_item::get_nd_item<1>().get_global_id(0)] += 1; }
)";

PROGRAM("graph_ranges") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_graph)) {
        throw check::skipped("the device has no graphs that can be changed");
    }
    const auto mark = check::kernel(queue, source, "mark");
    constexpr std::size_t count = 64;
    check::memory<int> data(count, queue, sycl::usm::alloc::device);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    auto node = graph.add([&](sycl::handler &handler) {
        handler.set_args(data.data);
        handler.parallel_for(sycl::nd_range<1>{16, 4}, mark);
    });
    auto executable = graph.finalize(check::syclex::property::graph::updatable{});
    std::vector<int> back(count);
    for (std::size_t size : {16, 64, 8}) {
        node.update_nd_range(sycl::nd_range<1>{size, 8});
        executable.update(node);
        queue.fill(data.data, 0, count);
        queue.ext_oneapi_graph(executable);
        queue.memcpy(back.data(), data.data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [&](std::size_t i) { return i < size ? 1 : 0; }, std::to_string(size));
    }
}
