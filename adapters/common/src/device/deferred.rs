//! Giving back what the native library may block for, where nobody must wait.
//!
//! Native frees wait until the device has done what it was given, and while one waits, allocations, launches, copies and
//! records of other threads wait behind it (`docs/native-facts.md`). A host task runs while its stream waits for it. So a free
//! inside the task would wait for itself, and a free on any other thread would make the task's next launch wait for the task.
//!
//! Therefore such calls and host tasks exclude one another. While a host task is in flight, whatever is to be freed is handed
//! over to one thread, which frees it when there is none. The same holds for threads that run functions of the application
//! ([`forbid_waiting`]). Everybody else frees at once. Loading code waits and holds up others in the same way, and cannot be
//! handed over: it waits for the tasks in flight ([`without_tasks`]), as the native library would, but holds up nobody meanwhile.
//!
//! **The account is recorded at once.** Memory that is handed over is no allocation any more from the moment that the call
//! returns: queries do not know it ([`is_pending`]) and it cannot be freed again. The native library gives an address out again
//! as soon as it was freed there, so whoever gets new memory says so ([`note_allocated`]).
//!
//! Must never hold the lock of the list while anything is given back, nor run a job on a thread that must not wait.

use core::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::driver::{Driver, MemoryKind};
use crate::object::error::{Error, Result};
use crate::object::own_thread;

/// So long an allocation that found no memory, or the end of the adapter, waits for memory that is on its way back: what is
/// handed over can be held up by anything that the device still has to do.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is to be done where waiting is allowed.
struct Job {
    work: Box<dyn FnOnce() + Send>,
    /// Whether it must not run while a host task is in flight.
    is_free: bool,
    /// The start of the memory that it frees.
    memory: Option<usize>,
    /// The number of that memory's range.
    range: u64,
}

/// Memory that is on its way back.
struct Range {
    size: usize,
    /// Tells it from a later one with the same start.
    number: u64,
}

struct Pending {
    jobs: VecDeque<Job>,
    /// Memory that is handed over and not freed yet.
    ranges: BTreeMap<usize, Range>,
    /// The number of the last range.
    last: u64,
    /// Jobs that wait or run.
    count: usize,
    /// Whether the thread runs.
    has_thread: bool,
}

static PENDING: Mutex<Pending> =
    Mutex::new(Pending { jobs: VecDeque::new(), ranges: BTreeMap::new(), last: 0, count: 0, has_thread: false });
static COME: Condvar = Condvar::new();
static DONE: Condvar = Condvar::new();
/// How many ranges there are, for everybody's first question.
static RANGES: AtomicUsize = AtomicUsize::new(0);

/// Frees in progress, and host tasks in flight by the thousand million ([`TASK`]); one of the two is 0.
static FLIGHT: AtomicU64 = AtomicU64::new(0);
const TASK: u64 = 1 << 32;
/// Threads that wait for the other number to become 0, which they do by the lock and the signal behind.
static WAITING: AtomicUsize = AtomicUsize::new(0);
static CHANGE: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

/// A host task that is on its way or runs; no native free is in progress while it lives.
pub struct TaskInFlight(());

impl TaskInFlight {
    /// Waits for frees that are in progress. They wait for no host task, since there was none when they began.
    pub fn begin() -> Self {
        enter(|flight| (flight % TASK == 0).then_some(flight + TASK));
        Self(())
    }
}

impl Drop for TaskInFlight {
    fn drop(&mut self) {
        leave(TASK);
    }
}

/// Whether a function of a host task is on its way or runs. What one has written is seen by whoever finds none.
#[inline(always)]
pub fn has_task_in_flight() -> bool {
    FLIGHT.load(Ordering::Acquire) >= TASK
}

/// A native free, or a load of code, in progress.
struct FreeInProgress(());

impl FreeInProgress {
    const STEP: fn(u64) -> Option<u64> = |flight| (flight < TASK).then_some(flight + 1);

    fn try_begin() -> Option<Self> {
        FLIGHT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, Self::STEP).ok().map(|_| Self(()))
    }

    fn begin() -> Self {
        enter(Self::STEP);
        Self(())
    }
}

impl Drop for FreeInProgress {
    fn drop(&mut self) {
        leave(1);
    }
}

fn enter(step: impl Fn(u64) -> Option<u64>) {
    let enter = || FLIGHT.fetch_update(Ordering::SeqCst, Ordering::SeqCst, &step).is_ok();
    if enter() {
        return;
    }
    WAITING.fetch_add(1, Ordering::SeqCst);
    let mut change = CHANGE.lock();
    while !enter() {
        CHANGED.wait(&mut change);
    }
    drop(change);
    WAITING.fetch_sub(1, Ordering::SeqCst);
}

fn leave(one: u64) {
    FLIGHT.fetch_sub(one, Ordering::SeqCst);
    if WAITING.load(Ordering::SeqCst) > 0 {
        // Whoever has looked and not waited yet holds the lock.
        drop(CHANGE.lock());
        CHANGED.notify_all();
    }
}

thread_local! {
    static MUST_NOT_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Says of the calling thread that it runs functions of the application which the device may be waiting for.
pub fn forbid_waiting() {
    // A thread that is being torn down runs nothing any more.
    let _ = MUST_NOT_WAIT.try_with(|must_not| must_not.set(true));
}

/// As [`forbid_waiting`] until it is dropped.
pub struct WaitingForbidden {
    before: bool,
}

impl WaitingForbidden {
    /// From now on.
    pub fn begin() -> Self {
        Self { before: MUST_NOT_WAIT.try_with(|must_not| must_not.replace(true)).unwrap_or(true) }
    }
}

impl Drop for WaitingForbidden {
    fn drop(&mut self) {
        // As above.
        let _ = MUST_NOT_WAIT.try_with(|must_not| must_not.set(self.before));
    }
}

thread_local! {
    static IN_TASK: Cell<bool> = const { Cell::new(false) };
}

/// A host task's function, which the calling thread runs until this is dropped.
pub struct TaskFunction {
    before: bool,
}

impl TaskFunction {
    /// From now on.
    pub fn begin() -> Self {
        Self { before: IN_TASK.replace(true) }
    }
}

impl Drop for TaskFunction {
    fn drop(&mut self) {
        IN_TASK.set(self.before);
    }
}

/// Refuses what waits for the device in the function of a host task, which the device waits for; `what` is a sentence's subject.
///
/// # Errors
/// `INVALID_OPERATION`.
pub fn refuse_in_task(what: &str) -> Result<()> {
    if !IN_TASK.get() {
        return Ok(());
    }
    let text =
        format!("{what} waits for the device, which waits for this host task; do it before the task is enqueued");
    Err(Error::new(ur_ffi::ur_result_t::ERROR_INVALID_OPERATION, text))
}

/// Runs a native call that waits for the device and holds up everybody's commands meanwhile, but gives nothing back: when no host
/// task is in flight, since a task that enqueues something would wait for the call, which waits for the task.
///
/// # Errors
/// Those of `work`; of [`refuse_in_task`].
pub fn without_tasks<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    refuse_in_task(what)?;
    let _in_progress = FreeInProgress::begin();
    work()
}

/// Whether the calling thread may be what the device waits for.
pub fn must_not_wait() -> bool {
    MUST_NOT_WAIT.try_with(Cell::get).unwrap_or(false)
}

/// Runs native calls that wait for the device and give something back: now, or later if they must not be made now.
pub fn run(work: impl FnOnce() + Send + 'static) {
    match if must_not_wait() { None } else { FreeInProgress::try_begin() } {
        Some(_in_progress) => work(),
        None => push(Job { work: Box::new(work), is_free: true, memory: None, range: 0 }, 0),
    }
}

/// As [`run`] of `work`, and `then` with what that leaves, behind it and no part of it: that may wait for streams, and call
/// functions of the application.
pub fn run_then<L>(work: impl FnOnce() -> L + Send + 'static, then: impl FnOnce(L) + Send + 'static) {
    let both = move |in_progress: FreeInProgress| {
        let left = work();
        drop(in_progress);
        then(left);
    };
    match if must_not_wait() { None } else { FreeInProgress::try_begin() } {
        Some(in_progress) => both(in_progress),
        None => {
            let work = Box::new(move || both(FreeInProgress::begin()));
            push(Job { work, is_free: false, memory: None, range: 0 }, 0);
        }
    }
}

/// As [`run`], always later.
pub fn hand_over(work: impl FnOnce() + Send + 'static) {
    push(Job { work: Box::new(work), is_free: true, memory: None, range: 0 }, 0);
}

/// Runs something that waits for work of the device, which holds up nobody else: now, or on the thread for it if this one
/// must not wait.
pub fn wait(work: impl FnOnce() + Send + 'static) {
    if must_not_wait() { push(Job { work: Box::new(work), is_free: false, memory: None, range: 0 }, 0) } else { work() }
}

/// As [`wait`], always later.
pub fn hand_over_wait(work: impl FnOnce() + Send + 'static) {
    push(Job { work: Box::new(work), is_free: false, memory: None, range: 0 }, 0);
}

/// Frees memory of the native library.
///
/// `home` is what it lives in, and is kept alive until it is freed.
///
/// # Errors
/// What the native library answers; nothing where the memory was handed over.
pub fn free<D: Driver, H: Send + Sync + 'static>(
    driver: &'static D,
    home: &Arc<H>,
    kind: MemoryKind,
    address: usize,
    size: usize,
) -> Result<()> {
    if !must_not_wait()
        && let Some(_in_progress) = FreeInProgress::try_begin()
    {
        return free_now(driver, kind, address);
    }
    let home = Arc::clone(home);
    let work = move || {
        // Nobody is left to tell.
        drop(free_now(driver, kind, address));
        drop(home);
    };
    push(Job { work: Box::new(work), is_free: true, memory: Some(address), range: 0 }, size);
    Ok(())
}

/// Frees memory of the native library on this thread, which may wait for the device. The memory was allocated with that kind,
/// and nobody uses it any more.
///
/// # Errors
/// What the native library answers.
pub(crate) fn free_now<D: Driver>(driver: &D, kind: MemoryKind, address: usize) -> Result<()> {
    // SAFETY: only allocations come here, each once and when nobody uses it any more.
    unsafe {
        match kind {
            MemoryKind::Host => driver.free_host(address),
            MemoryKind::Device | MemoryKind::Shared => driver.free_device(address),
        }
    }
}

/// Whether an address lies in memory that was freed and is not the native library's again yet.
#[inline]
pub fn is_pending(address: usize) -> bool {
    RANGES.load(Ordering::Acquire) != 0 && lies_in_a_range(address)
}

#[cold]
fn lies_in_a_range(address: usize) -> bool {
    let pending = PENDING.lock();
    pending.ranges.range(..=address).next_back().is_some_and(|(start, range)| address - start < range.size)
}

/// Says that the native library has given memory out: what was there before is freed, though its job may not have said so yet.
#[inline]
pub fn note_allocated(address: usize, size: usize) {
    if RANGES.load(Ordering::Acquire) != 0 {
        forget_within(address, size);
    }
}

#[cold]
fn forget_within(address: usize, size: usize) {
    let mut pending = PENDING.lock();
    let end = address.saturating_add(size.max(1));
    while let Some((&start, range)) = pending.ranges.range(..end).next_back()
        && start.saturating_add(range.size) > address
    {
        pending.ranges.remove(&start);
    }
    RANGES.store(pending.ranges.len(), Ordering::Release);
}

/// Bytes that are handed over and not freed yet.
pub fn pending_bytes() -> u64 {
    PENDING.lock().ranges.values().map(|range| range.size as u64).sum()
}

/// Waits a while for what was handed over, if this thread may. Says whether there was anything to wait for.
pub fn wait_until_done() -> bool {
    let mut pending = PENDING.lock();
    if pending.count == 0 || must_not_wait() {
        return false;
    }
    let _ = DONE.wait_while_for(&mut pending, |pending| pending.count > 0, PATIENCE);
    true
}

fn push(mut job: Job, size: usize) {
    let mut pending = PENDING.lock();
    pending.last += 1;
    job.range = pending.last;
    pending.ranges.extend(job.memory.map(|start| (start, Range { size: size.max(1), number: job.range })));
    RANGES.store(pending.ranges.len(), Ordering::Release);
    pending.jobs.push_back(job);
    pending.count += 1;
    if pending.has_thread {
        COME.notify_one();
        return;
    }
    // Without a thread the job waits for the next one's: running it here could wait for ever.
    pending.has_thread = own_thread::start("ur-release", work_off).is_ok();
}

fn work_off() {
    let mut pending = PENDING.lock();
    loop {
        let Some(Job { work, is_free, memory, range }) = pending.jobs.pop_front() else {
            COME.wait(&mut pending);
            continue;
        };
        drop(pending);
        let in_progress = is_free.then(FreeInProgress::begin);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err() {
            crate::object::error::remember_text("internal error while something was given back, please report it", 0);
        }
        drop(in_progress);
        pending = PENDING.lock();
        if let Some(start) = memory.filter(|start| pending.ranges.get(start).is_some_and(|own| own.number == range)) {
            pending.ranges.remove(&start);
            RANGES.store(pending.ranges.len(), Ordering::Release);
        }
        pending.count -= 1;
        DONE.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::{TryRecvError, channel};
    use std::thread;

    use super::*;

    /// Host tasks and frees are the process's, so tests of them take turns.
    static TURN: Mutex<()> = Mutex::new(());

    /// One test at a time, once the thread that gives back has ended what the one before it left.
    fn turn() -> parking_lot::MutexGuard<'static, ()> {
        let turn = TURN.lock();
        while FLIGHT.load(Ordering::SeqCst) != 0 {
            thread::yield_now();
        }
        turn
    }

    #[test]
    fn a_thread_that_must_not_wait_hands_over_and_any_other_runs_at_once() {
        let _turn = turn();
        let here = thread::current().id();
        let (sender, ran) = channel();
        let copy = sender.clone();
        run(move || copy.send(thread::current().id()).unwrap());
        assert_eq!(ran.try_recv(), Ok(here));
        thread::spawn(move || {
            forbid_waiting();
            let me = thread::current().id();
            run(move || sender.send(thread::current().id()).unwrap());
            assert_ne!(ran.recv().unwrap(), me);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn nothing_is_freed_while_a_host_task_is_in_flight() {
        let _turn = turn();
        let (sender, ran) = channel();
        let (one, other) = (TaskInFlight::begin(), TaskInFlight::begin());
        run(move || sender.send(()).unwrap());
        drop(one);
        assert!(FreeInProgress::try_begin().is_none());
        assert_eq!(ran.try_recv(), Err(TryRecvError::Empty));
        drop(other);
        assert_eq!(ran.recv(), Ok(()));
    }

    #[test]
    fn a_host_task_begins_when_no_free_is_in_progress() {
        let _turn = turn();
        let (sender, begun) = channel();
        let (one, other) = (FreeInProgress::begin(), FreeInProgress::begin());
        let task = thread::spawn(move || {
            let task = TaskInFlight::begin();
            sender.send(()).unwrap();
            task
        });
        drop(one);
        assert_eq!(begun.try_recv(), Err(TryRecvError::Empty));
        drop(other);
        assert_eq!(begun.recv(), Ok(()));
        drop(task.join().unwrap());
        assert!(FreeInProgress::try_begin().is_some());
    }

    /// Between the native free and the job's end another thread may have the address already.
    #[test]
    fn memory_that_was_given_out_again_is_not_pending_though_the_job_still_runs() {
        let _turn = turn();
        let (sender, told) = channel();
        let work = move || {
            note_allocated(0x9040, 0x40);
            sender.send([0x9000, 0x9040].map(is_pending)).unwrap();
        };
        push(Job { work: Box::new(work), is_free: true, memory: Some(0x9000), range: 0 }, 0x100);
        assert_eq!(told.recv(), Ok([false, false]));
        while wait_until_done() {}
    }

    /// A task that begins would wait for ever for the free whose thread begins it.
    #[test]
    fn what_follows_a_free_is_no_part_of_it_made_now_or_handed_over() {
        let _turn = turn();
        for is_handed_over in [false, true] {
            let (sender, told) = channel();
            let forbidden = is_handed_over.then(WaitingForbidden::begin);
            let then = move |left| {
                drop(TaskInFlight::begin());
                sender.send((left, thread::current().id())).unwrap();
            };
            run_then(|| FLIGHT.load(Ordering::SeqCst), then);
            drop(forbidden);
            let (left, thread) = told.recv().unwrap();
            assert_eq!((left, thread != thread::current().id()), (1, is_handed_over));
            while wait_until_done() {}
        }
    }

    #[test]
    fn a_range_is_pending_until_its_job_has_run() {
        let _turn = turn();
        let task = TaskInFlight::begin();
        push(Job { work: Box::new(|| ()), is_free: true, memory: Some(0x7000), range: 0 }, 0x100);
        assert!(is_pending(0x7000) && is_pending(0x70ff));
        assert!(!is_pending(0x7100) && !is_pending(0x6fff));
        drop(task);
        while is_pending(0x7000) {
            wait_until_done();
        }
    }
}
