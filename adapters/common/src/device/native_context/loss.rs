//! Noticing that a device with host tasks in flight is lost, or that the native library has shut down.
//!
//! The driver calls no host function of a lost context, nor any once its exit handler has run, so the worker has to end the jobs
//! that it expects of it ([`worker::abandon`]). Those who wait for a task on the host's side ask no device: for its report, or for a moment without
//! tasks ([`crate::device::deferred`]). So a thread asks while tasks are in flight, but only devices of which the same task was in
//! flight a [`PERIOD`] before: quick ones cost no native call. Whoever is told of a lost device has all devices with tasks asked at
//! once ([`look`]); each answers for itself, since what was asked may have been another device's.
//!
//! The thread is one of its own: a worker's would be missing to the very tasks that it waits for. It also sees to it that a task
//! that has no thread gets one ([`worker::start_missing`]).
//!
//! Must never ask under the lock of the list.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::device::deferred;
use crate::device::worker::{self, Group, Outcome};
use crate::object::error::Result;
use crate::object::own_thread;

/// From one question to the next.
const PERIOD: Duration = Duration::from_millis(250);

/// What a device is asked by.
pub trait Probe: Send + Sync {
    /// How its tasks end, if the device says that it gets to none any more; nothing while another thread asks it, unless with
    /// `leaves_work`. Then it is given something to do, so that the next question is one that only the device itself can answer: of a
    /// stream without work the library may know enough.
    fn end_of_tasks(&self, leaves_work: bool) -> Option<Outcome>;
}

/// A device that has host tasks in flight, or had some at the question before.
struct Watched {
    group: Group,
    probe: Arc<dyn Probe>,
    /// Its oldest task at the question before.
    oldest: Option<u64>,
}

/// A device to ask.
type Question = (Group, Arc<dyn Probe>);

struct State {
    list: Vec<Watched>,
    has_thread: bool,
}

static STATE: Mutex<State> = Mutex::new(State { list: Vec::new(), has_thread: false });
/// A device was added.
static ADDED: Condvar = Condvar::new();

impl Watched {
    fn question(&self) -> Question {
        (self.group, Arc::clone(&self.probe))
    }

    /// Whether it still has the task that was the oldest at the question before.
    fn is_stuck(&mut self) -> bool {
        let before = core::mem::replace(&mut self.oldest, worker::oldest(self.group));
        before.is_some() && before == self.oldest
    }
}

impl State {
    /// Whom to ask now.
    fn next_questions(&mut self) -> Vec<Question> {
        self.list.retain(|watched| worker::expects(watched.group));
        self.list.iter_mut().filter_map(|watched| watched.is_stuck().then(|| watched.question())).collect()
    }
}

/// Has a loss of the device noticed while the group has jobs; it has one now.
///
/// # Errors
/// `OUT_OF_RESOURCES` when no thread can be started.
pub(super) fn watch(group: Group, probe: &Arc<impl Probe + 'static>) -> Result<()> {
    let mut state = STATE.lock();
    if state.list.iter().any(|watched| watched.group == group) {
        return Ok(());
    }
    if !state.has_thread {
        own_thread::start("ur-loss", keep_asking).map_err(own_thread::no_thread)?;
        state.has_thread = true;
    }
    state.list.push(Watched { group, probe: Arc::clone(probe) as _, oldest: None });
    drop(state);
    ADDED.notify_one();
    Ok(())
}

/// Asks every device with host tasks whether it is lost: for whoever was told that one is.
#[cold]
pub fn look() {
    let questions: Vec<_> = STATE.lock().list.iter().map(Watched::question).collect();
    ask(questions.into_iter().filter(|(group, _)| worker::expects(*group)), false);
}

fn ask(questions: impl IntoIterator<Item = Question>, leaves_work: bool) {
    for (group, probe) in questions {
        if let Some(outcome) = probe.end_of_tasks(leaves_work) {
            worker::abandon(group, outcome);
        }
    }
}

/// What the thread does.
fn keep_asking() {
    // Streams wait for the tasks that end here.
    deferred::forbid_waiting();
    loop {
        wait_for_tasks();
        std::thread::sleep(PERIOD);
        worker::start_missing();
        let questions = STATE.lock().next_questions();
        // The record that leaves work can wait for others' calls on its device, so every device is asked before.
        ask(questions.iter().map(|(group, probe)| (*group, Arc::clone(probe))), false);
        ask(questions, true);
    }
}

/// Sleeps while no device has tasks. One that no thread has taken up yet is expected no more, and still looked after: whoever takes
/// up the one before it may be unable to leave a thread behind, and wakes nobody here.
fn wait_for_tasks() {
    let mut state = STATE.lock();
    while state.list.is_empty() && !worker::needs_looks() {
        ADDED.wait(&mut state);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{TryRecvError, channel};

    use super::*;
    use crate::device::worker::{Outcome, PendingJob};

    /// A device that is lost or not, and tells of each question whether it left work behind.
    struct Device {
        is_lost: AtomicBool,
        asked: std::sync::mpsc::Sender<bool>,
    }

    impl Probe for Device {
        fn end_of_tasks(&self, leaves_work: bool) -> Option<Outcome> {
            // A test that has heard enough hears no more.
            let _ = self.asked.send(leaves_work);
            self.is_lost.load(Ordering::SeqCst).then_some(Outcome::Abandoned)
        }
    }

    #[test]
    fn the_jobs_of_a_lost_device_end_and_a_question_of_anybody_ends_no_other_s() {
        let groups = [Group::new(), Group::new()];
        let (asked, questions) = channel();
        let devices = [(); 2].map(|()| Arc::new(Device { is_lost: AtomicBool::new(false), asked: asked.clone() }));
        let (done, ended) = channel();
        for (number, (group, device)) in groups.into_iter().zip(&devices).enumerate() {
            let done = done.clone();
            let job = worker::expect(group, Box::new(move |outcome| done.send((number, outcome)).unwrap())).unwrap();
            job.arm();
            watch(group, device).unwrap();
        }
        look();
        assert_eq!(ended.try_recv(), Err(TryRecvError::Empty));
        devices[0].is_lost.store(true, Ordering::SeqCst);
        look();
        assert_eq!(ended.recv(), Ok((0, Outcome::Abandoned)));
        assert_eq!(ended.try_recv(), Err(TryRecvError::Empty));
        // The thread asks by itself.
        assert!(questions.iter().any(|leaves_work| leaves_work));
        devices[1].is_lost.store(true, Ordering::SeqCst);
        assert_eq!(ended.recv(), Ok((1, Outcome::Abandoned)));
    }

    #[test]
    fn a_device_whose_jobs_are_quick_is_not_asked() {
        let (asked, questions) = channel();
        let device = Arc::new(Device { is_lost: AtomicBool::new(false), asked });
        let group = Group::new();
        let begin = || worker::expect(group, Box::new(|_| ())).unwrap();
        let mut job: PendingJob = begin();
        let mut watched = Watched { group, probe: Arc::clone(&device) as _, oldest: None };
        for _ in 0..3 {
            assert!(!watched.is_stuck());
            job = begin_before_the_end(job, begin);
        }
        assert!(!watched.is_stuck() && watched.is_stuck(), "the same job is there at two questions");
        assert_eq!(questions.try_recv(), Err(TryRecvError::Empty));
    }

    fn begin_before_the_end(job: PendingJob, begin: impl Fn() -> PendingJob) -> PendingJob {
        let next = begin();
        drop(job);
        next
    }
}
