// Pointers of the generic address space that become those of one: global, local and private memory are told apart.
#include "check.hpp"

static const char *const source = R"(
    #include <sycl/ext/oneapi/experimental/address_cast.hpp>
    template <sycl::access::address_space space, typename T> int is(T *pointer) {
        return syclex::dynamic_address_cast<space>(pointer).get() == nullptr ? 0 : 1;
    }
    using where = sycl::access::address_space;
    KERNEL(syclex::nd_range_kernel<1>) tell(int *out, syclex::work_group_memory<int[]> scratch) {
        const auto item = this_item::get_nd_item<1>();
        int own = static_cast<int>(item.get_local_id(0));
        int *pointers[3] = {out, &scratch[0], &own};
        int *pointer = pointers[item.get_local_id(0) % 3];
        out[item.get_global_id(0)] = is<where::global_space>(pointer) + 2 * is<where::local_space>(pointer) +
                                     4 * is<where::private_space>(pointer);
    }
)";

PROGRAM("casts") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "tell");
    check::memory<int> out(192, queue, sycl::usm::alloc::shared);
    queue.submit([&](sycl::handler &handler) {
        check::syclex::work_group_memory<int[]> scratch{16, handler};
        handler.set_args(out.data, scratch);
        handler.parallel_for(sycl::nd_range<1>(192, 96), kernel);
    });
    queue.wait_and_throw();
    check::each(out.data, 192, [](std::size_t i) { return 1 << i % 96 % 3; }, "where a pointer points");
}
