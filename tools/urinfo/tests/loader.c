// A loader with two adapters: the first does not list its platforms, the second has a platform with a device and one that does not list
// its devices. INIT_FAILS makes its start fail.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, DEVICE_LOST = 20, UNSUPPORTED_ENUMERATION = 54, ADAPTER_SPECIFIC = 66, LAYER_NOT_PRESENT = 67 };

static int adapters[2], platforms[2], devices[1];

static int answer(const void *text, size_t length, size_t size, void *value, size_t *needed) {
    if (needed)
        *needed = length;
    if (value && size >= length)
        memcpy(value, text, length);
    return SUCCESS;
}

static int list(int *handles, uint32_t count, uint32_t length, void **out, uint32_t *needed) {
    if (needed)
        *needed = count;
    for (uint32_t i = 0; out && i < length && i < count; ++i)
        out[i] = &handles[i];
    return SUCCESS;
}

int urLoaderInit(uint32_t flags, void *config) {
    (void)flags, (void)config;
    return getenv("INIT_FAILS") ? LAYER_NOT_PRESENT : SUCCESS;
}

int urLoaderTearDown(void) { return SUCCESS; }

int urAdapterGet(uint32_t length, void **out, uint32_t *needed) { return list(adapters, 2, length, out, needed); }

int urAdapterRelease(void *adapter) {
    (void)adapter;
    return SUCCESS;
}

int urAdapterGetInfo(void *adapter, uint32_t name, size_t size, void *value, size_t *needed) {
    (void)adapter;
    uint32_t backend = 3;
    return name == 0 ? answer(&backend, 4, size, value, needed) : UNSUPPORTED_ENUMERATION;
}

int urAdapterGetLastError(void *adapter, const char **message, int32_t *code) {
    *message = adapter == &adapters[0] ? "the fan is stuck" : "";
    *code = 42;
    return SUCCESS;
}

int urPlatformGet(void *adapter, uint32_t length, void **out, uint32_t *needed) {
    return adapter == &adapters[0] ? ADAPTER_SPECIFIC : list(platforms, 2, length, out, needed);
}

int urPlatformGetInfo(void *platform, uint32_t name, size_t size, void *value, size_t *needed) {
    (void)name;
    return answer(platform == &platforms[0] ? "good" : "lost", 5, size, value, needed);
}

int urDeviceGet(void *platform, uint32_t type, uint32_t length, void **out, uint32_t *needed) {
    (void)type;
    return platform == &platforms[0] ? list(devices, 1, length, out, needed) : DEVICE_LOST;
}

int urDeviceGetInfo(void *device, uint32_t name, size_t size, void *value, size_t *needed) {
    (void)device;
    return name == 66 ? answer("a device", 9, size, value, needed) : UNSUPPORTED_ENUMERATION;
}

int urDeviceRelease(void *device) {
    (void)device;
    return SUCCESS;
}
