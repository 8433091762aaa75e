// A command group that throws submits nothing; the queue works on. Bad arguments of a submission are exceptions.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) two(int *a, int by) { a[this_item::get_nd_item<1>().get_global_id(0)] += by; }
)";

PROGRAM("bad/throwing_submission") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "two");
    check::memory<int> data(64, queue, sycl::usm::alloc::device);
    queue.fill(data.data, 1, 64);
    bool thrown = false;
    try {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(data.data, 5);
            throw std::runtime_error("as planned");
        });
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    check::that(thrown, "the exception was lost");
    sycl::queue foreign{sycl::context{queue.get_device()}, queue.get_device(), sycl::property::queue::in_order()};
    check::code_of(
        [&] {
            foreign.submit([&](sycl::handler &handler) {
                handler.set_args(data.data, 5);
                handler.parallel_for(sycl::nd_range<1>(64, 64), kernel);
            });
            foreign.wait_and_throw();
        },
        "a kernel of another context");
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(data.data, 5);
        handler.parallel_for(sycl::nd_range<1>(64, 64), kernel);
    });
    std::vector<int> back(64);
    queue.memcpy(back.data(), data.data, 256).wait_and_throw();
    check::each(back.data(), 64, [](std::size_t) { return 6; }, "what the queue did afterwards");
}
