//! What every enqueue is given by its caller: a queue, a wait list and a place for the event.

use core::marker::PhantomData;

use ur_ffi::releases::Release;
use ur_ffi::{ur_command_t, ur_event_handle_t, ur_queue_handle_t};

use crate::driver::Driver;
use crate::object::error::Result;
use crate::object::{Object, borrow, null_pointer, params, release_by_handle};
use crate::queue::Queue;
use crate::stream::capture;
use crate::stream::event::{Event, WaitList};

/// Where a command's event goes, if somebody asked for it.
pub struct EventOut<'a> {
    pointer: *mut ur_event_handle_t,
    marker: PhantomData<&'a mut ur_event_handle_t>,
}

impl<'a> EventOut<'a> {
    /// Nobody asks for the event.
    #[must_use]
    pub fn none() -> Self {
        Self { pointer: core::ptr::null_mut(), marker: PhantomData }
    }

    /// The event goes to the engine itself.
    #[must_use]
    pub fn to(event: &'a mut ur_event_handle_t) -> Self {
        Self { pointer: event, marker: PhantomData }
    }

    /// The `phEvent` of an enqueue.
    ///
    /// # Safety
    /// The C contract: `pointer` is null or writable during the call.
    #[inline(always)]
    #[must_use]
    pub unsafe fn new(pointer: *mut ur_event_handle_t) -> Self {
        Self { pointer, marker: PhantomData }
    }

    /// The `phEvent` of an enqueue that always has an event.
    ///
    /// # Safety
    /// As [`EventOut::new`].
    ///
    /// # Errors
    /// `INVALID_NULL_POINTER`.
    #[inline]
    pub unsafe fn required(parameter: &'static str, pointer: *mut ur_event_handle_t) -> Result<Self> {
        if pointer.is_null() { Err(null_pointer(parameter)) } else { Ok(Self { pointer, marker: PhantomData }) }
    }

    /// The same place once more, for the other command of an enqueue that is two.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { pointer: self.pointer, marker: PhantomData }
    }

    /// Whether nobody asked.
    #[inline]
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.pointer.is_null()
    }

    /// Gives the application its event, if it asked.
    #[inline]
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the handle is written, and not followed")]
    pub fn write(&self, event: ur_event_handle_t) {
        if !self.pointer.is_null() {
            // SAFETY: not null, so writable by `new`'s contract.
            unsafe { *self.pointer = event };
        }
    }
}

/// The event that a command is given in the place where other commands return theirs. Release 2026.1 has that place for
/// outputs alone, so there it is not read.
///
/// # Safety
/// The C contract: in newer releases `event` is null or points to null or to an event handle that is alive during `'a`.
///
/// # Errors
/// `INVALID_EVENT` for what is no event of this adapter.
pub unsafe fn event_input<'a, D: Driver>(
    parameter: &'static str,
    event: *const ur_event_handle_t,
) -> Result<Option<&'a Object<Event<D>>>> {
    if event.is_null() || D::cell().release() < Release::R2026_2 {
        return Ok(None);
    }
    // SAFETY: not null, so it points to null or a live event by the caller's promise.
    unsafe { params::optional_handle(parameter, *event) }
}

/// An event that the engine has one command return and another wait for. Given back when it is dropped.
pub struct OwnEvent<D: Driver> {
    handle: ur_event_handle_t,
    marker: PhantomData<fn() -> D>,
}

impl<D: Driver> Default for OwnEvent<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D: Driver> OwnEvent<D> {
    /// No event yet.
    #[must_use]
    pub fn new() -> Self {
        Self { handle: core::ptr::null_mut(), marker: PhantomData }
    }

    /// Where the one command returns it. A command writes there once.
    pub fn out(&mut self) -> EventOut<'_> {
        EventOut::to(&mut self.handle)
    }

    /// What the other command waits for.
    ///
    /// # Errors
    /// None; the list is one that the engine made.
    pub fn waits(&self) -> Result<WaitList<'_, D>> {
        let count = u32::from(!self.handle.is_null());
        let list = if count == 0 { core::ptr::null() } else { &raw const self.handle };
        // SAFETY: one event that this object holds a reference to, or no list.
        unsafe { WaitList::new("the event before", count, list) }
    }
}

impl<D: Driver> Drop for OwnEvent<D> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the reference was returned to this object alone, so it is alive and its release cannot fail.
            let _ = unsafe { release_by_handle::<Event<D>>(self.handle) };
        }
    }
}

/// What every enqueue is given: the queue, what the command waits for, and where its event goes.
pub struct Enqueue<'a, D: Driver> {
    /// The queue.
    pub queue: &'a Object<Queue<D>>,
    /// What the command waits for.
    pub waits: WaitList<'a, D>,
    /// Where its event goes.
    pub event: EventOut<'a>,
}

impl<'a, D: Driver> Enqueue<'a, D> {
    /// The request for a command of that kind.
    #[inline(always)]
    pub fn request(self, command: ur_command_t) -> Request<'a, D> {
        Request { queue: self.queue, command, waits: self.waits, event: self.event }
    }
}

/// What a command says beside its native call.
pub struct Request<'a, D: Driver> {
    /// The queue.
    pub queue: &'a Object<Queue<D>>,
    /// What events say it was.
    pub command: ur_command_t,
    /// What it waits for.
    pub waits: WaitList<'a, D>,
    /// Where its event goes.
    pub event: EventOut<'a>,
}

impl<D: Driver> Request<'_, D> {
    /// Refuses what a capture cannot hold, on a queue that captures or whose command would join a capture.
    ///
    /// # Errors
    /// `GRAPH_CAPTURE_UNSUPPORTED`.
    pub fn refuse_in_capture(&self, what: &str) -> Result<()> {
        if self.waits.iter().any(|event| event.as_captured().is_some()) {
            return Err(capture::unsupported(what));
        }
        self.queue.refuse_in_capture(what)
    }
}

impl<'a, D: Driver> Request<'a, D> {
    /// Reads the parameters that every enqueue has.
    ///
    /// # Safety
    /// The C contract: the queue handle is live, `waits` holds `count` events, `event` is null or writable.
    ///
    /// # Errors
    /// As [`borrow`] and [`WaitList::new`].
    #[inline]
    pub unsafe fn new(
        queue: ur_queue_handle_t,
        command: ur_command_t,
        count: u32,
        waits: *const ur_event_handle_t,
        event: *mut ur_event_handle_t,
    ) -> Result<Self> {
        // SAFETY: the caller's promises are the same.
        unsafe {
            let (queue, waits) = (borrow(queue)?, WaitList::new("the wait list", count, waits)?);
            Ok(Self { queue, command, waits, event: EventOut::new(event) })
        }
    }
}
