//! The native functions that the raw side calls, of CUDA and of HIP, in one table: the two APIs have the same shapes
//! under other names. Where they differ (what a thread has current, the kind of a copy) the difference is an enumeration
//! here and nowhere else. Nothing here calls a function.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libloading::os::unix::Library;
use ur_client::ffi::ur_backend_t;

use crate::Failure;

/// A context, stream, module and so on: an address.
pub type Handle = *mut c_void;
/// A device address.
pub type Address = u64;

/// `CU_STREAM_WAIT_VALUE_GEQ`, `hipStreamWaitValueGte`.
pub const AT_LEAST: c_uint = 0;
/// `CU_STREAM_NON_BLOCKING`, `hipStreamNonBlocking`.
pub const NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`, `hipEventDisableTiming`.
pub const DISABLE_TIMING: c_uint = 2;
/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`, `hipMemPoolAttrReleaseThreshold`.
pub const RELEASE_THRESHOLD: c_int = 4;
/// `hipMemcpyDefault`: the addresses tell the direction, as they always do in CUDA.
pub const BY_ADDRESS: c_uint = 4;

/// Whose functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// The CUDA driver's.
    Cuda,
    /// The HIP runtime's.
    Hip,
}

impl Api {
    /// What an adapter of this backend calls; `None` for backends that there is no raw side for.
    pub fn of(backend: ur_backend_t) -> Option<Self> {
        match backend {
            ur_backend_t::CUDA => Some(Self::Cuda),
            ur_backend_t::HIP => Some(Self::Hip),
            _ => None,
        }
    }
}

/// A function with the name it was found under.
#[derive(Clone, Copy)]
pub struct Native<F> {
    /// Exported as.
    pub name: &'static str,
    /// The function.
    pub call: F,
}

/// `CU_POINTER_ATTRIBUTE_MEMORY_TYPE`, `HIP_POINTER_ATTRIBUTE_MEMORY_TYPE`.
pub const MEMORY_TYPE: c_int = 2;
/// `CU_MEM_ATTACH_GLOBAL`, `hipMemAttachGlobal`.
pub const ATTACH_GLOBAL: c_uint = 1;

/// Finds a function; its type is the caller's word.
fn find<F: Copy>(library: &Library, name: &'static str) -> Result<Native<F>, Failure> {
    // SAFETY: the tables below give every symbol the signature that its API's headers give it.
    let symbol = unsafe { library.get::<F>(name.as_bytes()) };
    symbol
        .map(|symbol| Native { name, call: *symbol })
        .map_err(|error| Failure::Other(format!("the native library: {error}")))
}

macro_rules! functions {
    ($($field:ident = $cuda:literal | $hip:literal ($($ty:ty),*);)*) => {
        /// The functions of one API.
        pub struct Functions {
            $(pub $field: Native<unsafe extern "C" fn($($ty),*) -> c_int>,)*
            /// What a thread has current.
            pub place: Place,
            /// The copy.
            pub copy: Copying,
            /// A stream's wait for a value in memory, which a library may lack too.
            pub wait_value: Option<WaitingForValue>,
            /// What only some cases call.
            pub more: More,
        }

        impl Functions {
            /// Looks all of them up.
            pub fn of(library: &Library, api: Api) -> Result<Self, Failure> {
                Ok(Self {
                    $($field: find(library, match api { Api::Cuda => $cuda, Api::Hip => $hip })?,)*
                    place: Place::of(library, api)?,
                    copy: Copying::of(library, api)?,
                    wait_value: WaitingForValue::of(library, api),
                    more: More::of(library, api),
                })
            }
        }
    };
}

functions! {
    init = "cuInit" | "hipInit" (c_uint);
    device_count = "cuDeviceGetCount" | "hipGetDeviceCount" (*mut c_int);
    device_get = "cuDeviceGet" | "hipDeviceGet" (*mut c_int, c_int);
    device_uuid = "cuDeviceGetUuid" | "hipDeviceGetUuid" (*mut [u8; 16], c_int);
    stream_create = "cuStreamCreateWithPriority" | "hipStreamCreateWithPriority" (*mut Handle, c_uint, c_int);
    stream_destroy = "cuStreamDestroy_v2" | "hipStreamDestroy" (Handle);
    stream_synchronize = "cuStreamSynchronize" | "hipStreamSynchronize" (Handle);
    event_create = "cuEventCreate" | "hipEventCreateWithFlags" (*mut Handle, c_uint);
    event_destroy = "cuEventDestroy_v2" | "hipEventDestroy" (Handle);
    event_record = "cuEventRecord" | "hipEventRecord" (Handle, Handle);
    event_synchronize = "cuEventSynchronize" | "hipEventSynchronize" (Handle);
    module_load = "cuModuleLoadData" | "hipModuleLoadData" (*mut Handle, *const c_void);
    module_unload = "cuModuleUnload" | "hipModuleUnload" (Handle);
    module_function = "cuModuleGetFunction" | "hipModuleGetFunction" (*mut Handle, Handle, *const c_char);
    launch = "cuLaunchKernel" | "hipModuleLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    default_pool = "cuDeviceGetDefaultMemPool" | "hipDeviceGetDefaultMemPool" (*mut Handle, c_int);
    pool_set = "cuMemPoolSetAttribute" | "hipMemPoolSetAttribute" (Handle, c_int, *mut c_void);
    pool_allocate = "cuMemAllocFromPoolAsync" | "hipMallocFromPoolAsync" (*mut Address, usize, Handle, Handle);
    free_async = "cuMemFreeAsync" | "hipFreeAsync" (Address, Handle);
}

macro_rules! optional {
    ($($field:ident = $cuda:literal | $hip:literal ($($ty:ty),*);)*) => {
        /// Functions that a library may lack: the cases that call them are left out then.
        pub struct More {
            $(pub $field: Option<Native<unsafe extern "C" fn($($ty),*) -> c_int>>,)*
        }

        impl More {
            fn of(library: &Library, api: Api) -> Self {
                Self { $($field: find(library, match api { Api::Cuda => $cuda, Api::Hip => $hip }).ok(),)* }
            }
        }
    };
}

optional! {
    stream_wait = "cuStreamWaitEvent" | "hipStreamWaitEvent" (Handle, Handle, c_uint);
    write_value = "cuStreamWriteValue32_v2" | "hipStreamWriteValue32" (Handle, Address, u32, c_uint);
    elapsed = "cuEventElapsedTime" | "hipEventElapsedTime" (*mut f32, Handle, Handle);
    allocate_device = "cuMemAlloc_v2" | "hipMalloc" (*mut Address, usize);
    allocate_host = "cuMemHostAlloc" | "hipHostMalloc" (*mut Address, usize, c_uint);
    allocate_shared = "cuMemAllocManaged" | "hipMallocManaged" (*mut Address, usize, c_uint);
    free_device = "cuMemFree_v2" | "hipFree" (Address);
    free_host = "cuMemFreeHost" | "hipHostFree" (Address);
    pointer_attribute = "cuPointerGetAttribute" | "hipPointerGetAttribute" (*mut c_void, c_int, Address);
    launch_extended = "cuLaunchKernelEx" | "hipDrvLaunchKernelEx" (
        *const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void
    );
    graph_create = "cuGraphCreate" | "hipGraphCreate" (*mut Handle, c_uint);
    graph_destroy = "cuGraphDestroy" | "hipGraphDestroy" (Handle);
    graph_add_kernel = "cuGraphAddKernelNode_v2" | "hipGraphAddKernelNode" (
        *mut Handle, Handle, *const Handle, usize, *const c_void
    );
    graph_instantiate = "cuGraphInstantiateWithFlags" | "hipGraphInstantiateWithFlags" (*mut Handle, Handle, u64);
    graph_launch = "cuGraphLaunch" | "hipGraphLaunch" (Handle, Handle);
    exec_destroy = "cuGraphExecDestroy" | "hipGraphExecDestroy" (Handle);
    exec_set_kernel = "cuGraphExecKernelNodeSetParams_v2" | "hipGraphExecKernelNodeSetParams" (
        Handle, Handle, *const c_void
    );
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
pub struct CudaKernelNode {
    /// The function.
    pub function: Handle,
    /// Blocks in three dimensions.
    pub grid: [c_uint; 3],
    /// Threads of a block.
    pub block: [c_uint; 3],
    /// Bytes of shared memory.
    pub shared: c_uint,
    /// Addresses of the arguments.
    pub arguments: *mut *mut c_void,
    /// Null: the arguments are not packed.
    pub extra: *mut *mut c_void,
    /// Null: the function is no kernel handle.
    pub kernel: Handle,
    /// The context.
    pub context: Handle,
}

/// `hipKernelNodeParams`.
#[repr(C)]
pub struct HipKernelNode {
    /// Threads of a block.
    pub block: [c_uint; 3],
    /// Null: the arguments are not packed.
    pub extra: *mut *mut c_void,
    /// The function.
    pub function: Handle,
    /// Blocks in three dimensions.
    pub grid: [c_uint; 3],
    /// Addresses of the arguments.
    pub arguments: *mut *mut c_void,
    /// Bytes of shared memory.
    pub shared: c_uint,
}

/// `CUlaunchConfig`, `HIP_LAUNCH_CONFIG`.
#[repr(C)]
pub struct LaunchConfig {
    /// Blocks in three dimensions.
    pub grid: [c_uint; 3],
    /// Threads of a block.
    pub block: [c_uint; 3],
    /// Bytes of shared memory.
    pub shared: c_uint,
    /// The stream.
    pub stream: Handle,
    /// Attributes, of which there are none.
    pub attributes: *mut c_void,
    /// How many.
    pub count: c_uint,
}

/// What a thread has current: a context in CUDA, a device in HIP.
pub enum Place {
    /// CUDA's contexts; the primary one is retained for the raw side's life.
    Context {
        /// `cuDevicePrimaryCtxRetain`.
        retain: Native<unsafe extern "C" fn(*mut Handle, c_int) -> c_int>,
        /// `cuDevicePrimaryCtxRelease_v2`.
        release: Native<unsafe extern "C" fn(c_int) -> c_int>,
        /// `cuCtxGetCurrent`.
        get: Native<unsafe extern "C" fn(*mut Handle) -> c_int>,
        /// `cuCtxSetCurrent`.
        set: Native<unsafe extern "C" fn(Handle) -> c_int>,
    },
    /// HIP's devices.
    Device {
        /// `hipGetDevice`.
        get: Native<unsafe extern "C" fn(*mut c_int) -> c_int>,
        /// `hipSetDevice`.
        set: Native<unsafe extern "C" fn(c_int) -> c_int>,
    },
}

impl Place {
    fn of(library: &Library, api: Api) -> Result<Self, Failure> {
        Ok(match api {
            Api::Cuda => Self::Context {
                retain: find(library, "cuDevicePrimaryCtxRetain")?,
                release: find(library, "cuDevicePrimaryCtxRelease_v2")?,
                get: find(library, "cuCtxGetCurrent")?,
                set: find(library, "cuCtxSetCurrent")?,
            },
            Api::Hip => Self::Device { get: find(library, "hipGetDevice")?, set: find(library, "hipSetDevice")? },
        })
    }
}

/// A copy in a stream's order: the one call of which HIP has one parameter more.
pub enum Copying {
    /// `cuMemcpyAsync`.
    Plain(Native<unsafe extern "C" fn(Address, Address, usize, Handle) -> c_int>),
    /// `hipMemcpyAsync`.
    WithKind(Native<unsafe extern "C" fn(Address, Address, usize, c_uint, Handle) -> c_int>),
}

impl Copying {
    fn of(library: &Library, api: Api) -> Result<Self, Failure> {
        Ok(match api {
            Api::Cuda => Self::Plain(find(library, "cuMemcpyAsync")?),
            Api::Hip => Self::WithKind(find(library, "hipMemcpyAsync")?),
        })
    }
}

/// A stream's wait for a value of 32 bits in memory: HIP's has a mask behind the flags.
pub enum WaitingForValue {
    /// `cuStreamWaitValue32_v2`.
    Plain(Native<unsafe extern "C" fn(Handle, Address, u32, c_uint) -> c_int>),
    /// `hipStreamWaitValue32`.
    WithMask(Native<unsafe extern "C" fn(Handle, Address, u32, c_uint, u32) -> c_int>),
}

impl WaitingForValue {
    fn of(library: &Library, api: Api) -> Option<Self> {
        match api {
            Api::Cuda => find(library, "cuStreamWaitValue32_v2").map(Self::Plain).ok(),
            Api::Hip => find(library, "hipStreamWaitValue32").map(Self::WithMask).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_backend_is_compared_with_its_own_api_and_others_with_none() {
        assert_eq!(Api::of(ur_backend_t::CUDA), Some(Api::Cuda));
        assert_eq!(Api::of(ur_backend_t::HIP), Some(Api::Hip));
        assert_eq!(Api::of(ur_backend_t::LEVEL_ZERO), None);
    }
}
