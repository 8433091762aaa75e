// One half of a program in two files: a kernel that calls a function of the other half (link_callee.cu).
#include "device.h"

extern "C" SIM_DEVICE unsigned far_away(unsigned value);

SIM_KERNEL void call_far_away(unsigned *out, unsigned n) {
    unsigned i = global_x();
    if (i < n) out[i] = far_away(i);
}
