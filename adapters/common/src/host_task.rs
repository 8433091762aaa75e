//! `urEnqueueHostTaskExp`: the application's function as a command of a queue.
//!
//! The stream hands a ticket over to the worker ([`crate::worker`]) and waits for a word of pinned host memory, a
//! *slot*, which the worker changes when the function has returned. No native thread runs the function or waits for it,
//! so it may call UR. A slot counts up with each task, so it serves the next one as soon as it was written.
//!
//! **Who holds the device's state.** A task in flight does, since its slot is there. When the word changes, the
//! application may see the queue finished and give everything back, and must find nothing held: so the task gives its
//! reference up *before* it writes, and [`Slots::end`] waits for writers that are that far.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::{Mutex, RwLock};
use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_host_task_function_t, ur_exp_host_task_properties_t, ur_queue_handle_t,
    ur_result_t,
};

use crate::context::DeviceState;
use crate::driver::Driver;
use crate::enqueue::{Request, submit};
use crate::error::{Error, Result};
use crate::object::{known_flags, null_pointer};
use crate::worker::{self, Outcome};

/// Bytes of pinned memory that slots are cut from.
const PAGE: usize = 4096;

/// A device's slots.
#[derive(Default)]
pub struct Slots {
    stock: Mutex<Stock>,
    /// Read while a task that has given its state up writes its slot.
    writing: RwLock<()>,
}

#[derive(Default)]
struct Stock {
    pages: Vec<usize>,
    free: Vec<Slot>,
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
        // SAFETY: an aligned word of a page, which lives until `Slots::end`; that one waits for every writer.
        unsafe { AtomicU32::from_ptr(word) }.store(self.value, Ordering::Release);
    }
}

impl Slots {
    fn take<D: Driver>(&self, device: &DeviceState<D>) -> Result<Slot> {
        let mut stock = self.stock.lock();
        if let Some(slot) = stock.free.pop() {
            return Ok(slot);
        }
        let page = {
            let _scope = device.enter()?;
            device.driver.allocate_host(PAGE)?
        };
        stock.pages.push(page);
        let slots = (page..page + PAGE).step_by(size_of::<u32>()).map(|address| Slot { address, value: 0 });
        for slot in slots {
            slot.write();
            stock.free.push(slot);
        }
        stock.free.pop().ok_or_else(|| ur_result_t::ERROR_OUT_OF_RESOURCES.into())
    }

    fn give(&self, slot: Slot) {
        self.stock.lock().free.push(slot);
    }

    /// Ends a task's wait. The slot is back before the application can see that, and written before anybody has it: the
    /// next task's value must not be overwritten by this one's.
    fn write_and_give(&self, slot: Slot) {
        let mut stock = self.stock.lock();
        stock.free.push(slot);
        slot.write();
    }

    /// Gives the pages back when the device's state dies. No task is in flight, since each holds the state; but streams
    /// may not have looked yet.
    pub fn end<D: Driver>(&self, device: &DeviceState<D>) {
        drop(self.writing.write());
        let pages = core::mem::take(&mut *self.stock.lock()).pages;
        if pages.is_empty() {
            return;
        }
        if let Ok(_scope) = device.enter() {
            // A lost device has no streams that look.
            let _ = device.driver.synchronize_place();
        }
        for page in pages {
            let _ = device.driver.free_host(page);
        }
    }
}

/// A task that was enqueued.
struct Task<D: Driver> {
    function: unsafe extern "C" fn(*mut c_void),
    /// Its argument, an address that only the application looks behind.
    data: usize,
    slot: Slot,
    device: Arc<DeviceState<D>>,
}

impl<D: Driver> Task<D> {
    fn run(self, outcome: Outcome) {
        if outcome == Outcome::Reached {
            // SAFETY: the application gave the function for its data, to be called once the stream gets here.
            unsafe { (self.function)(core::ptr::with_exposed_provenance_mut(self.data)) };
        }
        // Pinned memory stays where it is when the device is lost, and a stream that runs on after all must not hang.
        let slots = Arc::clone(&self.device.slots);
        let writing = slots.writing.read();
        let last = Arc::into_inner(self.device);
        if last.is_some() {
            // Nobody else is there to end the slots, and ending them waits for writers.
            drop(writing);
            self.slot.write();
        } else {
            slots.write_and_give(self.slot);
            drop(writing);
        }
        drop(last);
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
    let slot = device.slots.take(device)?;
    let task = Task { function, data: data.expose_provenance(), slot: slot.next(), device: Arc::clone(device) };
    let submitted = worker::expect(device.group, Box::new(move |outcome| task.run(outcome))).and_then(|ticket| {
        submit(&request, |driver, stream| {
            // SAFETY: the function is the worker's and the data a ticket's.
            unsafe { driver.launch_host_function(stream, worker::hand_over, ticket.data()) }?;
            // SAFETY: the slot's page lives as long as the device's state and is freed when no stream looks.
            unsafe { driver.stream_wait_value(stream, slot.address, slot.next().value) }
        })?;
        ticket.arm();
        Ok(())
    });
    // Without the wait nobody looks at the slot.
    submitted.inspect_err(|_| device.slots.give(slot))
}
