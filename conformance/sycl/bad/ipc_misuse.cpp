// Handles of what cannot be shared, opened where they should not be, and closed twice: errors, and what is good goes on.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>

#if __has_include(<sycl/ext/oneapi/experimental/ipc_event.hpp>)
namespace ipc = check::syclex::ipc::memory;
using handle_data = check::syclex::ipc::handle_data_t;
#else
namespace ipc = check::syclex::ipc_memory;
using handle_data = check::syclex::ipc_memory::handle_data_t;
#endif

PROGRAM("bad/ipc_misuse") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    const auto device = queue.get_device();
    if (!device.has(sycl::aspect::ext_oneapi_ipc_memory)) {
        throw check::skipped("the device shares no memory between processes");
    }
    constexpr std::size_t count = 10000;
    check::memory<int> host(count, queue, sycl::usm::alloc::host), shared(count, queue, sycl::usm::alloc::shared);
    std::vector<int> plain(count);
    check::code_of([&] { ipc::get(host.data, context); }, "a handle of host memory");
    check::code_of([&] { ipc::get(shared.data, context); }, "a handle of shared memory");
    check::code_of([&] { ipc::get(plain.data(), context); }, "a handle of a vector's memory");
    check::code_of([&] { ipc::get(nullptr, context); }, "a handle of nothing");

    handle_data bytes;
    {
        check::memory<int> device_memory(count, queue, sycl::usm::alloc::device);
        queue.fill(device_memory.data, 9, count).wait();
        auto first = ipc::get(device_memory.data, context), second = ipc::get(device_memory.data, context);
        bytes = first.data();
        check::that(bytes.size() == second.data().size(), "two handles of one allocation differ in size");
        ipc::put(first, context);
        auto part = bytes;
        part.resize(part.size() / 2);
        check::code_of([&] { ipc::open(part, context, device); }, "half of a handle");
        check::code_of([&] { ipc::open({}, context, device); }, "no bytes");
        check::code_of([&] { ipc::close(plain.data(), context); }, "closing what was not opened");
        ipc::put(second, context);
        std::vector<int> back(count);
        queue.memcpy(back.data(), device_memory.data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 9; }, "the memory");
    }
    check::code_of([&] { ipc::open(bytes, context, device); }, "a handle of memory that was freed");
    check::memory<int> again(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(count);
    queue.fill(again.data, 1, count);
    queue.memcpy(back.data(), again.data, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 1; }, "memory afterwards");
}
