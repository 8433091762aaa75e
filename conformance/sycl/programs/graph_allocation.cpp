// Memory that is allocated and freed by commands of a graph, under the same address at each launch.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/async_alloc/async_alloc.hpp>

PROGRAM("graph_allocation") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph)) {
        throw check::skipped("the device has no graphs");
    }
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_async_memory_alloc)) {
        throw check::skipped("the device has no stream-ordered allocation");
    }
    constexpr std::size_t count = 1000;
    check::memory<int> result(count, queue, sycl::usm::alloc::device);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    int *data = nullptr;
    using after = check::syclex::property::node::depends_on;
    auto made = graph.add([&](sycl::handler &handler) {
        data = static_cast<int *>(
            check::syclex::async_malloc(handler, sycl::usm::alloc::device, count * sizeof(int)));
    });
    check::that(data != nullptr, "no address while the graph is built");
    auto filled = graph.add([&](sycl::handler &handler) { handler.fill(data, 7, count); }, {after(made)});
    auto copied = graph.add(
        [&](sycl::handler &handler) { handler.memcpy(result.data, data, count * sizeof(int)); }, {after(filled)});
    graph.add([&](sycl::handler &handler) { check::syclex::async_free(handler, data); }, {after(copied)});
    auto executable = graph.finalize();
    std::vector<int> back(count);
    for (int round = 0; round < 3; round++) {
        queue.fill(result.data, 0, count);
        queue.ext_oneapi_graph(executable);
        queue.memcpy(back.data(), result.data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 7; }, "round " + std::to_string(round));
    }
}
