// A process forks before it ever used SYCL: parent and child both work.
#include "check.hpp"
#include <sys/wait.h>
#include <unistd.h>

static void work(int value) {
    sycl::queue queue{sycl::property::queue::in_order()};
    check::memory<int> data(1000, queue, sycl::usm::alloc::device);
    std::vector<int> back(1000);
    queue.fill(data.data, value, 1000);
    queue.memcpy(back.data(), data.data, 4000).wait_and_throw();
    check::each(back.data(), 1000, [&](std::size_t) { return value; }, "the memory");
}

PROGRAM("bad/fork_before_start") {
    const pid_t child = fork();
    check::that(child >= 0, "the process cannot fork");
    if (child == 0) {
        try {
            work(2);
            std::exit(0);
        } catch (const std::exception &error) {
            std::cerr << "child: " << error.what() << std::endl;
            std::exit(1);
        }
    }
    work(1);
    int status = 0;
    waitpid(child, &status, 0);
    check::that(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with " + std::to_string(status));
}
