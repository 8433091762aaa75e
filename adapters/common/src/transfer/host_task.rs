//! `urEnqueueHostTaskExp`: the application's function as a command of a queue.
//!
//! The stream hands a ticket over to the worker ([`crate::device::worker`]) and waits for a word of pinned host memory, a
//! *slot*, which the worker changes when the function has returned. No native thread runs the function or waits for it,
//! so it may call UR. A slot counts up with each task, so it serves the next one as soon as it was written.
//!
//! **Who holds what.** A task holds the slots and nothing of the device, so an application that sees the queue finished can
//! give everything back and finds nothing held. The end of the native context waits for the streams, and so for every task
//! that one of them waits for; a task that comes later still, of a device that was lost, finds its word gone.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_host_task_function_t, ur_exp_host_task_properties_t, ur_queue_handle_t,
    ur_result_t,
};

use crate::command::{Request, submit};
use crate::context::DeviceState;
use crate::device::deferred::TaskInFlight;
use crate::device::worker::{self, Outcome};
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::{known_flags, null_pointer};

/// Bytes of pinned memory that slots are cut from.
const PAGE: usize = 4096;

/// A device's slots.
#[derive(Default)]
pub struct Slots {
    words: Mutex<Words>,
}

#[derive(Default)]
struct Words {
    pages: Vec<usize>,
    free: Vec<Slot>,
    /// Whether the words are gone.
    is_over: bool,
}

/// A word that a stream waits for, and the value that it has now.
#[derive(Clone, Copy)]
struct Slot {
    address: usize,
    value: u32,
}

impl Slot {
    /// The same word when its next task has ended.
    fn next(self) -> Self {
        Self { value: self.value.wrapping_add(1), ..self }
    }

    fn write(self) {
        let word = core::ptr::with_exposed_provenance_mut::<u32>(self.address);
        // SAFETY: an aligned word of a page, which is not freed before `Slots::end` has been here or all words are back.
        unsafe { AtomicU32::from_ptr(word) }.store(self.value, Ordering::Release);
    }
}

impl Slots {
    fn take<D: Driver>(&self, device: &DeviceState<D>) -> Result<Slot> {
        if let Some(slot) = self.words.lock().free.pop() {
            return Ok(slot);
        }
        let page = {
            let _scope = device.enter()?;
            device.driver.allocate_host(PAGE)?
        };
        let mut words = self.words.lock();
        words.pages.push(page);
        let slots = (page..page + PAGE).step_by(size_of::<u32>()).map(|address| Slot { address, value: 0 });
        for slot in slots {
            slot.write();
            words.free.push(slot);
        }
        words.free.pop().ok_or_else(|| ur_result_t::ERROR_OUT_OF_RESOURCES.into())
    }

    fn give(&self, slot: Slot) {
        self.words.lock().free.push(slot);
    }

    /// Ends a task's wait. The slot is back before the application can see that, and written before anybody has it: the
    /// next task's value must not be overwritten by this one's.
    fn write_and_give(&self, slot: Slot) {
        let mut words = self.words.lock();
        if !words.is_over {
            words.free.push(slot);
            slot.write();
        }
    }

    /// Whether there is any memory to give back.
    pub fn has_pages(&self) -> bool {
        !self.words.lock().pages.is_empty()
    }

    /// Takes the pages out if no task uses any, for the caller to free when every stream has looked at its word.
    pub fn take_unused_pages(&self) -> Vec<usize> {
        let mut words = self.words.lock();
        if !words.is_over && words.free.len() < words.pages.len() * (PAGE / size_of::<u32>()) {
            return Vec::new();
        }
        words.free = Vec::new();
        core::mem::take(&mut words.pages)
    }

    /// No stream looks at a word any more, and no task may write one: all pages can be taken out.
    pub fn end(&self) {
        self.words.lock().is_over = true;
    }
}

/// A task that was enqueued.
struct Task {
    function: unsafe extern "C" fn(*mut c_void),
    /// Its argument, an address that only the application looks behind.
    data: usize,
    slot: Slot,
    slots: Arc<Slots>,
    /// Over when the function has returned, since it makes no native call then any more.
    in_flight: TaskInFlight,
}

impl Task {
    fn run(self, outcome: Outcome) {
        if outcome == Outcome::Reached {
            // SAFETY: the application gave the function for its data, to be called once the stream gets here.
            unsafe { (self.function)(core::ptr::with_exposed_provenance_mut(self.data)) };
        }
        drop(self.in_flight);
        // Pinned memory stays where it is when the device is lost, and a stream that runs on after all must not hang.
        self.slots.write_and_give(self.slot);
    }
}

/// `urEnqueueHostTaskExp`.
///
/// # Safety
/// The C contract of an enqueue; the function may be called with `data` on any thread and does not throw.
///
/// # Errors
/// `INVALID_NULL_POINTER` without a function, `INVALID_ENUMERATION` for unknown flags, `UNSUPPORTED_FEATURE` where streams
/// cannot wait for memory; as [`Request::new`]; what the native library answers. On failure the task never runs.
///
/// # Unsupported
/// - needs: a device whose streams can wait for a word of memory
pub unsafe fn enqueue<D: Driver>(
    queue: ur_queue_handle_t,
    function: ur_exp_host_task_function_t,
    data: *mut c_void,
    properties: *const ur_exp_host_task_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::HOST_TASK_EXP, count, waits, event) }?;
    let function = function.ok_or_else(|| null_pointer("urEnqueueHostTaskExp: pfnHostTask"))?;
    // SAFETY: null or valid by the caller's promise.
    if let Some(properties) = unsafe { properties.as_ref() } {
        known_flags("urEnqueueHostTaskExp", properties.flags.bits(), ur_ffi::UR_EXP_HOST_TASK_FLAGS_MASK)?;
    }
    let device = &request.queue.device;
    if !device.device.properties.stream_value_waits {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            "urEnqueueHostTaskExp: streams of this device cannot wait for memory; wait for the events and call the \
             function yourself",
        ));
    }
    let slots = Arc::clone(&device.native.slots);
    let slot = slots.take(device)?;
    let task = Task {
        function,
        data: data.expose_provenance(),
        slot: slot.next(),
        slots: Arc::clone(&slots),
        in_flight: TaskInFlight::begin(),
    };
    let submitted = worker::expect(device.group, Box::new(move |outcome| task.run(outcome))).and_then(|pending_job| {
        submit(&request, |driver, stream| {
            // SAFETY: the function is the worker's and the data a ticket's.
            unsafe { driver.launch_host_function(stream, worker::hand_over, pending_job.data()) }?;
            // SAFETY: the slot's page lives as long as the native context and is freed when no stream looks.
            unsafe { driver.stream_wait_value(stream, slot.address, slot.next().value) }
        })?;
        pending_job.arm();
        Ok(())
    });
    // Without the wait nobody looks at the slot.
    submitted.inspect_err(|_| slots.give(slot))
}
