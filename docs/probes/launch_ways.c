/*
 * What a kernel launch costs in each way that the CUDA driver takes one: by the plain and by the extended call, arguments as
 * pointers or as packed bytes, of none, 3 and 20 arguments. The lines of
 * native-facts.md about ways of launching. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O2 launch_ways.c -o launch_ways -ldl && ./launch_ways
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 81
#define WARM_UP 3
#define BATCHES 6
#define BATCH 100 /* launches before the stream is waited for: well below its depth */
#define MOST_ARGUMENTS 20

/* The part of cuda.h that is used here, with its values. */
enum { STREAM_NON_BLOCKING = 1 };
#define PARAM_END ((void *)0)
#define PARAM_BUFFER ((void *)1)
#define PARAM_BUFFER_SIZE ((void *)2)

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    void *attributes;
    unsigned count;
} Config;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,  \
                       void **))                                                                                       \
    X(cuLaunchKernelEx, (const Config *, void *, void **, void **))

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

#define CHECK(call) check((call), #call)

static void check(int status, const char *call) {
    if (status != 0) {
        fprintf(stderr, "%s answers %d\n", call, status);
        exit(EXIT_FAILURE);
    }
}

static void open_driver(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
#define FIND(name, parameters) *(void **)&name = driver == NULL ? NULL : dlsym(driver, #name);
    FUNCTIONS(FIND)
#define NEED(name, parameters)                                                                                         \
    if (name == NULL) {                                                                                                \
        fprintf(stderr, "no " #name " in libcuda.so.1; this needs CUDA 12 or newer\n");                                \
        exit(EXIT_FAILURE);                                                                                            \
    }
    FUNCTIONS(NEED)
}

static void *stream;
static struct {
    const char *name;
    int arguments;
    void *function;
} kernels[] = {{"none", 0, NULL}, {"three", 3, NULL}, {"twenty", 20, NULL}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static unsigned long long values[MOST_ARGUMENTS];
static void *pointers[MOST_ARGUMENTS];
static size_t bytes;
static void *extra[] = {PARAM_BUFFER, values, PARAM_BUFFER_SIZE, &bytes, PARAM_END};

static const char *const ways[] = {
    "cuLaunchKernel, pointers",
    "cuLaunchKernel, packed bytes",
    "cuLaunchKernelEx, pointers",
    "cuLaunchKernelEx, packed bytes",
    "cuLaunchKernel, pointers, again",
};
enum { WAYS = sizeof ways / sizeof *ways };

static int once(void *kernel, int way) {
    Config config = {{1, 1, 1}, {1, 1, 1}, 0, stream, NULL, 0};
    int packed = bytes != 0;
    switch (way) {
    case 1: return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, packed ? extra : NULL);
    case 2: return cuLaunchKernelEx(&config, kernel, pointers, NULL);
    case 3: return cuLaunchKernelEx(&config, kernel, NULL, packed ? extra : NULL);
    default: return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, pointers, NULL);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds of one launch; the waits between batches do not count. */
static double measure(void *kernel, int way) {
    double together = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double begun = now();
        for (int number = 0; number < BATCH; number++) {
            CHECK(once(kernel, way));
        }
        together += now() - begun;
        CHECK(cuStreamSynchronize(stream));
    }
    return together / (BATCHES * BATCH);
}

static int by_size(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

/* An entry that reads nothing, with that many arguments of eight bytes. */
static void write_entry(char **end, const char *name, int arguments) {
    *end += sprintf(*end, ".visible .entry %s(", name);
    for (int argument = 0; argument < arguments; argument++) {
        *end += sprintf(*end, "%s.param .u64 p%d", argument == 0 ? "" : ", ", argument);
    }
    *end += sprintf(*end, ")\n{\nret;\n}\n");
}

static void compare(int index) {
    static double rounds[WAYS][ROUNDS], ratios[WAYS][ROUNDS];
    bytes = (size_t)kernels[index].arguments * sizeof *values;
    for (int round = -WARM_UP; round < ROUNDS; round++) {
        for (int place = 0; place < WAYS; place++) {
            /* Forward and backward in turn, so that a drift of the machine falls on all alike. */
            int way = round & 1 ? WAYS - 1 - place : place;
            double taken = measure(kernels[index].function, way);
            if (round >= 0) {
                rounds[way][round] = taken;
            }
        }
        for (int way = 0; way < WAYS && round >= 0; way++) {
            ratios[way][round] = rounds[way][round] / rounds[0][round];
        }
    }
    for (int way = 0; way < WAYS; way++) {
        qsort(rounds[way], ROUNDS, sizeof(double), by_size);
        qsort(ratios[way], ROUNDS, sizeof(double), by_size);
        printf("%2d arguments, %-33s %6.0f ns  x%.3f, quartiles x%.3f to x%.3f\n", kernels[index].arguments, ways[way],
               rounds[way][ROUNDS / 2], ratios[way][ROUNDS / 2], ratios[way][ROUNDS / 4], ratios[way][ROUNDS * 3 / 4]);
    }
}

int main(void) {
    static char module_text[4096];
    char *end = module_text;
    void *context, *module;
    int ordinal;

    open_driver();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&ordinal, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, ordinal));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
    end += sprintf(end, ".version 7.0\n.target sm_70\n.address_size 64\n");
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        write_entry(&end, kernels[kernel].name, kernels[kernel].arguments);
    }
    CHECK(cuModuleLoadData(&module, module_text));
    for (int argument = 0; argument < MOST_ARGUMENTS; argument++) {
        pointers[argument] = &values[argument];
    }
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        CHECK(cuModuleGetFunction(&kernels[kernel].function, module, kernels[kernel].name));
        compare(kernel);
    }
    return EXIT_SUCCESS;
}
