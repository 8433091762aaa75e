// Images as kernels reach them: surface objects by bytes, texture objects by coordinates. The instructions are those
// that CUDA's surf*, tex* functions and SYCL's image accessors compile to. A texture follows the image that it is of.
#include "device.h"

struct Four {
    uint32_t x, y, z, w;
};
struct Point {
    float x, y, z;
};
struct Color {
    float x, y, z, w;
};

#define LOAD4(dim, mode, coordinates, ...)                                                                            \
    asm volatile("suld.b." dim ".v4.b32." mode " {%0, %1, %2, %3}, [%4, " coordinates "];"                            \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                         \
                 : "l"(image), __VA_ARGS__)
#define STORE4(dim, mode, coordinates, ...)                                                                           \
    asm volatile("sust.b." dim ".v4.b32." mode " [%4, " coordinates "], {%0, %1, %2, %3};" ::"r"(v.x), "r"(v.y),      \
                 "r"(v.z), "r"(v.w), "l"(image), __VA_ARGS__                                                          \
                 : "memory")

// ---- four channels of 32 bits, as SYCL's accessors read and write them ----

SIM_KERNEL void read_1d(uint64_t image, Four *out, int width) {
    int x = global_x();
    Four v;
    LOAD4("1d", "clamp", "{%5}", "r"(x * 16));
    if (x < width) out[x] = v;
}

SIM_KERNEL void read_2d(uint64_t image, Four *out, int width, int height) {
    int x = global_x(), y = global_y();
    Four v;
    LOAD4("2d", "clamp", "{%5, %6}", "r"(x * 16), "r"(y));
    if (x < width && y < height) out[y * width + x] = v;
}

SIM_KERNEL void read_3d(uint64_t image, Four *out, int width, int height, int depth) {
    int x = global_x(), y = global_y(), z = global_z();
    Four v;
    LOAD4("3d", "clamp", "{%5, %6, %7, %7}", "r"(x * 16), "r"(y), "r"(z));
    if (x < width && y < height && z < depth) out[(z * height + y) * width + x] = v;
}

SIM_DEVICE inline Four value_at(unsigned seed, unsigned x, unsigned y, unsigned z) {
    Four v = {seed + x, seed + 100 * y, seed + 10000 * z, ~seed};
    return v;
}

SIM_KERNEL void write_1d(uint64_t image, unsigned seed, int width) {
    int x = global_x();
    Four v = value_at(seed, x, 0, 0);
    if (x < width) STORE4("1d", "trap", "{%5}", "r"(x * 16));
}

SIM_KERNEL void write_2d(uint64_t image, unsigned seed, int width, int height) {
    int x = global_x(), y = global_y();
    Four v = value_at(seed, x, y, 0);
    if (x < width && y < height) STORE4("2d", "trap", "{%5, %6}", "r"(x * 16), "r"(y));
}

SIM_KERNEL void write_3d(uint64_t image, unsigned seed, int width, int height, int depth) {
    int x = global_x(), y = global_y(), z = global_z();
    Four v = value_at(seed, x, y, z);
    if (x < width && y < height && z < depth) STORE4("3d", "trap", "{%5, %6, %7, %7}", "r"(x * 16), "r"(y), "r"(z));
}

// ---- one channel, and from one image to another ----

SIM_KERNEL void add_2d(uint64_t image, unsigned value, int width, int height) {
    int x = global_x(), y = global_y();
    if (x >= width || y >= height) return;
    unsigned v;
    asm volatile("suld.b.2d.b32.trap {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(image), "r"(x * 4), "r"(y));
    v += value;
    asm volatile("sust.b.2d.b32.trap [%1, {%2, %3}], {%0};" ::"r"(v), "l"(image), "r"(x * 4), "r"(y) : "memory");
}

SIM_KERNEL void copy_2d(uint64_t image, uint64_t from, int width, int height) {
    int x = global_x(), y = global_y();
    if (x >= width || y >= height) return;
    unsigned v;
    asm volatile("suld.b.2d.b32.trap {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(from), "r"(x * 4), "r"(y));
    asm volatile("sust.b.2d.b32.trap [%1, {%2, %3}], {%0};" ::"r"(v), "l"(image), "r"(x * 4), "r"(y) : "memory");
}

// Bytes, pairs of bytes, halves, pairs of words and 64-bit words, each written back one row below where it was read.
SIM_KERNEL void widths(uint64_t image, unsigned bytes) {
    unsigned at = global_x() * 8, row = 0;
    if (at >= bytes) return;
    for (unsigned k = 0; k < 8; ++k) {
        uint16_t v;
        asm volatile("suld.b.2d.b8.trap {%0}, [%1, {%2, %3}];" : "=h"(v) : "l"(image), "r"(at + k), "r"(row));
        asm volatile("sust.b.2d.b8.trap [%1, {%2, %3}], {%0};" ::"h"(v), "l"(image), "r"(at + k), "r"(row + 1));
    }
    for (unsigned k = 0; k < 8; k += 2) {
        uint16_t v, u;
        asm volatile("suld.b.2d.v2.b8.trap {%0, %1}, [%2, {%3, %4}];"
                     : "=h"(v), "=h"(u)
                     : "l"(image), "r"(at + k), "r"(row + 1));
        asm volatile("sust.b.2d.v2.b8.trap [%2, {%3, %4}], {%0, %1};" ::"h"(v), "h"(u), "l"(image), "r"(at + k),
                     "r"(row + 2));
    }
    for (unsigned k = 0; k < 8; k += 2) {
        uint16_t v;
        asm volatile("suld.b.2d.b16.trap {%0}, [%1, {%2, %3}];" : "=h"(v) : "l"(image), "r"(at + k), "r"(row + 2));
        asm volatile("sust.b.2d.b16.trap [%1, {%2, %3}], {%0};" ::"h"(v), "l"(image), "r"(at + k), "r"(row + 3));
    }
    unsigned a, b;
    asm volatile("suld.b.2d.v2.b32.trap {%0, %1}, [%2, {%3, %4}];"
                 : "=r"(a), "=r"(b)
                 : "l"(image), "r"(at), "r"(row + 3));
    asm volatile("sust.b.2d.v2.b32.trap [%2, {%3, %4}], {%0, %1};" ::"r"(a), "r"(b), "l"(image), "r"(at),
                 "r"(row + 4));
    uint64_t w;
    asm volatile("suld.b.2d.b64.trap {%0}, [%1, {%2, %3}];" : "=l"(w) : "l"(image), "r"(at), "r"(row + 4));
    asm volatile("sust.b.2d.b64.trap [%1, {%2, %3}], {%0};" ::"l"(w), "l"(image), "r"(at), "r"(row + 5));
}

// Reads outside: clamped and zero, below and above both axes. A store outside with .zero changes nothing.
SIM_KERNEL void edges(uint64_t image, unsigned *out, int width, int height) {
    const int xs[4] = {-1, width, 0, 0}, ys[4] = {0, 0, -1, height};
    for (int k = 0; k < 4; ++k) {
        unsigned v;
        asm volatile("suld.b.2d.b32.clamp {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(image), "r"(xs[k] * 4), "r"(ys[k]));
        out[2 * k] = v;
        asm volatile("suld.b.2d.b32.zero {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(image), "r"(xs[k] * 4), "r"(ys[k]));
        out[2 * k + 1] = v;
        asm volatile("sust.b.2d.b32.zero [%1, {%2, %3}], {%0};" ::"r"(~0u), "l"(image), "r"(xs[k] * 4), "r"(ys[k]));
    }
}

// ---- textures ----

SIM_KERNEL void sample_1d(uint64_t image, uint64_t texture, const Point *at, Color *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Color c;
    asm volatile("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(texture), "f"(at[i].x));
    out[i] = c;
}

SIM_KERNEL void sample_2d(uint64_t image, uint64_t texture, const Point *at, Color *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Color c;
    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(texture), "f"(at[i].x), "f"(at[i].y));
    out[i] = c;
}

SIM_KERNEL void sample_3d(uint64_t image, uint64_t texture, const Point *at, Color *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Color c;
    asm volatile("tex.3d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(texture), "f"(at[i].x), "f"(at[i].y), "f"(at[i].z));
    out[i] = c;
}

SIM_KERNEL void sample_signed(uint64_t image, uint64_t texture, const Point *at, Four *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Four c;
    asm volatile("tex.2d.v4.s32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                 : "l"(texture), "f"(at[i].x), "f"(at[i].y));
    out[i] = c;
}

SIM_KERNEL void fetch_unsigned(uint64_t image, uint64_t texture, const int *at, Four *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Four c;
    asm volatile("tex.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                 : "l"(texture), "r"(at[2 * i]), "r"(at[2 * i + 1]));
    out[i] = c;
}

// ---- extents and samplers ----

SIM_KERNEL void surface_extent(uint64_t image, unsigned *out) {
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(image));
    asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(image));
}

SIM_KERNEL void texture_extent(uint64_t image, uint64_t texture, unsigned *out) {
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(texture));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(texture));
    asm volatile("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(texture));
}

SIM_KERNEL void sampler_bits(unsigned *out, unsigned sampler) { out[0] = sampler; }
