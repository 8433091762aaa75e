// Which orders between a stream-ordered allocation and its use on another stream does compute-sanitizer accept?
//
//   cc -O2 docs/probes/alloc_order.c -o alloc_order -ldl
//   for n in $(seq 1 21); do compute-sanitizer --tool memcheck --track-stream-ordered-races all ./alloc_order $n; done
//
// Each number is one program in a process of its own; it prints what it does. An order that the tool does not accept
// shows as "potentially accessed before it is allocated" or "after it is freed".
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int Status;
typedef void *Handle;
typedef unsigned long long Pointer;

static void *library;
#define CALL(name, ...)                                                                                                \
    do {                                                                                                               \
        Status status = ((Status(*)())dlsym(library, #name))(__VA_ARGS__);                                             \
        if (status) printf("%s: %d\n", #name, status);                                                                 \
    } while (0)

static const char PTX[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry touch(.param .u64 p)\n{\n.reg .u64 %a, %b;\n.reg .u32 %v;\n"
                          "ld.param.u64 %a, [p];\ncvta.to.global.u64 %b, %a;\nld.global.u32 %v, [%b];\n"
                          "add.u32 %v, %v, 1;\nst.global.u32 [%b], %v;\nret;\n}\n";

static Handle x, y, z, event, other, function, pool;

static Pointer allocate(Handle stream) {
    Pointer pointer = 0;
    CALL(cuMemAllocFromPoolAsync, &pointer, (size_t)512, pool, stream);
    return pointer;
}

static void touch(Pointer pointer, Handle stream) {
    void *arguments[] = {&pointer};
    CALL(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static void record(Handle which, Handle stream) { CALL(cuEventRecord, which, stream); }
static void let_wait(Handle stream, Handle which) { CALL(cuStreamWaitEvent, stream, which, 0); }
static void fill(Pointer pointer, Handle stream) { CALL(cuMemsetD32Async, pointer, 0, (size_t)128, stream); }
static void finish(Handle stream) { CALL(cuStreamSynchronize, stream); }

static int until_zero(const char *name, Handle what) {
    int (*ask)(Handle) = (int (*)(Handle))dlsym(library, name);
    while (ask(what)) usleep(100);
    return 0;
}

int main(int count, char **words) {
    int number = count > 1 ? atoi(words[1]) : 1;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return puts("no driver"), 1;
    int device;
    Handle context, module;
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuModuleLoadData, &module, PTX);
    CALL(cuModuleGetFunction, &function, module, "touch");
    CALL(cuDeviceGetDefaultMemPool, &pool, device);
    uint64_t threshold = UINT64_MAX;
    CALL(cuMemPoolSetAttribute, pool, 4, &threshold);
    CALL(cuStreamCreate, &x, 1);
    CALL(cuStreamCreate, &y, 1);
    CALL(cuStreamCreate, &z, 1);
    CALL(cuEventCreate, &event, 2);
    CALL(cuEventCreate, &other, 2);
    Pointer block;
    switch (number) {
    case 1: puts("1 same stream"); block = allocate(x); touch(block, x); break;
    case 2: puts("2 event behind the allocation, waited for by the user's stream");
        block = allocate(x); record(event, x); let_wait(y, event); touch(block, y); break;
    case 3: puts("3 event, wait and fill on Y, host synchronises Y, use on Z");
        block = allocate(x); record(event, x); let_wait(y, event); fill(block, y); finish(y); touch(block, z); break;
    case 4: puts("4 host synchronises X, use on Z"); block = allocate(x); finish(x); touch(block, z); break;
    case 5: puts("5 event behind the allocation, cuEventSynchronize, use on Z");
        block = allocate(x); record(event, x); CALL(cuEventSynchronize, event); touch(block, z); break;
    case 6: puts("6 event behind the allocation, cuEventQuery, use on Z");
        block = allocate(x); record(event, x); until_zero("cuEventQuery", event); touch(block, z); break;
    case 7: puts("7 cuStreamQuery of X, use on Z"); block = allocate(x); until_zero("cuStreamQuery", x); touch(block, z); break;
    case 8: puts("8 WRONG: event before the allocation"); record(event, x); block = allocate(x); let_wait(y, event); touch(block, y); break;
    case 9: puts("9 event behind later work of X"); block = allocate(x); touch(block, x); record(event, x); let_wait(y, event); touch(block, y); break;
    case 10: puts("10 X to Y to Z by two events");
        block = allocate(x); record(event, x); let_wait(y, event); record(other, y); let_wait(z, other); touch(block, z); break;
    case 11: puts("11 event on Y behind a wait for X, cuEventSynchronize, use on Z");
        block = allocate(x); record(event, x); let_wait(y, event); fill(block, y); record(other, y);
        CALL(cuEventSynchronize, other); touch(block, z); break;
    case 12: puts("12 cuCtxSynchronize, use on Z"); block = allocate(x); CALL(cuCtxSynchronize); touch(block, z); break;
    case 13: puts("13 used on Y, event, waited for by X, freed on X, allocated again on X, used on X");
        block = allocate(x); record(event, x); let_wait(y, event); touch(block, y); record(other, y); let_wait(x, other);
        CALL(cuMemFreeAsync, block, x); block = allocate(x); touch(block, x); break;
    case 14: puts("14 used on Y, host synchronises Y, freed on X");
        block = allocate(x); record(event, x); let_wait(y, event); touch(block, y); finish(y); CALL(cuMemFreeAsync, block, x); break;
    case 15: puts("15 the same event recorded twice, waited for by Y between and behind");
        block = allocate(x); record(event, x); let_wait(y, event); touch(block, y); block = allocate(x); record(event, x);
        let_wait(y, event); touch(block, y); break;
    case 16: puts("16 allocated on X, fill on X, host synchronises X, use on Z");
        block = allocate(x); fill(block, x); finish(x); touch(block, z); break;
    case 17: puts("17 host synchronises X, use on a stream made after that");
        block = allocate(x); finish(x); CALL(cuStreamCreate, &z, 1); touch(block, z); break;
    case 18: puts("18 host synchronises X, a stream made after that is synchronised too, use on it");
        block = allocate(x); finish(x); CALL(cuStreamCreate, &z, 1); finish(z); touch(block, z); break;
    case 19: puts("19 host synchronises X twice, once behind the making of another stream, use there");
        block = allocate(x); finish(x); CALL(cuStreamCreate, &z, 1); finish(x); touch(block, z); break;
    case 20: puts("20 host synchronises X, records an event there, a stream made after that waits for it, use on it");
        block = allocate(x); finish(x); CALL(cuStreamCreate, &z, 1); record(event, x); let_wait(z, event); touch(block, z); break;
    case 21: puts("21 host synchronises X, records an event on idle Y, a stream made after that waits for it, use on it");
        block = allocate(x); finish(x); CALL(cuStreamCreate, &z, 1); record(event, y); let_wait(z, event); touch(block, z); break;
    default: return 1;
    }
    CALL(cuCtxSynchronize);
    return 0;
}
