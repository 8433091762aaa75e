/*
 * Does an allocation that a pool with a maximum refuses take memory from other pools, which keep it by their threshold? Prints what
 * another pool has reserved before and after the refusal, with and without a live block in it, and before and after a plain allocation
 * of more than the device has. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O1 pool_trims.c -o pool_trims -ldl && ./pool_trims
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void *Handle;
typedef unsigned long long Address;

/* The part of cuda.h that is used here, with its values. */
typedef struct {
    int allocation, handle, location, device;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
} PoolProperties;
enum { PINNED = 1, ON_DEVICE = 1, THRESHOLD = 4, RESERVED_NOW = 5, MIB = 1 << 20 };

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDevicePrimaryCtxRetain, (Handle *, int))                                                                       \
    X(cuCtxSetCurrent, (Handle))                                                                                       \
    X(cuStreamCreate, (Handle *, unsigned))                                                                            \
    X(cuStreamSynchronize, (Handle))                                                                                   \
    X(cuMemPoolCreate, (Handle *, const PoolProperties *))                                                             \
    X(cuMemPoolSetAttribute, (Handle, int, void *))                                                                    \
    X(cuMemPoolGetAttribute, (Handle, int, void *))                                                                    \
    X(cuMemAllocFromPoolAsync, (Address *, size_t, Handle, Handle))                                                    \
    X(cuMemFreeAsync, (Address, Handle))                                                                               \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                                           \
    X(cuMemAlloc_v2, (Address *, size_t))

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int status = (call);                                                                                           \
        if (status) printf("%s: %d\n", #call, status);                                                                 \
    } while (0)

static Handle pool(size_t most, uint64_t threshold) {
    PoolProperties properties;
    Handle made = NULL;
    memset(&properties, 0, sizeof properties);
    properties.allocation = PINNED;
    properties.location = ON_DEVICE;
    properties.most = most;
    CHECK(cuMemPoolCreate(&made, &properties));
    CHECK(cuMemPoolSetAttribute(made, THRESHOLD, &threshold));
    return made;
}

static unsigned long long reserved(Handle of) {
    uint64_t bytes = 0;
    CHECK(cuMemPoolGetAttribute(of, RESERVED_NOW, &bytes));
    return bytes / MIB;
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) return puts("no driver"), 1;
#define FIND(name, parameters) *(void **)&name = dlsym(library, #name);
    FUNCTIONS(FIND)
    Handle context, stream;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuStreamCreate(&stream, 1));
    for (int live = 0; live < 2; live++) {
        Handle limited = pool(32 * MIB, 0), other = pool(0, UINT64_MAX);
        Address block, kept;
        size_t available, all;
        CHECK(cuMemAllocFromPoolAsync(&kept, MIB, other, stream));
        CHECK(cuMemAllocFromPoolAsync(&block, 64 * MIB, other, stream));
        CHECK(cuMemFreeAsync(block, stream));
        if (!live) CHECK(cuMemFreeAsync(kept, stream));
        CHECK(cuStreamSynchronize(stream));
        printf("%s: reserved %llu MiB", live ? "a live block" : "no live block", reserved(other));
        int status = cuMemAllocFromPoolAsync(&block, 40 * MIB, limited, stream);
        printf("; more than the limited pool's maximum answers %d, then %llu MiB", status, reserved(other));
        status = cuMemAllocFromPoolAsync(&block, 20 * MIB, limited, stream);
        int second = cuMemAllocFromPoolAsync(&kept, 20 * MIB, limited, stream);
        printf("; 20 and 20 of 32 MiB answer %d and %d, then %llu MiB", status, second, reserved(other));
        CHECK(cuMemGetInfo_v2(&available, &all));
        status = cuMemAlloc_v2(&block, all);
        printf("; all of the device answers %d, then %llu MiB\n", status, reserved(other));
    }
    return 0;
}
