// Many threads use one queue and one context at once by the functions that give no event, and share nothing but those:
// registered memory, tags, barriers, kernels, host memory.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/ext/oneapi/experimental/profiling_tag.hpp>

#include <atomic>
#include <thread>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) add(int *data, int by) { data[this_item::get_nd_item<1>().get_global_id(0)] += by; }
)";

using namespace check::syclex;

PROGRAM("threads_functions") {
    for (bool ordered : {true, false}) {
        sycl::queue queue = ordered ? sycl::queue{sycl::property::queue::in_order()} : sycl::queue{};
        const auto kernel = check::kernel(queue, source, "add");
        constexpr std::size_t count = 2048;
        std::vector<std::string> wrong(6);
        std::vector<std::thread> threads;
        for (std::size_t index = 0; index < wrong.size(); index++) {
            threads.emplace_back([&, index] {
                try {
                    sycl::queue own{queue.get_context(), queue.get_device(), sycl::property::queue::in_order()};
                    check::memory<int> data(count, queue, sycl::usm::alloc::device);
                    std::vector<int> back(count);
                    std::uint64_t before = 0;
                    for (int round = 0; round < 15; round++) {
                        const int value = static_cast<int>(index) * 1000 + round;
                        const auto step = [&] {
                            if (!ordered) {
                                barrier(queue);
                            }
                        };
                        fill(queue, data.data, value, count);
                        step();
                        nd_launch(queue, sycl::nd_range<1>(count, 64), kernel, data.data, 7);
                        step();
                        auto tag = submit_profiling_tag(queue);
                        own.ext_oneapi_set_external_event(tag);
                        check::syclex::memcpy(own, back.data(), data.data, count * sizeof(int));
                        own.wait_and_throw();
                        check::each(back.data(), count, [&](std::size_t) { return value + 7; }, "round " + std::to_string(round));
                        const auto now = tag.get_profiling_info<sycl::info::event_profiling::command_end>();
                        check::that(now >= before, "a later tag of a thread is earlier");
                        before = now;
                        step();
                    }
                } catch (const std::exception &error) {
                    wrong[index] = error.what();
                }
            });
        }
        for (auto &thread : threads) {
            thread.join();
        }
        for (std::size_t index = 0; index < wrong.size(); index++) {
            check::that(wrong[index].empty(), (ordered ? "in order, thread " : "thread ") + std::to_string(index) + ": " + wrong[index]);
        }
    }
}
