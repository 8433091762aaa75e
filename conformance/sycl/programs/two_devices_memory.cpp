// What one device's features do beside another device: tags, waits, physical memory and cooperative
// launches are each the second device's own.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/experimental/profiling_tag.hpp>
#include <sycl/ext/oneapi/experimental/root_group.hpp>
#include <sycl/ext/oneapi/virtual_mem/physical_mem.hpp>
#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) relay(int *data, int rounds) {
        const auto item = this_item::get_nd_item<1>();
        const auto i = item.get_global_id(0), count = item.get_global_range(0), group = item.get_local_range(0);
        for (int round = 0; round < rounds; round++) {
            data[(1 - round % 2) * count + i] = data[(round % 2) * count + (i + group) % count] + 1;
            sycl::group_barrier(item.ext_oneapi_get_root_group());
        }
    }
)";

using namespace check::syclex;

PROGRAM("two_devices_memory") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    if (devices.size() < 2) {
        throw check::skipped("this machine has one device");
    }
    sycl::queue first{devices[0], sycl::property::queue::in_order()}, second{devices[1], sycl::property::queue::in_order()};
    constexpr std::size_t count = 512;
    check::memory<int> host(count, first, sycl::usm::alloc::host), data(2 * count, second, sycl::usm::alloc::shared);

    // Tags count each device's own time.
    std::vector<sycl::event> tags;
    for (int round = 0; round < 3; round++) {
        tags.push_back(submit_profiling_tag(second));
        first.fill(host.data, round, count).wait();
    }
    second.wait();
    for (std::size_t i = 0; i + 1 < tags.size(); i++) {
        check::that(tags[i].get_profiling_info<sycl::info::event_profiling::command_end>() <=
                        tags[i + 1].get_profiling_info<sycl::info::event_profiling::command_end>(),
                    "the second device's tags are not in order");
    }

    // Waiting for the second device waits for it.
    const auto filled = second.fill(data.data, 3, 2 * count);
    sycl::device{devices[1]}.ext_oneapi_wait();
    check::that(filled.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                "the second device is not done after it was waited for");

    // A cooperative launch there.
    std::iota(data.data, data.data + count, 0);
    const auto kernel = check::compile(second.get_context(), source).ext_oneapi_get_kernel("relay");
    nd_launch(second, launch_config{sycl::nd_range<1>{count, 64}, properties{use_root_sync}}, kernel, data.data, 3);
    second.wait_and_throw();
    check::each(data.data + count, count, [](std::size_t i) { return static_cast<int>((i + 3 * 64) % count + 3); }, "what went around");

    // Physical memory of the second device, mapped in the context of both.
    const auto context = second.get_context();
    const std::size_t bytes = std::max(get_mem_granularity(devices[1], context), get_mem_granularity(context));
    const auto address = reserve_virtual_mem(bytes, context);
    {
        const physical_mem memory{devices[1], context, bytes};
        auto *mapped = static_cast<int *>(memory.map(address, bytes, address_access_mode::read_write));
        second.fill(mapped, 8, count);
        second.memcpy(host.data, mapped, count * sizeof(int)).wait_and_throw();
        check::each(host.data, count, [](std::size_t) { return 8; }, "the second device's physical memory");
        check::that(memory.get_device() == devices[1], "the physical memory is of another device");
        unmap(mapped, bytes, context);
    }
    free_virtual_mem(address, bytes, context);
}
