//! The structures of graphs: facts alone, as in the module above.

use super::{CUDA_MEMCPY3D, CUdeviceptr, CUhostFn, CUmemAccessDesc, CUmemPoolProps, Handle};
use core::ffi::{c_int, c_uint, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    pub func: Handle,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_mem_bytes: c_uint,
    pub kernel_params: *const *const c_void,
    pub extra: *const *const c_void,
    pub kern: Handle,
    pub ctx: Handle,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEMSET_NODE_PARAMS {
    pub dst: u64,
    pub pitch: usize,
    pub value: c_uint,
    pub element_size: c_uint,
    pub width: usize,
    pub height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_MEM_ALLOC_NODE_PARAMS {
    pub pool_props: CUmemPoolProps,
    pub access_descs: *const CUmemAccessDesc,
    pub access_desc_count: usize,
    pub byte_size: usize,
    pub dptr: CUdeviceptr,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    pub flags: u64,
    pub upload_stream: Handle,
    pub error_node: Handle,
    pub result: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUgraphExecUpdateResultInfo {
    pub result: c_int,
    pub error_node: Handle,
    pub error_from_node: Handle,
}

/// Which part of a node an edge leaves and enters; no node here has more than one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CUgraphEdgeData {
    pub from_port: u8,
    pub to_port: u8,
    pub kind: u8,
    pub reserved: [u8; 5],
}

/// A node of any kind: the union is read by its kind.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUgraphNodeParams {
    pub kind: c_int,
    pub reserved0: [c_int; 3],
    pub of_kind: [u64; 29],
    pub reserved2: i64,
}

/// What the union of [`CUgraphNodeParams`] can be read as: plain data of the API, every bit pattern of which is a value.
///
/// # Safety
/// The type must be such.
pub unsafe trait OfKind: Copy {}
// SAFETY: numbers and pointers.
unsafe impl OfKind for CUDA_KERNEL_NODE_PARAMS {}
// SAFETY: numbers and pointers.
unsafe impl OfKind for CUDA_MEMCPY3D {}
// SAFETY: numbers.
unsafe impl OfKind for CUDA_MEMSET_NODE_PARAMS {}
// SAFETY: an optional function and a pointer: the function is the client's promise, as wherever it gives one.
unsafe impl OfKind for CUDA_HOST_NODE_PARAMS {}
// SAFETY: numbers and pointers.
unsafe impl OfKind for CUDA_MEM_ALLOC_NODE_PARAMS {}

impl CUgraphNodeParams {
    /// The union as one of its members.
    pub fn read<T: OfKind>(&self) -> T {
        self.read_behind::<T, 0>()
    }

    /// A member's part that begins behind some words.
    pub fn read_behind<T: OfKind, const WORDS: usize>(&self) -> T {
        const { assert!(WORDS * 8 + size_of::<T>() <= 29 * 8) };
        // SAFETY: the part lies inside of the union, and the trait says that any bits will do.
        unsafe { self.of_kind.as_ptr().add(WORDS).cast::<T>().read() }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUDA_HOST_NODE_PARAMS {
    pub func: CUhostFn,
    pub user_data: *mut c_void,
}

const _: () = {
    assert!(size_of::<CUDA_KERNEL_NODE_PARAMS>() == 72);
    assert!(size_of::<CUDA_MEMSET_NODE_PARAMS>() == 40);
    assert!(size_of::<CUDA_MEM_ALLOC_NODE_PARAMS>() == 120);
    assert!(size_of::<CUDA_GRAPH_INSTANTIATE_PARAMS>() == 32);
    assert!(size_of::<CUgraphExecUpdateResultInfo>() == 24);
    assert!(size_of::<CUgraphEdgeData>() == 8);
    assert!(size_of::<CUgraphNodeParams>() == 256);
};
