// The runtime picks a local size where none is given, and refuses those that a device cannot have.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) mark(int *out) { out[this_item::get_nd_item<1>().get_global_id(0)] += 1; }
)";

PROGRAM("work_groups") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "mark");
    constexpr std::size_t count = 3 * 5 * 7 * 64;
    check::memory<int> out(count, queue, sycl::usm::alloc::shared);
    for (std::size_t group : {1, 32, 105, 224, 960}) {
        queue.fill(out.data, 0, count);
        queue.submit([&](sycl::handler &handler) {
            handler.set_args(out.data);
            handler.parallel_for(sycl::nd_range<1>(count, group), kernel);
        });
        queue.wait_and_throw();
        check::each(out.data, count, [](std::size_t) { return 1; }, "groups of " + std::to_string(group));
    }
    const auto launch = [&](std::size_t global, std::size_t local) {
        return check::code_of(
            [&] {
                queue.submit([&](sycl::handler &handler) {
                    handler.set_args(out.data);
                    handler.parallel_for(sycl::nd_range<1>(global, local), kernel);
                });
                queue.wait_and_throw();
            },
            "a local size of " + std::to_string(local));
    };
    check::that(launch(1 << 16, 1 << 14) == sycl::errc::nd_range, "a group that is too large is not errc::nd_range");
    check::that(launch(100, 32) == sycl::errc::nd_range, "groups that do not divide the range are not errc::nd_range");
    queue.fill(out.data, 0, count);
    queue.wait_and_throw();
}
