// What libsycl is for this test: it says what it is given, and whether it is given back what it was given.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct image {
    uint16_t version;
    uint8_t kind, format;
    const char *target;
    const void *rest[8];
};

struct binaries {
    uint16_t version, count;
    struct image *images;
    const void *host[2];
};

#ifndef TAG
#define TAG ""
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct binaries *known[1024];

void __sycl_register_lib(struct binaries *binaries) {
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < 1024; ++i)
        if (!known[i]) {
            known[i] = binaries;
            break;
        }
    printf(TAG "register");
    for (unsigned i = 0; i < binaries->count; ++i)
        printf(" %s/%u", binaries->images[i].target, binaries->images[i].format);
    printf("\n");
    pthread_mutex_unlock(&lock);
}

void __sycl_unregister_lib(struct binaries *binaries) {
    pthread_mutex_lock(&lock);
    const char *what = "something else";
    for (unsigned i = 0; i < 1024; ++i)
        if (known[i] == binaries) {
            known[i] = 0;
            what = "the same";
            break;
        }
    printf(TAG "unregister %s\n", what);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}
