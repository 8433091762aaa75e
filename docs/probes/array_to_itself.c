// What cuMemcpy3D does between layers of one layered array, and of one plain array of three dimensions.
// cc -O1 docs/probes/array_to_itself.c -ldl -o array_to_itself && ./array_to_itself        [PTX files: loads each one]
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { size_t width, height, depth; unsigned format, channels, flags; } Array3D;
typedef struct {
    size_t sx, sy, sz, slod; unsigned st; const void *sh; uint64_t sd; void *sa; void *r0; size_t sp, shh;
    size_t dx, dy, dz, dlod; unsigned dt; void *dh; uint64_t dd; void *da; void *r1; size_t dp, dhh;
    size_t w, h, d;
} Copy3D;
static void *lib;
#define CALL(name, ...) (((int (*)())dlsym(lib, #name))(__VA_ARGS__))

static void show(const char *what, unsigned flags, int from, int to, int depth, int at_once, int other) {
    unsigned char host[5][4][4], back[5][4][4];
    for (int z = 0; z < 5; ++z) for (int y = 0; y < 4; ++y) for (int x = 0; x < 4; ++x) host[z][y][x] = 100 * (z / 9) + 16 * z + 4 * y + x;
    void *array, *second;
    Array3D shape = {4, 4, 5, 1, 1, flags};
    if (CALL(cuArray3DCreate_v2, &array, &shape) || CALL(cuArray3DCreate_v2, &second, &shape)) { puts("no array"); return; }
    void *arrays[] = {array, second};
    for (int i = 0; i < 2; ++i) {
        Copy3D in = {.st = 1, .sh = host, .sp = 4, .shh = 4, .dt = 3, .da = arrays[i], .w = 4, .h = 4, .d = 5};
        CALL(cuMemcpy3D_v2, &in);
    }
    int answer = 0;
    for (int z = 0; z < depth; z += at_once) {
        Copy3D copy = {.st = 3, .sa = array, .sz = from + z, .dt = 3, .da = other ? second : array, .dx = 1, .dy = 1,
                       .dz = to + z, .w = 3, .h = 3, .d = at_once};
        answer |= CALL(cuMemcpy3D_v2, &copy);
    }
    Copy3D out = {.st = 3, .sa = other ? second : array, .dt = 1, .dh = back, .dp = 4, .dhh = 4, .w = 4, .h = 4, .d = 5};
    CALL(cuMemcpy3D_v2, &out);
    int wrong = 0;
    for (int z = 0; z < depth; ++z) for (int y = 0; y < 3; ++y) for (int x = 0; x < 3; ++x)
        wrong += back[to + z][y + 1][x + 1] != host[from + z][y][x];
    printf("%s: answer %d, %d of %d wrong; [%d][1][1] is %d, to be %d\n", what, answer, wrong, depth * 9, to, back[to][1][1], host[from][0][0]);
    CALL(cuArrayDestroy, array);
    CALL(cuArrayDestroy, second);
}

int main(int count, char **words) {
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    int device; void *context;
    CALL(cuInit, 0), CALL(cuDeviceGet, &device, 0), CALL(cuDevicePrimaryCtxRetain, &context, device), CALL(cuCtxSetCurrent, context);
    show("layered, two layers at once", 1, 0, 2, 2, 2, 0);
    show("layered, two layers one by one", 1, 0, 2, 2, 1, 0);
    show("layered, one layer to the next", 1, 0, 1, 1, 1, 0);
    show("layered, backwards", 1, 3, 0, 2, 2, 0);
    show("layered with surfaces, two at once", 3, 0, 2, 2, 2, 0);
    show("layered, to another array", 1, 0, 2, 2, 2, 1);
    show("three dimensions, two planes at once", 0, 0, 2, 2, 2, 0);
    for (int i = 1; i < count; ++i) {
        FILE *file = fopen(words[i], "r");
        static char text[1 << 20];
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        void *module;
        printf("%s: %d\n", words[i], CALL(cuModuleLoadData, &module, text));
    }
}
