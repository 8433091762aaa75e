// Four threads with queues of their own, and one queue that all of them use.
#include "check.hpp"
#include <thread>

PROGRAM("threads") {
    constexpr std::size_t count = 10000, workers = 4;
    sycl::queue shared;
    std::vector<std::string> wrong(workers);
    std::vector<std::thread> threads;
    for (std::size_t worker = 0; worker < workers; worker++) {
        threads.emplace_back([&, worker] {
            try {
                sycl::queue own{shared.get_context(), shared.get_device(), sycl::property::queue::in_order()};
                check::memory<int> data(count, own, sycl::usm::alloc::device);
                std::vector<int> back(count);
                for (int round = 0; round < 25; round++) {
                    const int value = static_cast<int>(worker) * 1000 + round;
                    own.fill(data.data, value, count);
                    own.memcpy(back.data(), data.data, count * sizeof(int)).wait_and_throw();
                    check::each(back.data(), count, [&](std::size_t) { return value; }, "own queue");
                    auto filled = shared.fill(data.data, -value, count);
                    shared.memcpy(back.data(), data.data, count * sizeof(int), filled).wait_and_throw();
                    check::each(back.data(), count, [&](std::size_t) { return -value; }, "common queue");
                }
            } catch (const std::exception &error) {
                wrong[worker] = error.what();
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (const auto &text : wrong) {
        check::that(text.empty(), text);
    }
}
