// Another process opens shared memory, writes, and ends without closing it, by itself and by a signal: the first goes on,
// sees what was written and frees its memory.
#include "child.hpp"
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>

#include <csignal>
#include <sys/wait.h>

#if __has_include(<sycl/ext/oneapi/experimental/ipc_event.hpp>)
namespace ipc = check::syclex::ipc::memory;
#else
namespace ipc = check::syclex::ipc_memory;
#endif

constexpr std::size_t count = 100000;

static void second_process(sycl::queue &queue) {
    auto bytes = child::given();
    const bool kill = std::to_integer<int>(bytes.back()) == 1;
    bytes.pop_back();
    auto *shared = static_cast<int *>(ipc::open(bytes, queue.get_context(), queue.get_device()));
    queue.fill(shared, kill ? 22 : 11, count).wait();
    if (kill) {
        raise(SIGKILL);
    }
    _exit(0);
}

PROGRAM("bad/ipc_child_dies") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_ipc_memory)) {
        throw check::skipped("the device shares no memory between processes");
    }
    if (child::is_me()) {
        return second_process(queue);
    }
    check::memory<int> memory(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(count);
    for (int signalled = 0; signalled < 2; signalled++) {
        queue.fill(memory.data, 0, count).wait();
        auto handle = ipc::get(memory.data, queue.get_context());
        auto bytes = handle.data();
        bytes.push_back(static_cast<std::byte>(signalled));
        bool ended_well = true;
        try {
            child::run(bytes);
        } catch (const std::runtime_error &) {
            ended_well = false;
        }
        check::same(ended_well, signalled == 0, "whether the second process ended well");
        ipc::put(handle, queue.get_context());
        queue.memcpy(back.data(), memory.data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [&](std::size_t) { return signalled == 1 ? 22 : 11; }, "what the second process wrote");
    }
}
