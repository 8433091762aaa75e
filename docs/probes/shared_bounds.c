/*
 * Where an access to shared memory begins to fault: kernels read, write and read by a generic address at growing offsets behind what
 * the launch has, 4 bytes at a time, until one fails. Each line is a launch's shared memory and the first offset that fails, with its
 * status. A fault ends a context, so each line has a process of its own.
 * Needs a GPU and no header or library but the driver's.
 *
 *   cc -O1 shared_bounds.c -o shared_bounds -ldl && ./shared_bounds        (LIBCUDA=path opens another library)
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FURTHEST (300u << 10) /* more than a multiprocessor has */
#define CALL(name, types, ...) (((int (*) types)symbol(#name))(__VA_ARGS__))
#define MUST(call) do { int status_ = (call); if (status_) { printf("%s: %d\n", #call, status_); exit(1); } } while (0)

static const char PTX[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".extern .shared .align 16 .b8 area[];\n"
    /* where: the address that the launch's shared memory begins at. */
    ".visible .entry where(.param .u64 out, .param .u32 offset)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, area; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry read(.param .u64 out, .param .u32 offset)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [offset]; mov.u32 %r2, area;\n"
    "add.u32 %r1, %r1, %r2; ld.volatile.shared.u32 %r3, [%r1]; st.global.u32 [%rd1], %r3; ret;\n}\n"
    ".visible .entry write(.param .u64 out, .param .u32 offset)\n{\n"
    ".reg .b32 %r<4>;\n"
    "ld.param.u32 %r1, [offset]; mov.u32 %r2, area; add.u32 %r1, %r1, %r2; st.volatile.shared.u32 [%r1], %r2; ret;\n}\n"
    ".visible .entry generic(.param .u64 out, .param .u32 offset)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [offset]; cvt.u64.u32 %rd2, %r1;\n"
    "mov.u64 %rd3, area; cvta.shared.u64 %rd3, %rd3; add.u64 %rd2, %rd2, %rd3; ld.volatile.u32 %r3, [%rd2];\n"
    "st.global.u32 [%rd1], %r3; ret;\n}\n"
    /* fixed: the same with 52 bytes that the kernel itself has, and none from the launch. */
    ".visible .entry fixed(.param .u64 out, .param .u32 offset)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 16 .b8 own[52];\n"
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [offset]; mov.u32 %r2, own;\n"
    "add.u32 %r1, %r1, %r2; ld.volatile.shared.u32 %r3, [%r1]; st.global.u32 [%rd1], %r3; ret;\n}\n";

static void *library;

static void *symbol(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        printf("no %s\n", name);
        exit(1);
    }
    return found;
}

/* One line: a launch has `size` bytes, of which the function may have up to `most`. */
static void ask(const char *kernel, unsigned size, unsigned most) {
    void *context, *module, *function;
    unsigned long long out;
    unsigned offset = size < 16 ? 0 : size - 16, value = 0;
    void *arguments[] = {&out, &offset};
    int status = 0;

    MUST(CALL(cuInit, (unsigned), 0));
    MUST(CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0));
    MUST(CALL(cuCtxSetCurrent, (void *), context));
    MUST(CALL(cuModuleLoadData, (void **, const void *), &module, PTX));
    MUST(CALL(cuModuleGetFunction, (void **, void *, const char *), &function, module, kernel));
    MUST(CALL(cuMemAlloc_v2, (unsigned long long *, size_t), &out, 4));
    if (most) {
        MUST(CALL(cuFuncSetAttribute, (void *, int, int), function, 8, (int)most));
    }
    printf("%-7s %6u bytes (at most %6u): ", kernel, size, most);
    for (; offset < FURTHEST && !status; offset += 4) {
        status = CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
                      function, 1, 1, 1, 1, 1, 1, size, NULL, arguments, NULL);
        if (status) {
            printf("launch answers %d\n", status);
            return;
        }
        status = CALL(cuCtxSynchronize, (void));
        if (!strcmp(kernel, "where")) {
            MUST(CALL(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t), &value, out, 4));
            printf("they begin at %#x\n", value);
            return;
        }
    }
    if (status) {
        printf("offset %u answers %d\n", offset - 4, status);
    } else {
        printf("no fault up to %u\n", offset - 4);
    }
}

int main(void) {
    static const char *const kernels[] = {"where", "read", "write", "generic"};
    static const struct { unsigned size, most; } launches[] = {
        {0, 0}, {4, 0}, {20, 0}, {52, 0}, {128, 0}, {132, 0}, {260, 0}, {512, 0}, {1000, 0}, {1024, 0}, {1028, 0},
        {8192, 0}, {49152, 0}, {52, 101376}, {101376, 101376}, {52, 166912}, {166912, 166912}};
    const char *path = getenv("LIBCUDA") ? getenv("LIBCUDA") : "libcuda.so.1";

    library = dlopen(path, RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    for (unsigned kernel = 0; kernel < 5; kernel++) {
        unsigned count = kernel == 4 ? 1 : sizeof launches / sizeof *launches;
        for (unsigned launch = 0; launch < count; launch++) {
            fflush(stdout);
            pid_t child = fork();
            if (!child) {
                ask(kernel == 4 ? "fixed" : kernels[kernel], launches[launch].size, launches[launch].most);
                fflush(stdout);
                _exit(0);
            }
            int ended = 0;
            waitpid(child, &ended, 0);
            if (ended) {
                printf("it ended with %d\n", ended);
            }
        }
    }
    return 0;
}
