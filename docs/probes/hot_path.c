/*
 * Rounds of 64 calls of one kind (100 appends), for hot_path.py, which counts what the adapter and the loader execute for each. Over
 * the simulated driver, so that nothing but instructions can be told; with the real one `perf record` shows where they wait.
 *
 *   cc -O2 hot_path.c -o hot_path $(pkg-config --cflags --libs libur_loader)
 *   KERNELS=target/dist/share/kernels ./hot_path launch 1000
 */
#include <unified-runtime/ur_api.h>
#include <unified-runtime/ur_ext.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 64
#define APPENDS 100

#define CHECK(call) check((call), #call)

static void check(ur_result_t result, const char *call) {
    if (result != UR_RESULT_SUCCESS) {
        fprintf(stderr, "%s answers %d\n", call, (int)result);
        exit(EXIT_FAILURE);
    }
}

static ur_context_handle_t context;
static ur_device_handle_t device;
static ur_queue_handle_t queue, other;
static ur_kernel_handle_t empty, three;
static ur_exp_kernel_arg_properties_t arguments[3];
static const size_t one = 1;
static void *memory, *pinned;

static ur_kernel_handle_t kernel(const char *name) {
    static uint8_t bytes[1 << 20];
    const uint8_t *image = bytes;
    const char *folder = getenv("KERNELS");
    char path[1000];
    size_t length;
    ur_program_handle_t program;
    ur_kernel_handle_t made;
    snprintf(path, sizeof path, "%s/basic.ptx", folder == NULL ? "target/dist/share/kernels" : folder);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s is not there; KERNELS names the folder\n", path);
        exit(EXIT_FAILURE);
    }
    length = fread(bytes, 1, sizeof bytes - 1, file) + 1;
    fclose(file);
    CHECK(urProgramCreateWithBinary(context, 1, &device, &length, &image, NULL, &program));
    CHECK(urProgramBuild(context, program, ""));
    CHECK(urKernelCreate(program, name, &made));
    return made;
}

static void launch(const ur_kernel_handle_t what, uint32_t count, ur_event_handle_t before, ur_event_handle_t *event) {
    CHECK(urEnqueueKernelLaunchWithArgsExp(queue, what, 1, NULL, &one, &one, count, count == 0 ? NULL : arguments, NULL,
                                           before != NULL, before == NULL ? NULL : &before, event));
}

static void launches(void) {
    for (int call = 0; call < CALLS; call++) launch(empty, 0, NULL, NULL);
}

static void launches_of_three_arguments(void) {
    for (int call = 0; call < CALLS; call++) launch(three, 3, NULL, NULL);
}

static void events(void) {
    for (int call = 0; call < CALLS; call++) {
        ur_event_handle_t event;
        launch(empty, 0, NULL, &event);
        CHECK(urEventRelease(event));
    }
}

static void chained(void) {
    ur_event_handle_t before = NULL, event;
    for (int call = 0; call < CALLS; call++) {
        launch(empty, 0, before, &event);
        if (before != NULL) CHECK(urEventRelease(before));
        before = event;
    }
    CHECK(urEventRelease(before));
}

static void copies(void) {
    for (int call = 0; call < CALLS; call++) CHECK(urEnqueueUSMMemcpy(queue, false, memory, pinned, 4096, 0, NULL, NULL));
}

static void stream_ordered(void) {
    for (int call = 0; call < CALLS; call++) {
        void *block;
        CHECK(urEnqueueUSMDeviceAllocExp(queue, NULL, 1 << 20, NULL, 0, NULL, &block, NULL));
        CHECK(urEnqueueUSMFreeExp(queue, NULL, block, 0, NULL, NULL));
    }
}

static void stream_ordered_with_events(void) {
    for (int call = 0; call < CALLS; call++) {
        ur_event_handle_t event;
        void *block;
        CHECK(urEnqueueUSMDeviceAllocExp(queue, NULL, 1 << 20, NULL, 0, NULL, &block, &event));
        CHECK(urEventRelease(event));
        CHECK(urEnqueueUSMFreeExp(queue, NULL, block, 0, NULL, &event));
        CHECK(urEventRelease(event));
    }
}

/* One block to and fro between two queues, each of which waits for the other's free. */
static void stream_ordered_behind_the_other_queue(void) {
    static ur_event_handle_t before;
    for (int call = 0; call < CALLS; call++) {
        ur_queue_handle_t turn = call % 2 == 0 ? queue : other;
        ur_event_handle_t after;
        void *block;
        CHECK(urEnqueueUSMDeviceAllocExp(turn, NULL, 1 << 20, NULL, before != NULL, before == NULL ? NULL : &before, &block, NULL));
        CHECK(urEnqueueUSMFreeExp(turn, NULL, block, 0, NULL, &after));
        if (before != NULL) CHECK(urEventRelease(before));
        before = after;
    }
}

/* Allocations that raise the pool's high-water mark, beside QUEUES queues that have used the pool. */
static void stream_ordered_more(void) {
    static int queues = -1;
    void *block;
    if (queues < 0) {
        queues = getenv("QUEUES") == NULL ? 100 : atoi(getenv("QUEUES"));
        for (int made = 0; made < queues; made++) {
            ur_queue_handle_t another;
            CHECK(urQueueCreate(context, device, NULL, &another));
            CHECK(urEnqueueUSMDeviceAllocExp(another, NULL, 512, NULL, 0, NULL, &block, NULL));
            CHECK(urEnqueueUSMFreeExp(another, NULL, block, 0, NULL, NULL));
        }
    }
    for (int call = 0; call < CALLS; call++)
        CHECK(urEnqueueUSMDeviceAllocExp(queue, NULL, 1 << 16, NULL, 0, NULL, &block, NULL));
}

static void plain_of(size_t size) {
    for (int call = 0; call < CALLS; call++) {
        void *block;
        CHECK(urUSMDeviceAlloc(context, device, NULL, NULL, size, &block));
        CHECK(urUSMFree(context, block));
    }
}

static void plain(void) { plain_of(4096); }

static void plain_64k(void) { plain_of(64 << 10); }

static void buffers(void) {
    for (int call = 0; call < CALLS; call++) {
        ur_mem_handle_t buffer;
        CHECK(urMemBufferCreate(context, UR_MEM_FLAG_READ_WRITE, 4096, NULL, &buffer));
        CHECK(urMemRelease(buffer));
    }
}

static ur_exp_command_buffer_handle_t recorded(const ur_kernel_handle_t what, uint32_t count, int length) {
    ur_exp_command_buffer_desc_t description = {UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC, NULL, false, false, false};
    ur_exp_command_buffer_handle_t buffer;
    ur_exp_command_buffer_sync_point_t point;
    CHECK(urCommandBufferCreateExp(context, device, &description, &buffer));
    for (int node = 0; node < length; node++)
        CHECK(urCommandBufferAppendKernelLaunchWithArgsExp(buffer, what, 1, NULL, &one, &one, count,
                                                           count == 0 ? NULL : arguments, 0, NULL, node > 0,
                                                           node > 0 ? &point : NULL, 0, NULL, &point, NULL, NULL));
    return buffer;
}

/* Creation, native handle (so that all nodes are made) and release are shared by the appends. */
static void record(const ur_kernel_handle_t what, uint32_t count) {
    ur_exp_command_buffer_handle_t buffer = recorded(what, count, APPENDS);
    ur_native_handle_t native;
    CHECK(urCommandBufferGetNativeHandleExp(buffer, &native));
    CHECK(urCommandBufferReleaseExp(buffer));
}

static void appends(void) { record(empty, 0); }

static void appends_of_three_arguments(void) { record(three, 3); }

static void graphs(void) {
    static ur_exp_command_buffer_handle_t buffer;
    if (buffer == NULL) {
        buffer = recorded(empty, 0, 1);
        CHECK(urCommandBufferFinalizeExp(buffer));
    }
    for (int call = 0; call < CALLS; call++) CHECK(urEnqueueCommandBufferExp(queue, buffer, 0, NULL, NULL));
}

/* From the queue to the other one, and what is there to hand over and to wait with. */
static void handovers(void) {
    static ur_ext_timeline_handle_t timeline;
    static uint64_t value;
    if (timeline == NULL) CHECK(urTimelineCreateExt(context, NULL, &timeline));
    for (int call = 0; call < CALLS; call++) {
        value++;
        launch(empty, 0, NULL, NULL);
        CHECK(urEnqueueTimelineSignalExt(queue, 1, &timeline, &value, 0, NULL, NULL));
        CHECK(urEnqueueTimelineWaitExt(other, 1, &timeline, &value, 0, NULL, NULL));
        CHECK(urEnqueueKernelLaunchWithArgsExp(other, empty, 1, NULL, &one, &one, 0, NULL, NULL, 0, NULL, NULL));
    }
    CHECK(urQueueFinish(other));
}

static const struct {
    const char *name;
    void (*round)(void);
} modes[] = {
    {"launch", launches},      {"launch3", launches_of_three_arguments},
    {"event", events},         {"chained", chained},
    {"copy", copies},          {"stream-ordered", stream_ordered},
    {"stream-ordered-events", stream_ordered_with_events},
    {"behind", stream_ordered_behind_the_other_queue}, {"more", stream_ordered_more},
    {"plain", plain},          {"plain_64k", plain_64k}, {"buffer", buffers},
    {"append", appends},       {"append3", appends_of_three_arguments},
    {"graph", graphs},         {"handover", handovers},
};

int main(int count, char **words) {
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    uint32_t value = 3;
    void (*round)(void) = NULL;
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
        if (count == 3 && strcmp(words[1], modes[mode].name) == 0) round = modes[mode].round;
        if (count != 3) printf("%s\n", modes[mode].name);
    }
    if (round == NULL) return EXIT_FAILURE;
    CHECK(urLoaderInit(0, NULL));
    CHECK(urAdapterGet(1, &adapter, NULL));
    CHECK(urPlatformGet(adapter, 1, &platform, NULL));
    CHECK(urDeviceGet(platform, UR_DEVICE_TYPE_GPU, 1, &device, NULL));
    CHECK(urContextCreate(1, &device, NULL, &context));
    CHECK(urQueueCreate(context, device, NULL, &queue));
    CHECK(urQueueCreate(context, device, NULL, &other));
    CHECK(urUSMDeviceAlloc(context, device, NULL, NULL, 1 << 20, &memory));
    CHECK(urUSMHostAlloc(context, NULL, NULL, 4096, &pinned));
    empty = kernel("empty");
    three = kernel("add_constant");
    for (uint32_t index = 0; index < 3; index++) {
        arguments[index].stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES;
        arguments[index].index = index;
        arguments[index].type = index == 0 ? UR_EXP_KERNEL_ARG_TYPE_POINTER : UR_EXP_KERNEL_ARG_TYPE_VALUE;
        arguments[index].size = index == 0 ? sizeof memory : sizeof value;
        if (index == 0) arguments[index].value.pointer = memory;
        else arguments[index].value.value = &value;
    }
    for (int rounds = atoi(words[2]); rounds > 0; rounds--) {
        round();
        CHECK(urQueueFinish(queue));
    }
    return EXIT_SUCCESS;
}
