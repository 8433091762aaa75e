//! The CUDA driver API as this adapter sees it: types, constants and the table of symbols.
//!
//! The library is opened at run time and every symbol is looked up once, by the versioned name that `libcuda`
//! exports. Nothing here interprets a status or decides when to call; nothing links against CUDA.

use core::ffi::{c_char, c_int, c_uint, c_void};

use libloading::Library;
use ur_adapter::backend::{OpenError, Texts, open_first, status_text, text_of};

/// A status of the driver. A newtype, so that a value of a newer driver is no undefined behaviour.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CUresult(pub(crate) c_int);

/// A device, which the driver names by its ordinal.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CUdevice(pub(crate) c_int);

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

/// The signature of the callback that tells a block size's dynamic memory; this adapter passes none.
pub(crate) type CUoccupancyB2DSize = Option<unsafe extern "C" fn(c_int) -> usize>;

ur_adapter::native_statuses! {
    CUresult by crate::map::result_of, SUCCESS, NOT_READY:
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    DEINITIALIZED = 4,
    PROFILER_DISABLED = 5,
    PROFILER_NOT_INITIALIZED = 6,
    PROFILER_ALREADY_STARTED = 7,
    PROFILER_ALREADY_STOPPED = 8,
    STUB_LIBRARY = 34,
    CALL_REQUIRES_NEWER_DRIVER = 36,
    DEVICE_UNAVAILABLE = 46,
    MULTICAST_RESOURCE_FULL = 47,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    DEVICE_NOT_LICENSED = 102,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    CONTEXT_ALREADY_CURRENT = 202,
    MAP_FAILED = 205,
    UNMAP_FAILED = 206,
    ARRAY_IS_MAPPED = 207,
    ALREADY_MAPPED = 208,
    NO_BINARY_FOR_GPU = 209,
    ALREADY_ACQUIRED = 210,
    NOT_MAPPED = 211,
    NOT_MAPPED_AS_ARRAY = 212,
    NOT_MAPPED_AS_POINTER = 213,
    ECC_UNCORRECTABLE = 214,
    UNSUPPORTED_LIMIT = 215,
    CONTEXT_ALREADY_IN_USE = 216,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    INVALID_GRAPHICS_CONTEXT = 219,
    NVLINK_UNCORRECTABLE = 220,
    JIT_COMPILER_NOT_FOUND = 221,
    UNSUPPORTED_PTX_VERSION = 222,
    JIT_COMPILATION_DISABLED = 223,
    UNSUPPORTED_EXEC_AFFINITY = 224,
    UNSUPPORTED_DEVSIDE_SYNC = 225,
    CONTAINED = 226,
    INSUFFICIENT_LOADER_VERSION = 227,
    INVALID_SOURCE = 300,
    FILE_NOT_FOUND = 301,
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302,
    SHARED_OBJECT_INIT_FAILED = 303,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    LOSSY_QUERY = 402,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    LAUNCH_INCOMPATIBLE_TEXTURING = 703,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    PEER_ACCESS_NOT_ENABLED = 705,
    PRIMARY_CONTEXT_ACTIVE = 708,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    TOO_MANY_PEERS = 711,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    HARDWARE_STACK_ERROR = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_ADDRESS_SPACE = 717,
    INVALID_PC = 718,
    LAUNCH_FAILED = 719,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    TENSOR_MEMORY_LEAK = 721,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    SYSTEM_NOT_READY = 802,
    SYSTEM_DRIVER_MISMATCH = 803,
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
    MPS_CONNECTION_FAILED = 805,
    MPS_RPC_FAILURE = 806,
    MPS_SERVER_NOT_READY = 807,
    MPS_MAX_CLIENTS_REACHED = 808,
    MPS_MAX_CONNECTIONS_REACHED = 809,
    MPS_CLIENT_TERMINATED = 810,
    CDP_NOT_SUPPORTED = 811,
    CDP_VERSION_MISMATCH = 812,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_MERGE = 902,
    STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_UNJOINED = 904,
    STREAM_CAPTURE_ISOLATION = 905,
    STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    STREAM_CAPTURE_WRONG_THREAD = 908,
    TIMEOUT = 909,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    EXTERNAL_DEVICE = 911,
    INVALID_CLUSTER_SIZE = 912,
    FUNCTION_NOT_LOADED = 913,
    INVALID_RESOURCE_TYPE = 914,
    INVALID_RESOURCE_CONFIGURATION = 915,
    KEY_ROTATION = 916,
    STREAM_DETACHED = 917,
    GRAPH_RECAPTURE_FAILURE = 918,
    FABRIC_NOT_READY = 919,
    UNKNOWN = 999,
}

/// `CU_STREAM_NON_BLOCKING`.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DEFAULT`: with timing.
pub(crate) const EVENT_DEFAULT: c_uint = 0;
/// `CU_EVENT_DISABLE_TIMING`.
pub(crate) const EVENT_DISABLE_TIMING: c_uint = 2;
/// `CU_STREAM_WAIT_VALUE_GEQ`.
pub(crate) const WAIT_VALUE_AT_LEAST: c_uint = 0;
/// `CU_EVENT_WAIT_DEFAULT`.
pub(crate) const EVENT_WAIT_DEFAULT: c_uint = 0;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
pub(crate) const HOST_ALLOC_PORTABLE_MAPPED: c_uint = 1 | 2;
/// `CU_MEM_ATTACH_GLOBAL`.
pub(crate) const MEM_ATTACH_GLOBAL: c_uint = 1;
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
}

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

        copy_async = "cuMemcpyAsync" (CUdeviceptr, CUdeviceptr, usize, CUstream);
        fill8_async = "cuMemsetD8Async" (CUdeviceptr, u8, usize, CUstream);
        fill16_async = "cuMemsetD16Async" (CUdeviceptr, u16, usize, CUstream);
        fill32_async = "cuMemsetD32Async" (CUdeviceptr, u32, usize, CUstream);
        fill2d8_async = "cuMemsetD2D8Async" (CUdeviceptr, usize, u8, usize, usize, CUstream);
        fill2d16_async = "cuMemsetD2D16Async" (CUdeviceptr, usize, u16, usize, usize, CUstream);
        fill2d32_async = "cuMemsetD2D32Async" (CUdeviceptr, usize, u32, usize, usize, CUstream);

        module_load = "cuModuleLoadDataEx" (*mut CUmodule, *const c_void, c_uint, *mut u32, *mut *mut c_void);
        module_unload = "cuModuleUnload" (CUmodule);
        module_function = "cuModuleGetFunction" (*mut CUfunction, CUmodule, *const c_char);
        function_attribute = "cuFuncGetAttribute" (*mut c_int, c_int, CUfunction);
        function_set_attribute = "cuFuncSetAttribute" (CUfunction, c_int, c_int);
        occupancy_block_size = "cuOccupancyMaxPotentialBlockSize"
            (*mut c_int, *mut c_int, CUfunction, CUoccupancyB2DSize, usize, c_int);
        launch = "cuLaunchKernel" (
            CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream, *mut *mut c_void,
            *mut *mut c_void
        );
    }
    optional {
        device_uuid = "cuDeviceGetUuid" (*mut CUuuid, CUdevice);
        device_uuid_v2 = "cuDeviceGetUuid_v2" (*mut CUuuid, CUdevice);
        device_luid = "cuDeviceGetLuid" (*mut c_char, *mut c_uint, CUdevice);
        stream_wait_value = "cuStreamWaitValue32_v2" (CUstream, CUdeviceptr, u32, c_uint);
        event_elapsed_v2 = "cuEventElapsedTime_v2" (*mut f32, CUevent, CUevent);
        function_parameter = "cuFuncGetParamInfo" (CUfunction, usize, *mut usize, *mut usize);
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
