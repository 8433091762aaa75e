/*
 * What a barrier of a sub-group costs by the mask that names its lanes: none, all 32 as a constant, or those that exist as a number that
 * each work-item computes; and whether a group of 48 work-items, whose second sub-group has 16, passes a barrier that names all 32. The
 * kernel adds two arrays as dpnp's does, with a barrier behind each access. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O1 sub_group_barriers.c -o sub_group_barriers -ldl && ./sub_group_barriers
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 31
#define BEHIND 10
#define THREADS 128
#define EACH 2 /* elements of a work-item */

typedef unsigned long long Address;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuMemAlloc_v2, (Address *, size_t))                                                                              \
    X(cuMemsetD32_v2, (Address, unsigned, size_t))                                                                     \
    X(cuMemcpyDtoH_v2, (void *, Address, size_t))                                                                      \
    X(cuModuleLoadData, (void **, const void *))                                                                       \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                            \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,  \
                       void **))                                                                                       \
    X(cuCtxSynchronize, (void))

#define DECLARE(NAME, PARAMETERS) static int (*NAME) PARAMETERS;
FUNCTIONS(DECLARE)

#define CHECK(call) check((call), #call)

static void check(int result, const char *call) {
    if (result != 0) {
        fprintf(stderr, "%s answers %d\n", call, result);
        exit(EXIT_FAILURE);
    }
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "%s is missing\n", name);
        exit(EXIT_FAILURE);
    }
    return found;
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* Adds two elements, the second a sub-group's size behind the first. %s: what comes between two accesses. */
#define ENTRY(NAME, MASK, BARRIER)                                                                                     \
    ".visible .entry " NAME "(.param .u64 p, .param .u64 q, .param .u64 r) {\n"                                        \
    " .reg .u64 %a, %b, %c, %o; .reg .u32 %t, %g, %n, %l, %m, %s; .reg .f64 %x, %y;\n"                                 \
    " mov.u32 %t, %tid.x; mov.u32 %g, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %l, %laneid; and.b32 %s, %t, -32;\n"      \
    MASK                                                                                                               \
    " mad.lo.u32 %g, %g, %n, %s; shl.b32 %g, %g, 1; add.u32 %g, %g, %l; mul.wide.u32 %o, %g, 8;\n"                     \
    " ld.param.u64 %a, [p]; ld.param.u64 %b, [q]; ld.param.u64 %c, [r];\n"                                             \
    " cvta.to.global.u64 %a, %a; cvta.to.global.u64 %b, %b; cvta.to.global.u64 %c, %c;\n"                              \
    " add.u64 %a, %a, %o; add.u64 %b, %b, %o; add.u64 %c, %c, %o;\n" BARRIER                                           \
    " ld.global.f64 %x, [%a];\n" BARRIER " ld.global.f64 %y, [%b];\n" BARRIER                                          \
    " add.f64 %x, %x, %y; st.global.f64 [%c], %x;\n" BARRIER BARRIER                                                   \
    " ld.global.f64 %x, [%a+256];\n" BARRIER " ld.global.f64 %y, [%b+256];\n" BARRIER                                  \
    " add.f64 %x, %x, %y; st.global.f64 [%c+256], %x;\n" BARRIER " ret;\n}\n"

static const char PTX[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ENTRY("none", "", "")
    ENTRY("constant", "", " bar.warp.sync -1;\n")
    ENTRY("computed",
          " sub.u32 %m, %n, %s; min.u32 %m, %m, 32; sub.u32 %t, 32, %m; mov.u32 %m, -1; shr.u32 %m, %m, %t;\n",
          " bar.warp.sync %m;\n");

static int by_size(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static double of_one(void *function, unsigned groups, void **arguments) {
    double begin = milliseconds();
    for (int turn = 0; turn < BEHIND; turn++)
        CHECK(cuLaunchKernel(function, groups, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    return (milliseconds() - begin) / BEHIND;
}

/* Groups of 48, the last 16 of which are a sub-group of their own. */
static void part_of_a_sub_group(void *function, Address arrays[3]) {
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2]};
    double sums[32 * EACH + 32 * EACH] = {0};
    CHECK(cuMemsetD32_v2(arrays[2], 0, sizeof sums / 4));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 48, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(sums, arrays[2], sizeof sums));
    int written = 0;
    for (size_t index = 0; index < sizeof sums / sizeof *sums; index++) written += sums[index] != 0;
    printf("a group of 48 behind barriers that name all 32 lanes: ended, %d of 96 elements written\n", written);
}

int main(void) {
    const char *named = getenv("UR_CUDA_LIBRARY"), *names[] = {"none", "constant", "computed"};
    void *driver = dlopen(named == NULL ? "libcuda.so.1" : named, RTLD_NOW), *context, *module, *functions[3];
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return EXIT_FAILURE;
    }
#define LOAD(NAME, PARAMETERS) NAME = symbol(driver, #NAME);
    FUNCTIONS(LOAD)
    /* The simulator takes its time for each element. */
    unsigned groups = named == NULL ? 390625 : 16;
    size_t elements = (size_t)groups * THREADS * EACH;
    int device;
    Address arrays[3];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    for (int which = 0; which < 3; which++) {
        CHECK(cuMemAlloc_v2(&arrays[which], elements * sizeof(double)));
        CHECK(cuMemsetD32_v2(arrays[which], 0x3ff00000, elements * 2));
    }
    CHECK(cuModuleLoadData(&module, PTX));
    for (int which = 0; which < 3; which++) CHECK(cuModuleGetFunction(&functions[which], module, names[which]));
    part_of_a_sub_group(functions[1], arrays);
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2]};
    static double times[3][ROUNDS];
    for (int round = -3; round < ROUNDS; round++)
        for (int which = 0; which < 3; which++) {
            double time = of_one(functions[which], groups, arguments);
            if (round >= 0) times[which][round] = time;
        }
    for (int which = 0; which < 3; which++) qsort(times[which], ROUNDS, sizeof(double), by_size);
    for (int which = 0; which < 3; which++)
        printf("%-8s mask: x%.4f of no barrier (quartiles x%.4f to x%.4f)\n", names[which],
               times[which][ROUNDS / 2] / times[0][ROUNDS / 2], times[which][ROUNDS / 4] / times[0][ROUNDS / 2],
               times[which][ROUNDS * 3 / 4] / times[0][ROUNDS / 2]);
    return EXIT_SUCCESS;
}
