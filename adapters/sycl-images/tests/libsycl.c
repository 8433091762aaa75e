// What libsycl is for this test: it says what it is given, and whether it is given back what it was given. It reads a descriptor when it
// is given back, as libsycl does, so it sees one that was freed or written over before that.
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
static struct entry {
    struct binaries *binaries;
    uint16_t count;
    const char *target;
} known[1024];

// Called once, when the next descriptor is given back and before it is read: what another thread does at that moment.
void (*meanwhile)(void);

static struct entry *find(struct binaries *binaries) {
    for (unsigned i = 0; i < 1024; ++i)
        if (known[i].binaries == binaries)
            return &known[i];
    return 0;
}

void __sycl_register_lib(struct binaries *binaries) {
    pthread_mutex_lock(&lock);
    printf(TAG "register");
    for (unsigned i = 0; i < binaries->count; ++i)
        printf(" %s/%u", binaries->images[i].target, binaries->images[i].format);
    printf(find(binaries) ? " at the address of one that is registered\n" : "\n");
    struct entry *entry = find(0);
    if (entry)
        *entry = (struct entry){binaries, binaries->count, binaries->images[0].target};
    pthread_mutex_unlock(&lock);
}

void __sycl_unregister_lib(struct binaries *binaries) {
    pthread_mutex_lock(&lock);
    void (*call)(void) = meanwhile;
    meanwhile = 0;
    pthread_mutex_unlock(&lock);
    if (call)
        call();
    pthread_mutex_lock(&lock);
    struct entry *entry = find(binaries);
    const char *what = "something else";
    if (entry) {
        int same = binaries->count == entry->count && binaries->images[0].target == entry->target;
        what = same ? "the same" : "what has changed";
        entry->binaries = 0;
    }
    printf(TAG "unregister %s\n", what);
    fflush(stdout);
    pthread_mutex_unlock(&lock);
}
