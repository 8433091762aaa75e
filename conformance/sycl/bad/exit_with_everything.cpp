// The process ends and gives nothing back: registered, exported, mapped and shared memory, a tag and a host task that were
// not waited for. It ends by itself, and with what it said.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>
#include <sycl/ext/oneapi/experimental/profiling_tag.hpp>
#include <sycl/ext/oneapi/memory_export.hpp>
#include <sycl/ext/oneapi/virtual_mem/physical_mem.hpp>
#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>
#if __has_include(<sycl/ext/oneapi/experimental/register_host_memory.hpp>)
#include <sycl/ext/oneapi/experimental/register_host_memory.hpp>
#endif

using namespace check::syclex;

alignas(4096) static int host[4096];

PROGRAM("bad/exit_with_everything") {
    // What is made here is never destroyed.
    auto &queue = *new sycl::queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    const auto device = queue.get_device();
    int *data = sycl::malloc_device<int>(100000, queue);
    if (device.has(sycl::aspect::ext_oneapi_virtual_mem)) {
        const std::size_t step = get_mem_granularity(device, context);
        auto &memory = *new physical_mem{device, context, step};
        auto *mapped = static_cast<int *>(memory.map(reserve_virtual_mem(step, context), step, address_access_mode::read_write));
        queue.fill(mapped, 1, step / sizeof(int)).wait();
    }
    if (device.has(sycl::aspect::ext_oneapi_exportable_device_mem)) {
        using type = external_mem_handle_type;
        auto *exported = static_cast<int *>(alloc_exportable_device_mem(0, 4096, type::opaque_fd, queue));
        check::that(export_device_mem_handle<type::opaque_fd>(exported, queue) >= 0, "nothing is exported");
        queue.fill(exported, 1, 1024).wait();
    }
#if __has_include(<sycl/ext/oneapi/experimental/register_host_memory.hpp>)
    if (device.has(sycl::aspect::ext_oneapi_register_host_memory)) {
        register_host_memory(host, sizeof host, context);
    }
#endif
#if __has_include(<sycl/ext/oneapi/experimental/ipc_event.hpp>)
    if (device.has(sycl::aspect::ext_oneapi_ipc_memory)) {
        check::that(!ipc::memory::get(data, context).data().empty(), "the handle is empty");
    }
#endif
    auto &tag = *new sycl::event{submit_profiling_tag(queue)};
    fill(queue, data, 2, 100000);
    static int called = 0;
    host_task(queue, [] { called++; });
    check::syclex::memcpy(queue, host, data, sizeof host);
    host_task(queue, [] { called++; });
    check::that(tag.get_info<sycl::info::event::command_execution_status>() != sycl::info::event_command_status::ext_oneapi_unknown,
                "a tag has no status");
}
