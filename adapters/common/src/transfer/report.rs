//! Reports of host tasks that can fail: a number of the application's that the task's function writes.
//!
//! A failure has to keep back what comes after the task, so nothing of that may be on a stream before the function has
//! returned. The report is a promise, and behind the task its queue keeps a wait for it: what comes later is deferred as behind
//! a timeline's value that nobody has signalled ([`crate::command::deferral`]), and a failure travels as from there. The
//! promise is resolved when the task has ended *and* its wait is enqueued, so that the wait is always a deferred command and a
//! quick failure is told by the event, not by the enqueue.

use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::command::{OwnEvent, Request, barrier};
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::HandleList;
use crate::stream::event::{Event, EventPromise, WaitList};
use crate::stream::promise::{Outcome, Promise};

/// A task's report.
pub(super) struct Report<D: Driver> {
    /// An address that only the application and the task look behind.
    status: usize,
    promise: Arc<EventPromise<D>>,
    progress: Mutex<Progress>,
}

/// How far task and wait are.
enum Progress {
    /// Neither the task has ended nor its wait is enqueued.
    Begun,
    /// The task has ended before its wait is enqueued.
    Ended(Result<()>),
    /// The wait is enqueued.
    Awaited,
}

/// How a task has ended that reported a number.
pub(super) fn ended(status: i32) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let text = format!("the function of a host task reported the failure {status} (pStatus)");
    Err(Error::new(ur_result_t(status.cast_unsigned()), text))
}

impl<D: Driver> Report<D> {
    /// Where the function writes.
    pub(super) fn status(&self) -> *mut i32 {
        core::ptr::with_exposed_provenance_mut(self.status)
    }

    /// Notes how the task has ended. The second of two changes nothing.
    pub(super) fn tell(&self, ended: Result<()>) {
        let mut progress = self.progress.lock();
        match &*progress {
            Progress::Begun => *progress = Progress::Ended(ended),
            Progress::Ended(_) => {}
            Progress::Awaited => {
                drop(progress);
                self.resolve(ended);
            }
        }
    }

    /// Notes that the wait is enqueued.
    fn begin_waiting(&self) {
        let before = core::mem::replace(&mut *self.progress.lock(), Progress::Awaited);
        if let Progress::Ended(ended) = before {
            self.resolve(ended);
        }
    }

    fn resolve(&self, ended: Result<()>) {
        self.promise.resolve(match ended {
            Ok(()) => Outcome::Submitted(None),
            Err(cause) => Outcome::Failed(cause),
        });
    }
}

/// Enqueues a task that reports to `status`; `put` enqueues the task itself.
///
/// # Errors
/// Those of `put`; `GRAPH_CAPTURE_UNSUPPORTED` for a queue that captures, `UNSUPPORTED_FEATURE` in the function of a native command
/// of the queue that was kept.
pub(super) fn enqueue<D: Driver>(
    request: Request<'_, D>,
    status: *mut i32,
    put: impl FnOnce(&Request<'_, D>, Arc<Report<D>>) -> Result<()>,
) -> Result<()> {
    request.refuse_in_capture("a host task with a status")?;
    // What comes after it is kept.
    request.refuse_in_kept_function()?;
    let Request { queue, command, waits, event } = request;
    let promise = Promise::of_timepoint();
    let (status, progress) = (status.expose_provenance(), Mutex::new(Progress::Begun));
    let report = Arc::new(Report { status, promise: Arc::clone(&promise), progress });
    let mut task = OwnEvent::new();
    put(&Request { queue, command, waits, event: task.out() }, Arc::clone(&report))?;
    let stream = Arc::clone(queue.stream_of_deferred());
    let reported = Object::new(Event::deferred(queue.to_arc(), stream, command, promise));
    let list: Vec<_> = task.waits()?.iter().map(Object::to_arc).chain([reported]).collect();
    let list = HandleList::new(&list);
    let awaited = barrier::wait(&Request { queue, command, waits: WaitList::of(&list), event });
    report.begin_waiting();
    awaited
}
