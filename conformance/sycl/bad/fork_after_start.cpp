// A process forks while it uses SYCL. The native driver is of no use in the child, which only ends, without running what is
// run at exit; the parent's work is not disturbed.
#include "check.hpp"
#include <sys/wait.h>
#include <unistd.h>

PROGRAM("bad/fork_after_start") {
    sycl::queue queue{sycl::property::queue::in_order()};
    constexpr std::size_t count = 1 << 18;
    check::memory<int> data(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(count);
    for (int round = 0; round < 5; round++) {
        queue.fill(data.data, round, count);
        const pid_t child = fork();
        check::that(child >= 0, "the process cannot fork");
        if (child == 0) {
            _exit(7);
        }
        queue.memcpy(back.data(), data.data, count * sizeof(int)).wait_and_throw();
        check::each(back.data(), count, [&](std::size_t) { return round; }, "round " + std::to_string(round));
        int status = 0;
        waitpid(child, &status, 0);
        check::that(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child ended with " + std::to_string(status));
    }
}
