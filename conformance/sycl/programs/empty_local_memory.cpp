// Local memory of no elements as a kernel's argument: the kernel runs, and its other arguments are where they should be.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>)
    last(int *out, syclex::work_group_memory<int[]> none, syclex::work_group_memory<long[]> some, int value) {
        const auto item = this_item::get_nd_item<1>();
        some[item.get_local_id(0)] = value;
        sycl::group_barrier(item.get_group());
        out[item.get_global_id(0)] = static_cast<int>(some[(item.get_local_id(0) + 1) % item.get_local_range(0)]);
    }
)";

PROGRAM("empty_local_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "last");
    check::memory<int> out(128, queue, sycl::usm::alloc::shared);
    // With elements, without any, and with them again: nothing of an earlier launch stays.
    for (std::size_t elements : {32, 0, 16, 0}) {
        const int value = 70 + static_cast<int>(elements);
        queue.submit([&](sycl::handler &handler) {
            check::syclex::work_group_memory<int[]> none{elements, handler};
            check::syclex::work_group_memory<long[]> some{32, handler};
            handler.set_args(out.data, none, some, value);
            handler.parallel_for(sycl::nd_range<1>(128, 32), kernel);
        });
        queue.wait_and_throw();
        check::each(out.data, 128, [&](std::size_t) { return value; }, "the argument behind " + std::to_string(elements) + " elements");
    }
}
