// Images in arrays as kernels reach them: a layer and a place in it. The instructions are those that CUDA's
// surf*Layered* and tex*Layered functions compile to.
#include "device.h"

struct Four {
    uint32_t x, y, z, w;
};
// A place in a layer; the layer is what z is rounded down to.
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

// ---- surfaces; sizes and places of lines are given as the ABI has them: the second number is the layer ----

SIM_KERNEL void read_1d_array(uint64_t image, Four *out, int width, int layers) {
    int x = global_x(), layer = global_y();
    Four v;
    LOAD4("a1d", "clamp", "{%5, %6}", "r"(layer), "r"(x * 16));
    if (x < width && layer < layers) out[layer * width + x] = v;
}

SIM_KERNEL void read_2d_array(uint64_t image, Four *out, int width, int height, int layers) {
    int x = global_x(), y = global_y(), layer = global_z();
    Four v;
    LOAD4("a2d", "clamp", "{%5, %6, %7, %7}", "r"(layer), "r"(x * 16), "r"(y));
    if (x < width && y < height && layer < layers) out[(layer * height + y) * width + x] = v;
}

SIM_DEVICE inline Four value_at(unsigned seed, unsigned x, unsigned y, unsigned z) {
    Four v = {seed + x, seed + 100 * y, seed + 10000 * z, ~seed};
    return v;
}

SIM_KERNEL void write_1d_array(uint64_t image, unsigned seed, int width, int layers) {
    int x = global_x(), layer = global_y();
    Four v = value_at(seed, x, layer, 0);
    if (x < width && layer < layers) STORE4("a1d", "trap", "{%5, %6}", "r"(layer), "r"(x * 16));
}

SIM_KERNEL void write_2d_array(uint64_t image, unsigned seed, int width, int height, int layers) {
    int x = global_x(), y = global_y(), layer = global_z();
    Four v = value_at(seed, x, y, layer);
    if (x < width && y < height && layer < layers)
        STORE4("a2d", "trap", "{%5, %6, %7, %7}", "r"(layer), "r"(x * 16), "r"(y));
}

// Reads left of the first line and right of it, in the last layer. A store outside with .zero changes nothing.
SIM_KERNEL void edges_1d_array(uint64_t image, unsigned *out, int width, int layers) {
    const int xs[2] = {-1, width};
    for (int k = 0; k < 2; ++k) {
        unsigned v;
        asm volatile("suld.b.a1d.b32.clamp {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(image), "r"(layers - 1), "r"(xs[k] * 4));
        out[2 * k] = v;
        asm volatile("suld.b.a1d.b32.zero {%0}, [%1, {%2, %3}];" : "=r"(v) : "l"(image), "r"(layers - 1), "r"(xs[k] * 4));
        out[2 * k + 1] = v;
        asm volatile("sust.b.a1d.b32.zero [%1, {%2, %3}], {%0};" ::"r"(~0u), "l"(image), "r"(layers - 1), "r"(xs[k] * 4));
    }
}

// ---- textures ----

SIM_KERNEL void sample_1d_array(uint64_t image, uint64_t texture, const Point *at, Color *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Color c;
    asm volatile("tex.a1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(texture), "r"((unsigned)at[i].z), "f"(at[i].x));
    out[i] = c;
}

SIM_KERNEL void sample_2d_array(uint64_t image, uint64_t texture, const Point *at, Color *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Color c;
    asm volatile("tex.a2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
                 : "=f"(c.x), "=f"(c.y), "=f"(c.z), "=f"(c.w)
                 : "l"(texture), "r"((unsigned)at[i].z), "f"(at[i].x), "f"(at[i].y));
    out[i] = c;
}

SIM_KERNEL void fetch_2d_array(uint64_t image, uint64_t texture, const int *at, Four *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    Four c;
    asm volatile("tex.a2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
                 : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                 : "l"(texture), "r"(at[3 * i + 2]), "r"(at[3 * i]), "r"(at[3 * i + 1]));
    out[i] = c;
}

// ---- extents ----

SIM_KERNEL void surface_array_extent(uint64_t image, unsigned *out) {
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(image));
    // The driver takes no module that asks a surface for its layers (docs/native-facts.md).
}
