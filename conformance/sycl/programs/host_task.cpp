// A function of the host runs between commands of the device, in the order that was named.
#include "check.hpp"

PROGRAM("host_task") {
    constexpr std::size_t count = 4096;
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        check::memory<int> data(count, queue, sycl::usm::alloc::host);
        check::memory<int> device(count, queue, sycl::usm::alloc::device);
        auto filled = queue.fill(device.data, 3, count);
        auto copied = queue.memcpy(data.data, device.data, count * sizeof(int), filled);
        auto doubled = queue.submit([&](sycl::handler &handler) {
            handler.depends_on(copied);
            handler.host_task([&] {
                for (std::size_t i = 0; i < count; i++) {
                    data.data[i] *= 2;
                }
            });
        });
        auto there = queue.memcpy(device.data, data.data, count * sizeof(int), doubled);
        std::vector<int> back(count);
        queue.memcpy(back.data(), device.data, count * sizeof(int), there).wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 6; }, ordered ? "in order" : "out of order");
    }
}
