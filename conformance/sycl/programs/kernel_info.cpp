// Every question to a kernel: those that each device can answer, and those that only some can, which are refused by name.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) work(float *data, float by) {
        float sum[16];
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        for (int j = 0; j < 16; j++) {
            sum[j] = data[(i + j) % 64] * by;
        }
        data[i] = sum[i % 16];
    }
)";

PROGRAM("kernel_info") {
    sycl::queue queue;
    const auto device = queue.get_device();
    auto bundle = check::compile(queue.get_context(), source);
    const auto kernel = bundle.ext_oneapi_get_kernel("work");
    namespace ask = sycl::info::kernel;
    namespace here = sycl::info::kernel_device_specific;
    check::same(kernel.get_info<ask::num_args>(), 2u, "the number of arguments");
    check::that(kernel.get_info<ask::context>() == queue.get_context(), "the kernel's context is another");
    kernel.get_info<ask::attributes>();
    check::that(kernel.get_backend() == sycl::backend::ext_oneapi_cuda, "the kernel is of another backend");
    check::that(kernel.get_kernel_bundle().ext_oneapi_has_kernel("work"), "the kernel's bundle lacks it");
    const auto most = kernel.get_info<here::work_group_size>(device);
    check::that(most > 0 && most <= device.get_info<sycl::info::device::max_work_group_size>(), "the largest group");
    check::that(kernel.get_info<here::ext_codeplay_num_regs>(device) > 0, "the kernel has no registers");
    check::that(kernel.get_info<here::private_mem_size>(device) < (std::size_t{1} << 20), "the private memory");
    check::same(kernel.get_info<here::max_sub_group_size>(device), 32u, "the sub-group's size");
    check::same(kernel.get_info<here::max_num_sub_groups>(device), static_cast<std::uint32_t>(most / 32), "the most sub-groups");
    check::same(kernel.get_info<here::compile_num_sub_groups>(device), 0u, "the sub-groups that the source asks for");
    check::that(kernel.get_info<here::compile_work_group_size>(device) == sycl::range<3>(0, 0, 0), "the group that the source asks for");
    check::that(check::code_of([&] { kernel.get_info<here::global_work_size>(device); }, "the global size of a kernel of no device's own") ==
                    sycl::errc::invalid, "the global size of a kernel of no device's own is not errc::invalid");
    for (const auto &each : queue.get_context().get_devices()) {
        check::that(kernel.get_info<here::work_group_size>(each) > 0, "a device of the context has no groups");
    }
}
