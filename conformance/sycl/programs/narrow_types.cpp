// Numbers of 16 bits on the device: half and bfloat16 are converted, computed with and rounded as on the host, alone and in
// vectors.
#include "check.hpp"
#include <sycl/ext/oneapi/bfloat16.hpp>

static const char *const source = R"(
    using bfloat16 = sycl::ext::oneapi::bfloat16;
    KERNEL(syclex::nd_range_kernel<1>) convert(const float *in, float *half, float *brain, float *vectors) {
        const auto i = this_item::get_nd_item<1>().get_global_id(0);
        const sycl::half narrow = static_cast<sycl::half>(in[i]);
        half[i] = static_cast<float>(narrow * sycl::half(2.0f));
        const bfloat16 rough(in[i]);
        brain[i] = static_cast<float>(rough);
        const sycl::vec<float, 4> wide(in[i], in[i] + 1, in[i] + 2, in[i] + 3);
        const auto narrowed = wide.convert<sycl::half, sycl::rounding_mode::automatic>();
        vectors[i] = static_cast<float>(narrowed[0]) + static_cast<float>(narrowed[3]);
    }
)";

PROGRAM("narrow_types") {
    sycl::queue queue{sycl::property::queue::in_order()};
    if (!queue.get_device().has(sycl::aspect::fp16)) {
        throw check::skipped("the device has no half");
    }
    const auto kernel = check::kernel(queue, source, "convert");
    constexpr std::size_t count = 4096;
    check::memory<float> in(count, queue, sycl::usm::alloc::shared), half(count, queue, sycl::usm::alloc::shared),
        brain(count, queue, sycl::usm::alloc::shared), vectors(count, queue, sycl::usm::alloc::shared);
    for (std::size_t i = 0; i < count; i++) {
        in[i] = (static_cast<float>(i) - 2000.0f) * 0.37109375f + 1.0f / static_cast<float>(i + 1);
    }
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(in.data, half.data, brain.data, vectors.data);
        handler.parallel_for(sycl::nd_range<1>(count, 64), kernel);
    });
    queue.wait_and_throw();
    const auto as_half = [](float value) { return static_cast<float>(sycl::half(value)); };
    check::each(half.data, count, [&](std::size_t i) { return as_half(as_half(in[i]) * 2.0f); }, "half");
    check::each(brain.data, count, [&](std::size_t i) { return static_cast<float>(sycl::ext::oneapi::bfloat16(in[i])); }, "bfloat16");
    check::each(vectors.data, count, [&](std::size_t i) { return as_half(in[i]) + as_half(in[i] + 3); }, "vectors");
}
