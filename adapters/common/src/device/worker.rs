//! Threads of the engine's own, for the application's functions that a device's progress calls for.
//!
//! A native host function must not make native calls, and whoever blocks in one blocks the driver. So it only hands a
//! ticket over, [`hand_over`], and the job that belongs to it runs here. A job may block for another one: a thread that
//! takes a job up leaves another behind that is free, so jobs never wait for each other's thread. Threads start at first
//! need and are detached. A thread that could not be left behind is tried again by whoever comes next: who hands a job over, a
//! thread that has done its own, and the thread that looks after tasks ([`crate::device::native_context::loss`]).
//!
//! Must never: run a job on a native thread, hold the job queue's lock while anything of a job runs or is dropped, or lose a
//! job; nor take a job of the engine's own that ends only when others have ended, since it would keep the thread that these may
//! need. A ticket's number, not an address, goes through the native library: a call that never comes leaks nothing, and a
//! late one finds nothing.

use core::ffi::c_void;
use core::ops::Deref;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;

use crate::device::deferred;
use crate::object::error::Result;
use crate::object::own_thread;
use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering};

/// Free threads that are kept.
const KEPT: usize = 2;

/// How a job came to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The stream got to it.
    Reached,
    /// The device was lost before.
    Abandoned,
    /// The native library had shut down before, and its memory may have gone with it.
    ShutDown,
}

/// Something to run, once.
pub type Job = Box<dyn FnOnce(Outcome) + Send>;

/// What jobs belong to: those of a lost device end together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(u64);

impl Group {
    /// A group that no job belongs to yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

struct JobQueue {
    expected: BTreeMap<u64, Expected>,
    /// The same jobs by their group, without groups that have none: what asks about one group must not look at others'.
    groups: BTreeMap<Group, BTreeSet<u64>>,
    ready: VecDeque<(Job, Outcome)>,
    next: u64,
    /// Threads that wait for a job or are about to look for one.
    free: usize,
    /// Whether threads that find no job end: a process's never do.
    is_over: bool,
}

struct Expected {
    group: Group,
    job: Job,
    /// Whoever submits it is done and it may run.
    armed: bool,
    /// What became of it before it was armed.
    early: Option<Outcome>,
}

/// The jobs, and the threads for them.
struct Workers {
    jobs: Mutex<JobQueue>,
    /// How many jobs are expected, so that who asks takes no lock where there are none.
    expected: AtomicUsize,
    ready: Condvar,
    #[cfg(loom)]
    bug: Option<Mutation>,
}

/// A bug on purpose, which the model has to find. No other build has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mutation {
    /// Nobody is woken for a job.
    WakeLost,
    /// A job runs before whoever submits it is done.
    RunsUnarmed,
    /// What became of a job before it was armed is forgotten.
    EarlyForgotten,
    /// The last free thread takes a job up and leaves no other behind.
    NobodyLeft,
    /// A thread that could not be started is not tried again.
    NobodyTriesAgain,
    /// Threads stay, however many are free.
    NobodyEnds,
    /// A thread that ends is counted as free.
    GoneCountsAsFree,
}

/// Workers, and how they have threads: those of the process, or of a model.
trait Home: Deref<Target = Workers> + Clone + Send + 'static {
    /// Free threads that are kept.
    const KEPT: usize;

    /// Starts a thread for [`work`].
    fn start(self) -> std::io::Result<()>;

    /// Runs a job, which may panic.
    fn call(job: Job, outcome: Outcome);
}

/// The workers of the process.
#[derive(Clone, Copy)]
struct Process;

#[cfg(not(loom))]
static WORKERS: Workers =
    Workers { jobs: Mutex::new(JobQueue::new()), expected: AtomicUsize::new(0), ready: Condvar::new() };

#[cfg(loom)]
loom::lazy_static! {
    static ref WORKERS: Workers = Workers::of_model(None);
}

impl Deref for Process {
    type Target = Workers;

    fn deref(&self) -> &Workers {
        &WORKERS
    }
}

impl Home for Process {
    const KEPT: usize = KEPT;

    fn start(self) -> std::io::Result<()> {
        let work = move || {
            // Streams wait for what runs here.
            deferred::forbid_waiting();
            let _ = work(&self);
        };
        own_thread::start_for_application("ur-worker", work)
    }

    fn call(job: Job, outcome: Outcome) {
        if catch_unwind(AssertUnwindSafe(|| job(outcome))).is_err() {
            crate::object::error::remember_text("internal error in a worker's job, please report it", 0);
        }
    }
}

impl JobQueue {
    const fn new() -> Self {
        Self {
            expected: BTreeMap::new(),
            groups: BTreeMap::new(),
            ready: VecDeque::new(),
            next: 1,
            free: 0,
            is_over: false,
        }
    }

    /// Whether a job has no thread, since the one that was to be left behind could not be started.
    fn is_short(&self) -> bool {
        self.free == 0 && !self.ready.is_empty()
    }

    /// Whether a job is without a thread, or could come to be: who takes the one before it up may be unable to leave one behind.
    fn needs_looks(&self) -> bool {
        !self.ready.is_empty()
    }
}

impl Workers {
    /// Those of a model.
    #[cfg(loom)]
    fn of_model(bug: Option<Mutation>) -> Self {
        Self { jobs: Mutex::new(JobQueue::new()), expected: AtomicUsize::new(0), ready: Condvar::new(), bug }
    }

    /// Whether it has a bug on purpose: in a model alone.
    #[cfg(not(loom))]
    #[inline(always)]
    #[allow(clippy::unused_self, reason = "the model's knows")]
    const fn has(&self, _: Mutation) -> bool {
        false
    }

    /// Whether it has a bug on purpose.
    #[cfg(loom)]
    fn has(&self, bug: Mutation) -> bool {
        self.bug == Some(bug)
    }

    fn note_expected(&self, jobs: &JobQueue) {
        self.expected.store(jobs.expected.len(), Ordering::Release);
    }

    fn add(&self, expected: Expected) -> u64 {
        let mut jobs = self.jobs.lock();
        let number = jobs.next;
        jobs.next += 1;
        jobs.groups.entry(expected.group).or_default().insert(number);
        jobs.expected.insert(number, expected);
        self.note_expected(&jobs);
        number
    }

    fn remove(&self, jobs: &mut JobQueue, number: u64) -> Option<Expected> {
        let expected = jobs.expected.remove(&number)?;
        self.note_expected(jobs);
        if let Entry::Occupied(mut group) = jobs.groups.entry(expected.group) {
            group.get_mut().remove(&number);
            if group.get().is_empty() {
                group.remove();
            }
        }
        Some(expected)
    }

    fn cancel(&self, number: u64) {
        let cancelled = self.remove(&mut self.jobs.lock(), number);
        // The job goes outside the lock: it may hold the last reference of something.
        drop(cancelled);
    }

    fn expects(&self, group: Group) -> bool {
        self.expected.load(Ordering::Acquire) > 0 && self.jobs.lock().groups.contains_key(&group)
    }

    fn oldest(&self, group: Group) -> Option<u64> {
        self.jobs.lock().groups.get(&group)?.first().copied()
    }
}

fn need_a_thread(home: &impl Home, jobs: &mut JobQueue) -> Result<()> {
    if jobs.free > 0 {
        return Ok(());
    }
    // Behind the lock: nobody may rely on a thread that is counted and then cannot be started. What it does first is to take the lock.
    home.clone().start().map_err(own_thread::no_thread)?;
    jobs.free += 1;
    Ok(())
}

/// Starts the thread that jobs are without, if one can be had by now.
#[cold]
fn try_again(home: &impl Home, jobs: &mut JobQueue) {
    if jobs.is_short() && !home.has(Mutation::NobodyTriesAgain) {
        jobs.free += usize::from(home.clone().start().is_ok());
    }
}

fn push(home: &impl Home, jobs: &mut JobQueue, job: Job, outcome: Outcome) {
    jobs.ready.push_back((job, outcome));
    if jobs.free == 0 {
        try_again(home, jobs);
    } else if !home.has(Mutation::WakeLost) {
        home.ready.notify_one();
    }
}

fn run_by(home: &impl Home, job: Job) -> Result<()> {
    let mut jobs = home.jobs.lock();
    need_a_thread(home, &mut jobs)?;
    push(home, &mut jobs, job, Outcome::Reached);
    Ok(())
}

fn reach(home: &impl Home, jobs: &mut JobQueue, number: u64, outcome: Outcome) {
    let Some(expected) = jobs.expected.get_mut(&number) else { return };
    if !expected.armed && !home.has(Mutation::RunsUnarmed) {
        expected.early.get_or_insert(outcome);
    } else if let Some(expected) = home.remove(jobs, number) {
        push(home, jobs, expected.job, outcome);
    }
}

fn arm_by(home: &impl Home, number: u64) {
    let mut jobs = home.jobs.lock();
    let Some(expected) = jobs.expected.get_mut(&number) else { return };
    expected.armed = true;
    if let Some(outcome) = expected.early.filter(|_| !home.has(Mutation::EarlyForgotten)) {
        reach(home, &mut jobs, number, outcome);
    }
}

/// What a thread does, which is counted as free when it is started; answers whether it was when it ended.
fn work<H: Home>(home: &H) -> bool {
    let workers = &**home;
    let mut jobs = workers.jobs.lock();
    loop {
        let Some((job, outcome)) = jobs.ready.pop_front() else {
            if jobs.is_over {
                return true;
            }
            jobs = workers.ready.wait(jobs);
            continue;
        };
        jobs.free -= 1;
        // Without another one jobs wait for this thread.
        let is_last = jobs.free == 0 && !workers.has(Mutation::NobodyLeft);
        jobs.free += usize::from(is_last && home.clone().start().is_ok());
        drop(jobs);
        H::call(job, outcome);
        jobs = workers.jobs.lock();
        if jobs.free >= H::KEPT && !workers.has(Mutation::NobodyEnds) {
            jobs.free += usize::from(workers.has(Mutation::GoneCountsAsFree));
            return false;
        }
        jobs.free += 1;
    }
}

/// A job that a stream will call for. Dropped before it is armed, it never was.
#[derive(Debug)]
pub struct PendingJob {
    number: u64,
}

impl PendingJob {
    /// What [`hand_over`] is given.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a number that counts up from 1 on a 64-bit machine")]
    pub fn data(&self) -> *mut c_void {
        core::ptr::without_provenance_mut(self.number as usize)
    }

    /// Everything that belongs to the job has been submitted: it runs when the stream gets to it, or now if it did.
    pub fn arm(self) {
        arm_by(&Process, self.number);
        core::mem::forget(self);
    }
}

impl Drop for PendingJob {
    fn drop(&mut self) {
        WORKERS.cancel(self.number);
    }
}

/// Announces a job; see [`PendingJob`].
///
/// # Errors
/// `OUT_OF_RESOURCES` when no thread can be started.
pub fn expect(group: Group, job: Job) -> Result<PendingJob> {
    need_a_thread(&Process, &mut WORKERS.jobs.lock())?;
    let number = WORKERS.add(Expected { group, job, armed: false, early: None });
    Ok(PendingJob { number })
}

/// Runs a job as soon as may be.
///
/// # Errors
/// As [`expect`].
pub fn run(job: Job) -> Result<()> {
    run_by(&Process, job)
}

/// The native host function of every job: it only hands over.
///
/// # Safety
/// `data` is a [`PendingJob::data`].
pub unsafe extern "C" fn hand_over(data: *mut c_void) {
    reach(&Process, &mut WORKERS.jobs.lock(), data.addr() as u64, Outcome::Reached);
}

/// Whether a job of the group still waits for its stream.
pub fn expects(group: Group) -> bool {
    WORKERS.expects(group)
}

/// The number of the job of the group that waits for its stream the longest.
pub fn oldest(group: Group) -> Option<u64> {
    WORKERS.oldest(group)
}

/// Ends the wait of every job of the group: its device will not call for them any more.
pub fn abandon(group: Group, outcome: Outcome) {
    let mut jobs = WORKERS.jobs.lock();
    let numbers = jobs.groups.get(&group).cloned().unwrap_or_default();
    for number in numbers {
        reach(&Process, &mut jobs, number, outcome);
    }
}

/// Whether somebody has to look whether jobs have threads; see [`start_missing`].
pub fn needs_looks() -> bool {
    WORKERS.jobs.lock().needs_looks()
}

/// Starts a thread for jobs that have none, if one can be had by now.
pub fn start_missing() {
    try_again(&Process, &mut WORKERS.jobs.lock());
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{TryRecvError, channel};

    use super::*;

    /// Workers whose threads were started and have not come yet.
    #[derive(Clone)]
    struct Late(Arc<Workers>);

    impl Deref for Late {
        type Target = Workers;

        fn deref(&self) -> &Workers {
            &self.0
        }
    }

    impl Home for Late {
        const KEPT: usize = KEPT;

        fn start(self) -> std::io::Result<()> {
            Ok(())
        }

        fn call(job: Job, outcome: Outcome) {
            job(outcome);
        }
    }

    #[test]
    fn jobs_that_a_free_thread_has_not_taken_up_yet_are_looked_after() {
        let workers =
            Workers { jobs: Mutex::new(JobQueue::new()), expected: AtomicUsize::new(0), ready: Condvar::new() };
        let late = Late(Arc::new(workers));
        assert!(!late.jobs.lock().needs_looks());
        for _ in 0..2 {
            run_by(&late, Box::new(|_| ())).unwrap();
        }
        let jobs = late.jobs.lock();
        assert_eq!((jobs.free, jobs.needs_looks()), (1, true));
    }

    #[test]
    fn a_job_runs_once_it_is_both_armed_and_reached() {
        for early in [false, true] {
            let (done, finished) = channel();
            let pending_job = expect(Group::new(), Box::new(move |outcome| done.send(outcome).unwrap())).unwrap();
            let data = pending_job.data();
            if early {
                // SAFETY: a ticket's data.
                unsafe { hand_over(data) };
                assert_eq!(finished.try_recv(), Err(TryRecvError::Empty));
            }
            pending_job.arm();
            // SAFETY: as above; the second of two finds nothing.
            unsafe { hand_over(data) };
            assert_eq!(finished.recv(), Ok(Outcome::Reached));
            assert!(finished.recv().is_err(), "it ran once and is gone");
        }
    }

    #[test]
    fn a_ticket_that_is_dropped_takes_its_job_along() {
        let (done, finished) = channel();
        let pending_job = expect(Group::new(), Box::new(move |outcome| done.send(outcome).unwrap())).unwrap();
        let data = pending_job.data();
        // SAFETY: a ticket's data.
        unsafe { hand_over(data) };
        drop(pending_job);
        // SAFETY: as above.
        unsafe { hand_over(data) };
        assert!(finished.recv().is_err());
    }

    #[test]
    fn abandoning_ends_the_group_s_jobs_and_no_others() {
        let (done, finished) = channel();
        let groups = [Group::new(), Group::new()];
        let announce = |number: usize| {
            let done = done.clone();
            expect(groups[number], Box::new(move |outcome| done.send((number, outcome)).unwrap())).unwrap()
        };
        let (one, other, late) = (announce(0), announce(1), announce(0));
        let data = other.data();
        one.arm();
        other.arm();
        abandon(groups[0], Outcome::Abandoned);
        assert_eq!(finished.recv(), Ok((0, Outcome::Abandoned)));
        late.arm();
        assert_eq!(finished.recv(), Ok((0, Outcome::Abandoned)));
        // SAFETY: a ticket's data.
        unsafe { hand_over(data) };
        assert_eq!(finished.recv(), Ok((1, Outcome::Reached)));
    }

    #[test]
    fn a_group_is_expected_as_long_as_one_of_its_jobs_and_no_longer() {
        let (group, other) = (Group::new(), Group::new());
        let announce = |group| expect(group, Box::new(|_| ())).unwrap();
        let (cancelled, reached, abandoned) = (announce(group), announce(group), announce(group));
        let (kept, data) = (announce(other), reached.data());
        reached.arm();
        assert!(expects(group) && expects(other));
        drop(cancelled);
        // SAFETY: a ticket's data.
        unsafe { hand_over(data) };
        assert!(expects(group), "one job is left");
        abandon(group, Outcome::Abandoned);
        assert!(expects(group), "nobody has armed it yet");
        abandoned.arm();
        assert!(!expects(group) && expects(other));
        drop(kept);
        assert!(!expects(other));
    }

    /// Each job waits for the next one to run, so all need a thread at once.
    #[test]
    fn jobs_that_wait_for_each_other_all_get_a_thread() {
        const JOBS: usize = 8;
        let gate = std::sync::Arc::new(std::sync::Barrier::new(JOBS + 1));
        for _ in 0..JOBS {
            let gate = std::sync::Arc::clone(&gate);
            run(Box::new(move |_| {
                gate.wait();
            }))
            .unwrap();
        }
        gate.wait();
    }

    #[test]
    fn a_job_that_panics_ends_alone() {
        run(Box::new(|_| panic!("a job"))).unwrap();
        let (done, finished) = channel();
        run(Box::new(move |outcome| done.send(outcome).unwrap())).unwrap();
        assert_eq!(finished.recv(), Ok(Outcome::Reached));
    }
}
