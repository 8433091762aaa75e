//! Stream-ordered frees: the block stays with its stream, which may give it out again at once.
//!
//! A free is no work of the stream. Usually the block is one that the stream's own cache has given out; else it is another
//! stream's, or memory that a launch of a graph has allocated. A free that fails leaves the block live, and must never lose it.

use core::ffi::c_void;
use core::ops::ControlFlow;
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_event_handle_t, ur_queue_handle_t, ur_result_t, ur_usm_pool_handle_t};

use crate::command::deferral::{Deferring, Owned, by_function};
use crate::command::submission::Submission;
use crate::command::{Command, Request, erased, submit};
use crate::context::Context;
use crate::device::adapter;
use crate::driver::Driver;
use crate::memory_pool::registry::{Block, Claimed};
use crate::object::error::{Error, Result};
use crate::object::{borrow, null_pointer};
use crate::pool::unused_blocks::not_a_block;
use crate::pool::{UsmPool, fast};
use crate::queue::Queue;
use crate::stream::capture::{self, Capture};
use crate::stream::service::service_stream;
use crate::stream::{Stream, StreamState};

/// `urEnqueueUSMFreeExp`.
///
/// # Safety
/// The C contract of an enqueue; work that uses the memory is earlier on the queue or in the wait list.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_MEM_OBJECT` for a pointer that is not the start of a live stream-ordered block of the
/// context; `INVALID_VALUE` for another pool than the block's.
pub unsafe fn free<D: Driver>(
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    memory: *mut c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    if pool.is_null() && count == 0 && waits.is_null() && event.is_null() && !memory.is_null() {
        // SAFETY: the caller's promise is the same.
        let queue = unsafe { borrow::<Queue<D>>(queue) }?;
        if let Some(freed) = fast::give_back_block(queue, memory.addr()) {
            return freed;
        }
    }
    // SAFETY: the caller's promises are the same.
    unsafe {
        let request = Request::<D>::new(queue, ur_command_t::ENQUEUE_USM_FREE_EXP, count, waits, event)?;
        free_usually(&request, pool, memory)
    }
}

/// # Safety
/// As [`free`].
#[inline(never)]
unsafe fn free_usually<D: Driver>(
    request: &Request<'_, D>,
    pool: ur_usm_pool_handle_t,
    memory: *mut c_void,
) -> Result<()> {
    const NAME: &str = "urEnqueueUSMFreeExp";
    if memory.is_null() {
        return Err(null_pointer(NAME));
    }
    let pool = if pool.is_null() {
        None
    } else {
        // SAFETY: not null, so live by the caller's promise.
        Some(unsafe { borrow::<UsmPool<D>>(pool) }?.id)
    };
    free_block(request, memory.addr(), pool)
}

fn free_block<D: Driver>(request: &Request<'_, D>, pointer: usize, pool: Option<u64>) -> Result<()> {
    match submit(request, Free { pointer, pool, found: None })? {
        Freed::Here => Ok(()),
        Freed::NotHere => free_elsewhere(request, pointer, pool),
    }
}

/// A stream-ordered free of a block that the stream's own cache has given out.
struct Free {
    pointer: usize,
    /// The pool that the caller named.
    pool: Option<u64>,
    /// Where in the cache the block belongs, and its size, once it is taken off the live blocks.
    found: Option<(usize, usize)>,
}

/// Whether the stream's cache had given the block out.
enum Freed {
    Here,
    NotHere,
}

impl<D: Driver> Command<D> for Free {
    type Output = Freed;

    #[inline(always)]
    fn touches_stream(&self) -> bool {
        false
    }

    #[inline(always)]
    fn prepare(&mut self, state: &mut StreamState<D>) -> Result<ControlFlow<Freed>> {
        let Some((at, size)) = state.cache.remove(self.pointer) else { return Ok(ControlFlow::Break(Freed::NotHere)) };
        let own = state.cache.backend(at).map_or(0, |backend| backend.pool);
        check_pool(self.pointer, own, self.pool).inspect_err(|_| state.cache.enter(at, self.pointer, size))?;
        self.found = Some((at, size));
        Ok(ControlFlow::Continue(()))
    }

    #[inline(always)]
    fn undo(&mut self, state: &mut StreamState<D>) {
        if let Some((at, size)) = self.found.take() {
            state.cache.enter(at, self.pointer, size);
        }
    }

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Freed> {
        let Some((at, size)) = self.found else { return Ok(Freed::NotHere) };
        let (stream, state) = (submission.stream(), submission.state());
        let freed = state.cache.give_back(stream, &mut state.position, at, self.pointer, size);
        freed.inspect_err(|_| state.cache.enter(at, self.pointer, size))?;
        Ok(Freed::Here)
    }

    /// The block is looked at now, and goes when the command's turn has come.
    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Freed)> {
        let Self { pointer, pool, .. } = self;
        match deferring.request.queue.context.registry.find_start(pointer) {
            Some(Block::Out { base, backend, .. }) if base == pointer => check_pool(pointer, backend.pool, pool)?,
            // The launch that allocates it may be deferred too.
            None if pool.is_none() && deferring.request.queue.context.graph_memory.knows(pointer) => {}
            _ => return Err(not_a_block("urEnqueueUSMFreeExp", &deferring.request.queue.context, pointer)),
        }
        let place = move |request: &Request<'_, D>| free_block(request, pointer, pool);
        Ok((by_function(place), Freed::Here))
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        match capture.pool_of(self.pointer) {
            Some(own) => check_pool(self.pointer, own, self.pool),
            None => Err(capture::unsupported("the free of memory that no command of the capture allocated")),
        }
    }

    fn put_in_capture(self, submission: &mut Submission<'_, D>, capture: &Capture<D>) -> Result<Freed> {
        free_of_graph(submission, self.pointer)?;
        capture.note_free(self.pointer);
        Ok(Freed::Here)
    }
}

/// A stream-ordered free of a block that another stream's cache has given out, and that is taken off the live blocks.
struct FreeClaimed<'a, D: Driver> {
    claimed: &'a Claimed<D>,
    pointer: usize,
}

impl<D: Driver> Command<D> for FreeClaimed<'_, D> {
    type Output = ();

    #[inline(always)]
    fn touches_stream(&self) -> bool {
        false
    }

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (stream, state) = (submission.stream(), submission.state());
        let Claimed { backend, size, .. } = self.claimed;
        state.cache.give_back_from(stream, &mut state.position, backend, self.pointer, *size)
    }

    /// Another thread has made the queue defer since the stream's own cache was asked. The block lives on, and is taken when the
    /// command's turn has come.
    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let Self { claimed, pointer } = self;
        deferring.request.queue.context.registry.unclaim(pointer, claimed);
        Ok((by_function(move |request| free_block(request, pointer, None)), ()))
    }
}

/// A stream-ordered free of memory that a launch of a graph has allocated.
struct FreeOfGraph {
    pointer: usize,
}

impl<D: Driver> Command<D> for FreeOfGraph {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        free_of_graph(submission, self.pointer)
    }

    /// It is taken when the command's turn has come.
    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let pointer = self.pointer;
        deferring.request.queue.context.graph_memory.put_back(pointer);
        Ok((by_function(move |request| free_block(request, pointer, None)), ()))
    }
}

fn free_of_graph<D: Driver>(submission: &Submission<'_, D>, pointer: usize) -> Result<()> {
    // SAFETY: memory of an allocation in a graph, taken from whoever knew of it; the application uses it no more.
    unsafe { submission.driver().free_async(pointer, submission.native()) }
}

/// Frees memory that a launch of a graph has allocated and nothing uses any more, in no queue's order. `None` for an address at which
/// no graph of the context allocates.
///
/// # Errors
/// `INVALID_MEM_OBJECT` if no launch has allocated it since its last free; what the native library answers, and the memory is there as
/// before then.
pub fn free_unused_of_graph<D: Driver>(context: &Context<D>, pointer: usize) -> Option<Result<()>> {
    let memory = &context.graph_memory;
    if memory.take(pointer) {
        return Some(free_taken(context, pointer));
    }
    memory.knows(pointer).then(|| Err(not_a_block("urUSMFree", context, pointer)))
}

/// Waits until the memory is free: the next launch, on whichever queue, allocates it again. No plain native free, which would have to
/// be handed over while a host task is in flight.
fn free_taken<D: Driver>(context: &Context<D>, pointer: usize) -> Result<()> {
    let stream = free_on_service_stream(context, pointer).inspect_err(|_| context.graph_memory.put_back(pointer))?;
    stream.wait_until_reached()
}

fn free_on_service_stream<D: Driver>(context: &Context<D>, pointer: usize) -> Result<Arc<Stream<D>>> {
    let info = adapter::driver::<D>()?.pointer_info(pointer)?;
    let owner = info.and_then(|info| context.devices().find(|device| device.raw == info.device));
    let stream = service_stream(context, owner.ok_or_else(|| not_a_block("urUSMFree", context, pointer))?)?;
    let mut submission = Submission::over(&stream);
    submission.begin_work()?;
    free_of_graph(&submission, pointer)?;
    drop(submission);
    Ok(stream)
}

#[inline]
fn check_pool(pointer: usize, own: u64, given: Option<u64>) -> Result<()> {
    if given.is_some_and(|given| given != own) { Err(of_another_pool(pointer)) } else { Ok(()) }
}

#[cold]
fn of_another_pool(pointer: usize) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_VALUE,
        format!("urEnqueueUSMFreeExp: {pointer:#x} is another pool's; give its own or null"),
    )
}

/// A free of a block that another stream's command allocated.
#[cold]
fn free_elsewhere<D: Driver>(request: &Request<'_, D>, pointer: usize, pool: Option<u64>) -> Result<()> {
    let context = &request.queue.context;
    let Some(claimed) = context.registry.claim(pointer) else {
        if context.graph_memory.take(pointer) {
            return erased::submit(request, FreeOfGraph { pointer })
                .inspect_err(|_| context.graph_memory.put_back(pointer));
        }
        return Err(not_a_block("urEnqueueUSMFreeExp", context, pointer));
    };
    let freed = check_pool(pointer, claimed.backend.pool, pool)
        .and_then(|()| submit(request, FreeClaimed { claimed: &claimed, pointer }));
    match &freed {
        Ok(()) => context.registry.end_if_unused(&claimed.backend),
        Err(_) => context.registry.unclaim(pointer, &claimed),
    }
    freed
}
