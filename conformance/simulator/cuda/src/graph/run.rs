//! Running a launch: nodes whose dependencies have ended run beside each other, in an order picked at random.
//!
//! The stream's thread works, and helpers join it as long as more nodes are ready than somebody is about to take; so a node
//! that waits for another one that no edge orders meets it, and an edge that is missing shows. `SIMCUDA_GRAPHS` is the
//! start of the sequence of picks. In a failed context nodes are skipped, but events are recorded and memory is freed.

use super::alloc;
use super::exec::Plan;
use super::node::Work;
use crate::clock::{self, Milestone, Point};
use crate::command;
use crate::device::{self, Device};
use crate::event::Completion;
use crate::memory::Allocation;
use crate::reports;
use crate::stream::{self, Stream};
use crate::sys::*;
use core::sync::atomic::{AtomicU64, Ordering};
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Most helpers of one launch.
const HELPERS: usize = 16;
/// Most helpers of the process.
const THREADS: usize = 64;

static LAUNCHES: AtomicU64 = AtomicU64::new(1);

/// One launch as it was submitted.
pub struct Launch {
    /// What is run.
    pub plan: Arc<Plan>,
    /// What the event nodes, by their steps, record or wait for.
    pub completions: HashMap<usize, Arc<Completion>>,
    /// Memory that stays allocated when the launch is over, by the step that allocates it.
    pub allocations: HashMap<usize, Arc<Allocation>>,
    /// Whether what it waits for may be something that nobody can see: whatever a host function does.
    pub waits_unseen: bool,
}

struct Run {
    launch: Launch,
    stream: Arc<Stream>,
    point: Point,
    state: Mutex<State>,
    /// Something became ready, or all is done.
    more: Condvar,
}

struct State {
    /// Steps that wait for nothing.
    ready: Vec<usize>,
    needs: Vec<usize>,
    left: usize,
    /// Helpers called so far.
    helpers: usize,
    /// Of these, those that have not come yet.
    coming: usize,
    random: Option<u64>,
}

impl Launch {
    /// A launch of that plan.
    pub fn new(plan: Arc<Plan>) -> Self {
        Self { plan, completions: HashMap::new(), allocations: HashMap::new(), waits_unseen: false }
    }

    /// Finds out whether what it waits for may be something that nobody can see, once its completions are there.
    pub fn look(mut self) -> Self {
        self.waits_unseen = self.completions.values().any(|completion| completion.unseen)
            || self.plan.steps.iter().any(|step| matches!(step.work, Work::Host(..) | Work::WaitValue(_)));
        self
    }

    /// Runs all of it, on this thread and on helpers.
    pub fn run(self, stream: &Arc<Stream>, point: &Point) {
        let needs: Vec<usize> = self.plan.steps.iter().map(|step| step.needs).collect();
        let mut ready: Vec<usize> = (0..needs.len()).filter(|&step| needs[step] == 0).collect();
        ready.reverse();
        let seed = device::config().map_or(0, |config| config.graph_seed);
        let launch = LAUNCHES.fetch_add(1, Ordering::Relaxed);
        let random = (seed != 0).then_some(seed ^ launch.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let state = State { left: needs.len(), needs, ready, helpers: 0, coming: 0, random };
        let (stream, point, more) = (stream.clone(), point.clone(), Condvar::new());
        Arc::new(Run { launch: self, stream, point, state: Mutex::new(state), more }).work(true);
    }
}

impl State {
    fn take(&mut self) -> Option<usize> {
        match &mut self.random {
            Some(random) if !self.ready.is_empty() => {
                let pick = stream::next_random(random) % self.ready.len() as u64;
                Some(self.ready.swap_remove(pick as usize))
            }
            _ => self.ready.pop(),
        }
    }
}

impl Run {
    fn work(self: &Arc<Self>, owns: bool) {
        let mut state = self.state.lock();
        state.coming -= usize::from(!owns);
        while state.left > 0 {
            self.call_helpers(&mut state);
            let Some(step) = state.take() else {
                if !owns {
                    state.helpers -= 1;
                    return;
                }
                self.more.wait(&mut state);
                continue;
            };
            drop(state);
            self.run_step(step);
            state = self.state.lock();
            state.left -= 1;
            for &next in self.launch.plan.steps[step].next.iter() {
                state.needs[next] -= 1;
                if state.needs[next] == 0 {
                    state.ready.push(next);
                }
            }
            if state.left == 0 || !state.ready.is_empty() {
                self.more.notify_one();
            }
        }
    }

    /// Sees to it that somebody comes for each step that is ready, beside the one that this thread takes.
    fn call_helpers(self: &Arc<Self>, state: &mut State) {
        while state.helpers < HELPERS && state.coming + 1 < state.ready.len() {
            state.helpers += 1;
            state.coming += 1;
            help(self.clone());
        }
    }

    /// Runs one step. A defect of this library must not leave its clients waiting for ever.
    fn run_step(&self, step: usize) {
        if let Some(delay) = device::config().and_then(|config| config.delay) {
            let micros = (clock::tick() ^ delay.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (delay.max_micros + 1);
            std::thread::sleep(core::time::Duration::from_micros(micros));
        }
        if catch_unwind(AssertUnwindSafe(|| self.do_step(step))).is_err() {
            reports::add(reports::Kind::Internal, "a node of a graph panicked");
            self.stream.context.fail(CUDA_ERROR_UNKNOWN);
        }
    }

    fn do_step(&self, number: usize) {
        let step = &self.launch.plan.steps[number];
        match &step.work {
            Work::Record(_) => {
                if let Some(completion) = self.launch.completions.get(&number) {
                    completion.reach(self.stream.floor(), || ());
                }
            }
            Work::Alloc(block) => match self.launch.allocations.get(&number) {
                Some(allocation) => allocation.born.end(),
                None => block.allocate(Milestone::pending(self.point.clone())).born.end(),
            },
            Work::Free(address) => alloc::free(*address, &self.point),
            Work::Empty | Work::Child(_) => {}
            _ if !step.enabled || self.stream.context.failure().is_some() => {}
            work => {
                let context = work.context().unwrap_or(&self.stream.context);
                if context.failure().is_none()
                    && let Err(error) = self.do_work(number, work, context.device)
                {
                    context.fail(error);
                    self.stream.context.fail(error);
                }
            }
        }
    }

    fn do_work(&self, number: usize, work: &Work, device: &Device) -> Result {
        let point = &self.point;
        match work {
            Work::Kernel(kernel) => use_memory(device, point, || kernel.run(point)),
            Work::Copy(copy) => use_memory(device, point, || {
                copy.what.run(point).map_err(|denied| command::refuse("graph copy", denied))
            }),
            Work::Fill(fill) => use_memory(device, point, || {
                fill.what.run(point).map_err(|denied| command::refuse("graph fill", denied))
            }),
            Work::Host(function, data) => {
                self.stream.tell_host_before(point);
                command::call_host(*function, *data);
                Ok(())
            }
            Work::Wait(_) => {
                if let Some(completion) = self.launch.completions.get(&number) {
                    completion.wait();
                    self.stream.raise_floor(completion.floor());
                }
                Ok(())
            }
            Work::WaitValue(value) => {
                command::wait_value(&self.stream, *value);
                Ok(())
            }
            Work::WriteValue(value) => {
                command::write_value(&self.stream, point, *value);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Does what uses memory, unless the device is lost by now.
fn use_memory(device: &Device, point: &Point, work: impl FnOnce() -> Result) -> Result {
    match device.begin_work(point.tick) {
        Some(_at_work) => work(),
        None => Ok(()),
    }
}

struct Helpers {
    calls: VecDeque<Arc<Run>>,
    idle: usize,
    threads: usize,
}

static QUEUE: Mutex<Helpers> = Mutex::new(Helpers { calls: VecDeque::new(), idle: 0, threads: 0 });
static CALLED: Condvar = Condvar::new();

/// Calls a helper to a launch.
fn help(run: Arc<Run>) {
    let mut helpers = QUEUE.lock();
    helpers.calls.push_back(run);
    if helpers.idle < helpers.calls.len() && helpers.threads < THREADS {
        let started = std::thread::Builder::new().name("simcuda-graph".to_owned()).spawn(assist);
        helpers.threads += usize::from(started.is_ok());
    } else {
        CALLED.notify_one();
    }
}

/// A helper's life.
fn assist() {
    let mut helpers = QUEUE.lock();
    loop {
        match helpers.calls.pop_front() {
            Some(run) => {
                drop(helpers);
                run.work(false);
                drop(run);
                helpers = QUEUE.lock();
            }
            None => {
                helpers.idle += 1;
                CALLED.wait(&mut helpers);
                helpers.idle -= 1;
            }
        }
    }
}
