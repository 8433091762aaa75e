// Device memory of one process, opened and changed by another: a handle travels, the bytes do not.
#include "child.hpp"
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>

#if __has_include(<sycl/ext/oneapi/experimental/ipc_event.hpp>)
namespace ipc = check::syclex::ipc::memory;
using handle_data = check::syclex::ipc::handle_data_t;
#else
namespace ipc = check::syclex::ipc_memory;
using handle_data = check::syclex::ipc_memory::handle_data_t;
#endif

constexpr std::size_t count = 1 << 16;

static void second_process(sycl::queue &queue) {
    const handle_data data = child::given();
    auto *shared = static_cast<int *>(ipc::open(data, queue.get_context(), queue.get_device()));
    check::that(shared != nullptr, "the handle opens to nothing");
    check::that(sycl::get_pointer_type(shared, queue.get_context()) == sycl::usm::alloc::device,
                "what was opened is no device memory");
    std::vector<int> back(count);
    queue.memcpy(back.data(), shared, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t i) { return static_cast<int>(i); }, "the first process's memory");
    queue.fill(shared, 5, count / 2).wait_and_throw();
    ipc::close(shared, queue.get_context());
}

PROGRAM("ipc_memory") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_ipc_memory)) {
        throw check::skipped("the device shares no memory between processes");
    }
    if (child::is_me()) {
        return second_process(queue);
    }
    check::memory<int> before(1000, queue, sycl::usm::alloc::device);
    check::memory<int> memory(count, queue, sycl::usm::alloc::device);
    const auto numbers = check::numbers<int>(count);
    queue.memcpy(memory.data, numbers.data(), count * sizeof(int));
    queue.fill(before.data, 3, 1000).wait_and_throw();

    auto handle = ipc::get(memory.data, queue.get_context());
    const auto data = handle.data();
    check::that(!data.empty(), "the handle is empty");
    child::run(data);
    ipc::put(handle, queue.get_context());

    std::vector<int> back(count);
    queue.memcpy(back.data(), memory.data, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t i) { return i < count / 2 ? 5 : static_cast<int>(i); },
                "what the second process left");
    queue.memcpy(back.data(), before.data, 4000).wait_and_throw();
    check::each(back.data(), 1000, [](std::size_t) { return 3; }, "memory that was not shared");
    check::code_of([&] { ipc::open(handle_data(7), queue.get_context(), queue.get_device()); }, "opening bytes that are no handle");
}
