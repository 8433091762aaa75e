// What the CUDA driver says of layered arrays, of limits that a function is given, and of clusters above 8 blocks.
// cc -O1 layered_arrays.c -ldl -o layered_arrays && ./layered_arrays        (LIBCUDA=path opens another library)
// Every line is a question and its answer; the comments behind say what simcuda answers.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { size_t width, height, depth; unsigned format, channels, flags; } Array3D;
typedef struct {
    size_t sx, sy, sz, slod; unsigned st; const void *sh; uint64_t sd; void *sa; void *r0; size_t sp, shh;
    size_t dx, dy, dz, dlod; unsigned dt; void *dh; uint64_t dd; void *da; void *r1; size_t dp, dhh;
    size_t w, h, d;
} Copy3D;
typedef struct { unsigned kind; void *array; size_t rest[15]; unsigned flags; } Resource;
typedef struct {
    unsigned address[3], filter, flags, anisotropy, mip; float mipf[3], border[4]; int reserved[12];
} Texture;
typedef struct { unsigned id; char pad[4]; unsigned value[16]; } Attribute;
typedef struct { unsigned grid[3], block[3], shared; void *stream; Attribute *attrs; unsigned count; } Config;

static void *lib;
static void *sym(const char *name) {
    void *p = dlsym(lib, name);
    if (!p) { printf("no %s\n", name); exit(1); }
    return p;
}
#define CALL(name, types, ...) (((int (*) types)sym(#name))(__VA_ARGS__))
#define MUST(x) do { int e_ = (x); if (e_) { printf("line %d: %d\n", __LINE__, e_); exit(1); } } while (0)

static const char *PTX =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry ask(.param .u64 s, .param .u64 t, .param .u64 o, .param .u32 l, .param .f32 x)\n{\n"
    ".reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .f32 %f<20>;\n"
    "ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [t]; ld.param.u64 %rd3, [o]; cvta.to.global.u64 %rd4, %rd3;\n"
    "ld.param.u32 %r1, [l]; ld.param.f32 %f1, [x]; mov.u32 %r2, 4; cvt.rzi.s32.f32 %r3, %f1;\n"
    "suld.b.a1d.b32.clamp %r4, [%rd1, {%r1, %r2}]; st.global.u32 [%rd4], %r4;\n"
    "suld.b.a1d.b32.zero %r5, [%rd1, {%r1, %r2}]; st.global.u32 [%rd4+4], %r5;\n"
    "tex.a1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, {%r1, %f1}]; st.global.f32 [%rd4+8], %f2;\n"
    "tex.a1d.v4.f32.s32 {%f6, %f7, %f8, %f9}, [%rd2, {%r1, %r3}]; st.global.f32 [%rd4+12], %f6;\n"
    "txq.width.b32 %r6, [%rd2]; st.global.u32 [%rd4+16], %r6;\n"
    "txq.height.b32 %r7, [%rd2]; st.global.u32 [%rd4+20], %r7;\n"
    "txq.depth.b32 %r8, [%rd2]; st.global.u32 [%rd4+24], %r8;\n"
    "txq.array_size.b32 %r9, [%rd2]; st.global.u32 [%rd4+28], %r9;\n"
    "suq.width.b32 %r10, [%rd1]; st.global.u32 [%rd4+32], %r10;\n"
    "suq.height.b32 %r11, [%rd1]; st.global.u32 [%rd4+36], %r11;\n"
    "suq.array_size.b32 %r12, [%rd1]; st.global.u32 [%rd4+40], %r12;\n"
    "ret;\n}\n"
    ".extern .shared .align 4 .b8 mem[];\n"
    ".visible .entry plain(.param .u64 o)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [o]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, mem; st.shared.u32 [%r1], %r1; "
    "ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd2], %r2; ret;\n}\n";

static int create(void **out, size_t w, size_t h, size_t d, unsigned flags) {
    Array3D a = {w, h, d, 0x20, 1, flags};
    return CALL(cuArray3DCreate_v2, (void **, const Array3D *), out, &a);
}
static void shape(size_t w, size_t h, size_t d, unsigned flags) {
    void *a = 0;
    int e = create(&a, w, h, d, flags);
    printf("array %zu x %zu x %zu, flags %u: %d\n", w, h, d, flags, e);
    if (!e) MUST(CALL(cuArrayDestroy, (void *), a));
}
static void *stream;
static int copy(Copy3D c) {
    int e = CALL(cuMemcpy3DAsync_v2, (const Copy3D *, void *), &c, stream);
    int s = CALL(cuStreamSynchronize, (void *), stream);
    return e ? e : s;
}

int main(void) {
    const char *path = getenv("LIBCUDA");
    lib = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (!lib) { printf("%s\n", dlerror()); return 1; }
    int dev, value;
    void *ctx;
    MUST(CALL(cuInit, (unsigned), 0));
    MUST(CALL(cuDeviceGet, (int *, int), &dev, 0));
    MUST(CALL(cuDevicePrimaryCtxRetain, (void **, int), &ctx, dev));
    MUST(CALL(cuCtxSetCurrent, (void *), ctx));
    MUST(CALL(cuStreamCreate, (void **, unsigned), &stream, 1));
    int ids[] = {11, 27, 28, 29, 42, 43, 61, 62, 63, 64, 65, 97, 120};
    for (unsigned i = 0; i < sizeof ids / sizeof *ids; ++i) {
        value = -1;
        CALL(cuDeviceGetAttribute, (int *, int, int), &value, ids[i], dev);
        printf("attribute %d: %d\n", ids[i], value);
    }

    // simcuda: 0 0 0 0, then 1 for each that follows.
    shape(4, 0, 3, 3); shape(4, 4, 3, 3); shape(32768, 0, 2048, 3); shape(4, 4, 2048, 3);
    shape(4, 0, 0, 3); shape(4, 4, 0, 3); shape(4, 0, 2049, 3); shape(4, 4, 2049, 3); shape(32769, 0, 1, 3);
    shape(32769, 4, 1, 3); shape(4, 32769, 1, 3);

    // Three lines of four floats: 0 to 3, 10 to 13, 20 to 23.
    void *line;
    MUST(create(&line, 4, 0, 3, 3));
    float host[64], back[64];
    for (int i = 0; i < 64; ++i) host[i] = -1, back[i] = -1;
    for (int z = 0; z < 3; ++z) for (int x = 0; x < 4; ++x) host[z * 5 + x] = 10 * z + x;
    Copy3D in = {.st = 1, .sh = host, .sp = 20, .shh = 1, .dt = 3, .da = line, .w = 16, .h = 1, .d = 3};
    printf("lines in, row pitch 20, height 1, depth 3: %d\n", copy(in)); // 0
    Copy3D out = {.st = 3, .sa = line, .dt = 1, .dh = back, .dp = 16, .dhh = 1, .w = 16, .h = 1, .d = 3};
    printf("lines out: %d:", copy(out)); // 0: 0 1 2 3 10 11 12 13 20 21 22 23
    for (int i = 0; i < 12; ++i) printf(" %g", back[i]);
    Copy3D one = out;
    one.sz = 2, one.d = 1, one.sx = 4, one.w = 8;
    int done = copy(one);
    printf("\nlayer 2 from x 1: %d: %g %g\n", done, back[0], back[1]); // 0: 21 22
    Copy3D bad = out;
    bad.h = 3, bad.d = 1;
    printf("layers as rows: %d\n", copy(bad)); // 1
    bad = out, bad.sy = 1, bad.d = 1;
    printf("second row: %d\n", copy(bad)); // 1
    bad = out, bad.d = 4;
    printf("a fourth layer: %d\n", copy(bad)); // 1
    bad = out, bad.d = 1, bad.dp = (size_t)1 << 31;
    printf("a pitch of 2 GiB for one row: %d\n", copy(bad)); // 1
    bad = out, bad.dp = 0x7fffffff, bad.d = 1;
    printf("a pitch of 2 GiB - 1 for one row: %d\n", copy(bad)); // 0
    char *far = malloc(((size_t)1 << 31) + 4096);
    if (far) {
        bad = out, bad.dh = far, bad.d = 2, bad.dp = ((size_t)1 << 31) + 64;
        printf("a pitch above 2 GiB for two rows: %d\n", copy(bad)); // 1
        free(far);
    }
    // Lines to the rows of a plane and back, one copy a line.
    void *plane;
    MUST(create(&plane, 4, 3, 0, 2));
    for (int z = 0; z < 3; ++z) {
        Copy3D c = {.st = 3, .sa = line, .sz = z, .dt = 3, .da = plane, .dy = z, .w = 16, .h = 1, .d = 1};
        printf("line %d to a row: %d\n", z, copy(c)); // 0
    }
    Copy3D all = {.st = 3, .sa = plane, .dt = 1, .dh = back, .dp = 16, .dhh = 3, .w = 16, .h = 3, .d = 1};
    memset(back, 0, sizeof back);
    done = copy(all);
    printf("the plane: %d: %g %g\n", done, back[4], back[11]); // 0: 10 23

    void *module, *ask, *plain;
    uint64_t surface, texture[3], memory;
    MUST(CALL(cuModuleLoadData, (void **, const char *), &module, PTX));
    MUST(CALL(cuModuleGetFunction, (void **, void *, const char *), &ask, module, "ask"));
    MUST(CALL(cuModuleGetFunction, (void **, void *, const char *), &plain, module, "plain"));
    MUST(CALL(cuMemAlloc_v2, (uint64_t *, size_t), &memory, 256));
    Resource resource = {.array = line};
    MUST(CALL(cuSurfObjectCreate, (uint64_t *, const Resource *), &surface, &resource));
    // Nearest and linear, clamped along y and z; linear with a border along x alone.
    Texture how[3] = {{.address = {1, 1, 1}}, {.address = {1, 1, 1}, .filter = 1}, {.address = {3, 1, 1}, .filter = 1}};
    for (int i = 0; i < 3; ++i)
        MUST(CALL(cuTexObjectCreate, (uint64_t *, const Resource *, const Texture *, void *), &texture[i], &resource, &how[i], 0));
    // simcuda: suld at element 1 of the layer (clamped, or 0 outside), tex at x of the layer (the last where there is none).
    unsigned layers[] = {0, 1, 2, 3, 0xffffffffu};
    float xs[] = {0.0f, 1.0f, 1.25f, 4.0f};
    for (int t = 0; t < 3; ++t) for (int l = 0; l < 5; ++l) for (int k = 0; k < 4; ++k) {
        unsigned got[11];
        void *args[] = {&surface, &texture[t], &memory, &layers[l], &xs[k]};
        MUST(CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
                  ask, 1, 1, 1, 1, 1, 1, 0, stream, args, 0));
        int e = CALL(cuStreamSynchronize, (void *), stream);
        if (e) { printf("texture %d layer %u: %d\n", t, layers[l], e); return 1; }
        MUST(CALL(cuMemcpyDtoH_v2, (void *, uint64_t, size_t), got, memory, sizeof got));
        float f[4];
        memcpy(f, got, sizeof f);
        printf("texture %d layer %u x %g: suld clamp %g zero %g, tex %g, tex by number %g", t, layers[l], xs[k], f[0], f[1], f[2], f[3]);
        // txq 4 1 0 3, suq 4 0 3
        printf("; txq w h d n %u %u %u %u, suq w h n %u %u %u\n", got[4], got[5], got[6], got[7], got[8], got[9], got[10]);
    }

    // Work-group memory: simcuda answers 1 to a launch above the function's limit, which never follows by itself.
    int optin = 0;
    CALL(cuDeviceGetAttribute, (int *, int, int), &optin, 97, dev);
    int limits[] = {0, 64 << 10, optin, optin + 1};
    for (int i = 0; i < 4; ++i) {
        int set = limits[i] ? CALL(cuFuncSetAttribute, (void *, int, int), plain, 8, limits[i]) : 0;
        printf("limit %d: set %d;", limits[i], set); // 0 0 0 1
        int sizes[] = {48 << 10, (48 << 10) + 4, 64 << 10, (64 << 10) + 4, optin, optin + 4};
        for (int k = 0; k < 6; ++k) {
            void *args[] = {&memory};
            int e = CALL(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
                         plain, 1, 1, 1, 1, 1, 1, (unsigned)sizes[k], stream, args, 0);
            printf(" %d bytes %d", sizes[k], e);
        }
        printf("\n");
    }
    CALL(cuStreamSynchronize, (void *), stream);
    // Clusters: without the attribute 8 run and 16 answer 912; with it 16 run and 32 answer 912.
    for (int allow = 0; allow < 2; ++allow) {
        if (allow) printf("non-portable clusters allowed: %d\n", CALL(cuFuncSetAttribute, (void *, int, int), plain, 14, 1));
        for (unsigned size = 8; size <= 32; size *= 2) {
            Attribute attribute = {.id = 4, .value = {size, 1, 1}};
            Config config = {{64, 1, 1}, {32, 1, 1}, 16, stream, &attribute, 1};
            void *args[] = {&memory};
            int most = -1;
            int (*ask_most)(int *, void *, const Config *) = dlsym(lib, "cuOccupancyMaxPotentialClusterSize");
            int asked = ask_most ? ask_most(&most, plain, &config) : -1;
            int e = CALL(cuLaunchKernelEx, (const Config *, void *, void **, void **), &config, plain, args, 0);
            int s = CALL(cuStreamSynchronize, (void *), stream);
            printf("clusters of %u: %d, end %d; most %d (%d)\n", size, e, s, most, asked);
        }
    }
    return 0;
}
