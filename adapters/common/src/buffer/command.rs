//! The command that works with buffers: it locks their bytes while it is put on its stream, and brings them there first.
//!
//! One that is deferred keeps the storages and what it does with their bytes ([`Work::Owned`]); it locks nothing until its
//! turn. A device's memory is made at the enqueue all the same: so the one who enqueues hears that there is none, and whoever
//! submits deferred commands does not wait for it.

use core::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::buffer::pending_uses::CommandStream;
use crate::buffer::storage::{At, BufferAccess, CapturedBytes, LockedBuffers, Memory, OwnedAccess};
use crate::command::deferral::{Deferring, Owned};
use crate::command::submission::Submission;
use crate::command::{Command, Request, erased, submit, submit_and_wait};
use crate::context::DeviceState;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::queue::Queue;
use crate::stream::capture::{self, Capture};
use crate::usm::from_application::submit_erased_from;
use crate::usm::graph_writes;

/// What a command does with buffers, whose bytes are locked meanwhile.
pub trait Work<D: Driver>: Sized {
    /// The same, when it holds all that it needs.
    type Owned: Work<D, Owned = Self::Owned> + Send + 'static;

    /// Puts it on the stream, once. What it holds is dropped later, without a lock.
    ///
    /// # Errors
    /// What the native library answers.
    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()>;

    /// Lets it be kept: what of the application's memory it reads when it is enqueued, it copies.
    fn into_owned(self) -> Self::Owned;

    /// Keeps with a capture what it uses at the device beside the buffers.
    ///
    /// # Errors
    /// As [`Capture::keep_memory`].
    fn keep(&self, _capture: &Capture<D>, _device: &Arc<DeviceState<D>>) -> Result<()> {
        Ok(())
    }

    /// Whether it could block where a command on device memory alone would not, as a copy from pageable memory can.
    fn may_block(&self) -> bool {
        true
    }
}

/// Work that a function does.
struct Function<F>(F);

impl<D: Driver, F> Work<D> for Function<F>
where
    F: FnMut(&'static D, &D::Stream, &LockedBuffers<'_, '_, '_, D>) -> Result<()> + Send + 'static,
{
    type Owned = Self;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        (self.0)(driver, stream, locked)
    }

    fn into_owned(self) -> Self {
        self
    }
}

/// Work that a function does, which copies to an address of the application's.
struct IntoApplication<F> {
    to: Range<usize>,
    function: F,
}

impl<D: Driver, F> Work<D> for IntoApplication<F>
where
    F: FnMut(&'static D, &D::Stream, &LockedBuffers<'_, '_, '_, D>) -> Result<()> + Send + 'static,
{
    type Owned = Self;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        (self.function)(driver, stream, locked)
    }

    fn into_owned(self) -> Self {
        self
    }

    fn keep(&self, _: &Capture<D>, device: &Arc<DeviceState<D>>) -> Result<()> {
        graph_writes::note(device.driver, self.to.clone());
        Ok(())
    }
}

/// Puts a command on its queue that works with buffers of the queue's context in a way of its own.
///
/// # Errors
/// As [`submit_on_buffers`].
pub fn with_locked_buffers<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    uses: &[BufferAccess<'_, D>],
    work: impl FnMut(&'static D, &D::Stream, &LockedBuffers<'_, '_, '_, D>) -> Result<()> + Send + 'static,
) -> Result<()> {
    submit_erased_on_buffers(request, blocking, uses, Function(work))
}

/// As [`with_locked_buffers`] for a command that copies to an address of the application's.
///
/// # Errors
/// As [`submit_on_buffers`].
pub fn with_locked_buffers_into<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    to: Range<usize>,
    uses: &[BufferAccess<'_, D>],
    function: impl FnMut(&'static D, &D::Stream, &LockedBuffers<'_, '_, '_, D>) -> Result<()> + Send + 'static,
) -> Result<()> {
    submit_erased_on_buffers(request, blocking, uses, IntoApplication { to, function })
}

/// As [`submit_on_buffers`], by a pointer to the command.
fn submit_erased_on_buffers<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    uses: &[BufferAccess<'_, D>],
    work: impl Work<D>,
) -> Result<()> {
    let command = OnBuffers::new(request.queue, uses, work)?;
    if blocking { submit_and_wait(request, command) } else { erased::submit(request, command) }
}

/// Puts a command on its queue that works with buffers of the queue's context.
///
/// # Errors
/// As [`submit`]; what the work answers, and the native library to memory that is made for it.
pub fn submit_on_buffers<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    uses: &[BufferAccess<'_, D>],
    work: impl Work<D>,
) -> Result<()> {
    let command = OnBuffers::new(request.queue, uses, work)?;
    if blocking { submit_and_wait(request, command) } else { submit(request, command) }
}

/// As [`submit_on_buffers`] for a command that copies from an address of the application's.
///
/// # Errors
/// As [`submit_on_buffers`].
pub fn submit_on_buffers_from<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    from: Range<usize>,
    uses: &[BufferAccess<'_, D>],
    work: impl Work<D>,
) -> Result<()> {
    let command = OnBuffers::new(request.queue, uses, work)?;
    submit_erased_from(request, blocking, from, command)
}

/// As [`with_locked_buffers`] for a command that copies from an address of the application's.
///
/// # Errors
/// As [`submit_on_buffers`].
pub fn with_locked_buffers_from<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    from: Range<usize>,
    uses: &[BufferAccess<'_, D>],
    work: impl FnMut(&'static D, &D::Stream, &LockedBuffers<'_, '_, '_, D>) -> Result<()> + Send + 'static,
) -> Result<()> {
    submit_on_buffers_from(request, blocking, from, uses, Function(work))
}

/// A command that works with buffers.
struct OnBuffers<'s, 'q, 'u, D: Driver, W> {
    queue: &'q Object<Queue<D>>,
    location: usize,
    uses: &'u [BufferAccess<'s, D>],
    work: W,
}

impl<'s, 'q, 'u, D: Driver, W: Work<D>> OnBuffers<'s, 'q, 'u, D, W> {
    /// Makes what memory of the device it needs.
    fn new(queue: &'q Object<Queue<D>>, uses: &'u [BufferAccess<'s, D>], work: W) -> Result<Self> {
        // A buffer is at devices by their index in its context, which is the queue's.
        let location = queue.device.index();
        for used in uses {
            // What is read wherever it is needs no memory of the device, unless the device is the only one.
            if used.at == At::Device || matches!(used.storage.memory, Memory::Late(_)) {
                used.storage.make(&queue.device, location)?;
            }
        }
        Ok(Self { queue, location, uses, work })
    }
}

impl<D: Driver, W: Work<D>> Command<D> for OnBuffers<'_, '_, '_, D, W> {
    type Output = ();

    fn put_on(mut self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        let native = CommandStream::new(&self.queue.device, stream, Some(self.queue), self.location);
        let place = (submission.stream(), submission.position());
        let locked = LockedBuffers::open(native, place, self.uses);
        let put = self.work.put_on(driver, stream, &locked);
        // Also of one that has failed, some are on the stream.
        submission.count_more(locked.further_calls());
        put
    }

    /// A launch uses the addresses that are told now, which are those of the memory at the queue's device. Bytes that move are brought
    /// there when the graph is launched.
    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        for used in self.uses {
            let storage = Arc::clone(used.storage);
            match (&used.storage.memory, used.at) {
                (Memory::Moving(_), At::Host) => {
                    return Err(capture::unsupported("a command on a buffer's bytes in the application's memory"));
                }
                (Memory::Moving(_), _) => {
                    let bytes = CapturedBytes { storage, access: used.access.clone() };
                    capture.keep_memory(Arc::new(bytes), &self.queue.device)?;
                }
                _ => capture.keep(storage),
            }
        }
        self.work.keep(capture, &self.queue.device)
    }

    fn put_in_capture(mut self, submission: &mut Submission<'_, D>, _: &Capture<D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        let native = CommandStream::new(&self.queue.device, stream, Some(self.queue), self.location);
        let place = (submission.stream(), submission.position());
        self.work.put_on(driver, stream, &LockedBuffers::in_capture(native, place, self.uses)?)
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((deferred(self.uses, self.work.into_owned()), ()))
    }
}

/// A command that works with buffers, deferred.
pub fn deferred<D: Driver, W: Work<D, Owned = W> + Send + 'static>(
    uses: &[BufferAccess<'_, D>],
    work: W,
) -> Box<dyn Owned<D>> {
    Box::new(OwnedOnBuffers { uses: uses.iter().map(BufferAccess::to_owned).collect(), work })
}

/// The same, deferred.
struct OwnedOnBuffers<D: Driver, W> {
    uses: SmallVec<[OwnedAccess<D>; 1]>,
    work: W,
}

/// Work of a command that is dropped under the stream's lock, which the work outlives.
struct Lent<'w, W>(&'w mut Option<W>);

impl<D: Driver, W: Work<D, Owned = W> + Send + 'static> Work<D> for Lent<'_, W> {
    type Owned = W;

    fn put_on(&mut self, driver: &'static D, stream: &D::Stream, locked: &LockedBuffers<'_, '_, '_, D>) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |work| work.put_on(driver, stream, locked))
    }

    fn into_owned(self) -> W {
        let Some(work) = self.0.take() else { unreachable!("a command is deferred or put on a stream") };
        work
    }
}

impl<D: Driver, W: Work<D, Owned = W> + Send + 'static> Owned<D> for OwnedOnBuffers<D, W> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        let Self { uses, work } = *self;
        let mut work = Some(work);
        let submitted = {
            let uses: SmallVec<[_; 2]> = uses.iter().map(OwnedAccess::borrow).collect();
            submit_erased_on_buffers(request, false, &uses, Lent(&mut work))
        };
        end(uses, work);
        submitted
    }

    fn fail(self: Box<Self>, _: &Error) {
        end(self.uses, Some(self.work));
    }

    /// Bytes that move can be locked by a thread that is inside a native call.
    fn may_block(&self) -> bool {
        self.work.may_block() || self.uses.iter().any(|used| used.borrow().storage.moves())
    }
}

/// Ends a deferred command's uses of buffers, before anybody hears of the command.
fn end<D: Driver, W>(uses: SmallVec<[OwnedAccess<D>; 1]>, work: Option<W>) {
    // It may hold a buffer too.
    drop(work);
    uses.into_iter().for_each(OwnedAccess::end);
}
