// Copies of rectangles with different pitches; fills of rectangles are kernels of SYCL's own headers.
#include "check.hpp"

#include <string>

// This program is compiled without device code, so the headers' kernel is missing, and the runtime has to say so. Over a context
// that claims native fills it passes elements for bytes instead, and writes elsewhere than it was asked to.
template <typename Fill> void check_that_the_kernel_is_wanted(const Fill &fill) {
    try {
        fill();
    } catch (const sycl::exception &error) {
        check::that(std::string(error.what()).find("ernel") != std::string::npos, error.what());
        return;
    }
    check::that(false, "the fill was the runtime's own");
}

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
    check_that_the_kernel_is_wanted([&] { queue.ext_oneapi_memset2d(device.data, pitch, 1, width, height); });
    check_that_the_kernel_is_wanted([&] {
        queue.ext_oneapi_fill2d(reinterpret_cast<int *>(device.data), pitch / sizeof(int), 2, width / sizeof(int), height);
    });
    std::vector<unsigned char> unchanged(whole.size());
    queue.memcpy(unchanged.data(), device.data, whole.size()).wait();
    check::each(unchanged.data(), unchanged.size(), [&](std::size_t i) { return whole[i]; }, "the memory after refused fills");
}
