// Fills with patterns of every size that a pattern can have, memset, and hints that may be ignored but not refused.
#include "check.hpp"

template <std::size_t bytes> struct pattern {
    unsigned char byte[bytes];
};

template <std::size_t bytes> void fill(sycl::queue &queue) {
    constexpr std::size_t count = 1000;
    pattern<bytes> value;
    for (std::size_t i = 0; i < bytes; i++) {
        value.byte[i] = static_cast<unsigned char>(7 * i + 1);
    }
    check::memory<pattern<bytes>> memory(count, queue, sycl::usm::alloc::device);
    std::vector<unsigned char> back(count * bytes);
    queue.fill(memory.data, value, count);
    queue.memcpy(back.data(), memory.data, back.size()).wait();
    check::each(back.data(), back.size(), [&](std::size_t i) { return value.byte[i % bytes]; },
                "a pattern of " + std::to_string(bytes) + " bytes");
}

PROGRAM("fill") {
    sycl::queue queue{sycl::property::queue::in_order()};
    fill<1>(queue);
    fill<2>(queue);
    fill<4>(queue);
    fill<8>(queue);
    fill<16>(queue);
    fill<3>(queue);
    fill<12>(queue);
    fill<64>(queue);

    constexpr std::size_t count = 4096;
    check::memory<unsigned char> shared(count, queue, sycl::usm::alloc::shared);
    queue.memset(shared.data, 0xab, count);
    queue.prefetch(shared.data, count);
    queue.mem_advise(shared.data, count, 0);
    queue.wait_and_throw();
    check::each(shared.data, count, [](std::size_t) { return 0xab; }, "memset");
}
