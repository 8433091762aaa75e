// A library that was compiled for spir64 alone, whose kernel has a specialization constant. libsycl sets such constants in SPIR-V
// programs and in native images not at all, so a copy of the image for a CUDA device would compute with the default, whatever the
// program set. libur_sycl_images.so copies no such image: the kernel has none for the device, and the program is told so.
#include "check.hpp"

namespace {

struct image {
    std::uint16_t version;
    std::uint8_t kind, format;
    const char *target, *compile_options, *link_options;
    const void *bytes[2];
    const struct entry *entries[2];
    const struct set *sets[2];
};

struct entry {
    const void *address;
    const char *name;
    std::size_t size;
    std::uint64_t flags;
};

struct property {
    const char *name;
    const void *value;
    std::uint32_t type;
    std::uint64_t size;
};

struct set {
    const char *name;
    const property *properties[2];
};

struct binaries {
    std::uint16_t version, count;
    const image *images;
    const void *host[2];
};

// clang-format off
// As images/add.spvasm, but the second number is a constant: OpDecorate %22 SpecId 0, %22 = OpSpecConstant %float 2.
const std::uint32_t module[] = {
    0x7230203, 0x10400, 0x70000, 0x17, 0x0, 0x20011, 0x4, 0x20011, 0x6, 0x20011,
    0xb, 0x20011, 0x5, 0x3000e, 0x2, 0x2, 0x7000f, 0x6, 0x1, 0x72697073,
    0x635f3436, 0x7473, 0x2, 0x30010, 0x1, 0x1f, 0x40047, 0x2, 0xb, 0x1c,
    0x30047, 0x2, 0x16, 0x40047, 0x16, 0x1, 0x0, 0x40015, 0x3, 0x40,
    0x0, 0x30016, 0x4, 0x20, 0x40032, 0x4, 0x16, 0x40000000, 0x20013, 0x5,
    0x40017, 0x6, 0x3, 0x3, 0x40020, 0x7, 0x1, 0x6, 0x40020, 0x8,
    0x5, 0x4, 0x60021, 0x9, 0x5, 0x8, 0x8, 0x8, 0x4003b, 0x7,
    0x2, 0x1, 0x50036, 0x5, 0x1, 0x0, 0x9, 0x30037, 0x8, 0xa,
    0x30037, 0x8, 0xb, 0x30037, 0x8, 0xc, 0x200f8, 0xd, 0x6003d, 0x6,
    0xe, 0x2, 0x2, 0x20, 0x50051, 0x3, 0xf, 0xe, 0x0, 0x50046,
    0x8, 0x10, 0xa, 0xf, 0x50046, 0x8, 0x11, 0xb, 0xf, 0x50046,
    0x8, 0x12, 0xc, 0xf, 0x6003d, 0x4, 0x13, 0x10, 0x2, 0x4,
    0x6003d, 0x4, 0x14, 0x11, 0x2, 0x4, 0x50081, 0x4, 0x15, 0x13,
    0x16, 0x5003e, 0x12, 0x15, 0x2, 0x4, 0x100fd, 0x10038,
};
// clang-format on

// A byte array's length in bits, then for each constant its number, its offset in the values and its size; and the defaults.
const struct {
    std::uint64_t bits;
    std::uint32_t triple[3];
} described = {96, {0, 0, 4}};
const struct {
    std::uint64_t bits;
    float value;
} defaults = {32, 2.0f};

const property constants[] = {{"spir64_constant", &described, 2, 20}};
const property values[] = {{"all", &defaults, 2, 12}};
const set sets[] = {{"SYCL/specialization constants", {std::begin(constants), std::end(constants)}},
                    {"SYCL/specialization constants default values", {std::begin(values), std::end(values)}}};
const entry entries[] = {{nullptr, "spir64_cst", 0, 0}};
const image images[] = {{3, 4, 0, "spir64", "", "", {std::begin(module), std::end(module)},
                         {std::begin(entries), std::end(entries)}, {std::begin(sets), std::end(sets)}}};
const binaries library = {1, 1, images, {}};

} // namespace

extern "C" void __sycl_register_lib(const void *);
extern "C" void __sycl_unregister_lib(const void *);

__attribute__((constructor)) static void load() { __sycl_register_lib(&library); }
__attribute__((destructor)) static void unload() { __sycl_unregister_lib(&library); }

PROGRAM("spir64_constants") {
    sycl::queue queue;
    std::vector<sycl::kernel_id> named;
    for (const sycl::kernel_id &id : sycl::get_kernel_ids()) {
        if (std::string(id.get_name()) == "spir64_cst") {
            named.push_back(id);
        }
    }
    check::same(named.size(), std::size_t{1}, "kernels of the library");
    check::that(!sycl::is_compatible(named, queue.get_device()), "the device is said to run the kernel");
    const auto built = [&] { sycl::get_kernel_bundle<sycl::bundle_state::executable>(queue.get_context(), named); };
    check::same(check::code_of(built, "a bundle of the kernel"), make_error_code(sycl::errc::invalid), "its error");
}
