//! Commands on buffers: read, write, copy, fill.
//!
//! A read takes the bytes from where they are and moves nothing; a copy takes its source likewise. What is written is
//! current at the queue's device alone afterwards.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::buffer::command::{
    Work, submit_on_buffers, with_locked_buffers, with_locked_buffers_from, with_locked_buffers_into,
};
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::storage::{BufferAccess, LockedBuffers};
use crate::command::Enqueue;
use crate::driver::Driver;
use crate::memory_object::{Mem, buffer_of};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Address;

/// `urEnqueueMemBufferRead`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`, `INVALID_SIZE`; what the native library answers.
pub fn read<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    blocking: bool,
    offset: usize,
    size: usize,
    to: Address,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::MEM_BUFFER_READ);
    let buffer = buffer_of(&request, buffer)?;
    let access = buffer.access("urEnqueueMemBufferRead", offset, size, true, false)?;
    let storage = &buffer.storage;
    let into_its_own = storage.host_pointer().is_some_and(|host| host + access.range.start == to.addr());
    let used = if into_its_own {
        BufferAccess::on_host(storage, access)
    } else {
        BufferAccess::anywhere(storage, access.range)
    };
    let into = to.addr()..to.addr().saturating_add(size);
    let to = CommandBytes::of_application(to, 0, size);
    with_locked_buffers_into(&request, blocking, into, &[used], move |_, _, locked| {
        if into_its_own {
            // The application's memory is one of the buffer's locations: bringing the bytes there is the command.
            return locked.prepare(0).map(|_| ());
        }
        let _scope = locked.device().enter_for_transfer()?;
        locked.copy_to(to, 0)
    })
}

/// `urEnqueueMemBufferWrite`.
///
/// # Errors
/// As [`read`].
pub fn write<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    blocking: bool,
    offset: usize,
    size: usize,
    from: Address,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::MEM_BUFFER_WRITE);
    let buffer = buffer_of(&request, buffer)?;
    let access = buffer.access("urEnqueueMemBufferWrite", offset, size, false, true)?;
    let storage = &buffer.storage;
    let from_its_own = storage.host_pointer().is_some_and(|host| host + access.range.start == from.addr());
    let used = BufferAccess::on_device(storage, access);
    let bytes = CommandBytes::of_application(from, 0, size);
    let from = from.addr()..from.addr().saturating_add(size);
    with_locked_buffers_from(&request, blocking, from, &[used], move |driver, stream, locked| {
        let to = locked.prepare(0)?;
        {
            let _scope = locked.device().enter_for_transfer()?;
            command_bytes::copy(driver, stream, to, bytes)?;
        }
        locked.commit(0)?;
        if from_its_own {
            locked.same_on_host(0);
        }
        Ok(())
    })
}

/// `urEnqueueMemBufferCopy`.
///
/// # Errors
/// As [`read`]; `OVERLAPPING_REGIONS` for ranges of one buffer that share bytes.
pub fn copy<D: Driver>(
    enqueue: Enqueue<'_, D>,
    from: &Object<Mem<D>>,
    to: &Object<Mem<D>>,
    from_offset: usize,
    to_offset: usize,
    size: usize,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferCopy";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_COPY);
    let (from, to) = (buffer_of(&request, from)?, buffer_of(&request, to)?);
    let read = from.access(NAME, from_offset, size, true, false)?.range;
    let written = to.access(NAME, to_offset, size, false, true)?;
    let (from, to) = (&from.storage, &to.storage);
    if Arc::ptr_eq(from, to) && read.start < written.range.end && written.range.start < read.end {
        return Err(overlap(NAME));
    }
    let uses = [BufferAccess::anywhere(from, read), BufferAccess::on_device(to, written)];
    with_locked_buffers(&request, false, &uses, |_, _, locked| {
        let to = locked.prepare(1)?;
        let _scope = locked.device().enter_for_transfer()?;
        locked.copy_to(to, 0)?;
        locked.commit(1)
    })
}

/// The error of a copy within one buffer whose ranges share bytes.
#[cold]
pub fn overlap(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_OVERLAPPING_REGIONS, format!("{name}: source and destination share bytes"))
}

/// `urEnqueueMemBufferFill`.
///
/// # Errors
/// As [`read`]; `INVALID_SIZE` for a pattern whose size is no power of two, or no divisor of offset and size.
pub fn fill<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    pattern: &[u8],
    offset: usize,
    size: usize,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferFill";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_FILL);
    let buffer = buffer_of(&request, buffer)?;
    let access = buffer.access(NAME, offset, size, false, true)?;
    let unit = pattern.len();
    if !(unit.is_power_of_two() && size.is_multiple_of(unit) && offset.is_multiple_of(unit)) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!(
                "{NAME}: {size} bytes at {offset} with a pattern of {unit}, which is no power of two or does not divide them"
            ),
        ));
    }
    let used = BufferAccess::on_device(&buffer.storage, access);
    submit_on_buffers(&request, false, &[used], Fill { pattern })
}

/// A fill of the one buffer.
struct Fill<P> {
    pattern: P,
}

impl<D: Driver, P: AsRef<[u8]>> Work<D> for Fill<P> {
    type Owned = Fill<SmallVec<[u8; 16]>>;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        let to = locked.prepare(0)?;
        // One for each byte of the pattern, if the library fills no wider units at the address.
        locked.count_more(self.pattern.as_ref().len() - 1);
        {
            let _scope = locked.device().enter_for_transfer()?;
            command_bytes::fill(driver, stream, to, self.pattern.as_ref())?;
        }
        locked.commit(0)
    }

    fn into_owned(self) -> Self::Owned {
        Fill { pattern: SmallVec::from_slice(self.pattern.as_ref()) }
    }
}
