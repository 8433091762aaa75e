// Queues of all priorities on one device at once: none is forgotten, whatever the others do, and events go between them.
#include "check.hpp"

PROGRAM("queue_priorities") {
    using namespace sycl::ext::oneapi::property::queue;
    using sycl::property::queue::in_order;
    sycl::queue queues[] = {sycl::queue{{priority_low{}, in_order{}}}, sycl::queue{{priority_high{}, in_order{}}},
                            sycl::queue{{priority_normal{}, in_order{}}}, sycl::queue{{priority_high{}}}, sycl::queue{{priority_low{}}}};
    constexpr std::size_t count = 1 << 18, bytes = count * sizeof(int);
    check::memory<int> memory(count, queues[0], sycl::usm::alloc::device), other(count, queues[0], sycl::usm::alloc::device);
    std::vector<int> back(count);
    sycl::event event;
    for (int round = 0; round < 20; round++) {
        for (auto &queue : queues) {
            event = queue.fill(memory.data, round, count, event);
        }
        for (auto &queue : queues) {
            event = queue.memcpy(other.data, memory.data, bytes, event);
        }
        event = queues[round % 5].memcpy(back.data(), other.data, bytes, event);
        event.wait_and_throw();
        check::each(back.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
    }
}
