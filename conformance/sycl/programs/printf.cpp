// What a kernel prints appears once the queue has been waited for.
#include "check.hpp"
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) speak(int by) {
        const int i = static_cast<int>(this_item::get_nd_item<1>().get_global_id(0));
        syclex::printf("item %d says %d and %.2f\n", i, i * by, 0.5 * i);
    }
)";

PROGRAM("printf") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto kernel = check::kernel(queue, source, "speak");
    char name[] = "/tmp/sycl-printf-XXXXXX";
    const int file = mkstemp(name);
    check::that(file >= 0, "no temporary file");
    std::fflush(stdout);
    const int kept = dup(1);
    dup2(file, 1);
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(7);
        handler.parallel_for(sycl::nd_range<1>(4, 4), kernel);
    });
    queue.wait();
    std::fflush(stdout);
    dup2(kept, 1);
    close(kept);
    std::string text(4096, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(file, text.data(), text.size(), 0))));
    close(file);
    unlink(name);
    for (int i = 0; i < 4; i++) {
        char line[64];
        std::snprintf(line, sizeof line, "item %d says %d and %.2f\n", i, i * 7, 0.5 * i);
        check::that(text.find(line) != std::string::npos, "the kernel did not print: " + std::string(line) + "but: " + text);
    }
}
