// What a bundle made from source says of its kernels, and what the compiler says of a source that is wrong.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) first(int *out) { *out = 1; }
    KERNEL(syclex::nd_range_kernel<1>) second(int *out) { *out = 2; }
)";

PROGRAM("kernel_bundle") {
    sycl::queue queue{sycl::property::queue::in_order()};
    auto device = queue.get_device();
    check::that(device.ext_oneapi_can_build(check::syclex::source_language::sycl), "the device cannot build SYCL source");
    auto bundle = check::compile(queue.get_context(), source);
    check::that(bundle.ext_oneapi_has_kernel("first") && bundle.ext_oneapi_has_kernel("second"), "a kernel is missing");
    check::that(!bundle.ext_oneapi_has_kernel("third"), "there is a kernel that nobody wrote");
    check::code_of([&] { bundle.ext_oneapi_get_kernel("third"); }, "asking for a kernel that nobody wrote");

    const auto kernel = bundle.ext_oneapi_get_kernel("second");
    check::same(kernel.get_info<sycl::info::kernel::num_args>(), 1u, "the number of arguments");
    check::that(kernel.get_info<sycl::info::kernel::function_name>().find("second") != std::string::npos,
                "the name is " + kernel.get_info<sycl::info::kernel::function_name>());
    check::that(kernel.get_context() == queue.get_context(), "the kernel is of another context");
    check::that(kernel.get_info<sycl::info::kernel_device_specific::work_group_size>(device) >= 256, "tiny work-groups");
    check::same(kernel.get_info<sycl::info::kernel_device_specific::preferred_work_group_size_multiple>(device), 32u,
                "the preferred multiple");
    check::same(kernel.get_info<sycl::info::kernel_device_specific::max_sub_group_size>(device), 32u, "the sub-group size");
    kernel.get_info<sycl::info::kernel_device_specific::private_mem_size>(device);

    std::string log;
    const auto code = check::code_of([&] { check::compile(queue.get_context(), "KERNEL(syclex::single_task_kernel) f() { x; }", &log); },
                                     "a source that is wrong");
    check::that(code == sycl::errc::build, "a source that is wrong is not errc::build");
}
