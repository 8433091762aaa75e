/*
 * What a kernel node of a graph costs by the way in which it is added: with its edge or the edges of many in one call, with a list of
 * arguments' addresses or their packed bytes, by the typed call or the general one, with a context that is current or named, and by the
 * capture of a launch; and what work of the caller's adds to that, before each node or before every 32. Prints nanoseconds a node, the
 * median of many chains of 100, the ways in turns. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O2 graph_nodes.c -o graph_nodes -ldl && ./graph_nodes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NODES 100
#define ROUNDS 2000

typedef unsigned long long Address;

/* The part of cuda.h that is used here, with its values. */
typedef struct {
    void *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
} KernelNode;
typedef struct {
    int kind, reserved[3];
    union {
        KernelNode kernel;
        long long bytes[29];
    } of;
    long long more;
} AnyNode;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,  \
                       void **))                                                                                       \
    X(cuGraphCreate, (void **, unsigned))                                                                              \
    X(cuGraphDestroy, (void *))                                                                                        \
    X(cuGraphAddKernelNode_v2, (void **, void *, void *const *, size_t, const KernelNode *))                           \
    X(cuGraphAddNode, (void **, void *, void *const *, size_t, AnyNode *))                                             \
    X(cuGraphAddDependencies, (void *, void *const *, void *const *, size_t))                                          \
    X(cuStreamBeginCaptureToGraph, (void *, void *, void *const *, const void *, size_t, int))                         \
    X(cuStreamBeginCapture_v2, (void *, int))                                                                          \
    X(cuStreamEndCapture, (void *, void **))

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

#define CHECK(call) check((call), #call)

static void check(int status, const char *call) {
    if (status != 0) {
        printf("%s answers %d\n", call, status);
        fflush(stdout);
        _exit(EXIT_FAILURE);
    }
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static const char *const PTX = ".version 6.3\n.target sm_70\n.address_size 64\n"
                               ".visible .entry one(.param .u64 a)\n{\n ret;\n}\n"
                               ".visible .entry four(.param .u64 a, .param .u64 b, .param .f32 c, .param .u32 d)\n{\n ret;\n}\n";

static void *context, *stream, *one, *four;

enum { EDGE = 0, EDGES_LATER = 1, PACKED = 2, GENERAL = 4, NAMED = 8, CAPTURED = 16, NO_EDGES = 32, WORK = 64, WORK_OF_32 = 128 };

/* A hundred nanoseconds or so in which every step needs the one before. */
static void work(void) {
    static volatile unsigned seed = 1;
    unsigned value = seed;
    for (unsigned step = 0; step < 80; step++) {
        __asm__ volatile("" : "+r"(value));
        value ^= value << 1;
        value += step;
    }
    seed = value;
}

static struct {
    const char *name;
    int way;
} ways[] = {
    {"typed call, edge, addresses", EDGE},
    {"the same again", EDGE},
    {"edges of 32 in one call", EDGES_LATER},
    {"packed bytes", PACKED},
    {"packed bytes, edges of 32 in one call", PACKED | EDGES_LATER},
    {"general call", GENERAL},
    {"general call, packed bytes", GENERAL | PACKED},
    {"context named", NAMED},
    {"captured launches", CAPTURED},
    {"captured launches, packed bytes", CAPTURED | PACKED},
    {"no edges at all", NO_EDGES},
    {"work before each node", WORK},
    {"the work of 32 nodes before them", WORK_OF_32},
};
#define WAYS (sizeof ways / sizeof *ways)

/* Records a chain and gives the nanoseconds of that. */
static double record(int way, void *function, int is_four) {
    Address a = 0x7000000, b = 0x7100000;
    float c = 1;
    unsigned d = 5;
    void *arguments[] = {&a, &b, &c, &d};
    struct {
        Address a, b;
        float c;
        unsigned d;
    } bytes = {a, b, c, d};
    size_t size = is_four ? 24 : 8;
    void *extra[] = {(void *)1, &bytes, (void *)2, &size, NULL};
    void *graph, *nodes[NODES];
    CHECK(cuGraphCreate(&graph, 0));
    double from = now_ns();
    if (way & CAPTURED) CHECK(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 2));
    for (int node = 0; node < NODES; node++) {
        if (way & WORK) work();
        if ((way & WORK_OF_32) && node % 32 == 0) {
            for (int of = node; of < node + 32 && of < NODES; of++) work();
        }
        if (way & CAPTURED) {
            CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, way & PACKED ? NULL : arguments, way & PACKED ? extra : NULL));
            continue;
        }
        KernelNode kernel = {function, {1, 1, 1}, {1, 1, 1}, 0, way & PACKED ? NULL : arguments, way & PACKED ? extra : NULL, NULL, way & NAMED ? context : NULL};
        size_t count = (way & (EDGES_LATER | NO_EDGES)) || node == 0 ? 0 : 1;
        void *const *after = count == 0 ? NULL : &nodes[node - 1];
        if (way & GENERAL) {
            AnyNode any;
            memset(&any, 0, sizeof any);
            any.of.kernel = kernel;
            CHECK(cuGraphAddNode(&nodes[node], graph, after, count, &any));
        } else {
            CHECK(cuGraphAddKernelNode_v2(&nodes[node], graph, after, count, &kernel));
        }
        if ((way & EDGES_LATER) && node > 0 && (node % 32 == 0 || node + 1 == NODES)) {
            int first = node % 32 == 0 ? node - 32 : node - node % 32;
            CHECK(cuGraphAddDependencies(graph, &nodes[first], &nodes[first + 1], node - first));
        }
    }
    void *captured;
    if (way & CAPTURED) CHECK(cuStreamEndCapture(stream, &captured));
    double took = (now_ns() - from) / NODES;
    CHECK(cuGraphDestroy(graph));
    return took;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *module;
#define FIND(name, parameters) *(void **)&name = driver == NULL ? NULL : dlsym(driver, #name);
    FUNCTIONS(FIND)
    if (cuInit == NULL || cuStreamBeginCaptureToGraph == NULL || cuGraphAddNode == NULL) {
        printf("no driver of CUDA 12.3 or newer\n");
        return EXIT_FAILURE;
    }
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 1));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&one, module, "one"));
    CHECK(cuModuleGetFunction(&four, module, "four"));
    double from = now_ns();
    for (int call = 0; call < 100000; call++) work();
    printf("the work alone: %.1f ns\n", (now_ns() - from) / 100000);
    static double took[WAYS][ROUNDS];
    for (int is_four = 0; is_four < 2; is_four++) {
        for (int round = 0; round < ROUNDS; round++)
            for (size_t way = 0; way < WAYS; way++) took[way][round] = record(ways[way].way, is_four ? four : one, is_four);
        for (size_t way = 0; way < WAYS; way++) {
            qsort(took[way], ROUNDS, sizeof(double), compare);
            printf("%s: %-40s %7.1f ns a node (quartiles %.1f, %.1f)\n", is_four ? "four arguments" : "one argument", ways[way].name,
                   took[way][ROUNDS / 2], took[way][ROUNDS / 4], took[way][ROUNDS * 3 / 4]);
        }
    }
    return EXIT_SUCCESS;
}
