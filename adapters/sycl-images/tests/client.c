// A library as a SYCL compiler makes it: it registers its image when it is loaded. `again` and `overlap` register others of its own
// making.
#include <stdint.h>

struct image {
    uint16_t version;
    uint8_t kind, format;
    const char *target, *compile, *link;
    const void *bytes[2], *entries[2], *properties[2];
};

struct binaries {
    uint16_t version, count;
    struct image *images;
    const void *host[2];
};

void __sycl_register_lib(struct binaries *);
void __sycl_unregister_lib(struct binaries *);

static const uint32_t module[5] = {0x07230203, 0x00010400, 0, 1, 0};
static struct image image = {3, 4, 0, "spir64", "", "", {module, module + 5}, {0, 0}, {0, 0}};
static struct binaries binaries = {1, 1, &image, {0, 0}};

__attribute__((constructor)) static void load(void) { __sycl_register_lib(&binaries); }
__attribute__((destructor)) static void unload(void) { __sycl_unregister_lib(&binaries); }

static struct binaries more[8];

void again(unsigned thread) {
    more[thread] = binaries;
    for (int i = 0; i < 50; ++i) {
        __sycl_register_lib(&more[thread]);
        __sycl_unregister_lib(&more[thread]);
    }
}

extern void (*meanwhile)(void);

static void register_second(void) { __sycl_register_lib(&more[1]); }

// The second is registered while libsycl has just been asked to take the first back.
void overlap(void) {
    more[0] = more[1] = binaries;
    __sycl_register_lib(&more[0]);
    meanwhile = register_second;
    __sycl_unregister_lib(&more[0]);
    __sycl_unregister_lib(&more[1]);
}
