//! `urEnqueueMemBufferMap` and `urEnqueueMemUnmap`.
//!
//! A buffer that uses the application's memory, or that lies in host memory, is mapped where it lies. Any other gets
//! pinned memory ([`crate::stream::staging`]) for each map ([`crate::buffer::maps`]).

use core::borrow::BorrowMut;
use core::ffi::c_void;
use core::ops::Deref;
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_map_flags_t, ur_result_t};

use crate::buffer::Buffer;
use crate::buffer::command::{Work, submit_on_buffers, with_locked_buffers};
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::maps::{Map, MapStaging};
use crate::buffer::moving::Access;
use crate::buffer::storage::{BufferAccess, LockedBuffers};
use crate::command::{Enqueue, Request};
use crate::device::relief::reclaiming;
use crate::driver::Driver;
use crate::memory_object::{Mem, buffer_of};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};

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
    let (pointer, staging) = if let Some(address) = storage.shared_with_host() {
        with_locked_buffers(&request, blocking, &[], |_, _, _| Ok(()))?;
        (address + range.start, None)
    } else if let Some(address) = storage.host_pointer() {
        let used = BufferAccess::on_host(storage, access.clone());
        with_locked_buffers(&request, blocking, &[used], |_, _, locked| locked.prepare(0).map(|_| ()))?;
        (address + range.start, None)
    } else {
        let (address, staging) = staged(&request, blocking, buffer, &access)?;
        (address, Some(staging))
    };
    buffer.maps().add(Map { pointer, range, writes: access.writes, staging });
    out.write_address(pointer);
    Ok(())
}

/// Pinned memory that nothing else uses, with the bytes in it if they are wanted; its address first.
fn staged<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    buffer: &Buffer<D>,
    access: &Access,
) -> Result<(usize, MapStaging<D>)> {
    let queue = request.queue;
    let reads = access.reads;
    // What the host may write at once must be nobody's. A queue out of order has not chosen a stream yet.
    let stream = (reads && queue.is_in_order()).then(|| queue.first());
    let take = || buffer.maps().take_staging(&queue.device.native, stream, access.range.len());
    let staging = reclaiming(&queue.device.device, take)?;
    let address = staging.address();
    let mut staging = Some(MapStaging::Own(staging));
    let used = BufferAccess::anywhere(&buffer.storage, access.range.clone());
    submit_on_buffers(request, blocking, &[used], CopyOut { staging: &mut staging, reads })?;
    let Some(staging) = staging else { unreachable!("whoever is lent a map's memory leaves it there") };
    Ok((address, staging))
}

/// The copy of a buffer's bytes into a map's memory, or its place in the queue's order if they are not wanted. `M` is the slot
/// of the memory.
struct CopyOut<M> {
    staging: M,
    reads: bool,
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
struct Unmapping<D: Driver, M: Deref<Target = Object<Mem<D>>>> {
    mem: M,
    map: Option<Map<D>>,
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
    let map = buffer.maps().take(pointer.addr()).ok_or_else(|| {
        let text = format!("urEnqueueMemUnmap: no map of this object gave {:p}", pointer.as_ptr());
        Error::new(ur_result_t::ERROR_INVALID_VALUE, text)
    })?;
    let access = Access { range: map.range.clone(), reads: false, writes: map.writes };
    let used = match (map.writes, &map.staging) {
        (true, Some(_)) => Some(BufferAccess::on_device(&buffer.storage, access)),
        (true, None) => Some(BufferAccess::on_host(&buffer.storage, access)),
        (false, _) => None,
    };
    submit_on_buffers(&request, false, used.as_slice(), Unmapping { mem, map: Some(map) })
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
