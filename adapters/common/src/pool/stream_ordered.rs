//! Stream-ordered allocation: memory that comes and goes as commands of a queue.
//!
//! An allocation takes what its stream keeps, or asks the pool's backend; a free leaves the block with its stream. Neither
//! is work of the stream, so events before them stay as they are; only a wait list of foreign events, a fill with zeros or
//! the one retry of a full device touch the stream. `docs/stream-ordered.md` has the promises.

use core::ffi::c_void;
use core::ops::ControlFlow;
use std::sync::Arc;

use ur_ffi::{
    UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_exp_async_usm_alloc_properties_t,
    ur_queue_handle_t, ur_result_t, ur_usm_pool_handle_t,
};

use crate::command::barrier::Nothing;
use crate::command::deferral::{Keeping, Owned, by_function};
use crate::command::submission::Submission;
use crate::command::{Command, Request, submit};
use crate::context::{Context, DeviceState};
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::registry::{Block, Claimed};
use crate::memory_pool::stream_cache::Served;
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, known_flags, null_pointer, params};
use crate::pool::out_of_memory::retried_after_trim;
use crate::pool::unused_blocks::{free_unused, not_a_block};
use crate::pool::{UsmPool, fast};
use crate::queue::Queue;
use crate::stream::capture::{self, Capture};
use crate::stream::event::WaitList;
use crate::stream::{Stream, StreamState, service};
use crate::sync::mutation;

/// `urEnqueueUSMDeviceAllocExp`. The pointer is valid at once; memory behind it belongs to later work of the
/// queue, or to work that waits for the event.
///
/// # Safety
/// The C contract of an enqueue; `out` is writable, `properties` null or valid.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_USM_SIZE` for size 0, `INVALID_ENUMERATION` for unknown flags, `INVALID_CONTEXT` and
/// `INVALID_DEVICE` for another's pool, `UNSUPPORTED_FEATURE` where there are no such pools, `OUT_OF_DEVICE_MEMORY`.
pub unsafe fn device_alloc<D: Driver>(
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    properties: *const ur_exp_async_usm_alloc_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    out: *mut *mut c_void,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    let entry = Entry {
        name: "urEnqueueUSMDeviceAllocExp",
        command: ur_command_t::ENQUEUE_USM_DEVICE_ALLOC_EXP,
        kind: MemoryKind::Device,
    };
    // SAFETY: the caller's promises are the same.
    unsafe { allocate::<D>(entry, queue, pool, size, properties, count, waits, out, event) }
}

/// `urEnqueueUSMHostAllocExp`: as [`device_alloc`], of the host's memory.
///
/// # Safety
/// As [`device_alloc`].
///
/// # Errors
/// As [`device_alloc`].
pub unsafe fn host_alloc<D: Driver>(
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    properties: *const ur_exp_async_usm_alloc_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    out: *mut *mut c_void,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    let entry = Entry {
        name: "urEnqueueUSMHostAllocExp",
        command: ur_command_t::ENQUEUE_USM_HOST_ALLOC_EXP,
        kind: MemoryKind::Host,
    };
    // SAFETY: the caller's promises are the same.
    unsafe { allocate::<D>(entry, queue, pool, size, properties, count, waits, out, event) }
}

/// `urEnqueueUSMSharedAllocExp`: as [`device_alloc`], of managed memory.
///
/// # Safety
/// As [`device_alloc`].
///
/// # Errors
/// As [`device_alloc`].
pub unsafe fn shared_alloc<D: Driver>(
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    properties: *const ur_exp_async_usm_alloc_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    out: *mut *mut c_void,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    let entry = Entry {
        name: "urEnqueueUSMSharedAllocExp",
        command: ur_command_t::ENQUEUE_USM_SHARED_ALLOC_EXP,
        kind: MemoryKind::Shared,
    };
    // SAFETY: the caller's promises are the same.
    unsafe { allocate::<D>(entry, queue, pool, size, properties, count, waits, out, event) }
}

/// What tells the three entry points apart.
#[derive(Clone, Copy)]
struct Entry {
    name: &'static str,
    command: ur_command_t,
    kind: MemoryKind,
}

/// [`fast`] where nothing is special; else the usual way. An allocation that fails on the quick way goes on behind that
/// failure.
///
/// # Safety
/// As [`device_alloc`].
#[inline(always)]
unsafe fn allocate<D: Driver>(
    entry: Entry,
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    properties: *const ur_exp_async_usm_alloc_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    out: *mut *mut c_void,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    let mut failed = None;
    let plain = pool.is_null() && properties.is_null() && size != 0 && !out.is_null();
    if plain && count == 0 && waits.is_null() && event.is_null() {
        // SAFETY: the caller's promise is the same.
        let queue = unsafe { borrow::<Queue<D>>(queue) }?;
        match fast::take_block(queue, entry.kind, size) {
            Some(Ok(pointer)) => {
                // SAFETY: not null, so writable.
                unsafe { out.write(core::ptr::with_exposed_provenance_mut(pointer)) };
                return Ok(());
            }
            Some(Err(error)) => failed = Some(error),
            None => {}
        }
    }
    // SAFETY: the caller's promises are the same.
    unsafe {
        let request = Request::<D>::new(queue, entry.command, count, waits, event)?;
        allocate_usually(entry, &request, pool, size, properties, out, failed)
    }
}

/// # Safety
/// As [`device_alloc`].
#[inline(never)]
unsafe fn allocate_usually<D: Driver>(
    Entry { name, kind, .. }: Entry,
    request: &Request<'_, D>,
    pool: ur_usm_pool_handle_t,
    size: usize,
    properties: *const ur_exp_async_usm_alloc_properties_t,
    out: *mut *mut c_void,
    failed: Option<Error>,
) -> Result<()> {
    if out.is_null() {
        return Err(null_pointer(name));
    }
    let queue = request.queue;
    // SAFETY: the caller's promise is the same.
    let pool = unsafe { params::optional_handle::<UsmPool<D>>(name, pool) }?;
    if let Some(pool) = pool {
        pool.check_owners(name, &queue.context, Some(&queue.target))?;
    }
    if size == 0 {
        return Err(no_size(name));
    }
    // SAFETY: null or valid by the caller's promise.
    if let Some(properties) = unsafe { properties.as_ref() } {
        known_flags(name, properties.flags.bits(), UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK)?;
    }
    let wanted = Wanted { kind, size, pool, context: &queue.context, in_order: queue.is_in_order() };
    let first = failed.map_or_else(|| wanted.ask(request), Err);
    let pointer = first.or_else(|first| wanted.after(first, request))?;
    // SAFETY: not null, so writable.
    unsafe { out.write(core::ptr::with_exposed_provenance_mut(pointer)) };
    Ok(())
}

#[cold]
fn no_size(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{name}: size is 0"))
}

/// What a stream-ordered or plain allocation from a pool asks for.
pub struct Wanted<'a, D: Driver> {
    /// What memory.
    pub kind: MemoryKind,
    /// Bytes.
    pub size: usize,
    /// The pool; `None` for the device's current one.
    pub pool: Option<&'a Object<UsmPool<D>>>,
    /// The context.
    pub context: &'a Object<Context<D>>,
    /// Whether the stream is an in-order queue's.
    pub in_order: bool,
}

impl<D: Driver> Wanted<'_, D> {
    /// The usual way of an allocation.
    #[inline(never)]
    fn ask(&self, request: &Request<'_, D>) -> Result<usize> {
        submit(request, Allocate { wanted: self, waits: &request.waits })
    }

    /// What is left after a failure.
    #[cold]
    fn after(&self, first: Error, request: &Request<'_, D>) -> Result<usize> {
        let device = &request.queue.device;
        let backend = || self.pool_on(device).backend(self.kind, device).ok().map(|backend| (backend, self.size));
        retried_after_trim(first, self.context, device, backend, || self.ask(request))
    }

    /// A block for the stream, written down as live. The caller holds the stream's lock. `proven` says that all
    /// the stream was given so far comes before the block's use anyway.
    ///
    /// # Errors
    /// `OUT_OF_DEVICE_MEMORY`; as [`UsmPool::backend`]; what the native library answers.
    #[inline]
    pub fn take(&self, submission: &mut Submission<'_, D>, proven: bool) -> Result<usize> {
        let (stream, state) = (submission.stream(), submission.state());
        let pool = self.pool.map_or_else(|| stream.device.current_pool_id(), |pool| pool.id);
        let (at, kept) = match state.cache.serve(pool, self.kind, self.size, proven) {
            Served::Recycled(pointer) => return Ok(pointer),
            Served::Zeroed(at, pointer) => (at, Some(pointer)),
            Served::Empty(at) => (at, None),
            Served::NoCache => (self.open(stream, state)?, None),
        };
        self.take_from(submission, at, kept)
    }

    /// A block that has to be asked for, or cleared.
    fn take_from(&self, submission: &mut Submission<'_, D>, at: usize, kept: Option<usize>) -> Result<usize> {
        let pointer = match kept {
            Some(pointer) => pointer,
            None => self.take_fresh(submission, at)?,
        };
        let (stream, state) = (submission.stream(), submission.state());
        let zeroed = state.cache.backend(at).is_some_and(|backend| backend.zeroed)
            && !(kept.is_some() && mutation::is(mutation::Bug::MissingZeroFill));
        if zeroed && let Err(error) = self.clear(submission, pointer) {
            let state = submission.state();
            // Nobody has seen the block, so it is as good as before.
            let _ = state.cache.give_back(stream, &mut state.position, at, pointer, self.size);
            return Err(error);
        }
        submission.state().cache.enter(at, pointer, self.size);
        Ok(pointer)
    }

    /// The pool, whatever the caller named.
    pub fn pool_on(&self, state: &DeviceState<D>) -> Arc<Object<UsmPool<D>>> {
        match self.pool {
            Some(pool) => pool.to_arc(),
            None => UsmPool::current_on(self.context, state),
        }
    }

    #[cold]
    fn open(&self, stream: &Stream<D>, state: &mut StreamState<D>) -> Result<usize> {
        let backend = self.pool_on(&stream.device).backend(self.kind, &stream.device)?;
        state.cache.open(stream, &backend)?.ok_or_else(|| {
            Error::new(ur_result_t::ERROR_INVALID_VALUE, "the pool was released while something was allocated from it")
        })
    }

    fn take_fresh(&self, submission: &mut Submission<'_, D>, at: usize) -> Result<usize> {
        let waits = submission.state().cache.backend(at).is_some_and(|backend| backend.may_wait_now());
        // It counts as a command whether or not it works out, so that a finish does not leave it out.
        if waits {
            submission.begin_work()?
        } else {
            submission.count()
        }
        let (stream, state) = (submission.stream(), submission.state());
        let backend = state.cache.backend(at).ok_or(ur_result_t::ERROR_UNKNOWN)?;
        let pointer = backend.take(&**stream, self.size)?;
        state.cache.note_fresh(at, pointer);
        Ok(pointer)
    }

    fn clear(&self, submission: &mut Submission<'_, D>, pointer: usize) -> Result<()> {
        submission.begin_work()?;
        let stream = submission.stream();
        let (width, value) = if self.size.is_multiple_of(4) { (4, 0) } else { (1, 0) };
        let _scope = stream.device.enter_for_transfer()?;
        // SAFETY: the block has `size` bytes, starts at a multiple of 4, and is this command's alone.
        unsafe { stream.device.driver.fill_async(pointer, width, value, self.size / width, &stream.native) }
    }
}

/// A stream-ordered allocation: a kept block, or one that the pool's backend is asked for.
struct Allocate<'a, D: Driver> {
    wanted: &'a Wanted<'a, D>,
    waits: &'a WaitList<'a, D>,
}

impl<D: Driver> Command<D> for Allocate<'_, D> {
    type Output = usize;
    const TOUCHES_STREAM: bool = false;

    #[inline]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<usize> {
        let (stream, position) = (submission.stream(), submission.position());
        // On several streams order proves a block free only when the wait list ends with the stream's last command.
        let proven = self.wanted.in_order
            || stream.is_completed(position)
            || self.waits.iter().any(|event| event.position == position && Arc::ptr_eq(&event.stream, stream));
        self.wanted.take(submission, proven)
    }

    /// The pointer is the caller's at once, so its block must be too: it is a fresh one of the context's own stream, which is
    /// waited for here and is given nothing that waits itself. What is kept is the command's place and event.
    fn into_owned(self, keeping: &Keeping<'_, D>) -> Result<(Box<dyn Owned<D>>, usize)> {
        let context = self.wanted.context;
        let stream = service::service_stream(context, &keeping.request.queue.target)?;
        let pointer = self.wanted.take(&mut Submission::over(&stream), true)?;
        if let Err(error) = stream.wait_until_reached() {
            // Nobody has seen it.
            let _ = free_unused(context, pointer);
            return Err(error);
        }
        Ok((by_function(|request| submit(request, Nothing)), pointer))
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        if self.wanted.kind != MemoryKind::Device {
            return Err(capture::unsupported("an allocation of the host's or of shared memory"));
        }
        if self.wanted.pool.is_some_and(|pool| pool.is_over_buffer()) {
            return Err(capture::unsupported("an allocation from a pool over memory of the application's"));
        }
        if let Some(pool) = self.wanted.pool {
            capture.keep(pool.to_arc());
        }
        Ok(())
    }

    /// Free lists have no part in it: the memory comes and goes with each launch.
    fn put_in_capture(self, submission: &mut Submission<'_, D>, capture: &Capture<D>) -> Result<usize> {
        let device = &submission.stream().device;
        let backend = self.wanted.pool_on(device).backend(self.wanted.kind, device)?;
        let pointer = backend.take_in_capture(submission.native(), self.wanted.size)?;
        capture.note_allocation(pointer, backend.pool);
        if backend.zeroed {
            self.wanted.clear(submission, pointer)?;
        }
        Ok(pointer)
    }
}

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
    const TOUCHES_STREAM: bool = false;

    #[inline(always)]
    fn prepare(&mut self, state: &mut StreamState<D>) -> Result<ControlFlow<Freed>> {
        let Some((at, size)) = state.cache.remove(self.pointer) else { return Ok(ControlFlow::Break(Freed::NotHere)) };
        let own = state.cache.backend(at).map_or(0, |backend| backend.pool);
        check_pool(self.pointer, own, self.pool).inspect_err(|_| state.cache.enter(at, self.pointer, size))?;
        self.found = Some((at, size));
        Ok(ControlFlow::Continue(()))
    }

    #[inline(always)]
    fn undo(self, state: &mut StreamState<D>) {
        if let Some((at, size)) = self.found {
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
    fn into_owned(self, keeping: &Keeping<'_, D>) -> Result<(Box<dyn Owned<D>>, Freed)> {
        let Self { pointer, pool, .. } = self;
        match keeping.request.queue.context.registry.find_start(pointer) {
            Some(Block::Out { base, backend, .. }) if base == pointer => check_pool(pointer, backend.pool, pool)?,
            _ => return Err(not_a_block("urEnqueueUSMFreeExp", &keeping.request.queue.context, pointer)),
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
    const TOUCHES_STREAM: bool = false;

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (stream, state) = (submission.stream(), submission.state());
        let Claimed { backend, size, .. } = self.claimed;
        state.cache.give_back_from(stream, &mut state.position, backend, self.pointer, *size)
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
}

fn free_of_graph<D: Driver>(submission: &Submission<'_, D>, pointer: usize) -> Result<()> {
    // SAFETY: memory of an allocation in a graph, taken from whoever knew of it; the application uses it no more.
    unsafe { submission.driver().free_async(pointer, submission.native()) }
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
            return submit(request, FreeOfGraph { pointer }).inspect_err(|_| context.graph_memory.put_back(pointer));
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
