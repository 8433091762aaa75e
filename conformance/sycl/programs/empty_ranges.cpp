// Kernels over ranges without any work-item: nothing runs, nothing is refused, and the order around the launch holds.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) add(int *data, int by) { data[this_item::get_nd_item<1>().get_global_id(0)] += by; }
    KERNEL(syclex::nd_range_kernel<2>) add_2d(int *data, int by) { data[this_item::get_nd_item<2>().get_global_linear_id()] += by; }
)";

PROGRAM("empty_ranges") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        auto bundle = check::compile(queue.get_context(), source);
        constexpr std::size_t count = 1 << 16;
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        const auto launch = [&](const char *name, auto range, const sycl::event &after) {
            return queue.submit([&](sycl::handler &handler) {
                handler.depends_on(after);
                handler.set_args(memory.data, 100);
                handler.parallel_for(range, bundle.ext_oneapi_get_kernel(name));
            });
        };
        auto event = queue.fill(memory.data, 5, count);
        event = launch("add", sycl::nd_range<1>(0, 64), event);
        event = launch("add", sycl::nd_range<1>(0, 1), event);
        event = launch("add", sycl::range<1>(0), event);
        event = launch("add_2d", sycl::nd_range<2>({0, 64}, {1, 64}), event);
        event = launch("add_2d", sycl::nd_range<2>({64, 0}, {1, 64}), event);
        queue.memcpy(back.data(), memory.data, count * sizeof(int), event).wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 5; }, "the memory");
        launch("add", sycl::nd_range<1>(0, 64), {}).wait();
        queue.wait_and_throw();
    }
}
