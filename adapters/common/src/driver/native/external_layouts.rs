//! Layouts of imports from other APIs that both native libraries share.
//!
//! The driver API of CUDA and HIP's runtime agree on the numbers and structures below (a test of the HIP backend
//! compares them with HIP's headers), so they are declared once. Nothing here makes a native call.

use core::ffi::{c_int, c_uint};

use crate::driver::SemaphoreKind;

/// `CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD` / `hipExternalMemoryHandleTypeOpaqueFd`, and the semaphore's of that name.
pub const OPAQUE_FD: c_uint = 1;
/// `CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD` / `hipExternalSemaphoreHandleTypeTimelineSemaphoreFd`.
pub const TIMELINE_FD: c_uint = 9;

/// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC` / `hipExternalMemoryHandleDesc` of a file descriptor.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryDescriptor {
    /// [`OPAQUE_FD`].
    pub kind: c_uint,
    _gap: c_uint,
    /// The file descriptor, the first member of a union of 16 bytes.
    pub descriptor: c_int,
    _rest: [c_int; 3],
    /// Bytes.
    pub size: u64,
    /// None.
    pub flags: c_uint,
    _reserved: [c_uint; 16],
}

const _: () = assert!(size_of::<MemoryDescriptor>() == 104);

impl MemoryDescriptor {
    /// Memory of that size behind a descriptor.
    #[must_use]
    pub fn new(descriptor: c_int, size: u64) -> Self {
        Self { kind: OPAQUE_FD, _gap: 0, descriptor, _rest: [0; 3], size, flags: 0, _reserved: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_MEMORY_BUFFER_DESC` / `hipExternalMemoryBufferDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BufferDescriptor {
    /// The first byte in the imported memory.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// None.
    pub flags: c_uint,
    _reserved: [c_uint; 16],
}

const _: () = assert!(size_of::<BufferDescriptor>() == 88);

impl BufferDescriptor {
    /// That range.
    #[must_use]
    pub fn new(offset: u64, size: u64) -> Self {
        Self { offset, size, flags: 0, _reserved: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC` / `hipExternalSemaphoreHandleDesc` of a file descriptor.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreDescriptor {
    /// [`OPAQUE_FD`] or [`TIMELINE_FD`].
    pub kind: c_uint,
    _gap: c_uint,
    /// The file descriptor, the first member of a union of 16 bytes.
    pub descriptor: c_int,
    _rest: [c_int; 3],
    /// None.
    pub flags: c_uint,
    _reserved: [c_uint; 16],
}

const _: () = assert!(size_of::<SemaphoreDescriptor>() == 96);

impl SemaphoreDescriptor {
    /// A semaphore of that kind behind a descriptor.
    #[must_use]
    pub fn new(descriptor: c_int, kind: SemaphoreKind) -> Self {
        let kind = match kind {
            SemaphoreKind::Binary => OPAQUE_FD,
            SemaphoreKind::Timeline => TIMELINE_FD,
        };
        Self { kind, _gap: 0, descriptor, _rest: [0; 3], flags: 0, _reserved: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS` and `…_SIGNAL_PARAMS` / `hipExternalSemaphoreWaitParams` and `…SignalParams`: what
/// the two differ in is for other kinds of semaphores.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SemaphoreParameters {
    /// A timeline's value; nothing for a binary semaphore.
    pub value: u64,
    _rest: [u64; 8],
    /// None.
    pub flags: c_uint,
    _reserved: [c_uint; 16],
}

const _: () = assert!(size_of::<SemaphoreParameters>() == 144);

impl SemaphoreParameters {
    /// A wait for, or signal of, that value.
    #[must_use]
    pub fn new(value: u64) -> Self {
        Self { value, _rest: [0; 8], flags: 0, _reserved: [0; 16] }
    }
}
