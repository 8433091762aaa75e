// A bundle that is compiled first and linked afterwards; one that lacks a function is refused. Neither release links two
// bundles of run-time compiled source together for CUDA.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/syclbin_kernel_bundle.hpp>

using namespace check::syclex;

using objects = sycl::kernel_bundle<sycl::bundle_state::object>;

static const std::string prelude = "#include <sycl/sycl.hpp>\nnamespace syclex = sycl::ext::oneapi::experimental;\n";
static const std::string task = "extern \"C\" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::single_task_kernel)) void ";

static objects compiled(const sycl::context &context, const std::string &source) {
    auto from = create_kernel_bundle_from_source(context, source_language::sycl, prelude + source);
    return compile(from, properties{build_options{check::options()}});
}

PROGRAM("kernel_objects") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    check::memory<int> out(1, queue, sycl::usm::alloc::shared);
    const auto run = [&](const sycl::kernel &kernel) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data);
            handler.single_task(kernel);
        });
        queue.wait_and_throw();
        return out[0];
    };
    const auto four = compiled(context, task + "four(int *out) { *out = 4; }");
    auto alone = link(four, {queue.get_device()});
    check::same(run(alone.ext_oneapi_get_kernel("four")), 4, "a bundle that was linked alone");

    check::same(run(sycl::link(four).ext_oneapi_get_kernel("four")), 4, "the same, linked for all devices");
    check::code_of([&] { link(compiled(context, "SYCL_EXTERNAL int twice(int);\n" + task + "six(int *out) { *out = twice(3); }")); },
                   "a bundle that lacks what it calls");
}
