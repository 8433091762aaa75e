/*
 * Work that is enqueued before anything it waits for: two queues and the host meet at a timeline, on the first GPU. The
 * consumer's copy comes first, then the producer's fill, and the host's signal, on which all of it waits, last of all.
 *
 *   cc timeline.c $(pkg-config --cflags --libs libur_loader) -o timeline
 *   ./timeline
 */
#include <unified-runtime/ur_ext.h> /* includes ur_api.h */

#include <stdio.h>
#include <stdlib.h>

#define ELEMENTS 65536u
#define PATTERN 0x5eed5eedu
#define TEN_SECONDS 10000000000u /* nanoseconds */

/* What has happened when the timeline has this value. */
enum { GO = 1, FILLED = 2, COPIED = 3 };

/* Every call goes through here: a failure ends the program with the call's text and its result. */
#define CHECK(call) check((call), #call, __LINE__)

static ur_adapter_handle_t last_adapter; /* asked for details of a failure */

static void check(ur_result_t result, const char *call, int line) {
    const char *detail = NULL;
    int32_t code = 0;
    if (result == UR_RESULT_SUCCESS) {
        return;
    }
    fprintf(stderr, "timeline.c:%d: %s\n  failed with %d\n", line, call, (int)result);
    if (last_adapter != NULL && urAdapterGetLastError(last_adapter, &detail, &code) == UR_RESULT_SUCCESS &&
        detail != NULL) {
        fprintf(stderr, "  the adapter says: %s (native code %d)\n", detail, (int)code);
    }
    exit(EXIT_FAILURE);
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        fprintf(stderr, "timeline.c: out of host memory (%lu bytes)\n", (unsigned long)size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* The first GPU of the platform, with a reference; null if it has none. */
static ur_device_handle_t gpu_of_platform(ur_platform_handle_t platform) {
    ur_device_handle_t device = NULL;
    uint32_t count = 0;
    CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_GPU, 0, NULL, &count));
    if (count != 0) {
        CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_GPU, 1, &device, NULL));
    }
    return device;
}

/* The first GPU of the adapter's platforms, with a reference; null if none has one. */
static ur_device_handle_t gpu_of_adapter(ur_adapter_handle_t adapter) {
    ur_platform_handle_t *platforms;
    ur_device_handle_t device = NULL;
    uint32_t count = 0, i;
    CHECK(urPlatformGet(adapter, 0, NULL, &count));
    if (count == 0) {
        return NULL;
    }
    platforms = allocate(count * sizeof(*platforms));
    CHECK(urPlatformGet(adapter, count, platforms, NULL));
    for (i = 0; i < count && device == NULL; i++) {
        device = gpu_of_platform(platforms[i]);
    }
    free(platforms);
    return device;
}

/* The first GPU of all adapters: one whose native library is not installed is listed, too, and has none. */
static ur_device_handle_t first_gpu(const ur_adapter_handle_t *adapters, uint32_t count) {
    ur_device_handle_t device = NULL;
    uint32_t i;
    for (i = 0; i < count && device == NULL; i++) {
        last_adapter = adapters[i];
        device = gpu_of_adapter(adapters[i]);
    }
    return device;
}

/* Waits for one value of the timeline, or for its failure, and gives what the wait answered. */
static ur_result_t wait_for(ur_ext_timeline_handle_t timeline, uint64_t value) {
    return urTimelineWaitExt(1, &timeline, &value, 0, TEN_SECONDS, NULL);
}

static void enqueue_wait(ur_queue_handle_t queue, ur_ext_timeline_handle_t timeline, uint64_t value) {
    CHECK(urEnqueueTimelineWaitExt(queue, 1, &timeline, &value, 0, NULL, NULL));
}

static void enqueue_signal(ur_queue_handle_t queue, ur_ext_timeline_handle_t timeline, uint64_t value) {
    CHECK(urEnqueueTimelineSignalExt(queue, 1, &timeline, &value, 0, NULL, NULL));
}

static uint64_t value_of(ur_ext_timeline_handle_t timeline) {
    uint64_t value = 0;
    CHECK(urTimelineGetInfoExt(timeline, UR_EXT_TIMELINE_INFO_VALUE, sizeof(value), &value, NULL));
    return value;
}

/* Enqueues consumer and producer in the wrong order, then lets them go. Answers whether the right bytes arrived. */
static int meet(ur_context_handle_t context, ur_device_handle_t device) {
    const uint32_t pattern = PATTERN;
    const size_t bytes = ELEMENTS * sizeof(uint32_t);
    ur_queue_handle_t producer = NULL, consumer = NULL;
    ur_ext_timeline_handle_t timeline = NULL;
    ur_event_handle_t copied = NULL;
    void *filled = NULL, *result = NULL;
    uint32_t i, wrong = 0;

    CHECK(urTimelineCreateExt(context, NULL, &timeline)); /* its value is 0 */
    CHECK(urQueueCreate(context, device, NULL, &producer));
    CHECK(urQueueCreate(context, device, NULL, &consumer));
    CHECK(urUSMDeviceAlloc(context, device, NULL, NULL, bytes, &filled));
    CHECK(urUSMHostAlloc(context, NULL, NULL, bytes, &result));

    /* Nobody has signalled anything yet, and none of these calls waits. */
    enqueue_wait(consumer, timeline, FILLED);
    CHECK(urEnqueueUSMMemcpy(consumer, false, result, filled, bytes, 0, NULL, NULL));
    enqueue_signal(consumer, timeline, COPIED);
    enqueue_wait(producer, timeline, GO);
    CHECK(urEnqueueUSMFill(producer, filled, sizeof(pattern), &pattern, bytes, 0, NULL, NULL));
    enqueue_signal(producer, timeline, FILLED);
    /* A point of the timeline as an event, for any function that takes events. */
    CHECK(urTimelineGetEventExt(timeline, COPIED, &copied));
    printf("everything is enqueued, and the timeline has the value %u\n", (unsigned)value_of(timeline));

    CHECK(urTimelineSignalExt(timeline, GO));
    CHECK(wait_for(timeline, COPIED));
    CHECK(urEventWait(1, &copied));
    printf("the host has signalled, and the timeline has the value %u\n", (unsigned)value_of(timeline));
    for (i = 0; i < ELEMENTS; i++) {
        wrong += ((const uint32_t *)result)[i] != PATTERN;
    }

    CHECK(urQueueFinish(producer));
    CHECK(urQueueFinish(consumer));
    CHECK(urEventRelease(copied));
    CHECK(urUSMFree(context, result));
    CHECK(urUSMFree(context, filled));
    CHECK(urQueueRelease(consumer));
    CHECK(urQueueRelease(producer));
    CHECK(urTimelineReleaseExt(timeline));
    return wrong == 0;
}

/* A failure reaches whoever waits. Answers whether it did. */
static int fail(ur_context_handle_t context) {
    ur_ext_timeline_handle_t timeline = NULL;
    ur_result_t told, status = UR_RESULT_SUCCESS;
    CHECK(urTimelineCreateExt(context, NULL, &timeline));
    CHECK(urTimelineFailExt(timeline, UR_RESULT_ERROR_INVALID_OPERATION));
    told = wait_for(timeline, GO);
    CHECK(urTimelineGetInfoExt(timeline, UR_EXT_TIMELINE_INFO_STATUS, sizeof(status), &status, NULL));
    CHECK(urTimelineReleaseExt(timeline));
    printf("a wait for a timeline that has failed answers %d, and its status is %d\n", (int)told, (int)status);
    return told == UR_RESULT_ERROR_INVALID_OPERATION && status == told;
}

int main(void) {
    ur_adapter_handle_t *adapters;
    ur_device_handle_t device;
    ur_context_handle_t context = NULL;
    uint32_t count = 0, i;
    int verified;

    CHECK(urLoaderInit(0, NULL));
    CHECK(urAdapterGet(0, NULL, &count));
    adapters = allocate((count + 1) * sizeof(*adapters));
    if (count != 0) {
        CHECK(urAdapterGet(count, adapters, NULL));
    }
    device = first_gpu(adapters, count);
    if (device == NULL) {
        fprintf(stderr, "timeline.c: no GPU among %u adapter(s); UR_LOG_LOADER=level:info tells what the loader tried\n",
                (unsigned)count);
        return EXIT_FAILURE;
    }
    CHECK(urContextCreate(1, &device, NULL, &context));

    verified = meet(context, device) && fail(context);

    CHECK(urContextRelease(context));
    CHECK(urDeviceRelease(device));
    last_adapter = NULL;
    for (i = 0; i < count; i++) {
        CHECK(urAdapterRelease(adapters[i]));
    }
    free(adapters);
    CHECK(urLoaderTearDown());
    printf(verified ? "verified: a timeline of two queues and the host\n" : "timeline.c: the result is wrong\n");
    return verified ? EXIT_SUCCESS : EXIT_FAILURE;
}
