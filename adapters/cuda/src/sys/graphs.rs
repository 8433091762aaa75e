//! Structures of nodes of a graph, as the driver reads them.

use core::ffi::{c_int, c_uint, c_void};

use super::{CUcontext, CUdeviceptr, CUfunction, CUgraphNode, CUmemAccessDesc, CUmemPoolProps};

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelNodeParams {
    pub(crate) function: CUfunction,
    pub(crate) grid: [c_uint; 3],
    pub(crate) block: [c_uint; 3],
    pub(crate) shared: c_uint,
    pub(crate) arguments: *mut *mut c_void,
    pub(crate) extra: *mut *mut c_void,
    /// `CUkernel`: looked at where there is no function.
    pub(crate) kernel: usize,
    /// The manual lets a driver ignore it beside a function; one that does not would take the thread's.
    pub(crate) context: CUcontext,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemsetNodeParams {
    pub(crate) to: CUdeviceptr,
    pub(crate) pitch: usize,
    pub(crate) value: c_uint,
    pub(crate) element_size: c_uint,
    /// Counted in elements.
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostNodeParams {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: *mut c_void,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemAllocNodeParams {
    pub(crate) pool: CUmemPoolProps,
    pub(crate) access: *const CUmemAccessDesc,
    pub(crate) access_count: usize,
    pub(crate) size: usize,
    /// Written by the driver.
    pub(crate) address: CUdeviceptr,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UpdateResultInfo {
    pub(crate) result: c_int,
    pub(crate) node: CUgraphNode,
    pub(crate) from: CUgraphNode,
}

const _: () = assert!(size_of::<KernelNodeParams>() == 72 && size_of::<MemsetNodeParams>() == 40);
const _: () = assert!(size_of::<HostNodeParams>() == 16 && size_of::<MemAllocNodeParams>() == 120);
const _: () = assert!(size_of::<UpdateResultInfo>() == 24);

/// `CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE`.
pub(crate) const DUMP_VERBOSE: c_uint = 1;
