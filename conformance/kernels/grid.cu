// What needs all blocks of a launch at once.
#include "device.h"

// Every block adds its number to the sum, waits until all have, and writes what it then sees: the whole sum, in every
// block, only if all of them run at once. `state` holds the sum and the number of blocks that have arrived, both 0.
SIM_KERNEL void grid_sum(unsigned *state, unsigned *out) {
    if (TID(x) == 0) {
        add_atomic(state, CTAID(x) + 1);
        fence();
        add_atomic(state + 1, 1u);
        volatile unsigned *arrived = state + 1;
        while (*arrived < NCTAID(x)) {
        }
        fence();
    }
    barrier();
    if (TID(x) == 0) out[CTAID(x)] = *static_cast<volatile unsigned *>(state);
}
