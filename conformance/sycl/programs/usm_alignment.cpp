// Allocations keep the alignment that was asked for.
#include "check.hpp"

PROGRAM("usm_alignment") {
    sycl::queue queue{sycl::property::queue::in_order()};
    for (std::size_t alignment = 1; alignment <= 512; alignment *= 2) {
        void *pointers[] = {sycl::aligned_alloc_device(alignment, 1000, queue), sycl::aligned_alloc_host(alignment, 1000, queue),
                            sycl::aligned_alloc_shared(alignment, 1000, queue)};
        for (void *pointer : pointers) {
            check::that(pointer != nullptr, "no memory aligned to " + std::to_string(alignment));
            check::same(reinterpret_cast<std::uintptr_t>(pointer) % alignment, 0u, "the remainder of the address");
            queue.memset(pointer, 1, 1000).wait();
            sycl::free(pointer, queue);
        }
    }
    check::that(sycl::aligned_alloc_device(48, 1000, queue) == nullptr, "an alignment of 48 was accepted");
}
