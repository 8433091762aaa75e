// SYCL objects made of native ones, and native ones of every SYCL object that has one: both are the same thing.
#include "check.hpp"
#include <sycl/backend.hpp>

constexpr auto cuda = sycl::backend::ext_oneapi_cuda;

template <typename T> static ur_native_handle_t handle(T native) { return (ur_native_handle_t)native; }

PROGRAM("interop_made") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    constexpr std::size_t count = 1000;
    std::vector<int> back(count);

    // A native event is an event of SYCL's: another queue waits for it.
    check::memory<int> memory(count, queue, sycl::usm::alloc::device);
    auto filled = queue.fill(memory.data, 4, count);
    const auto native = sycl::get_native<cuda>(filled);
    auto again = sycl::detail::make_event(handle(native), context, true, cuda);
    sycl::queue other{context, queue.get_device()};
    other.memcpy(back.data(), memory.data, count * sizeof(int), again).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 4; }, "behind an event made of a native one");
    again.wait();
    check::that(again.get_info<sycl::info::event::command_execution_status>() == sycl::info::event_command_status::complete,
                "an event made of a native one is not complete");

    // A queue made of a native stream shares the stream's order with the first.
    const auto stream = sycl::get_native<cuda>(queue);
    {
        auto same = sycl::detail::make_queue(handle(stream), 0, context, nullptr, true, sycl::property::queue::in_order(),
                                             sycl::async_handler{}, cuda);
        check::that(sycl::get_native<cuda>(same) == stream, "a queue made of a stream has another");
        for (int round = 0; round < 50; round++) {
            queue.fill(memory.data, round, count);
            same.memcpy(back.data(), memory.data, count * sizeof(int)).wait();
            check::each(back.data(), count, [&](std::size_t) { return round; }, "what the second queue on a stream saw");
        }
    }
    queue.fill(memory.data, 60, count).wait();

    // The native objects that a host task is given.
    sycl::buffer<int> buffer{sycl::range<1>(count)};
    queue.submit([&](sycl::handler &handler) {
        sycl::accessor access{buffer, handler, sycl::write_only};
        handler.fill(access, 12);
    });
    bool all = false;
    int device = -1;
    void *pointer = nullptr;
    queue.submit([&](sycl::handler &handler) {
        sycl::accessor access{buffer, handler, sycl::read_write};
        handler.host_task([=, &all, &device, &pointer](sycl::interop_handle given) {
            all = given.get_native_queue<cuda>() != nullptr && given.get_native_context<cuda>() != nullptr;
            device = given.get_native_device<cuda>();
            pointer = reinterpret_cast<void *>(given.get_native_mem<cuda>(access));
        });
    });
    queue.wait_and_throw();
    check::that(all && pointer != nullptr, "a host task lacks a native object");
    check::same(device, sycl::get_native<cuda>(queue.get_device()), "the native device of a host task");
    queue.memcpy(back.data(), pointer, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 12; }, "the buffer behind its native pointer");
}
