// Physical memory of one process, opened by another and mapped there at an address of its own.
#include "child.hpp"

#if __has_include(<sycl/ext/oneapi/experimental/ipc_physical_memory.hpp>)
#include <sycl/ext/oneapi/experimental/ipc_physical_memory.hpp>
#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>

namespace ipc = check::syclex::ipc::physical_memory;
using check::syclex::physical_mem;

// Physical memory at an address, for as long as the scope lasts.
struct mapping {
    sycl::context context;
    std::size_t bytes;
    std::uintptr_t address;
    int *data;

    explicit mapping(const physical_mem &physical)
        : context(physical.get_context()), bytes(physical.size()),
          address(check::syclex::reserve_virtual_mem(bytes, context)),
          data(static_cast<int *>(physical.map(address, bytes, check::syclex::address_access_mode::read_write))) {}
    ~mapping() {
        check::syclex::unmap(data, bytes, context);
        check::syclex::free_virtual_mem(address, bytes, context);
    }
    std::size_t count() const { return bytes / sizeof(int); }
};

static void second_process(sycl::queue &queue) {
    const auto physical = ipc::open(child::given(), queue.get_context(), queue.get_device());
    check::that(physical.get_device() == queue.get_device(), "what was opened is of another device");
    const mapping mapped{physical};
    check::that(mapped.bytes > 0, "what was opened has no size");
    std::vector<int> back(mapped.count());
    queue.memcpy(back.data(), mapped.data, mapped.bytes).wait_and_throw();
    check::each(back.data(), back.size(), [](std::size_t i) { return static_cast<int>(i); }, "the first process's memory");
    queue.fill(mapped.data, 6, mapped.count() / 2).wait_and_throw();
}

PROGRAM("ipc_physical_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    const auto context = queue.get_context();
    if (!device.has(sycl::aspect::ext_oneapi_ipc_physical_memory)) {
        throw check::skipped("the device shares no physical memory between processes");
    }
    if (child::is_me()) {
        return second_process(queue);
    }
    const std::size_t bytes = 2 * check::syclex::get_mem_granularity(device, context);
    physical_mem physical{device, context, bytes, check::syclex::properties{check::syclex::enable_ipc{true}}};
    check::that(physical.ipc_enabled(), "memory that is to be shared says it cannot be");
    check::same(physical.size(), bytes, "its size");
    {
        const mapping mapped{physical};
        const auto numbers = check::numbers<int>(mapped.count());
        queue.memcpy(mapped.data, numbers.data(), bytes).wait_and_throw();
        auto handle = ipc::get(physical);
        check::that(!handle.data().empty(), "the handle is empty");
        child::run(handle.data());
        ipc::put(handle, context);
        std::vector<int> back(mapped.count());
        queue.memcpy(back.data(), mapped.data, bytes).wait_and_throw();
        check::each(back.data(), back.size(),
                    [&](std::size_t i) { return i < back.size() / 2 ? 6 : static_cast<int>(i); }, "what the second process left");
    }
    physical_mem alone{device, context, bytes};
    check::that(!alone.ipc_enabled(), "memory that is not to be shared says it can be");
    check::code_of([&] { ipc::get(alone); }, "a handle of memory that is not to be shared");
}
#else
PROGRAM("ipc_physical_memory") { throw check::skipped("this release shares no physical memory"); }
#endif
