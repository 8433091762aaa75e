//! What this engine can do so far: the one list that turns on answers as features arrive.
//!
//! Whoever implements a feature flips its line here and nowhere else; each group combines a line with what the
//! hardware has.

/// Features of the engine that a device property tells of.
pub(super) struct Implemented {
    /// `urMemImageCreate` and sampled images as kernel arguments.
    pub images: bool,
    /// `urBindlessImages*`: creating, copying and sampling images by handle.
    pub bindless_images: bool,
    /// Importing memory of another API, `urBindlessImagesImportExternalMemoryExp`.
    pub external_memory: bool,
    /// Importing semaphores of another API.
    pub external_semaphores: bool,
    /// Exporting device memory to another API, `urMemoryExport*`.
    pub memory_export: bool,
    /// `urEnqueueUSM*AllocExp` and `urEnqueueUSMFreeExp`.
    pub async_allocations: bool,
    /// `urUSMPoolCreate` and allocations from such a pool.
    pub usm_pools: bool,
    /// `urUsmP2P*`.
    pub peer_to_peer: bool,
    /// `urUSMContextMemcpyExp`.
    pub context_memcpy: bool,
    /// `urUSMHostAllocRegisterExp`.
    pub host_registration: bool,
    /// `urVirtualMem*` and `urPhysicalMem*`.
    pub virtual_memory: bool,
    /// `urIPC*` on USM allocations.
    pub ipc_memory: bool,
    /// `urIPC*` on physical memory.
    pub ipc_physical_memory: bool,
    /// `urIPC*` on events.
    pub ipc_events: bool,
    /// `urEnqueueDeviceGlobalVariable*`.
    pub global_variables: bool,
    /// `urCommandBuffer*`.
    pub command_buffers: bool,
    /// Events of commands in a command buffer.
    pub command_buffer_events: bool,
    /// `urGraph*` and `urQueueBeginGraphCapture*`.
    pub graph_capture: bool,
    /// `urEnqueueTimestampRecordingExp`.
    pub timestamp_recording: bool,
    /// `urEnqueueNativeCommandExp`.
    pub native_commands: bool,
    /// `urEnqueueHostTaskExp`.
    pub host_tasks: bool,
    /// `urEventCreateExp`.
    pub reusable_events: bool,
    /// Profiling of single events on a queue without profiling.
    pub per_event_profiling: bool,
    /// `urDeviceWaitExp`.
    pub device_wait: bool,
    /// `urProgramLink`.
    pub program_link: bool,
    /// `urProgramDynamicLinkExp`.
    pub dynamic_link: bool,
    /// `urProgramBuildExp` and its kin for a list of devices.
    pub multi_device_compile: bool,
    /// `UR_KERNEL_LAUNCH_FLAG_COOPERATIVE`.
    pub cooperative_launch: bool,
    /// A launch's cluster dimensions.
    pub cluster_launch: bool,
    /// A launch's own amount of work-group memory.
    pub launch_work_group_memory: bool,
    /// Launches that overlap with the end of the kernel before them.
    pub launch_overlap: bool,
}

/// The features as they are.
pub(super) const IMPLEMENTED: Implemented = Implemented {
    images: true,
    bindless_images: false,
    external_memory: true,
    external_semaphores: true,
    memory_export: true,
    async_allocations: true,
    usm_pools: true,
    peer_to_peer: true,
    context_memcpy: true,
    host_registration: true,
    virtual_memory: true,
    ipc_memory: true,
    ipc_physical_memory: true,
    ipc_events: true,
    global_variables: true,
    command_buffers: true,
    command_buffer_events: true,
    graph_capture: true,
    timestamp_recording: true,
    native_commands: true,
    host_tasks: true,
    reusable_events: true,
    per_event_profiling: true,
    device_wait: true,
    program_link: true,
    dynamic_link: false,
    multi_device_compile: true,
    cooperative_launch: true,
    cluster_launch: true,
    launch_work_group_memory: true,
    launch_overlap: false,
};
