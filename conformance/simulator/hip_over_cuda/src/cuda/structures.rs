//! The CUDA driver's structures that this library fills or reads, where HIP's have another layout.
//!
//! Layouts only, named after what they describe; where both APIs share a layout, HIP's name is used and no second
//! structure stands here.

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Copy2D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: c_uint,
    pub src_host: usize,
    pub src_device: usize,
    pub src_array: usize,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: c_uint,
    pub dst_host: usize,
    pub dst_device: usize,
    pub dst_array: usize,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Copy3D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: c_uint,
    pub src_host: usize,
    pub src_device: usize,
    pub src_array: usize,
    pub reserved0: usize,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: c_uint,
    pub dst_host: usize,
    pub dst_device: usize,
    pub dst_array: usize,
    pub reserved1: usize,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUDA_KERNEL_NODE_PARAMS` in its second version.
#[repr(C)]
pub struct KernelNode {
    pub function: usize,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub arguments: *const *mut c_void,
    pub extra: *const usize,
    /// A kernel without context, in the place of `function`.
    pub kernel: usize,
    pub context: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS`; `width` counts elements.
#[repr(C)]
pub struct FillNode {
    pub to: usize,
    pub pitch: usize,
    pub value: c_uint,
    pub element: c_uint,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
pub struct HostNode {
    pub function: Option<super::HostFn>,
    pub data: *mut c_void,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
pub struct Instantiation {
    pub flags: c_ulonglong,
    pub upload_stream: usize,
    pub error_node: usize,
    pub result: c_int,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Default)]
pub struct Update {
    pub result: c_int,
    pub error_node: usize,
    pub error_from_node: usize,
}

const _: () = {
    assert!(size_of::<Copy2D>() == 128);
    assert!(size_of::<Copy3D>() == 200);
    assert!(size_of::<KernelNode>() == 72);
    assert!(size_of::<FillNode>() == 40);
    assert!(size_of::<HostNode>() == 16);
    assert!(size_of::<Instantiation>() == 32);
    assert!(size_of::<Update>() == 24);
};
