/* Which calls wait for a kernel that runs, of those that docs/native-facts.md does not name yet.
 *
 *   cc -O1 -o /tmp/calls_that_wait docs/probes/calls_that_wait.c -ldl -lpthread && /tmp/calls_that_wait
 *
 * For each call a kernel is started that ends when the host says so. The call is made on another thread; if it has not
 * returned within a second it waits for the kernel. "waits" belongs into `blocks` of the entry points that make the call
 * (urVirtualMemUnmap, urPhysicalMemRelease, urMemoryExportFreeExportableMemoryExp, urMemRelease of images,
 * urProgramCompile, urProgramLink, urUSMPoolTrimToExp).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long u64;
static void *lib;
static void *find(const char *name) {
    void *found = dlsym(lib, name);
    if (!found) { fprintf(stderr, "no %s\n", name); exit(1); }
    return found;
}
/* Every call is made through a prototype of machine words, which is how these arguments travel on x86-64 and arm64. */
typedef int (*call_t)(u64, u64, u64, u64, u64, u64);
static int call(const char *name, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f) { return ((call_t)find(name))(a, b, c, d, e, f); }
static void must(const char *name, int status) {
    if (status) { fprintf(stderr, "%s answers %d\n", name, status); exit(1); }
}
#define MUST(name, ...) must(name, call(name, __VA_ARGS__))
#define P(x) ((u64)(uintptr_t)(x))

static const char SPIN[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin(.param .u64 flag) {\n"
    "  .reg .u64 %rd<2>; .reg .u32 %r<2>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [flag];\n"
    "AGAIN:\n"
    "  ld.volatile.global.u32 %r1, [%rd1];\n"
    "  setp.eq.u32 %p1, %r1, 0;\n"
    "  @%p1 bra AGAIN;\n"
    "  ret;\n}\n";

static u64 context, stream, function;
static volatile uint32_t *flag;

struct job { const char *name; u64 a, b, c, d; int status; atomic_int done; };
static void *run(void *argument) {
    struct job *job = argument;
    call("cuCtxSetCurrent", context, 0, 0, 0, 0, 0);
    job->status = call(job->name, job->a, job->b, job->c, job->d, 0, 0);
    atomic_store(&job->done, 1);
    return NULL;
}

static void probe(const char *what, const char *name, u64 a, u64 b, u64 c, u64 d) {
    u64 pointer = P(flag);
    void *arguments[] = {&pointer};
    *flag = 0;
    typedef int (*launch_t)(u64, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, u64, void **, void **);
    must("cuLaunchKernel", ((launch_t)find("cuLaunchKernel"))(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    usleep(100000);
    struct job job = {name, a, b, c, d, -1, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, run, &job);
    for (int i = 0; i < 1000 && !atomic_load(&job.done); i++) usleep(1000);
    int waited = !atomic_load(&job.done);
    *flag = 1;
    pthread_join(thread, NULL);
    MUST("cuStreamSynchronize", stream, 0, 0, 0, 0, 0);
    printf("%-44s %-8s (status %d)\n", what, waited ? "waits" : "returns", job.status);
}

int main(void) {
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    int device = 0;
    u64 module = 0, memory = 0, array = 0;
    MUST("cuInit", 0, 0, 0, 0, 0, 0);
    MUST("cuDeviceGet", P(&device), 0, 0, 0, 0, 0);
    MUST("cuDevicePrimaryCtxRetain", P(&context), (u64)device, 0, 0, 0, 0);
    MUST("cuCtxSetCurrent", context, 0, 0, 0, 0, 0);
    MUST("cuStreamCreate", P(&stream), 1, 0, 0, 0, 0);
    MUST("cuModuleLoadData", P(&module), P(SPIN), 0, 0, 0, 0);
    MUST("cuModuleGetFunction", P(&function), module, P("spin"), 0, 0, 0);
    MUST("cuMemHostAlloc", P(&flag), 4096, 2, 0, 0, 0);
    *flag = 1;

    /* What is known to wait and not to, so that the probe itself can be trusted. */
    MUST("cuMemAlloc_v2", P(&memory), 1 << 20, 0, 0, 0, 0);
    probe("cuMemFree (known to wait)", "cuMemFree_v2", memory, 0, 0, 0);
    probe("cuMemAlloc (known not to)", "cuMemAlloc_v2", P(&memory), 1 << 20, 0, 0);

    /* CUmemAllocationProp: type pinned, handle type descriptor, location device. */
    struct { int type, handles, location, id; void *win; unsigned char flags[8]; } prop = {1, 1, 1, device, NULL, {0}};
    size_t step = 0;
    u64 physical = 0, address = 0;
    MUST("cuMemGetAllocationGranularity", P(&step), P(&prop), 0, 0, 0, 0);
    MUST("cuMemCreate", P(&physical), step, P(&prop), 0, 0, 0);
    MUST("cuMemAddressReserve", P(&address), step, 0, 0, 0, 0);
    probe("cuMemMap", "cuMemMap", address, step, 0, physical); /* its fifth argument, the flags, is the 0 behind */
    struct { int location, id, access; } access = {1, device, 3};
    probe("cuMemSetAccess", "cuMemSetAccess", address, step, P(&access), 1);
    probe("cuMemUnmap", "cuMemUnmap", address, step, 0, 0);
    probe("cuMemAddressFree", "cuMemAddressFree", address, step, 0, 0);
    probe("cuMemRelease", "cuMemRelease", physical, 0, 0, 0);

    struct { size_t width, height, depth; int format; unsigned channels, flags; } image = {64, 64, 0, 0x20, 4, 2};
    MUST("cuArray3DCreate_v2", P(&array), P(&image), 0, 0, 0, 0);
    probe("cuArrayDestroy", "cuArrayDestroy", array, 0, 0, 0);

    u64 link = 0;
    void *image_out = NULL;
    size_t bytes = 0;
    typedef int (*add_t)(u64, int, const void *, size_t, const char *, unsigned, void *, void *);
    probe("cuLinkCreate", "cuLinkCreate_v2", 0, 0, 0, P(&link));
    must("cuLinkAddData", ((add_t)find("cuLinkAddData_v2"))(link, 1, SPIN, sizeof SPIN, "spin", 0, NULL, NULL));
    probe("cuLinkComplete", "cuLinkComplete", link, P(&image_out), P(&bytes), 0);
    probe("cuLinkDestroy", "cuLinkDestroy", link, 0, 0, 0);

    u64 pool = 0;
    MUST("cuDeviceGetDefaultMemPool", P(&pool), (u64)device, 0, 0, 0, 0);
    MUST("cuMemAllocAsync", P(&memory), 1 << 20, stream, 0, 0, 0);
    MUST("cuMemFreeAsync", memory, stream, 0, 0, 0, 0);
    MUST("cuStreamSynchronize", stream, 0, 0, 0, 0, 0);
    probe("cuMemPoolTrimTo", "cuMemPoolTrimTo", pool, 0, 0, 0);
    return 0;
}
