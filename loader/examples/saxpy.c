/*
 * y = a * x + y on the first GPU, through the public C API alone: find a device, allocate stream-ordered memory, copy,
 * compile a PTX module, launch a kernel, copy back, check every element, give everything back.
 *
 *   cc saxpy.c $(pkg-config --cflags --libs libur_loader) -o saxpy
 *   ./saxpy [saxpy.ptx]
 */
#include <unified-runtime/ur_api.h>

#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS 1000003u /* no multiple of the group size: the last group is partly idle */
#define GROUP_SIZE 256u
#define DEFAULT_MODULE "conformance/kernels/saxpy.ptx"

/* Every call goes through here: a failure ends the program with the call's text and its result. */
#define CHECK(call) check((call), #call, __LINE__)

static ur_adapter_handle_t last_adapter; /* asked for details when a result is specific to the adapter */

static const char *result_name(ur_result_t result) {
    switch ((int)result) {
    case UR_RESULT_ERROR_INVALID_VALUE: return "UR_RESULT_ERROR_INVALID_VALUE";
    case UR_RESULT_ERROR_INVALID_BINARY: return "UR_RESULT_ERROR_INVALID_BINARY";
    case UR_RESULT_ERROR_INVALID_KERNEL_NAME: return "UR_RESULT_ERROR_INVALID_KERNEL_NAME";
    case UR_RESULT_ERROR_DEVICE_NOT_FOUND: return "UR_RESULT_ERROR_DEVICE_NOT_FOUND";
    case UR_RESULT_ERROR_DEVICE_LOST: return "UR_RESULT_ERROR_DEVICE_LOST";
    case UR_RESULT_ERROR_UNINITIALIZED: return "UR_RESULT_ERROR_UNINITIALIZED";
    case UR_RESULT_ERROR_OUT_OF_HOST_MEMORY: return "UR_RESULT_ERROR_OUT_OF_HOST_MEMORY";
    case UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: return "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY";
    case UR_RESULT_ERROR_OUT_OF_RESOURCES: return "UR_RESULT_ERROR_OUT_OF_RESOURCES";
    case UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE: return "UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE";
    case UR_RESULT_ERROR_UNSUPPORTED_FEATURE: return "UR_RESULT_ERROR_UNSUPPORTED_FEATURE";
    case UR_RESULT_ERROR_INVALID_NULL_HANDLE: return "UR_RESULT_ERROR_INVALID_NULL_HANDLE";
    case UR_RESULT_ERROR_INVALID_NULL_POINTER: return "UR_RESULT_ERROR_INVALID_NULL_POINTER";
    case UR_RESULT_ERROR_ADAPTER_SPECIFIC: return "UR_RESULT_ERROR_ADAPTER_SPECIFIC";
    default: return "see ur_result_t";
    }
}

static void check(ur_result_t result, const char *call, int line) {
    const char *detail = NULL;
    int32_t code = 0;
    if (result == UR_RESULT_SUCCESS) {
        return;
    }
    fprintf(stderr, "saxpy.c:%d: %s\n  failed with %d (%s)\n", line, call, (int)result, result_name(result));
    if (result == UR_RESULT_ERROR_ADAPTER_SPECIFIC && last_adapter != NULL &&
        urAdapterGetLastError(last_adapter, &detail, &code) == UR_RESULT_SUCCESS && detail != NULL) {
        fprintf(stderr, "  the adapter says: %s (native code %d)\n", detail, (int)code);
    }
    exit(EXIT_FAILURE);
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        fprintf(stderr, "saxpy.c: out of host memory (%lu bytes)\n", (unsigned long)size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* The file's bytes with a NUL behind them; *size counts the file alone. */
static unsigned char *read_file(const char *path, size_t *size) {
    unsigned char *bytes;
    long length;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
        fprintf(stderr, "saxpy.c: cannot read `%s`; name the PTX file as the first argument\n", path);
        exit(EXIT_FAILURE);
    }
    bytes = allocate((size_t)length + 1);
    *size = fread(bytes, 1, (size_t)length, file);
    if (*size != (size_t)length) {
        fprintf(stderr, "saxpy.c: `%s` could not be read to its end\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return bytes;
}

/* Lists the devices of one platform; the first GPU seen goes to *gpu, which stays as it is otherwise. */
static void list_devices(ur_platform_handle_t platform, ur_device_handle_t *gpu) {
    ur_device_handle_t *devices;
    uint32_t count = 0, i;
    CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 0, NULL, &count));
    if (count == 0) {
        return;
    }
    devices = allocate(count * sizeof(*devices));
    CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_ALL, count, devices, NULL));
    for (i = 0; i < count; i++) {
        ur_device_type_t type = UR_DEVICE_TYPE_DEFAULT;
        size_t size = 0;
        char *name;
        CHECK(urDeviceGetInfo(devices[i], UR_DEVICE_INFO_TYPE, sizeof(type), &type, NULL));
        CHECK(urDeviceGetInfo(devices[i], UR_DEVICE_INFO_NAME, 0, NULL, &size));
        name = allocate(size + 1);
        CHECK(urDeviceGetInfo(devices[i], UR_DEVICE_INFO_NAME, size, name, NULL));
        printf("    device %u: %s%s\n", (unsigned)i, name, type == UR_DEVICE_TYPE_GPU ? " (GPU)" : "");
        free(name);
        if (*gpu == NULL && type == UR_DEVICE_TYPE_GPU) {
            *gpu = devices[i];
        } else {
            CHECK(urDeviceRelease(devices[i]));
        }
    }
    free(devices);
}

static void list_platforms(ur_adapter_handle_t adapter, ur_device_handle_t *gpu) {
    ur_platform_handle_t *platforms;
    uint32_t count = 0, i;
    CHECK(urPlatformGet(adapter, 0, NULL, &count));
    if (count == 0) {
        return;
    }
    platforms = allocate(count * sizeof(*platforms));
    CHECK(urPlatformGet(adapter, count, platforms, NULL));
    for (i = 0; i < count; i++) {
        size_t size = 0;
        char *name;
        CHECK(urPlatformGetInfo(platforms[i], UR_PLATFORM_INFO_NAME, 0, NULL, &size));
        name = allocate(size + 1);
        CHECK(urPlatformGetInfo(platforms[i], UR_PLATFORM_INFO_NAME, size, name, NULL));
        printf("  platform %u: %s\n", (unsigned)i, name);
        free(name);
        list_devices(platforms[i], gpu);
    }
    free(platforms);
}

/* Builds the module for the device; what the compiler had to say is shown if it refuses. */
static ur_program_handle_t build(ur_context_handle_t context, ur_device_handle_t device, const char *path) {
    ur_program_handle_t program = NULL;
    ur_result_t result;
    size_t length = 0, log_size = 0;
    unsigned char *module = read_file(path, &length);
    const uint8_t *binary = module;
    CHECK(urProgramCreateWithBinary(context, 1, &device, &length, &binary, NULL, &program));
    result = urProgramBuild(context, program, "");
    if (result != UR_RESULT_SUCCESS &&
        urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_LOG, 0, NULL, &log_size) == UR_RESULT_SUCCESS) {
        char *log = allocate(log_size + 1);
        if (urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_LOG, log_size, log, NULL) ==
            UR_RESULT_SUCCESS) {
            fprintf(stderr, "%s\n", log);
        }
        free(log);
    }
    check(result, "urProgramBuild(context, program, \"\")", __LINE__);
    free(module);
    return program;
}

static ur_exp_kernel_arg_properties_t argument(uint32_t index, ur_exp_kernel_arg_type_t type, size_t size,
                                               const void *value) {
    ur_exp_kernel_arg_properties_t properties;
    properties.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
    properties.pNext = NULL;
    properties.type = type;
    properties.index = index;
    properties.size = size;
    if (type == UR_EXP_KERNEL_ARG_TYPE_POINTER) {
        properties.value.pointer = value; /* the device pointer itself */
    } else {
        properties.value.value = value; /* where the bytes are */
    }
    return properties;
}

/* Allocates on the queue, copies in, launches, copies out, frees on the queue, and waits once, at the end. */
static void run(ur_queue_handle_t queue, ur_kernel_handle_t kernel, float a, const float *x, float *y, uint32_t n) {
    const size_t bytes = n * sizeof(float);
    const size_t local = GROUP_SIZE;
    const size_t global = (n + local - 1) / local * local;
    ur_exp_kernel_arg_properties_t arguments[4];
    void *device_x = NULL, *device_y = NULL;

    CHECK(urEnqueueUSMDeviceAllocExp(queue, NULL, bytes, NULL, 0, NULL, &device_x, NULL));
    CHECK(urEnqueueUSMDeviceAllocExp(queue, NULL, bytes, NULL, 0, NULL, &device_y, NULL));
    CHECK(urEnqueueUSMMemcpy(queue, false, device_x, x, bytes, 0, NULL, NULL));
    CHECK(urEnqueueUSMMemcpy(queue, false, device_y, y, bytes, 0, NULL, NULL));

    arguments[0] = argument(0, UR_EXP_KERNEL_ARG_TYPE_VALUE, sizeof(a), &a);
    arguments[1] = argument(1, UR_EXP_KERNEL_ARG_TYPE_POINTER, sizeof(device_x), device_x);
    arguments[2] = argument(2, UR_EXP_KERNEL_ARG_TYPE_POINTER, sizeof(device_y), device_y);
    arguments[3] = argument(3, UR_EXP_KERNEL_ARG_TYPE_VALUE, sizeof(n), &n);
    CHECK(urEnqueueKernelLaunchWithArgsExp(queue, kernel, 1, NULL, &global, &local, 4, arguments, NULL, 0, NULL, NULL));

    CHECK(urEnqueueUSMMemcpy(queue, false, y, device_y, bytes, 0, NULL, NULL));
    CHECK(urEnqueueUSMFreeExp(queue, NULL, device_x, 0, NULL, NULL));
    CHECK(urEnqueueUSMFreeExp(queue, NULL, device_y, 0, NULL, NULL));
    CHECK(urQueueFinish(queue));
}

/* The inputs are small integers, so that a*x+y is exact and every element can be compared with ==. */
static int verified_saxpy(ur_queue_handle_t queue, ur_kernel_handle_t kernel) {
    const float a = 3.0f;
    float *x = allocate(ELEMENTS * sizeof(*x));
    float *y = allocate(ELEMENTS * sizeof(*y));
    uint32_t i, wrong = 0;
    for (i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(i % 1024);
        y[i] = (float)(i % 771);
    }
    run(queue, kernel, a, x, y, ELEMENTS);
    for (i = 0; i < ELEMENTS; i++) {
        const float expected = a * (float)(i % 1024) + (float)(i % 771);
        if (y[i] != expected && wrong++ == 0) {
            fprintf(stderr, "saxpy.c: y[%u] is %g, expected %g\n", (unsigned)i, (double)y[i], (double)expected);
        }
    }
    free(x);
    free(y);
    if (wrong != 0) {
        fprintf(stderr, "saxpy.c: %u of %u elements are wrong\n", (unsigned)wrong, (unsigned)ELEMENTS);
        return 0;
    }
    printf("verified: saxpy of %u elements\n", (unsigned)ELEMENTS);
    return 1;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : DEFAULT_MODULE;
    ur_adapter_handle_t *adapters;
    ur_device_handle_t device = NULL;
    ur_context_handle_t context = NULL;
    ur_queue_handle_t queue = NULL;
    ur_program_handle_t program;
    ur_kernel_handle_t kernel = NULL;
    uint32_t count = 0, i;
    int verified;

    CHECK(urLoaderInit(0, NULL));
    CHECK(urAdapterGet(0, NULL, &count));
    adapters = allocate((count + 1) * sizeof(*adapters));
    if (count != 0) {
        CHECK(urAdapterGet(count, adapters, NULL));
    }
    for (i = 0; i < count; i++) {
        ur_backend_t backend = UR_BACKEND_UNKNOWN;
        ur_device_handle_t before = device;
        CHECK(urAdapterGetInfo(adapters[i], UR_ADAPTER_INFO_BACKEND, sizeof(backend), &backend, NULL));
        printf("adapter %u: backend %d\n", (unsigned)i, (int)backend);
        list_platforms(adapters[i], &device);
        if (before == NULL && device != NULL) {
            last_adapter = adapters[i];
        }
    }
    if (device == NULL) {
        fprintf(stderr, "saxpy.c: no GPU among %u adapter(s); UR_LOG_LOADER=level:info tells what the loader tried\n",
                (unsigned)count);
        return EXIT_FAILURE;
    }

    CHECK(urContextCreate(1, &device, NULL, &context));
    CHECK(urQueueCreate(context, device, NULL, &queue));
    program = build(context, device, path);
    CHECK(urKernelCreate(program, "saxpy", &kernel));

    verified = verified_saxpy(queue, kernel);

    CHECK(urKernelRelease(kernel));
    CHECK(urProgramRelease(program));
    CHECK(urQueueRelease(queue));
    CHECK(urContextRelease(context));
    CHECK(urDeviceRelease(device));
    last_adapter = NULL;
    for (i = 0; i < count; i++) {
        CHECK(urAdapterRelease(adapters[i]));
    }
    free(adapters);
    CHECK(urLoaderTearDown());
    return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}
