//! The one way onto a queue: a command type that says what it does, and one guard that keeps the rules of the stream it goes on.
//!
//! An entry point makes a [`Command`] and gives it to [`submit`]; [`Submission`] is the guard. A command can add itself to a
//! native graph instead ([`Command::add_to`]), or make itself owned ([`Command::into_owned`]), so that it can be kept until what
//! it comes after was submitted: so a command holds all that it needs, and nothing here looks inside. The stream's lock is held
//! over the native call, which may block; [`crate::stream`] says what that means for everybody else.
//!
//! Must not allocate on the way of a command that needs no event, nor make a native call that the command does not need.

pub mod barrier;
pub(crate) mod captured;
pub(crate) mod deferral;
pub mod enqueue;
pub(crate) mod erased;
pub mod graph;
pub(crate) mod reusable_event;
pub mod submission;

use core::ops::ControlFlow;
use std::sync::Arc;

use crate::command::deferral::{Deferring, Owned, Place};
use crate::command::erased::{Erased, with_erased};
use crate::command::graph::GraphBuilder;
use crate::command::submission::{Barrier, Needed, Submission};
use crate::device::relief;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::queue::Chosen;
use crate::stream::capture::Capture;
use crate::stream::event::EventPromise;
use crate::stream::promise::Promise;
use crate::stream::{Stream, StreamState};
use crate::sync::unlikely::{likely_ok, unlikely};

#[cfg(feature = "testing")]
pub use crate::command::deferral::testing;
pub use crate::command::enqueue::{Enqueue, EventOut, OwnEvent, Request, event_input};

/// Something that a stream can be given.
pub trait Command<D: Driver>: Sized {
    /// What the enqueue gives back beside the event.
    type Output;

    /// Whether the command puts work on the stream in any case. One that does not records and counts by
    /// [`Submission::begin_work`] what it does put there, and is not told apart from the commands before it otherwise.
    #[inline(always)]
    fn touches_stream(&self) -> bool {
        true
    }

    /// Takes what the command needs from what the stream keeps, before anything has happened. A break ends the submission
    /// with that output, and without an event.
    ///
    /// # Errors
    /// Whatever keeps the command from being submitted.
    #[inline(always)]
    fn prepare(&mut self, _state: &mut StreamState<D>) -> Result<ControlFlow<Self::Output>> {
        Ok(ControlFlow::Continue(()))
    }

    /// Gives back what [`Command::prepare`] took, if the stream could then not be made ready. The command may be prepared again.
    #[inline(always)]
    fn undo(&mut self, _state: &mut StreamState<D>) {}

    /// Puts the command on the stream, which is ready for it.
    ///
    /// # Errors
    /// What the native library answers.
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Self::Output>;

    /// Whether a capture can hold the command; keeps with the capture what the command's launches need.
    ///
    /// # Errors
    /// `GRAPH_CAPTURE_UNSUPPORTED` for a command that a capture cannot hold, which most say of themselves: those whose work is
    /// done once (on the host, or in the engine's bookkeeping), and those that wait.
    #[cold]
    fn check_capture(&self, _capture: &Capture<D>) -> Result<()> {
        Err(captured::not_capturable(core::any::type_name::<Self>()))
    }

    /// As [`Command::put_on`], on a stream that captures. Neither [`Command::prepare`] nor [`Command::undo`] is called.
    ///
    /// # Errors
    /// What the native library answers.
    #[cold]
    fn put_in_capture(self, submission: &mut Submission<'_, D>, _capture: &Capture<D>) -> Result<Self::Output> {
        self.put_on(submission)
    }

    /// Makes the command one that holds all that it needs, so that it can be kept; what of the application's memory it reads
    /// when it is enqueued, it copies.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for a command that cannot be kept. Nothing has happened then.
    #[cold]
    fn into_owned(self, _keeping: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Self::Output)> {
        deferral::not_deferrable(core::any::type_name::<Self>())
    }

    /// Adds the command to a native graph, each launch of which then does what the command says: so what whoever made the
    /// command was promised of memory holds for every launch.
    ///
    /// # Errors
    /// What the native library answers; `UNSUPPORTED_FEATURE` for a command that no graph can hold.
    fn add_to(self, _graph: &mut GraphBuilder<'_, D>) -> Result<()> {
        not_recordable(core::any::type_name::<Self>())
    }
}

/// What a command answers that no graph can hold.
#[cold]
fn not_recordable<T>(path: &str) -> Result<T> {
    let name = path.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(path);
    Err(Error::unsupported(&format!("the command {name} in a graph (enqueue it on a queue instead)")))
}

/// Puts a command on its queue and returns its event. On failure no event is returned, and none was lost.
///
/// # Errors
/// What the command and the native library answer.
#[inline(always)]
pub fn submit<D: Driver, C: Command<D>>(request: &Request<'_, D>, command: C) -> Result<C::Output> {
    attempt::<D, C, false>(request, command)
}

/// As [`submit`]. A command that found no memory before it was put on its stream is put there once more behind what is given
/// back, unless this is that time.
#[inline(always)]
fn attempt<D: Driver, C: Command<D>, const IS_LAST: bool>(
    request: &Request<'_, D>,
    mut command: C,
) -> Result<C::Output> {
    let mut chosen = None;
    // What plain queues do not need is out of their way.
    let (stream, target) = if unlikely!(!request.queue.is_plain()) {
        if request.queue.capture().is_some() {
            return elsewhere(request, command, Elsewhere::Capture);
        }
        if request.queue.is_deferring() && request.must_be_deferred() {
            return elsewhere(request, command, Elsewhere::Deferred);
        }
        let target = chosen.insert(Target::choose(request)?);
        if request.comes_after_kept(&target.barrier) {
            return elsewhere(request, command, Elsewhere::Deferred);
        }
        (&*target.stream, Some(&*target))
    } else {
        (request.queue.first(), None)
    };
    let (barrier, is_timed) = (target.map(|target| &target.barrier), target.is_some_and(|target| target.is_timed));
    let queued = if is_timed { deferral::queued(request.queue) } else { 0 };
    let waits = if unlikely!(!request.waits.is_empty()) && !request.waits.is_one_before_on(stream) {
        match Needed::by(&request.waits, stream)? {
            Needed::Nothing => None,
            Needed::Waits => Some(&request.waits),
            Needed::Capture => return elsewhere(request, command, Elsewhere::Capture),
            Needed::Submission => return elsewhere(request, command, Elsewhere::Deferred),
        }
    } else {
        None
    };
    let mut submission = Submission::with_waits(stream, waits);
    if let ControlFlow::Break(output) = command.prepare(submission.state())? {
        return Ok(output);
    }
    if command.touches_stream() || is_timed || submission.must_come_after(barrier) {
        if let Err(error) = submission.come_after(barrier) {
            return not_ready::<D, C, IS_LAST>(request, command, submission, error);
        }
        submission.count();
    }
    if unlikely!(is_timed) {
        return put_timed(request, command, submission, queued);
    }
    let output = likely_ok!(put(command, &mut submission));
    likely_ok!(submission.return_event(request, None));
    submission.end();
    if unlikely!(chosen.is_some()) {
        drop(chosen);
    } else {
        // Nothing to drop, and no code to look whether there is.
        core::mem::forget(chosen);
    }
    Ok(output)
}

/// Puts a command on its stream, which is ready for it.
#[inline(always)]
fn put<D: Driver, C: Command<D>>(command: C, submission: &mut Submission<'_, D>) -> Result<C::Output> {
    // What puts work on the stream may block in the native library, and others must be able to tell.
    let native_call = if command.touches_stream() { Some(submission.stream().begin_call()) } else { None };
    let output = command.put_on(submission);
    drop(native_call);
    output
}

/// As the end of [`attempt`], for a command whose times are wanted.
#[inline(never)]
fn put_timed<D: Driver, C: Command<D>>(
    request: &Request<'_, D>,
    mut command: C,
    mut submission: Submission<'_, D>,
    queued: u64,
) -> Result<C::Output> {
    let start = match submission.start_times(queued) {
        Ok(start) => start,
        Err(error) => {
            command.undo(submission.state());
            return Err(error);
        }
    };
    let output = put(command, &mut submission)?;
    submission.return_event(request, Some(start))?;
    submission.end();
    Ok(output)
}

/// Where a command goes that is not put on its stream now.
enum Elsewhere {
    /// Into a capture.
    Capture,
    /// It is kept for later.
    Deferred,
}

/// Puts a command elsewhere than on its stream.
#[cold]
#[inline(never)]
fn elsewhere<D: Driver, C: Command<D>>(request: &Request<'_, D>, command: C, place: Elsewhere) -> Result<C::Output> {
    with_erased(command, |command| match place {
        Elsewhere::Capture => captured::submit(request, command),
        Elsewhere::Deferred => defer(request, command),
    })
}

/// What is left for a command whose stream could not be made ready for it: one more time behind a relief if it is memory that
/// was lacking.
#[cold]
#[inline(never)]
fn not_ready<D: Driver, C: Command<D>, const IS_LAST: bool>(
    request: &Request<'_, D>,
    mut command: C,
    mut submission: Submission<'_, D>,
    error: Error,
) -> Result<C::Output> {
    command.undo(submission.state());
    drop(submission);
    if IS_LAST {
        return Err(error);
    }
    with_erased(command, |command| once_more(request, command, error))
}

/// As [`not_ready`], of a command of which nothing is on a stream. No stream is locked.
#[cold]
#[inline(never)]
fn once_more<D: Driver>(request: &Request<'_, D>, command: Erased<'_, D>, error: Error) -> Result<()> {
    if !relief::is_full(&error) {
        return Err(error);
    }
    let device = &request.queue.device.device;
    match relief::relieve(device) {
        Ok(_) => attempt::<D, _, true>(request, command).map_err(|error| relief::told(error, device)),
        Err(_) => Err(error),
    }
}

/// Keeps a command that comes after what nobody has submitted.
///
/// # Errors
/// As [`Command::into_owned`] and [`Request::bind_waits`]. What the native library answers once the command is submitted is
/// told by its event and by the queue's finish.
#[cold]
#[inline(never)]
fn defer<D: Driver>(request: &Request<'_, D>, command: Erased<'_, D>) -> Result<()> {
    let waits = request.bind_waits()?;
    let promise = Promise::of_command();
    let (owned, ()) = command.into_owned(&Deferring { request, promise: &promise })?;
    deferral::defer(request, waits, Place::InOrder, &promise, owned);
    Ok(())
}

/// As [`submit`], and blocks until the command has finished.
///
/// # Errors
/// What the native library answers. Once the command is on the queue its event is returned even if waiting fails.
#[inline(never)]
pub fn submit_and_wait<D: Driver, C: Command<D>>(request: &Request<'_, D>, command: C) -> Result<C::Output> {
    let mut went = None;
    let output = with_erased(command, |command| {
        let ((), to) = submit(request, WithStream(command))?;
        went = Some(to);
        Ok(())
    })?;
    went.map_or(Ok(()), Went::finish)?;
    Ok(output)
}

/// As [`submit`], or as [`submit_and_wait`] if it blocks, for a command that is kept whatever it comes after: it is submitted in its turn,
/// by a worker if that could block.
///
/// # Errors
/// As [`defer`].
#[cold]
#[inline(never)]
pub(crate) fn keep<D: Driver, C: Command<D>>(
    request: &Request<'_, D>,
    blocking: bool,
    command: C,
) -> Result<C::Output> {
    if !blocking {
        return elsewhere(request, command, Elsewhere::Deferred);
    }
    let (output, went) = elsewhere(request, WithStream(command), Elsewhere::Deferred)?;
    went.finish()?;
    Ok(output)
}

/// A command that does nothing, and has its place and its event.
pub struct Empty;

impl<D: Driver> Command<D> for Empty {
    type Output = ();

    fn put_on(self, _: &mut Submission<'_, D>) -> Result<()> {
        Ok(())
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((deferral::by_function(|request| erased::submit(request, Self)), ()))
    }

    fn add_to(self, graph: &mut GraphBuilder<'_, D>) -> Result<()> {
        graph.empty()
    }
}

/// A command that puts work on its stream and tells where it went.
struct WithStream<C>(C);

impl<D: Driver, C: Command<D>> Command<D> for WithStream<C> {
    type Output = (C::Output, Went<D>);

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Self::Output> {
        Ok((self.0.put_on(submission)?, Went::On(Arc::clone(submission.stream()))))
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Self::Output)> {
        deferring.promise.want_event();
        let (owned, output) = self.0.into_owned(deferring)?;
        Ok((owned, (output, Went::Nowhere(Arc::clone(deferring.promise)))))
    }
}

/// Where a command went.
enum Went<D: Driver> {
    /// On a stream.
    On(Arc<Stream<D>>),
    /// It is kept.
    Nowhere(Arc<EventPromise<D>>),
}

impl<D: Driver> Went<D> {
    /// Blocks until it has finished.
    fn finish(self) -> Result<()> {
        match self {
            Self::On(stream) => stream.finish(),
            Self::Nowhere(promise) => promise.wait()?.map_or(Ok(()), |event| event.wait()),
        }
    }
}

/// Where a command goes on a queue that is not plain.
struct Target<'q, D: Driver> {
    stream: Chosen<'q, D>,
    barrier: Barrier<D>,
    is_timed: bool,
}

impl<'q, D: Driver> Target<'q, D> {
    #[inline(never)]
    fn choose(request: &Request<'q, D>) -> Result<Self> {
        let queue = request.queue;
        let stream = queue.choose_stream(&request.waits)?;
        // Times are an event's; a command without one is not timed.
        let is_timed = queue.is_profiling() && !request.event.is_null();
        Ok(Self { stream, barrier: deferral::barrier_of(queue), is_timed })
    }
}
