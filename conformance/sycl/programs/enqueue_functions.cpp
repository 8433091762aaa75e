// The functions that put commands into a queue and give no event: kernels, copies, fills, hints.
// What they do is seen after waiting for the queue, and the order of an in-order queue holds for them.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>

static const char *const source = R"(
    KERNEL(syclex::single_task_kernel) one(int *data, int value) { data[0] = value; }
    KERNEL(syclex::nd_range_kernel<1>) add(int *data, int by) { data[this_item::get_nd_item<1>().get_global_id(0)] += by; }
    KERNEL(syclex::nd_range_kernel<2>) where(int *data) {
        const auto item = this_item::get_nd_item<2>();
        data[item.get_global_linear_id()] = static_cast<int>(item.get_group(0) * 1000 + item.get_local_id(1));
    }
)";

using namespace check::syclex;

PROGRAM("enqueue_functions") {
    sycl::queue queue{sycl::property::queue::in_order()};
    auto bundle = check::compile(queue.get_context(), source);
    const auto one = bundle.ext_oneapi_get_kernel("one"), add = bundle.ext_oneapi_get_kernel("add"),
               where = bundle.ext_oneapi_get_kernel("where");
    constexpr std::size_t count = 4096, bytes = count * sizeof(int);
    check::memory<int> a(count, queue, sycl::usm::alloc::device);
    check::memory<int> b(count, queue, sycl::usm::alloc::shared);
    std::vector<int> host = check::numbers<int>(count), back(count);

    check::syclex::memcpy(queue, a.data, host.data(), bytes);
    nd_launch(queue, sycl::nd_range<1>(count, 128), add, a.data, 10);
    nd_launch(queue, launch_config{sycl::nd_range<1>(count, 64)}, add, a.data, 100);
    single_task(queue, one, a.data, -5);
    copy(queue, a.data, b.data, count);
    check::syclex::memset(queue, a.data, 0xff, bytes);
    copy(queue, a.data, back.data(), count / 2);
    fill(queue, a.data, 77, count / 4);
    copy(queue, a.data, back.data(), count / 4);
    queue.wait_and_throw();
    check::each(b.data, count, [](std::size_t i) { return i == 0 ? -5 : static_cast<int>(i) + 110; }, "after the kernels");
    check::each(back.data(), count, [](std::size_t i) { return i < count / 4 ? 77 : i < count / 2 ? -1 : 0; }, "after the fills");

    nd_launch(queue, sycl::nd_range<2>({32, 128}, {4, 32}), where, b.data);
    queue.wait_and_throw();
    check::each(b.data, count, [](std::size_t i) { return static_cast<int>(i / 128 / 4 * 1000 + i % 32); }, "in two dimensions");

    submit(queue, [&](sycl::handler &handler) { fill(handler, a.data, 3, count); });
    submit(queue, [&](sycl::handler &handler) { nd_launch(handler, sycl::nd_range<1>(count, 32), add, a.data, 1); });
    submit(queue, [&](sycl::handler &handler) { single_task(handler, one, a.data, 9); });
    auto event = submit_with_event(queue, [&](sycl::handler &handler) { check::syclex::memcpy(handler, back.data(), a.data, bytes); });
    event.wait();
    check::each(back.data(), count, [](std::size_t i) { return i == 0 ? 9 : 4; }, "in command groups");

    // Hints change nothing but where the memory is.
    fill(queue, b.data, 8, count);
    mem_advise(queue, b.data, bytes, 0);
    prefetch(queue, b.data, bytes);
    nd_launch(queue, sycl::nd_range<1>(count, 64), add, b.data, 1);
    prefetch(queue, b.data, bytes, prefetch_type::host);
    submit(queue, [&](sycl::handler &handler) { prefetch(handler, b.data, bytes); });
    submit(queue, [&](sycl::handler &handler) { mem_advise(handler, b.data, bytes, 0); });
    queue.wait_and_throw();
    check::each(b.data, count, [](std::size_t) { return 9; }, "after hints");
}
