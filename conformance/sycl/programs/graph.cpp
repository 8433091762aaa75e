// Commands recorded once and run several times.
#include "check.hpp"

PROGRAM("graph") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph)) {
        throw check::skipped("the device has no graphs");
    }
    constexpr std::size_t count = 1024;
    check::memory<int> a(count, queue, sycl::usm::alloc::device);
    check::memory<int> b(count, queue, sycl::usm::alloc::device);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    graph.begin_recording(queue);
    queue.memcpy(b.data, a.data, count * sizeof(int));
    queue.fill(a.data, 5, count);
    graph.end_recording();
    auto executable = graph.finalize();
    std::vector<int> back(count);
    queue.fill(a.data, 1, count);
    for (int round = 0; round < 3; round++) {
        queue.ext_oneapi_graph(executable);
        queue.memcpy(back.data(), b.data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [&](std::size_t) { return round == 0 ? 1 : 5; }, "round " + std::to_string(round));
    }
}
