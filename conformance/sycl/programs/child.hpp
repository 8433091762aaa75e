// A second process that runs the same program: the first starts it with one argument, gives it bytes and waits for its end.
#ifndef UR_SYCL_CHILD_HPP
#define UR_SYCL_CHILD_HPP

#include "check.hpp"

#include <cstddef>
#include <cstdio>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace child {

// The environment variable that makes a program the second process, and names the descriptor that its bytes come from.
constexpr const char *variable = "UR_SYCL_CHILD";

inline bool is_me() { return std::getenv(variable) != nullptr; }

// What the first process gave to this one.
inline std::vector<std::byte> given() {
    const int from = std::atoi(std::getenv(variable));
    std::vector<std::byte> bytes;
    std::byte block[4096];
    for (ssize_t count; (count = read(from, block, sizeof block)) > 0;) {
        bytes.insert(bytes.end(), block, block + count);
    }
    close(from);
    return bytes;
}

// Runs this program again and gives it `bytes`; a child that ends badly is a failure.
inline void run(const std::vector<std::byte> &bytes) {
    int ends[2];
    check::that(pipe(ends) == 0, "there is no pipe");
    const std::string name = std::string(variable) + "=" + std::to_string(ends[0]);
    // Over the simulated driver, the child's driver reports into a file of its own.
    const char *report = std::getenv("SIMCUDA_REPORT");
    const std::string own = report == nullptr ? "" : std::string(report) + ".child";
    const std::string reporting = "SIMCUDA_REPORT=" + own;
    std::remove(own.c_str());
    std::vector<char *> environment;
    for (char **entry = environ; *entry != nullptr; entry++) {
        if (std::string(*entry).rfind("SIMCUDA_REPORT=", 0) != 0) {
            environment.push_back(*entry);
        }
    }
    if (report != nullptr) {
        environment.push_back(const_cast<char *>(reporting.c_str()));
    }
    environment.push_back(const_cast<char *>(name.c_str()));
    environment.push_back(nullptr);
    char self[] = "/proc/self/exe";
    char *arguments[] = {self, nullptr};
    const pid_t process = fork();
    check::that(process >= 0, "the process cannot fork");
    if (process == 0) {
        close(ends[1]);
        // Its standard output is this one's, where only one process may say "ok".
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execve(self, arguments, environment.data());
        _exit(126);
    }
    close(ends[0]);
    const bool written = write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    close(ends[1]);
    int status = 0;
    waitpid(process, &status, 0);
    check::that(written, "the second process took no bytes");
    check::that(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the second process ended with " + std::to_string(status));
    std::ifstream file{own};
    const std::string misuse{std::istreambuf_iterator<char>{file}, {}};
    check::that(misuse.empty(), "the second process misused the driver: " + misuse);
}

} // namespace child

#endif
