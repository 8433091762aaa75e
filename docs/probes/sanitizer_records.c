/* Whether compute-sanitizer prints "Error in printing record" for a program that does nothing wrong.
 *
 *   cc -O1 -o /tmp/sanitizer_records docs/probes/sanitizer_records.c -ldl -lpthread
 *   compute-sanitizer --tool memcheck --track-stream-ordered-races all --leak-check full --save /tmp/of.records \
 *       /tmp/sanitizer_records PROGRAMS SEED [THREADS [SHARED]]
 *
 * Each program makes two pools and starts one to THREADS (8) threads; every thread makes streams, takes blocks from the pools, fills them by a kernel with words of the
 * form base + i * step, lets a kernel on another stream that waits for an event look at them, frees them there, and destroys the
 * streams; with SHARED 1 all threads put their work on two streams. No block is used by two threads, managed memory comes and goes
 * meanwhile, and all is waited for before the pools go. Nothing of ours is in it: it calls the driver.
 * The step is 0x5eed0001 + 2 * a small number, so that a block's words are recognised in the tool's records (48 bytes each).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long u64;
static void *lib;
/* Every call is made through a prototype of machine words, which is how these arguments travel on x86-64 and arm64. */
typedef int (*call_t)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

#define CALLS(X) \
    X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2) X(cuStreamSynchronize) \
    X(cuStreamQuery) X(cuStreamWaitEvent) X(cuEventCreate) X(cuEventRecord) X(cuEventDestroy_v2) X(cuEventSynchronize) \
    X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync) X(cuMemsetD32Async) X(cuMemcpyDtoHAsync_v2) X(cuLaunchKernel) \
    X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolTrimTo) X(cuMemPoolSetAttribute) X(cuMemAllocManaged) X(cuMemFree_v2)
#define DECLARE(name) static call_t name;
CALLS(DECLARE)
#define LOOK_UP(name) name = (call_t)dlsym(lib, #name); if (!name) { fprintf(stderr, "no " #name "\n"); exit(1); }

static void must(const char *name, int status) {
    if (status) { fprintf(stderr, "%s answers %d\n", name, status); exit(1); }
}
#define DO(name, a, b, c, d) must(#name, name((u64)(a), (u64)(b), (u64)(c), (u64)(d), 0, 0, 0, 0, 0, 0, 0))
#define P(x) ((u64)(uintptr_t)(x))

/* `write` fills a block with its pattern; `look` counts the words that differ from it. */
static const char PTX[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
#define HEAD \
    "  .reg .u64 %d<5>; .reg .u32 %r<9>; .reg .pred %p<3>;\n" \
    "  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [words]; ld.param.u32 %r2, [base]; ld.param.u32 %r3, [step];\n" \
    "  mov.u32 %r4, %tid.x; mov.u32 %r5, %ntid.x;\n" \
    "NEXT:\n" \
    "  setp.ge.u32 %p1, %r4, %r1;\n" \
    "  @%p1 bra DONE;\n" \
    "  mad.lo.u32 %r6, %r4, %r3, %r2;\n" \
    "  mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;\n"
#define TAIL "  add.u32 %r4, %r4, %r5;\n  bra NEXT;\nDONE:\n  ret;\n}\n"
    ".visible .entry write(.param .u64 data, .param .u32 words, .param .u32 base, .param .u32 step) {\n" HEAD
    "  st.global.u32 [%d3], %r6;\n" TAIL
    ".visible .entry look(.param .u64 data, .param .u32 words, .param .u32 base, .param .u32 step, .param .u64 wrong) {\n" HEAD
    "  ld.global.u32 %r7, [%d3];\n"
    "  setp.eq.u32 %p2, %r6, %r7;\n"
    "  @%p2 bra SAME;\n"
    "  ld.param.u64 %d4, [wrong]; red.global.add.u32 [%d4], 1;\n"
    "SAME:\n" TAIL;

static u64 context, write_kernel, look_kernel, wrong;
static u64 pools[2], shared_streams[2];
static int are_shared;

enum { MOST_THREADS = 64, STEPS = 20 };

static void launch(u64 kernel, u64 stream, u64 block, uint32_t words, uint32_t base, uint32_t step) {
    void *arguments[] = { &block, &words, &base, &step, &wrong };
    must("cuLaunchKernel", cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, P(arguments), 0));
}

/* One block's life: filled on one stream, looked at and freed on the other. */
static void one_block(unsigned *random, u64 from, u64 to) {
    static const uint32_t sizes[] = { 64, 512, 1000, 1024, 2048, 4096, 65536 };
    uint32_t size = sizes[rand_r(random) % 7], words = size / 4 > 512 ? 512 : size / 4;
    uint32_t base = (uint32_t)rand_r(random) * 2654435761u, step = 0x5eed0001u + 2 * (uint32_t)(rand_r(random) % 100);
    u64 block, filled, done;
    DO(cuMemAllocFromPoolAsync, P(&block), size, pools[rand_r(random) % 2], from);
    if (rand_r(random) % 3 == 0) DO(cuMemsetD32Async, block, 0x7a7a7a7a, words, from);
    launch(write_kernel, from, block, words, base, step);
    DO(cuEventCreate, P(&filled), 2, 0, 0);
    DO(cuEventRecord, filled, from, 0, 0);
    DO(cuStreamWaitEvent, to, filled, 0, 0);
    DO(cuEventDestroy_v2, filled, 0, 0, 0);
    launch(look_kernel, to, block, words, base, step);
    if (rand_r(random) % 4 == 0) {
        uint32_t first = 0;
        DO(cuMemcpyDtoHAsync_v2, P(&first), block, 4, to);
        DO(cuStreamSynchronize, to, 0, 0, 0);
        if (first != base) { fprintf(stderr, "found %#x for %#x\n", first, base); exit(1); }
    }
    DO(cuMemFreeAsync, block, to, 0, 0);
    DO(cuEventCreate, P(&done), 2, 0, 0);
    DO(cuEventRecord, done, to, 0, 0);
    if (rand_r(random) % 4 == 0) DO(cuEventSynchronize, done, 0, 0, 0);
    DO(cuEventDestroy_v2, done, 0, 0, 0);
}

static void *run(void *data) {
    unsigned random = (unsigned)(uintptr_t)data;
    u64 streams[2];
    DO(cuCtxSetCurrent, context, 0, 0, 0);
    for (int i = 0; i < 2; i++) DO(cuStreamCreateWithPriority, P(&streams[i]), 1, 0, 0);
    for (int step = 0; step < STEPS; step++) {
        u64 all[4] = { streams[0], streams[1], shared_streams[0], shared_streams[1] };
        int first = (int)(rand_r(&random) % 4), second = (int)(rand_r(&random) % 4);
        if (!are_shared) first %= 2, second = !first;
        one_block(&random, all[first], all[second]);
        if (rand_r(&random) % 16 == 0) {
            u64 managed;
            DO(cuMemAllocManaged, P(&managed), 4096, 1, 0);
            launch(write_kernel, streams[0], managed, 512, 1, 0x5eed0001u);
            DO(cuStreamSynchronize, streams[0], 0, 0, 0);
            DO(cuMemFree_v2, managed, 0, 0, 0);
        }
        if (rand_r(&random) % 8 == 0) {
            int which = (int)(rand_r(&random) % 2);
            cuStreamQuery(streams[which], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            DO(cuStreamDestroy_v2, streams[which], 0, 0, 0);
            DO(cuStreamCreateWithPriority, P(&streams[which]), 1, 0, 0);
        }
        if (rand_r(&random) % 8 == 0) DO(cuMemPoolTrimTo, pools[rand_r(&random) % 2], 0, 0, 0);
    }
    for (int i = 0; i < 2; i++) {
        DO(cuStreamSynchronize, streams[i], 0, 0, 0);
        DO(cuStreamDestroy_v2, streams[i], 0, 0, 0);
    }
    return NULL;
}

/* CUmemPoolProps of a device's memory. */
struct properties { uint32_t type, handles, location, id; u64 security, size; char reserved[56]; };

static void program(unsigned seed, int threads) {
    struct properties properties = { 1, 0, 1, 0, 0, 0, { 0 } };
    u64 keep = ~0ull;
    pthread_t running[MOST_THREADS];
    for (int i = 0; i < 2; i++) DO(cuMemPoolCreate, P(&pools[i]), P(&properties), 0, 0);
    DO(cuMemPoolSetAttribute, pools[1], 4, P(&keep), 0);
    for (int i = 0; i < 2; i++) DO(cuStreamCreateWithPriority, P(&shared_streams[i]), 1, 0, 0);
    for (int i = 0; i < threads; i++) pthread_create(&running[i], NULL, run, (void *)(uintptr_t)(seed * 64 + (unsigned)i));
    for (int i = 0; i < threads; i++) pthread_join(running[i], NULL);
    DO(cuCtxSynchronize, 0, 0, 0, 0);
    for (int i = 0; i < 2; i++) DO(cuStreamDestroy_v2, shared_streams[i], 0, 0, 0);
    for (int i = 0; i < 2; i++) DO(cuMemPoolDestroy, pools[i], 0, 0, 0);
}

int main(int argc, char **argv) {
    int programs = argc > 1 ? atoi(argv[1]) : 50, threads = argc > 3 ? atoi(argv[3]) : 8;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    const char *name = getenv("UR_CUDA_LIBRARY");
    are_shared = argc > 4 && atoi(argv[4]);
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    lib = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW);
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    CALLS(LOOK_UP)
    call_t init = (call_t)dlsym(lib, "cuInit"), retain = (call_t)dlsym(lib, "cuDevicePrimaryCtxRetain");
    call_t load = (call_t)dlsym(lib, "cuModuleLoadData"), get = (call_t)dlsym(lib, "cuModuleGetFunction");
    call_t alloc = (call_t)dlsym(lib, "cuMemAllocHost_v2");
    u64 module;
    must("cuInit", init(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    must("cuDevicePrimaryCtxRetain", retain(P(&context), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    DO(cuCtxSetCurrent, context, 0, 0, 0);
    must("cuModuleLoadData", load(P(&module), P(PTX), 0, 0, 0, 0, 0, 0, 0, 0, 0));
    must("cuModuleGetFunction", get(P(&write_kernel), module, P("write"), 0, 0, 0, 0, 0, 0, 0, 0));
    must("cuModuleGetFunction", get(P(&look_kernel), module, P("look"), 0, 0, 0, 0, 0, 0, 0, 0));
    must("cuMemAllocHost", alloc(P(&wrong), 4, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    *(volatile uint32_t *)(uintptr_t)wrong = 0;
    for (int i = 0; i < programs; i++) {
        unsigned random = seed * 1000 + (unsigned)i;
        /* The number of threads changes, so that the tool may need more memory when pools have gone. */
        program(random, 1 + (int)(rand_r(&random) % (unsigned)threads));
    }
    uint32_t count = *(volatile uint32_t *)(uintptr_t)wrong;
    printf("%d programs of up to %d threads: %u words wrong\n", programs, threads, count);
    /* The simulated driver says what a real one lets pass. */
    int (*reports)(void) = (int (*)(void))dlsym(lib, "simcudaReportCount");
    if (reports) printf("%d reports of misuse\n", reports());
    return count != 0;
}
