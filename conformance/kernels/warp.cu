// Shuffles and votes among the 32 lanes of a warp.
#include "device.h"

SIM_KERNEL void shuffles(int *out) {
    int i = static_cast<int>(global_x()), lane = i & 31;
    int *to = out + 4 * i;
    to[0] = shuffle_down(i, 3);
    to[1] = shuffle_up(i, 5);
    to[2] = shuffle_xor(i, 9);
    to[3] = shuffle_index(i, (lane * 7) & 31);
}

SIM_KERNEL void warp_sum(const int *in, int *out) {
    unsigned i = global_x();
    int v = in[i];
    for (int by = 16; by > 0; by /= 2) v += shuffle_down(v, by);
    if ((i & 31) == 0) out[i / 32] = v;
}

SIM_KERNEL void votes(const int *in, unsigned *out) {
    unsigned i = global_x();
    bool p = in[i] > 0;
    unsigned *to = out + 4 * i;
    to[0] = vote_ballot(p);
    to[1] = vote_any(p);
    to[2] = vote_all(p);
    unsigned diverged = 0;
    if (p) diverged = active_mask();
    warp_barrier();
    to[3] = diverged;
}
