// What queues are given is recorded: across two queues that wait for each other by events, with an empty node between.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) add(int *out, int value) { *out += value; }
    KERNEL(syclex::single_task_kernel) twice(int *out, int value) { *out = *out * 2 + value; }
)";

PROGRAM("graph_recorded") {
    sycl::queue queue;
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_limited_graph)) {
        throw check::skipped("the device has no graphs");
    }
    sycl::queue other{queue.get_context(), queue.get_device()};
    auto bundle = check::compile(queue.get_context(), source);
    const auto add = bundle.ext_oneapi_get_kernel("add"), twice = bundle.ext_oneapi_get_kernel("twice");
    check::memory<int> data(2, queue, sycl::usm::alloc::device);
    check::syclex::command_graph graph{queue.get_context(), queue.get_device()};
    graph.begin_recording({queue, other});
    auto filled = queue.fill(data.data, 3, 2);
    auto launch = [&](sycl::queue &on, const sycl::kernel &kernel, int *to, int value, std::vector<sycl::event> after) {
        return on.submit([&](sycl::handler &handler) {
            handler.depends_on(after);
            handler.set_args(to, value);
            handler.single_task(kernel);
        });
    };
    auto left = launch(queue, add, data.data, 4, {filled});
    auto right = launch(other, twice, data.data + 1, 5, {filled});
    auto both = other.ext_oneapi_submit_barrier({left, right});
    launch(queue, twice, data.data, 1, {both});
    launch(other, add, data.data + 1, 100, {both});
    graph.end_recording();
    auto executable = graph.finalize();
    int back[2];
    for (int round = 0; round < 3; round++) {
        auto done = queue.submit([&](sycl::handler &handler) { handler.ext_oneapi_graph(executable); });
        queue.memcpy(back, data.data, sizeof back, done).wait_and_throw();
        check::same(back[0], (3 + 4) * 2 + 1, "the left value");
        check::same(back[1], 3 * 2 + 5 + 100, "the right value");
    }
}
