// A library that was compiled for spir64 alone, as SYCL compilers do unless told otherwise: its kernel travels as SPIR-V, and libsycl offers
// that to no CUDA device. With libur_sycl_images.so before libsycl (LD_PRELOAD here) it does. The descriptor is what such a compiler
// writes; the module is images/add.spvasm.
#include "check.hpp"

namespace {

struct image {
    std::uint16_t version;
    std::uint8_t kind, format;
    const char *target, *compile_options, *link_options;
    const void *bytes[2];
    const struct entry *entries[2];
    const void *properties[2];
};

struct entry {
    const void *address;
    const char *name;
    std::size_t size;
    std::uint64_t flags;
};

struct binaries {
    std::uint16_t version, count;
    const image *images;
    const void *host[2];
};

// clang-format off
const std::uint32_t module[] = {
    0x7230203, 0x10400, 0x70000, 0x16, 0x0, 0x20011, 0x4, 0x20011, 0x6, 0x20011,
    0xb, 0x20011, 0x5, 0x3000e, 0x2, 0x2, 0x7000f, 0x6, 0x1, 0x72697073,
    0x615f3436, 0x6464, 0x2, 0x30010, 0x1, 0x1f, 0x40047, 0x2, 0xb, 0x1c,
    0x30047, 0x2, 0x16, 0x40015, 0x3, 0x40, 0x0, 0x30016, 0x4, 0x20,
    0x20013, 0x5, 0x40017, 0x6, 0x3, 0x3, 0x40020, 0x7, 0x1, 0x6,
    0x40020, 0x8, 0x5, 0x4, 0x60021, 0x9, 0x5, 0x8, 0x8, 0x8,
    0x4003b, 0x7, 0x2, 0x1, 0x50036, 0x5, 0x1, 0x0, 0x9, 0x30037,
    0x8, 0xa, 0x30037, 0x8, 0xb, 0x30037, 0x8, 0xc, 0x200f8, 0xd,
    0x6003d, 0x6, 0xe, 0x2, 0x2, 0x20, 0x50051, 0x3, 0xf, 0xe,
    0x0, 0x50046, 0x8, 0x10, 0xa, 0xf, 0x50046, 0x8, 0x11, 0xb,
    0xf, 0x50046, 0x8, 0x12, 0xc, 0xf, 0x6003d, 0x4, 0x13, 0x10,
    0x2, 0x4, 0x6003d, 0x4, 0x14, 0x11, 0x2, 0x4, 0x50081, 0x4,
    0x15, 0x13, 0x14, 0x5003e, 0x12, 0x15, 0x2, 0x4, 0x100fd, 0x10038,
};
// clang-format on

const entry entries[] = {{nullptr, "spir64_add", 0, 0}};
const image images[] = {
    {3, 4, 0, "spir64", "", "", {std::begin(module), std::end(module)}, {std::begin(entries), std::end(entries)}, {}}};
const binaries library = {1, 1, images, {}};

} // namespace

extern "C" void __sycl_register_lib(const void *);
extern "C" void __sycl_unregister_lib(const void *);

__attribute__((constructor)) static void load() { __sycl_register_lib(&library); }
__attribute__((destructor)) static void unload() { __sycl_unregister_lib(&library); }

PROGRAM("spir64_image") {
    constexpr std::size_t count = 1 << 12;
    sycl::queue queue{sycl::property::queue::in_order()};
    std::vector<sycl::kernel_id> named;
    for (const sycl::kernel_id &id : sycl::get_kernel_ids()) {
        if (std::string(id.get_name()) == "spir64_add") {
            named.push_back(id);
        }
    }
    check::same(named.size(), std::size_t{1}, "kernels of the library");
    const auto bundle = sycl::get_kernel_bundle<sycl::bundle_state::executable>(queue.get_context(), named);
    const sycl::kernel kernel = bundle.get_kernel(named.front());
    check::memory<float> a(count, queue, sycl::usm::alloc::device);
    check::memory<float> b(count, queue, sycl::usm::alloc::shared);
    check::memory<float> sum(count, queue, sycl::usm::alloc::host);
    const auto first = check::numbers<float>(count);
    queue.memcpy(a.data, first.data(), count * sizeof(float));
    queue.fill(b.data, 0.5f, count);
    queue.submit([&](sycl::handler &handler) {
        handler.set_args(a.data, b.data, sum.data);
        handler.parallel_for(sycl::range<1>(count), kernel);
    });
    queue.wait_and_throw();
    check::each(sum.data, count, [](std::size_t i) { return static_cast<float>(i) + 0.5f; }, "sum");
}
