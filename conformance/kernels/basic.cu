// What a conformance suite launches: ids, fills, copies, arguments of every size, shared memory, faults.
#include "device.h"

SIM_GLOBAL unsigned counter = 7;
SIM_GLOBAL unsigned table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
SIM_CONSTANT float scale = 2.5f;

SIM_KERNEL void empty() {}

SIM_KERNEL void fill(unsigned *out, unsigned value, unsigned n) {
    unsigned i = global_x();
    if (i < n) out[i] = value;
}

SIM_KERNEL void fill_with_offset(unsigned *out, unsigned value, unsigned n, Offset offset) {
    unsigned i = global_x() + offset.at[0];
    if (i < n) out[i] = value;
}

SIM_KERNEL void iota(unsigned *out, unsigned n) {
    unsigned i = global_x();
    if (i < n) out[i] = i;
}

SIM_KERNEL void copy(unsigned *out, const unsigned *in, unsigned n) {
    unsigned i = global_x();
    if (i < n) out[i] = in[i];
}

SIM_KERNEL void add_constant(unsigned *data, unsigned value, unsigned n) {
    unsigned i = global_x();
    if (i < n) data[i] += value;
}

SIM_KERNEL void add_constant_with_offset(unsigned *data, unsigned value, unsigned n, Offset offset) {
    unsigned i = global_x() + offset.at[0];
    if (i < n) data[i] += value;
}

SIM_KERNEL void add_bytes(uint8_t *data, uint8_t value, unsigned n) {
    unsigned i = global_x();
    if (i < n) data[i] = static_cast<uint8_t>(data[i] + value);
}

// Each thread writes x + 1000 * y + 1000000 * z, of its global id, at its linear global id.
SIM_KERNEL void ids(unsigned *out) {
    unsigned x = global_x(), y = global_y(), z = global_z();
    unsigned width = NCTAID(x) * NTID(x), height = NCTAID(y) * NTID(y);
    out[(z * height + y) * width + x] = x + 1000 * y + 1000000 * z;
}

SIM_KERNEL void ids_with_offset(unsigned *out, Offset offset) {
    unsigned x = global_x(), y = global_y(), z = global_z();
    unsigned width = NCTAID(x) * NTID(x), height = NCTAID(y) * NTID(y);
    out[(z * height + y) * width + x] =
        x + offset.at[0] + 1000 * (y + offset.at[1]) + 1000000 * (z + offset.at[2]);
}

// Thread and block shape as each thread sees it: 12 numbers a block, written by its last thread.
SIM_KERNEL void shape(unsigned *out) {
    if (TID(x) != NTID(x) - 1 || TID(y) != NTID(y) - 1 || TID(z) != NTID(z) - 1) return;
    unsigned *to = out + 12 * ((CTAID(z) * NCTAID(y) + CTAID(y)) * NCTAID(x) + CTAID(x));
    to[0] = TID(x), to[1] = TID(y), to[2] = TID(z);
    to[3] = NTID(x), to[4] = NTID(y), to[5] = NTID(z);
    to[6] = CTAID(x), to[7] = CTAID(y), to[8] = CTAID(z);
    to[9] = NCTAID(x), to[10] = NCTAID(y), to[11] = NCTAID(z);
}

struct Large {
    unsigned words[1024];
};

// A by-value parameter of 4 KiB less the pointer: the most a kernel takes on every architecture is 4352 bytes.
SIM_KERNEL void large_argument(Large values, unsigned *out) {
    unsigned i = global_x();
    if (i < 1024) out[i] = values.words[i];
}

struct Twelve {
    uint32_t a, b, c;
};
struct alignas(16) Sixteen {
    uint64_t a, b;
};

SIM_KERNEL void arguments(uint64_t *out, uint8_t one, uint16_t two, uint32_t four, uint64_t eight, Twelve twelve,
                          Sixteen sixteen) {
    if (global_x() != 0) return;
    out[0] = one;
    out[1] = two;
    out[2] = four;
    out[3] = eight;
    out[4] = twelve.a, out[5] = twelve.b, out[6] = twelve.c;
    out[7] = sixteen.a, out[8] = sixteen.b;
}

// Reverses each block's part of the data through static shared memory; blocks of at most 256 threads.
SIM_KERNEL void reverse_static(unsigned *data) {
    SIM_SHARED unsigned tile[256];
    unsigned t = TID(x), n = NTID(x), base = CTAID(x) * n;
    tile[t] = data[base + t];
    barrier();
    data[base + t] = tile[n - 1 - t];
}

#ifdef __NVCC__
extern __shared__ unsigned dynamic_tile[];
#else
extern SIM_SHARED unsigned dynamic_tile[];
#endif

// The same through dynamic shared memory.
SIM_KERNEL void reverse_dynamic(unsigned *data) {
    unsigned t = TID(x), n = NTID(x), base = CTAID(x) * n;
    dynamic_tile[t] = data[base + t];
    barrier();
    data[base + t] = dynamic_tile[n - 1 - t];
}

// One sum a block, by a tree in dynamic shared memory; the block's size is a power of two.
SIM_KERNEL void block_sum(const unsigned *in, unsigned *out, unsigned n) {
    unsigned t = TID(x), i = global_x();
    dynamic_tile[t] = i < n ? in[i] : 0;
    barrier();
    for (unsigned half = NTID(x) / 2; half > 0; half /= 2) {
        if (t < half) dynamic_tile[t] += dynamic_tile[t + half];
        barrier();
    }
    if (t == 0) out[CTAID(x)] = dynamic_tile[0];
}

// Two local arguments as SYCL and OpenCL runtimes pass them to CUDA: byte offsets into dynamic shared memory.
SIM_KERNEL void two_locals(unsigned first, unsigned second, unsigned *out) {
    char *base = reinterpret_cast<char *>(dynamic_tile);
    unsigned *a = reinterpret_cast<unsigned *>(base + first), *b = reinterpret_cast<unsigned *>(base + second);
    unsigned t = TID(x), n = NTID(x);
    a[t] = t;
    b[t] = 1000 + t;
    barrier();
    out[CTAID(x) * n + t] = a[n - 1 - t] * 10000 + b[n - 1 - t];
}

// Burns time: `iterations` dependent steps, then writes their result, which the host can compute too.
SIM_KERNEL void spin(unsigned *out, unsigned iterations, unsigned seed) {
    unsigned value = seed;
    for (unsigned i = 0; i < iterations; ++i) {
        value = value * 1664525u + 1013904223u;
#ifdef __NVCC__
        asm volatile("" : "+r"(value));
#else
        asm volatile("" : "+r"(value));
#endif
    }
    if (global_x() == 0) *out = value;
}

// Waits until the host, or another stream, writes a value other than `while_equal`, then reports it.
SIM_KERNEL void wait_for_change(volatile unsigned *flag, unsigned while_equal, unsigned *out) {
    unsigned seen;
    do seen = *flag;
    while (seen == while_equal);
    *out = seen;
}

SIM_KERNEL void trap_if(unsigned condition) {
    if (condition) trap();
}

// Writes one word `bytes` after the pointer.
SIM_KERNEL void write_at(unsigned *out, uint64_t bytes, unsigned value) {
    *reinterpret_cast<unsigned *>(reinterpret_cast<char *>(out) + bytes) = value;
}

SIM_KERNEL void read_at(const unsigned *in, uint64_t bytes, unsigned *out) {
    *out = *reinterpret_cast<const unsigned *>(reinterpret_cast<const char *>(in) + bytes);
}

// Module variables: reads the table and the constant, counts in the counter.
SIM_KERNEL void module_variables(unsigned *out, float *scaled) {
    unsigned i = TID(x);
    if (i < 8) out[i] = table[i];
    if (i == 0) {
        *scaled = scale;
        counter += 1;
        out[8] = counter;
    }
}

// A local array indexed at run time: true local memory.
SIM_KERNEL void local_array(unsigned *out, unsigned step) {
    unsigned values[16];
    unsigned i = global_x();
    for (unsigned k = 0; k < 16; ++k) values[(k * step) & 15] = k + i;
    out[i] = values[(i * step) & 15];
}
