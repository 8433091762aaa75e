//! Every interleaving of a few threads with the workers' code. Run with `cargo xtask races`.
//!
//! A job that nobody runs, and a thread that nobody wakes, are a deadlock, which loom reports. What finds a bug that is there on
//! purpose runs in a process of its own, since a model that fails may end its process.

use std::process::Command;
use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use super::*;
use crate::sync::Arc;

/// Workers of a model, with the threads that they have started.
#[derive(Clone)]
struct Model {
    workers: Arc<Workers>,
    threads: StdArc<StdMutex<Vec<loom::thread::JoinHandle<bool>>>>,
    /// Threads that cannot be started.
    failures: StdArc<StdAtomicUsize>,
}

impl Deref for Model {
    type Target = Workers;

    fn deref(&self) -> &Workers {
        &self.workers
    }
}

impl Home for Model {
    const KEPT: usize = 1;

    fn start(self) -> std::io::Result<()> {
        if self.failures.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        let threads = StdArc::clone(&self.threads);
        let thread = loom::thread::spawn(move || work(&self));
        threads.lock().unwrap().push(thread);
        Ok(())
    }

    /// What panics ends the model.
    fn call(job: Job, outcome: Outcome) {
        job(outcome);
    }
}

/// Names a bug to a child process.
const VARIABLE: &str = "UR_MODEL_BUG";

/// The bug that this process has.
fn chosen() -> Option<Mutation> {
    use Mutation::{EarlyForgotten, GoneCountsAsFree, NobodyEnds, NobodyLeft, NobodyTriesAgain, RunsUnarmed, WakeLost};
    let name = std::env::var(VARIABLE).ok()?;
    let all = [WakeLost, RunsUnarmed, EarlyForgotten, NobodyLeft, NobodyTriesAgain, NobodyEnds, GoneCountsAsFree];
    all.into_iter().find(|bug| format!("{bug:?}") == name)
}

/// Fails unless a test of this module fails with the bug, and says so.
fn expect_found(bug: Mutation, test: &str, says: &str) {
    let module = module_path!().split_once("::").expect("a module of the crate").1;
    let mut child = Command::new(std::env::current_exe().expect("this test's program"));
    let child = child.args([&format!("{module}::{test}"), "--exact", "--nocapture"]).env(VARIABLE, format!("{bug:?}"));
    let ended = child.output().expect("a child process");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(!ended.status.success() && told.contains(says), "{bug:?} was not found: {told}");
}

/// Explores `test`, which waits for its jobs, and looks at the threads behind it: one is free, and the others have ended.
fn explore(test: impl Fn(&Model) + Send + Sync + 'static) {
    let bug = chosen();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let (workers, threads) = (Arc::new(Workers::of_model(bug)), StdArc::default());
        let model = Model { workers, threads, failures: StdArc::default() };
        test(&model);
        model.jobs.lock().is_over = true;
        model.ready.notify_all();
        let mut free = 0;
        loop {
            let Some(thread) = model.threads.lock().unwrap().pop() else { break };
            free += usize::from(thread.join().unwrap());
        }
        let jobs = model.jobs.lock();
        assert_eq!((jobs.free, free), (1, 1), "free by the count, and in fact");
        assert!(jobs.expected.is_empty() && jobs.groups.is_empty() && jobs.ready.is_empty());
        assert_eq!(model.expected.load(Ordering::Relaxed), 0);
    });
}

/// Counts, and has others wait for a count.
struct Meeting {
    come: Mutex<usize>,
    changed: Condvar,
}

impl Meeting {
    fn new() -> Arc<Self> {
        Arc::new(Self { come: Mutex::new(0), changed: Condvar::new() })
    }

    fn come(&self) {
        *self.come.lock() += 1;
        self.changed.notify_all();
    }

    fn until(&self, count: usize) {
        let mut come = self.come.lock();
        while *come < count {
            come = self.changed.wait(come);
        }
    }
}

#[test]
fn jobs_that_wait_for_each_other_have_a_thread_each_and_one_is_left() {
    explore(|model| {
        let meeting = Meeting::new();
        for _ in 0..2 {
            let meeting = Arc::clone(&meeting);
            let job = move |_| {
                meeting.come();
                meeting.until(2);
            };
            run_by(model, Box::new(job)).unwrap();
        }
        meeting.until(2);
    });
}

#[test]
fn bugs_of_threads_and_their_count_are_found() {
    let test = "jobs_that_wait_for_each_other_have_a_thread_each_and_one_is_left";
    expect_found(Mutation::WakeLost, test, "deadlock");
    expect_found(Mutation::NobodyLeft, test, "deadlock");
    expect_found(Mutation::NobodyEnds, test, "free by the count");
    expect_found(Mutation::GoneCountsAsFree, test, "free by the count");
}

/// A job that its stream calls for while whoever submits it arms it, or takes it back.
fn reached_beside(is_armed: bool) {
    explore(move |model| {
        let (ran, armed) = (Meeting::new(), Arc::new(Mutex::new(false)));
        need_a_thread(model, &mut model.jobs.lock()).unwrap();
        let job = {
            let (ran, armed) = (Arc::clone(&ran), Arc::clone(&armed));
            move |_| {
                assert!(*armed.lock(), "a job ran before it was armed");
                ran.come();
            }
        };
        let number = model.add(Expected { group: Group(1), job: Box::new(job), armed: false, early: None });
        let stream = {
            let model = model.clone();
            loom::thread::spawn(move || {
                // The second of two calls finds nothing.
                for _ in 0..2 {
                    reach(&model, &mut model.jobs.lock(), number, Outcome::Reached);
                }
            })
        };
        if is_armed {
            *armed.lock() = true;
            arm_by(model, number);
            ran.until(1);
        } else {
            model.cancel(number);
        }
        stream.join().unwrap();
        assert_eq!(*ran.come.lock(), usize::from(is_armed));
    });
}

#[test]
fn a_job_that_is_reached_while_it_is_armed_runs_once() {
    reached_beside(true);
}

#[test]
fn a_job_that_is_reached_while_it_is_taken_back_does_not_run() {
    reached_beside(false);
}

#[test]
fn bugs_of_jobs_that_are_reached_before_they_are_armed_are_found() {
    let test = "a_job_that_is_reached_while_it_is_armed_runs_once";
    expect_found(Mutation::RunsUnarmed, test, "before it was armed");
    expect_found(Mutation::EarlyForgotten, test, "deadlock");
}

/// Two threads run a job each: of both one starts the thread that neither finds.
#[test]
fn jobs_of_two_threads_run_once_each() {
    explore(|model| {
        let ran = Meeting::new();
        let run = |model: &Model, ran: &Arc<Meeting>| {
            let (model, ran) = (model.clone(), Arc::clone(ran));
            move || run_by(&model, Box::new(move |_| ran.come())).unwrap()
        };
        let other = loom::thread::spawn(run(model, &ran));
        run(model, &ran)();
        ran.until(2);
        other.join().unwrap();
        assert_eq!(*ran.come.lock(), 2);
    });
}

/// The first thread cannot be started: whoever is told that its job was taken has it run all the same.
#[test]
fn a_job_that_is_taken_runs_though_a_thread_could_not_be_started() {
    explore(|model| {
        model.failures.store(1, Relaxed);
        let ran = Meeting::new();
        let run = |model: &Model, ran: &Arc<Meeting>| {
            let (model, ran) = (model.clone(), Arc::clone(ran));
            move || run_by(&model, Box::new(move |_| ran.come())).is_ok()
        };
        let other = loom::thread::spawn(run(model, &ran));
        let taken = [run(model, &ran)(), other.join().unwrap()];
        ran.until(taken.into_iter().filter(|taken| *taken).count());
    });
}

/// The thread that the first of two jobs is to leave behind cannot be started; the second, which it waits for, was taken before.
/// Whoever hands it over tries again, and so does the thread that looks after tasks, once the first has its thread.
#[test]
fn a_job_that_was_taken_runs_though_the_thread_before_it_left_none_behind() {
    explore(|model| {
        let meeting = Meeting::new();
        let job = |meeting: &Arc<Meeting>| -> Job {
            let meeting = Arc::clone(meeting);
            Box::new(move |_| {
                meeting.come();
                meeting.until(2);
            })
        };
        need_a_thread(model, &mut model.jobs.lock()).unwrap();
        let number = model.add(Expected { group: Group(1), job: job(&meeting), armed: true, early: None });
        model.failures.store(1, Relaxed);
        run_by(model, job(&meeting)).unwrap();
        reach(model, &mut model.jobs.lock(), number, Outcome::Reached);
        meeting.until(1);
        try_again(model, &mut model.jobs.lock());
        meeting.until(2);
    });
}

#[test]
fn a_thread_that_nobody_tries_to_start_again_is_found() {
    let test = "a_job_that_was_taken_runs_though_the_thread_before_it_left_none_behind";
    expect_found(Mutation::NobodyTriesAgain, test, "deadlock");
}
