//! The HIP runtime API as this adapter sees it: types, constants and the table of symbols.
//!
//! The library is opened at run time and every symbol is looked up once. Numbers carry the names of HIP's public
//! headers, so that a test can compare them with ROCm 5.2's and 7.1's (`header_tests`). Nothing here interprets a
//! status or decides when to call; nothing links against HIP.

mod boxes;
pub(crate) mod graphs;
mod status;

use core::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;
use ur_adapter::driver::native::external_layouts::{
    BufferDescriptor, MemoryDescriptor, SemaphoreDescriptor, SemaphoreParameters,
};
use ur_adapter::driver::native::image_layouts::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
use ur_adapter::driver::native::library::open_first;
use ur_adapter::driver::native::{Texts, status_text, text_of};
use ur_adapter::object::error::OpenError;

#[cfg(test)]
pub(crate) use boxes::Memcpy3DSide;
pub(crate) use boxes::{BoxTypes, Memcpy3D};
use graphs::{AttributeValue, BoxParams, HostNodeParams, KernelNodeParams, MemAllocNodeParams, MemsetParams};
pub(crate) use status::HipError;

ur_adapter::native_ordinals! {
    /// A device, which the runtime names by its ordinal; also what a thread has current.
    Ordinal;
}

ur_adapter::native_handles! {
    /// A stream; 0 is the legacy default stream.
    HipStream;
    /// An event, which belongs to the device that was current when it was made.
    HipEvent;
    /// A loaded module, which belongs to the device that was current when it was loaded.
    HipModule;
    /// A function of a module.
    HipFunction;
    /// A stream-ordered memory pool.
    HipMemPool;
    /// Physical memory, `hipMemGenericAllocationHandle_t`.
    HipPhysical;
    /// A graph.
    HipGraph;
    /// An executable graph.
    HipGraphExec;
    /// Imported memory of another API.
    HipExternalMemory;
    /// An imported semaphore of another API.
    HipExternalSemaphore;
    /// A node of a graph.
    HipGraphNode;
}

/// A device address; host and device see the same one.
pub(crate) type DevicePointer = usize;

/// Declares numbers by the header's names, and the list by which a test asks the headers. Those under `newer` are
/// not in ROCm 5.2's.
macro_rules! numbers {
    (
        $(#[$meta:meta])* $module:ident: $type:ty;
        all { $($name:ident = $value:literal,)* }
        newer { $($new_name:ident = $new_value:literal,)* }
    ) => {
        $(#[$meta])*
        #[allow(non_upper_case_globals, reason = "the header's own names")]
        pub(crate) mod $module {
            $(pub(crate) const $name: $type = $value;)*
            $(pub(crate) const $new_name: $type = $new_value;)*
            /// Name, number, and whether ROCm 5.2 has it.
            #[cfg(test)]
            pub(crate) const ALL: &[(&str, i64, bool)] = &[
                $((stringify!($name), $value, true),)*
                $((stringify!($new_name), $new_value, false),)*
            ];
        }
    };
}

numbers! {
    /// Flags and small enumerations.
    flag: u32;
    all {
        hipStreamNonBlocking = 1,
        hipEventDisableTiming = 2,
        hipEventInterprocess = 4,
        hipStreamWaitValueGte = 0,
        hipHostMallocPortable = 1,
        hipHostMallocMapped = 2,
        hipMemAttachGlobal = 1,
        hipMemcpyDefault = 4,
        hipMemAllocationTypePinned = 1,
        hipMemLocationTypeDevice = 1,
        hipMemAccessFlagsProtNone = 0,
        hipMemAccessFlagsProtRead = 1,
        hipMemAccessFlagsProtReadWrite = 3,
        hipHostRegisterPortable = 1,
        hipHostRegisterMapped = 2,
        hipMemAdviseSetReadMostly = 1,
        hipMemAdviseUnsetReadMostly = 2,
        hipMemAdviseSetPreferredLocation = 3,
        hipMemAdviseUnsetPreferredLocation = 4,
        hipMemAdviseSetAccessedBy = 5,
        hipMemAdviseUnsetAccessedBy = 6,
        hipMemAdviseSetCoarseGrain = 100,
        hipMemAdviseUnsetCoarseGrain = 101,
        hipDevP2PAttrNativeAtomicSupported = 2,
        hipMemHandleTypePosixFileDescriptor = 1,
        hipMemAllocationGranularityMinimum = 0,
        hipMemAllocationGranularityRecommended = 1,
        hipKernelNodeAttributeCooperative = 2,
    }
    newer {
        hipGraphDebugDotFlagsVerbose = 1,
    }
}

numbers! {
    /// A question about a function, `hipFunction_attribute`, and `hipFuncAttribute`, a limit to set.
    function: i32;
    all {
        HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
        HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        hipFuncAttributeMaxDynamicSharedMemorySize = 8,
    }
    newer {}
}

numbers! {
    /// A question about a device, `hipDeviceAttribute_t`. The numbers kept their meaning from ROCm 5.2 to 7.1.
    attribute: i32;
    all {
        hipDeviceAttributeEccEnabled = 0,
        hipDeviceAttributeCanMapHostMemory = 3,
        hipDeviceAttributeClockRate = 5,
        hipDeviceAttributeConcurrentManagedAccess = 9,
        hipDeviceAttributeCooperativeLaunch = 10,
        hipDeviceAttributeHostNativeAtomicSupported = 15,
        hipDeviceAttributeIntegrated = 16,
        hipDeviceAttributeL2CacheSize = 19,
        hipDeviceAttributeComputeCapabilityMajor = 23,
        hipDeviceAttributeManagedMemory = 24,
        hipDeviceAttributeMaxBlockDimX = 26,
        hipDeviceAttributeMaxGridDimX = 29,
        hipDeviceAttributeMaxTexture1DWidth = 39,
        hipDeviceAttributeMaxTexture1DLayered = 40,
        hipDeviceAttributeMaxTexture2DWidth = 43,
        hipDeviceAttributeMaxTexture2DHeight = 44,
        hipDeviceAttributeMaxTexture2DLayered = 46,
        hipDeviceAttributeMaxTexture3DWidth = 49,
        hipDeviceAttributeMaxTexture3DHeight = 50,
        hipDeviceAttributeMaxTexture3DDepth = 51,
        hipDeviceAttributeMaxThreadsPerBlock = 56,
        hipDeviceAttributeMaxPitch = 58,
        hipDeviceAttributeMemoryBusWidth = 59,
        hipDeviceAttributeMemoryClockRate = 60,
        hipDeviceAttributeComputeCapabilityMinor = 61,
        hipDeviceAttributeMultiprocessorCount = 63,
        hipDeviceAttributePageableMemoryAccess = 65,
        hipDeviceAttributePciBusId = 67,
        hipDeviceAttributePciDeviceId = 68,
        hipDeviceAttributePciDomainID = 69,
        hipDeviceAttributeMaxRegistersPerBlock = 71,
        hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
        hipDeviceAttributeSharedMemPerBlockOptin = 75,
        hipDeviceAttributeTexturePitchAlignment = 82,
        hipDeviceAttributeTotalConstantMemory = 83,
        hipDeviceAttributeUnifiedAddressing = 85,
        hipDeviceAttributeWarpSize = 87,
        hipDeviceAttributeMemoryPoolsSupported = 88,
        hipDeviceAttributeCanUseStreamWaitValue = 10013,
    }
    newer {
        hipDeviceAttributeVirtualMemoryManagementSupported = 89,
        hipDeviceAttributePciChipId = 10020,
    }
}

/// `hipMemoryType` before ROCm 6: two numbers that later mean "unregistered" and "host".
pub(crate) mod memory_type_5 {
    pub(crate) const HOST: i32 = 0;
    pub(crate) const DEVICE: i32 = 1;
    pub(crate) const ARRAY: i32 = 2;
}

/// `hipMemoryType` from ROCm 6 on.
pub(crate) mod memory_type_6 {
    pub(crate) const HOST: i32 = 1;
    pub(crate) const DEVICE: i32 = 2;
    pub(crate) const MANAGED: i32 = 3;
    pub(crate) const ARRAY: i32 = 10;
}

/// 16 bytes that name a device, `hipUUID`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Uuid(pub(crate) [u8; 16]);

/// `hipMemLocation`: where memory lies, or who reaches it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemLocation {
    pub(crate) kind: u32,
    pub(crate) device: Ordinal,
}

/// `hipMemPoolProps`. Before ROCm 6.2 the limit's bytes are reserved ones.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolProperties {
    pub(crate) allocation_type: u32,
    pub(crate) handle_types: u32,
    pub(crate) location: MemLocation,
    pub(crate) security_attributes: usize,
    pub(crate) max_size: usize,
    pub(crate) reserved: [u8; 56],
}

/// `hipMemAllocationProp`. ROCm 5.2 orders the members otherwise, and does not say that it has virtual memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhysicalProperties {
    pub(crate) allocation_type: u32,
    pub(crate) handle_types: u32,
    pub(crate) location: MemLocation,
    pub(crate) security_attributes: usize,
    pub(crate) flags: [u8; 8],
}

/// `hipIpcEventHandle_t`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpcEventHandle(pub(crate) [u8; 64]);

/// `hipIpcMemHandle_t`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpcMemHandle(pub(crate) [u8; 64]);

/// `hipCpuDeviceId`: the host.
pub(crate) const HOST: Ordinal = Ordinal(-1);
/// `hipIpcMemLazyEnablePeerAccess` before ROCm 6, and the only flags that are taken.
pub(crate) const IPC_LAZY_PEER_5: c_uint = 0;
/// The same from ROCm 6 on.
pub(crate) const IPC_LAZY_PEER_6: c_uint = 1;

/// `hipMemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemAccess {
    pub(crate) location: MemLocation,
    pub(crate) flags: u32,
}

/// `hipPointerAttribute_t`. The first member is called `memoryType` before ROCm 6 and `type` from then on, and its
/// numbers changed with the name.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PointerAttributes {
    pub(crate) memory_type: c_int,
    pub(crate) device: c_int,
    pub(crate) device_pointer: usize,
    pub(crate) host_pointer: usize,
    pub(crate) is_managed: c_int,
    pub(crate) allocation_flags: c_uint,
}

/// The members of `hipDeviceProp_tR0600` that no other call tells, each at its place.
#[repr(C, align(8))]
pub(crate) struct Properties0600 {
    pub(crate) name: [u8; 256],
    _to_arch_name: [u8; 904],
    pub(crate) gcn_arch_name: [u8; 256],
    _to_arch: [u8; 12],
    pub(crate) arch: u32,
    _rest: [u8; 40],
}

/// The same members of the layout before ROCm 6, which later headers call `hipDeviceProp_tR0000`.
#[repr(C, align(8))]
pub(crate) struct Properties0000 {
    pub(crate) name: [u8; 256],
    _to_arch: [u8; 100],
    pub(crate) arch: u32,
    _to_arch_name: [u8; 36],
    pub(crate) gcn_arch_name: [u8; 256],
    _rest: [u8; 140],
}

impl Properties0600 {
    /// All bytes 0.
    pub(crate) const fn new() -> Self {
        Self {
            name: [0; 256],
            _to_arch_name: [0; 904],
            gcn_arch_name: [0; 256],
            _to_arch: [0; 12],
            arch: 0,
            _rest: [0; 40],
        }
    }
}

impl Properties0000 {
    /// All bytes 0.
    pub(crate) const fn new() -> Self {
        Self {
            name: [0; 256],
            _to_arch: [0; 100],
            arch: 0,
            _to_arch_name: [0; 36],
            gcn_arch_name: [0; 256],
            _rest: [0; 140],
        }
    }
}

/// Bits of `hipDeviceArch_t`, in the order of its members.
pub(crate) mod arch {
    pub(crate) const GLOBAL_INT64_ATOMICS: u32 = 1 << 5;
    pub(crate) const DOUBLES: u32 = 1 << 7;
}

ur_adapter::symbol_table! {
    /// Every function of the runtime that the adapter calls. The required ones are in ROCm 5.2; the optional ones
    /// are `None` in libraries that lack them, and then only the feature that needs them is unsupported.
    Symbols in Library => HipError;
    required {
        init = "hipInit" (c_uint);
        runtime_version = "hipRuntimeGetVersion" (*mut c_int);

        device_count = "hipGetDeviceCount" (*mut c_int);
        device_current = "hipGetDevice" (*mut Ordinal);
        device_set = "hipSetDevice" (Ordinal);
        device_properties = "hipGetDeviceProperties" (*mut Properties0000, Ordinal);
        device_attribute = "hipDeviceGetAttribute" (*mut c_int, c_int, Ordinal);
        device_total_memory = "hipDeviceTotalMem" (*mut usize, Ordinal);
        device_uuid = "hipDeviceGetUuid" (*mut Uuid, Ordinal);
        device_can_access_peer = "hipDeviceCanAccessPeer" (*mut c_int, Ordinal, Ordinal);
        device_priority_range = "hipDeviceGetStreamPriorityRange" (*mut c_int, *mut c_int);

        stream_create = "hipStreamCreateWithPriority" (*mut HipStream, c_uint, c_int);
        stream_destroy = "hipStreamDestroy" (HipStream);
        stream_synchronize = "hipStreamSynchronize" (HipStream);
        stream_query = "hipStreamQuery" (HipStream);
        device_synchronize = "hipDeviceSynchronize" ();
        stream_wait_event = "hipStreamWaitEvent" (HipStream, HipEvent, c_uint);

        event_create = "hipEventCreateWithFlags" (*mut HipEvent, c_uint);
        event_destroy = "hipEventDestroy" (HipEvent);
        event_record = "hipEventRecord" (HipEvent, HipStream);
        event_query = "hipEventQuery" (HipEvent);
        event_synchronize = "hipEventSynchronize" (HipEvent);
        event_elapsed = "hipEventElapsedTime" (*mut f32, HipEvent, HipEvent);

        memory_info = "hipMemGetInfo" (*mut usize, *mut usize);
        memory_allocate = "hipMalloc" (*mut DevicePointer, usize);
        memory_allocate_host = "hipHostMalloc" (*mut DevicePointer, usize, c_uint);
        memory_allocate_managed = "hipMallocManaged" (*mut DevicePointer, usize, c_uint);
        memory_free = "hipFree" (DevicePointer);
        memory_free_host = "hipHostFree" (DevicePointer);
        pointer_attributes = "hipPointerGetAttributes" (*mut PointerAttributes, DevicePointer);
        pointer_range = "hipMemGetAddressRange" (*mut DevicePointer, *mut usize, DevicePointer);

        pool_create = "hipMemPoolCreate" (*mut HipMemPool, *const PoolProperties);
        pool_destroy = "hipMemPoolDestroy" (HipMemPool);
        pool_attribute = "hipMemPoolGetAttribute" (HipMemPool, c_int, *mut c_void);
        pool_set_attribute = "hipMemPoolSetAttribute" (HipMemPool, c_int, *mut c_void);
        pool_set_access = "hipMemPoolSetAccess" (HipMemPool, *const MemAccess, usize);
        pool_trim = "hipMemPoolTrimTo" (HipMemPool, usize);
        pool_allocate = "hipMallocFromPoolAsync" (*mut DevicePointer, usize, HipMemPool, HipStream);
        free_async = "hipFreeAsync" (DevicePointer, HipStream);

        memory_allocate_pitch = "hipMemAllocPitch" (*mut DevicePointer, *mut usize, usize, usize, c_uint);
        memory_register = "hipHostRegister" (DevicePointer, usize, c_uint);
        memory_unregister = "hipHostUnregister" (DevicePointer);
        memory_device_pointer = "hipHostGetDevicePointer" (*mut DevicePointer, DevicePointer, c_uint);
        memory_prefetch = "hipMemPrefetchAsync" (DevicePointer, usize, Ordinal, HipStream);
        memory_advise = "hipMemAdvise" (DevicePointer, usize, c_uint, Ordinal);
        ipc_get = "hipIpcGetMemHandle" (*mut IpcMemHandle, DevicePointer);
        ipc_open = "hipIpcOpenMemHandle" (*mut DevicePointer, IpcMemHandle, c_uint);
        ipc_close = "hipIpcCloseMemHandle" (DevicePointer);
        ipc_event_get = "hipIpcGetEventHandle" (*mut IpcEventHandle, HipEvent);
        ipc_event_open = "hipIpcOpenEventHandle" (*mut HipEvent, IpcEventHandle);
        peer_attribute = "hipDeviceGetP2PAttribute" (*mut c_int, c_uint, Ordinal, Ordinal);
        peer_enable = "hipDeviceEnablePeerAccess" (Ordinal, c_uint);
        peer_disable = "hipDeviceDisablePeerAccess" (Ordinal);

        granularity = "hipMemGetAllocationGranularity" (*mut usize, *const PhysicalProperties, c_uint);
        address_reserve = "hipMemAddressReserve" (*mut DevicePointer, usize, usize, DevicePointer, u64);
        address_free = "hipMemAddressFree" (DevicePointer, usize);
        physical_create = "hipMemCreate" (*mut HipPhysical, usize, *const PhysicalProperties, u64);
        physical_release = "hipMemRelease" (HipPhysical);
        physical_map = "hipMemMap" (DevicePointer, usize, usize, HipPhysical, u64);
        physical_unmap = "hipMemUnmap" (DevicePointer, usize);
        physical_set_access = "hipMemSetAccess" (DevicePointer, usize, *const MemAccess, usize);
        physical_access = "hipMemGetAccess" (*mut u64, *const MemLocation, DevicePointer);
        physical_export = "hipMemExportToShareableHandle" (*mut c_void, HipPhysical, c_uint, u64);
        physical_import = "hipMemImportFromShareableHandle" (*mut HipPhysical, *mut c_void, c_uint);

        copy_2d_async = "hipMemcpy2DAsync"
            (DevicePointer, usize, DevicePointer, usize, usize, usize, c_uint, HipStream);
        copy_async = "hipMemcpyAsync" (DevicePointer, DevicePointer, usize, c_uint, HipStream);
        copy_3d_async = "hipDrvMemcpy3DAsync" (*const c_void, HipStream);
        fill8_async = "hipMemsetD8Async" (DevicePointer, u8, usize, HipStream);
        fill16_async = "hipMemsetD16Async" (DevicePointer, u16, usize, HipStream);
        fill32_async = "hipMemsetD32Async" (DevicePointer, c_int, usize, HipStream);
        fill2d_async = "hipMemset2DAsync" (DevicePointer, usize, c_int, usize, usize, HipStream);

        array_create = "hipArray3DCreate" (*mut usize, *const ArrayDescriptor);
        array_destroy = "hipArrayDestroy" (usize);
        texture_create = "hipTexObjectCreate"
            (*mut u64, *const ResourceDescriptor, *const TextureDescriptor, *const c_void);
        texture_destroy = "hipTexObjectDestroy" (u64);

        module_load = "hipModuleLoadDataEx" (*mut HipModule, *const c_void, c_uint, *mut u32, *mut *mut c_void);
        module_unload = "hipModuleUnload" (HipModule);
        module_global = "hipModuleGetGlobal" (*mut DevicePointer, *mut usize, HipModule, *const c_char);
        module_function = "hipModuleGetFunction" (*mut HipFunction, HipModule, *const c_char);
        function_attribute = "hipFuncGetAttribute" (*mut c_int, c_int, HipFunction);
        function_set_attribute = "hipFuncSetAttribute" (HipFunction, c_int, c_int);
        occupancy_blocks = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"
            (*mut c_int, HipFunction, c_int, usize);
        occupancy_block_size = "hipModuleOccupancyMaxPotentialBlockSize"
            (*mut c_int, *mut c_int, HipFunction, usize, c_int);
        launch = "hipModuleLaunchKernel" (
            HipFunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, HipStream, *mut *mut c_void,
            *mut *mut c_void
        );

        graph_create = "hipGraphCreate" (*mut HipGraph, c_uint);
        graph_destroy = "hipGraphDestroy" (HipGraph);
        graph_destroy_node = "hipGraphDestroyNode" (HipGraphNode);
        graph_nodes = "hipGraphGetNodes" (HipGraph, *mut HipGraphNode, *mut usize);
        graph_edges = "hipGraphGetEdges" (HipGraph, *mut HipGraphNode, *mut HipGraphNode, *mut usize);
        graph_add_kernel = "hipGraphAddKernelNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, *const KernelNodeParams);
        graph_add_range = "hipGraphAddMemcpyNode1D" (
            *mut HipGraphNode, HipGraph, *const HipGraphNode, usize, DevicePointer, DevicePointer, usize, c_uint
        );
        graph_add_box = "hipGraphAddMemcpyNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, *const BoxParams);
        graph_add_fill = "hipGraphAddMemsetNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, *const MemsetParams);
        graph_add_empty = "hipGraphAddEmptyNode" (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize);
        graph_add_child = "hipGraphAddChildGraphNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, HipGraph);
        graph_add_host = "hipGraphAddHostNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, *const HostNodeParams);
        graph_add_record = "hipGraphAddEventRecordNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, HipEvent);
        graph_add_wait = "hipGraphAddEventWaitNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, HipEvent);
        graph_add_dependencies = "hipGraphAddDependencies"
            (HipGraph, *const HipGraphNode, *const HipGraphNode, usize);
        graph_instantiate = "hipGraphInstantiateWithFlags" (*mut HipGraphExec, HipGraph, u64);
        graph_launch = "hipGraphLaunch" (HipGraphExec, HipStream);
        exec_destroy = "hipGraphExecDestroy" (HipGraphExec);
        exec_set_kernel = "hipGraphExecKernelNodeSetParams" (HipGraphExec, HipGraphNode, *const KernelNodeParams);
        exec_set_range = "hipGraphExecMemcpyNodeSetParams1D"
            (HipGraphExec, HipGraphNode, DevicePointer, DevicePointer, usize, c_uint);
        exec_set_box = "hipGraphExecMemcpyNodeSetParams" (HipGraphExec, HipGraphNode, *const BoxParams);
        exec_set_fill = "hipGraphExecMemsetNodeSetParams" (HipGraphExec, HipGraphNode, *const MemsetParams);
        exec_set_record = "hipGraphExecEventRecordNodeSetEvent" (HipGraphExec, HipGraphNode, HipEvent);
        exec_set_wait = "hipGraphExecEventWaitNodeSetEvent" (HipGraphExec, HipGraphNode, HipEvent);
        capture_begin = "hipStreamBeginCapture" (HipStream, c_uint);
        capture_end = "hipStreamEndCapture" (HipStream, *mut HipGraph);
        capture_info = "hipStreamGetCaptureInfo_v2"
            (HipStream, *mut c_uint, *mut u64, *mut HipGraph, *mut *const HipGraphNode, *mut usize);
        capture_exchange_mode = "hipThreadExchangeStreamCaptureMode" (*mut c_uint);
    }
    optional {
        last_error = "hipGetLastError" ();
        launch_host_function = "hipLaunchHostFunc" (HipStream, unsafe extern "C" fn(*mut c_void), *mut c_void);
        stream_wait_value = "hipStreamWaitValue32" (HipStream, DevicePointer, u32, c_uint, u32);
        device_properties_0600 = "hipGetDevicePropertiesR0600" (*mut Properties0600, Ordinal);
        stream_device = "hipStreamGetDevice" (HipStream, *mut Ordinal);
        launch_cooperative = "hipModuleLaunchCooperativeKernel" (
            HipFunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, HipStream, *mut *mut c_void
        );
        function_by_symbol = "hipGetFuncBySymbol" (*mut HipFunction, *const c_void);
        surface_create = "hipCreateSurfaceObject" (*mut u64, *const ResourceDescriptor);
        surface_destroy = "hipDestroySurfaceObject" (u64);
        graph_dump = "hipGraphDebugDotPrint" (HipGraph, *const c_char, c_uint);
        graph_kernel_attribute = "hipGraphKernelNodeSetAttribute" (HipGraphNode, c_uint, *const AttributeValue);
        graph_add_allocation = "hipGraphAddMemAllocNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, *mut MemAllocNodeParams);
        graph_add_free = "hipGraphAddMemFreeNode"
            (*mut HipGraphNode, HipGraph, *const HipGraphNode, usize, DevicePointer);
        graph_upload = "hipGraphUpload" (HipGraphExec, HipStream);
        exec_enable = "hipGraphNodeSetEnabled" (HipGraphExec, HipGraphNode, c_uint);
        capture_set_dependencies = "hipStreamUpdateCaptureDependencies" (HipStream, *mut HipGraphNode, usize, c_uint);
        capture_begin_into = "hipStreamBeginCaptureToGraph"
            (HipStream, HipGraph, *const HipGraphNode, *const c_void, usize, c_uint);

        external_memory_import = "hipImportExternalMemory" (*mut HipExternalMemory, *const MemoryDescriptor);
        external_memory_map = "hipExternalMemoryGetMappedBuffer"
            (*mut DevicePointer, HipExternalMemory, *const BufferDescriptor);
        external_memory_destroy = "hipDestroyExternalMemory" (HipExternalMemory);
        external_semaphore_import = "hipImportExternalSemaphore"
            (*mut HipExternalSemaphore, *const SemaphoreDescriptor);
        external_semaphore_destroy = "hipDestroyExternalSemaphore" (HipExternalSemaphore);
        external_semaphore_wait = "hipWaitExternalSemaphoresAsync"
            (*const HipExternalSemaphore, *const SemaphoreParameters, c_uint, HipStream);
        external_semaphore_signal = "hipSignalExternalSemaphoresAsync"
            (*const HipExternalSemaphore, *const SemaphoreParameters, c_uint, HipStream);
    }
    returning *const c_char {
        function_name = "hipKernelNameRef" (HipFunction);
        error_name = "hipGetErrorName" (HipError);
        error_string = "hipGetErrorString" (HipError);
    }
}

/// The variable that names another library to open.
pub(crate) const LIBRARY_VARIABLE: &str = "UR_HIP_LIBRARY";

/// The libraries of ROCm 7, 6 and 5, newest first.
pub(crate) const DEFAULT_LIBRARIES: &[&str] =
    if cfg!(windows) { &["amdhip64.dll"] } else { &["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"] };

/// Opens the library that the environment names, or the newest that is installed; returns its name too.
///
/// # Errors
/// As [`open_first`].
pub(crate) fn open() -> Result<(Symbols, String), OpenError> {
    open_first(LIBRARY_VARIABLE, DEFAULT_LIBRARIES, |name| Symbols::open(name, LIBRARY_VARIABLE))
}

impl Texts for Symbols {
    type Status = HipError;

    #[cold]
    fn text(&self, status: HipError) -> String {
        // SAFETY: both symbols have the API's signature; their strings are static, NUL-terminated or null.
        let of = |function: unsafe extern "C" fn(HipError) -> *const c_char| unsafe { text_of(function(status)) };
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        status_text(some(of(self.error_name)), some(of(self.error_string)))
    }

    /// From ROCm 7 on `hipGetLastError` answers the thread's last failure whatever succeeded since, and libraries beside the
    /// adapter look there after their launches.
    #[cold]
    fn forget_failure(&self) {
        if let Some(take) = self.last_error {
            // SAFETY: the symbol has the API's signature and no argument.
            let _ = unsafe { take() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HipError, LIBRARY_VARIABLE, Symbols, Texts as _};

    #[test]
    fn the_symbols_of_rocm_6_may_be_missing() {
        let symbols = over_a_fake();
        assert!(symbols.device_properties_0600.is_none() && symbols.surface_create.is_none());
        assert_eq!(symbols.text(HipError(12345)), "a status that this driver has no text for");
    }

    ur_adapter::opening_tests!(Symbols, LIBRARY_VARIABLE);
}
