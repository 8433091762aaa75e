// Arguments of a kernel as bytes whose type the host does not know.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/raw_kernel_arg.hpp>

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) collect(double *out, char a, short b, int c, long d, double e) {
        out[0] = a; out[1] = b; out[2] = c; out[3] = static_cast<double>(d); out[4] = e;
    }
)";

PROGRAM("raw_arguments") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "collect");
    check::memory<double> out(5, queue, sycl::usm::alloc::shared);
    for (int round = 1; round <= 3; round++) {
        const char a = static_cast<char>(-round);
        const short b = static_cast<short>(1000 * round);
        const int c = -100000 * round;
        const long d = 6000000000L * round;
        const double e = 0.125 * round;
        using raw = check::syclex::raw_kernel_arg;
        queue.submit([&](sycl::handler &handler) {
            handler.set_arg(0, raw{&out.data, sizeof out.data});
            handler.set_arg(1, raw{&a, sizeof a});
            handler.set_arg(2, raw{&b, sizeof b});
            handler.set_arg(3, c);
            handler.set_arg(4, raw{&d, sizeof d});
            handler.set_arg(5, raw{&e, sizeof e});
            handler.single_task(kernel);
        });
        queue.wait_and_throw();
        const double should[] = {-1.0 * round, 1000.0 * round, -1e5 * round, 6e9 * round, 0.125 * round};
        check::each(out.data, 5, [&](std::size_t i) { return should[i]; }, "argument");
    }
}
