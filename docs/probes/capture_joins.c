/* Which nodes of a fork must be joined by the end of a capture, where its dependencies were set.
 *
 *   cc -O1 -o /tmp/capture_joins docs/probes/capture_joins.c -ldl && /tmp/capture_joins
 *
 * A stream F joins the capture of a stream O behind a node R, and captures the nodes A and B. Each line says what was set and
 * joined, and what the end of the capture answers: 0, or 904 for work that is not joined. simcuda claims the answers behind
 * the arrows (conformance/simulator/cuda/src/graph/capture.rs).
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char PTX[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n";

static u64 o, f, event, empty;

static void launch(u64 stream) {
    call_t found = (call_t)dlsym(lib, "cuLaunchKernel");
    must("cuLaunchKernel", found(empty, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0));
}

/* The node that a stream's next one comes after; there is one. */
static u64 tail(u64 stream) {
    int status;
    u64 id, graph, *nodes;
    size_t count;
    call_t found = (call_t)dlsym(lib, "cuStreamGetCaptureInfo_v2");
    must("cuStreamGetCaptureInfo_v2", found(stream, P(&status), P(&id), P(&graph), P(&nodes), P(&count), 0, 0, 0, 0, 0));
    if (count != 1) { fprintf(stderr, "%zu nodes\n", count); exit(1); }
    return nodes[0];
}

static void set(u64 stream, int count, u64 first, u64 second) {
    u64 nodes[2] = {first, second};
    MUST("cuStreamUpdateCaptureDependencies", stream, P(nodes), (u64)count, 1);
}

static void join(u64 to, u64 from) {
    MUST("cuEventRecord", event, from, 0, 0);
    MUST("cuStreamWaitEvent", to, event, 0, 0);
}

static u64 root;
static void begin(void) {
    MUST("cuStreamBeginCapture_v2", o, 2, 0, 0);
    launch(o);
    root = tail(o);
    join(f, o);
}
static void end(const char *what, int claimed) {
    u64 graph = 0;
    int answer = call("cuStreamEndCapture", o, P(&graph), 0, 0);
    printf("%-78s %3d (-> %d)%s\n", what, answer, claimed, answer == claimed ? "" : " DIFFERS");
    if (!answer) MUST("cuGraphDestroy", graph, 0, 0, 0);
}

int main(int argc, char **argv) {
    lib = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
    if (!lib) { fprintf(stderr, "%s\n", dlerror()); return 1; }
    u64 context, module, a, b;
    MUST("cuInit", 0, 0, 0, 0);
    MUST("cuDevicePrimaryCtxRetain", P(&context), 0, 0, 0);
    MUST("cuCtxSetCurrent", context, 0, 0, 0);
    MUST("cuModuleLoadData", P(&module), P(PTX), 0, 0);
    MUST("cuModuleGetFunction", P(&empty), module, P("empty"), 0);
    MUST("cuStreamCreate", P(&o), 1, 0, 0);
    MUST("cuStreamCreate", P(&f), 1, 0, 0);
    MUST("cuEventCreate", P(&event), 2, 0, 0);

    begin(); launch(f);
    end("A; nothing joined", 904);
    begin(); launch(f); join(o, f); launch(f);
    end("A, joined, B", 904);
    begin(); launch(f); set(f, 0, 0, 0);
    end("A; F := {}", 0);
    begin(); launch(f); set(f, 1, root, 0);
    end("A; F := {R}", 0);
    begin(); launch(f); a = tail(f); set(f, 0, 0, 0); set(f, 1, a, 0);
    end("A; F := {}; F := {A}", 0);
    begin(); launch(f); set(f, 1, root, 0); launch(f); join(o, f);
    end("A; F := {R}; B, joined", 0);
    begin(); launch(f); a = tail(f); set(f, 1, root, 0); launch(f); join(o, f); b = tail(f); set(f, 2, a, b);
    end("A; F := {R}; B, joined; F := {A, B}", 0);
    begin(); launch(f); a = tail(f); join(o, f); set(f, 1, root, 0); launch(f); b = tail(f);
    end("A, joined; F := {R}; B", 904);
    begin(); launch(f); a = tail(f); join(o, f); set(f, 1, root, 0); launch(f); b = tail(f); set(f, 2, a, b);
    end("A, joined; F := {R}; B; F := {A, B}", 0);
    begin(); launch(f); a = tail(f); join(o, f); set(f, 1, root, 0); launch(f); set(f, 1, a, 0);
    end("A, joined; F := {R}; B; F := {A}", 0);
    begin(); launch(f); a = tail(f); set(f, 1, root, 0); launch(f); b = tail(f); join(o, f); set(o, 1, root, 0);
    end("A; F := {R}; B, joined; O := {R}", 0);
    begin(); launch(o); a = tail(o); set(o, 1, root, 0); launch(o); join(f, o); join(o, f);
    end("no F's; O: A, O := {R}, B", 0);
    return 0;
}
