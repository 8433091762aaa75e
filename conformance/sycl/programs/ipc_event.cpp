// Two processes order their work by events that one of them made: each signals, each waits. The memory that they write is
// shared by handle, too.
#include "check.hpp"

#if __has_include(<sycl/ext/oneapi/experimental/ipc_event.hpp>)
#include <sycl/ext/oneapi/experimental/ipc_event.hpp>
#include <sycl/ext/oneapi/experimental/ipc_memory.hpp>

#include <cstdio>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace ipc = check::syclex::ipc;

static constexpr std::size_t count = 1 << 16;

static void send(int file, const void *data, std::size_t size) {
    check::that(write(file, data, size) == static_cast<ssize_t>(size), "the other process does not listen");
}

static void receive(int file, void *data, std::size_t size) {
    auto *at = static_cast<char *>(data);
    while (size > 0) {
        const auto got = read(file, at, size);
        check::that(got > 0, "the other process says nothing");
        at += got;
        size -= static_cast<std::size_t>(got);
    }
}

static void send(int file, const ipc::handle_data_t &bytes) {
    const std::size_t size = bytes.size();
    send(file, &size, sizeof size);
    send(file, bytes.data(), size);
}

static ipc::handle_data_t receive(int file) {
    std::size_t size = 0;
    receive(file, &size, sizeof size);
    ipc::handle_data_t bytes(size);
    receive(file, bytes.data(), size);
    return bytes;
}

// Waits on the device for the other's signal, adds one to every element, and signals in turn.
static void take_turn(sycl::queue queue, int *data, const sycl::event &theirs, sycl::event &mine) {
    check::syclex::enqueue_wait_event(queue, theirs);
    std::vector<int> seen(count);
    queue.memcpy(seen.data(), data, count * sizeof(int)).wait_and_throw();
    for (auto &value : seen) {
        value++;
    }
    queue.memcpy(data, seen.data(), count * sizeof(int));
    check::syclex::enqueue_signal_event(queue, mine);
}

// The process that was started second; `in` and `out` lead to the first.
static void second(int in, int out) {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    auto theirs = ipc::event::open(receive(in), context);
    auto mine = ipc::event::open(receive(in), context);
    const auto bytes = receive(in);
    auto *data = static_cast<int *>(ipc::memory::open(bytes, context, queue.get_device()));
    char word = 'r';
    send(out, &word, 1);
    for (int round = 0; round < 3; round++) {
        receive(in, &word, 1);
        take_turn(queue, data, theirs, mine);
        send(out, &word, 1);
    }
    mine.wait();
    queue.wait_and_throw();
    ipc::memory::close(data, context);
}

static void first(const char *program) {
    int there[2], back[2];
    check::that(pipe(there) == 0 && pipe(back) == 0, "no pipes");
    // Over the simulated driver, the second process's driver reports into a file of its own.
    const char *report = std::getenv("SIMCUDA_REPORT");
    const std::string own = report == nullptr ? "" : std::string(report) + ".second";
    std::remove(own.c_str());
    // Started before this process uses the device: a fork would not carry it along.
    const pid_t child = fork();
    check::that(child >= 0, "no second process");
    if (child == 0) {
        dup2(there[0], STDIN_FILENO);
        // Only one process may say "ok" on the standard output.
        dup2(STDERR_FILENO, STDOUT_FILENO);
        if (report != nullptr) {
            setenv("SIMCUDA_REPORT", own.c_str(), 1);
        }
        close(there[1]);
        close(back[0]);
        setenv("UR_SYCL_SECOND", std::to_string(back[1]).c_str(), 1);
        execl(program, program, static_cast<char *>(nullptr));
        _exit(9);
    }
    close(there[0]);
    close(back[1]);
    const int out = there[1], in = back[0];

    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    check::syclex::properties with{check::syclex::enable_ipc{}};
    auto mine = check::syclex::make_event(context, with), theirs = check::syclex::make_event(context, with);
    check::memory<int> data(count, queue, sycl::usm::alloc::device);
    queue.fill(data.data, 0, count).wait_and_throw();
    auto handles = {ipc::event::get(mine), ipc::event::get(theirs)};
    for (auto handle : handles) {
        send(out, handle.data());
        ipc::event::put(handle, context);
    }
    auto memory = ipc::memory::get(data.data, context);
    send(out, memory.data());
    char word = 's';
    receive(in, &word, 1);
    for (int round = 0; round < 3; round++) {
        take_turn(queue, data.data, theirs, mine);
        send(out, &word, 1);
        receive(in, &word, 1);
    }
    theirs.wait();
    std::vector<int> seen(count);
    queue.memcpy(seen.data(), data.data, count * sizeof(int)).wait_and_throw();
    check::each(seen.data(), count, [](std::size_t) { return 6; }, "the memory");
    int status = 0;
    check::that(waitpid(child, &status, 0) == child, "the second process is gone");
    check::that(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the second process failed");
    ipc::memory::put(memory, context);
    std::ifstream file{own};
    const std::string misuse{std::istreambuf_iterator<char>{file}, {}};
    check::that(misuse.empty(), "the second process misused the driver: " + misuse);

    // In its own process a handle opens the same event.
    auto handle = ipc::event::get(mine);
    auto again = ipc::event::open(handle.data(), context);
    ipc::event::put(handle, context);
    check::syclex::enqueue_signal_event(queue, again);
    mine.wait();
}

PROGRAM("ipc_event") {
    if (const char *back = std::getenv("UR_SYCL_SECOND")) {
        second(0, std::atoi(back));
        return;
    }
    first("/proc/self/exe");
}

#else

PROGRAM("ipc_event") {
    throw check::skipped("this release has no events for other processes");
}

#endif
