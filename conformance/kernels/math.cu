// Arithmetic and conversions whose results are exact by definition, so that a host can compute them bit for bit.
#include "device.h"

SIM_KERNEL void integers(const int *a, const int *b, int64_t *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    int x = a[i], y = b[i];
    unsigned ux = x, uy = y;
    int64_t *to = out + 16 * i;
    to[0] = x + y;
    to[1] = static_cast<int>(ux * uy);
    to[2] = y == 0 ? 0 : static_cast<int64_t>(ux / uy);
    to[3] = y == 0 || (x == (-2147483647 - 1) && y == -1) ? 0 : x / y;
    to[4] = y == 0 || (x == (-2147483647 - 1) && y == -1) ? 0 : x % y;
    to[5] = high_product(ux, uy);
    to[6] = static_cast<int64_t>(x) * y;
    to[7] = x >> (y & 31);
    to[8] = ux >> (y & 31);
    to[9] = static_cast<int>(ux << (y & 31));
    to[10] = x < y ? x : y;
    to[11] = ux > uy ? ux : uy;
    to[12] = __builtin_popcount(ux);
    to[13] = ux == 0 ? 32 : __builtin_clz(ux);
    to[14] = (x & y) | (~x ^ y);
    to[15] = static_cast<int64_t>(ux) * uy / 7 + x % 1000;
}

SIM_KERNEL void floats(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    float x = a[i], y = b[i];
    float *to = out + 8 * i;
    to[0] = x + y;
    to[1] = x - y;
    to[2] = x * y + 0.0f;
    to[3] = x / y;
    to[4] = fused(x, y, 1.0f);
    to[5] = square_root(x < 0 ? -x : x);
    to[6] = x < y ? x : y;
    to[7] = -x;
}

SIM_KERNEL void doubles(const double *a, const double *b, double *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    double x = a[i], y = b[i];
    double *to = out + 6 * i;
    to[0] = x + y;
    to[1] = x - y;
    to[2] = x * y;
    to[3] = x / y;
    to[4] = square_root(x < 0 ? -x : x);
    to[5] = x < y ? y : x;
}

SIM_KERNEL void conversions(const float *a, const double *b, int64_t *out, unsigned n) {
    unsigned i = global_x();
    if (i >= n) return;
    int64_t *to = out + 8 * i;
    to[0] = static_cast<int>(a[i]);
    to[1] = static_cast<unsigned>(a[i]);
    to[2] = static_cast<int64_t>(b[i]);
    to[3] = static_cast<int8_t>(static_cast<int>(a[i]));
    to[4] = static_cast<int64_t>(static_cast<float>(b[i]));
    to[5] = static_cast<int64_t>(static_cast<double>(a[i]) * 3.0);
    to[6] = static_cast<int64_t>(static_cast<float>(static_cast<int>(i) - 5));
    to[7] = static_cast<uint16_t>(static_cast<int>(a[i]));
}
