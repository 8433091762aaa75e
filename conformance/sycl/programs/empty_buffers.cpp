// Buffers of no elements and pointers to nothing as a kernel's arguments: the kernel sees that there is
// nothing, and its other arguments are where they should be.
#include "check.hpp"

static const char *const source = R"(
    #define ACCESSOR(type, name) type *name, unsigned long name##_range, unsigned long name##_memory, unsigned long name##_first
    KERNEL(syclex::single_task_kernel) look(long *out, ACCESSOR(const int, none), int last) {
        out[0] = static_cast<long>(none_range);
        out[1] = last;
    }
    KERNEL(syclex::single_task_kernel) both(ACCESSOR(int, some), ACCESSOR(const int, none), const int *nothing, int last) {
        some[0] = static_cast<int>(none_range) + (nothing == nullptr ? 10 : 20);
        some[1] = last;
        some[2] = static_cast<int>(some_range);
    }
)";

PROGRAM("empty_buffers") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        auto bundle = check::compile(queue.get_context(), source);
        check::memory<long> out(2, queue, sycl::usm::alloc::shared);
        sycl::buffer<int> none{sycl::range<1>(0)}, some{sycl::range<1>(30)};
        check::same(none.size(), 0u, "the size of an empty buffer");
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor<int, 1, sycl::access_mode::read> access{none, handler};
            handler.set_args(out.data, access, 71);
            handler.single_task(bundle.ext_oneapi_get_kernel("look"));
        });
        queue.wait_and_throw();
        check::same(out[0], 0, "the range that the kernel saw");
        check::same(out[1], 71, "the argument behind it");
        queue.submit([&](sycl::handler &handler) {
            sycl::accessor<int, 1, sycl::access_mode::read_write> to{some, handler};
            sycl::accessor<int, 1, sycl::access_mode::read> access{none, handler};
            handler.set_args(to, access, static_cast<const int *>(nullptr), 72);
            handler.single_task(bundle.ext_oneapi_get_kernel("both"));
        });
        {
            sycl::host_accessor host{some, sycl::read_only};
            check::same(host[0], 10, "what the kernel saw of nothing");
            check::same(host[1], 72, "the last argument");
            check::same(host[2], 30, "the range of the buffer that is not empty");
        }
    }
}
