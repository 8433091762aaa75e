//! Buffers that release themselves, and moving values in and out of them by blocking commands.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_ffi::{
    CBool, ur_buffer_create_type_t, ur_buffer_properties_t, ur_buffer_region_t, ur_context_handle_t, ur_mem_flags_t,
    ur_mem_handle_t, ur_result_t,
};

use crate::owned::Mem;
use crate::{Fixture, Queue, expect_success, ok, ur};

/// One reference to a buffer or a part of one.
#[derive(Debug)]
pub struct Buffer {
    mem: Mem,
    size: usize,
}

/// `urMemBufferCreate`, any answer; `host` may be null.
pub fn create(
    context: ur_context_handle_t,
    flags: ur_mem_flags_t,
    size: usize,
    host: *mut c_void,
    out: *mut ur_mem_handle_t,
) -> ur_result_t {
    let properties = ur_buffer_properties_t { pHost: host, ..Default::default() };
    let properties = if host.is_null() { null() } else { &raw const properties };
    ur!(Mem.pfnBufferCreate(context, flags, size, properties, out))
}

impl Buffer {
    /// A buffer of the fixture's context that the implementation places.
    #[track_caller]
    #[must_use]
    pub fn new(fixture: &Fixture, size: usize) -> Self {
        Self::of(fixture.context(), ur_mem_flags_t::READ_WRITE, size, null_mut())
    }

    /// A buffer by all of its parameters; `host` may be null.
    #[track_caller]
    #[must_use]
    pub fn of(context: ur_context_handle_t, flags: ur_mem_flags_t, size: usize, host: *mut c_void) -> Self {
        let mut mem = null_mut();
        expect_success(create(context, flags, size, host, &raw mut mem), "urMemBufferCreate");
        Self { mem: Mem::take(mem), size }
    }

    /// Takes over a reference to a buffer of that size.
    #[must_use]
    pub fn take(mem: ur_mem_handle_t, size: usize) -> Self {
        Self { mem: Mem::take(mem), size }
    }

    /// A part of it.
    #[track_caller]
    #[must_use]
    pub fn part(&self, origin: usize, size: usize) -> Self {
        let region = ur_buffer_region_t { origin, size, ..Default::default() };
        let mut mem = null_mut();
        let kind = ur_buffer_create_type_t::REGION;
        ok!(Mem.pfnBufferPartition(self.handle(), ur_mem_flags_t::READ_WRITE, kind, &raw const region, &raw mut mem));
        Self::take(mem, size)
    }

    /// The handle, valid while this lives.
    #[must_use]
    pub fn handle(&self) -> ur_mem_handle_t {
        self.mem.handle()
    }

    /// Its size.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Writes values to the start and waits.
    #[track_caller]
    pub fn write<T: Copy>(&self, queue: &Queue, values: &[T]) {
        self.write_at(queue, 0, values);
    }

    /// Writes values behind as many bytes and waits.
    #[track_caller]
    pub fn write_at<T: Copy>(&self, queue: &Queue, offset: usize, values: &[T]) {
        let (mem, bytes, from) = (self.handle(), size_of_val(values), values.as_ptr().cast());
        ok!(Enqueue.pfnMemBufferWrite(queue.handle(), mem, CBool::TRUE, offset, bytes, from, 0, null(), null_mut()));
    }

    /// Reads everything and waits.
    #[track_caller]
    #[must_use]
    pub fn read<T: Copy + Default>(&self, queue: &Queue) -> Vec<T> {
        self.read_at(queue, 0, self.size / size_of::<T>())
    }

    /// Reads values behind as many bytes and waits.
    #[track_caller]
    #[must_use]
    pub fn read_at<T: Copy + Default>(&self, queue: &Queue, offset: usize, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        let (mem, bytes, to) = (self.handle(), count * size_of::<T>(), values.as_mut_ptr().cast());
        ok!(Enqueue.pfnMemBufferRead(queue.handle(), mem, CBool::TRUE, offset, bytes, to, 0, null(), null_mut()));
        values
    }

    /// Gives the reference back now and tells the answer.
    #[must_use]
    pub fn release(self) -> ur_result_t {
        self.mem.release()
    }
}
