// Hints about memory: each that there is, for memory of each kind. They change no byte; where a kind of memory takes no
// hints, they are passed over.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>

using namespace check::syclex;

PROGRAM("usm_hints") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        constexpr std::size_t count = 100000, bytes = count * sizeof(int);
        for (auto kind : {sycl::usm::alloc::shared, sycl::usm::alloc::device, sycl::usm::alloc::host}) {
            check::memory<int> memory(count, queue, kind);
            std::vector<int> back(count);
            const auto filled = queue.fill(memory.data, 5, count);
            auto event = filled;
            for (int bit = 0; bit < 8; bit++) {
                event = queue.mem_advise(memory.data, bytes, 1 << bit, event);
            }
            event = queue.mem_advise(memory.data, bytes, 0, event);
            event = queue.prefetch(memory.data, bytes, event);
            event = queue.prefetch(memory.data + 17, 100, event);
            event = submit_with_event(queue, [&](sycl::handler &handler) {
                handler.depends_on(event);
                prefetch(handler, memory.data, bytes, prefetch_type::host);
            });
            // The runtime hands no dependencies of advice on, since there is no way to, so the fill is named again.
            queue.memcpy(back.data(), memory.data, bytes, {event, filled}).wait_and_throw();
            check::each(back.data(), count, [](std::size_t) { return 5; }, "kind " + std::to_string(static_cast<int>(kind)));
        }
    }
}
