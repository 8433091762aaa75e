/*
 * How fast the device's clock moves apart from the host's, as events tell it. An event is recorded on an idle stream and looked at until
 * it is complete, at the beginning and then twice a second: the host's time between two such moments, less the device's, in microseconds.
 * A moment is seen up to some microseconds late. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O2 clock_drift.c -o clock_drift -ldl && ./clock_drift
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuStreamCreate, (void **, unsigned))                                                                             \
    X(cuEventCreate, (void **, unsigned))                                                                              \
    X(cuEventRecord, (void *, void *))                                                                                 \
    X(cuEventQuery, (void *))                                                                                          \
    X(cuEventElapsedTime, (float *, void *, void *))

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

#define CHECK(call) check((call), #call)

static void check(int status, const char *call) {
    if (status != 0) {
        printf("%s answers %d\n", call, status);
        exit(EXIT_FAILURE);
    }
}

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Records an event and gives the host's time when it is seen complete. */
static double moment(void *event, void *stream) {
    int status;
    CHECK(cuEventRecord(event, stream));
    while ((status = cuEventQuery(event)) == 600) {
    }
    CHECK(status);
    return now_ns();
}

int main(void) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context, *stream, *first, *event;
#define FIND(name, parameters) *(void **)&name = driver == NULL ? NULL : dlsym(driver, #name);
    FUNCTIONS(FIND)
    if (cuInit == NULL || cuEventElapsedTime == NULL) {
        printf("no CUDA driver\n");
        return EXIT_FAILURE;
    }
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 1));
    CHECK(cuEventCreate(&first, 0));
    CHECK(cuEventCreate(&event, 0));
    moment(event, stream);
    double begun = moment(first, stream);
    for (int step = 1; step <= 8; step++) {
        struct timespec half = {0, 500000000};
        float milliseconds;
        nanosleep(&half, NULL);
        moment(event, stream);
        double host = moment(event, stream) - begun;
        CHECK(cuEventElapsedTime(&milliseconds, first, event));
        double apart = host - milliseconds * 1e6;
        printf("after %.2f s: %+.1f us, %+.1f us a second\n", host / 1e9, apart / 1e3, apart / 1e3 / (host / 1e9));
    }
    return EXIT_SUCCESS;
}
