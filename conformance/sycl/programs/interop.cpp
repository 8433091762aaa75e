// The native objects behind SYCL's: they are there, and a queue made of a native stream works. The runtime's headers offer
// make_device and make_queue for CUDA only to who includes them in one certain order; what they call is called here.
#include "check.hpp"
#include <sycl/backend.hpp>

PROGRAM("interop") {
    constexpr auto cuda = sycl::backend::ext_oneapi_cuda;
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = sycl::get_native<cuda>(queue.get_device());
    check::that(device >= 0, "the native device is negative");
    const auto stream = sycl::get_native<cuda>(queue);
    check::that(stream != nullptr, "there is no native stream");
    check::memory<int> data(100, queue, sycl::usm::alloc::device);
    auto event = queue.fill(data.data, 1, 100);
    check::that(sycl::get_native<cuda>(event) != nullptr, "there is no native event");
    event.wait();
    check::that(sycl::detail::make_device(static_cast<ur_native_handle_t>(device), cuda) == queue.get_device(), "the device made of the native one is another");

    auto again = sycl::detail::make_queue(reinterpret_cast<ur_native_handle_t>(stream), 0, queue.get_context(), nullptr, true,
                                           sycl::property::queue::in_order(), sycl::async_handler{}, cuda);
    std::vector<int> back(100);
    again.fill(data.data, 9, 100);
    again.memcpy(back.data(), data.data, 400);
    again.wait_and_throw();
    check::each(back.data(), 100, [](std::size_t) { return 9; }, "what the second queue did");

    int seen = 0;
    queue.submit([&](sycl::handler &handler) {
        handler.host_task([&](sycl::interop_handle handle) { seen = handle.get_native_queue<cuda>() != nullptr; });
    });
    queue.wait_and_throw();
    check::same(seen, 1, "whether a host task has a native stream");
}
