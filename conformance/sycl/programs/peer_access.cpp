// One device reads the other's memory directly, where both can.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) copy(const int *from, int *to) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        to[i] = from[i] + 1;
    }
)";

PROGRAM("peer_access") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    if (devices.size() < 2) {
        throw check::skipped("this machine has one device");
    }
    sycl::device one = devices[0], other = devices[1];
    if (!one.ext_oneapi_can_access_peer(other)) {
        throw check::skipped("the devices cannot reach each other");
    }
    one.ext_oneapi_enable_peer_access(other);
    sycl::context context{std::vector<sycl::device>{one, other}};
    sycl::queue here{context, one, sycl::property::queue::in_order()}, there{context, other, sycl::property::queue::in_order()};
    constexpr std::size_t count = 1024;
    check::memory<int> mine(count, here, sycl::usm::alloc::device);
    check::memory<int> theirs(count, there, sycl::usm::alloc::device);
    there.fill(theirs.data, 4, count).wait();
    const auto kernel = check::kernel(here, source, "copy");
    here.submit([&](sycl::handler &handler) {
        handler.set_args(theirs.data, mine.data);
        handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
    });
    std::vector<int> back(count);
    here.memcpy(back.data(), mine.data, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 5; }, "what the other device's memory gave");
    one.ext_oneapi_disable_peer_access(other);
}
