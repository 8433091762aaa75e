// cuBLAS as it is, with its products counted, so that a test sees who computed. UR_TEST_REAL_CUBLAS names the library.
#include <dlfcn.h>
#include <stdlib.h>

int products;

static void *function(const char *name) {
    static void *library;
    if (!library && !(library = dlopen(getenv("UR_TEST_REAL_CUBLAS"), RTLD_NOW | RTLD_LOCAL)))
        abort();
    return dlsym(library, name);
}

int cublasCreate_v2(void **handle) { return ((int (*)(void **))function("cublasCreate_v2"))(handle); }
int cublasSetStream_v2(void *handle, void *stream) {
    return ((int (*)(void *, void *))function("cublasSetStream_v2"))(handle, stream);
}

#define GEMM(NAME)                                                                                                     \
    int NAME(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int lda,             \
             long long sa, const void *b, int ldb, long long sb, const void *beta, void *c, int ldc, long long sc,     \
             int count) {                                                                                              \
        products++;                                                                                                    \
        int (*real)(void *, int, int, int, int, int, const void *, const void *, int, long long, const void *, int,    \
                    long long, const void *, void *, int, long long, int) = function(#NAME);                           \
        return real(handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count);                  \
    }

GEMM(cublasSgemmStridedBatched)
GEMM(cublasDgemmStridedBatched)
GEMM(cublasCgemmStridedBatched)
GEMM(cublasZgemmStridedBatched)
