// A context knows the memory that was allocated in it, from its start to its end, and no memory that is no allocation.
#include "check.hpp"

PROGRAM("context_memory") {
    sycl::device device;
    const sycl::context one{device};
    sycl::queue queue{one, device, sycl::property::queue::in_order()};
    for (auto kind : {sycl::usm::alloc::host, sycl::usm::alloc::device, sycl::usm::alloc::shared}) {
        const std::string what = "kind " + std::to_string(static_cast<int>(kind));
        check::memory<int> memory(1000, queue, kind);
        check::that(sycl::get_pointer_type(memory.data, one) == kind, what + ": its own context takes it for another");
        check::that(sycl::get_pointer_type(memory.data + 999, one) == kind, what + ": its end is taken for another");
        check::that(sycl::get_pointer_device(memory.data, one) == device, what + ": its device is another");
    }
    std::vector<int> mine(10);
    check::that(sycl::get_pointer_type(mine.data(), one) == sycl::usm::alloc::unknown, "a vector is known");
    check::that(sycl::get_pointer_type(nullptr, one) == sycl::usm::alloc::unknown, "nothing is known");
}
