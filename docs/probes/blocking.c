/*
 * Which calls of the CUDA driver wait for work that runs on the device: the lines of native-facts.md about waiting.
 * Needs a GPU and no header or library but the driver's (or another library with its calls, as the first argument).
 * A second argument picks the tests whose names contain it; all of them take four minutes.
 *
 *   cc -O2 blocking.c -o blocking -ldl -lpthread && ./blocking [libcuda.so.1 [part of a name]]
 *
 * A stream is held back by a gate: a value wait, a kernel that spins on a word, or a host function. Another thread opens
 * the gate after OPEN_AFTER milliseconds, so nothing here can hang for good; a test that does all the same is ended by an
 * alarm, and the next one runs in a new process. Each line says whether a call waited for the gate.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPEN_AFTER 150  /* milliseconds from the closing of a gate to its opening */
#define WAITED 75       /* a call that takes longer than this waited */
#define BLOCKED_FOR 400 /* as OPEN_AFTER, where a second thread is tried beside one that waits */
#define SETTLE 40       /* until a value wait or another thread stands where it should */
#define PATIENCE 30     /* seconds of one test before the alarm */
#define MOST 20000      /* commands that are put behind a gate at most */
#define SIZE 4096
#define LARGE (8u << 20)

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
typedef struct { size_t width, height, depth; int format; unsigned channels, flags; } ArrayDesc;
typedef struct { int type; union { Handle array; int reserved[32]; } resource; unsigned flags; } ResourceDesc;
typedef struct { int words[26]; } TextureDesc;
typedef struct { size_t x, y; int type; const void *host; Address device; Handle array; size_t pitch; } Side2;
typedef struct { Side2 from, to; size_t width, height; } Copy2;
typedef struct {
    size_t x, y, z, lod;
    int type;
    const void *host;
    Address device;
    Handle array, reserved;
    size_t pitch, height;
} Side3;
typedef struct { Side3 from, to; size_t width, height, depth; } Copy3;
typedef struct {
    int type, handle_types;
    Location location;
    void *security;
    unsigned char flags[8];
} PhysicalProps;
typedef struct { Location location; int flags; } Access;

enum { NON_BLOCKING = 1, NO_TIMING = 2, HOST = 1, DEVICE = 2, UNIFIED = 4, PINNED = 1, ON_DEVICE = 1, ON_HOST = 2 };
enum { READ_WRITE = 3, MANAGED_GLOBAL = 1, POINTER_MEMORY_TYPE = 2 };

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDeviceGetCount, (int *))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (Handle *, int))                                                                       \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                             \
    X(cuCtxSetCurrent, (Handle))                                                                                       \
    X(cuCtxGetCurrent, (Handle *))                                                                                     \
    X(cuCtxEnablePeerAccess, (Handle, unsigned))                                                                       \
    X(cuCtxDisablePeerAccess, (Handle))                                                                                \
    X(cuCtxSynchronize, (void))                                                                                        \
    X(cuStreamCreate, (Handle *, unsigned))                                                                            \
    X(cuStreamDestroy_v2, (Handle))                                                                                    \
    X(cuStreamSynchronize, (Handle))                                                                                   \
    X(cuStreamQuery, (Handle))                                                                                         \
    X(cuStreamWaitEvent, (Handle, Handle, unsigned))                                                                   \
    X(cuStreamWaitValue32_v2, (Handle, Address, unsigned, unsigned))                                                   \
    X(cuStreamWriteValue32_v2, (Handle, Address, unsigned, unsigned))                                                  \
    X(cuLaunchHostFunc, (Handle, void (*)(void *), void *))                                                            \
    X(cuModuleLoad, (Handle *, const char *))                                                                          \
    X(cuModuleLoadData, (Handle *, const void *))                                                                      \
    X(cuModuleLoadDataEx, (Handle *, const void *, unsigned, int *, void **))                                          \
    X(cuModuleUnload, (Handle))                                                                                        \
    X(cuModuleGetFunction, (Handle *, Handle, const char *))                                                           \
    X(cuModuleGetGlobal_v2, (Address *, size_t *, Handle, const char *))                                               \
    X(cuLibraryLoadData, (Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned))                 \
    X(cuLibraryUnload, (Handle))                                                                                       \
    X(cuLibraryGetModule, (Handle *, Handle))                                                                          \
    X(cuLinkCreate_v2, (unsigned, int *, void **, Handle *))                                                           \
    X(cuLinkAddData_v2, (Handle, int, void *, size_t, const char *, unsigned, int *, void **))                         \
    X(cuLinkComplete, (Handle, void **, size_t *))                                                                     \
    X(cuLinkDestroy, (Handle))                                                                                         \
    X(cuFuncSetAttribute, (Handle, int, int))                                                                          \
    X(cuLaunchKernel, (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,  \
                       void **))                                                                                       \
    X(cuEventCreate, (Handle *, unsigned))                                                                             \
    X(cuEventDestroy_v2, (Handle))                                                                                     \
    X(cuEventRecord, (Handle, Handle))                                                                                 \
    X(cuEventQuery, (Handle))                                                                                          \
    X(cuEventSynchronize, (Handle))                                                                                    \
    X(cuMemAlloc_v2, (Address *, size_t))                                                                              \
    X(cuMemAllocPitch_v2, (Address *, size_t *, size_t, size_t, unsigned))                                             \
    X(cuMemFree_v2, (Address))                                                                                         \
    X(cuMemAllocManaged, (Address *, size_t, unsigned))                                                                \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                                     \
    X(cuMemFreeHost, (void *))                                                                                         \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned))                                                                \
    X(cuMemHostUnregister, (void *))                                                                                   \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                                           \
    X(cuPointerGetAttribute, (void *, int, Address))                                                                   \
    X(cuMemAllocAsync, (Address *, size_t, Handle))                                                                    \
    X(cuMemAllocFromPoolAsync, (Address *, size_t, Handle, Handle))                                                    \
    X(cuMemFreeAsync, (Address, Handle))                                                                               \
    X(cuMemPoolCreate, (Handle *, const PoolProps *))                                                                  \
    X(cuMemPoolDestroy, (Handle))                                                                                      \
    X(cuMemPoolTrimTo, (Handle, size_t))                                                                               \
    X(cuMemPoolSetAccess, (Handle, const Access *, size_t))                                                            \
    X(cuArray3DCreate_v2, (Handle *, const ArrayDesc *))                                                               \
    X(cuArrayDestroy, (Handle))                                                                                        \
    X(cuTexObjectCreate, (Address *, const ResourceDesc *, const TextureDesc *, const void *))                         \
    X(cuTexObjectDestroy, (Address))                                                                                   \
    X(cuSurfObjectCreate, (Address *, const ResourceDesc *))                                                           \
    X(cuSurfObjectDestroy, (Address))                                                                                  \
    X(cuMemcpy, (Address, Address, size_t))                                                                            \
    X(cuMemcpyHtoD_v2, (Address, const void *, size_t))                                                                \
    X(cuMemcpyDtoH_v2, (void *, Address, size_t))                                                                      \
    X(cuMemcpyAsync, (Address, Address, size_t, Handle))                                                               \
    X(cuMemcpyHtoDAsync_v2, (Address, const void *, size_t, Handle))                                                   \
    X(cuMemcpyDtoHAsync_v2, (void *, Address, size_t, Handle))                                                         \
    X(cuMemcpy2DAsync_v2, (const Copy2 *, Handle))                                                                     \
    X(cuMemcpy3DAsync_v2, (const Copy3 *, Handle))                                                                     \
    X(cuMemsetD8_v2, (Address, unsigned char, size_t))                                                                 \
    X(cuMemsetD8Async, (Address, unsigned char, size_t, Handle))                                                       \
    X(cuMemAdvise, (Address, size_t, int, int))                                                                        \
    X(cuMemPrefetchAsync, (Address, size_t, int, Handle))                                                              \
    X(cuMemAddressReserve, (Address *, size_t, size_t, Address, unsigned long long))                                   \
    X(cuMemAddressFree, (Address, size_t))                                                                             \
    X(cuMemCreate, (unsigned long long *, size_t, const PhysicalProps *, unsigned long long))                          \
    X(cuMemRelease, (unsigned long long))                                                                              \
    X(cuMemMap, (Address, size_t, size_t, unsigned long long, unsigned long long))                                     \
    X(cuMemUnmap, (Address, size_t))                                                                                   \
    X(cuMemSetAccess, (Address, size_t, const Access *, size_t))                                                       \
    X(cuGraphCreate, (Handle *, unsigned))                                                                             \
    X(cuGraphDestroy, (Handle))                                                                                        \
    X(cuGraphAddEmptyNode, (Handle *, Handle, const Handle *, size_t))                                                 \
    X(cuGraphInstantiateWithFlags, (Handle *, Handle, unsigned long long))                                             \
    X(cuGraphExecDestroy, (Handle))                                                                                    \
    X(cuGraphLaunch, (Handle, Handle))

/* A call that the library lacks answers this, so that only its own lines are missing. */
static int absent(void) { return 9999; }

#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

#define CHECK(call) check((call), #call)

static void check(int status, const char *call) {
    if (status != 0) {
        fprintf(stderr, "%s answers %d\n", call, status);
    }
}

static const char module_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".global .align 4 .u32 variable;\n"
    ".visible .entry empty()\n{\nret;\n}\n"
    ".visible .entry spin(.param .u64 words)\n{\n.reg .u64 %a;\n.reg .u32 %w;\n.reg .pred %p;\n"
    "ld.param.u64 %a, [words];\nmov.u32 %w, 1;\nst.volatile.u32 [%a+4], %w;\n"
    "AGAIN:\nld.volatile.u32 %w, [%a];\nsetp.eq.u32 %p, %w, 0;\n@%p bra AGAIN;\nret;\n}\n";

/* What every test finds ready. */
static Handle context, module, empty, spin, pool, host_pool, gated, other, event, idle_event, array;
static Address device, device_too, managed, managed_too, reserved, pooled, host_pooled;
static char *pinned, *pinned_too, *heap, *heap_too;
static volatile unsigned *words; /* pinned: the gate, and the kernel's "I am here" */
static volatile int host_gate, host_here;
static PhysicalProps physical = {PINNED, 0, {ON_DEVICE, 0}, NULL, {0}};
static Access access_all = {{ON_DEVICE, 0}, READ_WRITE};
static char file_name[] = "/tmp/blocking-XXXXXX";
static size_t granule = 2u << 20;

/* What a test makes for itself. */
static Handle made;
static Address made_address;
static unsigned long long made_number;
static void *made_pointer;
static size_t made_size;
static int made_int;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void rest(double milliseconds) { usleep((useconds_t)(milliseconds * 1e3)); }

/* ---- the gate ---- */

enum { BY_VALUE, BY_KERNEL, BY_HOST, GATES };
static const char *const gate_names[GATES] = {"value", "kernel", "host"};

static void stand_still(void *nothing) {
    (void)nothing;
    host_here = 1;
    while (!host_gate) {
        rest(0.2);
    }
}

static void close_gate(int kind, Handle stream) {
    void *arguments[] = {(void *)&words};
    words[0] = words[1] = 0;
    host_gate = host_here = 0;
    switch (kind) {
    case BY_VALUE: CHECK(cuStreamWaitValue32_v2(stream, (Address)(uintptr_t)words, 1, 1)); break;
    case BY_KERNEL:
        CHECK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
        cuStreamQuery(stream);
        while (words[1] == 0) {
            rest(0.2);
        }
        break;
    default:
        CHECK(cuLaunchHostFunc(stream, stand_still, NULL));
        cuStreamQuery(stream);
        while (!host_here) {
            rest(0.2);
        }
    }
    rest(SETTLE);
}

static void open_gate(void) {
    words[0] = 1;
    host_gate = 1;
}

static void *open_later(void *after) {
    rest(*(double *)after);
    open_gate();
    return NULL;
}

/* ---- the calls ---- */

static void make_pool(Handle *out, int where) {
    PoolProps props = {PINNED, 0, {where, 0}, NULL, 0, 0, {0}};
    CHECK(cuMemPoolCreate(out, &props));
}


static Address at(const void *pointer) { return (Address)(uintptr_t)pointer; }

static int copy_2d(Address to, Address from) {
    Copy2 rows = {{0, 0, UNIFIED, NULL, from, NULL, 128}, {0, 0, UNIFIED, NULL, to, NULL, 128}, 64, 16};
    return cuMemcpy2DAsync_v2(&rows, gated);
}

static int copy_3d(Address to, Address from) {
    Copy3 rows = {{0, 0, 0, 0, UNIFIED, NULL, from, NULL, NULL, 64, 4}, {0, 0, 0, 0, UNIFIED, NULL, to, NULL, NULL, 64, 4}, 32, 4, 4};
    return cuMemcpy3DAsync_v2(&rows, gated);
}

static int array_to_heap(void) {
    Copy3 rows = {{0, 0, 0, 0, 3, NULL, 0, array, NULL, 0, 0}, {0, 0, 0, 0, HOST, heap, 0, NULL, NULL, 64, 16}, 64, 16, 1};
    return cuMemcpy3DAsync_v2(&rows, gated);
}

static int heap_to_array(void) {
    Copy3 rows = {{0, 0, 0, 0, HOST, heap, 0, NULL, NULL, 64, 16}, {0, 0, 0, 0, 3, NULL, 0, array, NULL, 0, 0}, 64, 16, 1};
    return cuMemcpy3DAsync_v2(&rows, gated);
}

static void make_array(Handle *out) {
    ArrayDesc desc = {64, 16, 0, 1, 1, 2};
    CHECK(cuArray3DCreate_v2(out, &desc));
}

static int make_texture(Address *out) {
    ResourceDesc resource;
    TextureDesc texture;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resource.array = array;
    texture.words[4] = 1; /* read as integers */
    return cuTexObjectCreate(out, &resource, &texture, NULL);
}

static int make_surface(Address *out) {
    ResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resource.array = array;
    return cuSurfObjectCreate(out, &resource);
}

static void map_one(void) {
    CHECK(cuMemCreate(&made_number, granule, &physical, 0));
    CHECK(cuMemMap(reserved, granule, 0, made_number, 0));
    CHECK(cuMemSetAccess(reserved, granule, &access_all, 1));
}

static void instantiate(void) {
    Handle graph, node;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CHECK(cuGraphInstantiateWithFlags(&made, graph, 0));
    CHECK(cuGraphDestroy(graph));
}

static int link_all(void) {
    Handle linker;
    void *image;
    size_t size;
    int status = cuLinkCreate_v2(0, NULL, NULL, &linker);
    status = status ? status : cuLinkAddData_v2(linker, 1, (void *)module_text, sizeof module_text, "m", 0, NULL, NULL);
    status = status ? status : cuLinkComplete(linker, &image, &size);
    return status ? status : cuLinkDestroy(linker);
}

static Handle library_module, library_function;

static void load_library(void) {
    CHECK(cuLibraryLoadData(&made, module_text, NULL, NULL, 0, NULL, NULL, 0));
}

static void load_library_module(void) {
    load_library();
    CHECK(cuLibraryGetModule(&library_module, made));
}

static void load_library_function(void) {
    load_library_module();
    CHECK(cuModuleGetFunction(&library_function, library_module, "empty"));
}

static int launch_first(Handle stream) {
    return cuLaunchKernel(library_function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static int launch(Handle stream) { return cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL); }

static void nothing_to_do(void *nothing) { (void)nothing; }

#define NONE ((void)0)

/* Name, what is made ready while nothing runs, the call. */
#define CALLS(X)                                                                                                       \
    X(ctx_synchronize, NONE, cuCtxSynchronize())                                                                       \
    X(stream_synchronize_gated, NONE, cuStreamSynchronize(gated))                                                      \
    X(stream_synchronize_other, NONE, cuStreamSynchronize(other))                                                      \
    X(mem_free_device, CHECK(cuMemAlloc_v2(&made_address, SIZE)), cuMemFree_v2(made_address))                          \
    X(mem_free_device_large, CHECK(cuMemAlloc_v2(&made_address, LARGE)), cuMemFree_v2(made_address))                   \
    X(mem_free_null, NONE, cuMemFree_v2(0))                                                                            \
    X(mem_free_wrong_pointer, NONE, cuMemFree_v2(at(heap)))                                                            \
    X(mem_free_managed, CHECK(cuMemAllocManaged(&made_address, SIZE, MANAGED_GLOBAL)), cuMemFree_v2(made_address))     \
    X(mem_free_host, CHECK(cuMemHostAlloc(&made_pointer, SIZE, 0)), cuMemFreeHost(made_pointer))                       \
    X(mem_host_unregister, CHECK(cuMemHostRegister_v2(heap_too, SIZE, 0)), cuMemHostUnregister(heap_too))              \
    X(module_unload, CHECK(cuModuleLoadData(&made, module_text)), cuModuleUnload(made))                                \
    X(module_load, NONE, cuModuleLoad(&made, file_name))                                                               \
    X(module_load_data, NONE, cuModuleLoadData(&made, module_text))                                                    \
    X(module_load_data_ex, NONE, cuModuleLoadDataEx(&made, module_text, 0, NULL, NULL))                                \
    X(module_load_data_broken, NONE, cuModuleLoadData(&made, "no PTX"))                                                \
    X(library_load_data, NONE, cuLibraryLoadData(&made, module_text, NULL, NULL, 0, NULL, NULL, 0))                    \
    X(library_unload, CHECK(cuLibraryLoadData(&made, module_text, NULL, NULL, 0, NULL, NULL, 0)), cuLibraryUnload(made)) \
    X(library_get_module, load_library(), cuLibraryGetModule(&library_module, made))                                   \
    X(library_get_function, load_library_module(), cuModuleGetFunction(&library_function, library_module, "empty"))    \
    X(library_get_global, load_library_module(), cuModuleGetGlobal_v2(&made_address, &made_size, library_module, "variable")) \
    X(library_first_launch, load_library_function(), launch_first(other))                                              \
    X(module_get_function, NONE, cuModuleGetFunction(&made, module, "empty"))                                          \
    X(module_get_global, NONE, cuModuleGetGlobal_v2(&made_address, &made_size, module, "variable"))                    \
    X(link, NONE, link_all())                                                                                          \
    X(func_set_attribute, NONE, cuFuncSetAttribute(empty, 8, 65536))                                                   \
    X(mem_alloc, NONE, cuMemAlloc_v2(&made_address, SIZE))                                                             \
    X(mem_alloc_large, NONE, cuMemAlloc_v2(&made_address, LARGE))                                                      \
    X(mem_alloc_managed, NONE, cuMemAllocManaged(&made_address, SIZE, MANAGED_GLOBAL))                                 \
    X(mem_host_alloc, NONE, cuMemHostAlloc(&made_pointer, SIZE, 0))                                                    \
    X(mem_host_register, NONE, cuMemHostRegister_v2(heap_too, SIZE, 0))                                                \
    X(mem_get_info, NONE, cuMemGetInfo_v2(&made_size, &made_size))                                                     \
    X(mem_alloc_async_gated, NONE, cuMemAllocAsync(&made_address, SIZE, gated))                                        \
    X(mem_alloc_async_other, NONE, cuMemAllocAsync(&made_address, SIZE, other))                                        \
    X(mem_alloc_from_pool_async_gated, NONE, cuMemAllocFromPoolAsync(&made_address, SIZE, pool, gated))                \
    X(mem_alloc_from_pool_async_other, NONE, cuMemAllocFromPoolAsync(&made_address, SIZE, pool, other))                \
    X(mem_alloc_from_pool_async_grows, NONE, cuMemAllocFromPoolAsync(&made_address, 512u << 20, pool, other))          \
    X(mem_alloc_from_host_pool_async, NONE, cuMemAllocFromPoolAsync(&made_address, SIZE, host_pool, other))            \
    X(mem_free_async_gated, CHECK(cuMemAllocFromPoolAsync(&made_address, SIZE, pool, other)), cuMemFreeAsync(made_address, gated)) \
    X(mem_free_async_other, CHECK(cuMemAllocFromPoolAsync(&made_address, SIZE, pool, other)), cuMemFreeAsync(made_address, other)) \
    X(mem_free_async_plain_memory, CHECK(cuMemAlloc_v2(&made_address, SIZE)), cuMemFreeAsync(made_address, other))     \
    X(mem_pool_create, NONE, (make_pool(&made, ON_DEVICE), 0))                                                         \
    X(mem_pool_trim_to, NONE, cuMemPoolTrimTo(pool, 0))                                                                \
    X(mem_pool_destroy, make_pool(&made, ON_DEVICE), cuMemPoolDestroy(made))                                           \
    X(mem_pool_set_access, NONE, cuMemPoolSetAccess(host_pool, &access_all, 1))                                        \
    X(stream_create, NONE, cuStreamCreate(&made, NON_BLOCKING))                                                        \
    X(stream_destroy_other, CHECK(cuStreamCreate(&made, NON_BLOCKING)), cuStreamDestroy_v2(made))                      \
    X(stream_destroy_gated, NONE, (made = gated, gated = NULL, cuStreamDestroy_v2(made)))                              \
    X(stream_query_gated, NONE, cuStreamQuery(gated))                                                                  \
    X(event_create, NONE, cuEventCreate(&made, NO_TIMING))                                                             \
    X(event_create_timing, NONE, cuEventCreate(&made, 0))                                                              \
    X(event_destroy, CHECK(cuEventCreate(&made, NO_TIMING)), cuEventDestroy_v2(made))                                  \
    X(event_destroy_recorded_behind, CHECK(cuEventCreate(&made, NO_TIMING)), (cuEventRecord(made, gated), cuEventDestroy_v2(made))) \
    X(event_record_gated, NONE, cuEventRecord(event, gated))                                                           \
    X(event_record_other, NONE, cuEventRecord(event, other))                                                           \
    X(stream_wait_event_gated, NONE, cuStreamWaitEvent(gated, idle_event, 0))                                          \
    X(array_create, NONE, (make_array(&made), 0))                                                                      \
    X(array_destroy, make_array(&made), cuArrayDestroy(made))                                                          \
    X(tex_object_create, NONE, make_texture(&made_address))                                                            \
    X(tex_object_destroy, CHECK(make_texture(&made_address)), cuTexObjectDestroy(made_address))                        \
    X(surf_object_create, NONE, make_surface(&made_address))                                                           \
    X(surf_object_destroy, CHECK(make_surface(&made_address)), cuSurfObjectDestroy(made_address))                      \
    X(pointer_get_attribute, NONE, cuPointerGetAttribute(&made_int, POINTER_MEMORY_TYPE, device))                      \
    X(launch_gated, NONE, launch(gated))                                                                               \
    X(launch_other, NONE, launch(other))                                                                               \
    X(launch_host_func_gated, NONE, cuLaunchHostFunc(gated, nothing_to_do, NULL))                                      \
    X(memset_async_gated, NONE, cuMemsetD8Async(device, 1, SIZE, gated))                                               \
    X(memset, NONE, cuMemsetD8_v2(device, 1, SIZE))                                                                    \
    X(memcpy_htod, NONE, cuMemcpyHtoD_v2(device, heap, SIZE))                                                          \
    X(memcpy_dtoh, NONE, cuMemcpyDtoH_v2(heap, device, SIZE))                                                          \
    X(memcpy_dtod, NONE, cuMemcpy(device, device_too, SIZE))                                                           \
    X(copy_heap_to_device, NONE, cuMemcpyAsync(device, at(heap), SIZE, gated))                                         \
    X(copy_heap_to_device_large, NONE, cuMemcpyAsync(device, at(heap), LARGE, gated))                                  \
    X(copy_heap_to_device_100k, NONE, cuMemcpyAsync(device, at(heap), 100000, gated))                                  \
    X(copy_heap_to_device_256k, NONE, cuMemcpyAsync(device, at(heap), 256 << 10, gated))                               \
    X(copy_heap_to_device_1m, NONE, cuMemcpyAsync(device, at(heap), 1 << 20, gated))                                   \
    X(copy_heap_to_device_2m, NONE, cuMemcpyAsync(device, at(heap), 2 << 20, gated))                                   \
    X(copy_heap_to_device_4m, NONE, cuMemcpyAsync(device, at(heap), 4 << 20, gated))                                   \
    X(copy_htod_async, NONE, cuMemcpyHtoDAsync_v2(device, heap, SIZE, gated))                                          \
    X(copy_device_to_heap, NONE, cuMemcpyAsync(at(heap), device, SIZE, gated))                                         \
    X(copy_device_to_heap_large, NONE, cuMemcpyAsync(at(heap), device, LARGE, gated))                                  \
    X(copy_device_to_heap_other_stream, NONE, cuMemcpyAsync(at(heap), device, SIZE, other))                            \
    X(copy_device_to_heap_nothing, NONE, cuMemcpyAsync(at(heap), device, 0, gated))                                    \
    X(copy_dtoh_async_heap, NONE, cuMemcpyDtoHAsync_v2(heap, device, SIZE, gated))                                     \
    X(copy_dtoh_async_pinned, NONE, cuMemcpyDtoHAsync_v2(pinned, device, SIZE, gated))                                 \
    X(copy_pinned_to_device, NONE, cuMemcpyAsync(device, at(pinned), SIZE, gated))                                     \
    X(copy_device_to_pinned, NONE, cuMemcpyAsync(at(pinned), device, SIZE, gated))                                     \
    X(copy_device_to_device, NONE, cuMemcpyAsync(device, device_too, SIZE, gated))                                     \
    X(copy_heap_to_heap, NONE, cuMemcpyAsync(at(heap), at(heap_too), SIZE, gated))                                     \
    X(copy_heap_to_heap_other_stream, NONE, cuMemcpyAsync(at(heap), at(heap_too), SIZE, other))                        \
    X(copy_heap_to_pinned, NONE, cuMemcpyAsync(at(pinned), at(heap), SIZE, gated))                                     \
    X(copy_pinned_to_heap, NONE, cuMemcpyAsync(at(heap), at(pinned), SIZE, gated))                                     \
    X(copy_pinned_to_pinned, NONE, cuMemcpyAsync(at(pinned), at(pinned_too), SIZE, gated))                             \
    X(copy_managed_to_device, NONE, cuMemcpyAsync(device, managed, SIZE, gated))                                       \
    X(copy_device_to_managed, NONE, cuMemcpyAsync(managed, device, SIZE, gated))                                       \
    X(copy_managed_to_managed, NONE, cuMemcpyAsync(managed, managed_too, SIZE, gated))                                 \
    X(copy_managed_to_heap, NONE, cuMemcpyAsync(at(heap), managed, SIZE, gated))                                       \
    X(copy_heap_to_managed, NONE, cuMemcpyAsync(managed, at(heap), SIZE, gated))                                       \
    X(copy_managed_to_pinned, NONE, cuMemcpyAsync(at(pinned), managed, SIZE, gated))                                   \
    X(copy_pinned_to_managed, NONE, cuMemcpyAsync(managed, at(pinned), SIZE, gated))                                   \
    X(copy_pooled_to_heap, NONE, cuMemcpyAsync(at(heap), pooled, SIZE, gated))                                         \
    X(copy_host_pooled_to_heap, NONE, cuMemcpyAsync(at(heap), host_pooled, SIZE, gated))                               \
    X(copy_host_pooled_to_pinned, NONE, cuMemcpyAsync(at(pinned), host_pooled, SIZE, gated))                           \
    X(copy_device_to_host_pooled, NONE, cuMemcpyAsync(host_pooled, device, SIZE, gated))                               \
    X(copy_registered_to_pinned, CHECK(cuMemHostRegister_v2(heap_too, SIZE, 0)), cuMemcpyAsync(at(pinned), at(heap_too), SIZE, gated)) \
    X(copy_device_to_registered, CHECK(cuMemHostRegister_v2(heap_too, SIZE, 0)), cuMemcpyAsync(at(heap_too), device, SIZE, gated)) \
    X(copy_2d_heap_to_device, NONE, copy_2d(device, at(heap)))                                                         \
    X(copy_2d_device_to_heap, NONE, copy_2d(at(heap), device))                                                         \
    X(copy_2d_device_to_pinned, NONE, copy_2d(at(pinned), device))                                                     \
    X(copy_2d_heap_to_heap, NONE, copy_2d(at(heap), at(heap_too)))                                                     \
    X(copy_2d_pinned_to_pinned, NONE, copy_2d(at(pinned), at(pinned_too)))                                             \
    X(copy_3d_heap_to_device, NONE, copy_3d(device, at(heap)))                                                         \
    X(copy_3d_device_to_heap, NONE, copy_3d(at(heap), device))                                                         \
    X(copy_3d_device_to_pinned, NONE, copy_3d(at(pinned), device))                                                     \
    X(copy_3d_heap_to_heap, NONE, copy_3d(at(heap), at(heap_too)))                                                     \
    X(copy_3d_pinned_to_pinned, NONE, copy_3d(at(pinned), at(pinned_too)))                                             \
    X(copy_heap_to_array, NONE, heap_to_array())                                                                       \
    X(copy_array_to_heap, NONE, array_to_heap())                                                                       \
    X(mem_advise, NONE, cuMemAdvise(managed, SIZE, 1, 0))                                                              \
    X(mem_prefetch_async_gated, NONE, cuMemPrefetchAsync(managed, SIZE, 0, gated))                                     \
    X(mem_address_reserve, NONE, cuMemAddressReserve(&made_address, granule, 0, 0, 0))                                 \
    X(mem_address_free, CHECK(cuMemAddressReserve(&made_address, granule, 0, 0, 0)), cuMemAddressFree(made_address, granule)) \
    X(mem_create, NONE, cuMemCreate(&made_number, granule, &physical, 0))                                              \
    X(mem_release, CHECK(cuMemCreate(&made_number, granule, &physical, 0)), cuMemRelease(made_number))                 \
    X(mem_map, CHECK(cuMemCreate(&made_number, granule, &physical, 0)), cuMemMap(reserved, granule, 0, made_number, 0)) \
    X(mem_set_access, (CHECK(cuMemUnmap(reserved, granule)), map_one()), cuMemSetAccess(reserved, granule, &access_all, 1)) \
    X(mem_unmap, NONE, cuMemUnmap(reserved, granule))                                                                  \
    X(graph_instantiate, NONE, (instantiate(), 0))                                                                     \
    X(graph_launch_gated, instantiate(), cuGraphLaunch(made, gated))                                                   \
    X(graph_exec_destroy, instantiate(), cuGraphExecDestroy(made))

#define MAKE(name, prepare, act)                                                                                       \
    static void prepare_##name(void) { prepare; }                                                                      \
    static int act_##name(void) { return act; }
CALLS(MAKE)

typedef struct {
    const char *name;
    void (*prepare)(void);
    int (*act)(void);
} Call;

#define LIST(name, prepare, act) {#name, prepare_##name, act_##name},
static const Call calls[] = {CALLS(LIST)};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

static void run_call(int number) {
    const Call *call = &calls[number % CALL_COUNT];
    int gate = number / CALL_COUNT, status;
    double after = OPEN_AFTER, begun, taken;
    pthread_t opener;

    CHECK(cuStreamCreate(&gated, NON_BLOCKING));
    call->prepare();
    CHECK(cuCtxSynchronize());
    close_gate(gate, gated);
    pthread_create(&opener, NULL, open_later, &after);
    begun = now();
    status = call->act();
    taken = now() - begun;
    printf("%s/%s: %s (%.0f ms)", gate_names[gate], call->name, taken > WAITED ? "waits" : "returns", taken);
    printf(status ? " status %d\n" : "\n", status);
    pthread_join(opener, NULL);
    CHECK(cuCtxSynchronize());
    cuMemHostUnregister(heap_too);
    if (gated != NULL) {
        CHECK(cuStreamDestroy_v2(gated));
    }
}

/* ---- a second thread beside one that waits ---- */

static volatile int launched, stop_launching;

static int fill_queue(void) {
    int status = 0;
    while (!stop_launching && status == 0 && launched < MOST) {
        status = launch(gated);
        launched++;
    }
    return status;
}

#define BLOCKERS(X)                                                                                                    \
    X(copy_device_to_heap, NONE, cuMemcpyAsync(at(heap), device, SIZE, gated))                                         \
    X(copy_pinned_to_pinned, NONE, cuMemcpyAsync(at(pinned), at(pinned_too), SIZE, gated))                             \
    X(mem_free, CHECK(cuMemAlloc_v2(&made_address, SIZE)), cuMemFree_v2(made_address))                                 \
    X(mem_free_host, CHECK(cuMemHostAlloc(&made_pointer, SIZE, 0)), cuMemFreeHost(made_pointer))                       \
    X(mem_host_unregister, CHECK(cuMemHostRegister_v2(heap_too, SIZE, 0)), cuMemHostUnregister(heap_too))              \
    X(array_destroy, make_array(&made), cuArrayDestroy(made))                                                          \
    X(module_unload, CHECK(cuModuleLoadData(&made, module_text)), cuModuleUnload(made))                                \
    X(module_load_data, NONE, cuModuleLoadData(&made, module_text))                                                    \
    X(library_get_module, load_library(), cuLibraryGetModule(&library_module, made))                                   \
    X(full_queue, NONE, fill_queue())                                                                                  \
    X(stream_synchronize, NONE, cuStreamSynchronize(gated))                                                            \
    X(ctx_synchronize, NONE, cuCtxSynchronize())

#define BESIDE(X)                                                                                                      \
    X(ctx_get_current, NONE, cuCtxGetCurrent(&made))                                                                   \
    X(pointer_get_attribute, NONE, cuPointerGetAttribute(&made_int, POINTER_MEMORY_TYPE, device))                      \
    X(mem_alloc_from_pool_async, NONE, cuMemAllocFromPoolAsync(&made_address, SIZE, pool, other))                      \
    X(mem_alloc_from_pool_async_gated, NONE, cuMemAllocFromPoolAsync(&made_address, SIZE, pool, gated))                \
    X(mem_free_async, CHECK(cuMemAllocFromPoolAsync(&made_number, SIZE, pool, other)), cuMemFreeAsync(made_number, other)) \
    X(mem_alloc, NONE, cuMemAlloc_v2(&made_number, SIZE))                                                              \
    X(mem_host_alloc, NONE, cuMemHostAlloc((void **)&made_number, SIZE, 0))                                            \
    X(event_create, NONE, cuEventCreate((Handle *)&made_number, NO_TIMING))                                            \
    X(stream_create, NONE, cuStreamCreate((Handle *)&made_number, NON_BLOCKING))                                       \
    X(event_query, NONE, cuEventQuery(idle_event))                                                                     \
    X(stream_query_gated, NONE, cuStreamQuery(gated))                                                                  \
    X(event_record, NONE, cuEventRecord(event, other))                                                                 \
    X(event_record_gated, NONE, cuEventRecord(event, gated))                                                           \
    X(stream_wait_event, NONE, cuStreamWaitEvent(other, idle_event, 0))                                                \
    X(launch, NONE, launch(other))                                                                                     \
    X(launch_gated, NONE, launch(gated))                                                                               \
    X(memset_async, NONE, cuMemsetD8Async(device_too, 1, SIZE, other))                                                 \
    X(copy_pinned_to_device, NONE, cuMemcpyAsync(device_too, at(pinned_too), SIZE, other))                             \
    X(copy_heap_to_device, NONE, cuMemcpyAsync(device_too, at(heap_too), SIZE, other))                                 \
    X(copy_device_to_heap, NONE, cuMemcpyAsync(at(heap_too), device_too, SIZE, other))                                 \
    X(copy_heap_to_heap, NONE, cuMemcpyAsync(at(heap_too), at(heap_too) + SIZE, SIZE, other))                          \
    X(stream_synchronize, NONE, cuStreamSynchronize(other))                                                            \
    X(launch_host_func, NONE, cuLaunchHostFunc(other, nothing_to_do, NULL))                                            \
    X(stream_write_value_gate, NONE, cuStreamWriteValue32_v2(other, at((void *)words) + 8, 1, 0))

#define MAKE_BLOCKER(name, prepare, act)                                                                               \
    static void prepare_blocker_##name(void) { prepare; }                                                              \
    static int act_blocker_##name(void) { return act; }
BLOCKERS(MAKE_BLOCKER)
#define MAKE_BESIDE(name, prepare, act)                                                                                \
    static void prepare_beside_##name(void) { prepare; }                                                               \
    static int act_beside_##name(void) { return act; }
BESIDE(MAKE_BESIDE)
#define LIST_BLOCKER(name, prepare, act) {#name, prepare_blocker_##name, act_blocker_##name},
static const Call blockers[] = {BLOCKERS(LIST_BLOCKER)};
#define LIST_BESIDE(name, prepare, act) {#name, prepare_beside_##name, act_beside_##name},
static const Call beside[] = {BESIDE(LIST_BESIDE)};
enum { BLOCKER_COUNT = sizeof blockers / sizeof *blockers, BESIDE_COUNT = sizeof beside / sizeof *beside };

static double blocked_for;

static void *block(void *call) {
    double begun;
    CHECK(cuCtxSetCurrent(context));
    begun = now();
    CHECK(((const Call *)call)->act());
    blocked_for = now() - begun;
    return NULL;
}

static void run_pair(int number) {
    const Call *first = &blockers[number / BESIDE_COUNT], *second = &beside[number % BESIDE_COUNT];
    double after = BLOCKED_FOR, begun, taken;
    pthread_t opener, blocker;
    int status, seen = -1;

    CHECK(cuStreamCreate(&gated, NON_BLOCKING));
    first->prepare();
    second->prepare();
    CHECK(cuCtxSynchronize());
    launched = stop_launching = 0;
    close_gate(BY_VALUE, gated);
    pthread_create(&opener, NULL, open_later, &after);
    pthread_create(&blocker, NULL, block, (void *)first);
    do {
        seen = launched;
        rest(SETTLE);
    } while (seen != launched);
    begun = now();
    status = second->act();
    taken = now() - begun;
    stop_launching = 1;
    pthread_join(opener, NULL);
    pthread_join(blocker, NULL);
    printf("beside %s/%s: %s (%.0f ms)", first->name, second->name, taken > WAITED ? "waits" : "returns", taken);
    printf(status ? " status %d" : "", status);
    printf(blocked_for > WAITED ? "\n" : "; the first did not wait\n");
    CHECK(cuCtxSynchronize());
    CHECK(cuStreamDestroy_v2(gated));
}

/* ---- how much fits behind a gate ---- */

/* Whether the current context reaches another one's memory from now on; either may hold already. */
static void be_peer_of(Handle peer, int as_peers) {
    if (as_peers) {
        cuCtxEnablePeerAccess(peer, 0);
    } else {
        cuCtxDisablePeerAccess(peer);
    }
}

/* Memory of a second device; without one, an address that copies refuse. */
static void reach(int as_peers) {
    Handle second;
    int count = 0;

    made_address = 0;
    cuDeviceGetCount(&count);
    if (count < 2) {
        return;
    }
    CHECK(cuDevicePrimaryCtxRetain(&second, 1));
    CHECK(cuCtxSetCurrent(second));
    CHECK(cuMemAlloc_v2(&made_address, 2 * SIZE));
    be_peer_of(context, as_peers);
    CHECK(cuCtxSetCurrent(context));
    be_peer_of(second, as_peers);
}

#define COMMANDS(X)                                                                                                    \
    X(launches, NONE, launch(gated))                                                                                   \
    X(memsets, NONE, cuMemsetD8Async(device, 1, SIZE, gated))                                                          \
    X(copies_on_the_device, NONE, cuMemcpyAsync(device, device_too, SIZE, gated))                                      \
    X(copies_from_pinned, NONE, cuMemcpyAsync(device, at(pinned), SIZE, gated))                                        \
    X(copies_from_heap, NONE, cuMemcpyAsync(device, at(heap), SIZE, gated))                                            \
    X(records, NONE, cuEventRecord(event, gated))                                                                      \
    X(waits_for_events, NONE, cuStreamWaitEvent(gated, idle_event, 0))                                                 \
    X(host_functions, NONE, cuLaunchHostFunc(gated, nothing_to_do, NULL))                                              \
    X(values_written, NONE, cuStreamWriteValue32_v2(gated, at((void *)words) + 8, 1, 0))                               \
    X(copies_from_another_device, reach(0), cuMemcpyAsync(device, made_address, SIZE, gated))                          \
    X(copies_to_another_device, reach(0), cuMemcpyAsync(made_address, device, SIZE, gated))                            \
    X(copies_from_a_peer, reach(1), cuMemcpyAsync(device, made_address, SIZE, gated))                                  \
    X(copies_to_a_peer, reach(1), cuMemcpyAsync(made_address, device, SIZE, gated))                                    \
    X(copies_within_a_peer, reach(1), cuMemcpyAsync(made_address, made_address + SIZE, SIZE, gated))                   \
    X(allocations_and_frees, NONE, (cuMemAllocFromPoolAsync(&made_address, SIZE, pool, gated) || cuMemFreeAsync(made_address, gated)))

#define MAKE_COMMAND(name, prepare, act)                                                                               \
    static void prepare_command_##name(void) { prepare; }                                                              \
    static int act_command_##name(void) { return act; }
COMMANDS(MAKE_COMMAND)
#define LIST_COMMAND(name, prepare, act) {#name, prepare_command_##name, act_command_##name},
static const Call commands[] = {COMMANDS(LIST_COMMAND)};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static volatile int refused; /* what the last call answered */

static void *put(void *call) {
    CHECK(cuCtxSetCurrent(context));
    while (!stop_launching && launched < MOST && (refused = ((const Call *)call)->act()) == 0) {
        launched++;
    }
    return NULL;
}

static void run_capacity(int number) {
    const Call *call = &commands[number % COMMAND_COUNT];
    int gate = number / COMMAND_COUNT, seen = -1;
    pthread_t thread;

    CHECK(cuStreamCreate(&gated, NON_BLOCKING));
    call->prepare();
    launched = stop_launching = refused = 0;
    close_gate(gate, gated);
    pthread_create(&thread, NULL, put, (void *)call);
    while (seen != launched) {
        seen = launched;
        rest(OPEN_AFTER * 2);
    }
    stop_launching = 1;
    if (refused) {
        printf("behind %s/%s: answers %d\n", gate_names[gate], call->name, refused);
    } else {
        printf("behind %s/%s: %s %d\n", gate_names[gate], call->name, seen < MOST ? "waits after" : "no limit up to", seen);
    }
    open_gate();
    pthread_join(thread, NULL);
    CHECK(cuCtxSynchronize());
    CHECK(cuStreamDestroy_v2(gated));
}

/* ---- when a copy takes its bytes: at the call, or when the stream gets there ---- */

#define SOURCES(X)                                                                                                     \
    X(heap_4k, NONE, cuMemcpyAsync(device, at(heap), 4096, gated))                                                     \
    X(heap_60k, NONE, cuMemcpyAsync(device, at(heap), 60000, gated))                                                   \
    X(heap_100k, NONE, cuMemcpyAsync(device, at(heap), 100000, gated))                                                 \
    X(heap_8m, NONE, cuMemcpyAsync(device, at(heap), LARGE, gated))                                                    \
    X(heap_2d, NONE, copy_2d(device, at(heap)))                                                                        \
    X(heap_3d, NONE, copy_3d(device, at(heap)))                                                                        \
    X(host_function_then_heap_4k, NONE, (cuLaunchHostFunc(gated, write_heap, NULL), cuMemcpyAsync(device, at(heap), 4096, gated))) \
    X(host_function_then_heap_8m, NONE, (cuLaunchHostFunc(gated, write_heap, NULL), cuMemcpyAsync(device, at(heap), LARGE, gated)))

static void write_heap(void *nothing) {
    (void)nothing;
    memset(heap, 2, LARGE);
}

#define MAKE_SOURCE(name, prepare, act)                                                                                \
    static void prepare_source_##name(void) { prepare; }                                                               \
    static int act_source_##name(void) { return act; }
SOURCES(MAKE_SOURCE)
#define LIST_SOURCE(name, prepare, act) {#name, prepare_source_##name, act_source_##name},
static const Call sources[] = {SOURCES(LIST_SOURCE)};
enum { SOURCE_COUNT = sizeof sources / sizeof *sources };

static void run_source(int number) {
    const Call *call = &sources[number];
    double after = OPEN_AFTER, begun, taken;
    pthread_t opener;

    CHECK(cuStreamCreate(&gated, NON_BLOCKING));
    memset(heap, 1, LARGE);
    CHECK(cuMemsetD8_v2(device, 0, LARGE));
    CHECK(cuCtxSynchronize());
    close_gate(BY_VALUE, gated);
    pthread_create(&opener, NULL, open_later, &after);
    begun = now();
    CHECK(call->act());
    taken = now() - begun;
    memset(heap, 2, LARGE);
    pthread_join(opener, NULL);
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH_v2(heap_too, device, 64));
    printf("source %s: %s (%.0f ms), %s\n", call->name, taken > WAITED ? "waits" : "returns", taken,
           heap_too[0] == 1 ? "takes its bytes at the call" : "takes its bytes when the stream gets there");
    memset(heap, 1, LARGE);
    CHECK(cuStreamDestroy_v2(gated));
}

/* ---- another device ---- */

#define FAR(X)                                                                                                         \
    X(mem_free, CHECK(cuMemAlloc_v2(&made_address, SIZE)), cuMemFree_v2(made_address))                                 \
    X(mem_free_host, CHECK(cuMemHostAlloc(&made_pointer, SIZE, 0)), cuMemFreeHost(made_pointer))                       \
    X(module_load_data, NONE, cuModuleLoadData(&made, module_text))                                                    \
    X(module_unload, CHECK(cuModuleLoadData(&made, module_text)), cuModuleUnload(made))                                \
    X(ctx_synchronize, NONE, cuCtxSynchronize())                                                                       \
    X(primary_ctx_release, NONE, cuDevicePrimaryCtxRelease_v2(1))

#define MAKE_FAR(name, prepare, act)                                                                                   \
    static void prepare_far_##name(void) { prepare; }                                                                  \
    static int act_far_##name(void) { return act; }
FAR(MAKE_FAR)
#define LIST_FAR(name, prepare, act) {#name, prepare_far_##name, act_far_##name},
static const Call far_calls[] = {FAR(LIST_FAR)};
enum { FAR_COUNT = sizeof far_calls / sizeof *far_calls };

static void run_far(int number) {
    const Call *call = &far_calls[number];
    double after = OPEN_AFTER, begun, taken;
    pthread_t opener;
    Handle second;
    int count = 0;

    cuDeviceGetCount(&count);
    if (count < 2) {
        printf("far/%s: only one device\n", call->name);
        return;
    }
    CHECK(cuStreamCreate(&gated, NON_BLOCKING));
    CHECK(cuDevicePrimaryCtxRetain(&second, 1));
    CHECK(cuCtxSetCurrent(second));
    call->prepare();
    CHECK(cuCtxSetCurrent(context));
    close_gate(BY_VALUE, gated);
    CHECK(cuCtxSetCurrent(second));
    pthread_create(&opener, NULL, open_later, &after);
    begun = now();
    CHECK(call->act());
    taken = now() - begun;
    printf("far/%s: %s (%.0f ms)\n", call->name, taken > WAITED ? "waits" : "returns", taken);
    pthread_join(opener, NULL);
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxSynchronize());
    CHECK(cuStreamDestroy_v2(gated));
}

/* ---- all of it ---- */

static const char *library = "libcuda.so.1";

static void get_ready(void) {
    void *driver = dlopen(library, RTLD_NOW);
    void *pointer;
    int ordinal;
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(EXIT_FAILURE);
    }
#define FIND(name, parameters)                                                                                         \
    *(void **)&name = dlsym(driver, #name);                                                                            \
    if (name == NULL) {                                                                                                \
        *(void **)&name = (void *)absent;                                                                              \
    }
    FUNCTIONS(FIND)
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&ordinal, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, ordinal));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, module_text));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    CHECK(cuModuleGetFunction(&spin, module, "spin"));
    CHECK(cuStreamCreate(&other, NON_BLOCKING));
    CHECK(cuEventCreate(&event, NO_TIMING));
    CHECK(cuEventCreate(&idle_event, NO_TIMING));
    CHECK(cuEventRecord(idle_event, other));
    CHECK(cuMemAlloc_v2(&device, LARGE));
    CHECK(cuMemAlloc_v2(&device_too, LARGE));
    CHECK(cuMemAllocManaged(&managed, SIZE, MANAGED_GLOBAL));
    CHECK(cuMemAllocManaged(&managed_too, SIZE, MANAGED_GLOBAL));
    CHECK(cuMemHostAlloc(&pointer, LARGE, 0));
    pinned = pointer;
    CHECK(cuMemHostAlloc(&pointer, LARGE, 0));
    pinned_too = pointer;
    CHECK(cuMemHostAlloc(&pointer, SIZE, 0));
    words = pointer;
    heap = aligned_alloc(SIZE, LARGE);
    heap_too = aligned_alloc(SIZE, LARGE);
    memset(heap, 1, LARGE);
    memset(heap_too, 1, LARGE);
    make_pool(&pool, ON_DEVICE);
    make_pool(&host_pool, ON_HOST);
    make_array(&array);
    CHECK(cuMemAllocFromPoolAsync(&pooled, SIZE, pool, other));
    CHECK(cuMemAllocFromPoolAsync(&host_pooled, SIZE, host_pool, other));
    CHECK(cuMemAddressReserve(&reserved, granule, 0, 0, 0));
    CHECK(launch(other));
    CHECK(cuCtxSynchronize());
}

enum { CALLS_ALL = GATES * CALL_COUNT, PAIRS = BLOCKER_COUNT * BESIDE_COUNT, CAPACITIES = 2 * COMMAND_COUNT };
enum { BEFORE_FAR = CALLS_ALL + PAIRS + CAPACITIES + SOURCE_COUNT, TESTS = BEFORE_FAR + FAR_COUNT };

static void run(int test) {
    if (test < CALLS_ALL) {
        run_call(test);
    } else if (test < CALLS_ALL + PAIRS) {
        run_pair(test - CALLS_ALL);
    } else if (test < CALLS_ALL + PAIRS + CAPACITIES) {
        run_capacity(test - CALLS_ALL - PAIRS);
    } else if (test < BEFORE_FAR) {
        run_source(test - CALLS_ALL - PAIRS - CAPACITIES);
    } else {
        run_far(test - BEFORE_FAR);
    }
}

static void name_of(int test, char *name, size_t size) {
    if (test < CALLS_ALL) {
        snprintf(name, size, "%s/%s", gate_names[test / CALL_COUNT], calls[test % CALL_COUNT].name);
    } else if (test < CALLS_ALL + PAIRS) {
        test -= CALLS_ALL;
        snprintf(name, size, "beside %s/%s", blockers[test / BESIDE_COUNT].name, beside[test % BESIDE_COUNT].name);
    } else if (test < CALLS_ALL + PAIRS + CAPACITIES) {
        test -= CALLS_ALL + PAIRS;
        snprintf(name, size, "behind %s/%s", gate_names[test / COMMAND_COUNT], commands[test % COMMAND_COUNT].name);
    } else if (test < BEFORE_FAR) {
        snprintf(name, size, "source %s", sources[test - CALLS_ALL - PAIRS - CAPACITIES].name);
    } else {
        snprintf(name, size, "far/%s", far_calls[test - BEFORE_FAR].name);
    }
}

int main(int count, char **arguments) {
    volatile int *reached = mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int file;
    library = count > 1 ? arguments[1] : library;
    setvbuf(stdout, NULL, _IOLBF, 0);
    file = mkstemp(file_name);
    if (write(file, module_text, sizeof module_text) != sizeof module_text) {
        perror(file_name);
    }
    close(file);
    *reached = -1;
    while (*reached < TESTS - 1) {
        int first = *reached + 1, status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(PATIENCE);
            get_ready();
            for (int test = first; test < TESTS; test++) {
                char name[256];
                *reached = test;
                name_of(test, name, sizeof name);
                if (count > 2 && strstr(name, arguments[2]) == NULL) {
                    continue;
                }
                alarm(PATIENCE);
                run(test);
            }
            _exit(EXIT_SUCCESS);
        }
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
            unlink(file_name);
            return EXIT_FAILURE;
        }
        if (WIFSIGNALED(status)) {
            char name[256] = "start";
            if (*reached >= first) {
                name_of(*reached, name, sizeof name);
            } else {
                *reached = first;
            }
            printf("%s: never returns, or ends the process (signal %d)\n", name, WTERMSIG(status));
        }
    }
    unlink(file_name);
    return EXIT_SUCCESS;
}
