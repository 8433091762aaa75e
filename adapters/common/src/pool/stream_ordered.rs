//! Stream-ordered allocation: memory that comes and goes as commands of a queue.
//!
//! An allocation takes what its stream keeps, or asks the pool's backend; frees are in [`super::stream_ordered_free`]. Neither
//! is work of the stream, so events before them stay as they are; only a wait list of foreign events, a fill with zeros or
//! the one retry of a full device touch the stream. `docs/stream-ordered.md` has the promises.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_exp_async_usm_alloc_properties_t,
    ur_queue_handle_t, ur_result_t, ur_usm_pool_handle_t,
};

use crate::command::barrier::Nothing;
use crate::command::deferral::{Deferring, Owned, by_function};
use crate::command::submission::Submission;
use crate::command::{Command, Request, erased, submit};
use crate::context::{Context, DeviceState};
use crate::device::relief::is_full;
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::stream_cache::Served;
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, known_flags, null_pointer, params};
use crate::pool::out_of_memory::retried_after_trim;
use crate::pool::unused_blocks::free_unused;
use crate::pool::{UsmPool, fast, reuse};
use crate::queue::Queue;
use crate::stream::capture::{self, Capture};
use crate::stream::event::WaitList;
use crate::stream::{Stream, StreamState, service};
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

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
    const ENTRY: Entry = Entry {
        name: "urEnqueueUSMDeviceAllocExp",
        command: ur_command_t::ENQUEUE_USM_DEVICE_ALLOC_EXP,
        kind: MemoryKind::Device,
    };
    // SAFETY: the caller's promises are the same.
    unsafe { allocate::<D>(&ENTRY, queue, pool, size, properties, count, waits, out, event) }
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
    const ENTRY: Entry = Entry {
        name: "urEnqueueUSMHostAllocExp",
        command: ur_command_t::ENQUEUE_USM_HOST_ALLOC_EXP,
        kind: MemoryKind::Host,
    };
    // SAFETY: the caller's promises are the same.
    unsafe { allocate::<D>(&ENTRY, queue, pool, size, properties, count, waits, out, event) }
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
    const ENTRY: Entry = Entry {
        name: "urEnqueueUSMSharedAllocExp",
        command: ur_command_t::ENQUEUE_USM_SHARED_ALLOC_EXP,
        kind: MemoryKind::Shared,
    };
    // SAFETY: the caller's promises are the same.
    unsafe { allocate::<D>(&ENTRY, queue, pool, size, properties, count, waits, out, event) }
}

/// What tells the three entry points apart. Handed on by address, so that the quick way writes none of it to the stack.
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
    entry: &'static Entry,
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
        let mut pointer = 0;
        match fast::take_block(queue, entry.kind, size, &mut pointer) {
            Some(Ok(())) => {
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
    &Entry { name, kind, .. }: &'static Entry,
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
    #[inline(always)]
    fn ask(&self, request: &Request<'_, D>) -> Result<usize> {
        submit(request, Allocate { wanted: self, waits: &request.waits })
    }

    /// As [`Wanted::ask`], for what was asked before.
    #[cold]
    #[inline(never)]
    fn ask_again(&self, request: &Request<'_, D>) -> Result<usize> {
        self.ask(request)
    }

    /// What is left after a failure. Room is made in one pool and the request is tried again on that pool, whatever becomes the
    /// device's current one meanwhile; only when it was released is the current one asked for once more.
    #[cold]
    fn after(&self, mut first: Error, request: &Request<'_, D>) -> Result<usize> {
        // A capture allocates nothing now that a trim could help, and must not get the allocation twice.
        if !is_full(&first) || request.queue.capture().is_some() {
            return Err(first);
        }
        let (context, device) = (self.context, &request.queue.device);
        loop {
            let pool = self.pool_on(device);
            let named =
                Wanted { pool: Some(&pool), kind: self.kind, size: self.size, context, in_order: self.in_order };
            let draws = || pool.backend(self.kind, device).ok().map(|backend| (backend, self.size));
            let answer = retried_after_trim(first, context, device, draws, || named.ask_again(request));
            if answer.is_ok() || self.pool.is_some() || !pool.is_closed() {
                return answer;
            }
            match self.ask_again(request) {
                Err(error) if is_full(&error) => first = error,
                other => return other,
            }
        }
    }

    /// A block for the stream, written down as live. The caller holds the stream's lock. `proven` says that all
    /// the stream was given so far comes before the block's use anyway; `waits` is what it was made to wait for.
    ///
    /// # Errors
    /// `OUT_OF_DEVICE_MEMORY`; as [`UsmPool::backend`]; what the native library answers.
    #[inline(always)]
    pub fn take(
        &self,
        submission: &mut Submission<'_, D>,
        proven: bool,
        waits: Option<&WaitList<'_, D>>,
    ) -> Result<usize> {
        let (stream, state) = (submission.stream(), submission.state());
        let pool = self.pool.map_or_else(|| stream.device.current_pool_id(), |pool| pool.id);
        match state.cache.serve(pool, self.kind, self.size, proven) {
            Served::Recycled(pointer) => Ok(pointer),
            Served::Empty(at) => self.take_elsewhere(submission, waits, at),
            Served::Zeroed(at, pointer) => self.give_to_caller(submission, at, pointer, true),
            Served::NoCache => self.open_and_take(submission, waits),
        }
    }

    /// A block that the stream does not keep.
    #[inline(never)]
    fn take_elsewhere(
        &self,
        submission: &mut Submission<'_, D>,
        waits: Option<&WaitList<'_, D>>,
        at: usize,
    ) -> Result<usize> {
        match reuse::take_freed_elsewhere(submission, waits, at, self.size) {
            Some(pointer) => self.give_to_caller(submission, at, pointer, true),
            None => {
                let pointer = self.take_fresh(submission, waits, at)?;
                self.give_to_caller(submission, at, pointer, false)
            }
        }
    }

    /// As [`Wanted::take_elsewhere`], for a stream that never had to do with the pool.
    #[cold]
    fn open_and_take(&self, submission: &mut Submission<'_, D>, waits: Option<&WaitList<'_, D>>) -> Result<usize> {
        let (stream, state) = (submission.stream(), submission.state());
        let at = self.open(stream, state)?;
        self.take_elsewhere(submission, waits, at)
    }

    /// Makes a block that is in use the caller's; `was_kept` says that some stream kept it.
    #[inline(always)]
    fn give_to_caller(
        &self,
        submission: &mut Submission<'_, D>,
        at: usize,
        pointer: usize,
        was_kept: bool,
    ) -> Result<usize> {
        let skips_fill = was_kept && mutation::is(mutation::Bug::MissingZeroFill);
        if unlikely!(submission.state().cache.is_zeroed(at)) && !skips_fill {
            self.clear_or_give_back(submission, at, pointer)?;
        }
        submission.state().cache.enter_used(at, pointer, self.size);
        Ok(pointer)
    }

    /// Clears a block that nobody has seen; if that fails, it is as good as before, and goes where it came from.
    #[cold]
    #[inline(never)]
    fn clear_or_give_back(&self, submission: &mut Submission<'_, D>, at: usize, pointer: usize) -> Result<()> {
        self.clear(submission, pointer).inspect_err(|_| {
            let (stream, state) = (submission.stream(), submission.state());
            let _ = state.cache.give_back_used(stream, &mut state.position, at, pointer, self.size);
        })
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
        let mut closed = None;
        loop {
            let pool = self.pool_on(&stream.device);
            let backend = pool.backend(self.kind, &stream.device)?;
            if let Some(at) = state.cache.open(stream, &backend)? {
                return Ok(at);
            }
            // A pool that is released is no device's current one before it is closed, so the next question finds another.
            if self.pool.is_some() || closed.replace(pool.id) == Some(pool.id) {
                return Err(Error::new(
                    ur_result_t::ERROR_INVALID_VALUE,
                    "the pool was released while something was allocated from it",
                ));
            }
        }
    }

    fn take_fresh(
        &self,
        submission: &mut Submission<'_, D>,
        waits: Option<&WaitList<'_, D>>,
        at: usize,
    ) -> Result<usize> {
        let of = |backend: &Arc<PoolBackend<D>>| (backend.may_wait_now(), backend.arena().is_some());
        let (may_wait, is_arena) = submission.state().cache.backend(at).map_or((false, false), of);
        if is_arena && let Some(pointer) = reuse::take_behind_waits(submission, waits, at, self.size) {
            return Ok(pointer);
        }
        // It counts as a command whether or not it works out, so that a finish does not leave it out.
        if may_wait {
            submission.begin_work()?
        } else {
            submission.count()
        }
        let (stream, state) = (submission.stream(), submission.state());
        let backend = state.cache.backend(at).ok_or(ur_result_t::ERROR_UNKNOWN)?;
        let pointer = backend.take(&**stream, self.size, backend.keeps)?;
        state.cache.note_fresh(at, pointer, self.size);
        Ok(pointer)
    }

    fn clear(&self, submission: &mut Submission<'_, D>, pointer: usize) -> Result<()> {
        submission.begin_work()?;
        let stream = submission.stream();
        let (width, value) = if self.size.is_multiple_of(4) { (4, 0) } else { (1, 0) };
        let _scope = stream.device.enter_for_transfer()?;
        // It waits for room on a full queue, and others must be able to tell.
        let _call = stream.begin_call();
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

    #[inline(always)]
    fn touches_stream(&self) -> bool {
        false
    }

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<usize> {
        let (stream, position) = (submission.stream(), submission.position());
        // On several streams order proves a block free only when the wait list ends with the stream's last command.
        let proven = self.wanted.in_order
            || stream.is_completed(position)
            || self.waits.iter().any(|event| event.position == position && Arc::ptr_eq(&event.stream, stream));
        self.wanted.take(submission, proven, Some(self.waits))
    }

    /// The pointer is the caller's at once, so its block must be too: it is a fresh one of the context's own stream, which is
    /// waited for here and is given nothing that waits itself. What is kept is the command's place and event.
    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, usize)> {
        let context = self.wanted.context;
        let stream = service::service_stream(context, &deferring.request.queue.target)?;
        let pointer = self.wanted.take(&mut Submission::over(&stream), true, None)?;
        if let Err(error) = stream.wait_until_reached() {
            // Nobody has seen it.
            let _ = free_unused(context, pointer);
            return Err(error);
        }
        Ok((by_function(|request| erased::submit(request, Nothing)), pointer))
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
