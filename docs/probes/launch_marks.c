/*
 * What it costs to mark the place behind a kernel launch in each way that the CUDA driver has, beside the launch alone:
 * the lines of native-facts.md about chained launches. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O2 launch_marks.c -o launch_marks -ldl && ./launch_marks
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 41
#define WARM_UP 3
#define BATCHES 6
#define BATCH 100 /* launches before the stream is waited for: well below its depth */

/* The part of cuda.h that is used here, with its values. */
enum { STREAM_NON_BLOCKING = 1, EVENT_DISABLE_TIMING = 2 };
enum { ATTRIBUTE_PROGRAMMATIC_EVENT = 7, ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12 };

typedef struct {
    int id;
    char pad[4];
    union {
        char bytes[64];
        struct {
            void *event;
            int flags;
            int trigger_at_start; /* of a programmatic event */
        } event;
    } value;
} Attribute;

typedef struct {
    unsigned grid[3], block[3], shared;
    void *stream;
    Attribute *attributes;
    unsigned count;
} Config;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuStreamSynchronize, (void *))                                                                                   \
    X(cuStreamWriteValue32_v2, (void *, unsigned long long, unsigned, unsigned))                                       \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,  \
                       void **))                                                                                       \
    X(cuLaunchKernelEx, (const Config *, void *, void **, void **))                                                    \
    X(cuEventCreate, (void **, unsigned))                                                                              \
    X(cuEventRecord, (void *, void *))                                                                                 \
    X(cuMemAlloc_v2, (unsigned long long *, size_t))                                                                   \
    X(cuMemHostAlloc, (void **, size_t, unsigned))

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
        fprintf(stderr, "no " #name " in libcuda.so.1; this needs CUDA 12.3 or newer\n");                              \
        exit(EXIT_FAILURE);                                                                                            \
    }
    FUNCTIONS(NEED)
}

static void *stream, *kernel, *events[2], *host;
static unsigned long long device;

static int launch(void) { return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL); }

static int launch_with(unsigned count, int attribute) {
    Attribute mark = {.id = attribute, .value.event = {events[0], 0, 0}};
    Config config = {{1, 1, 1}, {1, 1, 1}, 0, stream, &mark, count};
    return cuLaunchKernelEx(&config, kernel, NULL, NULL);
}

static int write_word(unsigned long long word, int value) {
    return cuStreamWriteValue32_v2(stream, word, (unsigned)value, 0);
}

static const char *const ways[] = {
    "cuLaunchKernel",
    "and the same event recorded",
    "and two events recorded in turn",
    "and a word written on the device",
    "and a word written on the host",
    "cuLaunchKernelEx",
    "with a programmatic event",
    "with a launch completion event",
};
enum { WAYS = sizeof ways / sizeof *ways };

static int once(int way, int number) {
    int status;
    switch (way) {
    case 5: return launch_with(0, 0);
    case 6: return launch_with(1, ATTRIBUTE_PROGRAMMATIC_EVENT);
    case 7: return launch_with(1, ATTRIBUTE_LAUNCH_COMPLETION_EVENT);
    default: break;
    }
    status = launch();
    if (status != 0) {
        return status;
    }
    switch (way) {
    case 1: return cuEventRecord(events[0], stream);
    case 2: return cuEventRecord(events[number & 1], stream);
    case 3: return write_word(device, number);
    case 4: return write_word((unsigned long long)(size_t)host, number);
    default: return 0;
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Nanoseconds of one launch; the waits between batches do not count. */
static double measure(int way) {
    double together = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double begun = now();
        for (int number = 0; number < BATCH; number++) {
            CHECK(once(way, number));
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

int main(void) {
    static const char module_text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\nret;\n}\n";
    static double rounds[WAYS][ROUNDS];
    void *context, *module;
    int ordinal;

    open_driver();
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&ordinal, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, ordinal));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, STREAM_NON_BLOCKING));
    CHECK(cuModuleLoadData(&module, module_text));
    CHECK(cuModuleGetFunction(&kernel, module, "empty"));
    CHECK(cuEventCreate(&events[0], EVENT_DISABLE_TIMING));
    CHECK(cuEventCreate(&events[1], EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc_v2(&device, 4096));
    CHECK(cuMemHostAlloc(&host, 4096, 0));

    for (int round = -WARM_UP; round < ROUNDS; round++) {
        for (int place = 0; place < WAYS; place++) {
            /* Forward and backward in turn, so that a drift of the machine falls on all alike. */
            int way = round & 1 ? WAYS - 1 - place : place;
            double taken = measure(way);
            if (round >= 0) {
                rounds[way][round] = taken;
            }
        }
    }
    for (int way = 0; way < WAYS; way++) {
        qsort(rounds[way], ROUNDS, sizeof(double), by_size);
        printf("%-34s %6.0f ns  x%.3f\n", ways[way], rounds[way][ROUNDS / 2], rounds[way][ROUNDS / 2] / rounds[0][ROUNDS / 2]);
    }
    return EXIT_SUCCESS;
}
