// A cuBLAS for the simulated driver, whose device memory is the host's: strided batches of products by columns, and no more. As the
// real one it puts a product on its handle's stream and returns. It counts products and settings of a stream, so that a test sees who
// computed and what was asked again, and holds products back while it is told to, so that a test sees who waits.
#include <complex.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

int products, streams_set;

struct handle {
    void *stream;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int held;

// From now on products wait on their streams (1), or no longer (0).
void hold(int yes) {
    pthread_mutex_lock(&lock);
    held = yes;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_until_let_go(void) {
    pthread_mutex_lock(&lock);
    while (held)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

// Calls the function with the data in the stream's order. A handle without a stream is set to the legacy default one.
static int put_on(struct handle *handle, void (*function)(void *), void *data) {
    static int (*launch)(void *, void (*)(void *), void *);
    if (!launch) {
        void *driver = dlopen(getenv("UR_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
        *(void **)&launch = driver ? dlsym(driver, "cuLaunchHostFunc") : 0;
    }
    return launch ? launch(handle->stream, function, data) : 1;
}

int cublasCreate_v2(struct handle **handle) { return (*handle = calloc(1, sizeof **handle)) == 0; }

int cublasSetStream_v2(struct handle *handle, void *stream) {
    if (!handle || !stream)
        return 1;
    handle->stream = stream;
    streams_set++;
    return 0;
}

#define GEMM(NAME, T)                                                                                                  \
    struct NAME {                                                                                                      \
        int ta, tb, m, n, k, lda, ldb, ldc, count;                                                                     \
        long long sa, sb, sc;                                                                                          \
        const T *a, *b;                                                                                                \
        T *c, alpha, beta;                                                                                             \
    };                                                                                                                 \
                                                                                                                       \
    static void compute_##NAME(void *data) {                                                                           \
        struct NAME p = *(struct NAME *)data;                                                                          \
        free(data);                                                                                                    \
        wait_until_let_go();                                                                                           \
        for (; p.count; p.count--, p.a += p.sa, p.b += p.sb, p.c += p.sc)                                              \
            for (int i = 0; i < p.m; i++)                                                                              \
                for (int j = 0; j < p.n; j++) {                                                                        \
                    T sum = 0, *c = p.c + i + (long)j * p.ldc;                                                         \
                    for (int l = 0; l < p.k; l++)                                                                      \
                        sum += (p.ta ? p.a[l + (long)i * p.lda] : p.a[i + (long)l * p.lda]) *                          \
                               (p.tb ? p.b[j + (long)l * p.ldb] : p.b[l + (long)j * p.ldb]);                           \
                    *c = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * *c);                                              \
                }                                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    int NAME(struct handle *handle, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda,          \
             long long sa, const T *b, int ldb, long long sb, const T *beta, T *c, int ldc, long long sc, int count) { \
        if (!handle || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)                                            \
            return 7;                                                                                                  \
        struct NAME *p = malloc(sizeof *p);                                                                            \
        if (!p)                                                                                                        \
            return 3;                                                                                                  \
        *p = (struct NAME){ta, tb, m, n, k, lda, ldb, ldc, count, sa, sb, sc, a, b, c, *alpha, *beta};                 \
        products++;                                                                                                    \
        return put_on(handle, compute_##NAME, p);                                                                      \
    }

GEMM(cublasSgemmStridedBatched, float)
GEMM(cublasDgemmStridedBatched, double)
GEMM(cublasCgemmStridedBatched, float complex)
GEMM(cublasZgemmStridedBatched, double complex)
