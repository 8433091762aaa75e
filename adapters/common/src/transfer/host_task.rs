//! `urEnqueueHostTaskExp`: the application's function as a command of a queue.
//!
//! The stream hands a pending job over to the worker ([`crate::device::worker`]) and waits for a word of pinned host memory
//! ([`crate::device::native_context::pinned_words`]), which the worker changes when the function has returned. No native thread
//! runs the function or waits for it, so it may call UR.
//!
//! **Who holds what.** A task holds the words and nothing of the device, so an application that sees the queue finished can
//! give everything back and finds nothing held.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_exp_host_task_properties_t, ur_result_t};

use crate::command::deferral::{self, Deferring, Owned, Place, by_function};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, submit};
use crate::device::deferred::TaskInFlight;
use crate::device::native_context::pinned_words::{PinnedWord, PinnedWords};
use crate::device::worker::PendingJob;
use crate::device::worker::{self, Outcome};
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::stream::promise::Promise;

/// The application's function.
type Function = unsafe extern "C" fn(*mut c_void);

/// A task that was enqueued.
struct Task {
    function: Function,
    /// Its argument, an address that only the application looks behind.
    data: usize,
    word: PinnedWord,
    words: Arc<PinnedWords>,
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
        self.words.write_and_put(self.word);
    }
}

/// A function of the application in a stream's order: the stream has it called, and waits until it has returned.
struct HostTask {
    job: Option<PendingJob>,
    /// Given back unless a stream waits for it.
    word: Option<PinnedWord>,
    words: Arc<PinnedWords>,
}

impl Drop for HostTask {
    fn drop(&mut self) {
        // The job first: it has the word too.
        drop(self.job.take());
        if let Some(word) = self.word.take() {
            self.words.put(word);
        }
    }
}

impl<D: Driver> Command<D> for HostTask {
    type Output = ();

    fn put_on(mut self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, stream) = (submission.driver(), submission.native());
        let (Some(job), Some(word)) = (&self.job, &self.word) else { return Ok(()) };
        // SAFETY: the function is the worker's, and the data a pending job's.
        unsafe { driver.launch_host_function(stream, worker::hand_over, job.data()) }?;
        // SAFETY: the word's page lives as long as the native context and is freed when no stream looks.
        unsafe { driver.stream_wait_value(stream, word.address, word.next().value) }?;
        self.word = None;
        // The task may begin: nothing of it can fail any more.
        self.job.take().into_iter().for_each(PendingJob::arm);
        Ok(())
    }

    /// For the task whose queue began to keep its commands after [`enqueue`] had looked.
    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((by_function(move |request| submit(request, self)), ()))
    }
}

/// `urEnqueueHostTaskExp`.
/// The function may be called with `data` on any thread, and does not throw.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` where streams cannot wait for memory; what the native library answers. On failure the task never
/// runs.
pub fn enqueue<D: Driver>(
    enqueue: Enqueue<'_, D>,
    function: Function,
    data: *mut c_void,
    _properties: Option<&ur_exp_host_task_properties_t>,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::HOST_TASK_EXP);
    let device = &request.queue.device;
    if !device.device.properties.stream_value_waits {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            "urEnqueueHostTaskExp: streams of this device cannot wait for memory; wait for the events and call the \
             function yourself",
        ));
    }
    if request.must_be_deferred() {
        return defer(&request, function, data);
    }
    put(&request, function, data)
}

/// A deferred task. It is in flight, and has its word, when its turn has come: frees wait for tasks in flight.
struct DeferredTask {
    function: Function,
    /// An address that only the application looks behind.
    data: usize,
}

impl<D: Driver> Owned<D> for DeferredTask {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        put(request, self.function, core::ptr::with_exposed_provenance_mut(self.data))
    }

    /// A task waits for frees that are in progress.
    fn may_block(&self) -> bool {
        true
    }
}

#[cold]
fn defer<D: Driver>(request: &Request<'_, D>, function: Function, data: *mut c_void) -> Result<()> {
    request.check_deferral()?;
    let task = DeferredTask { function, data: data.expose_provenance() };
    deferral::defer(request, Place::InOrder, &Promise::of_command(), Box::new(task));
    Ok(())
}

/// Puts a task on its stream.
fn put<D: Driver>(request: &Request<'_, D>, function: Function, data: *mut c_void) -> Result<()> {
    let device = &request.queue.device;
    let words = Arc::clone(&device.native.pinned_words);
    let word = words.take(&device.native)?;
    let task = Task {
        function,
        data: data.expose_provenance(),
        word: word.next(),
        words: Arc::clone(&words),
        in_flight: TaskInFlight::begin(),
    };
    let mut command = HostTask { job: None, word: Some(word), words };
    command.job = Some(worker::expect(device.group, Box::new(move |outcome| task.run(outcome)))?);
    submit(request, command)
}
