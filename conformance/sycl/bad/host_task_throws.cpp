// An exception in a host task reaches the queue's handler, and the queue works on.
#include "check.hpp"

PROGRAM("bad/host_task_throws") {
    int caught = 0;
    std::string text;
    const auto handler = [&](sycl::exception_list list) {
        for (const auto &pointer : list) {
            try {
                std::rethrow_exception(pointer);
            } catch (const std::exception &error) {
                caught++;
                text = error.what();
            }
        }
    };
    sycl::queue queue{handler, sycl::property::queue::in_order()};
    check::memory<int> data(100, queue, sycl::usm::alloc::device);
    queue.fill(data.data, 1, 100);
    queue.submit([&](sycl::handler &h) { h.host_task([] { throw std::runtime_error("as planned"); }); });
    queue.wait_and_throw();
    check::same(caught, 1, "the number of exceptions");
    check::same(text, std::string("as planned"), "the exception");
    std::vector<int> back(100);
    queue.fill(data.data, 2, 100);
    queue.memcpy(back.data(), data.data, 400).wait_and_throw();
    check::each(back.data(), 100, [](std::size_t) { return 2; }, "what the queue did afterwards");
}
