// Queues with every property that a CUDA device may be given: priorities, no events kept, modes of submission. Each works
// and says what it was made with.
#include "check.hpp"

template <typename Property> static void try_one(const Property &property, const std::string &what) {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property_list{property, sycl::property::queue::in_order()}}
                                    : sycl::queue{sycl::property_list{property}};
        check::that(queue.has_property<Property>(), what + ": the queue does not say so");
        check::same(queue.is_in_order(), ordered, what + ": whether the queue is in order");
        constexpr std::size_t count = 10000;
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        for (int round = 0; round < 5; round++) {
            queue.fill(memory.data, round, count);
            queue.wait();
            auto copied = queue.memcpy(back.data(), memory.data, count * sizeof(int));
            round % 2 == 0 ? copied.wait() : queue.wait_and_throw();
            check::each(back.data(), count, [&](std::size_t) { return round; }, what);
        }
    }
}

PROGRAM("queue_properties") {
    using namespace sycl::ext::oneapi::property::queue;
    try_one(priority_high{}, "high priority");
    try_one(priority_normal{}, "normal priority");
    try_one(priority_low{}, "low priority");
    try_one(discard_events{}, "discarded events");
    try_one(sycl::ext::intel::property::queue::no_immediate_command_list{}, "no immediate command list");
    try_one(sycl::ext::intel::property::queue::immediate_command_list{}, "immediate command list");
    try_one(sycl::ext::oneapi::cuda::property::queue::use_default_stream{}, "the default stream");
    check::code_of([] { sycl::queue{{priority_high{}, priority_low{}}}; }, "a queue of two priorities");
}
