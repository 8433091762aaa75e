/*
 * What launching and changing native graphs waits for, and what cuGraphUpload spares: does a first launch wait for running kernels,
 * how many graph launches a stream takes behind a kernel that does not end, what other threads can do while one waits, what a kernel
 * node needs of the thread, and what an upload costs. Each question has a process of its own: a crash is an answer.
 * Needs a GPU and no header or library but the driver's.
 *
 *   cc -O2 -pthread graph_launches.c -o graph_launches -ldl && ./graph_launches
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHUT_MS 1000 /* so long a gate is shut */
#define MANY 20000   /* launches after which a stream counts as one without a limit */

typedef unsigned long long Address;

/* The part of cuda.h that is used here, with its values. */
typedef struct {
    void *function;
    unsigned grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
} KernelNode;
typedef struct {
    Address to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} FillNode;
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
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,  \
                       void **))                                                                                       \
    X(cuMemAlloc_v2, (Address *, size_t))                                                                              \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                                     \
    X(cuEventCreate, (void **, unsigned))                                                                              \
    X(cuGraphCreate, (void **, unsigned))                                                                              \
    X(cuGraphAddKernelNode_v2, (void **, void *, void *const *, size_t, const KernelNode *))                           \
    X(cuGraphAddMemsetNode, (void **, void *, void *const *, size_t, const FillNode *, void *))                        \
    X(cuGraphAddNode, (void **, void *, void *const *, size_t, AnyNode *))                                             \
    X(cuGraphInstantiateWithFlags, (void **, void *, Address))                                                         \
    X(cuGraphUpload, (void *, void *))                                                                                 \
    X(cuGraphLaunch, (void *, void *))                                                                                 \
    X(cuGraphExecKernelNodeSetParams_v2, (void *, void *, const KernelNode *))

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

static double now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static const char *const PTX = ".version 6.3\n.target sm_70\n.address_size 64\n"
                               ".visible .entry empty()\n{\n ret;\n}\n"
                               ".visible .entry store(.param .u64 to)\n{\n .reg .b64 %a;\n ld.param.u64 %a, [to];\n"
                               " cvta.to.global.u64 %a, %a;\n st.global.u32 [%a], 7;\n ret;\n}\n"
                               ".visible .entry gate(.param .u64 flag)\n{\n .reg .b64 %a;\n .reg .b32 %v;\n .reg .pred %p;\n"
                               " ld.param.u64 %a, [flag];\n cvta.to.global.u64 %a, %a;\nagain:\n"
                               " ld.volatile.global.u32 %v, [%a];\n setp.eq.u32 %p, %v, 0;\n @%p bra again;\n ret;\n}\n";

static void *context, *module, *empty, *gate, *streams[3];
static volatile unsigned *flag;
static Address memory;

static void begin(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
#define FIND(name, parameters) *(void **)&name = driver == NULL ? NULL : dlsym(driver, #name);
    FUNCTIONS(FIND)
    if (cuInit == NULL || cuGraphLaunch == NULL) {
        printf("no driver with graphs\n");
        _exit(EXIT_FAILURE);
    }
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    for (int stream = 0; stream < 3; stream++) CHECK(cuStreamCreate(&streams[stream], 1));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&gate, module, "gate"));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    CHECK(cuMemHostAlloc((void **)&flag, 4096, 2));
    CHECK(cuMemAlloc_v2(&memory, 4096));
    *flag = 0;
}

static void *open_later(void *unused) {
    (void)unused;
    usleep(SHUT_MS * 1000);
    *flag = 1;
    return NULL;
}

/* Puts a kernel on a stream that ends in SHUT_MS. The gate's own code is loaded by a first launch. */
static void shut(void *stream) {
    static int is_loaded;
    Address address = (Address)(size_t)flag;
    void *arguments[] = {&address};
    if (!is_loaded) {
        *flag = 1;
        CHECK(cuLaunchKernel(gate, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
        CHECK(cuStreamSynchronize(stream));
        is_loaded = 1;
    }
    *flag = 0;
    CHECK(cuLaunchKernel(gate, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    pthread_t opener;
    pthread_create(&opener, NULL, open_later, NULL);
    pthread_detach(opener);
}

/* Whether what began with the gate shut has ended before it opened. */
static const char *waited(void) { return *flag ? "WAITED for the gate" : "went on"; }

static KernelNode kernel_node(void *function, void **arguments) {
    return (KernelNode){function, {1, 1, 1}, {1, 1, 1}, 0, arguments, NULL, NULL, context};
}

/* A chain of nodes: 0 empty kernels, 1 a kernel that was never launched, 2 fills of device memory, 3 fills of pinned memory. */
static void *chain(int kind, int count, void **first) {
    void *graph, *exec, *last = NULL, *node, *function = empty;
    void *arguments[] = {&memory};
    if (kind == 1) CHECK(cuModuleGetFunction(&function, module, "store"));
    CHECK(cuGraphCreate(&graph, 0));
    for (int at = 0; at < count; at++) {
        size_t before = last == NULL ? 0 : 1;
        if (kind < 2) {
            KernelNode params = kernel_node(function, kind == 1 ? arguments : NULL);
            CHECK(cuGraphAddKernelNode_v2(&node, graph, &last, before, &params));
        } else {
            FillNode params = {kind == 2 ? memory : (Address)(size_t)flag + 1024, 0, 5, 4, 16, 1};
            CHECK(cuGraphAddMemsetNode(&node, graph, &last, before, &params, context));
        }
        if (first != NULL && at == 0) *first = node;
        last = node;
    }
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static const char *const KINDS[] = {"empty kernels", "kernels never launched", "fills of device memory", "fills of pinned memory"};

/* When a graph is uploaded: never, before the gate, behind it on the gate's stream, behind it on another stream. */
static const char *const UPLOADS[] = {"no upload", "uploaded before", "uploaded on the gate's stream", "uploaded on a free stream"};

static void first_launch(int kind, int upload, int stream) {
    begin();
    void *exec = chain(kind, 4, NULL);
    if (upload == 1) {
        CHECK(cuGraphUpload(exec, streams[1]));
        CHECK(cuStreamSynchronize(streams[1]));
    }
    shut(streams[0]);
    if (upload >= 2) {
        CHECK(cuGraphUpload(exec, streams[upload == 2 ? 0 : 2]));
        printf("the upload %s, ", waited());
    }
    CHECK(cuGraphLaunch(exec, streams[stream]));
    printf("the first launch on %s %s\n", stream ? "another stream" : "the gate's stream", waited());
}

static volatile int launched;

static void *launch_many(void *exec) {
    CHECK(cuCtxSetCurrent(context));
    for (launched = 0; launched < MANY && !*flag; launched++) CHECK(cuGraphLaunch(exec, streams[0]));
    return NULL;
}

static void queue_length(int count) {
    begin();
    void *exec = chain(0, count, NULL);
    CHECK(cuGraphLaunch(exec, streams[0]));
    CHECK(cuStreamSynchronize(streams[0]));
    shut(streams[0]);
    launch_many(exec);
    printf("%d launches of %d kernels went on, then %s\n", launched - (*flag != 0), count, waited());
}

static void beside(int what) {
    begin();
    void *node, *event, *exec = chain(0, 1, NULL), *other = chain(0, 1, &node);
    CHECK(cuGraphLaunch(exec, streams[0]));
    CHECK(cuGraphLaunch(other, streams[1]));
    CHECK(cuStreamSynchronize(streams[0]));
    CHECK(cuStreamSynchronize(streams[1]));
    shut(streams[0]);
    pthread_t launching;
    pthread_create(&launching, NULL, launch_many, exec);
    for (int before = -1; before != launched;) {
        before = launched;
        usleep(100000);
    }
    printf("after %d launches another waits: %s, then ", launched, waited());
    KernelNode params = kernel_node(empty, NULL);
    switch (what) {
    case 0: CHECK(cuGraphExecKernelNodeSetParams_v2(other, node, &params)); break;
    case 1: CHECK(cuGraphLaunch(other, streams[1])); break;
    case 2: chain(0, 1, NULL); break;
    case 3: CHECK(cuEventCreate(&event, 2)); break;
    }
    printf("%s\n", waited());
}

static void without_context(int what) {
    begin();
    void *graph, *added, *node, *exec = chain(0, 1, &node);
    CHECK(cuGraphCreate(&graph, 0));
    KernelNode params = kernel_node(empty, NULL);
    AnyNode any;
    memset(&any, 0, sizeof any);
    any.of.kernel = params;
    CHECK(cuCtxSetCurrent(NULL));
    fflush(stdout);
    switch (what) {
    case 0: CHECK(cuGraphAddKernelNode_v2(&added, graph, NULL, 0, &params)); break;
    case 1: CHECK(cuGraphAddNode(&added, graph, NULL, 0, &any)); break;
    case 2: CHECK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params)); break;
    }
    printf("works\n");
}

static void costs(int count) {
    begin();
    double times[4][21];
    for (int round = 0; round < 21; round++) {
        void *exec = chain(0, count, NULL), *uploaded = chain(0, count, NULL);
        double start = now_ms();
        CHECK(cuGraphLaunch(exec, streams[0]));
        times[0][round] = now_ms() - start;
        CHECK(cuStreamSynchronize(streams[0]));
        start = now_ms();
        CHECK(cuGraphUpload(uploaded, streams[0]));
        times[1][round] = now_ms() - start;
        CHECK(cuStreamSynchronize(streams[0]));
        start = now_ms();
        CHECK(cuGraphLaunch(uploaded, streams[0]));
        times[2][round] = now_ms() - start;
        CHECK(cuStreamSynchronize(streams[0]));
        start = now_ms();
        CHECK(cuGraphLaunch(uploaded, streams[0]));
        times[3][round] = now_ms() - start;
        CHECK(cuStreamSynchronize(streams[0]));
    }
    static const char *const NAMES[] = {"first launch", "upload", "first launch after it", "next launch"};
    printf("%d kernels:", count);
    for (int what = 0; what < 4; what++) {
        double *all = times[what];
        for (int a = 1; a < 21; a++)
            for (int b = a; b > 0 && all[b] < all[b - 1]; b--) {
                double swap = all[b];
                all[b] = all[b - 1], all[b - 1] = swap;
            }
        printf(" %s %.1f us%s", NAMES[what], all[10] * 1e3, what < 3 ? "," : "\n");
    }
}

/* Asks in a process of its own. */
#define ASK(call, ...)                                                                                                 \
    do {                                                                                                               \
        printf(__VA_ARGS__);                                                                                           \
        printf(": ");                                                                                                  \
        fflush(stdout);                                                                                                \
        pid_t child = fork();                                                                                          \
        if (child == 0) {                                                                                              \
            alarm(30);                                                                                                 \
            call;                                                                                                      \
            fflush(stdout);                                                                                            \
            _exit(0);                                                                                                  \
        }                                                                                                              \
        int status = 0;                                                                                                \
        waitpid(child, &status, 0);                                                                                    \
        if (WIFSIGNALED(status)) printf("%s\n", WTERMSIG(status) == SIGALRM ? "HANGS" : "CRASHES");                    \
    } while (0)

int main(void) {
    for (int kind = 0; kind < 4; kind++)
        for (int upload = 0; upload < 4; upload++)
            for (int stream = 0; stream < 2; stream++)
                ASK(first_launch(kind, upload, stream), "%s, %s", KINDS[kind], UPLOADS[upload]);
    for (int count = 1; count <= 100; count *= 10) ASK(queue_length(count), "behind a gate");
    static const char *const BESIDE[] = {"a change of another graph", "a launch of another graph", "a new graph", "a new event"};
    for (int what = 0; what < 4; what++) ASK(beside(what), "%s beside a launch that waits", BESIDE[what]);
    static const char *const WITHOUT[] = {"cuGraphAddKernelNode", "cuGraphAddNode", "cuGraphExecKernelNodeSetParams"};
    for (int what = 0; what < 3; what++) ASK(without_context(what), "%s without a current context", WITHOUT[what]);
    for (int count = 1; count <= 1000; count *= 10) ASK(costs(count), "costs");
    return 0;
}
