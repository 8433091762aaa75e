// What a kernel says of itself when its source asks for group and sub-group sizes, and that a launch must keep to them.
#include "check.hpp"

static const char *const source = R"(
    #define ASKING(what, ...) extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((what)) SYCL_EXT_ONEAPI_FUNCTION_PROPERTY((__VA_ARGS__)) void
    ASKING(syclex::nd_range_kernel<2>, syclex::work_group_size<4, 32>) exactly(int *out) {
        out[this_item::get_nd_item<2>().get_global_linear_id()] = 1;
    }
    ASKING(syclex::nd_range_kernel<1>, syclex::work_group_size_hint<64>) about(int *out) {
        out[this_item::get_nd_item<1>().get_global_id(0)] = 2;
    }
    ASKING(syclex::nd_range_kernel<1>, syclex::sub_group_size<32>) in_warps(int *out) {
        const auto item = this_item::get_nd_item<1>();
        out[item.get_global_id(0)] = static_cast<int>(item.get_sub_group().get_max_local_range()[0]);
    }
    ASKING(syclex::nd_range_kernel<1>, syclex::max_linear_work_group_size<128>) at_most(int *out) {
        out[this_item::get_nd_item<1>().get_global_id(0)] = 3;
    }
)";

PROGRAM("kernel_properties") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    auto bundle = check::compile(queue.get_context(), source);
    const auto exactly = bundle.ext_oneapi_get_kernel("exactly"), about = bundle.ext_oneapi_get_kernel("about"),
               in_warps = bundle.ext_oneapi_get_kernel("in_warps"), at_most = bundle.ext_oneapi_get_kernel("at_most");
    namespace ask = sycl::info::kernel_device_specific;
    const auto asked = exactly.get_info<ask::compile_work_group_size>(device);
    // Both releases answer in the order of the native grid.
    check::that(asked == sycl::range<3>(32, 4, 1), "the group size that the source asks for is " + std::to_string(asked[0]) +
                                                       ", " + std::to_string(asked[1]) + ", " + std::to_string(asked[2]));
    check::that(about.get_info<ask::compile_work_group_size>(device) == sycl::range<3>(0, 0, 0), "a hint is taken for a demand");
    check::that(at_most.get_info<ask::work_group_size>(device) <= 128, "larger groups than the source allows");
    check::same(exactly.get_info<ask::max_num_sub_groups>(device),
                static_cast<std::uint32_t>(exactly.get_info<ask::work_group_size>(device) / 32), "the most sub-groups");

    constexpr std::size_t count = 64 * 64;
    check::memory<int> out(count, queue, sycl::usm::alloc::shared);
    const auto launch = [&](const sycl::kernel &kernel, auto range) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data);
            handler.parallel_for(range, kernel);
        });
        queue.wait_and_throw();
    };
    launch(exactly, sycl::nd_range<2>({64, 64}, {4, 32}));
    check::each(out.data, count, [](std::size_t) { return 1; }, "in the size asked for");
    check::that(check::code_of([&] { launch(exactly, sycl::nd_range<2>({64, 64}, {8, 8})); }, "a launch in another size") ==
                    sycl::errc::nd_range, "a launch in another size is not errc::nd_range");
    launch(about, sycl::nd_range<1>(count, 128));
    check::each(out.data, count, [](std::size_t) { return 2; }, "in another size than the hint");
    launch(at_most, sycl::nd_range<1>(count, 128));
    check::each(out.data, count, [](std::size_t) { return 3; }, "in the largest size");
    launch(in_warps, sycl::nd_range<1>(count, 64));
    check::each(out.data, count, [](std::size_t) { return 32; }, "the sub-group's size");
}
