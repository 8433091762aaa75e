// Addresses that are reserved first and backed by physical memory afterwards.
#include "check.hpp"
#include <sycl/ext/oneapi/virtual_mem/physical_mem.hpp>
#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>

PROGRAM("virtual_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    const auto context = queue.get_context();
    if (!device.has(sycl::aspect::ext_oneapi_virtual_mem)) {
        throw check::skipped("the device has no virtual memory");
    }
    const std::size_t step = check::syclex::get_mem_granularity(device, context);
    check::that(step > 0 && (step & (step - 1)) == 0, "the granularity is no power of two");
    const std::size_t bytes = 2 * step;
    const auto address = check::syclex::reserve_virtual_mem(bytes, context);
    {
        check::syclex::physical_mem one{device, context, step}, two{device, context, step};
        using mode = check::syclex::address_access_mode;
        auto *data = static_cast<int *>(one.map(address, step, mode::read_write));
        two.map(address + step, step, mode::read_write);
        queue.fill(data, 8, bytes / sizeof(int));
        std::vector<int> back(bytes / sizeof(int));
        queue.memcpy(back.data(), data, bytes).wait_and_throw();
        check::each(back.data(), back.size(), [](std::size_t) { return 8; }, "the memory");
        check::that(check::syclex::get_access_mode(data, step, context) == mode::read_write, "the access is another");
        check::syclex::unmap(data, bytes, context);
    }
    check::syclex::free_virtual_mem(address, bytes, context);
}
