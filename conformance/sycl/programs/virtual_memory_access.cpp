// Rights of mapped memory: read only is read, rights change afterwards, physical memory is mapped twice, and kernels see
// all of it.
#include "check.hpp"
#include <sycl/ext/oneapi/virtual_mem/physical_mem.hpp>
#include <sycl/ext/oneapi/virtual_mem/virtual_mem.hpp>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) copy(const int *from, int *to, int by) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        to[i] = from[i] + by;
    }
)";

using namespace check::syclex;
using mode = address_access_mode;

PROGRAM("virtual_memory_access") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto device = queue.get_device();
    const auto context = queue.get_context();
    if (!device.has(sycl::aspect::ext_oneapi_virtual_mem)) {
        throw check::skipped("the device has no virtual memory");
    }
    const auto kernel = check::kernel(queue, source, "copy");
    const std::size_t step = std::max(get_mem_granularity(device, context, granularity_mode::minimum),
                                      get_mem_granularity(device, context, granularity_mode::recommended));
    check::same(step % get_mem_granularity(context), 0u, "the device's granularity beyond the context's");
    const std::size_t count = step / sizeof(int);
    const auto first = reserve_virtual_mem(2 * step, context), second = reserve_virtual_mem(2 * step, context);
    check::that(first % step == 0 && (second >= first + 2 * step || first >= second + 2 * step), "two ranges of addresses overlap");
    {
        const physical_mem one{device, context, step}, two{device, context, step};
        check::same(one.size(), step, "the size");
        check::that(one.get_device() == device && one.get_context() == context, "the memory is elsewhere");
        auto *whole = static_cast<int *>(one.map(first, step, mode::read_write));
        two.map(first + step, step, mode::read_write);
        // The same memory once more, the other way round and to be read only.
        auto *back = static_cast<const int *>(two.map(second, step, mode::read));
        auto *front = static_cast<const int *>(one.map(second + step, step, mode::read));
        check::that(get_access_mode(whole, step, context) == mode::read_write, "the first mapping's rights");
        check::that(get_access_mode(back, step, context) == mode::read && get_access_mode(front, step, context) == mode::read,
                    "the second mapping's rights");
        queue.fill(whole, 1, count);
        queue.fill(whole + count, 2, count).wait();
        check::memory<int> seen(count, queue, sycl::usm::alloc::device);
        std::vector<int> host(2 * count);
        const auto launch = [&](const int *from, int *to, int by) {
            queue.submit([&](sycl::handler &handler) {
                handler.set_args(from, to, by);
                handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
            });
        };
        launch(back, seen.data, 10);
        queue.memcpy(host.data(), seen.data, step);
        queue.memcpy(host.data() + count, front, step).wait_and_throw();
        check::each(host.data(), 2 * count, [&](std::size_t i) { return i < count ? 12 : 1; }, "what was read");

        set_access_mode(back, step, mode::read_write, context);
        check::that(get_access_mode(back, step, context) == mode::read_write, "the rights after they were raised");
        launch(front, const_cast<int *>(back), 100);
        queue.memcpy(host.data(), whole, 2 * step).wait_and_throw();
        check::each(host.data(), 2 * count, [&](std::size_t i) { return i < count ? 1 : 101; }, "what was written");
        set_access_mode(whole, step, mode::read, context);
        check::that(get_access_mode(whole, step, context) == mode::read, "the rights after they were lowered");
        set_access_mode(whole, step, mode::none, context);
        check::that(get_access_mode(whole, step, context) == mode::none, "the rights after they were taken");
        queue.memcpy(host.data(), front, step).wait_and_throw();
        check::each(host.data(), count, [](std::size_t) { return 1; }, "the other mapping");
        unmap(whole, 2 * step, context);
        unmap(back, step, context);
        unmap(front, step, context);
    }
    // Addresses serve again with other memory.
    {
        const physical_mem other{queue, step};
        auto *data = static_cast<int *>(other.map(first + step, step, mode::read_write));
        queue.fill(data, 7, count);
        std::vector<int> host(count);
        queue.memcpy(host.data(), data, step).wait_and_throw();
        check::each(host.data(), count, [](std::size_t) { return 7; }, "other memory");
        unmap(data, step, context);
    }
    free_virtual_mem(first, 2 * step, context);
    free_virtual_mem(second, 2 * step, context);
    check::code_of([&] { physical_mem{device, context, step + 1}; }, "physical memory of a size between");
    check::code_of([&] { physical_mem{device, context, std::size_t{1} << 50}; }, "more physical memory than there is");
}
