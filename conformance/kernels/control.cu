// Loops, divergence, switches, calls.
#include "device.h"

SIM_DEVICE SIM_NOINLINE unsigned mix(unsigned a, unsigned b) {
    unsigned r = a * 31 + b;
    if (r & 1) r ^= 0x55555555u;
    return r;
}

struct Pair {
    unsigned first;
    double second;
};

SIM_DEVICE SIM_NOINLINE Pair pair_of(unsigned a) {
    Pair p;
    p.first = a + 1;
    p.second = a * 0.5;
    return p;
}

SIM_DEVICE SIM_NOINLINE void store_through(unsigned *to, unsigned value) { *to = value; }

// Steps of the Collatz sequence: every thread loops a different number of times.
SIM_KERNEL void collatz(unsigned *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    unsigned steps = 0;
    for (uint64_t v = i + 1; v != 1; ++steps) v = (v & 1) ? 3 * v + 1 : v / 2;
    out[i] = steps;
}

SIM_KERNEL void nested_divergence(unsigned *out) {
    unsigned i = global_x(), r = 0;
    for (unsigned k = 0; k < (i & 7); ++k) {
        if ((i ^ k) & 1) {
            for (unsigned j = 0; j < k; ++j) r += j * i;
        } else if (k & 2) {
            r += 100;
            continue;
        } else {
            r ^= k;
        }
        if (r > 5000) break;
    }
    out[i] = r;
}

SIM_KERNEL void switch_case(unsigned *out) {
    unsigned i = global_x(), r;
    switch (i % 11) {
    case 0: r = 17; break;
    case 1: r = i * 3; break;
    case 2: r = i ^ 0xff; break;
    case 3: r = i << 3; break;
    case 4: r = 5; break;
    case 5: r = ~i; break;
    case 6: r = i / 3; break;
    case 7: r = i % 5; break;
    default: r = 1;
    }
    out[i] = r;
}

SIM_KERNEL void calls(unsigned *out, double *halves) {
    unsigned i = global_x();
    unsigned r = mix(i, 3);
    if (i & 1) r = mix(r, i);
    Pair p = pair_of(r & 0xffff);
    unsigned slot;
    store_through(&slot, p.first);
    out[i] = slot;
    halves[i] = p.second;
}

typedef unsigned (*Operation)(unsigned, unsigned);
SIM_DEVICE SIM_NOINLINE unsigned plus(unsigned a, unsigned b) { return a + b; }
SIM_DEVICE SIM_NOINLINE unsigned times(unsigned a, unsigned b) { return a * b; }

// Calls through function pointers that differ between lanes.
SIM_KERNEL void indirect_calls(unsigned *out) {
    unsigned i = global_x();
    Operation op = i % 3 == 0 ? plus : i % 3 == 1 ? times : mix;
    out[i] = op(i, 7);
}

// Some threads leave before the barrier; the others must not wait for them.
SIM_KERNEL void early_exit(unsigned *out) {
    unsigned t = TID(x);
    if (t >= NTID(x) / 2) return;
    barrier();
    out[t] = t + 1;
}
