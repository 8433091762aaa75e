/* Whether a launch of a graph has to do with an event of one of its nodes once the launch was called.
 *
 *   cc -O1 -o /tmp/graph_events docs/probes/graph_events.c -ldl && /tmp/graph_events
 *
 * simcuda claims "no" three times: a launch takes the events of its nodes at the call, so the event may be recorded anew, waited for
 * by others, or destroyed, while the launch is on its way. Each gate is a kernel that spins on a word of the host's.
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
static int call(const char *name, u64 a, u64 b, u64 c, u64 d, u64 e) {
    call_t found = (call_t)dlsym(lib, name);
    if (!found) { fprintf(stderr, "no %s\n", name); exit(1); }
    return found(a, b, c, d, e, 0, 0, 0, 0, 0, 0);
}
static void must(const char *name, int status) {
    if (status) { fprintf(stderr, "%s answers %d\n", name, status); exit(1); }
}
#define MUST(name, ...) must(name, call(name, __VA_ARGS__))
#define P(x) ((u64)(uintptr_t)(x))
enum { GATES = 4, PATIENCE_MS = 1000 };

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

static u64 spin;
static volatile uint32_t *words;

/* A kernel on a stream that ends once the gate is open. */
static void gate(int number, u64 stream) {
    u64 pointer = P(&words[number]);
    void *arguments[] = {&pointer};
    call_t found = (call_t)dlsym(lib, "cuLaunchKernel");
    must("cuLaunchKernel", found(spin, 1, 1, 1, 1, 1, 1, 0, stream, P(arguments), 0));
}

static u64 stream(void) { u64 made; MUST("cuStreamCreate", P(&made), 1, 0, 0, 0); return made; }
static u64 event(void) { u64 made; MUST("cuEventCreate", P(&made), 2, 0, 0, 0); return made; }

/* Whether a question is answered with 0 within a while. */
static int is_done(const char *question, u64 of) {
    struct timespec begun, now, pause = {0, 1000000};
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        status = call(question, of, 0, 0, 0, 0);
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (status == 600 && (now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < PATIENCE_MS);
    return status == 0;
}

static u64 graph_with(const char *add, u64 of) {
    u64 graph, node, ready;
    MUST("cuGraphCreate", P(&graph), 0, 0, 0, 0);
    MUST(add, P(&node), graph, 0, 0, of);
    MUST("cuGraphInstantiateWithFlags", P(&ready), graph, 0, 0, 0);
    return ready;
}

static void all_open(void) {
    for (int number = 0; number < GATES; number++) { words[number] = 1; }
    MUST("cuCtxSynchronize", 0, 0, 0, 0, 0);
    for (int number = 0; number < GATES; number++) { words[number] = 0; }
}

int main(void) {
    u64 context, module, memory, a, b, c, e, own;
    int yes;
    lib = dlopen(getenv("UR_CUDA_LIBRARY") ? getenv("UR_CUDA_LIBRARY") : "libcuda.so.1", RTLD_NOW);
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    MUST("cuInit", 0, 0, 0, 0, 0);
    MUST("cuDevicePrimaryCtxRetain", P(&context), 0, 0, 0, 0);
    MUST("cuCtxSetCurrent", context, 0, 0, 0, 0);
    MUST("cuModuleLoadData", P(&module), P(PTX), 0, 0, 0);
    MUST("cuModuleGetFunction", P(&spin), module, P("spin"), 0, 0);
    MUST("cuMemHostAlloc", P(&memory), 4 * GATES, 0, 0, 0);
    words = (volatile uint32_t *)(uintptr_t)memory;
    a = stream(); b = stream(); c = stream();
    words[0] = 1; /* the kernel is loaded before anything spins */
    gate(0, a);
    all_open();

    /* The graph's record comes behind gate 0 on A; meanwhile the event is recorded anew on B behind gate 1. */
    e = event();
    u64 records = graph_with("cuGraphAddEventRecordNode", e);
    MUST("cuGraphLaunch", records, a, 0, 0, 0); /* warm */
    all_open();
    gate(0, a);
    MUST("cuGraphLaunch", records, a, 0, 0, 0);
    gate(1, b);
    MUST("cuEventRecord", e, b, 0, 0, 0);
    words[0] = 1;
    MUST("cuStreamSynchronize", a, 0, 0, 0, 0);
    yes = is_done("cuEventQuery", e);
    printf("a graph's record that was launched before completes an event that was recorded anew: %s\n", yes ? "yes" : "no");
    all_open();

    /* The graph waits for what B records behind gate 0; meanwhile the event is recorded anew on C behind gate 1. */
    u64 waits = graph_with("cuGraphAddEventWaitNode", e);
    MUST("cuGraphLaunch", waits, a, 0, 0, 0);
    all_open();
    gate(0, b);
    MUST("cuEventRecord", e, b, 0, 0, 0);
    MUST("cuGraphLaunch", waits, a, 0, 0, 0);
    gate(1, c);
    MUST("cuEventRecord", e, c, 0, 0, 0);
    words[0] = 1;
    yes = is_done("cuStreamQuery", a);
    printf("a graph's wait that was launched before waits for what was recorded since: %s\n", yes ? "no" : "yes");
    all_open();

    /* The event of a wait on B is destroyed while the launch that records it is on its way, and another takes its place. */
    own = event();
    u64 last = graph_with("cuGraphAddEventRecordNode", own);
    gate(0, a);
    MUST("cuGraphLaunch", last, a, 0, 0, 0);
    MUST("cuStreamWaitEvent", b, own, 0, 0, 0);
    MUST("cuGraphExecDestroy", last, 0, 0, 0, 0);
    MUST("cuEventDestroy_v2", own, 0, 0, 0, 0);
    u64 next = event();
    gate(1, c);
    MUST("cuEventRecord", next, c, 0, 0, 0);
    int early = is_done("cuStreamQuery", b);
    words[0] = 1;
    MUST("cuStreamSynchronize", a, 0, 0, 0, 0);
    int late = !is_done("cuStreamQuery", b), taken = is_done("cuEventQuery", next);
    printf("a launch has to do with an event that was destroyed: %s\n", early || late || taken ? "yes" : "no");
    all_open();
    return 0;
}
