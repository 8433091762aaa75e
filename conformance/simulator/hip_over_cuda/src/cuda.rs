//! The CUDA driver API as this library uses it: opened at run time, every symbol looked up once.
//!
//! A driver without some symbol serves everything else: only calls that need it answer `hipErrorNotSupported`. Nothing
//! here knows of HIP but for the status that a failed call becomes.

mod structures;

use core::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

use libloading::Library;

pub use structures::{Copy2D, Copy3D, FillNode, HostNode, Instantiation, KernelNode, Update};

use crate::error;
use crate::sys::graph::hipMemAllocNodeParams;
use crate::sys::layout::{
    HIP_ARRAY3D_DESCRIPTOR, HIP_RESOURCE_DESC, HIP_TEXTURE_DESC, hipIpcEventHandle_t, hipIpcMemHandle_t,
    hipMemAccessDesc, hipMemAllocationProp, hipMemLocation, hipMemPoolProps, hipMemPoolPtrExportData, hipUUID,
};
use crate::sys::status::{Result, hipErrorInsufficientDriver};

/// A status of the driver.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CUresult(pub c_int);

/// `CUDA_SUCCESS`.
pub const SUCCESS: CUresult = CUresult(0);
/// `CUDA_ERROR_NO_DEVICE`.
pub const NO_DEVICE: CUresult = CUresult(100);

/// A function that a stream runs on the host.
pub type HostFn = unsafe extern "C" fn(*mut c_void);
/// A callback of a stream, with the stream and its status.
pub type StreamCallback = unsafe extern "C" fn(usize, CUresult, *mut c_void);

macro_rules! symbols {
    ($($field:ident = $name:literal ($($type:ty),* $(,)?);)*) => {
        /// Every function of the driver that this library calls, `None` where the driver lacks it.
        pub struct Cuda {
            $(pub $field: Option<unsafe extern "C" fn($($type),*) -> CUresult>,)*
            /// Declared last: dropped after the pointers into it.
            _library: Library,
        }

        impl Cuda {
            /// Looks every symbol up.
            ///
            /// # Safety
            /// What the library exports under the driver API's names has the API's signatures.
            unsafe fn of(library: Library) -> Self {
                Self {
                    $($field: {
                        // SAFETY: the caller vouches for the signature; the library is kept with the pointer.
                        unsafe { library.get(concat!($name, "\0").as_bytes()) }.ok().map(|symbol| *symbol)
                    },)*
                    _library: library,
                }
            }
        }
    };
}

symbols! {
    init = "cuInit" (c_uint);
    device_count = "cuDeviceGetCount" (*mut c_int);
    device_get = "cuDeviceGet" (*mut c_int, c_int);
    device_name = "cuDeviceGetName" (*mut c_char, c_int, c_int);
    device_uuid = "cuDeviceGetUuid_v2" (*mut hipUUID, c_int);
    device_total_memory = "cuDeviceTotalMem_v2" (*mut usize, c_int);
    device_attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, c_int);
    device_pci_bus_id = "cuDeviceGetPCIBusId" (*mut c_char, c_int, c_int);
    device_by_pci_bus_id = "cuDeviceGetByPCIBusId" (*mut c_int, *const c_char);
    device_can_access_peer = "cuDeviceCanAccessPeer" (*mut c_int, c_int, c_int);
    device_peer_attribute = "cuDeviceGetP2PAttribute" (*mut c_int, c_int, c_int, c_int);
    device_default_pool = "cuDeviceGetDefaultMemPool" (*mut usize, c_int);
    device_pool = "cuDeviceGetMemPool" (*mut usize, c_int);
    device_set_pool = "cuDeviceSetMemPool" (c_int, usize);
    primary_retain = "cuDevicePrimaryCtxRetain" (*mut usize, c_int);
    primary_release = "cuDevicePrimaryCtxRelease_v2" (c_int);

    context_current = "cuCtxGetCurrent" (*mut usize);
    context_set_current = "cuCtxSetCurrent" (usize);
    context_synchronize = "cuCtxSynchronize" ();
    context_priority_range = "cuCtxGetStreamPriorityRange" (*mut c_int, *mut c_int);
    context_limit = "cuCtxGetLimit" (*mut usize, c_int);
    context_set_limit = "cuCtxSetLimit" (c_int, usize);
    context_enable_peer = "cuCtxEnablePeerAccess" (usize, c_uint);
    context_disable_peer = "cuCtxDisablePeerAccess" (usize);

    stream_create = "cuStreamCreateWithPriority" (*mut usize, c_uint, c_int);
    stream_destroy = "cuStreamDestroy_v2" (usize);
    stream_synchronize = "cuStreamSynchronize" (usize);
    stream_query = "cuStreamQuery" (usize);
    stream_wait_event = "cuStreamWaitEvent" (usize, usize, c_uint);
    stream_flags = "cuStreamGetFlags" (usize, *mut c_uint);
    stream_priority = "cuStreamGetPriority" (usize, *mut c_int);
    stream_context = "cuStreamGetCtx" (usize, *mut usize);
    stream_id = "cuStreamGetId" (usize, *mut c_ulonglong);
    stream_callback = "cuStreamAddCallback" (usize, StreamCallback, *mut c_void, c_uint);
    stream_host_function = "cuLaunchHostFunc" (usize, HostFn, *mut c_void);
    stream_wait32 = "cuStreamWaitValue32_v2" (usize, usize, u32, c_uint);
    stream_wait64 = "cuStreamWaitValue64_v2" (usize, usize, u64, c_uint);
    stream_write32 = "cuStreamWriteValue32_v2" (usize, usize, u32, c_uint);
    stream_write64 = "cuStreamWriteValue64_v2" (usize, usize, u64, c_uint);
    stream_attach = "cuStreamAttachMemAsync" (usize, usize, usize, c_uint);

    event_create = "cuEventCreate" (*mut usize, c_uint);
    event_destroy = "cuEventDestroy_v2" (usize);
    event_record = "cuEventRecord" (usize, usize);
    event_record_flags = "cuEventRecordWithFlags" (usize, usize, c_uint);
    event_query = "cuEventQuery" (usize);
    event_synchronize = "cuEventSynchronize" (usize);
    event_elapsed = "cuEventElapsedTime" (*mut f32, usize, usize);

    memory_info = "cuMemGetInfo_v2" (*mut usize, *mut usize);
    memory_allocate = "cuMemAlloc_v2" (*mut usize, usize);
    memory_allocate_pitch = "cuMemAllocPitch_v2" (*mut usize, *mut usize, usize, usize, c_uint);
    memory_allocate_host = "cuMemHostAlloc" (*mut usize, usize, c_uint);
    memory_allocate_managed = "cuMemAllocManaged" (*mut usize, usize, c_uint);
    memory_free = "cuMemFree_v2" (usize);
    memory_free_host = "cuMemFreeHost" (usize);
    memory_register = "cuMemHostRegister_v2" (usize, usize, c_uint);
    memory_unregister = "cuMemHostUnregister" (usize);
    memory_device_pointer = "cuMemHostGetDevicePointer_v2" (*mut usize, usize, c_uint);
    memory_prefetch = "cuMemPrefetchAsync" (usize, usize, c_int, usize);
    memory_prefetch_v2 = "cuMemPrefetchAsync_v2" (usize, usize, hipMemLocation, c_uint, usize);
    memory_advise = "cuMemAdvise" (usize, usize, c_int, c_int);
    memory_advise_v2 = "cuMemAdvise_v2" (usize, usize, c_int, hipMemLocation);
    memory_range_attribute = "cuMemRangeGetAttribute" (*mut c_void, usize, c_int, usize, usize);
    pointer_attribute = "cuPointerGetAttribute" (*mut c_void, c_int, usize);
    pointer_attributes = "cuPointerGetAttributes" (c_uint, *const c_int, *const *mut c_void, usize);
    pointer_set_attribute = "cuPointerSetAttribute" (*const c_void, c_int, usize);

    ipc_get = "cuIpcGetMemHandle" (*mut hipIpcMemHandle_t, usize);
    ipc_open = "cuIpcOpenMemHandle_v2" (*mut usize, hipIpcMemHandle_t, c_uint);
    ipc_close = "cuIpcCloseMemHandle" (usize);
    ipc_event_get = "cuIpcGetEventHandle" (*mut hipIpcEventHandle_t, usize);
    ipc_event_open = "cuIpcOpenEventHandle" (*mut usize, hipIpcEventHandle_t);

    external_memory_import = "cuImportExternalMemory" (*mut usize, *const c_void);
    external_memory_map = "cuExternalMemoryGetMappedBuffer" (*mut usize, usize, *const c_void);
    external_memory_destroy = "cuDestroyExternalMemory" (usize);
    external_semaphore_import = "cuImportExternalSemaphore" (*mut usize, *const c_void);
    external_semaphore_destroy = "cuDestroyExternalSemaphore" (usize);
    external_semaphore_signal = "cuSignalExternalSemaphoresAsync" (*const c_void, *const c_void, c_uint, usize);
    external_semaphore_wait = "cuWaitExternalSemaphoresAsync" (*const c_void, *const c_void, c_uint, usize);

    pool_create = "cuMemPoolCreate" (*mut usize, *const hipMemPoolProps);
    pool_destroy = "cuMemPoolDestroy" (usize);
    pool_set_attribute = "cuMemPoolSetAttribute" (usize, c_int, *mut c_void);
    pool_attribute = "cuMemPoolGetAttribute" (usize, c_int, *mut c_void);
    pool_set_access = "cuMemPoolSetAccess" (usize, *const hipMemAccessDesc, usize);
    pool_access = "cuMemPoolGetAccess" (*mut c_int, usize, *mut hipMemLocation);
    pool_trim = "cuMemPoolTrimTo" (usize, usize);
    pool_export = "cuMemPoolExportToShareableHandle" (*mut c_void, usize, c_int, c_ulonglong);
    pool_import = "cuMemPoolImportFromShareableHandle" (*mut usize, *mut c_void, c_int, c_ulonglong);
    pool_export_pointer = "cuMemPoolExportPointer" (*mut hipMemPoolPtrExportData, usize);
    pool_import_pointer = "cuMemPoolImportPointer" (*mut usize, usize, *mut hipMemPoolPtrExportData);
    allocate_async = "cuMemAllocAsync" (*mut usize, usize, usize);
    allocate_from_pool = "cuMemAllocFromPoolAsync" (*mut usize, usize, usize, usize);
    free_async = "cuMemFreeAsync" (usize, usize);

    copy = "cuMemcpy" (usize, usize, usize);
    copy_async = "cuMemcpyAsync" (usize, usize, usize, usize);
    copy_to_device = "cuMemcpyHtoD_v2" (usize, *const c_void, usize);
    copy_to_host = "cuMemcpyDtoH_v2" (*mut c_void, usize, usize);
    copy_on_device = "cuMemcpyDtoD_v2" (usize, usize, usize);
    copy_to_device_async = "cuMemcpyHtoDAsync_v2" (usize, *const c_void, usize, usize);
    copy_to_host_async = "cuMemcpyDtoHAsync_v2" (*mut c_void, usize, usize, usize);
    copy_on_device_async = "cuMemcpyDtoDAsync_v2" (usize, usize, usize, usize);
    copy_peer = "cuMemcpyPeer" (usize, usize, usize, usize, usize);
    copy_peer_async = "cuMemcpyPeerAsync" (usize, usize, usize, usize, usize, usize);
    copy_2d = "cuMemcpy2DUnaligned_v2" (*const Copy2D);
    copy_2d_async = "cuMemcpy2DAsync_v2" (*const Copy2D, usize);
    copy_3d = "cuMemcpy3D_v2" (*const Copy3D);
    copy_3d_async = "cuMemcpy3DAsync_v2" (*const Copy3D, usize);
    fill8 = "cuMemsetD8_v2" (usize, u8, usize);
    fill16 = "cuMemsetD16_v2" (usize, u16, usize);
    fill32 = "cuMemsetD32_v2" (usize, u32, usize);
    fill8_async = "cuMemsetD8Async" (usize, u8, usize, usize);
    fill16_async = "cuMemsetD16Async" (usize, u16, usize, usize);
    fill32_async = "cuMemsetD32Async" (usize, u32, usize, usize);
    fill2d8 = "cuMemsetD2D8_v2" (usize, usize, u8, usize, usize);
    fill2d16 = "cuMemsetD2D16_v2" (usize, usize, u16, usize, usize);
    fill2d32 = "cuMemsetD2D32_v2" (usize, usize, u32, usize, usize);
    fill2d8_async = "cuMemsetD2D8Async" (usize, usize, u8, usize, usize, usize);
    fill2d16_async = "cuMemsetD2D16Async" (usize, usize, u16, usize, usize, usize);
    fill2d32_async = "cuMemsetD2D32Async" (usize, usize, u32, usize, usize, usize);

    array_create = "cuArray3DCreate_v2" (*mut usize, *const HIP_ARRAY3D_DESCRIPTOR);
    array_destroy = "cuArrayDestroy" (usize);
    surface_create = "cuSurfObjectCreate" (*mut u64, *const HIP_RESOURCE_DESC);
    surface_destroy = "cuSurfObjectDestroy" (u64);
    texture_create = "cuTexObjectCreate" (*mut u64, *const HIP_RESOURCE_DESC, *const HIP_TEXTURE_DESC, *const c_void);
    texture_destroy = "cuTexObjectDestroy" (u64);

    module_load_file = "cuModuleLoad" (*mut usize, *const c_char);
    module_load = "cuModuleLoadDataEx" (*mut usize, *const c_void, c_uint, *const c_int, *mut *mut c_void);
    module_load_fat = "cuModuleLoadFatBinary" (*mut usize, *const c_void);
    module_unload = "cuModuleUnload" (usize);
    module_function = "cuModuleGetFunction" (*mut usize, usize, *const c_char);
    module_function_count = "cuModuleGetFunctionCount" (*mut c_uint, usize);
    module_global = "cuModuleGetGlobal_v2" (*mut usize, *mut usize, usize, *const c_char);
    function_attribute = "cuFuncGetAttribute" (*mut c_int, c_int, usize);
    function_set_attribute = "cuFuncSetAttribute" (usize, c_int, c_int);
    function_name = "cuFuncGetName" (*mut *const c_char, usize);
    occupancy_block_size = "cuOccupancyMaxPotentialBlockSizeWithFlags"
        (*mut c_int, *mut c_int, usize, *const c_void, usize, c_int, c_uint);
    occupancy_blocks = "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"
        (*mut c_int, usize, c_int, usize, c_uint);
    launch = "cuLaunchKernel" (
        usize, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, usize, *const *mut c_void, *const usize
    );
    launch_cooperative = "cuLaunchCooperativeKernel" (
        usize, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, usize, *const *mut c_void
    );

    address_reserve = "cuMemAddressReserve" (*mut usize, usize, usize, usize, c_ulonglong);
    address_free = "cuMemAddressFree" (usize, usize);
    physical_create = "cuMemCreate" (*mut usize, usize, *const hipMemAllocationProp, c_ulonglong);
    physical_release = "cuMemRelease" (usize);
    physical_map = "cuMemMap" (usize, usize, usize, usize, c_ulonglong);
    physical_unmap = "cuMemUnmap" (usize, usize);
    physical_set_access = "cuMemSetAccess" (usize, usize, *const hipMemAccessDesc, usize);
    physical_access = "cuMemGetAccess" (*mut c_ulonglong, *const hipMemLocation, usize);
    physical_granularity = "cuMemGetAllocationGranularity" (*mut usize, *const hipMemAllocationProp, c_int);
    physical_properties = "cuMemGetAllocationPropertiesFromHandle" (*mut hipMemAllocationProp, usize);
    physical_export = "cuMemExportToShareableHandle" (*mut c_void, usize, c_int, c_ulonglong);
    physical_import = "cuMemImportFromShareableHandle" (*mut usize, *mut c_void, c_int);
    physical_retain = "cuMemRetainAllocationHandle" (*mut usize, usize);

    graph_create = "cuGraphCreate" (*mut usize, c_uint);
    graph_destroy = "cuGraphDestroy" (usize);
    graph_clone = "cuGraphClone" (*mut usize, usize);
    graph_find_in_clone = "cuGraphNodeFindInClone" (*mut usize, usize, usize);
    graph_add_dependencies = "cuGraphAddDependencies" (usize, *const usize, *const usize, usize);
    graph_remove_dependencies = "cuGraphRemoveDependencies" (usize, *const usize, *const usize, usize);
    graph_nodes = "cuGraphGetNodes" (usize, *mut usize, *mut usize);
    graph_roots = "cuGraphGetRootNodes" (usize, *mut usize, *mut usize);
    graph_edges = "cuGraphGetEdges" (usize, *mut usize, *mut usize, *mut usize);
    graph_print = "cuGraphDebugDotPrint" (usize, *const c_char, c_uint);
    graph_add_kernel = "cuGraphAddKernelNode_v2" (*mut usize, usize, *const usize, usize, *const KernelNode);
    graph_add_copy = "cuGraphAddMemcpyNode" (*mut usize, usize, *const usize, usize, *const Copy3D, usize);
    graph_add_fill = "cuGraphAddMemsetNode" (*mut usize, usize, *const usize, usize, *const FillNode, usize);
    graph_add_host = "cuGraphAddHostNode" (*mut usize, usize, *const usize, usize, *const HostNode);
    graph_add_empty = "cuGraphAddEmptyNode" (*mut usize, usize, *const usize, usize);
    graph_add_child = "cuGraphAddChildGraphNode" (*mut usize, usize, *const usize, usize, usize);
    graph_add_record = "cuGraphAddEventRecordNode" (*mut usize, usize, *const usize, usize, usize);
    graph_add_wait = "cuGraphAddEventWaitNode" (*mut usize, usize, *const usize, usize, usize);
    graph_add_allocation = "cuGraphAddMemAllocNode"
        (*mut usize, usize, *const usize, usize, *mut hipMemAllocNodeParams);
    graph_add_free = "cuGraphAddMemFreeNode" (*mut usize, usize, *const usize, usize, usize);
    graph_memory_trim = "cuDeviceGraphMemTrim" (c_int);
    graph_memory_attribute = "cuDeviceGetGraphMemAttribute" (c_int, c_int, *mut c_void);
    graph_memory_set_attribute = "cuDeviceSetGraphMemAttribute" (c_int, c_int, *mut c_void);
    node_dependencies = "cuGraphNodeGetDependencies" (usize, *mut usize, *mut usize);
    node_dependents = "cuGraphNodeGetDependentNodes" (usize, *mut usize, *mut usize);
    node_type = "cuGraphNodeGetType" (usize, *mut c_int);
    node_destroy = "cuGraphDestroyNode" (usize);
    node_child = "cuGraphChildGraphNodeGetGraph" (usize, *mut usize);
    node_attribute = "cuGraphKernelNodeGetAttribute" (usize, c_int, *mut c_void);
    node_set_attribute = "cuGraphKernelNodeSetAttribute" (usize, c_int, *const c_void);
    exec_instantiate = "cuGraphInstantiateWithFlags" (*mut usize, usize, c_ulonglong);
    exec_instantiate_with = "cuGraphInstantiateWithParams" (*mut usize, usize, *mut Instantiation);
    exec_destroy = "cuGraphExecDestroy" (usize);
    exec_flags = "cuGraphExecGetFlags" (usize, *mut c_ulonglong);
    exec_upload = "cuGraphUpload" (usize, usize);
    exec_launch = "cuGraphLaunch" (usize, usize);
    exec_update = "cuGraphExecUpdate_v2" (usize, usize, *mut Update);
    exec_set_kernel = "cuGraphExecKernelNodeSetParams_v2" (usize, usize, *const KernelNode);
    exec_set_copy = "cuGraphExecMemcpyNodeSetParams" (usize, usize, *const Copy3D, usize);
    exec_set_fill = "cuGraphExecMemsetNodeSetParams" (usize, usize, *const FillNode, usize);
    exec_set_host = "cuGraphExecHostNodeSetParams" (usize, usize, *const HostNode);
    exec_set_child = "cuGraphExecChildGraphNodeSetParams" (usize, usize, usize);
    exec_set_record = "cuGraphExecEventRecordNodeSetEvent" (usize, usize, usize);
    exec_set_wait = "cuGraphExecEventWaitNodeSetEvent" (usize, usize, usize);
    exec_set_enabled = "cuGraphNodeSetEnabled" (usize, usize, c_uint);
    exec_enabled = "cuGraphNodeGetEnabled" (usize, usize, *mut c_uint);

    capture_begin = "cuStreamBeginCapture_v2" (usize, c_int);
    capture_begin_to_graph = "cuStreamBeginCaptureToGraph"
        (usize, usize, *const usize, *const c_void, usize, c_int);
    capture_end = "cuStreamEndCapture" (usize, *mut usize);
    capture_status = "cuStreamIsCapturing" (usize, *mut c_int);
    capture_info = "cuStreamGetCaptureInfo_v2"
        (usize, *mut c_int, *mut c_ulonglong, *mut usize, *mut *const usize, *mut usize);
    capture_update = "cuStreamUpdateCaptureDependencies" (usize, *mut usize, usize, c_uint);
    capture_exchange_mode = "cuThreadExchangeStreamCaptureMode" (*mut c_int);
}

static CUDA: OnceLock<Result<Cuda, String>> = OnceLock::new();

/// The driver, opened by the first call. A library that cannot be opened is no CUDA driver for good.
pub fn get() -> Result<&'static Cuda> {
    CUDA.get_or_init(open).as_ref().map_err(|_| hipErrorInsufficientDriver)
}

/// Why there is no driver; `None` while there is one.
pub fn open_error() -> Option<&'static str> {
    CUDA.get_or_init(open).as_ref().err().map(String::as_str)
}

fn open() -> Result<Cuda, String> {
    let name = std::env::var_os("UR_CUDA_LIBRARY").filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "libcuda.so.1".into());
    // SAFETY: opening runs the library's initialisers; the user chose it as the CUDA driver.
    let library = unsafe { Library::new(&name) }
        .map_err(|error| format!("hip-on-cuda: no CUDA driver: {error}; install it or name it in UR_CUDA_LIBRARY"))?;
    // SAFETY: it is the CUDA driver by the user's word, so its `cu*` symbols are the driver API's.
    Ok(unsafe { Cuda::of(library) })
}

/// A status as this crate's answer.
#[inline]
pub fn check(status: CUresult) -> Result {
    if status == SUCCESS { Ok(()) } else { Err(error::of(status)) }
}

/// Calls the driver; a missing symbol answers `hipErrorNotSupported`.
macro_rules! cu {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::cuda::get().and_then(|cuda| match cuda.$function {
            // SAFETY: the symbol has the API's signature; outputs are live locals or addresses that HIP's caller
            // gave for them, and handles are the driver's own, which HIP's caller got from it.
            Some(function) => $crate::cuda::check(unsafe { function($($argument),*) }),
            None => Err($crate::sys::status::hipErrorNotSupported),
        })
    };
}

const _: () = {
    assert!(size_of::<hipMemPoolProps>() == 88);
    assert!(size_of::<hipMemAllocNodeParams>() == 120);
    assert!(size_of::<hipMemAllocationProp>() == 32);
};
