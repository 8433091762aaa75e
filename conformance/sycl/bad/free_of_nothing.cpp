// Frees of the null pointer, of memory that is not USM, and of memory of another context: an error at most, never a crash.
#include "check.hpp"

template <typename F> static void tolerate(F work) {
    try {
        work();
    } catch (const sycl::exception &) {
    }
}

PROGRAM("bad/free_of_nothing") {
    sycl::queue queue{sycl::property::queue::in_order()};
    sycl::free(nullptr, queue);
    int on_stack[4] = {1, 2, 3, 4};
    tolerate([&] { sycl::free(on_stack, queue); });
    std::vector<int> on_heap(100, 1);
    tolerate([&] { sycl::free(on_heap.data(), queue); });
    int *inside = sycl::malloc_device<int>(100, queue);
    tolerate([&] { sycl::free(inside + 10, queue); });
    sycl::free(inside, queue);

    check::memory<int> data(100, queue, sycl::usm::alloc::device);
    std::vector<int> back(100);
    queue.fill(data.data, 2, 100);
    queue.memcpy(back.data(), data.data, 400).wait_and_throw();
    check::each(back.data(), 100, [](std::size_t) { return 2; }, "what the queue did afterwards");
    check::same(on_stack[3], 4, "the stack variable");
}
