// USM of the three kinds: what each pointer says of itself, and copies from each kind to each.
#include "check.hpp"

PROGRAM("usm_kinds") {
    sycl::queue queue{sycl::property::queue::in_order()};
    const auto context = queue.get_context();
    constexpr std::size_t count = 10000;
    const sycl::usm::alloc kinds[] = {sycl::usm::alloc::host, sycl::usm::alloc::device, sycl::usm::alloc::shared};
    for (auto from : kinds) {
        check::memory<int> source(count, queue, from);
        check::that(sycl::get_pointer_type(source.data, context) == from, "a pointer is not of the kind it was made as");
        check::that(sycl::get_pointer_type(source.data + count / 2, context) == from, "the middle is of another kind");
        if (from != sycl::usm::alloc::host) {
            check::that(sycl::get_pointer_device(source.data, context) == queue.get_device(), "a pointer is of another device");
        }
        for (auto to : kinds) {
            check::memory<int> target(count, queue, to);
            const auto values = check::numbers<int>(count, static_cast<int>(from) * 100);
            std::vector<int> back(count, -1);
            queue.memcpy(source.data, values.data(), count * sizeof(int));
            queue.memcpy(target.data, source.data, count * sizeof(int));
            queue.memcpy(back.data(), target.data, count * sizeof(int)).wait();
            check::each(back.data(), count, [&](std::size_t i) { return values[i]; }, "the copy");
        }
    }
    int on_stack = 0;
    check::that(sycl::get_pointer_type(&on_stack, context) == sycl::usm::alloc::unknown, "a stack variable is USM");
    check::memory<int> shared(count, queue, sycl::usm::alloc::shared);
    queue.fill(shared.data, 5, count).wait();
    shared[3] = 6;
    check::same(shared[2] + shared[3], 11, "shared memory on the host");
}
