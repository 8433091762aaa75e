// A profiling queue gives times of submission, start and end, in this order and for every kind of command.
#include "check.hpp"

static void in_order(const sycl::event &event, const char *what) {
    const auto submitted = event.get_profiling_info<sycl::info::event_profiling::command_submit>();
    const auto started = event.get_profiling_info<sycl::info::event_profiling::command_start>();
    const auto ended = event.get_profiling_info<sycl::info::event_profiling::command_end>();
    check::that(submitted > 0, std::string(what) + ": submitted at 0");
    check::that(submitted <= started, std::string(what) + ": started before it was submitted");
    check::that(started <= ended, std::string(what) + ": ended before it started");
}

PROGRAM("event_profiling") {
    for (bool ordered : {true, false}) {
        sycl::property_list properties = ordered ? sycl::property_list{sycl::property::queue::enable_profiling(),
                                                                       sycl::property::queue::in_order()}
                                                 : sycl::property_list{sycl::property::queue::enable_profiling()};
        sycl::queue queue{properties};
        check::that(queue.get_device().has(sycl::aspect::queue_profiling), "the device has no profiling");
        constexpr std::size_t count = 1 << 18;
        check::memory<int> memory(count, queue, sycl::usm::alloc::device);
        std::vector<int> back(count);
        auto filled = queue.fill(memory.data, 3, count);
        auto copied = queue.memcpy(back.data(), memory.data, count * sizeof(int), filled);
        auto barrier = queue.ext_oneapi_submit_barrier({copied});
        barrier.wait();
        in_order(filled, "fill");
        in_order(copied, "memcpy");
        check::that(filled.get_profiling_info<sycl::info::event_profiling::command_end>() <=
                        copied.get_profiling_info<sycl::info::event_profiling::command_end>(),
                    "a command ended after the one that waited for it");
    }
    sycl::queue plain{sycl::property::queue::in_order()};
    check::memory<int> memory(16, plain, sycl::usm::alloc::device);
    auto event = plain.fill(memory.data, 1, 16);
    event.wait();
    const auto code = check::code_of([&] { event.get_profiling_info<sycl::info::event_profiling::command_end>(); },
                                     "profiling information without profiling");
    check::that(code == sycl::errc::invalid, "profiling information without profiling is not errc::invalid");
}
