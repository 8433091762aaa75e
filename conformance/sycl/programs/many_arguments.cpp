// A kernel with very many arguments, near the most bytes that a kernel can be given, launched again and again with others.
#include "check.hpp"

static std::string source(int pointers) {
    std::string parameters, sum;
    for (int i = 0; i < pointers; i++) {
        parameters += ", const long *p" + std::to_string(i) + ", short s" + std::to_string(i);
        sum += " + *p" + std::to_string(i) + " * s" + std::to_string(i);
    }
    return "KERNEL(syclex::single_task_kernel) sum(long *out" + parameters + ") { *out = 0" + sum + "; }";
}

PROGRAM("many_arguments") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto most = queue.get_device().get_info<sycl::info::device::max_parameter_size>();
    for (int pointers : {30, static_cast<int>(std::min<std::size_t>(most, 4096)) / 16 - 2}) {
        const auto kernel = check::kernel(queue, source(pointers), "sum");
        check::same(kernel.get_info<sycl::info::kernel::num_args>(), static_cast<std::uint32_t>(1 + 2 * pointers), "the number of arguments");
        check::memory<long> values(pointers, queue, sycl::usm::alloc::shared), out(5, queue, sycl::usm::alloc::shared);
        std::iota(values.data, values.data + pointers, 1);
        long should[5] = {};
        for (int round = 0; round < 5; round++) {
            queue.submit([&](sycl::handler &handler) {
                handler.set_arg(0, out.data + round);
                for (int i = 0; i < pointers; i++) {
                    const auto factor = static_cast<short>(i * 3 + round);
                    handler.set_arg(1 + 2 * i, static_cast<const long *>(values.data + i));
                    handler.set_arg(2 + 2 * i, factor);
                    should[round] += (i + 1L) * factor;
                }
                handler.single_task(kernel);
            });
        }
        queue.wait_and_throw();
        check::each(out.data, 5, [&](std::size_t i) { return should[i]; }, "the sum");
    }
}
