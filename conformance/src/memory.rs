//! USM memory that frees itself, and moving values in and out of it by blocking copies.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};

use ur_ffi::{CBool, ur_context_handle_t, ur_device_handle_t, ur_mem_native_properties_t, ur_result_t, ur_usm_desc_t};

use crate::{Fixture, Queue, expect_code, expect_success, ok, refused, ur};

/// The kinds of USM memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `urUSMHostAlloc`.
    Host,
    /// `urUSMDeviceAlloc`.
    Device,
    /// `urUSMSharedAlloc`.
    Shared,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Host, Self::Device, Self::Shared];
    /// Those that the host may touch.
    pub const OF_HOST: [Self; 2] = [Self::Host, Self::Shared];
}

/// Whether the environment lets the adapter keep plain memory that is freed (`UR_USM_POOL`).
#[must_use]
pub fn is_pooled() -> bool {
    std::env::var("UR_USM_POOL").map_or(true, |value| value != "0")
}

/// Whether the environment has plain memory guarded and filled (`UR_USM_POOL_DEBUG`), which costs bytes and native calls.
#[must_use]
pub fn is_guarded() -> bool {
    is_pooled() && std::env::var("UR_USM_POOL_DEBUG").is_ok_and(|value| value != "0")
}

/// One allocation, any kind.
#[must_use]
pub fn allocate(
    kind: Kind,
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    desc: *const ur_usm_desc_t,
    bytes: usize,
    out: *mut *mut c_void,
) -> ur_result_t {
    match kind {
        Kind::Host => ur!(USM.pfnHostAlloc(context, desc, null_mut(), bytes, out)),
        Kind::Device => ur!(USM.pfnDeviceAlloc(context, device, desc, null_mut(), bytes, out)),
        Kind::Shared => ur!(USM.pfnSharedAlloc(context, device, desc, null_mut(), bytes, out)),
    }
}

/// Checks that no buffer is given memory to own.
#[track_caller]
pub fn expect_not_to_be_owned(context: ur_context_handle_t, pointer: *mut c_void) {
    let properties = ur_mem_native_properties_t { isNativeHandleOwned: CBool::TRUE, ..Default::default() };
    let (native, mut mem) = (pointer.expose_provenance(), null_mut());
    refused!(
        ERROR_INVALID_VALUE,
        Mem.pfnBufferCreateWithNativeHandle(native, context, &raw const properties, &raw mut mem)
    );
}

/// Checks that memory which a function of its own ends is not taken by what frees allocations.
#[track_caller]
pub fn expect_not_to_be_freed(context: ur_context_handle_t, pointer: *mut c_void) {
    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, pointer));
    expect_not_to_be_owned(context, pointer);
}

/// An allocation of a fixture's context.
#[derive(Debug)]
pub struct Memory<'f> {
    pointer: *mut c_void,
    bytes: usize,
    context: ur_context_handle_t,
    fixture: PhantomData<&'f Fixture>,
}

// SAFETY: the address is shared as a number; tests order their accesses by the API.
unsafe impl Send for Memory<'_> {}
// SAFETY: as above.
unsafe impl Sync for Memory<'_> {}

impl<'f> Memory<'f> {
    /// Memory of the fixture's context and first device.
    #[track_caller]
    pub fn new(fixture: &'f Fixture, kind: Kind, bytes: usize) -> Self {
        Self::on(fixture, kind, fixture.device(), bytes)
    }

    /// The same on any device of the context.
    #[track_caller]
    pub fn on(fixture: &'f Fixture, kind: Kind, device: ur_device_handle_t, bytes: usize) -> Self {
        let mut pointer = null_mut();
        let answer = allocate(kind, fixture.context(), device, null(), bytes, &raw mut pointer);
        expect_success(answer, "a USM allocation");
        assert!(!pointer.is_null(), "success came with a null pointer");
        Self { pointer, bytes, context: fixture.context(), fixture: PhantomData }
    }

    /// Frees memory of a device that may be lost, which the native library may say then.
    #[track_caller]
    pub fn free_lost(self) {
        let answer = ur!(USM.pfnFree(self.context, self.pointer));
        std::mem::forget(self);
        expect_code(answer, &[ur_result_t::SUCCESS, ur_result_t::ERROR_DEVICE_LOST], "urUSMFree");
    }

    /// Its address.
    #[must_use]
    pub fn pointer(&self) -> *mut c_void {
        self.pointer
    }

    /// Its size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address `bytes` further on.
    #[must_use]
    pub fn at(&self, bytes: usize) -> *mut c_void {
        assert!(bytes <= self.bytes);
        self.pointer.wrapping_byte_add(bytes)
    }

    /// A word of memory that the host may touch, read past every cache of the compiler's.
    #[must_use]
    pub fn load(&self, index: usize) -> u32 {
        assert!((index + 1) * 4 <= self.bytes);
        // SAFETY: in range, aligned, and readable by the host by the caller's choice of kind.
        unsafe { self.pointer.cast::<u32>().add(index).read_volatile() }
    }

    /// Writes a word of memory that the host may touch.
    pub fn store(&self, index: usize, value: u32) {
        assert!((index + 1) * 4 <= self.bytes);
        // SAFETY: as in `load`.
        unsafe { self.pointer.cast::<u32>().add(index).write_volatile(value) }
    }

    /// Copies values in, through the queue, and waits for them.
    #[track_caller]
    pub fn write<T: Copy>(&self, queue: &Queue, values: &[T]) {
        assert!(size_of_val(values) <= self.bytes);
        write(queue, self.pointer, values);
    }

    /// Copies values out, through the queue, once all before has run.
    #[track_caller]
    #[must_use]
    pub fn read<T: Copy + Default>(&self, queue: &Queue, count: usize) -> Vec<T> {
        assert!(count * size_of::<T>() <= self.bytes);
        read(queue, self.pointer, count)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        let answer = ur!(USM.pfnFree(self.context, self.pointer));
        if !std::thread::panicking() {
            expect_success(answer, "urUSMFree");
        }
    }
}

/// Words of device memory, 0 at first, that are looked at through a queue of their own. Copies to and from them run
/// beside the host on every driver; between two host allocations CUDA copies on the calling thread.
#[derive(Debug)]
pub struct Cells<'f> {
    memory: Memory<'f>,
    queue: Queue,
}

impl<'f> Cells<'f> {
    /// As many words.
    #[track_caller]
    #[must_use]
    pub fn new(fixture: &'f Fixture, count: usize) -> Self {
        let cells = Self { memory: fixture.memory(Kind::Device, 4 * count), queue: fixture.in_order() };
        cells.memory.write(&cells.queue, &vec![0u32; count]);
        cells
    }

    /// A word's address.
    #[must_use]
    pub fn at(&self, index: usize) -> *mut c_void {
        self.memory.at(4 * index)
    }

    /// A word's value now.
    #[track_caller]
    #[must_use]
    pub fn load(&self, index: usize) -> u32 {
        read(&self.queue, self.at(index), 1)[0]
    }

    /// Changes a word now.
    #[track_caller]
    pub fn store(&self, index: usize, value: u32) {
        write(&self.queue, self.at(index), &[value]);
    }
}

/// A blocking copy to any address.
#[track_caller]
pub fn write<T: Copy>(queue: &Queue, to: *mut c_void, values: &[T]) {
    let (bytes, from) = (size_of_val(values), values.as_ptr().cast());
    ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::TRUE, to, from, bytes, 0, null(), null_mut()));
}

/// A blocking copy from any address.
#[track_caller]
#[must_use]
pub fn read<T: Copy + Default>(queue: &Queue, from: *const c_void, count: usize) -> Vec<T> {
    let mut values = vec![T::default(); count];
    let (bytes, to) = (count * size_of::<T>(), values.as_mut_ptr().cast());
    ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::TRUE, to, from, bytes, 0, null(), null_mut()));
    values
}

/// Bytes that repeat late and differ by seed.
#[must_use]
pub fn pattern(seed: u32, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}
