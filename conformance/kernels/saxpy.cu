// The demonstration kernel, alone and with a global offset.
#include "device.h"

SIM_KERNEL void saxpy(float a, const float *x, float *y, unsigned n) {
    unsigned i = global_x();
    if (i < n) y[i] = a * x[i] + y[i];
}

SIM_KERNEL void saxpy_with_offset(float a, const float *x, float *y, unsigned n, Offset offset) {
    unsigned i = global_x() + offset.at[0];
    if (i < n) y[i] = a * x[i] + y[i];
}
