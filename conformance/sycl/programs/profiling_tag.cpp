// A tag in a queue takes the device's time there, whether or not the queue records profiles: tags are ordered with the
// commands around them, and what lies between two tags is what the host saw pass between them.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/profiling_tag.hpp>

#include <chrono>

using clock_type = std::chrono::steady_clock;

static std::int64_t between(clock_type::time_point from, clock_type::time_point to) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

static std::uint64_t end_of(const sycl::event &event) {
    return event.get_profiling_info<sycl::info::event_profiling::command_end>();
}

static std::uint64_t tagged(const sycl::event &tag) {
    const auto submitted = tag.get_profiling_info<sycl::info::event_profiling::command_submit>();
    const auto started = tag.get_profiling_info<sycl::info::event_profiling::command_start>();
    check::that(submitted > 0 && submitted <= started, "a tag began before it was submitted");
    check::that(started <= end_of(tag), "a tag ended before it began");
    return end_of(tag);
}

// What the two clocks may differ by while one of these queues works.
constexpr std::int64_t slack = 1000000;

static void try_queue(const sycl::property_list &properties, bool profiles, const std::string &what) {
    sycl::queue queue{properties};
    constexpr std::size_t count = 1 << 18;
    check::memory<int> memory(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(count);

    const auto before_first = clock_type::now();
    auto first = check::syclex::submit_profiling_tag(queue);
    first.wait();
    const auto after_first = clock_type::now();
    auto filled = queue.fill(memory.data, 7, count);
    auto copied = queue.memcpy(back.data(), memory.data, count * sizeof(int), filled);
    copied.wait();
    const auto before_last = clock_type::now();
    auto last = check::syclex::submit_profiling_tag(queue);
    last.wait_and_throw();
    const auto after_last = clock_type::now();
    check::each(back.data(), count, [](std::size_t) { return 7; }, what + ": the memory");

    const auto passed = static_cast<std::int64_t>(tagged(last) - tagged(first));
    check::that(passed > 0, what + ": the last tag is not after the first");
    check::that(passed <= between(before_first, after_last) + slack, what + ": more passed between the tags than on the host");
    check::that(passed >= between(after_first, before_last) - slack, what + ": less passed between the tags than on the host");
    if (profiles) {
        check::that(tagged(first) <= end_of(filled), what + ": a command ended before the tag in front of it");
        check::that(end_of(copied) <= tagged(last), what + ": a command ended after the tag behind it");
    }

    // Tags and commands without a wait between them.
    std::vector<sycl::event> tags, fills;
    for (int round = 0; round < 10; round++) {
        tags.push_back(check::syclex::submit_profiling_tag(queue));
        fills.push_back(queue.fill(memory.data, round, count, tags.back()));
    }
    tags.push_back(check::syclex::submit_profiling_tag(queue));
    queue.wait_and_throw();
    for (std::size_t i = 0; i + 1 < tags.size(); i++) {
        check::that(tagged(tags[i]) <= tagged(tags[i + 1]), what + ": tag " + std::to_string(i + 1) + " is before the one in front");
        if (profiles) {
            check::that(end_of(fills[i]) <= tagged(tags[i + 1]), what + ": a tag did not wait for command " + std::to_string(i));
        } else {
            check::that(check::code_of([&] { end_of(fills[i]); }, what + ": the time of a command that no profile is of") ==
                            sycl::errc::invalid,
                        what + ": the time of a command that no profile is of is not errc::invalid");
        }
    }
}

PROGRAM("profiling_tag") {
    if (!sycl::device().has(sycl::aspect::ext_oneapi_queue_profiling_tag)) {
        throw check::skipped("the device has no tags");
    }
    using namespace sycl::property::queue;
    try_queue({in_order(), enable_profiling()}, true, "in order, with profiles");
    try_queue({in_order()}, false, "in order");
    try_queue({enable_profiling()}, true, "out of order, with profiles");
    try_queue({}, false, "out of order");
}
