// A process forks while it uses SYCL, and the child ends by exit, so that all exit handlers of the runtime run in it. It must
// come to its end, well or badly, and the parent must work on.
#include "check.hpp"
#include <sys/wait.h>
#include <unistd.h>

PROGRAM("bad/fork_child_exits") {
    sycl::queue queue{sycl::property::queue::in_order()};
    constexpr std::size_t count = 1 << 16;
    check::memory<int> data(count, queue, sycl::usm::alloc::device);
    std::vector<int> back(count);
    queue.fill(data.data, 1, count).wait();
    const pid_t child = fork();
    check::that(child >= 0, "the process cannot fork");
    if (child == 0) {
        alarm(20);
        std::exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check::that(!(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM), "the child hung in its exit handlers");
    check::that(WIFEXITED(status), "the child ended by signal " + std::to_string(WTERMSIG(status)));
    queue.fill(data.data, 2, count);
    queue.memcpy(back.data(), data.data, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 2; }, "the parent's memory");
}
