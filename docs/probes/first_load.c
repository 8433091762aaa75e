/*
 * What the first kernel of a process pays that later ones do not, without any code of ours: the driver's first load of PTX beside its
 * second, of text that its own disk cache has and of text that it has not, and libnvvm's opening and first compilation beside its second
 * where its file is named. The floor of "first calls" in benchmarks.md. Needs a GPU and no header or library but the driver's.
 *
 *   cc -O1 first_load.c -o first_load -ldl && ./first_load new [libnvvm.so.4]; ./first_load known; ./first_load known
 *
 * "new" loads text that no process has loaded, "known" the same text in each process: the second "known" finds it in the driver's cache.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                        \
    X(cuCtxSetCurrent, (void *))                                                                                       \
    X(cuMemAlloc_v2, (unsigned long long *, size_t))                                                                   \
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

/* Adds a number of its own to a double. */
static const char PTX[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
                          ".visible .entry k(.param .u64 p) {\n"
                          " .reg .u64 %%a; .reg .f64 %%x;\n"
                          " ld.param.u64 %%a, [p]; cvta.to.global.u64 %%a, %%a;\n"
                          " ld.global.f64 %%x, [%%a]; add.f64 %%x, %%x, 0d%016llx; st.global.f64 [%%a], %%x; ret;\n}\n";

static void load_and_launch(const char *what, unsigned long long number, unsigned long long memory) {
    char text[1000];
    void *module, *function, *arguments[] = {&memory};
    snprintf(text, sizeof text, PTX, number);
    double begin = milliseconds();
    CHECK(cuModuleLoadData(&module, text));
    double loaded = milliseconds();
    CHECK(cuModuleGetFunction(&function, module, "k"));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    printf("%s: load %.2f ms, function, launch and wait %.2f ms\n", what, loaded - begin, milliseconds() - loaded);
}

static const char NVVM_IR[] =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-"
    "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define void @k(double addrspace(1)* %a) {\n"
    "  %x = load double, double addrspace(1)* %a\n  %y = fadd double %x, 1.0\n"
    "  store double %y, double addrspace(1)* %a\n  ret void\n}\n"
    "!nvvm.annotations = !{!0}\n!0 = !{void (double addrspace(1)*)* @k, !\"kernel\", i32 1}\n"
    "!nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n";

static void compile(const char *file) {
    double begin = milliseconds();
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(EXIT_FAILURE);
    }
    printf("libnvvm: open %.2f ms\n", milliseconds() - begin);
    int (*create)(void **) = symbol(library, "nvvmCreateProgram");
    int (*add)(void *, const char *, size_t, const char *) = symbol(library, "nvvmAddModuleToProgram");
    int (*finish)(void *, int, const char **) = symbol(library, "nvvmCompileProgram");
    for (int turn = 1; turn <= 3; turn++) {
        void *program;
        const char *options[] = {"-arch=compute_75"};
        begin = milliseconds();
        CHECK(create(&program));
        CHECK(add(program, NVVM_IR, sizeof NVVM_IR - 1, "k"));
        CHECK(finish(program, 1, options));
        printf("libnvvm: compilation %d %.2f ms\n", turn, milliseconds() - begin);
    }
}

int main(int count, char **words) {
    if (count < 2) return EXIT_FAILURE;
    const char *named = getenv("UR_CUDA_LIBRARY");
    void *driver = dlopen(named == NULL ? "libcuda.so.1" : named, RTLD_NOW), *context;
    if (driver == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return EXIT_FAILURE;
    }
#define LOAD(NAME, PARAMETERS) NAME = symbol(driver, #NAME);
    FUNCTIONS(LOAD)
    int device;
    unsigned long long memory, number = 0x3ff0000000000000ull;
    if (count > 2 && *words[2] != '\0') compile(words[2]);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemAlloc_v2(&memory, 4096));
    if (strcmp(words[1], "new") == 0) number += (unsigned long long)time(NULL) << 8;
    for (int turn = 1; turn <= 3; turn++) {
        char what[100];
        snprintf(what, sizeof what, "%s text, load %d of the process", words[1], turn);
        load_and_launch(what, number + turn, memory);
    }
    return EXIT_SUCCESS;
}
