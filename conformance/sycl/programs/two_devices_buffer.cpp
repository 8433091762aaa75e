// A buffer follows the work from one device to the other and back to the host.
#include "check.hpp"

// The runtime passes an accessor as four arguments. They are taken one by one, because the run-time compilers of both releases
// crash in their PTX back end over a parameter that is a structure.
static const char *const source = R"(
    #define ACCESSOR(type, name) type *name, unsigned long name##_range, unsigned long name##_memory, unsigned long name##_first
    KERNEL(syclex::nd_range_kernel<1>) add(ACCESSOR(int, data), int by) {
        data[this_item::get_nd_item<1>().get_global_id(0)] += by;
    }
)";

PROGRAM("two_devices_buffer") {
    const auto devices = sycl::device::get_devices(sycl::info::device_type::gpu);
    if (devices.size() < 2) {
        throw check::skipped("this machine has one device");
    }
    constexpr std::size_t count = 1024;
    sycl::queue queues[] = {sycl::queue{devices[0]}, sycl::queue{devices[1]}};
    auto values = check::numbers<int>(count);
    {
        sycl::buffer<int> buffer{values.data(), count};
        int by = 1;
        for (auto &queue : queues) {
            const auto kernel = check::kernel(queue, source, "add");
            queue.submit([&](sycl::handler &handler) {
                sycl::accessor<int, 1, sycl::access_mode::read_write> data{buffer, handler};
                handler.set_args(data, by);
                handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
            });
            by *= 10;
        }
    }
    check::each(values.data(), count, [](std::size_t i) { return static_cast<int>(i + 11); }, "the buffer");
}
