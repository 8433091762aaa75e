// Two devices in one context: each runs the kernel on memory of its own, and data goes from one to the other.
#include "check.hpp"

static const char *const source = R"(
    KERNEL(syclex::nd_range_kernel<1>) add(int *data, int by) { data[this_item::get_nd_item<1>().get_global_id(0)] += by; }
)";

PROGRAM("two_devices") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    if (devices.size() < 2) {
        throw check::skipped("this machine has one device");
    }
    sycl::context context{std::vector<sycl::device>{devices[0], devices[1]}};
    sycl::queue first{context, devices[0], sycl::property::queue::in_order()};
    sycl::queue second{context, devices[1], sycl::property::queue::in_order()};
    auto bundle = check::compile(context, source);
    const auto kernel = bundle.ext_oneapi_get_kernel("add");
    constexpr std::size_t count = 4096;
    check::memory<int> a(count, first, sycl::usm::alloc::device);
    check::memory<int> b(count, second, sycl::usm::alloc::device);
    const auto add = [&](sycl::queue &queue, int *data, int by, const sycl::event &after) {
        return queue.submit([&](sycl::handler &handler) {
            handler.depends_on(after);
            handler.set_args(data, by);
            handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
        });
    };
    auto done = first.fill(a.data, 1, count);
    done = add(first, a.data, 10, done);
    done = second.memcpy(b.data, a.data, count * sizeof(int), done);
    done = add(second, b.data, 100, done);
    done = first.memcpy(a.data, b.data, count * sizeof(int), done);
    done = add(first, a.data, 1000, done);
    std::vector<int> back(count);
    second.memcpy(back.data(), a.data, count * sizeof(int), done).wait();
    check::each(back.data(), count, [](std::size_t) { return 1111; }, "what went through both");

    check::that(sycl::get_pointer_device(a.data, context) == devices[0], "the first pointer is of another device");
    check::that(sycl::get_pointer_device(b.data, context) == devices[1], "the second pointer is of another device");
}
