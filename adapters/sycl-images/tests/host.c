// host COUNT|exit|overlap|threads [SHIM] CLIENT: loads the client as Python loads an extension, that many times.
// host each SHIM CLIENT...: loads all of them, once, and ends.
// OFFER_BEFORE and OFFER_AFTER are the devices that an adapter asks for copies for, before and after the first load of a client.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*again)(unsigned);

static void *work(void *thread) {
    again((unsigned)(uintptr_t)thread);
    return 0;
}

static void *load(const char *path, int flags) {
    void *handle = dlopen(path, flags);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return handle;
}

static void offer(const char *variable) {
    const char *devices = getenv(variable);
    void (*offer)(const char *);
    *(void **)&offer = dlsym(RTLD_DEFAULT, "ur_sycl_images_offer");
    if (devices && offer)
        offer(devices);
}

int main(int count, char **words) {
    const char *client = words[count - 1];
    if (count > 3)
        load(words[2], RTLD_NOW | RTLD_GLOBAL);
    offer("OFFER_BEFORE");
    if (!strcmp(words[1], "each")) {
        for (int i = 3; i < count; ++i)
            load(words[i], RTLD_NOW | RTLD_LOCAL);
        return 0;
    }
    if (!strcmp(words[1], "exit")) {
        load(client, RTLD_NOW | RTLD_LOCAL);
        offer("OFFER_AFTER");
        return 0;
    }
    if (!strcmp(words[1], "overlap")) {
        void *handle = load(client, RTLD_NOW | RTLD_LOCAL);
        void (*overlap)(void);
        *(void **)&overlap = dlsym(handle, "overlap");
        overlap();
        dlclose(handle);
        return 0;
    }
    if (!strcmp(words[1], "threads")) {
        void *handle = load(client, RTLD_NOW | RTLD_LOCAL);
        *(void **)&again = dlsym(handle, "again");
        pthread_t threads[8];
        for (uintptr_t i = 0; i < 8; ++i)
            pthread_create(&threads[i], 0, work, (void *)i);
        offer("OFFER_AFTER");
        for (int i = 0; i < 8; ++i)
            pthread_join(threads[i], 0);
        dlclose(handle);
        return 0;
    }
    for (int i = atoi(words[1]); i > 0; --i) {
        void *handle = load(client, RTLD_NOW | RTLD_LOCAL);
        offer("OFFER_AFTER");
        dlclose(handle);
    }
    return 0;
}
