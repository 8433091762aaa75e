//! The CUDA driver API as this adapter sees it: types, constants and the table of symbols.
//!
//! The library is opened at run time and every symbol is looked up once, by the versioned name that `libcuda`
//! exports. Nothing here interprets a status or decides when to call; nothing links against CUDA.

pub(crate) mod graphs;
mod status;

use core::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;
use ur_adapter::driver::LaunchShape;
use ur_adapter::driver::images::BoxSide;
use ur_adapter::driver::native::external_layouts::{
    BufferDescriptor, MemoryDescriptor, SemaphoreDescriptor, SemaphoreParameters,
};
use ur_adapter::driver::native::image_layouts::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
use ur_adapter::driver::native::library::open_first;
use ur_adapter::driver::native::{Texts, status_text, text_of};
use ur_adapter::object::error::OpenError;

use graphs::{HostNodeParams, KernelNodeParams, MemAllocNodeParams, MemsetNodeParams, UpdateResultInfo};
pub(crate) use status::CUresult;

ur_adapter::native_ordinals! {
    /// A device, which the driver names by its ordinal.
    CUdevice;
}

ur_adapter::native_handles! {
    /// A context; 0 is "none current".
    CUcontext;
    /// A stream; 0 is the default stream.
    CUstream;
    /// An event.
    CUevent;
    /// A loaded module.
    CUmodule;
    /// A function of a module.
    CUfunction;
    /// A stream-ordered memory pool.
    CUmemoryPool;
    /// Physical memory, `CUmemGenericAllocationHandle`.
    CUphysical;
    /// A linker at work.
    CUlinkState;
    /// A graph.
    CUgraph;
    /// An executable graph.
    CUgraphExec;
    /// Imported memory of another API.
    CUexternalMemory;
    /// An imported semaphore of another API.
    CUexternalSemaphore;
    /// A node of a graph.
    CUgraphNode;
}

/// A device address.
pub(crate) type CUdeviceptr = usize;

/// 16 bytes that name a device.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct CUuuid(pub(crate) [u8; 16]);

/// `CUmemLocation`: where memory lies, or who reaches it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CUmemLocation {
    pub(crate) kind: c_int,
    pub(crate) id: c_int,
}

/// `CUmemPoolProps`. What a release adds takes from the reserved bytes: `maxSize` came with CUDA 12.2.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUmemPoolProps {
    pub(crate) allocation_type: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: CUmemLocation,
    pub(crate) security_attributes: *mut c_void,
    pub(crate) max_size: usize,
    pub(crate) reserved: [u8; 56],
}

const _: () = assert!(size_of::<CUmemPoolProps>() == 88);

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUmemAccessDesc {
    pub(crate) location: CUmemLocation,
    pub(crate) flags: c_int,
}

/// One side of `CUDA_MEMCPY3D`, whose members are the same for both.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memcpy3DSide {
    x_in_bytes: usize,
    y: usize,
    z: usize,
    lod: usize,
    memory_type: c_uint,
    host: usize,
    device: CUdeviceptr,
    array: usize,
    reserved: usize,
    pitch: usize,
    height: usize,
}

impl From<BoxSide> for Memcpy3DSide {
    fn from(side: BoxSide) -> Self {
        let side = match side {
            BoxSide::Array { array, origin: [x_in_bytes, y, z] } => {
                return Self { x_in_bytes, y, z, memory_type: MEMORY_TYPE_ARRAY, array, ..Self::default() };
            }
            BoxSide::Memory(side) => side,
        };
        // The driver may not know memory of the process, so that has to be called the host's.
        let (memory_type, host, device) = if side.of_process {
            (MEMORY_TYPE_HOST as c_uint, side.address, 0)
        } else {
            (MEMORY_TYPE_UNIFIED, 0, side.address)
        };
        let (pitch, height) = (side.row_pitch, side.slice_pitch / side.row_pitch);
        Self { memory_type, host, device, pitch, height, ..Self::default() }
    }
}

impl Memcpy3DSide {
    /// Bytes that follow each other, at any address that the driver can reach.
    pub(crate) fn bytes(address: CUdeviceptr) -> Self {
        Self { memory_type: MEMORY_TYPE_UNIFIED, device: address, ..Self::default() }
    }
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memcpy3D {
    pub(crate) src: Memcpy3DSide,
    pub(crate) dst: Memcpy3DSide,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

const _: () = assert!(size_of::<Memcpy3D>() == 200);

/// The signature of the callback that tells a block size's dynamic memory; this adapter passes none.
pub(crate) type CUoccupancyB2DSize = Option<unsafe extern "C" fn(c_int) -> usize>;

/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DEFAULT`: with timing.
pub(crate) const EVENT_DEFAULT: c_uint = 0;
/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const EVENT_DISABLE_TIMING: c_uint = 2;
/// `CU_EVENT_INTERPROCESS`, of events without timing.
pub(crate) const EVENT_INTERPROCESS: c_uint = 4;
/// `CU_STREAM_WAIT_VALUE_GEQ`.
pub(crate) const WAIT_VALUE_AT_LEAST: c_uint = 0;
/// `CU_EVENT_WAIT_DEFAULT`.
pub(crate) const EVENT_WAIT_DEFAULT: c_uint = 0;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
pub(crate) const HOST_ALLOC_PORTABLE_MAPPED: c_uint = 1 | 2;
/// `CU_MEM_ATTACH_GLOBAL`.
pub(crate) const MEM_ATTACH_GLOBAL: c_uint = 1;
/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUmemAllocationProp {
    pub(crate) allocation_type: c_int,
    pub(crate) handle_types: c_int,
    pub(crate) location: CUmemLocation,
    pub(crate) security_attributes: *mut c_void,
    pub(crate) flags: [u8; 8],
}

const _: () = assert!(size_of::<CUmemAllocationProp>() == 32);

/// `CUipcEventHandle`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CUipcEventHandle(pub(crate) [u8; 64]);

/// `CUipcMemHandle`, which is passed by value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CUipcMemHandle(pub(crate) [u8; 64]);

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CudaMemcpy2D {
    pub(crate) from_x: usize,
    pub(crate) from_y: usize,
    pub(crate) from_type: c_uint,
    pub(crate) from_host: usize,
    pub(crate) from_device: CUdeviceptr,
    pub(crate) from_array: usize,
    pub(crate) from_pitch: usize,
    pub(crate) to_x: usize,
    pub(crate) to_y: usize,
    pub(crate) to_type: c_uint,
    pub(crate) to_host: usize,
    pub(crate) to_device: CUdeviceptr,
    pub(crate) to_array: usize,
    pub(crate) to_pitch: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

const _: () = assert!(size_of::<CudaMemcpy2D>() == 128);

/// `CU_MEMORYTYPE_UNIFIED`: any pointer; the driver finds out what it is.
pub(crate) const MEMORY_TYPE_UNIFIED: c_uint = 4;
/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
pub(crate) const REGISTER_PORTABLE_MAPPED: c_uint = 1 | 2;
/// `CU_MEMHOSTREGISTER_READ_ONLY`.
pub(crate) const REGISTER_READ_ONLY: c_uint = 8;
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
pub(crate) const IPC_LAZY_PEER: c_uint = 1;
/// `CU_DEVICE_CPU`.
pub(crate) const DEVICE_CPU: CUdevice = CUdevice(-1);
/// `CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED`.
pub(crate) const P2P_NATIVE_ATOMICS: c_int = 3;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
pub(crate) const HANDLE_POSIX: c_int = 1;
/// `CU_MEM_ACCESS_FLAGS_PROT_NONE`.
pub(crate) const ACCESS_NONE: c_int = 0;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ`.
pub(crate) const ACCESS_READ: c_int = 1;

/// `CUmem_advise`.
pub(crate) mod advice {
    pub(crate) const SET_READ_MOSTLY: i32 = 1;
    pub(crate) const UNSET_READ_MOSTLY: i32 = 2;
    pub(crate) const SET_PREFERRED_LOCATION: i32 = 3;
    pub(crate) const UNSET_PREFERRED_LOCATION: i32 = 4;
    pub(crate) const SET_ACCESSED_BY: i32 = 5;
    pub(crate) const UNSET_ACCESSED_BY: i32 = 6;
}

/// `CU_MEM_ALLOCATION_TYPE_PINNED`.
pub(crate) const ALLOCATION_PINNED: c_int = 1;
/// `CU_MEM_ALLOCATION_TYPE_MANAGED`, of pools since CUDA 13.0.
pub(crate) const ALLOCATION_MANAGED: c_int = 2;
/// `CU_MEM_LOCATION_TYPE_DEVICE`.
pub(crate) const LOCATION_DEVICE: c_int = 1;
/// `CU_MEM_LOCATION_TYPE_HOST`, of pools since CUDA 12.6.
pub(crate) const LOCATION_HOST: c_int = 2;
/// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
pub(crate) const ACCESS_READ_WRITE: c_int = 3;
/// `CU_MEMORYTYPE_HOST`.
pub(crate) const MEMORY_TYPE_HOST: u64 = 1;
/// `CU_MEMORYTYPE_DEVICE`.
pub(crate) const MEMORY_TYPE_DEVICE: u64 = 2;

/// `CU_MEMORYTYPE_ARRAY`.
pub(crate) const MEMORY_TYPE_ARRAY: c_uint = 3;

/// A question about a pointer, `CUpointer_attribute`.
pub(crate) mod pointer {
    pub(crate) const MEMORY_TYPE: u32 = 2;
    pub(crate) const IS_MANAGED: u32 = 8;
    pub(crate) const DEVICE_ORDINAL: u32 = 9;
    pub(crate) const RANGE_START: u32 = 11;
    pub(crate) const RANGE_SIZE: u32 = 12;
    /// Known since CUDA 11.3.
    pub(crate) const POOL: u32 = 17;
}

/// A question about a function, `CUfunction_attribute`.
pub(crate) mod function {
    pub(crate) const MAX_THREADS_PER_BLOCK: i32 = 0;
    pub(crate) const SHARED_SIZE: i32 = 1;
    pub(crate) const CONST_SIZE: i32 = 2;
    pub(crate) const LOCAL_SIZE: i32 = 3;
    pub(crate) const REGISTERS: i32 = 4;
    pub(crate) const BINARY_VERSION: i32 = 6;
    pub(crate) const MAX_DYNAMIC_SHARED: i32 = 8;
    pub(crate) const NON_PORTABLE_CLUSTERS: i32 = 14;
}

/// What an image is, `CUjitInputType`.
pub(crate) mod input {
    pub(crate) const CUBIN: c_uint = 0;
    pub(crate) const PTX: c_uint = 1;
    pub(crate) const FATBINARY: c_uint = 2;
    use core::ffi::c_uint;
}

/// `CUfunc_cache`.
pub(crate) mod cache {
    pub(crate) const PREFER_NONE: i32 = 0;
    pub(crate) const PREFER_SHARED: i32 = 1;
    pub(crate) const PREFER_L1: i32 = 2;
}

/// What a launch's attribute is about, `CUlaunchAttributeID`.
pub(crate) mod launch_attribute {
    pub(crate) const COOPERATIVE: u32 = 2;
    pub(crate) const CLUSTER_DIMENSION: u32 = 4;
}

/// `CUlaunchAttribute`: a number and 64 bytes of value.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub(crate) struct CUlaunchAttribute {
    pub(crate) id: c_uint,
    _pad: [u8; 4],
    pub(crate) value: [u32; 16],
}

impl CUlaunchAttribute {
    /// An attribute whose value begins with these words.
    pub(crate) fn new(id: c_uint, words: &[u32]) -> Self {
        let mut value = [0; 16];
        value[..words.len()].copy_from_slice(words);
        Self { id, _pad: [0; 4], value }
    }
}

/// `CUlaunchConfig`.
#[repr(C)]
pub(crate) struct CUlaunchConfig {
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared: c_uint,
    pub(crate) stream: CUstream,
    pub(crate) attributes: *const CUlaunchAttribute,
    pub(crate) count: c_uint,
}

impl CUlaunchConfig {
    /// A launch of that shape; valid for as long as the attributes are.
    #[inline(always)]
    pub(crate) fn of(shape: LaunchShape, stream: CUstream, attributes: &[CUlaunchAttribute]) -> Self {
        Self {
            grid: shape.grid,
            block: shape.block,
            shared: shape.dynamic_shared,
            stream,
            attributes: attributes.as_ptr(),
            count: attributes.len() as c_uint,
        }
    }
}

const _: () = assert!(size_of::<CUlaunchAttribute>() == 72 && size_of::<CUlaunchConfig>() == 56);

ur_adapter::symbol_table! {
    /// Every function of the driver that the adapter calls. The optional ones are `None` in drivers that
    /// lack them, and then only the feature that needs them is unsupported.
    Symbols in Library => CUresult;
    required {
        init = "cuInit" (c_uint);
        driver_version = "cuDriverGetVersion" (*mut c_int);
        error_name = "cuGetErrorName" (CUresult, *mut *const c_char);
        error_string = "cuGetErrorString" (CUresult, *mut *const c_char);

        device_count = "cuDeviceGetCount" (*mut c_int);
        device_get = "cuDeviceGet" (*mut CUdevice, c_int);
        device_name = "cuDeviceGetName" (*mut c_char, c_int, CUdevice);
        device_total_memory = "cuDeviceTotalMem_v2" (*mut usize, CUdevice);
        device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, CUdevice);
        device_can_access_peer = "cuDeviceCanAccessPeer" (*mut c_int, CUdevice, CUdevice);
        primary_context_retain = "cuDevicePrimaryCtxRetain" (*mut CUcontext, CUdevice);
        primary_context_release = "cuDevicePrimaryCtxRelease_v2" (CUdevice);

        primary_context_state = "cuDevicePrimaryCtxGetState" (CUdevice, *mut c_uint, *mut c_int);

        context_current = "cuCtxGetCurrent" (*mut CUcontext);
        context_set_current = "cuCtxSetCurrent" (CUcontext);
        context_priority_range = "cuCtxGetStreamPriorityRange" (*mut c_int, *mut c_int);

        stream_create = "cuStreamCreateWithPriority" (*mut CUstream, c_uint, c_int);
        stream_destroy = "cuStreamDestroy_v2" (CUstream);
        stream_synchronize = "cuStreamSynchronize" (CUstream);
        stream_query = "cuStreamQuery" (CUstream);
        launch_host_function = "cuLaunchHostFunc" (CUstream, unsafe extern "C" fn(*mut c_void), *mut c_void);
        context_synchronize = "cuCtxSynchronize" ();
        stream_wait_event = "cuStreamWaitEvent" (CUstream, CUevent, c_uint);
        stream_context = "cuStreamGetCtx" (CUstream, *mut CUcontext);

        event_create = "cuEventCreate" (*mut CUevent, c_uint);
        event_destroy = "cuEventDestroy_v2" (CUevent);
        event_record = "cuEventRecord" (CUevent, CUstream);
        event_query = "cuEventQuery" (CUevent);
        event_synchronize = "cuEventSynchronize" (CUevent);
        event_elapsed = "cuEventElapsedTime" (*mut f32, CUevent, CUevent);

        memory_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
        memory_allocate = "cuMemAlloc_v2" (*mut CUdeviceptr, usize);
        memory_allocate_host = "cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
        memory_allocate_managed = "cuMemAllocManaged" (*mut CUdeviceptr, usize, c_uint);
        memory_free = "cuMemFree_v2" (CUdeviceptr);
        memory_free_host = "cuMemFreeHost" (*mut c_void);
        pointer_attributes = "cuPointerGetAttributes" (c_uint, *const u32, *mut *mut c_void, CUdeviceptr);

        pool_create = "cuMemPoolCreate" (*mut CUmemoryPool, *const CUmemPoolProps);
        pool_destroy = "cuMemPoolDestroy" (CUmemoryPool);
        pool_attribute = "cuMemPoolGetAttribute" (CUmemoryPool, c_int, *mut c_void);
        pool_set_attribute = "cuMemPoolSetAttribute" (CUmemoryPool, c_int, *mut c_void);
        pool_set_access = "cuMemPoolSetAccess" (CUmemoryPool, *const CUmemAccessDesc, usize);
        pool_trim = "cuMemPoolTrimTo" (CUmemoryPool, usize);
        pool_allocate = "cuMemAllocFromPoolAsync" (*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
        free_async = "cuMemFreeAsync" (CUdeviceptr, CUstream);

        memory_allocate_pitch = "cuMemAllocPitch_v2" (*mut CUdeviceptr, *mut usize, usize, usize, c_uint);
        memory_register = "cuMemHostRegister_v2" (CUdeviceptr, usize, c_uint);
        memory_unregister = "cuMemHostUnregister" (CUdeviceptr);
        memory_prefetch = "cuMemPrefetchAsync" (CUdeviceptr, usize, CUdevice, CUstream);
        memory_advise = "cuMemAdvise" (CUdeviceptr, usize, c_int, CUdevice);
        ipc_get = "cuIpcGetMemHandle" (*mut CUipcMemHandle, CUdeviceptr);
        ipc_open = "cuIpcOpenMemHandle_v2" (*mut CUdeviceptr, CUipcMemHandle, c_uint);
        ipc_close = "cuIpcCloseMemHandle" (CUdeviceptr);
        ipc_event_get = "cuIpcGetEventHandle" (*mut CUipcEventHandle, CUevent);
        ipc_event_open = "cuIpcOpenEventHandle" (*mut CUevent, CUipcEventHandle);
        peer_attribute = "cuDeviceGetP2PAttribute" (*mut c_int, c_int, CUdevice, CUdevice);
        peer_enable = "cuCtxEnablePeerAccess" (CUcontext, c_uint);
        peer_disable = "cuCtxDisablePeerAccess" (CUcontext);

        granularity = "cuMemGetAllocationGranularity" (*mut usize, *const CUmemAllocationProp, c_int);
        address_reserve = "cuMemAddressReserve" (*mut CUdeviceptr, usize, usize, CUdeviceptr, u64);
        address_free = "cuMemAddressFree" (CUdeviceptr, usize);
        physical_create = "cuMemCreate" (*mut CUphysical, usize, *const CUmemAllocationProp, u64);
        physical_release = "cuMemRelease" (CUphysical);
        physical_map = "cuMemMap" (CUdeviceptr, usize, usize, CUphysical, u64);
        physical_unmap = "cuMemUnmap" (CUdeviceptr, usize);
        physical_set_access = "cuMemSetAccess" (CUdeviceptr, usize, *const CUmemAccessDesc, usize);
        physical_access = "cuMemGetAccess" (*mut u64, *const CUmemLocation, CUdeviceptr);
        physical_export = "cuMemExportToShareableHandle" (*mut c_void, CUphysical, c_int, u64);
        physical_import = "cuMemImportFromShareableHandle" (*mut CUphysical, *mut c_void, c_int);

        copy_2d_async = "cuMemcpy2DAsync_v2" (*const CudaMemcpy2D, CUstream);
        copy_async = "cuMemcpyAsync" (CUdeviceptr, CUdeviceptr, usize, CUstream);
        copy_3d_async = "cuMemcpy3DAsync_v2" (*const Memcpy3D, CUstream);
        fill8_async = "cuMemsetD8Async" (CUdeviceptr, u8, usize, CUstream);
        fill16_async = "cuMemsetD16Async" (CUdeviceptr, u16, usize, CUstream);
        fill32_async = "cuMemsetD32Async" (CUdeviceptr, u32, usize, CUstream);
        fill2d8_async = "cuMemsetD2D8Async" (CUdeviceptr, usize, u8, usize, usize, CUstream);
        fill2d16_async = "cuMemsetD2D16Async" (CUdeviceptr, usize, u16, usize, usize, CUstream);
        fill2d32_async = "cuMemsetD2D32Async" (CUdeviceptr, usize, u32, usize, usize, CUstream);

        array_create = "cuArray3DCreate_v2" (*mut usize, *const ArrayDescriptor);
        array_destroy = "cuArrayDestroy" (usize);
        surface_create = "cuSurfObjectCreate" (*mut u64, *const ResourceDescriptor);
        surface_destroy = "cuSurfObjectDestroy" (u64);
        texture_create = "cuTexObjectCreate"
            (*mut u64, *const ResourceDescriptor, *const TextureDescriptor, *const c_void);
        texture_destroy = "cuTexObjectDestroy" (u64);

        module_load = "cuModuleLoadDataEx" (*mut CUmodule, *const c_void, c_uint, *mut u32, *mut *mut c_void);
        module_unload = "cuModuleUnload" (CUmodule);
        module_global = "cuModuleGetGlobal_v2" (*mut CUdeviceptr, *mut usize, CUmodule, *const c_char);
        link_create = "cuLinkCreate_v2" (c_uint, *mut u32, *mut *mut c_void, *mut CUlinkState);
        link_add = "cuLinkAddData_v2" (
            CUlinkState, c_uint, *const c_void, usize, *const c_char, c_uint, *mut u32, *mut *mut c_void
        );
        link_complete = "cuLinkComplete" (CUlinkState, *mut *mut c_void, *mut usize);
        link_destroy = "cuLinkDestroy" (CUlinkState);
        module_function = "cuModuleGetFunction" (*mut CUfunction, CUmodule, *const c_char);
        function_attribute = "cuFuncGetAttribute" (*mut c_int, c_int, CUfunction);
        function_set_attribute = "cuFuncSetAttribute" (CUfunction, c_int, c_int);
        function_set_cache = "cuFuncSetCacheConfig" (CUfunction, c_int);
        occupancy_blocks = "cuOccupancyMaxActiveBlocksPerMultiprocessor" (*mut c_int, CUfunction, c_int, usize);
        occupancy_block_size = "cuOccupancyMaxPotentialBlockSize"
            (*mut c_int, *mut c_int, CUfunction, CUoccupancyB2DSize, usize, c_int);
        launch = "cuLaunchKernel" (
            CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void,
            *mut *mut c_void
        );
        launch_cooperative = "cuLaunchCooperativeKernel" (
            CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void
        );

        graph_create = "cuGraphCreate" (*mut CUgraph, c_uint);
        graph_destroy = "cuGraphDestroy" (CUgraph);
        graph_nodes = "cuGraphGetNodes" (CUgraph, *mut CUgraphNode, *mut usize);
        graph_add_kernel = "cuGraphAddKernelNode_v2"
            (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const KernelNodeParams);
        graph_add_copy = "cuGraphAddMemcpyNode"
            (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const Memcpy3D, CUcontext);
        graph_add_fill = "cuGraphAddMemsetNode"
            (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const MemsetNodeParams, CUcontext);
        graph_add_empty = "cuGraphAddEmptyNode" (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize);
        graph_add_child = "cuGraphAddChildGraphNode" (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, CUgraph);
        graph_add_host = "cuGraphAddHostNode"
            (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const HostNodeParams);
        graph_destroy_node = "cuGraphDestroyNode" (CUgraphNode);
        graph_add_dependencies = "cuGraphAddDependencies" (CUgraph, *const CUgraphNode, *const CUgraphNode, usize);
        graph_instantiate = "cuGraphInstantiateWithFlags" (*mut CUgraphExec, CUgraph, u64);
        graph_exec_destroy = "cuGraphExecDestroy" (CUgraphExec);
        graph_launch = "cuGraphLaunch" (CUgraphExec, CUstream);
        graph_upload = "cuGraphUpload" (CUgraphExec, CUstream);
    }
    optional {
        device_uuid = "cuDeviceGetUuid" (*mut CUuuid, CUdevice);
        device_uuid_v2 = "cuDeviceGetUuid_v2" (*mut CUuuid, CUdevice);
        stream_wait_value = "cuStreamWaitValue32_v2" (CUstream, CUdeviceptr, u32, c_uint);
        event_elapsed_v2 = "cuEventElapsedTime_v2" (*mut f32, CUevent, CUevent);
        function_parameter = "cuFuncGetParamInfo" (CUfunction, usize, *mut usize, *mut usize);
        function_module = "cuFuncGetModule" (*mut CUmodule, CUfunction);
        function_name = "cuFuncGetName" (*mut *const c_char, CUfunction);
        module_function_count = "cuModuleGetFunctionCount" (*mut c_uint, CUmodule);
        module_functions = "cuModuleEnumerateFunctions" (*mut CUfunction, c_uint, CUmodule);
        launch_extended = "cuLaunchKernelEx"
            (*const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void);

        graph_edges = "cuGraphGetEdges" (CUgraph, *mut CUgraphNode, *mut CUgraphNode, *mut usize);
        graph_dump = "cuGraphDebugDotPrint" (CUgraph, *const c_char, c_uint);
        graph_kernel_attribute = "cuGraphKernelNodeSetAttribute" (CUgraphNode, c_uint, *const c_void);
        graph_add_record = "cuGraphAddEventRecordNode"
            (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, CUevent);
        graph_add_wait = "cuGraphAddEventWaitNode" (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, CUevent);
        graph_add_allocation = "cuGraphAddMemAllocNode"
            (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *mut MemAllocNodeParams);
        graph_add_free = "cuGraphAddMemFreeNode" (*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, CUdeviceptr);
        exec_set_kernel = "cuGraphExecKernelNodeSetParams_v2" (CUgraphExec, CUgraphNode, *const KernelNodeParams);
        exec_set_copy = "cuGraphExecMemcpyNodeSetParams" (CUgraphExec, CUgraphNode, *const Memcpy3D, CUcontext);
        exec_set_fill = "cuGraphExecMemsetNodeSetParams" (CUgraphExec, CUgraphNode, *const MemsetNodeParams, CUcontext);
        exec_set_record = "cuGraphExecEventRecordNodeSetEvent" (CUgraphExec, CUgraphNode, CUevent);
        exec_set_wait = "cuGraphExecEventWaitNodeSetEvent" (CUgraphExec, CUgraphNode, CUevent);
        exec_enable = "cuGraphNodeSetEnabled" (CUgraphExec, CUgraphNode, c_uint);
        exec_update = "cuGraphExecUpdate_v2" (CUgraphExec, CUgraph, *mut UpdateResultInfo);
        capture_begin = "cuStreamBeginCapture_v2" (CUstream, c_uint);
        capture_begin_into = "cuStreamBeginCaptureToGraph"
            (CUstream, CUgraph, *const CUgraphNode, *const c_void, usize, c_uint);
        capture_end = "cuStreamEndCapture" (CUstream, *mut CUgraph);
        capture_info = "cuStreamGetCaptureInfo_v2"
            (CUstream, *mut c_uint, *mut u64, *mut CUgraph, *mut *const CUgraphNode, *mut usize);
        capture_set_dependencies = "cuStreamUpdateCaptureDependencies" (CUstream, *mut CUgraphNode, usize, c_uint);
        capture_exchange_mode = "cuThreadExchangeStreamCaptureMode" (*mut c_uint);

        external_memory_import = "cuImportExternalMemory" (*mut CUexternalMemory, *const MemoryDescriptor);
        external_memory_map = "cuExternalMemoryGetMappedBuffer"
            (*mut CUdeviceptr, CUexternalMemory, *const BufferDescriptor);
        external_memory_destroy = "cuDestroyExternalMemory" (CUexternalMemory);
        external_semaphore_import = "cuImportExternalSemaphore"
            (*mut CUexternalSemaphore, *const SemaphoreDescriptor);
        external_semaphore_destroy = "cuDestroyExternalSemaphore" (CUexternalSemaphore);
        external_semaphore_wait = "cuWaitExternalSemaphoresAsync"
            (*const CUexternalSemaphore, *const SemaphoreParameters, c_uint, CUstream);
        external_semaphore_signal = "cuSignalExternalSemaphoresAsync"
            (*const CUexternalSemaphore, *const SemaphoreParameters, c_uint, CUstream);
    }
}

/// The variable that names another library to open.
pub(crate) const LIBRARY_VARIABLE: &str = "UR_CUDA_LIBRARY";

/// The library that the driver's package installs.
pub(crate) const DEFAULT_LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// Opens the library that the environment names, or the installed driver; returns its name too.
///
/// # Errors
/// As [`open_first`].
pub(crate) fn open() -> Result<(Symbols, String), OpenError> {
    open_first(LIBRARY_VARIABLE, &[DEFAULT_LIBRARY], |name| Symbols::open(name, LIBRARY_VARIABLE))
}

impl Texts for Symbols {
    type Status = CUresult;

    #[cold]
    fn text(&self, status: CUresult) -> String {
        let of = |function: unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult| {
            let mut text: *const c_char = core::ptr::null();
            // SAFETY: `text` is writable for the call; the driver points it at a static string or null.
            let answer = unsafe { function(status, &raw mut text) };
            // SAFETY: the driver's strings are static and NUL-terminated.
            (answer == CUresult::SUCCESS && !text.is_null()).then(|| unsafe { text_of(text) })
        };
        status_text(of(self.error_name), of(self.error_string))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    ur_adapter::opening_tests!(Symbols, LIBRARY_VARIABLE);

    #[test]
    fn optional_symbols_may_be_missing() {
        let symbols = over_a_fake();
        assert!(symbols.event_elapsed_v2.is_none() && symbols.function_parameter.is_none());
        assert_eq!(symbols.text(CUresult(12345)), "a status that this driver has no text for");
    }
}
