// Compiles a SYCL kernel from source at run time, adds two vectors with it on the default device and prints the sum of
// the result. The host part needs no SYCL compiler: any C++17 compiler builds it against the runtime's headers.
//
// What it shows to whoever runs it: under this process's loader a stock SYCL runtime builds a program, launches a kernel
// and moves memory; the wrong sum, or any exception, ends it with a failure.
#include <sycl/sycl.hpp>

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

namespace syclex = sycl::ext::oneapi::experimental;

namespace {

const char *const source = R"(
    #include <sycl/sycl.hpp>
    namespace syclex = sycl::ext::oneapi::experimental;

    extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>))
    void add(const int *a, const int *b, int *sum) {
        const auto i = sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0);
        sum[i] = a[i] + b[i];
    }
)";

constexpr std::size_t elements = 4096;
constexpr std::size_t group = 64;

sycl::kernel compile(const sycl::queue &queue) {
    auto bundle = syclex::create_kernel_bundle_from_source(queue.get_context(), syclex::source_language::sycl,
                                                           std::string(source));
    return syclex::build(bundle).ext_oneapi_get_kernel("add");
}

// a[i] + b[i] = 3 * i, so the sum is 3 * n * (n - 1) / 2.
std::int64_t add_and_sum(sycl::queue &queue, const sycl::kernel &kernel) {
    int *a = sycl::malloc_shared<int>(elements, queue);
    int *b = sycl::malloc_shared<int>(elements, queue);
    int *sum = sycl::malloc_shared<int>(elements, queue);
    for (std::size_t i = 0; i < elements; i++) {
        a[i] = static_cast<int>(i);
        b[i] = static_cast<int>(2 * i);
        sum[i] = -1;
    }
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(a, b, sum);
        handler.parallel_for(sycl::nd_range<1>(elements, group), kernel);
    });
    queue.wait_and_throw();
    std::int64_t total = 0;
    for (std::size_t i = 0; i < elements; i++) {
        total += sum[i];
    }
    sycl::free(a, queue);
    sycl::free(b, queue);
    sycl::free(sum, queue);
    return total;
}

} // namespace

int main() {
    try {
        sycl::queue queue{sycl::property::queue::in_order()};
        std::cout << "device: " << queue.get_device().get_info<sycl::info::device::name>() << "\n";
        const std::int64_t total = add_and_sum(queue, compile(queue));
        const std::int64_t expected = std::int64_t{3} * elements * (elements - 1) / 2;
        std::cout << "sum: " << total << ", expected " << expected << std::endl;
        return total == expected ? 0 : 1;
    } catch (const std::exception &error) {
        std::cerr << "sum.cpp: " << error.what() << std::endl;
        return 1;
    }
}
