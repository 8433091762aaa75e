// Host memory registered twice, in parts that overlap, after it was USM, and freed while it is registered.
#include "check.hpp"

#if __has_include(<sycl/ext/oneapi/experimental/register_host_memory.hpp>)
#include <sycl/ext/oneapi/experimental/register_host_memory.hpp>

#include <sys/mman.h>

using namespace check::syclex;

PROGRAM("bad/register_misuse") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_register_host_memory)) {
        throw check::skipped("the device cannot have memory registered");
    }
    constexpr std::size_t page = 4096, count = page / sizeof(int);
    auto *pages = static_cast<char *>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    check::that(pages != MAP_FAILED, "there is no memory");
    register_host_memory(pages, 2 * page, context);
    check::code_of([&] { register_host_memory(pages, 2 * page, context); }, "registering twice");
    check::code_of([&] { register_host_memory(pages + page, 2 * page, context); }, "registering what overlaps");
    check::code_of([&] { unregister_host_memory(pages + page, context); }, "taking back the middle");
    check::code_of([&] { register_host_memory(pages + 2 * page, 0, context); }, "registering no bytes");
    check::memory<char> host(2 * page, queue, sycl::usm::alloc::host), device(page, queue, sycl::usm::alloc::device);
    check::code_of([&] { register_host_memory(host.data, page, context); }, "registering USM of the host");
    check::code_of([&] { register_host_memory(device.data, page, context); }, "registering USM of the device");
    check::code_of([&] { unregister_host_memory(host.data, context); }, "taking back USM");

    std::vector<int> back(count);
    queue.fill(reinterpret_cast<int *>(pages), 4, count);
    queue.memcpy(back.data(), pages, page).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 4; }, "registered memory");
    unregister_host_memory(pages, context);
    register_host_memory(pages + page, 3 * page, context);
    unregister_host_memory(pages + page, context);
    munmap(pages, 4 * page);
    queue.memset(device.data, 1, page).wait_and_throw();
}
#else
PROGRAM("bad/register_misuse") { throw check::skipped("this release registers no memory"); }
#endif
