// Arguments of every size by value: integers, floating point numbers, vectors and a structure; many in one kernel.
#include "check.hpp"

static const char *const source = R"(
    struct parameters { char c; double d; int list[5]; short s; };
    KERNEL(syclex::single_task_kernel)
    collect(double *out, char a, short b, int c, long d, float e, double f, parameters p, sycl::int4 v, bool g) {
        out[0] = a; out[1] = b; out[2] = c; out[3] = static_cast<double>(d); out[4] = e; out[5] = f;
        out[6] = p.c; out[7] = p.d; out[8] = p.list[0] + p.list[4]; out[9] = p.s;
        out[10] = v.x() + 10 * v.w(); out[11] = g;
    }
)";

struct parameters {
    char c;
    double d;
    int list[5];
    short s;
};

PROGRAM("kernel_arguments") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "collect");
    check::memory<double> out(12, queue, sycl::usm::alloc::shared);
    for (int round = 1; round <= 3; round++) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data, static_cast<char>(-round), static_cast<short>(-300 * round), 70000 * round,
                             5000000000L * round, 0.5f * round, 0.25 * round,
                             parameters{static_cast<char>(round), 1.5 * round, {round, 0, 0, 0, 7}, 9},
                             sycl::int4{round, 2, 3, 4}, round % 2 == 0);
            handler.single_task(kernel);
        });
        queue.wait_and_throw();
        const double should[] = {-1.0 * round, -300.0 * round, 70000.0 * round, 5e9 * round, 0.5 * round, 0.25 * round,
                                 1.0 * round, 1.5 * round, 7.0 + round, 9, 40.0 + round, round % 2 == 0 ? 1.0 : 0.0};
        check::each(out.data, 12, [&](std::size_t i) { return should[i]; }, "argument");
    }
}
