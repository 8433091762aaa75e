// Functions of the mathematics library and of half precision, against the host's.
#include "check.hpp"
#include <cmath>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) all(const float *in, float *out, double *wide) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        const float x = in[i];
        float *mine = out + 8 * i;
        mine[0] = sycl::sin(x); mine[1] = sycl::exp(x); mine[2] = sycl::sqrt(x); mine[3] = sycl::log(x);
        mine[4] = sycl::pow(x, 1.5f); mine[5] = sycl::fma(x, 2.0f, 1.0f); mine[6] = sycl::floor(x * 3.7f);
        mine[7] = static_cast<float>(sycl::half(x) * sycl::half(2.0f));
        wide[2 * i] = sycl::cos(static_cast<double>(x));
        wide[2 * i + 1] = sycl::cbrt(static_cast<double>(x));
    }
)";

static void close(double is, double should, double tolerance, const char *what) {
    if (!(std::fabs(is - should) <= tolerance * std::max(1.0, std::fabs(should)))) {
        std::ostringstream text;
        text.precision(17);
        text << what << " is " << is << ", not " << should;
        throw std::runtime_error(text.str());
    }
}

PROGRAM("math") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "all");
    constexpr std::size_t count = 256;
    check::memory<float> in(count, queue, sycl::usm::alloc::shared);
    check::memory<float> out(8 * count, queue, sycl::usm::alloc::shared);
    check::memory<double> wide(2 * count, queue, sycl::usm::alloc::shared);
    for (std::size_t i = 0; i < count; i++) {
        in[i] = 0.125f + static_cast<float>(i) * 0.0625f;
    }
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(in.data, out.data, wide.data);
        handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
    });
    queue.wait_and_throw();
    for (std::size_t i = 0; i < count; i++) {
        const float x = in[i];
        const float *mine = out.data + 8 * i;
        close(mine[0], std::sin(x), 1e-6, "sin");
        close(mine[1], std::exp(static_cast<double>(x)), 1e-5, "exp");
        close(mine[2], std::sqrt(x), 1e-6, "sqrt");
        close(mine[3], std::log(x), 1e-6, "log");
        close(mine[4], std::pow(static_cast<double>(x), 1.5), 1e-5, "pow");
        close(mine[5], x * 2.0 + 1.0, 1e-6, "fma");
        check::same(mine[6], std::floor(x * 3.7f), "floor");
        close(mine[7], 2.0 * x, 2e-3, "half");
        close(wide[2 * i], std::cos(static_cast<double>(x)), 1e-14, "cos of a double");
        close(wide[2 * i + 1], std::cbrt(static_cast<double>(x)), 1e-14, "cbrt of a double");
    }
}
