//! Handles that give their reference back. A test that cares how the release went calls [`Owned::release`].

use core::ffi::c_void;
use std::sync::mpsc::{Receiver, Sender, channel};

use ur_ffi::{
    ur_context_handle_t_, ur_event_handle_t, ur_event_handle_t_, ur_execution_info_t, ur_exp_command_buffer_handle_t_,
    ur_kernel_handle_t_, ur_mem_handle_t_, ur_program_handle_t_, ur_queue_handle_t_, ur_result_t, ur_sampler_handle_t_,
    ur_usm_pool_handle_t_,
};

use crate::{expect_success, loader};

type Release<T> = unsafe extern "C" fn(*mut T) -> ur_result_t;

/// One reference to an object.
#[derive(Debug)]
pub struct Owned<T> {
    handle: *mut T,
    release: Release<T>,
}

/// A context.
pub type Context = Owned<ur_context_handle_t_>;
/// A queue.
pub type Queue = Owned<ur_queue_handle_t_>;
/// An event.
pub type Event = Owned<ur_event_handle_t_>;
/// A program.
pub type Program = Owned<ur_program_handle_t_>;
/// A kernel.
pub type Kernel = Owned<ur_kernel_handle_t_>;
/// A USM pool.
pub type Pool = Owned<ur_usm_pool_handle_t_>;
/// A memory object.
pub type Mem = Owned<ur_mem_handle_t_>;
/// A sampler.
pub type Sampler = Owned<ur_sampler_handle_t_>;

// SAFETY: the API lets every thread use every handle; that this is so is part of what the suite tests.
unsafe impl<T> Send for Owned<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Owned<T> {}

impl<T> Owned<T> {
    pub(crate) fn new(handle: *mut T, release: Option<Release<T>>) -> Self {
        assert!(!handle.is_null(), "success came with a null handle");
        let Some(release) = release else { panic!("the loader exports no release for the object") };
        Self { handle, release }
    }

    /// The handle, valid while this lives.
    #[must_use]
    pub fn handle(&self) -> *mut T {
        self.handle
    }

    /// Gives the reference back now and tells the answer.
    #[must_use]
    pub fn release(self) -> ur_result_t {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: the reference is this object's own and is given back once.
        unsafe { (this.release)(this.handle) }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: as in `release`.
        let answer = unsafe { (self.release)(self.handle) };
        if !std::thread::panicking() {
            expect_success(answer, "a release");
        }
    }
}

macro_rules! takes {
    ($($type:ident: $table:ident,)*) => {
        $(impl $type {
            /// Takes over one reference.
            #[must_use]
            pub fn take(handle: <Self as Handle>::Raw) -> Self {
                Self::new(handle, loader().table.$table.pfnRelease)
            }
        })*
    };
}

/// The raw handle of an owned one.
pub trait Handle {
    /// Its type.
    type Raw;
}

impl<T> Handle for Owned<T> {
    type Raw = *mut T;
}

takes! {
    Context: Context, Queue: Queue, Event: Event, Program: Program, Kernel: Kernel, Mem: Mem, Sampler: Sampler,
}

/// A command buffer's reference; [`crate::CommandBuffer`] is the way to use one.
pub type Commands = Owned<ur_exp_command_buffer_handle_t_>;

impl Commands {
    /// Takes over one reference.
    #[must_use]
    pub fn take(handle: <Self as Handle>::Raw) -> Self {
        Self::new(handle, loader().table.CommandBufferExp.pfnReleaseExp)
    }
}

impl Pool {
    /// Takes over one reference.
    #[must_use]
    pub fn take(handle: <Self as Handle>::Raw) -> Self {
        Self::new(handle, loader().table.USM.pfnPoolRelease)
    }
}

/// Runs an enqueue that must succeed with a place for its event, and takes the event.
#[track_caller]
pub fn event_of(call: impl FnOnce(*mut ur_event_handle_t) -> ur_result_t) -> Event {
    let mut event = core::ptr::null_mut();
    expect_success(call(&raw mut event), "an enqueue that is asked for an event");
    Event::take(event)
}

impl Event {
    /// `urEventWait` on this event alone.
    #[track_caller]
    pub fn wait(&self) {
        let list = [self.handle()];
        crate::ok!(Event.pfnWait(1, list.as_ptr()));
    }

    /// Sets a callback for the event's end, whose call arrives at the receiver; the channel closes with it.
    #[track_caller]
    #[must_use]
    pub fn call_back(&self) -> Receiver<()> {
        let (sender, receiver) = channel();
        let data = Box::into_raw(Box::new(sender)).cast();
        crate::ok!(Event.pfnSetCallback(self.handle(), ur_execution_info_t::COMPLETE, Some(tell), data));
        receiver
    }
}

/// What [`Event::call_back`] sets.
unsafe extern "C" fn tell(_: ur_event_handle_t, _: ur_execution_info_t, data: *mut c_void) {
    // SAFETY: the sender was given away for this one call.
    let sender = unsafe { Box::from_raw(data.cast::<Sender<()>>()) };
    // A test that no longer listens has seen what it wanted.
    let _ = sender.send(());
}

impl Queue {
    /// `urQueueFinish`.
    #[track_caller]
    pub fn finish(&self) {
        crate::ok!(Queue.pfnFinish(self.handle()));
    }
}
