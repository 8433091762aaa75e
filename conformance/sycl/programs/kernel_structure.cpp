// A structure and a vector as arguments by value.
#include "check.hpp"

static const char *const source = R"(
    struct parameters { char c; double d; int list[5]; short s; };
    KERNEL(syclex::single_task_kernel) collect(double *out, parameters p, sycl::int4 v) {
        out[0] = p.c; out[1] = p.d; out[2] = p.list[0] + p.list[4]; out[3] = p.s; out[4] = v.x() + 10 * v.w();
    }
)";

struct parameters {
    char c;
    double d;
    int list[5];
    short s;
};

PROGRAM("kernel_structure") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "collect");
    check::memory<double> out(5, queue, sycl::usm::alloc::shared);
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(out.data, parameters{3, 1.5, {4, 0, 0, 0, 7}, 9}, sycl::int4{1, 2, 3, 4});
        handler.single_task(kernel);
    });
    queue.wait_and_throw();
    const double should[] = {3, 1.5, 11, 9, 41};
    check::each(out.data, 5, [&](std::size_t i) { return should[i]; }, "argument");
}
