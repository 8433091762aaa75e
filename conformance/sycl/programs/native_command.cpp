// A command of the native interface in a queue of SYCL's: it is given the stream when it is enqueued, and what it puts there
// keeps the queue's order.
#include "check.hpp"
#include <sycl/backend.hpp>

#include <dlfcn.h>

constexpr auto cuda = sycl::backend::ext_oneapi_cuda;

// The driver under the adapter, as the process has it open already.
static auto set_words() {
    const char *driver = std::getenv("UR_CUDA_LIBRARY");
    void *library = dlopen(driver == nullptr ? "libcuda.so.1" : driver, RTLD_NOW);
    check::that(library != nullptr, "there is no driver");
    return reinterpret_cast<int (*)(unsigned long long, unsigned, std::size_t, void *)>(dlsym(library, "cuMemsetD32Async"));
}

PROGRAM("native_command") {
    const auto set = set_words();
    check::that(set != nullptr, "the driver sets no memory");
    constexpr std::size_t count = 1 << 16, bytes = count * sizeof(int);
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        for (int round = 0; round < 10; round++) {
            const auto filled = queue.fill(memory.data, -1, count);
            int status = -1;
            const auto native = queue.submit([&](sycl::handler &handler) {
                handler.depends_on(filled);
                handler.ext_codeplay_enqueue_native_command([&, data = memory.data](sycl::interop_handle given) {
                    status = set(reinterpret_cast<unsigned long long>(data), static_cast<unsigned>(round), count / 2,
                                 given.get_native_queue<cuda>());
                });
            });
            queue.memcpy(back.data(), memory.data, bytes, native).wait_and_throw();
            check::same(status, 0, "what the driver said");
            check::each(back.data(), count, [&](std::size_t i) { return i < count / 2 ? round : -1; },
                        ordered ? "in order" : "out of order");
        }
    }
}
