// Arguments of every size by value: integers, floating point numbers, a pointer; many in one kernel, new ones at each launch.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel)
    collect(double *out, char a, short b, int c, long d, float e, double f, unsigned char u, unsigned short v, bool g) {
        out[0] = a; out[1] = b; out[2] = c; out[3] = static_cast<double>(d); out[4] = e; out[5] = f;
        out[6] = u; out[7] = v; out[8] = g;
    }
)";

PROGRAM("kernel_arguments") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "collect");
    check::memory<double> out(9, queue, sycl::usm::alloc::shared);
    for (int round = 1; round <= 3; round++) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data, static_cast<char>(-round), static_cast<short>(-300 * round), 70000 * round,
                             5000000000L * round, 0.5f * round, 0.25 * round,
                             static_cast<unsigned char>(200 + round), static_cast<unsigned short>(60000 + round),
                             round % 2 == 0);
            handler.single_task(kernel);
        });
        queue.wait_and_throw();
        const double should[] = {-1.0 * round, -300.0 * round, 70000.0 * round, 5e9 * round, 0.5 * round, 0.25 * round,
                                 200.0 + round, 60000.0 + round, round % 2 == 0 ? 1.0 : 0.0};
        check::each(out.data, 9, [&](std::size_t i) { return should[i]; }, "argument");
    }
}
