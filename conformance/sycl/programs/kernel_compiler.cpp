// What building from source offers beside the source: files to include, names of template instances, a log, one device of
// several, and that bundles live without what they were made of.
#include "check.hpp"

#include <optional>

using namespace check::syclex;

static const char *const source = R"(
    #include <sycl/sycl.hpp>
    #include "numbers/step.h"
    #include "deep.h"
    namespace syclex = sycl::ext::oneapi::experimental;
    template <typename T, int By> SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::nd_range_kernel<1>)) void add(T *data) {
        data[sycl::ext::oneapi::this_work_item::get_nd_item<1>().get_global_id(0)] += static_cast<T>(By * STEP + deep());
    }
    extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((syclex::single_task_kernel)) void defined(int *out) { *out = FROM_OPTION; }
    #warning "so it is"
)";

PROGRAM("kernel_compiler") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    constexpr std::size_t count = 512;
    check::memory<int> whole(count, queue, sycl::usm::alloc::shared);
    check::memory<float> broken(count, queue, sycl::usm::alloc::shared);
    std::optional<sycl::kernel> ints, floats, defined;
    std::string log;
    {
        include_files files{"numbers/step.h", "#pragma once\n#define STEP 10\n"};
        files.add("deep.h", "#include \"numbers/step.h\"\ninline int deep() { return STEP / 5; }\n");
        auto from = create_kernel_bundle_from_source(context, source_language::sycl, source, properties{files});
        auto options = check::options();
        options.push_back("-DFROM_OPTION=77");
        registered_names names{std::vector<std::string>{"add<int, 3>"}};
        names.add("add<float, -1>");
        auto bundle = build(from, {queue.get_device()}, properties{build_options{options}, save_log{&log}, names});
        check::same(bundle.get_devices().size(), 1u, "the devices of a bundle for one");
        check::that(bundle.ext_oneapi_has_kernel("add<int, 3>") && bundle.ext_oneapi_has_kernel("add<float, -1>"),
                    "an instance that was named is not there");
        check::that(!bundle.ext_oneapi_has_kernel("add<int, 4>"), "an instance that nobody named is there");
        check::that(bundle.ext_oneapi_get_raw_kernel_name("add<int, 3>") != bundle.ext_oneapi_get_raw_kernel_name("add<float, -1>"),
                    "two instances have one name");
        ints = bundle.ext_oneapi_get_kernel("add<int, 3>");
        floats = bundle.ext_oneapi_get_kernel("add<float, -1>");
        defined = bundle.ext_oneapi_get_kernel("defined");
    }
    check::that(log.find("so it is") != std::string::npos, "the log lacks the warning: " + log);
    std::iota(whole.data, whole.data + count, 0);
    std::fill_n(broken.data, count, 0.5f);
    const auto launch = [&](const sycl::kernel &kernel, auto *data) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(data);
            handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
        });
    };
    launch(*ints, whole.data);
    launch(*floats, broken.data);
    queue.wait_and_throw();
    check::each(whole.data, count, [](std::size_t i) { return static_cast<int>(i) + 32; }, "what the instance for int wrote");
    check::each(broken.data, count, [](std::size_t) { return -7.5f; }, "what the instance for float wrote");
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(whole.data);
        handler.single_task(*defined);
    });
    queue.wait_and_throw();
    check::same(whole[0], 77, "what an option defined");

    // A source without a file that it includes, and an option that nobody knows.
    try {
        check::compile(context, "#include \"nowhere.h\"\n");
        check::that(false, "a source was built without a file that it includes");
    } catch (const sycl::exception &error) {
        check::that(error.code() == sycl::errc::build, "a source without its file is not errc::build");
        check::that(std::string(error.what()).find("nowhere.h") != std::string::npos, "the missing file is not named: " + std::string(error.what()));
    }
    auto plain = create_kernel_bundle_from_source(context, source_language::sycl, "int x;");
    check::code_of([&] { build(plain, properties{build_options{std::string{"--no-such-option"}}}); }, "an unknown option");
}
