//! `urEnqueueMemBufferMap` and `urEnqueueMemUnmap`.
//!
//! A buffer that uses the application's memory, or that lies in host memory, is mapped where it lies. Any other gets
//! pinned memory ([`crate::stream::staging`]) for each map ([`crate::buffer::maps`]).

use core::borrow::BorrowMut;
use core::ffi::c_void;
use core::ops::{Deref, Range};
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_map_flags_t, ur_result_t};

use crate::buffer::Buffer;
use crate::buffer::command::{Work, submit_on_buffers, submit_on_buffers_from, with_locked_buffers};
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::maps::{HeldSingle, Map, MapStaging, Single};
use crate::buffer::moving::Access;
use crate::buffer::storage::{BufferAccess, LockedBuffers};
use crate::command::{Enqueue, Request};
use crate::device::relief::reclaiming;
use crate::driver::Driver;
use crate::memory_object::{Mem, buffer_of, fast};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::stream::Stream;

/// `urEnqueueMemBufferMap`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; `INVALID_VALUE` for flags that contradict each other, `INVALID_SIZE`; what
/// the native library answers.
pub fn map<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    blocking: bool,
    flags: ur_map_flags_t,
    offset: usize,
    size: usize,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferMap";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_MAP);
    request.refuse_in_capture(NAME)?;
    let buffer = buffer_of(&request, buffer)?;
    let overwrites = flags.contains(ur_map_flags_t::WRITE_INVALIDATE_REGION);
    if overwrites && flags.intersects(ur_map_flags_t::READ | ur_map_flags_t::WRITE) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {flags:?} contradict each other; what is invalidated is neither read nor kept"),
        ));
    }
    let access = buffer.access(NAME, offset, size, !overwrites, flags != ur_map_flags_t::READ)?;
    let storage = &buffer.storage;
    let range = access.range.clone();
    let pointer = if let Some(address) = storage.shared_with_host() {
        with_locked_buffers(&request, blocking, &[], |_, _, _| Ok(()))?;
        address + range.start
    } else if let Some(address) = storage.host_pointer() {
        let used = BufferAccess::on_host(storage, access.clone());
        with_locked_buffers(&request, blocking, &[used], |_, _, locked| locked.prepare(0).map(|_| ()))?;
        address + range.start
    } else {
        out.write_address(staged(&request, blocking, buffer, &access)?);
        return Ok(());
    };
    buffer.maps().add(Map { pointer, range, writes: access.writes, staging: None });
    out.write_address(pointer);
    Ok(())
}

/// Maps pinned memory that nothing else uses, with the bytes in it if they are wanted; gives its address.
#[inline]
fn staged<D: Driver>(request: &Request<'_, D>, blocking: bool, buffer: &Buffer<D>, access: &Access) -> Result<usize> {
    let queue = request.queue;
    // What the host may write at once must be nobody's. A queue out of order has not chosen a stream yet.
    let stream = (access.reads && queue.is_in_order()).then(|| queue.first());
    let Some(mut held) = buffer.maps().free_single() else {
        return staged_beside(request, blocking, buffer, access, stream);
    };
    let pointer = held.with(|single| {
        if !stream.is_some_and(|stream| single.begin_again(stream, access.range.len())) {
            renew(request, buffer, access, stream, &mut single.staging)?;
        }
        (single.range, single.writes) = (access.range.clone(), access.writes);
        fill_map(request, blocking, buffer, access, &mut single.staging)
    })?;
    held.open_at(pointer);
    Ok(pointer)
}

/// As [`staged`], for a buffer that has a map already.
#[cold]
fn staged_beside<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    buffer: &Buffer<D>,
    access: &Access,
    stream: Option<&Arc<Stream<D>>>,
) -> Result<usize> {
    let mut staging = None;
    renew(request, buffer, access, stream, &mut staging)?;
    let pointer = fill_map(request, blocking, buffer, access, &mut staging)?;
    buffer.maps().add(Map { pointer, range: access.range.clone(), writes: access.writes, staging });
    Ok(pointer)
}

/// Puts memory for a map in the place of what cannot be that.
#[cold]
#[inline(never)]
fn renew<D: Driver>(
    request: &Request<'_, D>,
    buffer: &Buffer<D>,
    access: &Access,
    stream: Option<&Arc<Stream<D>>>,
    place: &mut Option<MapStaging<D>>,
) -> Result<()> {
    let (maps, device) = (buffer.maps(), &request.queue.device);
    if let Some(before) = place.take() {
        maps.keep(before);
    }
    let take = || maps.take_staging(&device.native, stream, access.range.len());
    *place = Some(reclaiming(&device.device, take)?);
    Ok(())
}

/// Enqueues the copy into a map's memory, or its place in the queue's order; gives the memory's address.
#[inline]
fn fill_map<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    buffer: &Buffer<D>,
    access: &Access,
    staging: &mut Option<MapStaging<D>>,
) -> Result<usize> {
    let storage = &buffer.storage;
    match storage.bytes_in_place(&access.range).filter(|_| access.reads) {
        Some(bytes) => fast::fill_map(request, blocking, storage, access, bytes, staging)?,
        None => {
            let used = BufferAccess::anywhere(storage, access.range.clone());
            submit_on_buffers(request, blocking, &[used], CopyOut { staging: &mut *staging, reads: access.reads })?;
        }
    }
    let Some(staging) = staging else { unreachable!("whoever is lent a map's memory leaves it there") };
    Ok(staging.lend(|staging| staging.address()))
}

/// The copy of a buffer's bytes into a map's memory, or its place in the queue's order if they are not wanted. `M` is the slot
/// of the memory.
pub(super) struct CopyOut<M> {
    pub(super) staging: M,
    pub(super) reads: bool,
}

impl<D: Driver, M: BorrowMut<Option<MapStaging<D>>>> Work<D> for CopyOut<M> {
    type Owned = CopyOut<Option<MapStaging<D>>>;

    fn put_on(&mut self, _: &'static D, _: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        let Some(staging) = self.staging.borrow_mut().as_mut().filter(|_| self.reads) else { return Ok(()) };
        let _scope = locked.device().enter_for_transfer()?;
        locked.copy_to(use_staging(locked, staging), 0)
    }

    fn into_owned(mut self) -> Self::Owned {
        CopyOut { staging: MapStaging::share(self.staging.borrow_mut()), reads: self.reads }
    }
}

/// Notes a copy through a map's memory; gives its bytes. Before the copy: of several some may be on the stream when one fails.
fn use_staging<D: Driver>(locked: &LockedBuffers<'_, '_, '_, D>, staging: &mut MapStaging<D>) -> CommandBytes {
    staging.lend(|staging| {
        locked.note_use(staging);
        CommandBytes::of_staging(staging)
    })
}

/// A map that is being ended. As long as that is not done, and if it never will be, the map is there again afterwards. `M` is
/// the way to the memory object, which only a deferred command has to keep.
pub(super) struct Unmapping<D: Driver, M: Deref<Target = Object<Mem<D>>>> {
    pub(super) mem: M,
    pub(super) map: Option<Map<D>>,
}

impl<D: Driver, M: Deref<Target = Object<Mem<D>>>> Unmapping<D, M> {
    /// Notes that the unmap is on its stream.
    fn done(&mut self) {
        if let (Some(staging), Ok(buffer)) = (self.map.take().and_then(|map| map.staging), self.mem.buffer()) {
            buffer.maps().keep(staging);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_back(&mut self) {
        if let (Some(map), Ok(buffer)) = (self.map.take(), self.mem.buffer()) {
            buffer.maps().add(map);
        }
    }
}

impl<D: Driver, M: Deref<Target = Object<Mem<D>>>> Drop for Unmapping<D, M> {
    fn drop(&mut self) {
        if self.map.is_some() {
            self.take_back();
        }
    }
}

impl<D: Driver, M: Deref<Target = Object<Mem<D>>>> Work<D> for Unmapping<D, M> {
    type Owned = Unmapping<D, Arc<Object<Mem<D>>>>;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        match self.map.as_mut().filter(|map| map.writes).map(|map| &mut map.staging) {
            Some(Some(staging)) => write_back(driver, stream, locked, staging)?,
            Some(None) => locked.commit(0)?,
            None => {}
        }
        self.done();
        Ok(())
    }

    fn into_owned(mut self) -> Self::Owned {
        Unmapping { mem: self.mem.to_arc(), map: self.map.take() }
    }
}

/// `urEnqueueMemUnmap`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; `INVALID_VALUE` for an address that no map of this object gave; what the
/// native library answers: the map is still there then. So it is if the command is deferred and fails.
pub fn unmap<D: Driver>(enqueue: Enqueue<'_, D>, mem: &Object<Mem<D>>, pointer: Address) -> Result<()> {
    let request = enqueue.request(ur_command_t::MEM_UNMAP);
    request.refuse_in_capture("urEnqueueMemUnmap")?;
    let buffer = buffer_of(&request, mem)?;
    if let Some(held) = buffer.maps().single_at(pointer.addr()) {
        return unmap_single(&request, mem, buffer, pointer.addr(), held);
    }
    let map = buffer.maps().take(pointer.addr()).ok_or_else(|| {
        let text = format!("urEnqueueMemUnmap: no map of this object gave {:p}", pointer.as_ptr());
        Error::new(ur_result_t::ERROR_INVALID_VALUE, text)
    })?;
    let used = use_of(buffer, map.range.clone(), map.writes, map.staging.is_some());
    // Whoever brings bytes from the application's memory later copies what is there when the unmap is over.
    let from = pointer.addr()..pointer.addr().saturating_add(map.range.len());
    let unmapping = Unmapping { mem, map: Some(map) };
    submit_on_buffers_from(&request, false, from, used.as_slice(), unmapping)
}

/// What an unmap does with the buffer's bytes.
fn use_of<D: Driver>(
    buffer: &Buffer<D>,
    range: Range<usize>,
    writes: bool,
    is_staged: bool,
) -> Option<BufferAccess<'_, D>> {
    let access = Access { range, reads: false, writes };
    match (writes, is_staged) {
        (true, true) => Some(BufferAccess::on_device(&buffer.storage, access)),
        (true, false) => Some(BufferAccess::on_host(&buffer.storage, access)),
        (false, _) => None,
    }
}

/// Ends the map in its buffer's slot. If that fails it is there again.
#[inline]
fn unmap_single<D: Driver>(
    request: &Request<'_, D>,
    mem: &Object<Mem<D>>,
    buffer: &Buffer<D>,
    pointer: usize,
    mut held: HeldSingle<'_, D>,
) -> Result<()> {
    held.with(|single| match buffer.storage.bytes_in_place(&single.range).filter(|_| single.writes) {
        Some(bytes) => fast::empty_map(request, mem, bytes, pointer, single),
        None => {
            let used = use_of(buffer, single.range.clone(), single.writes, true);
            submit_on_buffers(request, false, used.as_slice(), UnmappingSingle { mem, pointer, single })
        }
    })?;
    held.close();
    Ok(())
}

/// As [`Unmapping`], for the map in its buffer's slot. What is deferred takes it out of there.
pub(super) struct UnmappingSingle<'s, D: Driver> {
    pub(super) mem: &'s Object<Mem<D>>,
    pub(super) pointer: usize,
    pub(super) single: &'s mut Single<D>,
}

impl<D: Driver> Work<D> for UnmappingSingle<'_, D> {
    type Owned = Unmapping<D, Arc<Object<Mem<D>>>>;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        match &mut self.single.staging {
            Some(staging) if self.single.writes => write_back(driver, stream, locked, staging),
            _ => Ok(()),
        }
    }

    fn into_owned(self) -> Self::Owned {
        Unmapping { mem: self.mem.to_arc(), map: Some(self.single.take_out(self.pointer)) }
    }
}

fn write_back<D: Driver>(
    driver: &D,
    stream: &D::Stream,
    locked: &LockedBuffers<'_, '_, '_, D>,
    staging: &mut MapStaging<D>,
) -> Result<()> {
    let to = locked.prepare(0)?;
    {
        let _scope = locked.device().enter_for_transfer()?;
        command_bytes::copy(driver, stream, to, use_staging(locked, staging))?;
    }
    locked.commit(0)
}
