//! `urEnqueueHostTaskExp`: the application's function as a command of a queue.
//!
//! The stream hands a pending job over to the worker ([`crate::device::worker`]) and waits for a word of pinned host memory
//! ([`crate::device::native_context::pinned_words`]), which the worker changes when the function has returned. No native thread
//! runs the function or waits for it, so it may call UR.
//!
//! A task that reports a status ([`report`]) is two commands: the task, and a wait for its report, which is what
//! its event stands for and what later commands come after.
//!
//! **Who holds what.** A task holds the words and nothing of the device, so an application that sees the queue finished can
//! give everything back and finds nothing held.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_exp_host_task_properties_t, ur_ext_host_task_status_t, ur_result_t};

use crate::command::deferral::{self, Deferring, Owned, Place};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased};
use crate::device::deferred::{TaskFunction, TaskInFlight};
use crate::device::native_context::pinned_words::{PinnedWord, PinnedWords};
use crate::device::worker::PendingJob;
use crate::device::worker::{self, Outcome};
use crate::driver::Driver;
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;
use crate::stream::promise::Promise;
use crate::transfer::report::{self, Report};

/// The application's function.
type Function = unsafe extern "C" fn(*mut c_void);

/// What the application wants done.
struct Work<D: Driver> {
    function: Function,
    /// Its argument, an address that only the application looks behind.
    data: usize,
    report: Option<Arc<Report<D>>>,
}

impl<D: Driver> Clone for Work<D> {
    fn clone(&self) -> Self {
        Self { function: self.function, data: self.data, report: self.report.clone() }
    }
}

impl<D: Driver> Work<D> {
    /// Calls the function; answers what it reports, which is nothing unless it was asked to.
    fn call(&self) -> i32 {
        let mut unasked = 0;
        let status = self.report.as_ref().map_or(&raw mut unasked, |report| report.status());
        let _function = TaskFunction::begin();
        // SAFETY: the application gave the function for its data, to be called once the stream gets here, and with it the
        // number, which belongs to the task until it is complete.
        unsafe {
            status.write(0);
            (self.function)(core::ptr::with_exposed_provenance_mut(self.data));
            status.read()
        }
    }

    /// Tells whoever waits for a report that there never will be one, or how the task has ended.
    fn tell(&self, ended: Result<()>) {
        if let Some(report) = &self.report {
            report.tell(ended);
        }
    }
}

/// A task that was enqueued.
struct Task<D: Driver> {
    work: Work<D>,
    word: PinnedWord,
    words: Arc<PinnedWords>,
    /// Over when the function has returned, since it makes no native call then any more.
    in_flight: TaskInFlight,
}

impl<D: Driver> Task<D> {
    fn run(self, outcome: Outcome) {
        let ended = match outcome {
            Outcome::Reached => report::ended(self.work.call()),
            Outcome::Abandoned => Err(ur_result_t::ERROR_DEVICE_LOST.into()),
            Outcome::ShutDown => Err(ur_result_t::ERROR_UNINITIALIZED.into()),
        };
        if outcome == Outcome::ShutDown {
            // No stream looks at a word any more, and the pages may be gone.
            self.words.end();
        }
        drop(self.in_flight);
        // Pinned memory stays where it is when the device is lost, and a stream that runs on after all must not hang.
        self.words.write_and_put(self.word);
        self.work.tell(ended);
    }
}

/// A function of the application in a stream's order: the stream has it called, and waits until it has returned.
struct HostTask<D: Driver> {
    job: Option<PendingJob>,
    /// Given back unless a stream waits for it.
    word: Option<PinnedWord>,
    words: Arc<PinnedWords>,
    work: Work<D>,
}

impl<D: Driver> Drop for HostTask<D> {
    fn drop(&mut self) {
        // The job first: it has the word too.
        drop(self.job.take());
        if let Some(word) = self.word.take() {
            self.words.put(word);
        }
    }
}

impl<D: Driver> Command<D> for HostTask<D> {
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

    /// For the task whose queue began to keep its commands after [`enqueue`] had looked: it is in flight no more.
    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((Box::new(DeferredTask(self.work.clone())), ()))
    }
}

/// `urEnqueueHostTaskExp`.
/// The function may be called with `data` on any thread, and does not throw.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` where streams cannot wait for memory; `INVALID_NULL_POINTER` for a status without a place; what the
/// native library answers. On failure the task never runs.
pub fn enqueue<D: Driver>(
    enqueue: Enqueue<'_, D>,
    function: Function,
    data: *mut c_void,
    properties: Option<Chained<'_, ur_exp_host_task_properties_t>>,
) -> Result<()> {
    const PROPERTIES: &str = "urEnqueueHostTaskExp: pProperties";
    let request = enqueue.request(ur_command_t::HOST_TASK_EXP);
    let device = &request.queue.device;
    if !device.device.properties.stream_value_waits {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            "urEnqueueHostTaskExp: streams of this device cannot wait for memory; wait for the events and call the \
             function yourself",
        ));
    }
    let work = Work { function, data: data.expose_provenance(), report: None };
    let status = properties.map(|properties| properties.find::<ur_ext_host_task_status_t>(PROPERTIES)).transpose()?;
    match status.flatten() {
        None => put_or_defer(&request, work),
        Some(status) if status.pStatus.is_null() => Err(null_pointer("urEnqueueHostTaskExp: pStatus")),
        Some(status) => report::enqueue(request, status.pStatus, |request, report| {
            put_or_defer(request, Work { report: Some(report), ..work })
        }),
    }
}

fn put_or_defer<D: Driver>(request: &Request<'_, D>, work: Work<D>) -> Result<()> {
    if request.must_be_deferred() { defer(request, work) } else { put(request, &work) }
}

/// A deferred task. It is in flight, and has its word, when its turn has come: frees wait for tasks in flight.
struct DeferredTask<D: Driver>(Work<D>);

impl<D: Driver> Owned<D> for DeferredTask<D> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        put(request, &self.0).inspect_err(|cause| self.0.tell(Err(cause.clone())))
    }

    /// A task waits for frees that are in progress.
    fn may_block(&self) -> bool {
        true
    }

    fn fail(self: Box<Self>, cause: &Error) {
        self.0.tell(Err(cause.clone()));
    }
}

#[cold]
fn defer<D: Driver>(request: &Request<'_, D>, work: Work<D>) -> Result<()> {
    let waits = request.bind_waits()?;
    deferral::defer(request, waits, Place::InOrder, &Promise::of_command(), Box::new(DeferredTask(work)));
    Ok(())
}

/// Puts a task on its stream.
fn put<D: Driver>(request: &Request<'_, D>, work: &Work<D>) -> Result<()> {
    let device = &request.queue.device;
    let words = Arc::clone(&device.native.pinned_words);
    let word = words.take(&device.native)?;
    let task =
        Task { work: work.clone(), word: word.next(), words: Arc::clone(&words), in_flight: TaskInFlight::begin() };
    let mut command = HostTask { job: None, word: Some(word), words, work: work.clone() };
    command.job = Some(worker::expect(device.group, Box::new(move |outcome| task.run(outcome)))?);
    device.watch_for_loss()?;
    erased::submit(request, command)
}
