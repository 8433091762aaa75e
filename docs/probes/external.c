/*
 * What the CUDA driver answers about memory and semaphores of Vulkan: the unproven lines of native-facts.md.
 * Needs a GPU whose driver has Vulkan 1.2; built with Vulkan's headers (Debian's libvulkan-dev), both libraries are opened at
 * run time. A first argument names another Vulkan library, a second one another CUDA driver.
 *
 *   cc -O1 -I INCLUDE docs/probes/external.c -o external -ldl -lpthread && ./external
 *
 * Each line is one fact. Each section runs in a process of its own with an alarm, so that a crash or a hang costs its own
 * lines alone and is told.
 */
#define _GNU_SOURCE
#define VK_NO_PROTOTYPES
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

static const char *vulkan_name = "libvulkan.so.1", *cuda_name = "libcuda.so.1";
static void *cuda;
#define CU(name, ...) (((int (*)())dlsym(cuda, #name))(__VA_ARGS__))
#define SAY(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

typedef struct { unsigned type, gap; int fd, rest[3]; unsigned long long size; unsigned flags, reserved[16]; } MemoryDesc;
typedef struct { unsigned long long offset, size; unsigned flags, reserved[16]; } BufferDesc;
typedef struct { unsigned type, gap; int fd, rest[3]; unsigned flags, reserved[16]; unsigned pad; } SemaphoreDesc;
typedef struct { unsigned long long value, rest[8]; unsigned flags, reserved[16]; } Params;
typedef struct { int type, handle_types, location_type, id; void *meta; unsigned char flags[8]; } PhysicalProp;

/* Vulkan, as far as it is used. */
static PFN_vkGetInstanceProcAddr get_proc;
static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
#define VKI(name) ((PFN_##name)get_proc(instance, #name))
#define VKD(name) ((PFN_##name)((PFN_vkGetDeviceProcAddr)get_proc(instance, "vkGetDeviceProcAddr"))(device, #name))

static VkDeviceMemory memory;
static VkDeviceSize allocated;
static const VkDeviceSize SIZE = 1 << 20;

static int start_cuda(void **context) {
    cuda = dlopen(cuda_name, RTLD_NOW);
    if (!cuda) { SAY("no CUDA: %s", dlerror()); return 1; }
    int dev, answer = CU(cuInit, 0);
    answer |= CU(cuDeviceGet, &dev, 0) | CU(cuDevicePrimaryCtxRetain, context, dev) | CU(cuCtxSetCurrent, *context);
    if (answer) SAY("CUDA does not start");
    return answer;
}

static int start_vulkan(void) {
    void *lib = dlopen(vulkan_name, RTLD_NOW);
    if (lib) get_proc = (PFN_vkGetInstanceProcAddr)dlsym(lib, "vkGetInstanceProcAddr");
    if (!get_proc && (lib = dlopen("libGLX_nvidia.so.0", RTLD_NOW))) get_proc = (PFN_vkGetInstanceProcAddr)dlsym(lib, "vk_icdGetInstanceProcAddr");
    if (!get_proc) { SAY("no Vulkan: %s", dlerror()); return 1; }
    VkApplicationInfo app = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo create = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    int answer = VKI(vkCreateInstance)(&create, NULL, &instance);
    if (answer) { SAY("vkCreateInstance %d", answer); return 1; }
    unsigned char uuid[16] = {0};
    CU(cuDeviceGetUuid_v2, uuid, 0);
    VkPhysicalDevice all[16];
    uint32_t count = 16;
    VKI(vkEnumeratePhysicalDevices)(instance, &count, all);
    for (uint32_t i = 0; i < count; ++i) {
        VkPhysicalDeviceIDProperties id = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 props = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id};
        VKI(vkGetPhysicalDeviceProperties2)(all[i], &props);
        int same = !memcmp(id.deviceUUID, uuid, 16);
        SAY("Vulkan device %u: %s, API %x, same UUID as CUDA's first: %d", i, props.properties.deviceName, props.properties.apiVersion, same);
        if (same || !physical) physical = all[i];
    }
    if (!physical) return 1;
    uint32_t families = 16;
    VkQueueFamilyProperties family[16];
    VKI(vkGetPhysicalDeviceQueueFamilyProperties)(physical, &families, family);
    uint32_t chosen = 0;
    while (chosen + 1 < families && !(family[chosen].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++chosen;
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = chosen, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan12Features features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .timelineSemaphore = 1};
    const char *names[] = {"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"};
    VkDeviceCreateInfo make = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = 2, .ppEnabledExtensionNames = names};
    answer = VKI(vkCreateDevice)(physical, &make, NULL, &device);
    if (answer) { SAY("vkCreateDevice %d", answer); return 1; }
    VkPhysicalDeviceExternalBufferInfo ask = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                              .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalBufferProperties told = {VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    VKI(vkGetPhysicalDeviceExternalBufferProperties)(physical, &ask, &told);
    SAY("buffers by opaque descriptor: features %x (1 dedicated only, 2 export, 4 import)", told.externalMemoryProperties.externalMemoryFeatures);
    VkExternalMemoryBufferCreateInfo external = {VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = ask.handleType};
    VkBufferCreateInfo buffer_info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external, .size = SIZE, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    VKD(vkCreateBuffer)(device, &buffer_info, NULL, &buffer);
    VkMemoryRequirements needed;
    VKD(vkGetBufferMemoryRequirements)(device, buffer, &needed);
    VkPhysicalDeviceMemoryProperties types;
    VKI(vkGetPhysicalDeviceMemoryProperties)(physical, &types);
    uint32_t type = 0;
    while (!(needed.memoryTypeBits >> type & 1) || !(types.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)) ++type;
    VkExportMemoryAllocateInfo export = {VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = ask.handleType};
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &export, needed.size, type};
    answer = VKD(vkAllocateMemory)(device, &allocate, NULL, &memory);
    allocated = needed.size;
    SAY("buffer of %llu: %llu allocated, alignment %llu, answer %d", (unsigned long long)SIZE, (unsigned long long)allocated, (unsigned long long)needed.alignment, answer);
    return answer;
}

static int memory_fd(void) {
    VkMemoryGetFdInfoKHR get = {VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = memory, .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VKD(vkGetMemoryFdKHR)(device, &get, &fd);
    return fd;
}

static VkSemaphore semaphore(int timeline) {
    VkSemaphoreTypeCreateInfo kind = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, .semaphoreType = timeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY};
    VkExportSemaphoreCreateInfo export = {VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, &kind, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreCreateInfo create = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &export};
    VkSemaphore made = 0;
    VKD(vkCreateSemaphore)(device, &create, NULL, &made);
    return made;
}

static int semaphore_fd(VkSemaphore of) {
    VkSemaphoreGetFdInfoKHR get = {VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, .semaphore = of, .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd = -1;
    VKD(vkGetSemaphoreFdKHR)(device, &get, &fd);
    return fd;
}

static unsigned long long value_of(VkSemaphore of) {
    uint64_t value = 0;
    VKD(vkGetSemaphoreCounterValue)(device, of, &value);
    return value;
}

static int is_open(int fd) { return fcntl(fd, F_GETFD) != -1; }

static int import_memory(void **out, int fd, unsigned long long size) {
    MemoryDesc desc = {.type = 1, .fd = fd, .size = size};
    return CU(cuImportExternalMemory, out, &desc);
}

static int map(unsigned long long *out, void *of, unsigned long long offset, unsigned long long size) {
    BufferDesc desc = {.offset = offset, .size = size};
    return CU(cuExternalMemoryGetMappedBuffer, out, of, &desc);
}

static void about_pointer(const char *what, unsigned long long pointer) {
    int names[] = {2, 11, 12, 9, 17, 1};
    unsigned long long values[6] = {0};
    void *places[] = {values, values + 1, values + 2, values + 3, values + 4, values + 5};
    int answer = CU(cuPointerGetAttributes, 6, names, places, pointer);
    SAY("  %s: attributes answer %d: type %llu, start %+lld, size %llu, ordinal %d, pool %llx, context %llx", what, answer, values[0],
        (long long)(values[1] - pointer), values[2], (int)values[3], values[4], values[5]);
}

static void memories(void *context) {
    void *import = NULL, *other = NULL;
    int fd = memory_fd();
    CU(cuCtxSetCurrent, NULL);
    SAY("cuImportExternalMemory without a context: %d, descriptor open after it: %d", import_memory(&import, fd, allocated), is_open(fd));
    CU(cuCtxSetCurrent, context);
    if (!import) SAY("cuImportExternalMemory: %d, descriptor open after it: %d", import_memory(&import, fd, allocated), is_open(fd));
    fd = memory_fd();
    SAY("of more bytes than there are (x2): %d, descriptor open: %d", import_memory(&other, fd, 2 * allocated), is_open(fd));
    fd = memory_fd();
    SAY("of half the bytes: %d", import_memory(&other, fd, allocated / 2));
    SAY("of no bytes: %d", import_memory(&other, memory_fd(), 0));
    int null = open("/dev/null", O_RDWR);
    SAY("of /dev/null: %d, descriptor open: %d; of 999: %d; of -1: %d", import_memory(&other, null, 4096), is_open(null), import_memory(&other, 999, 4096), import_memory(&other, -1, 4096));
    SAY("of a semaphore: %d", import_memory(&other, semaphore_fd(semaphore(1)), 4096));
    unsigned long long a = 0, b = 0, c = 0;
    CU(cuCtxSetCurrent, NULL);
    SAY("cuExternalMemoryGetMappedBuffer without a context: %d", map(&a, import, 0, SIZE));
    CU(cuCtxSetCurrent, context);
    if (!a) SAY("with one: %d", map(&a, import, 0, SIZE));
    SAY("the same range again: %d, the same address: %d", map(&b, import, 0, SIZE), a == b);
    static const unsigned long long offsets[] = {1, 4, 256, 4096, 65536};
    for (int i = 0; i < 5; ++i) SAY("offset %llu, 1000 bytes: %d", offsets[i], map(&c, import, offsets[i], 1000));
    SAY("outside: %d, no bytes: %d", map(&c, import, allocated, 1), map(&c, import, 0, 0));
    about_pointer("start", a), about_pointer("start + 1000", a + 1000), about_pointer("last byte", a + SIZE - 1);
    SAY("cuMemFree_v2 of start + 256: %d", CU(cuMemFree_v2, a + 256));
    SAY("cuMemFreeAsync: %d", CU(cuMemFreeAsync, b, NULL));
    CU(cuCtxSetCurrent, NULL);
    SAY("cuMemFree_v2 without a context: %d, again: %d", CU(cuMemFree_v2, a), CU(cuMemFree_v2, a));
    CU(cuCtxSetCurrent, context);
    map(&a, import, 0, SIZE);
    CU(cuCtxSetCurrent, NULL);
    SAY("cuDestroyExternalMemory without a context: %d", CU(cuDestroyExternalMemory, import));
    CU(cuCtxSetCurrent, context);
    SAY("a mapping that is left: cuMemsetD8 %d, cuMemFree %d", CU(cuMemsetD8_v2, a, 1, SIZE), CU(cuMemFree_v2, a));
}

static void exported(void *context) {
    (void)context;
    PhysicalProp prop = {.type = 1, .handle_types = 1, .location_type = 1};
    void *physical_memory = NULL, *import = NULL;
    unsigned long long address = 0;
    int fd = -1, made = CU(cuMemCreate, &physical_memory, (size_t)2 << 20, &prop, 0ULL);
    SAY("cuMemCreate %d, export %d", made, CU(cuMemExportToShareableHandle, &fd, physical_memory, 1, 0ULL));
    SAY("cuImportExternalMemory of the driver's own export: %d", import_memory(&import, fd, 2 << 20));
    if (import) SAY("mapped: %d", map(&address, import, 0, 2 << 20));
}

static void *stream;
static int import_semaphore(void **out, int fd, unsigned type) {
    SemaphoreDesc desc = {.type = type, .fd = fd};
    return CU(cuImportExternalSemaphore, out, &desc);
}
static int do_wait(void *of, unsigned long long value) { Params params = {.value = value}; return CU(cuWaitExternalSemaphoresAsync, &of, &params, 1, stream); }
static int do_signal(void *of, unsigned long long value) { Params params = {.value = value}; return CU(cuSignalExternalSemaphoresAsync, &of, &params, 1, stream); }
static void host_signal(VkSemaphore of, uint64_t value) {
    VkSemaphoreSignalInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = of, .value = value};
    int answer = VKD(vkSignalSemaphore)(device, &info);
    if (answer) SAY("vkSignalSemaphore %d", answer);
}

static void semaphores(void *context) {
    int answer = 0;
    CU(cuDeviceGetAttribute, &answer, 114, 0);
    SAY("CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED: %d", answer);
    CU(cuStreamCreate, &stream, 1);
    VkSemaphore timeline = semaphore(1), binary = semaphore(0);
    void *t = NULL, *b = NULL, *wrong = NULL;
    int fd = semaphore_fd(timeline);
    CU(cuCtxSetCurrent, NULL);
    SAY("cuImportExternalSemaphore without a context: %d, descriptor open: %d", import_semaphore(&t, fd, 9), is_open(fd));
    CU(cuCtxSetCurrent, context);
    if (!t) SAY("with one: %d, descriptor open: %d", import_semaphore(&t, fd, 9), is_open(fd));
    fd = semaphore_fd(binary);
    SAY("a binary one: %d, descriptor open: %d", import_semaphore(&b, fd, 1), is_open(fd));
    SAY("a timeline as binary: %d", import_semaphore(&wrong, semaphore_fd(timeline), 1));
    SAY("a binary one as timeline: %d", import_semaphore(&wrong, semaphore_fd(binary), 9));
    int null = open("/dev/null", O_RDWR);
    SAY("/dev/null: %d, descriptor open: %d; 999: %d; memory: %d", import_semaphore(&wrong, null, 9), is_open(null), import_semaphore(&wrong, 999, 9), import_semaphore(&wrong, memory_fd(), 9));
    CU(cuCtxSetCurrent, NULL);
    SAY("without a context: signal to 1 %d, wait for 1 %d", do_signal(t, 1), do_wait(t, 1));
    CU(cuCtxSetCurrent, context);
    SAY("cuStreamSynchronize %d, Vulkan reads %llu", CU(cuStreamSynchronize, stream), value_of(timeline));
    SAY("binary: signal %d, wait %d, cuStreamSynchronize %d", do_signal(b, 0), do_wait(b, 0), CU(cuStreamSynchronize, stream));
    SAY("signal to 1 again (not growing): %d, synchronize %d, Vulkan reads %llu", do_signal(t, 1), CU(cuStreamSynchronize, stream), value_of(timeline));
    SAY("wait for 5: %d, cuStreamQuery %d", do_wait(t, 5), CU(cuStreamQuery, stream));
    host_signal(timeline, 5);
    SAY("behind the host's signal: synchronize %d", CU(cuStreamSynchronize, stream));
    CU(cuStreamBeginCapture_v2, stream, 2);
    void *graph = NULL;
    SAY("in a capture: wait %d", do_wait(t, 5));
    SAY("  its end %d", CU(cuStreamEndCapture, stream, &graph));
    CU(cuCtxSetCurrent, NULL);
    SAY("cuDestroyExternalSemaphore without a context: %d", CU(cuDestroyExternalSemaphore, b));
}

static VkSemaphore opener;
static void *open_late(void *unused) {
    (void)unused;
    sleep(2);
    host_signal(opener, 5);
    return NULL;
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }

static void waiting(void *context) {
    (void)context;
    static const char PTX[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    void *t = NULL, *module = NULL, *second = NULL;
    unsigned long long plain = 0, pooled = 0;
    CU(cuStreamCreate, &stream, 1), CU(cuStreamCreate, &second, 1);
    CU(cuMemAlloc_v2, &plain, (size_t)4096);
    opener = semaphore(1);
    import_semaphore(&t, semaphore_fd(opener), 9);
    do_wait(t, 5);
    pthread_t thread;
    pthread_create(&thread, NULL, open_late, NULL);
    double begun = now();
#define TIMED(name, ...) do { double at = now(); int told = CU(name, __VA_ARGS__); SAY(#name ": %d, %.2f s (signalled after 2)", told, now() - at); } while (0)
    TIMED(cuMemAllocAsync, &pooled, (size_t)4096, second);
    TIMED(cuMemsetD8Async, plain, 1, (size_t)4096, second);
    TIMED(cuStreamSynchronize, second);
    TIMED(cuModuleLoadData, &module, PTX);
    SAY("after %.2f s", now() - begun);
    pthread_join(thread, NULL);
    CU(cuStreamSynchronize, stream);
    do_wait(t, 6);
    SAY("cuDestroyExternalSemaphore behind a wait: %d", CU(cuDestroyExternalSemaphore, t));
    host_signal(opener, 6);
    SAY("synchronize: %d", CU(cuStreamSynchronize, stream));
    void *u = NULL;
    opener = semaphore(1);
    import_semaphore(&u, semaphore_fd(opener), 9);
    do_wait(u, 5);
    pthread_create(&thread, NULL, open_late, NULL);
    TIMED(cuMemFree_v2, plain);
    pthread_join(thread, NULL);
}

int main(int count, char **words) {
    if (count > 1) vulkan_name = words[1];
    if (count > 2) cuda_name = words[2];
    static const struct { const char *name; void (*run)(void *); } sections[] = {
        {"memory", memories}, {"exported", exported}, {"semaphores", semaphores}, {"waiting", waiting}};
    for (int i = 0; i < 4; ++i) {
        SAY("== %s", sections[i].name);
        pid_t child = fork();
        if (!child) {
            alarm(30);
            void *context = NULL;
            if (start_cuda(&context) || start_vulkan()) _exit(1);
            sections[i].run(context);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status) SAY("== %s ended with %s %d", sections[i].name, WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return 0;
}
