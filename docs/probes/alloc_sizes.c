/*
 * What cuMemAlloc, a small copy and cuMemFree take by the size that is asked for, where nothing else of the process is on the device, and
 * with a stream that is kept or made each time. Says where a context that comes and goes spends its time beside the raw calls
 * ("context, queue, memory, copy come and go" in benchmarks.md), since ours differ from those in the size and the stream alone. Needs a
 * GPU and no header or library but the driver's.
 *
 *   cc -O1 alloc_sizes.c -o alloc_sizes -ldl && ./alloc_sizes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 201
#define COPY 4096

enum { STREAM_NON_BLOCKING = 1 };

typedef unsigned long long Address;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuStreamDestroy_v2, (void *))                                                                                    \
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuMemAlloc_v2, (Address *, size_t))                                                                              \
    X(cuMemFree_v2, (Address))                                                                                         \
    X(cuMemcpyAsync, (Address, Address, size_t, void *))

#define DECLARE(NAME, PARAMETERS) static int (*NAME) PARAMETERS;
FUNCTIONS(DECLARE)

#define CHECK(call) check((call), #call)

static void check(int result, const char *call) {
    if (result != 0) {
        fprintf(stderr, "%s answers %d\n", call, result);
        exit(EXIT_FAILURE);
    }
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, by_value);
    return values[ROUNDS / 2];
}

static char host[COPY];

/* Medians of each step: stream, allocation, copy and wait, free, end of the stream. */
static void lives(size_t size, int keeps_stream) {
    static double steps[6][ROUNDS];
    void *stream = NULL;
    if (keeps_stream) CHECK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
    for (int round = 0; round < ROUNDS; round++) {
        Address memory;
        double at[6];
        at[0] = microseconds();
        if (!keeps_stream) CHECK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
        at[1] = microseconds();
        CHECK(cuMemAlloc_v2(&memory, size));
        at[2] = microseconds();
        CHECK(cuMemcpyAsync(memory, (Address)(size_t)host, COPY, stream));
        CHECK(cuStreamSynchronize(stream));
        at[3] = microseconds();
        CHECK(cuMemFree_v2(memory));
        at[4] = microseconds();
        if (!keeps_stream) CHECK(cuStreamDestroy_v2(stream));
        at[5] = microseconds();
        for (int step = 0; step < 5; step++) steps[step][round] = at[step + 1] - at[step];
        steps[5][round] = at[5] - at[0];
    }
    if (keeps_stream) CHECK(cuStreamDestroy_v2(stream));
    printf("%8zu bytes, stream %s: stream %.1f, allocation %.1f, copy and wait %.1f, free %.1f, end of stream %.1f, all %.1f us\n", size,
           keeps_stream ? "kept" : "made", median(steps[0]), median(steps[1]), median(steps[2]), median(steps[3]), median(steps[4]),
           median(steps[5]));
}

int main(void) {
    const char *named = getenv("UR_CUDA_LIBRARY");
    void *driver = dlopen(named == NULL ? "libcuda.so.1" : named, RTLD_NOW), *context;
    int device;
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return EXIT_FAILURE;
    }
#define LOAD(NAME, PARAMETERS)                                                                                         \
    if ((NAME = dlsym(driver, #NAME)) == NULL) {                                                                       \
        fprintf(stderr, "%s is missing\n", #NAME);                                                                     \
        return EXIT_FAILURE;                                                                                           \
    }
    FUNCTIONS(LOAD)
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    static const size_t sizes[] = {4096, 16 << 10, 64 << 10, 128 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20};
    for (int turn = 0; turn < 2; turn++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) lives(sizes[size], turn);
    return EXIT_SUCCESS;
}
