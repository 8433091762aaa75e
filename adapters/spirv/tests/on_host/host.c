/* What AMD's text calls, on this machine: a work-group is as many threads, a wave as many of them as have lanes, and what lanes
 * give each other goes through memory between two barriers. Lanes that part before such an instruction would wait for ever. */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024 };

/* hsa_kernel_dispatch_packet_t, as far as it is read. */
static struct { uint16_t header, setup, group[3], reserved; uint32_t all[3]; } packet;
static unsigned lanes, threads;
static pthread_barrier_t group_barrier, wave_barriers[MOST];
static uint32_t words[MOST];
static __thread uint32_t id, group_id;
static __thread char *stack, *stack_end;

char ur_dynamic_shared[65536] __attribute__((section("lds"), aligned(16)));
extern char __start_lds[], __stop_lds[];

void *sim_dispatch_ptr(void) { return &packet; }
uint32_t sim_workitem_id_x(void) { return id; }
uint32_t sim_workitem_id_y(void) { return 0; }
uint32_t sim_workitem_id_z(void) { return 0; }
uint32_t sim_workgroup_id_x(void) { return group_id; }
uint32_t sim_workgroup_id_y(void) { return 0; }
uint32_t sim_workgroup_id_z(void) { return 0; }
uint32_t sim_mbcnt_lo(uint32_t mask, uint32_t before) { (void)mask; return before + id % lanes; }
uint32_t sim_mbcnt_hi(uint32_t mask, uint32_t before) { (void)mask; return before; }
void sim_s_barrier(void) { pthread_barrier_wait(&group_barrier); }
void sim_wave_barrier(void) { pthread_barrier_wait(&wave_barriers[id / lanes]); }
uint64_t sim_s_memtime(void) { return (uint64_t)clock(); }
uint64_t sim_s_memrealtime(void) { return (uint64_t)clock(); }
uint8_t sim_is_shared(char *at) { return at >= __start_lds && at < __stop_lds; }
uint8_t sim_is_private(char *at) { return at >= stack && at < stack_end; }

static unsigned first(void) { return id / lanes * lanes; }
static unsigned existing(void) { return threads - first() < lanes ? threads - first() : lanes; }

uint64_t sim_ballot_i64(uint32_t value)
{
    uint64_t mask = 0;
    words[id] = value & 1;
    sim_wave_barrier();
    for (unsigned lane = 0; lane < existing(); lane++)
        mask |= (uint64_t)words[first() + lane] << lane;
    sim_wave_barrier();
    return mask;
}

uint32_t sim_ballot_i32(uint32_t value) { return (uint32_t)sim_ballot_i64(value); }

uint32_t sim_ds_bpermute(uint32_t place, uint32_t value)
{
    uint32_t lane = place / 4 % lanes;
    words[id] = value;
    sim_wave_barrier();
    value = lane < existing() ? words[first() + lane] : 0;
    sim_wave_barrier();
    return value;
}

/* OCML, by the C library. */
#define ONE(name, f, d) \
    float __ocml_##name##_f32(float x) { return f; } \
    double __ocml_##name##_f64(double x) { return d; }
#define SAME(name) ONE(name, name##f(x), name(x))
#define TWO(name) \
    float __ocml_##name##_f32(float x, float y) { return name##f(x, y); } \
    double __ocml_##name##_f64(double x, double y) { return name(x, y); }
#define NATIVE(name, value) float __ocml_native_##name##_f32(float x) { return value; }
SAME(acos) SAME(acosh) SAME(asin) SAME(asinh) SAME(atan) SAME(atanh) SAME(cbrt) SAME(ceil) SAME(cos) SAME(cosh) SAME(erf) SAME(erfc)
SAME(exp) SAME(exp10) SAME(exp2) SAME(expm1) SAME(fabs) SAME(floor) SAME(lgamma) SAME(log) SAME(log10) SAME(log1p) SAME(log2) SAME(logb)
SAME(rint) SAME(round) SAME(sin) SAME(sinh) SAME(sqrt) SAME(tan) SAME(tanh) SAME(tgamma) SAME(trunc)
TWO(atan2) TWO(copysign) TWO(fdim) TWO(fmod) TWO(hypot) TWO(nextafter) TWO(pow) TWO(remainder)
ONE(rsqrt, (float)(1 / sqrtl(x)), (double)(1 / sqrtl(x)))
ONE(rcbrt, (float)(1 / cbrtl(x)), (double)(1 / cbrtl(x)))
NATIVE(sin, sinf(x)) NATIVE(cos, cosf(x)) NATIVE(exp, expf(x)) NATIVE(exp2, exp2f(x)) NATIVE(exp10, exp10f(x))
NATIVE(log, logf(x)) NATIVE(log2, log2f(x)) NATIVE(log10, log10f(x)) NATIVE(rsqrt, 1 / sqrtf(x))

/* What is left beyond a multiple of 2, and its distance from a zero of the function, are exact. */
static long double sine_of_pi(long double x)
{
    long double left = remainderl(x, 2), size = fabsl(left);
    return copysignl(sinl((size > 0.5L ? 1 - size : size) * 3.14159265358979323846264338327950288L), x == truncl(x) ? x : left);
}
static long double cosine_of_pi(long double x)
{
    return sinl((0.5L - fabsl(remainderl(x, 2))) * 3.14159265358979323846264338327950288L);
}
ONE(sinpi, (float)sine_of_pi(x), (double)sine_of_pi(x))
ONE(cospi, (float)cosine_of_pi(x), (double)cosine_of_pi(x))

/* Of two zeroes the positive one is larger, as for the hardware. */
#define EXTREMUM(name, first) \
    float __ocml_f##name##_f32(float x, float y) { return x == y ? (first signbit(x) ? x : y) : f##name##f(x, y); } \
    double __ocml_f##name##_f64(double x, double y) { return x == y ? (first signbit(x) ? x : y) : f##name(x, y); }
EXTREMUM(max, !) EXTREMUM(min, )
float __ocml_fma_f32(float x, float y, float z) { return fmaf(x, y, z); }
double __ocml_fma_f64(double x, double y, double z) { return fma(x, y, z); }
int32_t __ocml_ilogb_f32(float x) { return ilogbf(x); }
int32_t __ocml_ilogb_f64(double x) { return ilogb(x); }
float __ocml_ldexp_f32(float x, int32_t n) { return ldexpf(x, n); }
double __ocml_ldexp_f64(double x, int32_t n) { return ldexp(x, n); }
float __ocml_frexp_f32(float x, int32_t *n) { *n = 0; return frexpf(x, n); }
double __ocml_frexp_f64(double x, int32_t *n) { *n = 0; return frexp(x, n); }

/* The kernel, whose parameters are addresses. */
void k(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
       void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);

static void **values;
struct item { pthread_t thread; uint32_t id, group; };

static void *work(void *argument)
{
    struct item *item = argument;
    pthread_attr_t attributes;
    size_t size;
    void *low, **v = values;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    stack = low, stack_end = stack + size, id = item->id, group_id = item->group;
    k(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15], v[16], v[17], v[18], v[19],
      v[20], v[21], v[22], v[23], v[24], v[25], v[26], v[27], v[28], v[29], v[30], v[31]);
    return NULL;
}

/* Runs one group after the other; `parameters` has room for 32. */
void launch(unsigned groups, unsigned group_size, unsigned wave_size, void **parameters)
{
    struct item items[MOST];
    lanes = wave_size, threads = group_size, values = parameters;
    packet.group[0] = (uint16_t)group_size, packet.group[1] = packet.group[2] = 1;
    packet.all[0] = groups * group_size, packet.all[1] = packet.all[2] = 1;
    pthread_barrier_init(&group_barrier, NULL, group_size);
    for (unsigned wave = 0; wave * lanes < group_size; wave++) {
        unsigned left = group_size - wave * lanes;
        pthread_barrier_init(&wave_barriers[wave], NULL, left < lanes ? left : lanes);
    }
    for (unsigned group = 0; group < groups; group++) {
        for (unsigned at = 0; at < group_size; at++) {
            items[at].id = at, items[at].group = group;
            if (pthread_create(&items[at].thread, NULL, work, &items[at]))
                abort();
        }
        for (unsigned at = 0; at < group_size; at++)
            pthread_join(items[at].thread, NULL);
    }
}
