// Device memory that another interface can import: it is used like any other, and a file descriptor stands for it.
#include "check.hpp"
#include <sycl/ext/oneapi/memory_export.hpp>

#include <fcntl.h>
#include <unistd.h>

PROGRAM("memory_export") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_exportable_device_mem)) {
        throw check::skipped("the device exports no memory");
    }
    using type = check::syclex::external_mem_handle_type;
    constexpr std::size_t count = 100000;
    for (std::size_t alignment : {0, 256, 4096}) {
        auto *data = static_cast<int *>(
            check::syclex::alloc_exportable_device_mem(alignment, count * sizeof(int), type::opaque_fd, queue));
        check::that(data != nullptr, "there is no memory to export");
        check::that(alignment == 0 || reinterpret_cast<std::uintptr_t>(data) % alignment == 0,
                    "the memory is not aligned to " + std::to_string(alignment));
        const int first = check::syclex::export_device_mem_handle<type::opaque_fd>(data, queue);
        check::that(first >= 0 && fcntl(first, F_GETFD) != -1, "the memory's descriptor is not open");
        std::vector<int> back(count);
        queue.fill(data, 12, count);
        queue.memcpy(back.data(), data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [](std::size_t) { return 12; }, "the memory");
        close(first);
        check::syclex::free_exportable_memory(data, queue);
    }
    check::memory<int> plain(count, queue, sycl::usm::alloc::device);
    check::code_of([&] { check::syclex::export_device_mem_handle<type::opaque_fd>(plain.data, queue); },
                   "exporting memory that is not for it");
    check::code_of([&] { check::syclex::alloc_exportable_device_mem(0, 4096, type::win32_nt_handle, queue); },
                   "memory for another system's handles");
}
