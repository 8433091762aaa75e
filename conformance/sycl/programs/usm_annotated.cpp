// Memory that comes with properties: alignment, kind, and containers of the standard library that keep theirs in it.
#include "check.hpp"
#include <sycl/ext/oneapi/experimental/annotated_usm/alloc_device.hpp>
#include <sycl/ext/oneapi/experimental/annotated_usm/alloc_host.hpp>
#include <sycl/ext/oneapi/experimental/annotated_usm/alloc_shared.hpp>

using namespace check::syclex;

template <typename Pointer> static void try_one(sycl::queue &queue, Pointer pointer, sycl::usm::alloc kind, std::size_t count) {
    int *data = pointer.get();
    check::that(data != nullptr, "there is no memory");
    check::same(reinterpret_cast<std::uintptr_t>(data) % 256, 0u, "the remainder of the address");
    check::that(sycl::get_pointer_type(data, queue.get_context()) == kind, "the memory is of another kind");
    std::vector<int> back(count);
    queue.fill(data, 19, count);
    queue.memcpy(back.data(), data, count * sizeof(int)).wait_and_throw();
    check::each(back.data(), count, [](std::size_t) { return 19; }, "the memory");
    free(pointer, queue);
}

template <sycl::usm::alloc kind> static void try_vector(sycl::queue &queue) {
    using allocator = sycl::usm_allocator<int, kind, 128>;
    std::vector<int, allocator> values{allocator{queue}};
    for (int i = 0; i < 10000; i++) {
        values.push_back(i);
    }
    check::that(sycl::get_pointer_type(values.data(), queue.get_context()) == kind, "the vector's memory is of another kind");
    check::same(reinterpret_cast<std::uintptr_t>(values.data()) % 128, 0u, "the remainder of the vector's address");
    queue.memcpy(values.data() + 5000, values.data(), 5000 * sizeof(int)).wait();
    check::each(values.data(), 10000, [](std::size_t i) { return static_cast<int>(i % 5000); }, "the vector");
    check::that(allocator{queue} == allocator{queue}, "two allocators of a queue are not alike");
}

PROGRAM("usm_annotated") {
    sycl::queue queue{sycl::property::queue::in_order()};
    for (std::size_t count : {1, 1000, 100000}) {
        const properties aligned{alignment<256>};
        try_one(queue, malloc_device_annotated<int>(count, queue, aligned), sycl::usm::alloc::device, count);
        try_one(queue, malloc_host_annotated<int>(count, queue, aligned), sycl::usm::alloc::host, count);
        try_one(queue, malloc_shared_annotated<int>(count, queue, aligned), sycl::usm::alloc::shared, count);
    }
    try_vector<sycl::usm::alloc::host>(queue);
    try_vector<sycl::usm::alloc::shared>(queue);
}
