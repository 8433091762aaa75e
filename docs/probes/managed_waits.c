/* Which calls about pools wait for a kernel that runs.
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
static volatile uint32_t *flag;

/* What a thread tries while the kernel spins. */
struct attempt { const char *name; u64 a, b, c; int answer; volatile int is_back; };
static void *try(void *data) {
    struct attempt *attempt = data;
    MUST("cuCtxSetCurrent", context, 0, 0, 0);
    attempt->answer = call(attempt->name, attempt->a, attempt->b, attempt->c, 0);
    attempt->is_back = 1;
    return NULL;
}

static void begin(void) {
    u64 pointer = P(flag);
    void *arguments[] = {&pointer};
    *flag = 0;
    call_t found = (call_t)dlsym(lib, "cuLaunchKernel");
    must("cuLaunchKernel", found(spin, 1, 1, 1, 1, 1, 1, 0, spinning, P(arguments), 0));
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
    tell(memory, "cuMemFreeAsync on the stream that spins", "cuMemFreeAsync", mine, spinning, 0);
    tell(memory, "cuMemPoolTrimTo, a free behind the kernel", "cuMemPoolTrimTo", pool, 0, 0);
    end();
    MUST("cuMemPoolTrimTo", pool, 0, 0, 0);
    MUST("cuMemPoolDestroy", pool, 0, 0, 0);
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
    return 0;
}
