// Copies of rectangles with different pitches. Fills of rectangles are kernels of SYCL's own headers, which this program, compiled
// without device code, has none of (docs/decisions.md, `USM_FILL2D_SUPPORT`).
#include "check.hpp"

PROGRAM("copy_2d") {
    sycl::queue queue{sycl::property::queue::in_order()};
    constexpr std::size_t width = 100, height = 30, pitch = 128;
    check::memory<unsigned char> device(pitch * height, queue, sycl::usm::alloc::device);
    const auto values = [] {
        std::vector<unsigned char> filled(width * height);
        for (std::size_t i = 0; i < filled.size(); i++) {
            filled[i] = static_cast<unsigned char>(i * 31);
        }
        return filled;
    }();
    std::vector<unsigned char> back(width * height, 0), whole(pitch * height);
    queue.memset(device.data, 0xee, pitch * height);
    queue.ext_oneapi_memcpy2d(device.data, pitch, values.data(), width, width, height);
    queue.ext_oneapi_memcpy2d(back.data(), width, device.data, pitch, width, height);
    queue.memcpy(whole.data(), device.data, whole.size()).wait();
    check::each(back.data(), back.size(), [&](std::size_t i) { return values[i]; }, "the rectangle");
    check::each(whole.data(), whole.size(),
                [&](std::size_t i) { return i % pitch < width ? values[i / pitch * width + i % pitch] : 0xee; }, "the memory");
}
