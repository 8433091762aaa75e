// Read-modify-write on global and shared memory, across blocks.
#include "device.h"

SIM_KERNEL void histogram(const unsigned *in, unsigned *bins, unsigned n) {
    SIM_SHARED unsigned local[64];
    unsigned t = TID(x);
    for (unsigned k = t; k < 64; k += NTID(x)) local[k] = 0;
    barrier();
    unsigned i = global_x();
    if (i < n) add_atomic(&local[in[i] & 63], 1u);
    barrier();
    for (unsigned k = t; k < 64; k += NTID(x)) add_atomic(&bins[k], local[k]);
}

// out: sum, min, max, and, or, xor, inc (wraps at 99), dec (wraps at 99), exchange, swapped
SIM_KERNEL void integer_atomics(unsigned *out) {
    unsigned i = global_x();
    add_atomic(&out[0], i);
    min_atomic(reinterpret_cast<int *>(&out[1]), static_cast<int>(i) - 10);
    max_atomic(reinterpret_cast<int *>(&out[2]), static_cast<int>(i));
    and_atomic(&out[3], ~(1u << (i & 31)) | 0x0f0f0f0fu);
    or_atomic(&out[4], 1u << (i & 31));
    xor_atomic(&out[5], i * 2654435761u);
    inc_atomic(&out[6], 99);
    dec_atomic(&out[7], 99);
    exch_atomic(&out[8], 4711);
    if (cas_atomic(&out[9], 0, 1) == 0) add_atomic(&out[10], 1u);
}

SIM_KERNEL void float_atomics(float *single_sum, double *double_sum, unsigned long long *wide_sum) {
    add_atomic(single_sum, 1.0f);
    add_atomic(double_sum, 0.5);
    add_atomic(wide_sum, 0x100000001ull);
}

// A lock taken by every thread in turn, lanes of one warp against each other too.
SIM_KERNEL void spin_lock(unsigned *lock, volatile unsigned *guarded) {
    bool done = false;
    while (!done) {
        if (cas_atomic(lock, 0, 1) == 0) {
            fence();
            *guarded = *guarded + 1;
            fence();
            exch_atomic(lock, 0);
            done = true;
        }
    }
}

// Blocks count themselves in; the last one reports how many there were.
SIM_KERNEL void last_block(unsigned *arrived, unsigned *out) {
    barrier();
    if (TID(x) == 0) {
        fence();
        unsigned before = add_atomic(arrived, 1u);
        if (before == NCTAID(x) - 1) *out = before + 1;
    }
}
