// Objects go in an order that no one planned: a queue before its memory, a bundle before its kernel, a context before all.
#include "check.hpp"
#include <optional>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) mark(int *out) { out[this_item::get_nd_item<1>().get_global_id(0)] = 3; }
)";

PROGRAM("bad/wrong_order") {
    constexpr std::size_t count = 1024;
    std::optional<sycl::context> context{sycl::context{sycl::device{}}};
    std::optional<sycl::queue> queue{sycl::queue{*context, sycl::device{}, sycl::property::queue::in_order()}};
    std::optional<check::bundle> bundle{check::compile(*context, source)};
    std::optional<sycl::kernel> kernel{bundle->ext_oneapi_get_kernel("mark")};
    int *device = sycl::malloc_device<int>(count, *queue);
    int *host = sycl::malloc_host<int>(count, *queue);
    int *shared = sycl::malloc_shared<int>(count, *queue);
    std::optional<sycl::buffer<int>> buffer{sycl::buffer<int>{sycl::range<1>(count)}};
    queue->submit([&](sycl::handler &handler) { handler.fill(buffer->get_access<sycl::access_mode::write>(handler), 1); });

    bundle.reset();
    context.reset();
    sycl::event event = queue->submit([&](sycl::handler &handler) {
        handler.set_args(device);
        handler.parallel_for(sycl::nd_range<1>(count, 64), *kernel);
    });
    kernel.reset();
    auto copied = queue->memcpy(host, device, count * sizeof(int), event);
    const sycl::context last = queue->get_context();
    queue.reset();
    copied.wait_and_throw();
    check::each(host, count, [](std::size_t) { return 3; }, "the memory");
    {
        sycl::host_accessor accessor{*buffer};
        check::same(accessor[count - 1], 1, "the buffer without its queue");
    }
    buffer.reset();
    sycl::free(shared, last);
    sycl::free(device, last);
    sycl::free(host, last);
    check::that(event.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                "the event is not complete");
}
