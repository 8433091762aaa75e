// Parts of a sub-group that work together: chunks of a fixed size and the work-items that agree with one another.
#include "check.hpp"

static const char *const source = R"(
    #include <sycl/ext/oneapi/experimental/chunk.hpp>
    #include <sycl/ext/oneapi/experimental/fragment.hpp>
    KERNEL(syclex::nd_range_kernel<1>) chunks(int *out) {
        const auto item = this_item::get_nd_item<1>();
        const auto whole = item.get_sub_group();
        const auto part = syclex::chunked_partition<8>(whole);
        const int lane = static_cast<int>(whole.get_local_linear_id());
        int *mine = out + item.get_global_id(0) * 4;
        mine[0] = static_cast<int>(part.get_local_linear_id());
        mine[1] = static_cast<int>(part.get_local_linear_range());
        mine[2] = sycl::reduce_over_group(part, lane, sycl::plus<int>());
        mine[3] = sycl::any_of_group(part, lane == 11);
    }
    KERNEL(syclex::nd_range_kernel<1>) fragments(int *out) {
        const auto item = this_item::get_nd_item<1>();
        const auto whole = item.get_sub_group();
        const int lane = static_cast<int>(whole.get_local_linear_id());
        const auto part = syclex::binary_partition(whole, lane % 4 == 0);
        int *mine = out + item.get_global_id(0) * 4;
        mine[0] = static_cast<int>(part.get_local_linear_id());
        mine[1] = static_cast<int>(part.get_local_linear_range());
        mine[2] = sycl::reduce_over_group(part, 1, sycl::plus<int>());
        mine[3] = sycl::group_broadcast(part, lane);
    }
)";

PROGRAM("partial_groups") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    if (!device.has(sycl::aspect::ext_oneapi_chunk) || !device.has(sycl::aspect::ext_oneapi_fragment)) {
        throw check::skipped("the device divides no sub-groups");
    }
    auto bundle = check::compile(queue.get_context(), source);
    constexpr std::size_t count = 128;
    check::memory<int> out(4 * count, queue, sycl::usm::alloc::shared);
    const auto run = [&](const char *name) {
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data);
            handler.parallel_for(sycl::nd_range<1>(count, 64), bundle.ext_oneapi_get_kernel(name));
        });
        queue.wait_and_throw();
    };
    run("chunks");
    for (std::size_t i = 0; i < count; i++) {
        const int lane = static_cast<int>(i % 32), first = lane / 8 * 8;
        const std::string at = " of work-item " + std::to_string(i);
        check::same(out[4 * i], lane % 8, "the place in the chunk" + at);
        check::same(out[4 * i + 1], 8, "the chunk's size" + at);
        check::same(out[4 * i + 2], 8 * first + 28, "the chunk's sum" + at);
        check::same(out[4 * i + 3], first == 8 ? 1 : 0, "the chunk's vote" + at);
    }
    run("fragments");
    for (std::size_t i = 0; i < count; i++) {
        const int lane = static_cast<int>(i % 32);
        const bool fourth = lane % 4 == 0;
        const std::string at = " of work-item " + std::to_string(i);
        check::same(out[4 * i], fourth ? lane / 4 : lane - 1 - lane / 4, "the place in the fragment" + at);
        check::same(out[4 * i + 1], fourth ? 8 : 24, "the fragment's size" + at);
        check::same(out[4 * i + 2], fourth ? 8 : 24, "the fragment's count" + at);
        check::same(out[4 * i + 3], fourth ? 0 : 1, "what the fragment's first has" + at);
    }
}
