/* Which calls about pools, and which copies and fills of managed memory, wait for a kernel that runs.
 *
 *   cc -O1 -o /tmp/managed_waits docs/probes/managed_waits.c -ldl && /tmp/managed_waits
 *
 * For pools of device, pinned and managed memory: a kernel spins on stream S; a block was taken on S and one on an idle stream
 * I before. Each line says whether a call came back within a second while the kernel spun; then the host lets the kernel go on.
 * A trim of managed memory waited on an H200 (docs/native-facts.md), with a free on S before it; which of the two did is the question.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    "  ret;\n}\n";

static u64 context, spinning, idle, spin;
/* The fourth argument of what is tried. */
static u64 last_stream;
/* The event that the idle stream waits for, behind the kernel; 0 for none. */
static u64 between;
static volatile uint32_t *flag;

/* What a thread tries while the kernel spins. */
struct attempt { const char *name; u64 a, b, c; int answer; volatile int is_back; };
static void *try(void *data) {
    struct attempt *attempt = data;
    MUST("cuCtxSetCurrent", context, 0, 0, 0);
    attempt->answer = call(attempt->name, attempt->a, attempt->b, attempt->c, last_stream);
    attempt->is_back = 1;
    return NULL;
}

static void begin(void) {
    u64 pointer = P(flag);
    void *arguments[] = {&pointer};
    *flag = 0;
    call_t found = (call_t)dlsym(lib, "cuLaunchKernel");
    must("cuLaunchKernel", found(spin, 1, 1, 1, 1, 1, 1, 0, spinning, P(arguments), 0));
    if (between) {
        MUST("cuEventRecord", between, spinning, 0, 0);
        MUST("cuStreamWaitEvent", idle, between, 0, 0);
    }
}

static void end(void) {
    *flag = 1;
    MUST("cuCtxSynchronize", 0, 0, 0, 0);
}

/* Makes a call beside the kernel, which spins; says whether it came back while it did. */
static void tell(const char *memory, const char *what, const char *name, u64 a, u64 b, u64 c) {
    struct attempt attempt = {name, a, b, c, -1, 0};
    struct timespec pause = {0, 1000000};
    pthread_t thread;
    int waited = 0;
    if (pthread_create(&thread, NULL, try, &attempt)) exit(1);
    while (!attempt.is_back && waited++ < 1000) nanosleep(&pause, NULL);
    int is_back = attempt.is_back;
    if (!is_back) *flag = 1;
    pthread_join(thread, NULL);
    printf("%-8s %-52s %s, %d\n", memory, what, is_back ? "came back" : "WAITED", attempt.answer);
    fflush(stdout);
    if (!is_back) { end(); begin(); }
}

static void try_pool(const char *memory, int type, int location) {
    /* allocType, handleTypes, location.type, location.id, win32, maxSize, usage, reserved */
    uint32_t props[22];
    memset(props, 0, sizeof props);
    props[0] = (uint32_t)type;
    props[2] = (uint32_t)location;
    u64 pool, mine, idles, number, on = ~0ull;
    if (call("cuMemPoolCreate", P(&pool), P(props), 0, 0)) { printf("%-8s no such pool\n", memory); return; }
    /* CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: nothing goes by itself. */
    MUST("cuMemPoolSetAttribute", pool, 4, P(&on), 0);
    MUST("cuMemAllocFromPoolAsync", P(&mine), 32 << 20, pool, spinning);
    MUST("cuMemAllocFromPoolAsync", P(&idles), 32 << 20, pool, idle);
    MUST("cuCtxSynchronize", 0, 0, 0, 0);
    begin();
    tell(memory, "cuMemPoolGetAttribute", "cuMemPoolGetAttribute", pool, 5, P(&number));
    tell(memory, "cuMemPoolTrimTo, nothing to give", "cuMemPoolTrimTo", pool, 0, 0);
    tell(memory, "cuMemFreeAsync on the idle stream", "cuMemFreeAsync", idles, idle, 0);
    tell(memory, "cuMemPoolTrimTo, the idle stream's free not seen", "cuMemPoolTrimTo", pool, 0, 0);
    tell(memory, "cuStreamSynchronize of the idle stream", "cuStreamSynchronize", idle, 0, 0);
    tell(memory, "cuMemPoolTrimTo, the idle stream's free seen", "cuMemPoolTrimTo", pool, 0, 0);
    u64 other, block;
    MUST("cuMemPoolCreate", P(&other), P(props), 0, 0);
    MUST("cuMemAllocFromPoolAsync", P(&block), 32 << 20, other, idle);
    MUST("cuMemFreeAsync", block, idle, 0, 0);
    MUST("cuStreamSynchronize", idle, 0, 0, 0);
    tell(memory, "cuMemPoolDestroy, all frees seen", "cuMemPoolDestroy", other, 0, 0);
    tell(memory, "cuMemFreeAsync on the stream that spins", "cuMemFreeAsync", mine, spinning, 0);
    tell(memory, "cuMemPoolTrimTo, a free behind the kernel", "cuMemPoolTrimTo", pool, 0, 0);
    end();
    MUST("cuMemPoolTrimTo", pool, 0, 0, 0);
    MUST("cuMemPoolDestroy", pool, 0, 0, 0);
}

/* Copies and fills of managed memory of its own, of which the device has used one and nobody the other; on the stream that
 * spins, on the idle one, and on the idle one behind an event of the one that spins. */
static void try_managed(void) {
    u64 used, fresh, device, pinned, event, size = 4096, streams[] = {spinning, idle, idle};
    static const char *where[] = {"behind the kernel", "on the idle stream", "on the idle stream, behind an event"};
    MUST("cuMemAllocManaged", P(&used), 2 << 20, 1, 0);
    MUST("cuMemAllocManaged", P(&fresh), 2 << 20, 1, 0);
    MUST("cuMemAlloc_v2", P(&device), 2 << 20, 0, 0);
    MUST("cuMemHostAlloc", P(&pinned), 2 << 20, 0, 0);
    MUST("cuEventCreate", P(&event), 2, 0, 0);
    MUST("cuMemsetD8Async", used, 1, 2 << 20, idle);
    MUST("cuCtxSynchronize", 0, 0, 0, 0);
    for (int at = 0; at < 3; at++) {
        between = at == 2 ? event : 0;
        begin();
        printf("%s:\n", where[at]);
        struct { const char *what; u64 to, from; } copies[] = {
            {"device to managed that it has used", used, device}, {"managed that the device has used to it", device, used},
            {"device to managed that nobody has used", fresh, device}, {"managed that nobody has used to the device", device, fresh},
            {"pinned to managed", used, pinned}, {"managed to pinned", pinned, used}, {"managed to itself", used, used + 65536},
        };
        for (unsigned each = 0; each < sizeof copies / sizeof *copies; each++) {
            last_stream = streams[at];
            tell("copy", copies[each].what, "cuMemcpyAsync", copies[each].to, copies[each].from, size);
        }
        tell("fill", "managed that the device has used", "cuMemsetD8Async", used, 1, size);
        tell("fill", "managed that nobody has used", "cuMemsetD8Async", fresh, 1, size);
        last_stream = 0;
        end();
    }
}

int main(int argc, char **argv) {
    lib = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    u64 module, host;
    MUST("cuInit", 0, 0, 0, 0);
    MUST("cuDevicePrimaryCtxRetain", P(&context), 0, 0, 0);
    MUST("cuCtxSetCurrent", context, 0, 0, 0);
    MUST("cuModuleLoadData", P(&module), P(PTX), 0, 0);
    MUST("cuModuleGetFunction", P(&spin), module, P("spin"), 0);
    MUST("cuMemHostAlloc", P(&host), 4, 0, 0);
    flag = (volatile uint32_t *)(uintptr_t)host;
    MUST("cuStreamCreate", P(&spinning), 1, 0, 0);
    MUST("cuStreamCreate", P(&idle), 1, 0, 0);
    /* CU_MEM_ALLOCATION_TYPE_PINNED 1, MANAGED 2; CU_MEM_LOCATION_TYPE_DEVICE 1, HOST 2 */
    try_pool("device", 1, 1);
    try_pool("host", 1, 2);
    try_pool("managed", 2, 1);
    try_managed();
    return 0;
}
