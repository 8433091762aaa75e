// What the kernels need of a device compiler, for clang without a CUDA SDK and for nvcc alike.
#pragma once

#ifdef __NVCC__
#include <cstdint>
#define SIM_DEVICE __device__
#define SIM_KERNEL extern "C" __global__
#define SIM_SHARED __shared__
#define SIM_CONSTANT __constant__
#define SIM_GLOBAL __device__
#define SIM_NOINLINE __noinline__
#define TID(d) threadIdx.d
#define NTID(d) blockDim.d
#define CTAID(d) blockIdx.d
#define NCTAID(d) gridDim.d
SIM_DEVICE inline void barrier() { __syncthreads(); }
SIM_DEVICE inline void trap() { __trap(); }
SIM_DEVICE inline int shuffle_down(int v, int by) { return __shfl_down_sync(~0u, v, by); }
SIM_DEVICE inline int shuffle_up(int v, int by) { return __shfl_up_sync(~0u, v, by); }
SIM_DEVICE inline int shuffle_xor(int v, int by) { return __shfl_xor_sync(~0u, v, by); }
SIM_DEVICE inline int shuffle_index(int v, int from) { return __shfl_sync(~0u, v, from); }
SIM_DEVICE inline unsigned vote_ballot(bool p) { return __ballot_sync(~0u, p); }
SIM_DEVICE inline bool vote_any(bool p) { return __any_sync(~0u, p); }
SIM_DEVICE inline bool vote_all(bool p) { return __all_sync(~0u, p); }
SIM_DEVICE inline unsigned active_mask() { return __activemask(); }
SIM_DEVICE inline void warp_barrier() { __syncwarp(); }
SIM_DEVICE inline unsigned add_atomic(unsigned *p, unsigned v) { return atomicAdd(p, v); }
SIM_DEVICE inline float add_atomic(float *p, float v) { return atomicAdd(p, v); }
SIM_DEVICE inline double add_atomic(double *p, double v) { return atomicAdd(p, v); }
SIM_DEVICE inline unsigned long long add_atomic(unsigned long long *p, unsigned long long v) { return atomicAdd(p, v); }
SIM_DEVICE inline unsigned cas_atomic(unsigned *p, unsigned e, unsigned v) { return atomicCAS(p, e, v); }
SIM_DEVICE inline unsigned exch_atomic(unsigned *p, unsigned v) { return atomicExch(p, v); }
SIM_DEVICE inline unsigned inc_atomic(unsigned *p, unsigned v) { return atomicInc(p, v); }
SIM_DEVICE inline unsigned dec_atomic(unsigned *p, unsigned v) { return atomicDec(p, v); }
SIM_DEVICE inline int min_atomic(int *p, int v) { return atomicMin(p, v); }
SIM_DEVICE inline int max_atomic(int *p, int v) { return atomicMax(p, v); }
SIM_DEVICE inline unsigned and_atomic(unsigned *p, unsigned v) { return atomicAnd(p, v); }
SIM_DEVICE inline unsigned or_atomic(unsigned *p, unsigned v) { return atomicOr(p, v); }
SIM_DEVICE inline unsigned xor_atomic(unsigned *p, unsigned v) { return atomicXor(p, v); }
SIM_DEVICE inline void fence() { __threadfence(); }
SIM_DEVICE inline float square_root(float x) { return __fsqrt_rn(x); }
SIM_DEVICE inline double square_root(double x) { return __dsqrt_rn(x); }
SIM_DEVICE inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
SIM_DEVICE inline unsigned high_product(unsigned a, unsigned b) { return __umulhi(a, b); }
#else
// clang -x cuda -nocudainc -nocudalib
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
#define SIM_DEVICE __attribute__((device))
#define SIM_KERNEL extern "C" __attribute__((global))
#define SIM_SHARED __attribute__((shared))
#define SIM_CONSTANT __attribute__((constant))
#define SIM_GLOBAL __attribute__((device))
#define SIM_NOINLINE __attribute__((noinline))
#define TID(d) static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_##d())
#define NTID(d) static_cast<unsigned>(__nvvm_read_ptx_sreg_ntid_##d())
#define CTAID(d) static_cast<unsigned>(__nvvm_read_ptx_sreg_ctaid_##d())
#define NCTAID(d) static_cast<unsigned>(__nvvm_read_ptx_sreg_nctaid_##d())
SIM_DEVICE inline void barrier() { __nvvm_bar_sync(0); }
SIM_DEVICE inline void trap() { asm volatile("trap;"); }
SIM_DEVICE inline int shuffle_down(int v, int by) { return __nvvm_shfl_sync_down_i32(~0u, v, by, 31); }
SIM_DEVICE inline int shuffle_up(int v, int by) { return __nvvm_shfl_sync_up_i32(~0u, v, by, 0); }
SIM_DEVICE inline int shuffle_xor(int v, int by) { return __nvvm_shfl_sync_bfly_i32(~0u, v, by, 31); }
SIM_DEVICE inline int shuffle_index(int v, int from) { return __nvvm_shfl_sync_idx_i32(~0u, v, from, 31); }
SIM_DEVICE inline unsigned vote_ballot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }
SIM_DEVICE inline bool vote_any(bool p) { return __nvvm_vote_any_sync(~0u, p); }
SIM_DEVICE inline bool vote_all(bool p) { return __nvvm_vote_all_sync(~0u, p); }
SIM_DEVICE inline unsigned active_mask() { unsigned m; asm volatile("activemask.b32 %0;" : "=r"(m)); return m; }
SIM_DEVICE inline void warp_barrier() { __nvvm_bar_warp_sync(~0u); }
SIM_DEVICE inline unsigned add_atomic(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, v); }
SIM_DEVICE inline float add_atomic(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
SIM_DEVICE inline double add_atomic(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
SIM_DEVICE inline unsigned long long add_atomic(unsigned long long *p, unsigned long long v) { return __nvvm_atom_add_gen_ll((long long *)p, v); }
SIM_DEVICE inline unsigned cas_atomic(unsigned *p, unsigned e, unsigned v) { return __nvvm_atom_cas_gen_i((int *)p, e, v); }
SIM_DEVICE inline unsigned exch_atomic(unsigned *p, unsigned v) { return __nvvm_atom_xchg_gen_i((int *)p, v); }
SIM_DEVICE inline unsigned inc_atomic(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
SIM_DEVICE inline unsigned dec_atomic(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }
SIM_DEVICE inline int min_atomic(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
SIM_DEVICE inline int max_atomic(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
SIM_DEVICE inline unsigned and_atomic(unsigned *p, unsigned v) { return __nvvm_atom_and_gen_i((int *)p, v); }
SIM_DEVICE inline unsigned or_atomic(unsigned *p, unsigned v) { return __nvvm_atom_or_gen_i((int *)p, v); }
SIM_DEVICE inline unsigned xor_atomic(unsigned *p, unsigned v) { return __nvvm_atom_xor_gen_i((int *)p, v); }
SIM_DEVICE inline void fence() { __nvvm_membar_gl(); }
SIM_DEVICE inline float square_root(float x) { return __nvvm_sqrt_rn_f(x); }
SIM_DEVICE inline double square_root(double x) { return __nvvm_sqrt_rn_d(x); }
SIM_DEVICE inline float fused(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
SIM_DEVICE inline unsigned high_product(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
#endif

/// The global offset of a SYCL range: the last parameter of every kernel named NAME_with_offset.
struct Offset {
    uint32_t at[3];
};

SIM_DEVICE inline unsigned global_x() { return CTAID(x) * NTID(x) + TID(x); }
SIM_DEVICE inline unsigned global_y() { return CTAID(y) * NTID(y) + TID(y); }
SIM_DEVICE inline unsigned global_z() { return CTAID(z) * NTID(z) + TID(z); }
