// More memory than the device has is refused with a null pointer, as often as one asks; what was there stays usable.
#include "check.hpp"

PROGRAM("bad/out_of_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    check::memory<int> data(100, queue, sycl::usm::alloc::device);
    queue.fill(data.data, 1, 100);
    const auto bytes = queue.get_device().get_info<sycl::info::device::global_mem_size>();
    for (int i = 0; i < 10; i++) {
        check::that(sycl::malloc_device(2 * bytes, queue) == nullptr, "there is more memory than the device has");
        check::that(sycl::malloc_device(std::size_t{1} << 60, queue) == nullptr, "there is 1 EiB of memory");
    }
    std::vector<int> back(100);
    queue.memcpy(back.data(), data.data, 400).wait_and_throw();
    check::each(back.data(), 100, [](std::size_t) { return 1; }, "what was there before");
}
