/* What streams that share a hardware channel hold up.
 *
 *   cc -O1 -o /tmp/channels docs/probes/channels.c -ldl && for n in 1 2 8; do CUDA_DEVICE_MAX_CONNECTIONS=$n /tmp/channels; done
 *
 * simcuda claims, with one channel: "held up, held up, goes on" and so on; with two or more: "goes on" each time
 * (conformance/simulator/cuda/src/channel.rs). Each line says whether work of stream B was done within a second while stream A
 * could not go on; then the host lets A go on.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef unsigned long long u64;
static void *lib;
/* Every call is made through a prototype of machine words, which is how these arguments travel on x86-64 and arm64. */
typedef int (*call_t)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);
static int call(const char *name, u64 a, u64 b, u64 c, u64 d) {
    call_t found = (call_t)dlsym(lib, name);
    if (!found) { fprintf(stderr, "no %s\n", name); exit(1); }
    return found(a, b, c, d, 0, 0, 0, 0, 0, 0, 0);
}
static void must(const char *name, int status) {
    if (status) { fprintf(stderr, "%s answers %d\n", name, status); exit(1); }
}
#define MUST(name, ...) must(name, call(name, __VA_ARGS__))
#define P(x) ((u64)(uintptr_t)(x))

static const char PTX[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin(.param .u64 flag) {\n"
    "  .reg .u64 %rd<2>; .reg .u32 %r<2>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [flag];\n"
    "AGAIN:\n"
    "  ld.volatile.global.u32 %r1, [%rd1];\n"
    "  setp.eq.u32 %p1, %r1, 0;\n"
    "  @%p1 bra AGAIN;\n"
    "  ret;\n}\n"
    ".visible .entry empty() { ret; }\n";

static u64 a, b, spin, empty;
static volatile uint32_t *flag;

static void launch(u64 function, u64 stream) {
    u64 pointer = P(flag);
    void *arguments[] = {&pointer};
    call_t found = (call_t)dlsym(lib, "cuLaunchKernel");
    must("cuLaunchKernel", found(function, 1, 1, 1, 1, 1, 1, 0, stream, P(arguments), 0));
}

/* A host function that does not return before the host says so. */
static void wait_for_flag(void *nothing) {
    (void)nothing;
    while (*flag == 0) { }
}

/* Whether B is done within a second; then lets A go on and waits for both. */
static void tell(const char *what) {
    struct timespec begun, now, pause = {0, 1000000};
    int goes_on = 0;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        goes_on = call("cuStreamQuery", b, 0, 0, 0) == 0;
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!goes_on && now.tv_sec - begun.tv_sec < 2);
    printf("%-60s %s\n", what, goes_on ? "goes on" : "held up");
    *flag = 1;
    MUST("cuStreamSynchronize", a, 0, 0, 0);
    MUST("cuStreamSynchronize", b, 0, 0, 0);
    *flag = 0;
}

int main(void) {
    u64 context, module, memory;
    const char *channels = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    lib = dlopen(getenv("UR_CUDA_LIBRARY") ? getenv("UR_CUDA_LIBRARY") : "libcuda.so.1", RTLD_NOW);
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    MUST("cuInit", 0, 0, 0, 0);
    MUST("cuDevicePrimaryCtxRetain", P(&context), 0, 0, 0);
    MUST("cuCtxSetCurrent", context, 0, 0, 0);
    MUST("cuStreamCreate", P(&a), 1, 0, 0);
    MUST("cuStreamCreate", P(&b), 1, 0, 0);
    MUST("cuModuleLoadData", P(&module), P(PTX), 0, 0);
    MUST("cuModuleGetFunction", P(&spin), module, P("spin"), 0);
    MUST("cuModuleGetFunction", P(&empty), module, P("empty"), 0);
    MUST("cuMemHostAlloc", P(&memory), 4, 0, 0);
    flag = (volatile uint32_t *)(uintptr_t)memory;
    *flag = 1; /* each kernel is loaded before anything spins */
    launch(spin, a);
    launch(empty, b);
    MUST("cuCtxSynchronize", 0, 0, 0, 0);
    *flag = 0;
    printf("CUDA_DEVICE_MAX_CONNECTIONS=%s\n", channels ? channels : "");

    MUST("cuStreamWaitValue32_v2", a, memory, 1, 0);
    launch(empty, b);
    tell("A waits for a value; B's kernel came later");

    MUST("cuLaunchHostFunc", a, P(wait_for_flag), 0, 0);
    launch(empty, b);
    tell("A's host function runs; B's kernel came later");

    launch(spin, a);
    launch(empty, a);
    launch(empty, b);
    tell("A's second kernel waits for its first; B's kernel came later");

    launch(spin, a);
    launch(empty, b);
    tell("A's kernel runs; B's kernel came later");

    launch(empty, b);
    MUST("cuStreamWaitValue32_v2", a, memory, 1, 0);
    tell("A waits for a value; B's kernel came earlier");

    launch(spin, a);
    if (call("cuStreamQuery", a, 0, 0, 0) != 600) return 1;
    launch(empty, b);
    tell("A's kernel runs and A was asked; B's kernel came later");

    u64 event;
    MUST("cuEventCreate", P(&event), 2, 0, 0);
    launch(spin, a);
    MUST("cuEventRecord", event, a, 0, 0);
    launch(empty, b);
    tell("A has an event behind its kernel; B's kernel came later");

    launch(spin, a);
    MUST("cuEventRecord", event, a, 0, 0);
    if (call("cuEventQuery", event, 0, 0, 0) != 600) return 1;
    launch(empty, b);
    tell("the same, and the event was asked for");
    return 0;
}
