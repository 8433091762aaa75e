// Several allocations of one process in another at once, small ones that share a block among them: each handle is its own,
// and a second child finds what the first one wrote.
#include "child.hpp"
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>

#include <cstring>

#if __has_include(<sycl/ext/oneapi/experimental/ipc_event.hpp>)
namespace ipc = check::syclex::ipc::memory;
using handle_data = check::syclex::ipc::handle_data_t;
#else
namespace ipc = check::syclex::ipc_memory;
using handle_data = check::syclex::ipc_memory::handle_data_t;
#endif

constexpr std::size_t sizes[] = {1, 100, 1000, 5000, 1 << 20};
constexpr int many = sizeof sizes / sizeof *sizes;

// Each allocation i holds `100 * i + generation` everywhere; the child raises the generation by one. All handles have one size.
static void second_process(sycl::queue &queue) {
    const handle_data all = child::given();
    int generation = 0;
    std::memcpy(&generation, all.data(), sizeof generation);
    const std::size_t each = (all.size() - sizeof generation) / many;
    std::vector<int *> opened;
    for (int i = 0; i < many; i++) {
        const auto *first = all.data() + sizeof generation + i * each;
        opened.push_back(static_cast<int *>(ipc::open(handle_data(first, first + each), queue.get_context(), queue.get_device())));
    }
    for (int i = 0; i < many; i++) {
        std::vector<int> back(sizes[i]);
        queue.memcpy(back.data(), opened[i], sizes[i] * sizeof(int)).wait_and_throw();
        check::each(back.data(), sizes[i], [&](std::size_t) { return 100 * i + generation; }, "allocation " + std::to_string(i));
        queue.fill(opened[i], 100 * i + generation + 1, sizes[i]);
    }
    queue.wait_and_throw();
    for (int *pointer : opened) {
        ipc::close(pointer, queue.get_context());
    }
    // Opened again after it was closed.
    auto *again = static_cast<int *>(ipc::open(handle_data(all.data() + sizeof generation, all.data() + sizeof generation + each),
                                               queue.get_context(), queue.get_device()));
    int value = 0;
    queue.memcpy(&value, again, sizeof value).wait_and_throw();
    check::same(value, generation + 1, "what was opened again");
    ipc::close(again, queue.get_context());
}

PROGRAM("ipc_many") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    if (!queue.get_device().has(sycl::aspect::ext_oneapi_ipc_memory)) {
        throw check::skipped("the device shares no memory between processes");
    }
    if (child::is_me()) {
        return second_process(queue);
    }
    std::vector<int *> memory;
    for (int i = 0; i < many; i++) {
        memory.push_back(sycl::malloc_device<int>(sizes[i], queue));
        queue.fill(memory.back(), 100 * i, sizes[i]);
    }
    queue.wait_and_throw();
    for (int generation = 0; generation < 2; generation++) {
        handle_data all(sizeof generation);
        std::memcpy(all.data(), &generation, sizeof generation);
        for (int *pointer : memory) {
            auto handle = ipc::get(pointer, context);
            const auto data = handle.data();
            all.insert(all.end(), data.begin(), data.end());
            ipc::put(handle, context);
        }
        child::run(all);
    }
    for (int i = 0; i < many; i++) {
        std::vector<int> back(sizes[i]);
        queue.memcpy(back.data(), memory[i], sizes[i] * sizeof(int)).wait_and_throw();
        check::each(back.data(), sizes[i], [&](std::size_t) { return 100 * i + 2; }, "allocation " + std::to_string(i) + " at the end");
        sycl::free(memory[i], queue);
    }
}
