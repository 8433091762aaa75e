//! What imports of other APIs are described by.

use core::ffi::{c_int, c_uint};

pub const CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD: c_uint = 1;
pub const CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD: c_uint = 1;
pub const CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD: c_uint = 9;
pub const CUDA_EXTERNAL_MEMORY_DEDICATED: c_uint = 1;

/// Of the union, the member for descriptors.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC {
    pub kind: c_uint,
    pub gap: c_uint,
    pub fd: c_int,
    pub rest: [c_int; 3],
    pub size: u64,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC {
    pub offset: u64,
    pub size: u64,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// Of the union, the member for descriptors.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC {
    pub kind: c_uint,
    pub gap: c_uint,
    pub fd: c_int,
    pub rest: [c_int; 3],
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// The parameters of waits and of signals, which differ in what is not simulated.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CUDA_EXTERNAL_SEMAPHORE_PARAMS {
    pub value: u64,
    pub rest: [u64; 8],
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

const _: () = {
    assert!(size_of::<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>() == 104);
    assert!(size_of::<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>() == 88);
    assert!(size_of::<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>() == 96);
    assert!(size_of::<CUDA_EXTERNAL_SEMAPHORE_PARAMS>() == 144);
};
