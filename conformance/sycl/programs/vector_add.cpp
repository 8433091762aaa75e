// The first thing a user tries: two vectors in device memory, added by a kernel that was compiled at run time.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) add(const float *a, const float *b, float *sum) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        sum[i] = a[i] + b[i];
    }
)";

PROGRAM("vector_add") {
    constexpr std::size_t count = 1 << 14;
    sycl::queue queue{sycl::property::queue::in_order()};
    std::cout << "device: " << queue.get_device().get_info<sycl::info::device::name>() << std::endl;
    const auto kernel = check::kernel(queue, source, "add");
    check::memory<float> a(count, queue, sycl::usm::alloc::device);
    check::memory<float> b(count, queue, sycl::usm::alloc::device);
    check::memory<float> sum(count, queue, sycl::usm::alloc::device);
    const auto first = check::numbers<float>(count);
    const std::vector<float> second(count, 0.5f);
    std::vector<float> back(count);
    queue.memcpy(a.data, first.data(), count * sizeof(float));
    queue.memcpy(b.data, second.data(), count * sizeof(float));
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(a.data, b.data, sum.data);
        handler.parallel_for(sycl::nd_range<1>(count, 128), kernel);
    });
    queue.memcpy(back.data(), sum.data, count * sizeof(float)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t i) { return static_cast<float>(i) + 0.5f; }, "sum");
}
