// The sum of an array in one launch, for sums.py: each work-group adds a part of it, and the last one that is done adds their sums.
// conformance/kernels/regenerate.sh makes the PTX.
//
// Memory is the bound, so each thread has four loads of 16 bytes in flight. The order of additions depends on the number of elements
// and of groups alone, so equal arrays have equal sums. What a group shares is volatile: clang 14 moves loads of it over barriers else,
// since nobody outside knows its address. `arrived` is 0 before and behind each launch; two at one time need two.

typedef unsigned long long uint64;

#define DEVICE __attribute__((device)) static inline
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))

enum { THREADS = 512, WARP = 32, WARPS = THREADS / WARP };

typedef float float4 __attribute__((ext_vector_type(4)));
typedef double double2 __attribute__((ext_vector_type(2)));

DEVICE float lanes(float4 v) { return (v.x + v.y) + (v.z + v.w); }
DEVICE double lanes(double2 v) { return v.x + v.y; }

DEVICE float down(float value, int by) { return __nvvm_shfl_sync_down_f32(~0u, value, by, WARP - 1); }

DEVICE double down(double value, int by) {
    union { double value; int half[2]; } bits = {value};
    bits.half[0] = __nvvm_shfl_sync_down_i32(~0u, bits.half[0], by, WARP - 1);
    bits.half[1] = __nvvm_shfl_sync_down_i32(~0u, bits.half[1], by, WARP - 1);
    return bits.value;
}

// The sum over the group, for its first thread.
template <typename T> DEVICE T over_group(T value) {
    SHARED static volatile T of_warp[WARPS];
    const unsigned thread = __nvvm_read_ptx_sreg_tid_x();
    for (int by = WARP / 2; by > 0; by /= 2) value += down(value, by);
    __syncthreads();
    if (thread % WARP == 0) of_warp[thread / WARP] = value;
    __syncthreads();
    value = thread < WARPS ? of_warp[thread] : T(0);
    for (int by = WARPS / 2; by > 0; by /= 2) value += down(value, by);
    return value;
}

template <typename T, typename V> DEVICE void sum(const T *array, uint64 count, T *result, volatile T *sums, unsigned *arrived) {
    const uint64 each = sizeof(V) / sizeof(T);
    const unsigned thread = __nvvm_read_ptx_sreg_tid_x(), group = __nvvm_read_ptx_sreg_ctaid_x();
    const unsigned groups = __nvvm_read_ptx_sreg_nctaid_x();
    // Elements in front of the first whole 16 bytes.
    uint64 head = (sizeof(V) - (uint64)array % sizeof(V)) % sizeof(V) / sizeof(T);
    if (head > count) head = count;
    const V *vectors = (const V *)(array + head);
    const uint64 vector_count = (count - head) / each, step = (uint64)groups * THREADS;
    V part[4] = {V(0), V(0), V(0), V(0)};
    uint64 at = (uint64)group * THREADS + thread;
    for (; at + 3 * step < vector_count; at += 4 * step) {
        const V a = vectors[at], b = vectors[at + step], c = vectors[at + 2 * step], d = vectors[at + 3 * step];
        part[0] += a, part[1] += b, part[2] += c, part[3] += d;
    }
    for (; at < vector_count; at += step) part[0] += vectors[at];
    T value = lanes((part[0] + part[1]) + (part[2] + part[3]));
    if (group == 0) {
        const uint64 behind = head + vector_count * each;
        if (thread < head) value += array[thread];
        if (behind + thread < count) value += array[behind + thread];
    }
    value = over_group(value);

    SHARED static volatile bool is_last;
    if (thread == 0) {
        sums[group] = value;
        __nvvm_membar_gl();
        is_last = __nvvm_atom_add_gen_i((int *)arrived, 1) == (int)groups - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __nvvm_membar_gl();
    value = 0;
    for (unsigned other = thread; other < groups; other += THREADS) value += sums[other];
    value = over_group(value);
    if (thread == 0) {
        *result = value;
        *arrived = 0;
    }
}

KERNEL void sum_f32(const float *array, uint64 count, float *result, float *sums, unsigned *arrived) {
    sum<float, float4>(array, count, result, sums, arrived);
}

KERNEL void sum_f64(const double *array, uint64 count, double *result, double *sums, unsigned *arrived) {
    sum<double, double2>(array, count, result, sums, arrived);
}
