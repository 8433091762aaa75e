/* What the CUDA driver says of kernels whose image fixes the size of their work-groups (.reqntid, .maxntid).

       cc -o fixed_work_group docs/probes/fixed_work_group.c -ldl
       ./fixed_work_group conformance/kernels/fixed.ptx [LIBRARY]
       ./fixed_work_group conformance/kernels/cubin/fixed.sm_90.cubin

   Prints CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK and _BINARY_VERSION of each kernel, and the status of launches with blocks
   of several shapes. `required` has .reqntid 16, 2; `limited` has .maxntid 64, 2, 1. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*call)();

static void *library;

static call find(const char *name) {
    call found = (call)dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return found;
}

static void must(int status, const char *what) {
    if (status) {
        fprintf(stderr, "%s answers %d\n", what, status);
        exit(1);
    }
}

int main(int count, char **arguments) {
    static const unsigned shapes[][3] = {{16, 2, 1}, {32, 1, 1}, {2, 16, 1}, {16, 1, 1}, {64, 2, 1},
                                         {128, 1, 1}, {16, 8, 1}, {1, 1, 64}, {256, 1, 1}, {64, 4, 1}};
    static const char *const names[] = {"required", "limited", "unfixed"};
    void *context, *module, *stream = NULL;
    unsigned long long out;
    char *image;
    long size;
    FILE *file;

    if (count < 2 || !(file = fopen(arguments[1], "rb"))) {
        fprintf(stderr, "give an image\n");
        return 1;
    }
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    image = calloc(1, size + 1);
    if (fread(image, 1, size, file) != (size_t)size) {
        return 1;
    }
    library = dlopen(count > 2 ? arguments[2] : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    must(find("cuInit")(0), "cuInit");
    must(find("cuDevicePrimaryCtxRetain")(&context, 0), "cuDevicePrimaryCtxRetain");
    must(find("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    must(find("cuModuleLoadData")(&module, image), "cuModuleLoadData");
    must(find("cuMemAlloc_v2")(&out, (size_t)64), "cuMemAlloc");
    for (unsigned kernel = 0; kernel < 3; kernel++) {
        void *function, *parameters[1] = {&out};
        int threads = -1, version = -1;
        must(find("cuModuleGetFunction")(&function, module, names[kernel]), "cuModuleGetFunction");
        must(find("cuFuncGetAttribute")(&threads, 0, function), "cuFuncGetAttribute");
        must(find("cuFuncGetAttribute")(&version, 6, function), "cuFuncGetAttribute");
        printf("%s: %d threads at most, machine code %d\n", names[kernel], threads, version);
        for (unsigned shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
            const unsigned *block = shapes[shape];
            int launched = find("cuLaunchKernel")(function, 1u, 1u, 1u, block[0], block[1], block[2], 0u, stream, parameters,
                                                  (void **)NULL);
            int ran = find("cuCtxSynchronize")();
            printf("  block %u %u %u: launch %d, synchronise %d\n", block[0], block[1], block[2], launched, ran);
        }
    }
    return 0;
}
