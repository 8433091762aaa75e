// Objects of static storage are destroyed after main, when much of the runtime has ended: nothing hangs or crashes.
#include "check.hpp"
#include <optional>

static std::optional<sycl::queue> queue;
static std::optional<sycl::buffer<int>> buffer;
static std::vector<sycl::event> events;
static int values[256];

PROGRAM("bad/statics_at_exit") {
    queue.emplace(sycl::property_list{});
    buffer.emplace(values, sycl::range<1>(256));
    for (int i = 0; i < 20; i++) {
        events.push_back(queue->submit(
            [&](sycl::handler &handler) { handler.fill(buffer->get_access<sycl::access_mode::write>(handler), i); }));
    }
    static int *never_freed = sycl::malloc_shared<int>(100, *queue);
    events.push_back(queue->fill(never_freed, 1, 100));
}
