/*
 * What the CUDA driver answers about graphs and stream capture: the lines of native-facts.md about them.
 * Needs a GPU and no header or library but the driver's (or another library with its calls, as the first argument).
 * A second argument picks the sections whose names contain it.
 *
 *   cc -O2 graphs.c -o graphs -ldl -lpthread && ./graphs [libcuda.so.1 [part of a name]]
 *
 * Each line is one fact: the section, the call as written here, and its answer. Each section runs in a process of its own
 * with an alarm, so that a crash or a hang costs its own lines alone and is told.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long Address;
typedef void *Handle;

/* The part of cuda.h that is used here. */
typedef struct { int type, id; } Location;
typedef struct {
    int alloc_type, handle_types;
    Location location;
    void *security;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
} PoolProps;
typedef struct { Location location; int flags; } Access;
typedef struct {
    Handle function;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    Handle kern, context;
} Kernel;
typedef struct {
    size_t x, y, z, lod;
    int type;
    const void *host;
    Address device;
    Handle array, reserved;
    size_t pitch, height;
} Side;
typedef struct { Side from, to; size_t width, height, depth; } Copy;
typedef struct { Address to; size_t pitch; unsigned value, element; size_t width, height; } Fill;
typedef struct { void (*function)(void *); void *data; } Host;
typedef struct { PoolProps props; const Access *access; size_t accesses, bytes; Address address; } Alloc;
typedef struct { unsigned long long flags; Handle upload, error_node; int result; } Instantiate;
typedef struct { int result; Handle node, from; } UpdateInfo;
typedef struct { unsigned char from_port, to_port, type, reserved[5]; } EdgeData;
typedef struct { int type, reserved[3]; union { long long words[29]; Kernel kernel; Handle event; Alloc alloc; } u; long long last; } NodeParams;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDriverGetVersion, (int *))                                                                                     \
    X(cuDeviceGetCount, (int *))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (Handle *, int))                                                                       \
    X(cuCtxSetCurrent, (Handle))                                                                                       \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuStreamCreate, (Handle *, unsigned))                                                                            \
    X(cuStreamDestroy_v2, (Handle))                                                                                    \
    X(cuStreamSynchronize, (Handle))                                                                                   \
    X(cuStreamQuery, (Handle))                                                                                         \
    X(cuStreamWaitEvent, (Handle, Handle, unsigned))                                                                   \
    X(cuStreamWaitValue32_v2, (Handle, Address, unsigned, unsigned))                                                   \
    X(cuStreamWriteValue32_v2, (Handle, Address, unsigned, unsigned))                                                  \
    X(cuStreamAddCallback, (Handle, void (*)(Handle, int, void *), void *, unsigned))                                  \
    X(cuStreamGetCtx, (Handle, Handle *))                                                                              \
    X(cuLaunchHostFunc, (Handle, void (*)(void *), void *))                                                            \
    X(cuModuleLoadData, (Handle *, const void *))                                                                      \
    X(cuModuleUnload, (Handle))                                                                                        \
    X(cuModuleGetFunction, (Handle *, Handle, const char *))                                                           \
    X(cuLaunchKernel, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,  \
                       void **))                                                                                       \
    X(cuEventCreate, (Handle *, unsigned))                                                                             \
    X(cuEventDestroy_v2, (Handle))                                                                                     \
    X(cuEventRecord, (Handle, Handle))                                                                                 \
    X(cuEventRecordWithFlags, (Handle, Handle, unsigned))                                                              \
    X(cuEventQuery, (Handle))                                                                                          \
    X(cuEventSynchronize, (Handle))                                                                                    \
    X(cuMemAlloc_v2, (Address *, size_t))                                                                              \
    X(cuMemFree_v2, (Address))                                                                                         \
    X(cuMemAllocManaged, (Address *, size_t, unsigned))                                                                \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                                     \
    X(cuMemFreeHost, (void *))                                                                                         \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned))                                                                \
    X(cuPointerGetAttribute, (void *, int, Address))                                                                   \
    X(cuMemAllocAsync, (Address *, size_t, Handle))                                                                    \
    X(cuMemAllocFromPoolAsync, (Address *, size_t, Handle, Handle))                                                    \
    X(cuMemFreeAsync, (Address, Handle))                                                                               \
    X(cuMemPoolCreate, (Handle *, const PoolProps *))                                                                  \
    X(cuMemPoolTrimTo, (Handle, size_t))                                                                               \
    X(cuMemcpyHtoD_v2, (Address, const void *, size_t))                                                                \
    X(cuMemcpyDtoH_v2, (void *, Address, size_t))                                                                      \
    X(cuMemcpyHtoDAsync_v2, (Address, const void *, size_t, Handle))                                                   \
    X(cuMemcpyDtoHAsync_v2, (void *, Address, size_t, Handle))                                                         \
    X(cuMemcpyAsync, (Address, Address, size_t, Handle))                                                               \
    X(cuMemsetD8_v2, (Address, unsigned char, size_t))                                                                 \
    X(cuMemsetD8Async, (Address, unsigned char, size_t, Handle))                                                       \
    X(cuMemsetD32Async, (Address, unsigned, size_t, Handle))                                                           \
    X(cuMemPrefetchAsync, (Address, size_t, int, Handle))                                                              \
    X(cuGraphCreate, (Handle *, unsigned))                                                                             \
    X(cuGraphClone, (Handle *, Handle))                                                                                \
    X(cuGraphDestroy, (Handle))                                                                                        \
    X(cuGraphDestroyNode, (Handle))                                                                                    \
    X(cuGraphAddKernelNode_v2, (Handle *, Handle, const Handle *, size_t, const Kernel *))                             \
    X(cuGraphAddMemcpyNode, (Handle *, Handle, const Handle *, size_t, const Copy *, Handle))                          \
    X(cuGraphAddMemsetNode, (Handle *, Handle, const Handle *, size_t, const Fill *, Handle))                          \
    X(cuGraphAddHostNode, (Handle *, Handle, const Handle *, size_t, const Host *))                                    \
    X(cuGraphAddEmptyNode, (Handle *, Handle, const Handle *, size_t))                                                 \
    X(cuGraphAddChildGraphNode, (Handle *, Handle, const Handle *, size_t, Handle))                                    \
    X(cuGraphAddEventRecordNode, (Handle *, Handle, const Handle *, size_t, Handle))                                   \
    X(cuGraphAddEventWaitNode, (Handle *, Handle, const Handle *, size_t, Handle))                                     \
    X(cuGraphAddMemAllocNode, (Handle *, Handle, const Handle *, size_t, Alloc *))                                     \
    X(cuGraphAddMemFreeNode, (Handle *, Handle, const Handle *, size_t, Address))                                      \
    X(cuGraphAddNode, (Handle *, Handle, const Handle *, size_t, NodeParams *))                                        \
    X(cuGraphAddNode_v2, (Handle *, Handle, const Handle *, const EdgeData *, size_t, NodeParams *))                   \
    X(cuGraphAddDependencies, (Handle, const Handle *, const Handle *, size_t))                                        \
    X(cuGraphAddDependencies_v2, (Handle, const Handle *, const Handle *, const EdgeData *, size_t))                   \
    X(cuGraphRemoveDependencies, (Handle, const Handle *, const Handle *, size_t))                                     \
    X(cuGraphGetNodes, (Handle, Handle *, size_t *))                                                                   \
    X(cuGraphGetRootNodes, (Handle, Handle *, size_t *))                                                               \
    X(cuGraphGetEdges, (Handle, Handle *, Handle *, size_t *))                                                         \
    X(cuGraphNodeGetDependencies, (Handle, Handle *, size_t *))                                                        \
    X(cuGraphNodeGetType, (Handle, int *))                                                                             \
    X(cuGraphNodeFindInClone, (Handle *, Handle, Handle))                                                              \
    X(cuGraphChildGraphNodeGetGraph, (Handle, Handle *))                                                               \
    X(cuGraphKernelNodeSetParams_v2, (Handle, const Kernel *))                                                         \
    X(cuGraphMemsetNodeSetParams, (Handle, const Fill *))                                                              \
    X(cuGraphKernelNodeSetAttribute, (Handle, int, const void *))                                                      \
    X(cuGraphMemAllocNodeGetParams, (Handle, Alloc *))                                                                 \
    X(cuGraphInstantiateWithFlags, (Handle *, Handle, unsigned long long))                                             \
    X(cuGraphInstantiateWithParams, (Handle *, Handle, Instantiate *))                                                 \
    X(cuGraphUpload, (Handle, Handle))                                                                                 \
    X(cuGraphLaunch, (Handle, Handle))                                                                                 \
    X(cuGraphExecDestroy, (Handle))                                                                                    \
    X(cuGraphExecGetFlags, (Handle, unsigned long long *))                                                             \
    X(cuGraphExecUpdate_v2, (Handle, Handle, UpdateInfo *))                                                            \
    X(cuGraphExecKernelNodeSetParams_v2, (Handle, Handle, const Kernel *))                                             \
    X(cuGraphExecMemcpyNodeSetParams, (Handle, Handle, const Copy *, Handle))                                          \
    X(cuGraphExecMemsetNodeSetParams, (Handle, Handle, const Fill *, Handle))                                          \
    X(cuGraphExecHostNodeSetParams, (Handle, Handle, const Host *))                                                    \
    X(cuGraphExecChildGraphNodeSetParams, (Handle, Handle, Handle))                                                    \
    X(cuGraphExecEventRecordNodeSetEvent, (Handle, Handle, Handle))                                                    \
    X(cuGraphExecEventWaitNodeSetEvent, (Handle, Handle, Handle))                                                      \
    X(cuGraphNodeSetEnabled, (Handle, Handle, unsigned))                                                               \
    X(cuGraphNodeGetEnabled, (Handle, Handle, unsigned *))                                                             \
    X(cuGraphDebugDotPrint, (Handle, const char *, unsigned))                                                          \
    X(cuDeviceGraphMemTrim, (int))                                                                                     \
    X(cuDeviceGetGraphMemAttribute, (int, int, void *))                                                                \
    X(cuStreamBeginCapture_v2, (Handle, int))                                                                          \
    X(cuStreamBeginCaptureToGraph, (Handle, Handle, const Handle *, const EdgeData *, size_t, int))                    \
    X(cuStreamEndCapture, (Handle, Handle *))                                                                          \
    X(cuStreamIsCapturing, (Handle, int *))                                                                            \
    X(cuStreamGetCaptureInfo_v2, (Handle, int *, unsigned long long *, Handle *, const Handle **, size_t *))           \
    X(cuStreamUpdateCaptureDependencies, (Handle, Handle *, size_t, unsigned))                                         \
    X(cuThreadExchangeStreamCaptureMode, (int *))

/* A call that the library lacks answers this, so that only its own lines are missing. */
static int absent(void) { return 9999; }
#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

static const char *section = "";
/* Prints one call and its answer. */
#define SAY(call) (printf("%s: %s = %d\n", section, #call, (int)(call)), fflush(stdout))
#define TELL(...) (printf("%s: ", section), printf(__VA_ARGS__), printf("\n"), fflush(stdout))
/* A call that every section relies on. */
#define MUST(call) must((call), #call)
static void must(int status, const char *call) {
    if (status != 0) {
        printf("%s: NEEDED %s = %d\n", section, call, status);
        fflush(stdout);
    }
}

static const char module_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry empty()\n{\nret;\n}\n"
    /* Waits until the word is not 0. */
    ".visible .entry spin(.param .u64 word)\n{\n.reg .u64 %a;\n.reg .u32 %w;\n.reg .pred %p;\n"
    "ld.param.u64 %a, [word];\n"
    "AGAIN:\nld.volatile.u32 %w, [%a];\nsetp.eq.u32 %p, %w, 0;\n@%p bra AGAIN;\nret;\n}\n"
    /* Stores a value. */
    ".visible .entry put(.param .u64 word, .param .u32 value)\n{\n.reg .u64 %a;\n.reg .u32 %w;\n"
    "ld.param.u64 %a, [word];\nld.param.u32 %w, [value];\nst.volatile.u32 [%a], %w;\nret;\n}\n"
    /* The same with parameters of other sizes. */
    ".visible .entry put64(.param .u64 word, .param .u64 value)\n{\n.reg .u64 %a, %w;\n"
    "ld.param.u64 %a, [word];\nld.param.u64 %w, [value];\nst.volatile.u64 [%a], %w;\nret;\n}\n"
    /* Says that it is there, and waits for a while for the other: stores 1 if it came, 2 if not. */
    ".visible .entry meet(.param .u64 mine, .param .u64 theirs, .param .u64 saw)\n{\n"
    ".reg .u64 %m, %t, %s;\n.reg .u32 %w, %n;\n.reg .pred %p;\n"
    "ld.param.u64 %m, [mine];\nld.param.u64 %t, [theirs];\nld.param.u64 %s, [saw];\n"
    "mov.u32 %w, 1;\nst.volatile.u32 [%m], %w;\nmov.u32 %n, 0;\n"
    "AGAIN:\nld.volatile.u32 %w, [%t];\nsetp.ne.u32 %p, %w, 0;\n@%p bra MET;\n"
    "add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 200000;\n@%p bra AGAIN;\n"
    "mov.u32 %w, 2;\nst.volatile.u32 [%s], %w;\nret;\n"
    "MET:\nmov.u32 %w, 1;\nst.volatile.u32 [%s], %w;\nret;\n}\n";

static int devices, one_device;
static Handle context, context2, module, module2, empty, spin, put, put64, meet, far_put, stream, other, blocking, event, event2;
static Handle graph, exec, node, nodes[8], nothing;
static Address device, device_too;
static volatile unsigned *words;
static char heap[4096];
static size_t count;

static void begin(void) {
    MUST(cuInit(0));
    MUST(cuDeviceGetCount(&devices));
    devices = one_device ? 1 : devices;
    if (devices > 1) {
        MUST(cuDevicePrimaryCtxRetain(&context2, 1));
        MUST(cuCtxSetCurrent(context2));
        MUST(cuModuleLoadData(&module2, module_text));
        MUST(cuModuleGetFunction(&far_put, module2, "put"));
    }
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, module_text));
    MUST(cuModuleGetFunction(&empty, module, "empty"));
    MUST(cuModuleGetFunction(&spin, module, "spin"));
    MUST(cuModuleGetFunction(&put, module, "put"));
    MUST(cuModuleGetFunction(&put64, module, "put64"));
    MUST(cuModuleGetFunction(&meet, module, "meet"));
    MUST(cuStreamCreate(&stream, 1));
    MUST(cuStreamCreate(&other, 1));
    MUST(cuStreamCreate(&blocking, 0));
    MUST(cuEventCreate(&event, 2));
    MUST(cuEventCreate(&event2, 2));
    MUST(cuMemAlloc_v2(&device, 1 << 20));
    MUST(cuMemAlloc_v2(&device_too, 1 << 20));
    MUST(cuMemHostAlloc((void **)&words, 4096, 0));
    memset((void *)words, 0, 4096);
    MUST(cuMemsetD8_v2(device, 0, 1 << 20));
    /* So that loading a kernel lazily does not wait for one that spins. */
    MUST(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuCtxSynchronize());
}

static void rest(int milliseconds) { usleep((useconds_t)milliseconds * 1000); }
static void host_nothing(void *data) { (void)data; }
static void host_bump(void *data) { ++*(volatile unsigned *)data; }
static void callback(Handle stream_of, int status, void *data) { (void)stream_of; (void)status; (void)data; }

/* Parameters. What they point to lives as long as the process. */
static Kernel kernel_of(Handle function, void **params) {
    Kernel kernel = {function, {1, 1, 1}, {1, 1, 1}, 0, params, NULL, NULL, NULL};
    return kernel;
}
static Kernel put_of(Handle function, volatile void *word, unsigned long long value) {
    struct { Address word; unsigned long long value; void *params[2]; } *kept = malloc(sizeof *kept);
    kept->word = (Address)(uintptr_t)word;
    kept->value = value;
    kept->params[0] = &kept->word;
    kept->params[1] = &kept->value;
    return kernel_of(function, kept->params);
}
static Kernel spin_of(volatile void *word) {
    struct { Address word; void *params[1]; } *kept = malloc(sizeof *kept);
    kept->word = (Address)(uintptr_t)word;
    kept->params[0] = &kept->word;
    return kernel_of(spin, kept->params);
}
static Kernel meet_of(int mine, int theirs, int saw) {
    struct { Address words[3]; void *params[3]; } *kept = malloc(sizeof *kept);
    int at[3] = {mine, theirs, saw};
    for (int i = 0; i < 3; i++) {
        kept->words[i] = device + 64 * (Address)at[i];
        kept->params[i] = &kept->words[i];
    }
    return kernel_of(meet, kept->params);
}
static Copy copy_of(int to_type, Address to, int from_type, Address from, size_t width, size_t height) {
    Copy copy;
    memset(&copy, 0, sizeof copy);
    copy.from.type = from_type;
    copy.from.device = from;
    copy.from.host = (void *)(uintptr_t)from;
    copy.from.pitch = height > 1 ? 256 : 0;
    copy.to.type = to_type;
    copy.to.device = to;
    copy.to.host = (void *)(uintptr_t)to;
    copy.to.pitch = height > 1 ? 256 : 0;
    copy.width = width;
    copy.height = height;
    copy.depth = 1;
    return copy;
}
static Fill fill_of(Address to, unsigned value, unsigned element, size_t width, size_t height) {
    Fill fill = {to, height > 1 ? 256 : 0, value, element, width, height};
    return fill;
}
static Alloc alloc_of(size_t bytes) {
    Alloc alloc;
    memset(&alloc, 0, sizeof alloc);
    alloc.props.alloc_type = 1;
    alloc.props.location.type = 1;
    alloc.bytes = bytes;
    return alloc;
}
static int launch_put(Handle on, volatile unsigned *word, unsigned value) {
    Kernel kernel = put_of(put, word, value);
    return cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, on, kernel.params, NULL);
}
static int launch_spin(Handle on, volatile unsigned *word) {
    Kernel kernel = spin_of(word);
    return cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, on, kernel.params, NULL);
}
static unsigned device_word(int index) {
    unsigned word = 0;
    MUST(cuMemcpyDtoH_v2(&word, device + 64 * (Address)index, 4));
    return word;
}
static int status_of(Handle on) {
    int status = -1;
    int answer = cuStreamIsCapturing(on, &status);
    return answer ? 1000 + answer : status;
}
static unsigned long long memory(int attribute) {
    unsigned long long value = 0;
    MUST(cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}
static void shape(const char *what, Handle of) {
    Handle list[64], from[64], to[64];
    size_t n = 64, edges = 64;
    cuGraphGetNodes(of, list, &n);
    cuGraphGetEdges(of, from, to, &edges);
    printf("%s: %s has nodes", section, what);
    for (size_t i = 0; i < n && i < 64; i++) {
        int type = -1;
        cuGraphNodeGetType(list[i], &type);
        printf(" %d", type);
    }
    printf(", edges");
    for (size_t e = 0; e < edges && e < 64; e++) {
        int f = -1, t = -1;
        for (size_t i = 0; i < n && i < 64; i++) {
            f = list[i] == from[e] ? (int)i : f;
            t = list[i] == to[e] ? (int)i : t;
        }
        printf(" %d>%d", f, t);
    }
    printf("\n");
    fflush(stdout);
}
#define FRESH() MUST(cuGraphCreate(&graph, 0))

/* ---- explicit graphs ---- */

static void no_context(void) {
    Kernel kernel = put_of(put, words, 1);
    Kernel with_context = kernel;
    with_context.context = context;
    Copy copy = copy_of(2, device_too, 2, device, 64, 1);
    Fill fill = fill_of(device, 1, 4, 16, 1);
    Host host = {host_nothing, NULL};
    Alloc alloc = alloc_of(1000);
    Handle child, clone;
    MUST(cuGraphCreate(&child, 0));
    MUST(cuCtxSetCurrent(NULL));
    SAY(cuGraphCreate(&graph, 0));
    SAY(cuGraphCreate(&nothing, 1));
    SAY(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    SAY(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &with_context));
    SAY(cuGraphAddMemcpyNode(&nodes[1], graph, NULL, 0, &copy, context));
    SAY(cuGraphAddMemsetNode(&nodes[2], graph, NULL, 0, &fill, context));
    SAY(cuGraphAddHostNode(&nodes[3], graph, NULL, 0, &host));
    SAY(cuGraphAddChildGraphNode(&nodes[4], graph, NULL, 0, child));
    SAY(cuGraphAddEventRecordNode(&nodes[5], graph, NULL, 0, event));
    SAY(cuGraphAddEventWaitNode(&nodes[6], graph, NULL, 0, event));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &with_context));
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &copy, context));
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &fill, context));
    SAY(cuGraphExecHostNodeSetParams(exec, nodes[3], &host));
    SAY(cuGraphExecEventRecordNodeSetEvent(exec, nodes[5], event2));
    SAY(cuGraphExecEventWaitNodeSetEvent(exec, nodes[6], event2));
    SAY(cuGraphNodeSetEnabled(exec, nodes[0], 1));
    SAY(cuGraphUpload(exec, stream));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
    SAY(cuGraphLaunch(exec, NULL));
    SAY(cuGraphClone(&clone, graph));
    SAY(cuGraphDebugDotPrint(graph, "/dev/null", 1));
    SAY(cuGraphDebugDotPrint(graph, "/nonexistent/x", 1));
    SAY(cuGraphExecDestroy(exec));
    SAY(cuGraphDestroy(clone));
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    SAY(cuGraphAddMemFreeNode(&nodes[7], graph, &node, 1, alloc.address));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuGraphExecDestroy(exec));
    SAY(cuGraphDestroy(graph));
    SAY(cuDeviceGraphMemTrim(0));
    SAY(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuMemsetD8Async(device, 1, 16, stream));
    SAY(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, stream, kernel.params, NULL));
    SAY(cuStreamEndCapture(stream, &graph));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphLaunch(exec, stream));
}

static void arguments(void) {
    Kernel kernel = put_of(put, words, 1);
    Handle foreign, list[4], twice[2], loose;
    SAY(cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    MUST(cuGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
    SAY(cuGraphCreate(&foreign, 0));
    MUST(cuGraphAddEmptyNode(&loose, foreign, NULL, 0));
    SAY(cuGraphAddEmptyNode(&node, graph, &loose, 1));
    twice[0] = twice[1] = nodes[0];
    SAY(cuGraphAddEmptyNode(&node, graph, twice, 2));
    SAY(cuGraphAddEmptyNode(NULL, graph, NULL, 0));
    SAY(cuGraphAddEmptyNode(&node, NULL, NULL, 0));
    SAY(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    SAY(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    SAY(cuGraphAddDependencies(graph, &nodes[0], &nodes[0], 1));
    SAY(cuGraphAddDependencies(graph, &loose, &nodes[0], 1));
    SAY(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1));
    shape("a graph with a cycle asked for", graph);
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphRemoveDependencies(graph, &nodes[1], &nodes[0], 1));
    SAY(cuGraphRemoveDependencies(graph, &nodes[1], &nodes[0], 1));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 1 << 20));
    Instantiate params = {0, NULL, (Handle)8, 77};
    SAY(cuGraphInstantiateWithParams(&exec, graph, &params));
    TELL("result_out %d, error node %d", params.result, params.error_node != NULL);
    params.flags = 2;
    params.upload = stream;
    SAY(cuGraphInstantiateWithParams(&exec, graph, &params));
    unsigned long long flags = 99;
    SAY(cuGraphExecGetFlags(exec, &flags));
    TELL("flags %llu", flags);
    count = 1;
    list[0] = list[1] = NULL;
    SAY(cuGraphGetNodes(graph, list, &count));
    TELL("room for 1: count %zu", count);
    count = 4;
    list[3] = (Handle)1;
    SAY(cuGraphGetNodes(graph, list, &count));
    TELL("room for 4: count %zu, the rest nulled %d", count, list[3] == NULL);
    SAY(cuGraphGetEdges(graph, NULL, NULL, &count));
    TELL("edges %zu", count);
    SAY(cuGraphGetRootNodes(graph, NULL, &count));
    TELL("roots %zu", count);
    SAY(cuGraphNodeGetDependencies(nodes[1], NULL, &count));
    SAY(cuGraphDestroyNode(nodes[1]));
    kernel.params = NULL;
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    kernel = put_of(put, words, 1);
    kernel.grid[0] = 0;
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    kernel.grid[0] = 1;
    kernel.block[0] = 2048;
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    kernel.block[0] = 1;
    kernel.shared = 1 << 24;
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    kernel.function = NULL;
    kernel.shared = 0;
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    FRESH();
    unsigned cluster[16] = {2, 1, 1}, cooperative[16] = {1};
    kernel = put_of(put, words, 1);
    MUST(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    SAY(cuGraphKernelNodeSetAttribute(node, 2, cooperative));
    SAY(cuGraphKernelNodeSetAttribute(node, 4, cluster));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphKernelNodeSetAttribute(node, 4000, cluster));
    FRESH();
    Copy copy = copy_of(2, device_too, 2, device, 0, 1);
    SAY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = copy_of(2, device_too, 2, device, 2 << 20, 1);
    SAY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = copy_of(2, (Address)(uintptr_t)heap, 2, device, 64, 1);
    SAY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = copy_of(4, (Address)(uintptr_t)heap, 4, device, 64, 1);
    SAY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = copy_of(1, (Address)(uintptr_t)heap, 1, (Address)(uintptr_t)words, 64, 1);
    SAY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    copy = copy_of(4, (Address)(uintptr_t)heap, 4, (Address)(uintptr_t)words, 64, 8);
    SAY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    FRESH();
    Fill fill = fill_of(device, 1, 3, 16, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of(device + 1, 1, 4, 16, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of(device, 1, 4, 0, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of(device, 1, 4, 16, 0);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of(device, 1, 1, 2 << 20, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of((Address)(uintptr_t)heap, 1, 1, 16, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of((Address)(uintptr_t)words, 1, 1, 16, 4);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    fill = fill_of(device, 0x1ff, 1, 16, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    Host host = {NULL, NULL};
    SAY(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
    if (devices > 1) {
        kernel = put_of(far_put, words, 1);
        SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
        kernel.context = context2;
        SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
        fill = fill_of(device, 1, 1, 16, 1);
        SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context2));
        SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
        SAY(cuGraphLaunch(exec, stream));
        SAY(cuStreamSynchronize(stream));
    }
    SAY(cuGraphDestroy(NULL));
    SAY(cuGraphExecDestroy(NULL));
    SAY(cuGraphLaunch(NULL, stream));
}

static void by_params(void) {
    NodeParams params;
    memset(&params, 0, sizeof params);
    params.u.kernel = put_of(put, words, 5);
    SAY(cuGraphAddNode(&nodes[0], graph, NULL, 0, &params));
    EdgeData edge = {0, 0, 0, {0}}, odd = {1, 0, 1, {0}};
    params.type = 5;
    memset(&params.u, 0, sizeof params.u);
    SAY(cuGraphAddNode_v2(&nodes[1], graph, &nodes[0], &edge, 1, &params));
    SAY(cuGraphAddNode_v2(&nodes[2], graph, &nodes[0], NULL, 1, &params));
    SAY(cuGraphAddNode_v2(&nodes[3], graph, &nodes[1], &odd, 1, &params));
    params.last = 1;
    SAY(cuGraphAddNode_v2(&nodes[3], graph, &nodes[1], NULL, 1, &params));
    params.last = 0;
    params.type = 10;
    params.u.alloc = alloc_of(512);
    SAY(cuGraphAddNode_v2(&nodes[4], graph, NULL, NULL, 0, &params));
    TELL("address told %d", params.u.alloc.address != 0);
    params.type = 99;
    SAY(cuGraphAddNode_v2(&nodes[3], graph, &nodes[1], NULL, 1, &params));
    shape("what was made", graph);
}

static void parallel(void) {
    Kernel first = meet_of(0, 1, 2), second = meet_of(1, 0, 3);
    MUST(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &first));
    MUST(cuGraphAddKernelNode_v2(&nodes[1], graph, NULL, 0, &second));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    TELL("two kernels without an edge met: %u %u", device_word(2), device_word(3));
    MUST(cuMemsetD8_v2(device, 0, 4096));
    MUST(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    TELL("with an edge: %u %u (2 did not see the other)", device_word(2), device_word(3));
    /* Inside of two child graphs. */
    MUST(cuMemsetD8_v2(device, 0, 4096));
    Handle left, right, both;
    MUST(cuGraphCreate(&left, 0));
    MUST(cuGraphCreate(&right, 0));
    MUST(cuGraphCreate(&both, 0));
    MUST(cuGraphAddKernelNode_v2(&node, left, NULL, 0, &first));
    MUST(cuGraphAddKernelNode_v2(&node, right, NULL, 0, &second));
    MUST(cuGraphAddChildGraphNode(&node, both, NULL, 0, left));
    MUST(cuGraphAddChildGraphNode(&node, both, NULL, 0, right));
    MUST(cuGraphInstantiateWithFlags(&exec, both, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    TELL("in two child graphs: %u %u", device_word(2), device_word(3));
    /* Two graphs on two streams. */
    MUST(cuMemsetD8_v2(device, 0, 4096));
    Handle one, two;
    MUST(cuGraphInstantiateWithFlags(&one, left, 0));
    MUST(cuGraphInstantiateWithFlags(&two, right, 0));
    MUST(cuGraphLaunch(one, stream));
    MUST(cuGraphLaunch(two, other));
    MUST(cuCtxSynchronize());
    TELL("two graphs on two streams: %u %u", device_word(2), device_word(3));
    /* Two instances of one graph. */
    Handle again;
    MUST(cuGraphInstantiateWithFlags(&again, left, 0));
    TELL("64 nodes without edges:");
    FRESH();
    for (int i = 0; i < 64; i++) {
        Kernel kernel = meet_of(8 + i, 8 + (i + 1) % 64, 100 + i);
        MUST(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
    }
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    unsigned met = 0;
    for (int i = 0; i < 64; i++) {
        met += device_word(100 + i) == 1;
    }
    TELL("of 64 kernels in a ring %u met their neighbour", met);
}

/* One exec that cannot end before words[0] is set, and adds to words[1] by a host function at its end. */
static void gated_exec(void) {
    FRESH();
    Kernel wait = spin_of(&words[0]);
    Kernel store = put_of(put, &words[2], 7);
    Host host = {host_bump, (void *)&words[1]};
    MUST(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &wait));
    MUST(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &store));
    MUST(cuGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &host));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void in_flight(void) {
    gated_exec();
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuGraphLaunch(exec, other));
    SAY(cuGraphLaunch(exec, stream));
    Kernel store = put_of(put, &words[2], 8);
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &store));
    rest(50);
    TELL("ended before the gate opens: %u", words[1]);
    words[0] = 1;
    MUST(cuCtxSynchronize());
    TELL("ended: %u, stored %u (7: the update is for later launches)", words[1], words[2]);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    TELL("the next launch stores %u", words[2]);
    /* Does the launch on another stream overlap with the first? The second stream's launch, gated by words[0] in the
     * first node, cannot tell; so the first launch stands behind a gate of its own. */
    words[1] = words[2] = 0;
    MUST(launch_spin(stream, &words[3]));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphLaunch(exec, other));
    rest(50);
    TELL("a launch on another stream behind one that has not begun ran: %u", words[1]);
    SAY(cuStreamQuery(other));
    words[3] = 1;
    MUST(cuCtxSynchronize());
    TELL("afterwards: %u", words[1]);
    /* Destroying while it is in flight. */
    words[0] = words[1] = words[3] = 0;
    MUST(cuGraphLaunch(exec, stream));
    SAY(cuGraphDestroy(graph));
    SAY(cuGraphExecDestroy(exec));
    words[0] = 1;
    SAY(cuStreamSynchronize(stream));
    TELL("a destroyed exec in flight ended: %u", words[1]);
    gated_exec();
    words[0] = words[1] = 0;
    MUST(cuGraphLaunch(exec, stream));
    unsigned enabled = 9;
    SAY(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    SAY(cuGraphNodeGetEnabled(exec, nodes[1], &enabled));
    TELL("enabled %u", enabled);
    words[2] = 0;
    words[0] = 1;
    MUST(cuStreamSynchronize(stream));
    TELL("the launch before the disabling stored %u", words[2]);
    words[2] = 0;
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    TELL("a disabled node stored %u, the node behind it ran %u times in both", words[2], words[1]);
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &store));
    MUST(cuGraphNodeGetEnabled(exec, nodes[1], &enabled));
    TELL("enabled after an update %u", enabled);
    /* Event nodes: when are they seen? */
    FRESH();
    Kernel wait = spin_of(&words[0]);
    words[0] = 0;
    MUST(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &wait));
    MUST(cuGraphAddEventRecordNode(&nodes[1], graph, &nodes[0], 1, event));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuEventQuery(event));
    MUST(cuGraphLaunch(exec, stream));
    SAY(cuEventQuery(event));
    SAY(cuStreamWaitEvent(other, event, 0));
    SAY(cuStreamQuery(other));
    SAY(launch_put(other, &words[4], 3));
    rest(20);
    TELL("a stream that waits for an event recorded in a graph in flight went on: %u", words[4]);
    words[0] = 1;
    MUST(cuCtxSynchronize());
    SAY(cuEventQuery(event));
    /* An event wait node takes the record at the time of the launch? */
    FRESH();
    words[0] = 0;
    words[4] = 0;
    Kernel store4 = put_of(put, &words[4], 4);
    MUST(cuGraphAddEventWaitNode(&nodes[0], graph, NULL, 0, event));
    MUST(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &store4));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(launch_spin(stream, &words[0]));
    MUST(cuEventRecord(event, stream));
    MUST(cuGraphLaunch(exec, other));
    rest(20);
    TELL("a graph that waits for an event went on early: %u", words[4]);
    words[0] = 1;
    MUST(cuCtxSynchronize());
    TELL("and ended: %u", words[4]);
    SAY(cuGraphExecEventWaitNodeSetEvent(exec, nodes[0], event2));
    SAY(cuGraphExecEventWaitNodeSetEvent(exec, nodes[1], event2));
}

/* ---- updates ---- */

static void updates(void) {
    Kernel kernel = put_of(put, words, 1), bare = kernel_of(empty, NULL), wide = put_of(put64, words, 1);
    Copy copy = copy_of(2, device_too, 2, device, 64, 1);
    Fill fill = fill_of(device, 1, 4, 16, 1);
    Host host = {host_nothing, NULL};
    Handle child, inner, other_child, late, foreign, added;
    MUST(cuGraphCreate(&child, 0));
    MUST(cuGraphAddKernelNode_v2(&inner, child, NULL, 0, &kernel));
    MUST(cuGraphCreate(&other_child, 0));
    MUST(cuGraphAddKernelNode_v2(&added, other_child, NULL, 0, &kernel));
    MUST(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &kernel));
    MUST(cuGraphAddMemcpyNode(&nodes[1], graph, NULL, 0, &copy, context));
    MUST(cuGraphAddMemsetNode(&nodes[2], graph, NULL, 0, &fill, context));
    MUST(cuGraphAddHostNode(&nodes[3], graph, NULL, 0, &host));
    MUST(cuGraphAddChildGraphNode(&nodes[4], graph, NULL, 0, child));
    MUST(cuGraphAddEventRecordNode(&nodes[5], graph, NULL, 0, event));
    MUST(cuGraphAddEventWaitNode(&nodes[6], graph, NULL, 0, event2));
    MUST(cuGraphAddEmptyNode(&nodes[7], graph, NULL, 0));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphAddKernelNode_v2(&late, graph, NULL, 0, &kernel));
    MUST(cuGraphCreate(&foreign, 0));
    MUST(cuGraphAddKernelNode_v2(&node, foreign, NULL, 0, &kernel));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &kernel));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &bare));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &wide));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, late, &kernel));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, inner, &kernel));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &kernel));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[7], &kernel));
    Kernel large = kernel;
    large.grid[0] = 4;
    large.block[0] = 64;
    large.block[1] = 2;
    large.shared = 1024;
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &large));
    large.grid[0] = 0;
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &large));
    large.grid[0] = 1;
    large.block[0] = 4096;
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &large));
    large = kernel;
    large.params = NULL;
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &large));
    if (devices > 1) {
        Kernel far = put_of(far_put, words, 1);
        SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &far));
        far.context = context2;
        SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &far));
        SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &copy, context2));
        SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &fill, context2));
        Address far_memory;
        MUST(cuCtxSetCurrent(context2));
        MUST(cuMemAlloc_v2(&far_memory, 4096));
        MUST(cuCtxSetCurrent(context));
        Copy to_far = copy_of(2, far_memory, 2, device, 64, 1);
        Fill far_fill = fill_of(far_memory, 1, 4, 16, 1);
        SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &to_far, context));
        SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &far_fill, context));
    }
    Copy other_copy = copy_of(2, device_too + 64, 2, device + 128, 128, 1);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    other_copy = copy_of(2, device_too, 2, device, 64, 4);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    other_copy = copy_of(1, (Address)(uintptr_t)words, 2, device, 64, 1);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    other_copy = copy_of(4, (Address)(uintptr_t)words, 4, device, 64, 1);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    other_copy = copy_of(4, device_too, 4, device, 64, 1);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    other_copy = copy_of(2, device_too, 2, device, 0, 1);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    other_copy = copy_of(2, device_too, 2, device, 2 << 20, 1);
    SAY(cuGraphExecMemcpyNodeSetParams(exec, nodes[1], &other_copy, context));
    Fill other_fill = fill_of(device + 64, 2, 4, 8, 1);
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &other_fill, context));
    other_fill = fill_of(device, 2, 4, 32, 1);
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &other_fill, context));
    other_fill = fill_of(device, 2, 1, 16, 1);
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &other_fill, context));
    other_fill = fill_of(device, 2, 4, 16, 4);
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &other_fill, context));
    other_fill = fill_of(device, 2, 4, 0, 1);
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &other_fill, context));
    other_fill = fill_of((Address)(uintptr_t)words, 2, 4, 16, 1);
    SAY(cuGraphExecMemsetNodeSetParams(exec, nodes[2], &other_fill, context));
    host.function = host_bump;
    host.data = (void *)&words[1];
    SAY(cuGraphExecHostNodeSetParams(exec, nodes[3], &host));
    SAY(cuGraphExecChildGraphNodeSetParams(exec, nodes[4], child));
    SAY(cuGraphExecChildGraphNodeSetParams(exec, nodes[4], other_child));
    MUST(cuGraphAddKernelNode_v2(&added, other_child, NULL, 0, &kernel));
    SAY(cuGraphExecChildGraphNodeSetParams(exec, nodes[4], other_child));
    Handle embedded, embedded_node;
    count = 1;
    SAY(cuGraphChildGraphNodeGetGraph(nodes[4], &embedded));
    SAY(cuGraphGetNodes(embedded, &embedded_node, &count));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, embedded_node, &kernel));
    SAY(cuGraphNodeSetEnabled(exec, embedded_node, 0));
    SAY(cuGraphDestroy(embedded));
    SAY(cuGraphExecEventRecordNodeSetEvent(exec, nodes[5], event2));
    SAY(cuGraphExecEventRecordNodeSetEvent(exec, nodes[6], event2));
    SAY(cuGraphExecEventWaitNodeSetEvent(exec, nodes[6], event));
    if (devices > 1) {
        Handle far_event;
        MUST(cuCtxSetCurrent(context2));
        MUST(cuEventCreate(&far_event, 2));
        MUST(cuCtxSetCurrent(context));
        SAY(cuGraphExecEventRecordNodeSetEvent(exec, nodes[5], far_event));
        SAY(cuGraphExecEventWaitNodeSetEvent(exec, nodes[6], far_event));
        SAY(cuGraphAddEventRecordNode(&node, foreign, NULL, 0, far_event));
        SAY(cuGraphInstantiateWithFlags(&nothing, foreign, 0));
    }
    for (int i = 0; i < 8; i++) {
        TELL("cuGraphNodeSetEnabled of node kind %d = %d", i, cuGraphNodeSetEnabled(exec, nodes[i], 0));
    }
    SAY(cuGraphNodeSetEnabled(exec, late, 0));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
}

/* A chain of two kernels and a fill behind, as a graph to compare with. */
static void chain(Handle function, int swapped, int fill_first, size_t width) {
    FRESH();
    Kernel kernel = put_of(function, words, 3), bare = put_of(put, &words[1], 4);
    Fill fill = fill_of(device, 1, 4, width, 1);
    MUST(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, swapped ? &bare : &kernel));
    MUST(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, swapped ? &kernel : &bare));
    if (fill_first) {
        MUST(cuGraphAddMemsetNode(&nodes[2], graph, NULL, 0, &fill, context));
    } else {
        MUST(cuGraphAddMemsetNode(&nodes[2], graph, &nodes[1], 1, &fill, context));
    }
}

static void update_whole(void) {
    UpdateInfo info;
    Kernel kernel = put_of(put, words, 5);
#define UPDATE(what)                                                                                                   \
    do {                                                                                                               \
        memset(&info, 0xff, sizeof info);                                                                              \
        int answer = cuGraphExecUpdate_v2(exec, graph, &info);                                                         \
        TELL("cuGraphExecUpdate_v2 %s = %d, result %d, error node %s, error from %s", what, answer, info.result,       \
             info.node == NULL ? "none" : info.node == (Handle)-1 ? "untouched" : "told",                              \
             info.from == NULL ? "none" : info.from == (Handle)-1 ? "untouched" : "told");                             \
    } while (0)
    chain(put, 0, 0, 16);
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    UPDATE("the same graph");
    chain(put, 0, 0, 16);
    UPDATE("another graph of that shape");
    chain(put64, 0, 0, 16);
    UPDATE("another function");
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    chain(put64, 1, 0, 16);
    UPDATE("functions swapped");
    chain(put64, 0, 1, 16);
    UPDATE("an edge less");
    chain(put64, 0, 0, 16);
    MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    UPDATE("a node more");
    FRESH();
    UPDATE("an empty graph");
    Fill fill = fill_of(device, 1, 4, 16, 1);
    MUST(cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &kernel));
    MUST(cuGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &fill, context));
    MUST(cuGraphAddKernelNode_v2(&nodes[2], graph, &nodes[1], 1, &kernel));
    UPDATE("kinds swapped");
    chain(put64, 0, 0, 8);
    UPDATE("a fill of another width");
    FRESH();
    Copy copy = copy_of(2, device_too, 2, device, 64, 1);
    MUST(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    FRESH();
    copy = copy_of(1, (Address)(uintptr_t)words, 2, device, 64, 1);
    MUST(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    UPDATE("a copy to the host instead of the device");
    FRESH();
    copy = copy_of(2, device_too, 2, device, 64, 4);
    MUST(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    UPDATE("a copy of rows instead of a line");
    if (devices > 1) {
        FRESH();
        kernel = put_of(put, words, 5);
        MUST(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
        MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
        FRESH();
        kernel = put_of(far_put, words, 5);
        kernel.context = context2;
        SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
        UPDATE("a kernel of another device");
    }
    FRESH();
    Alloc alloc = alloc_of(1000);
    MUST(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    MUST(cuGraphAddMemFreeNode(&nodes[0], graph, &node, 1, alloc.address));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    UPDATE("allocation nodes, the same graph");
    FRESH();
    alloc = alloc_of(1000);
    MUST(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    MUST(cuGraphAddMemFreeNode(&nodes[0], graph, &node, 1, alloc.address));
    UPDATE("allocation nodes, another graph");
}

/* ---- memory ---- */

static void allocation(void) {
    Alloc alloc = alloc_of(1000), more = alloc_of(5 << 20), none = alloc_of(0);
    Handle free_node, second, other_graph, clone, parent;
    Address address;
    TELL("graph memory: used %llu reserved %llu", memory(0), memory(2));
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    TELL("address told %d, reserved %llu", alloc.address != 0, memory(2));
    Address first_address = alloc.address;
    int type = -1;
    SAY(cuPointerGetAttribute(&type, 2, alloc.address));
    TELL("memory type before instantiation %d", type);
    SAY(cuMemsetD8_v2(alloc.address, 1, 16));
    SAY(cuGraphAddMemAllocNode(&second, graph, NULL, 0, &none));
    SAY(cuGraphAddMemFreeNode(&free_node, graph, NULL, 0, device));
    SAY(cuGraphAddMemFreeNode(&free_node, graph, NULL, 0, alloc.address));
    SAY(cuGraphAddMemFreeNode(&second, graph, &node, 1, alloc.address + 8));
    SAY(cuGraphAddMemFreeNode(&second, graph, &node, 1, alloc.address));
    shape("alloc and free", graph);
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    /* A graph of an allocation that it does not free. */
    FRESH();
    alloc = alloc_of(1000);
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    TELL("another graph has another address %d", alloc.address != first_address);
    Fill fill = fill_of(alloc.address, 5, 4, 16, 1);
    SAY(cuGraphAddMemsetNode(&nodes[1], graph, &node, 1, &fill, context));
    SAY(cuGraphAddMemAllocNode(&nodes[2], graph, NULL, 0, &more));
    SAY(cuGraphAddMemFreeNode(&nodes[3], graph, &nodes[2], 1, more.address));
    SAY(cuGraphClone(&clone, graph));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    TELL("instantiated: used %llu reserved %llu", memory(0), memory(2));
    SAY(cuGraphInstantiateWithFlags(&nothing, graph, 0));
    SAY(cuGraphDestroyNode(nodes[3]));
    SAY(cuGraphRemoveDependencies(graph, &node, &nodes[1], 1));
    SAY(cuGraphAddDependencies(graph, &node, &nodes[2], 1));
    SAY(cuGraphAddEmptyNode(&nodes[4], graph, NULL, 0));
    MUST(cuGraphCreate(&parent, 0));
    SAY(cuGraphAddChildGraphNode(&nodes[5], parent, NULL, 0, graph));
    SAY(cuGraphUpload(exec, stream));
    SAY(cuStreamSynchronize(stream));
    TELL("uploaded: used %llu reserved %llu", memory(0), memory(2));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
    TELL("launched: used %llu reserved %llu", memory(0), memory(2));
    SAY(cuPointerGetAttribute(&type, 2, alloc.address));
    TELL("memory type after launch %d", type);
    unsigned value = 0;
    SAY(cuMemcpyDtoH_v2(&value, alloc.address, 4));
    TELL("value %u", value);
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuMemFreeAsync(alloc.address, stream));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
    SAY(cuMemFree_v2(alloc.address));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
    /* Freed by another graph. */
    MUST(cuGraphCreate(&other_graph, 0));
    Handle freeing;
    SAY(cuGraphAddMemFreeNode(&nodes[6], other_graph, NULL, 0, alloc.address));
    SAY(cuGraphInstantiateWithFlags(&freeing, other_graph, 0));
    SAY(cuGraphInstantiateWithFlags(&nothing, other_graph, 0));
    SAY(cuGraphLaunch(freeing, stream));
    SAY(cuGraphLaunch(freeing, stream));
    SAY(cuStreamSynchronize(stream));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuGraphExecDestroy(exec));
    SAY(cuStreamSynchronize(stream));
    SAY(cuMemcpyDtoH_v2(&value, alloc.address, 4));
    TELL("the exec destroyed, value %u", value);
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphDestroy(graph));
    SAY(cuMemFreeAsync(alloc.address, stream));
    SAY(cuMemFreeAsync(alloc.address, stream));
    SAY(cuStreamSynchronize(stream));
    TELL("freed: used %llu reserved %llu", memory(0), memory(2));
    SAY(cuDeviceGraphMemTrim(0));
    TELL("trimmed: used %llu reserved %llu", memory(0), memory(2));
    unsigned long long attribute;
    SAY(cuDeviceGetGraphMemAttribute(0, 7, &attribute));
    SAY(cuDeviceGraphMemTrim(77));
    /* Freed by every launch before it begins. */
    FRESH();
    alloc = alloc_of(2000);
    MUST(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 1));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuMemFreeAsync(alloc.address, stream));
    SAY(cuGraphLaunch(exec, other));
    SAY(cuMemFreeAsync(alloc.address, other));
    SAY(cuCtxSynchronize());
    SAY(cuGraphExecDestroy(exec));
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuGraphExecDestroy(exec));
    SAY(cuGraphDestroy(graph));
    SAY(cuCtxSynchronize());
    SAY(cuMemFreeAsync(alloc.address, stream));
    /* What pools allocation nodes take. */
    FRESH();
    alloc = alloc_of(1000);
    alloc.props.location.type = 2;
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    alloc = alloc_of(1000);
    alloc.props.alloc_type = 2;
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    alloc = alloc_of(1000);
    alloc.props.location.id = 77;
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    alloc = alloc_of(1000);
    alloc.props.handle_types = 1;
    SAY(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    /* Captured. */
    FRESH();
    Handle captured;
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuMemAllocAsync(&address, 1000, stream));
    SAY(cuMemsetD8Async(address, 1, 1000, stream));
    SAY(cuMemFreeAsync(address, stream));
    SAY(cuMemFreeAsync(address, stream));
    SAY(cuStreamEndCapture(stream, &captured));
    if (captured != NULL) {
        shape("a capture with an allocation", captured);
        SAY(cuGraphInstantiateWithFlags(&exec, captured, 0));
        SAY(cuGraphLaunch(exec, stream));
        SAY(cuGraphLaunch(exec, stream));
        SAY(cuStreamSynchronize(stream));
    }
    MUST(cuMemAllocAsync(&address, 1000, stream));
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuMemFreeAsync(address, stream));
    TELL("status after the free of plain pool memory in a capture %d", status_of(stream));
    SAY(cuStreamEndCapture(stream, &captured));
    Handle pool;
    PoolProps props;
    memset(&props, 0, sizeof props);
    props.alloc_type = 1;
    props.location.type = 1;
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuMemAllocFromPoolAsync(&address, 1000, pool, stream));
    SAY(cuStreamEndCapture(stream, &captured));
    MUST(cuMemPoolCreate(&pool, &props));
    props.max_size = 1 << 20;
    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuMemAllocFromPoolAsync(&address, 64 << 20, pool, stream));
    SAY(cuStreamEndCapture(stream, &captured));
}

/* ---- capture ---- */

/* What is tried while a capture is on its way. Each makes one call and answers its status. */
static Address pool_block;
static Handle made;
static Address made_address;
static void *made_pointer;
static int c_alloc(void) { return cuMemAlloc_v2(&made_address, 4096); }
static int c_free(void) { Address kept; cuMemAlloc_v2(&kept, 64); return cuMemFree_v2(kept); }
static int c_host_alloc(void) { return cuMemHostAlloc(&made_pointer, 4096, 0); }
static int c_managed(void) { return cuMemAllocManaged(&made_address, 4096, 1); }
static int c_register(void) { return cuMemHostRegister_v2(heap, 4096, 0); }
static int c_event_create(void) { return cuEventCreate(&made, 2); }
static int c_stream_create(void) { return cuStreamCreate(&made, 1); }
static int c_module(void) { return cuModuleLoadData(&made, module_text); }
static int c_function(void) { return cuModuleGetFunction(&made, module, "put"); }
static int c_ctx_sync(void) { return cuCtxSynchronize(); }
static int c_sync_this(void) { return cuStreamSynchronize(stream); }
static int c_query_this(void) { return cuStreamQuery(stream); }
static int c_sync_other(void) { return cuStreamSynchronize(other); }
static int c_query_other(void) { return cuStreamQuery(other); }
static int c_sync_legacy(void) { return cuStreamSynchronize(NULL); }
static int c_launch_legacy(void) { return cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL); }
static int c_launch_other(void) { return cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL); }
static int c_launch_blocking(void) { return cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, blocking, NULL, NULL); }
static int c_launch(void) { return cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL); }
static int c_launch_bad(void) { return cuLaunchKernel(empty, 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL); }
static int c_memcpy(void) { return cuMemcpyHtoD_v2(device, heap, 64); }
static int c_memset(void) { return cuMemsetD8_v2(device, 0, 64); }
static int c_memset_async(void) { return cuMemsetD8Async(device, 0, 64, stream); }
static int c_h2d_heap(void) { return cuMemcpyHtoDAsync_v2(device, heap, 64, stream); }
static int c_d2h_heap(void) { return cuMemcpyDtoHAsync_v2(heap, device, 64, stream); }
static int c_d2h_pinned(void) { return cuMemcpyDtoHAsync_v2((void *)words, device, 64, stream); }
static int c_h2h(void) { return cuMemcpyAsync((Address)(uintptr_t)heap, (Address)(uintptr_t)words, 64, stream); }
static int c_host(void) { return cuLaunchHostFunc(stream, host_nothing, NULL); }
static int c_callback(void) { return cuStreamAddCallback(stream, callback, NULL, 0); }
static int c_wait_value(void) { return cuStreamWaitValue32_v2(stream, device, 0, 0); }
static int c_write_value(void) { return cuStreamWriteValue32_v2(stream, device, 0, 0); }
static int c_record(void) { return cuEventRecord(event, stream); }
static int c_record_external(void) { return cuEventRecordWithFlags(event, stream, 1); }
static int c_wait_recorded(void) { return cuStreamWaitEvent(stream, event2, 0); }
static int c_wait_external(void) { return cuStreamWaitEvent(stream, event2, 1); }
static int c_query_event2(void) { return cuEventQuery(event2); }
static int c_sync_event2(void) { return cuEventSynchronize(event2); }
static int c_alloc_async(void) { return cuMemAllocAsync(&made_address, 64, stream); }
static int c_alloc_async_other(void) { return cuMemAllocAsync(&made_address, 64, other); }
static int c_free_async_other(void) { return cuMemFreeAsync(pool_block, other); }
static int c_prefetch(void) { return cuMemPrefetchAsync(made_address, 64, 0, stream); }
static int c_begin(void) { return cuStreamBeginCapture_v2(stream, 0); }
static int c_destroy_event(void) { return cuEventDestroy_v2(event2); }
static int c_graph_launch(void) { return cuGraphLaunch(exec, stream); }
static int c_graph_launch_other(void) { return cuGraphLaunch(exec, other); }
static int c_graph_upload(void) { return cuGraphUpload(exec, stream); }
static int c_instantiate(void) { return cuGraphInstantiateWithFlags(&made, graph, 0); }
static int c_get_ctx(void) { return cuStreamGetCtx(stream, &made); }
static int c_trim(void) { return cuDeviceGraphMemTrim(0); }
static int c_unload(void) { return cuModuleUnload(module2 ? module2 : module); }

static const struct { const char *name; int (*call)(void); } tried[] = {
    {"cuMemAlloc", c_alloc}, {"cuMemFree", c_free}, {"cuMemHostAlloc", c_host_alloc}, {"cuMemAllocManaged", c_managed},
    {"cuMemHostRegister", c_register}, {"cuEventCreate", c_event_create}, {"cuStreamCreate", c_stream_create},
    {"cuModuleLoadData", c_module}, {"cuModuleGetFunction", c_function}, {"cuModuleUnload", c_unload},
    {"cuCtxSynchronize", c_ctx_sync},
    {"cuStreamSynchronize of it", c_sync_this}, {"cuStreamQuery of it", c_query_this},
    {"cuStreamSynchronize of another", c_sync_other}, {"cuStreamQuery of another", c_query_other},
    {"cuStreamSynchronize of the legacy stream", c_sync_legacy}, {"a launch on the legacy stream", c_launch_legacy},
    {"a launch on another stream", c_launch_other}, {"a launch on a blocking stream", c_launch_blocking},
    {"a launch on it", c_launch}, {"a launch of no blocks on it", c_launch_bad}, {"cuMemcpyHtoD", c_memcpy},
    {"cuMemsetD8", c_memset}, {"cuMemsetD8Async", c_memset_async},
    {"cuMemcpyHtoDAsync from the heap", c_h2d_heap}, {"cuMemcpyDtoHAsync to the heap", c_d2h_heap},
    {"cuMemcpyDtoHAsync to pinned memory", c_d2h_pinned}, {"cuMemcpyAsync from host to host", c_h2h},
    {"cuLaunchHostFunc", c_host}, {"cuStreamAddCallback", c_callback}, {"cuStreamWaitValue32", c_wait_value},
    {"cuStreamWriteValue32", c_write_value}, {"cuEventRecord on it", c_record},
    {"cuEventRecordWithFlags external", c_record_external}, {"cuStreamWaitEvent of an event recorded outside", c_wait_recorded},
    {"the same external", c_wait_external}, {"cuEventQuery of an event recorded outside", c_query_event2},
    {"cuEventSynchronize of it", c_sync_event2}, {"cuMemAllocAsync", c_alloc_async},
    {"cuMemAllocAsync on another stream", c_alloc_async_other}, {"cuMemFreeAsync on another stream", c_free_async_other},
    {"cuMemPrefetchAsync", c_prefetch}, {"cuStreamBeginCapture", c_begin}, 
    {"cuEventDestroy of another event", c_destroy_event}, {"cuGraphLaunch on it", c_graph_launch},
    {"cuGraphLaunch on another", c_graph_launch_other}, {"cuGraphUpload", c_graph_upload},
    {"cuGraphInstantiateWithFlags", c_instantiate}, {"cuStreamGetCtx", c_get_ctx}, {"cuDeviceGraphMemTrim", c_trim},
};

struct Try { int (*call)(void); int answer; };
static void *in_thread(void *data) {
    struct Try *try = data;
    cuCtxSetCurrent(context);
    try->answer = try->call();
    return NULL;
}

/* One process a call and mode, six at once: what is broken stays broken. */
static void capture_calls(void) {
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    pid_t children[6];
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        for (int mode = 0; mode < 6; mode++) {
            fflush(stdout);
            pid_t child = fork();
            if (child == 0) {
                alarm(30);
                one_device = 1;
                begin();
                MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
                MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
                MUST(cuEventRecord(event2, other));
                MUST(cuMemAllocAsync(&pool_block, 64, other));
                MUST(cuMemAllocManaged(&made_address, 4096, 1));
                MUST(cuCtxSynchronize());
                /* In a blocking stream, so that the legacy stream has to do with it. */
                MUST(cuStreamDestroy_v2(stream));
                MUST(cuStreamCreate(&stream, 0));
                MUST(cuStreamBeginCapture_v2(stream, mode % 3));
                struct Try try = {tried[i].call, -1};
                if (mode < 3) {
                    try.answer = try.call();
                } else {
                    pthread_t thread;
                    pthread_create(&thread, NULL, in_thread, &try);
                    pthread_join(thread, NULL);
                }
                Handle got = (Handle)-1;
                int status = status_of(stream), end = cuStreamEndCapture(stream, &got);
                TELL("%s, %s%s = %d, status %d, end %d%s", tried[i].name, modes[mode % 3],
                     mode < 3 ? "" : ", on another thread", try.answer, status, end,
                     got == (Handle)-1 ? " (graph untouched)" : got == NULL ? " (no graph)" : "");
                if (mode == 0 && end == 0) {
                    shape(tried[i].name, got);
                }
                _exit(0);
            }
            children[mode] = child;
        }
        for (int mode = 0; mode < 6; mode++) {
            int status = 0;
            waitpid(children[mode], &status, 0);
            if (WIFSIGNALED(status)) {
                TELL("%s, mode %d ended by signal %d", tried[i].name, mode, WTERMSIG(status));
            }
        }
    }
}

static Handle captured;
#define STATUS(of) TELL("status of " #of " %d", status_of(of))

static void capture_events(void) {
    SAY(cuStreamEndCapture(stream, &captured));
    SAY(cuStreamBeginCapture_v2(NULL, 0));
    SAY(cuStreamBeginCapture_v2((Handle)2, 0));
    SAY(status_of((Handle)2));
    SAY(cuStreamEndCapture((Handle)2, &captured));
    SAY(cuStreamBeginCapture_v2(stream, 3));
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuEventRecord(event, stream));
    SAY(cuEventQuery(event));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    SAY(cuEventQuery(event));
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    SAY(cuEventSynchronize(event));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    SAY(cuEventSynchronize(event));
    SAY(cuEventQuery(event));
    SAY(cuStreamWaitEvent(other, event, 0));
    SAY(cuEventRecord(event, stream));
    SAY(cuEventQuery(event));
    /* Fork and join. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    SAY(cuStreamWaitEvent(other, event, 0));
    STATUS(other);
    SAY(c_launch_other());
    SAY(cuEventRecord(event2, other));
    SAY(c_launch());
    SAY(cuStreamWaitEvent(stream, event2, 0));
    SAY(c_launch());
    SAY(cuStreamEndCapture(stream, &captured));
    STATUS(other);
    shape("a fork that was joined", captured);
    /* The fork without a command of its own. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamWaitEvent(other, event, 0));
    SAY(cuStreamEndCapture(stream, &captured));
    STATUS(other);
    /* Not joined. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamWaitEvent(other, event, 0));
    SAY(c_launch_other());
    SAY(cuStreamEndCapture(stream, &captured));
    TELL("graph %s", captured ? "told" : "none");
    STATUS(other);
    SAY(cuEventQuery(event));
    SAY(c_launch_other());
    /* Ended on the other stream. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamWaitEvent(other, event, 0));
    SAY(cuStreamEndCapture(other, &captured));
    STATUS(stream);
    STATUS(other);
    SAY(cuStreamEndCapture(stream, &captured));
    /* Two captures meet. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuStreamBeginCapture_v2(other, 0));
    MUST(c_launch_other());
    MUST(cuEventRecord(event, stream));
    SAY(cuStreamWaitEvent(other, event, 0));
    STATUS(stream);
    STATUS(other);
    SAY(cuStreamEndCapture(stream, &captured));
    SAY(cuStreamEndCapture(other, &captured));
    /* A stream with work that is not captured waits for a captured event. */
    MUST(cuMemsetD8_v2(device, 0, 64));
    words[0] = 0;
    MUST(cuStreamBeginCapture_v2(stream, 2));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    MUST(launch_spin(other, &words[0]));
    SAY(cuStreamWaitEvent(other, event, 0));
    STATUS(other);
    SAY(cuEventRecord(event2, other));
    SAY(cuStreamWaitEvent(stream, event2, 0));
    SAY(cuStreamEndCapture(stream, &captured));
    words[0] = 1;
    MUST(cuCtxSynchronize());
    /* An event recorded again outside while a capture holds it. */
    MUST(cuStreamBeginCapture_v2(stream, 2));
    MUST(cuEventRecord(event, stream));
    SAY(cuEventRecord(event, other));
    SAY(cuEventQuery(event));
    SAY(cuStreamWaitEvent(stream, event, 0));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    /* A wait by a blocking stream for the legacy stream's event; the legacy stream waits for a captured event. */
    MUST(cuStreamBeginCapture_v2(stream, 2));
    MUST(cuEventRecord(event, stream));
    SAY(cuStreamWaitEvent(NULL, event, 0));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    /* Empty. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuStreamEndCapture(stream, &captured));
    TELL("an empty capture has a graph %d", captured != NULL);
}

static int end_in_thread(void) { return cuStreamEndCapture(stream, &captured); }
static int exchange_in_thread(void) { int mode = 2; cuThreadExchangeStreamCaptureMode(&mode); return mode; }
static int other_thread(int (*call)(void)) {
    struct Try try = {call, -1};
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, &try);
    pthread_join(thread, NULL);
    return try.answer;
}

static void capture_rest(void) {
    int mode = 2, status = -1;
    unsigned long long id = 99, id2 = 99;
    Handle got = (Handle)-1;
    const Handle *dependencies = (const Handle *)-1;
    SAY(cuThreadExchangeStreamCaptureMode(&mode));
    TELL("a thread's mode at first %d", mode);
    mode = 7;
    SAY(cuThreadExchangeStreamCaptureMode(&mode));
    mode = 2;
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    /* Relaxed thread, global capture. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(c_alloc());
    STATUS(stream);
    SAY(other_thread(c_alloc));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    SAY(other_thread(exchange_in_thread));
    mode = 0;
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    /* On whose thread it ends. */
    for (int m = 0; m < 3; m++) {
        MUST(cuStreamBeginCapture_v2(stream, m));
        TELL("cuStreamEndCapture on another thread, mode %d = %d", m, other_thread(end_in_thread));
        STATUS(stream);
        SAY(cuStreamEndCapture(stream, &captured));
    }
    MUST(cuStreamBeginCapture_v2(stream, 1));
    SAY(other_thread(c_launch));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    /* Info. */
    count = 99;
    SAY(cuStreamGetCaptureInfo_v2(stream, &status, &id, &got, &dependencies, &count));
    TELL("not capturing: status %d, id %llu, graph %d, dependencies %d, count %zu", status, id, got != (Handle)-1,
         dependencies != (const Handle *)-1, count);
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    SAY(cuStreamGetCaptureInfo_v2(stream, &status, &id, &got, &dependencies, &count));
    TELL("status %d, count %zu", status, count);
    Handle joint;
    SAY(cuGraphAddEmptyNode(&joint, got, dependencies, count));
    SAY(cuStreamUpdateCaptureDependencies(stream, &joint, 1, 1));
    SAY(cuStreamUpdateCaptureDependencies(stream, &joint, 1, 0));
    SAY(cuStreamUpdateCaptureDependencies(stream, &joint, 1, 9));
    Handle foreign;
    MUST(cuGraphAddEmptyNode(&foreign, graph, NULL, 0));
    SAY(cuStreamUpdateCaptureDependencies(stream, &foreign, 1, 0));
    STATUS(stream);
    MUST(c_launch());
    SAY(cuStreamGetCaptureInfo_v2(stream, &status, &id2, NULL, NULL, NULL));
    TELL("the same id %d", id == id2);
    /* Nothing before the next node, by an empty list and by none; what was before needs not be joined. */
    SAY(cuStreamUpdateCaptureDependencies(stream, &joint, 0, 1));
    SAY(cuStreamGetCaptureInfo_v2(stream, &status, &id2, NULL, &dependencies, &count));
    TELL("an empty list: status %d, count %zu", status, count);
    MUST(c_launch());
    SAY(cuStreamUpdateCaptureDependencies(stream, NULL, 0, 1));
    MUST(c_launch());
    SAY(cuStreamEndCapture(stream, &captured));
    TELL("the same graph %d", captured == got);
    if (captured) {
        shape("with a node of ours", captured);
    }
    SAY(cuStreamUpdateCaptureDependencies(stream, &joint, 1, 0));
    /* Into a graph. */
    FRESH();
    MUST(cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    SAY(cuStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1, 0));
    SAY(cuStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, 0));
    SAY(cuStreamBeginCaptureToGraph(stream, graph, &nodes[0], NULL, 1, 0));
    SAY(cuStreamBeginCaptureToGraph(other, graph, NULL, NULL, 0, 0));
    STATUS(other);
    SAY(c_launch());
    SAY(cuGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
    SAY(cuStreamEndCapture(stream, &captured));
    TELL("the graph given comes back %d", captured == graph);
    shape("captured into a graph", graph);
    if (status_of(other) == 1) {
        SAY(cuStreamEndCapture(other, &captured));
    }
    /* A failed launch in a capture; the graph of an invalidated one. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(c_ctx_sync());
    STATUS(stream);
    SAY(c_launch());
    SAY(cuEventRecord(event, stream));
    SAY(cuStreamGetCaptureInfo_v2(stream, &status, &id, &got, &dependencies, &count));
    captured = (Handle)-1;
    SAY(cuStreamEndCapture(stream, &captured));
    TELL("graph of an invalidated capture: %s", captured == NULL ? "null" : captured == (Handle)-1 ? "untouched" : "told");
    STATUS(stream);
    SAY(c_launch());
    SAY(cuStreamSynchronize(stream));
    /* Other streams in the capture when the first is invalidated. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamWaitEvent(other, event, 0));
    SAY(c_ctx_sync());
    STATUS(stream);
    STATUS(other);
    SAY(c_launch_other());
    SAY(cuEventRecord(event2, other));
    SAY(cuStreamEndCapture(stream, &captured));
    STATUS(other);
    SAY(cuEventQuery(event));
    /* The external flags outside of captures. */
    SAY(cuEventRecordWithFlags(event, stream, 1));
    SAY(cuStreamWaitEvent(stream, event, 1));
    SAY(cuStreamSynchronize(stream));
    /* A stream of the other device joins. */
    if (devices > 1) {
        Handle far_stream, far_event;
        MUST(cuCtxSetCurrent(context2));
        MUST(cuStreamCreate(&far_stream, 1));
        MUST(cuEventCreate(&far_event, 2));
        MUST(cuCtxSetCurrent(context));
        MUST(cuStreamBeginCapture_v2(stream, 0));
        MUST(c_launch());
        MUST(cuEventRecord(event, stream));
        SAY(cuStreamWaitEvent(far_stream, event, 0));
        Kernel kernel = put_of(far_put, words, 1);
        SAY(cuLaunchKernel(far_put, 1, 1, 1, 1, 1, 1, 0, far_stream, kernel.params, NULL));
        SAY(cuEventRecord(far_event, far_stream));
        SAY(cuStreamWaitEvent(stream, far_event, 0));
        SAY(cuStreamEndCapture(stream, &captured));
        SAY(cuGraphInstantiateWithFlags(&exec, captured, 0));
        SAY(cuGraphLaunch(exec, stream));
        SAY(cuStreamSynchronize(stream));
    }
    /* A capture in flight when work of the stream runs. */
    words[0] = 0;
    MUST(launch_spin(stream, &words[0]));
    SAY(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    SAY(cuStreamEndCapture(stream, &captured));
    words[0] = 1;
    SAY(cuStreamSynchronize(stream));
    /* A graph launched in a capture, a child in the graph? */
    FRESH();
    MUST(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuGraphLaunch(exec, stream));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
    if (captured) {
        shape("a launch captured", captured);
    }
}

/* ---- what was destroyed: each in a process of its own, for these may crash ---- */

static void gone_graph(void) {
    Kernel store = put_of(put, &words[2], 9);
    gated_exec();
    words[0] = 1;
    SAY(cuGraphDestroy(graph));
    SAY(cuGraphNodeSetEnabled(exec, nodes[1], 1));
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &store));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
    TELL("after its graph was destroyed the exec stores %u", words[2]);
}

static void gone_node(void) {
    Kernel store = put_of(put, &words[2], 9);
    gated_exec();
    words[0] = 1;
    SAY(cuGraphDestroyNode(nodes[1]));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuStreamSynchronize(stream));
    TELL("after its node was destroyed the exec stores %u", words[2]);
    SAY(cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &store));
    SAY(cuGraphNodeSetEnabled(exec, nodes[1], 0));
}

static void gone_capture_event(void) {
    /* An event that was destroyed, a stream that was. */
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuEventRecord(event, stream));
    MUST(cuStreamWaitEvent(other, event, 0));
    SAY(cuEventDestroy_v2(event));
    SAY(c_launch_other());
    SAY(cuStreamDestroy_v2(other));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
}

static void gone_capture_graph(void) {
    int status = -1;
    Handle got = NULL;
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    MUST(cuStreamGetCaptureInfo_v2(stream, &status, NULL, &got, NULL, NULL));
    SAY(cuGraphDestroy(got));
    STATUS(stream);
    SAY(c_launch());
    SAY(cuStreamEndCapture(stream, &captured));
}

static void gone_given_graph(void) {
    MUST(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 0));
    SAY(cuGraphDestroy(graph));
    STATUS(stream);
    SAY(c_launch());
    SAY(cuStreamEndCapture(stream, &captured));
}

static void gone_result(void) {
    MUST(cuStreamBeginCapture_v2(stream, 0));
    SAY(cuStreamEndCapture(stream, NULL));
    STATUS(stream);
    SAY(cuStreamEndCapture(stream, &captured));
}

static void gone_list(void) { SAY(cuGraphAddEmptyNode(&node, graph, NULL, 1)); }

static void gone_stream(void) {
    MUST(cuStreamBeginCapture_v2(stream, 0));
    MUST(c_launch());
    SAY(cuStreamDestroy_v2(stream));
    SAY(c_alloc());
    SAY(cuStreamBeginCapture_v2(other, 0));
    SAY(cuStreamEndCapture(other, &captured));
}

static void gone_given_nodes(void) {
    MUST(cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    MUST(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 0));
    SAY(c_ctx_sync());
    SAY(cuStreamEndCapture(stream, &captured));
    count = 9;
    SAY(cuGraphGetNodes(graph, NULL, &count));
    TELL("a given graph after an invalidated capture has %zu nodes", count);
    SAY(cuGraphDestroy(graph));
}

static void gone_event(void) {
    MUST(cuGraphAddEventRecordNode(&nodes[0], graph, NULL, 0, event));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    SAY(cuEventDestroy_v2(event));
    SAY(cuGraphLaunch(exec, stream));
    SAY(cuCtxSynchronize());
}

static void gone_current(void) {
    Kernel kernel = put_of(put, words, 1);
    Fill fill = fill_of(device, 1, 4, 16, 1);
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL));
    MUST(cuCtxSetCurrent(NULL));
    SAY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL));
    SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
}

static void gone_self(void) { SAY(cuGraphAddChildGraphNode(&node, graph, NULL, 0, graph)); }

static void gone_none(void) { SAY(cuGraphAddEventRecordNode(&node, graph, NULL, 0, NULL)); }

/* ---- does a launch wait for what runs on another stream? ---- */

enum { FILL_HOST, FILL_DEVICE, KERNEL, COPY_HOST, COPY_HEAP, COPY_FROM_HEAP };
enum { FRESH_EXEC, UPLOADED, LAUNCHED_BEFORE };

static void *open_later(void *data) {
    rest(400);
    *(volatile unsigned *)data = 1;
    return NULL;
}
static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* A graph of `nodes_wanted` nodes of a kind, in a chain or side by side. */
static Handle exec_of(int kind, int nodes_wanted, int chained) {
    Handle made = NULL, from = NULL, to = NULL, result = NULL;
    MUST(cuGraphCreate(&made, 0));
    for (int i = 0; i < nodes_wanted; i++) {
        size_t after = chained && i > 0 ? 1 : 0;
        Address on_device = device + 4096 + 4 * (Address)i, on_host = (Address)(uintptr_t)&words[16 + i % 512];
        Fill fill = fill_of(kind == FILL_HOST ? on_host : on_device, (unsigned)i + 1, 4, 1, 1);
        Kernel store = put_of(put, (void *)(uintptr_t)on_device, 5);
        Address on_heap = (Address)(uintptr_t)&heap[4 * (i % 512)];
        Copy copy = kind == COPY_FROM_HEAP ? copy_of(2, on_device, 1, on_heap, 4, 1)
                                           : copy_of(1, kind == COPY_HEAP ? on_heap : on_host, 2, on_device, 4, 1);
        switch (kind) {
        case KERNEL: MUST(cuGraphAddKernelNode_v2(&to, made, &from, after, &store)); break;
        case COPY_HOST:
        case COPY_HEAP:
        case COPY_FROM_HEAP: MUST(cuGraphAddMemcpyNode(&to, made, &from, after, &copy, context)); break;
        default: MUST(cuGraphAddMemsetNode(&to, made, &from, after, &fill, context)); break;
        }
        from = to;
    }
    MUST(cuGraphInstantiateWithFlags(&result, made, 0));
    return result;
}

static void one_launch(const char *what, int kind, int nodes_wanted, int chained, int state, int behind, int launches) {
    Handle made = exec_of(kind, nodes_wanted, chained);
    if (state == UPLOADED) {
        MUST(cuGraphUpload(made, stream));
    }
    if (state == LAUNCHED_BEFORE) {
        MUST(cuGraphLaunch(made, stream));
    }
    MUST(cuMemsetD8_v2(device + 4096, 5, 4096));
    MUST(cuCtxSynchronize());
    words[0] = 0;
    memset(heap, 0, sizeof heap);
    pthread_t opener;
    MUST(launch_spin(other, &words[0]));
    MUST(pthread_create(&opener, NULL, open_later, (void *)&words[0]));
    if (behind) {
        MUST(cuEventRecord(event, other));
        MUST(cuStreamWaitEvent(stream, event, 0));
    }
    double begun = now_ms(), first = 0;
    int waited_at = -1, arrived = 0;
    for (int i = 0; i < launches && words[0] == 0; i++) {
        MUST(cuGraphLaunch(made, stream));
        arrived = ((volatile char *)heap)[4 * ((nodes_wanted - 1) % 512)] != 0;
        first = i == 0 ? now_ms() - begun : first;
        waited_at = words[0] != 0 && waited_at < 0 ? i : waited_at;
    }
    static const char *const states[] = {"fresh", "uploaded", "launched before"};
    TELL("%s, %d nodes%s, %s, %s: launch %d of %d waited; the first took %.3f ms%s", what, nodes_wanted, chained ? " in a chain" : "",
         states[state], behind ? "behind the kernel that spins" : "beside it", waited_at + 1, launches, first,
         kind != COPY_HEAP ? "" : arrived ? "; its bytes were there" : "; its bytes were not there yet");
    words[0] = 1;
    MUST(pthread_join(opener, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(made));
}

static void launch_waits(int kind, const char *what) {
    for (int state = FRESH_EXEC; state <= LAUNCHED_BEFORE; state++) {
        one_launch(what, kind, 1, 0, state, 1, 1);
        one_launch(what, kind, 8, 0, state, 1, 1);
        one_launch(what, kind, 8, 0, state, 0, 1);
        one_launch(what, kind, 8, 1, state, 1, 1);
    }
}
static void waits_kernel(void) { launch_waits(KERNEL, "kernels"); }
static void waits_fill_device(void) { launch_waits(FILL_DEVICE, "fills of device memory"); }
static void waits_fill_host(void) { launch_waits(FILL_HOST, "fills of pinned memory"); }
static void waits_copy_host(void) { launch_waits(COPY_HOST, "copies to pinned memory"); }
static void waits_copy_heap(void) { launch_waits(COPY_HEAP, "copies to heap memory"); }
static void waits_copy_from_heap(void) { launch_waits(COPY_FROM_HEAP, "copies from heap memory"); }
static void waits_many(void) {
    one_launch("kernels", KERNEL, 64, 0, LAUNCHED_BEFORE, 1, 40);
    one_launch("kernels", KERNEL, 64, 1, LAUNCHED_BEFORE, 1, 40);
    one_launch("kernels", KERNEL, 8, 0, LAUNCHED_BEFORE, 1, 400);
    one_launch("kernels", KERNEL, 8, 1, LAUNCHED_BEFORE, 1, 400);
    one_launch("kernels", KERNEL, 1, 0, LAUNCHED_BEFORE, 1, 3000);
    one_launch("fills of pinned memory", FILL_HOST, 8, 0, LAUNCHED_BEFORE, 1, 400);
}

/* ---- all of it ---- */

static const struct { const char *name; void (*run)(void); int own; } sections[] = {
    {"no-context", no_context, 0}, {"arguments", arguments, 0}, {"by-params", by_params, 0}, {"parallel", parallel, 0},
    {"in-flight", in_flight, 0}, {"updates", updates, 0}, {"update-whole", update_whole, 0}, {"allocation", allocation, 0},
    {"capture-events", capture_events, 0}, {"capture-rest", capture_rest, 0}, {"gone-graph", gone_graph, 0},
    {"gone-node", gone_node, 0}, {"gone-capture-event", gone_capture_event, 0}, {"gone-capture-graph", gone_capture_graph, 0},
    {"gone-given-graph", gone_given_graph, 0}, {"gone-result", gone_result, 0}, {"gone-list", gone_list, 0},
    {"gone-stream", gone_stream, 0}, {"gone-given-nodes", gone_given_nodes, 0}, {"gone-event", gone_event, 0},
    {"gone-current", gone_current, 0}, {"gone-self", gone_self, 0}, {"gone-none", gone_none, 0},
    {"waits-kernel", waits_kernel, 0}, {"waits-fill-device", waits_fill_device, 0}, {"waits-fill-host", waits_fill_host, 0},
    {"waits-copy-host", waits_copy_host, 0}, {"waits-copy-heap", waits_copy_heap, 0},
    {"waits-copy-from-heap", waits_copy_from_heap, 0}, {"waits-many", waits_many, 0}, {"capture-calls", capture_calls, 1},
};

int main(int arguments_given, char **argument) {
    const char *library = arguments_given > 1 ? argument[1] : "libcuda.so.1";
    const char *part = arguments_given > 2 ? argument[2] : "";
    void *opened = dlopen(library, RTLD_NOW);
    if (opened == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
#define FIND(name, parameters)                                                                                         \
    *(void **)&name = dlsym(opened, #name);                                                                            \
    if (name == NULL) {                                                                                                \
        printf("absent: %s\n", #name);                                                                                 \
        *(void **)&name = (void *)absent;                                                                              \
    }
    FUNCTIONS(FIND)
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (strstr(sections[i].name, part) == NULL) {
            continue;
        }
        section = sections[i].name;
        fflush(stdout);
        if (sections[i].own) {
            sections[i].run();
            continue;
        }
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            begin();
            sections[i].run();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) {
            printf("%s: ended by signal %d\n", section, WTERMSIG(status));
        }
    }
    return 0;
}
