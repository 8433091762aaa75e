// Buffers and accessors order kernels that were compiled at run time, and bring their results back.
#include "check.hpp"

// The runtime passes an accessor as four arguments. They are taken one by one, because the run-time compilers of both releases
// crash in their PTX back end over a parameter that is a structure.
static const char *const source = R"(
    #define ACCESSOR(type, name) type *name, unsigned long name##_range, unsigned long name##_memory, unsigned long name##_first
    KERNEL(syclex::nd_range_kernel<1>) twice(ACCESSOR(int, data)) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        data[i] = data[i] * 2;
    }
    KERNEL(syclex::nd_range_kernel<1>)
    add(ACCESSOR(const int, a), ACCESSOR(int, b)) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        b[i] = b[i] + a[i];
    }
)";

PROGRAM("buffer_accessor") {
    sycl::queue queue;
    auto bundle = check::compile(queue.get_context(), source);
    constexpr std::size_t count = 1024;
    auto values = check::numbers<int>(count);
    std::vector<int> sums(count, 1);
    {
        sycl::buffer<int> a{values.data(), count};
        sycl::buffer<int> b{sums.data(), count};
        for (int round = 0; round < 3; round++) {
            queue.submit([&](sycl::handler &handler) {
                sycl::accessor<int, 1, sycl::access_mode::read_write> data{a, handler};
                handler.set_args(data);
                handler.parallel_for(sycl::nd_range<1>(count, 64), bundle.ext_oneapi_get_kernel("twice"));
            });
            queue.submit([&](sycl::handler &handler) {
                sycl::accessor<int, 1, sycl::access_mode::read> from{a, handler};
                sycl::accessor<int, 1, sycl::access_mode::read_write> to{b, handler};
                handler.set_args(from, to);
                handler.parallel_for(sycl::nd_range<1>(count, 64), bundle.ext_oneapi_get_kernel("add"));
            });
        }
        queue.wait_and_throw();
    }
    check::each(values.data(), count, [](std::size_t i) { return static_cast<int>(8 * i); }, "a");
    check::each(sums.data(), count, [](std::size_t i) { return static_cast<int>(1 + 14 * i); }, "b");
}
