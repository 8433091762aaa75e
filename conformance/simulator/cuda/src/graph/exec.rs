//! Executable graphs: what a graph was when it was instantiated, in the form that launches run.
//!
//! Child graphs are laid flat: each has a step before its own and one behind them, so that nodes of different child graphs
//! run beside each other like all others. The steps of a launch are those at the time of the call: a change afterwards is
//! for later launches, and copies what a launch still holds. Launches of one executable graph never overlap: each is
//! ordered after the one before, whichever stream that is on.

use super::alloc::{self, Block};
use super::node::Work;
use super::run::Launch;
use super::{Graph, Snapshot};
use crate::clock::{Milestone, Point};
use crate::command::Command;
use crate::event::EVENTS;
use crate::handles::{self, Registry};
use crate::memory::{self, Kind};
use crate::stream::Stream;
use crate::sys::*;
use crate::waiting;
use core::sync::atomic::{AtomicBool, Ordering};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// All executable graphs.
pub static EXECS: Registry<Exec> = Registry::new(handles::Kind::Exec);

/// Frees what is still allocated before it launches.
pub const AUTO_FREE_ON_LAUNCH: u64 = 1;
/// Uploads at once.
pub const UPLOAD: u64 = 2;
/// May be launched by kernels, which cannot be here.
pub const DEVICE_LAUNCH: u64 = 4;
/// Keeps the priorities of its nodes.
pub const USE_NODE_PRIORITY: u64 = 8;

/// One node's part of a launch.
#[derive(Clone)]
pub struct Step {
    /// What is done.
    pub work: Work,
    /// Whether it is.
    pub enabled: bool,
    /// Steps that wait for it.
    pub next: Arc<[usize]>,
    /// How many steps it waits for.
    pub needs: usize,
}

/// What a launch runs.
#[derive(Clone, Default)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
    /// Blocks that it allocates and does not free, by the steps that do.
    keeps: Vec<(usize, Arc<Block>)>,
    /// Blocks that it allocates and frees.
    returns: Vec<Arc<Block>>,
    /// Addresses of other graphs' blocks that it frees.
    frees: Vec<u64>,
}

impl Plan {
    /// Finds out what becomes of the memory of its steps.
    pub fn find_memory(&mut self) {
        let free = |step: &Step| if let Work::Free(address) = step.work { Some(address) } else { None };
        let freed: HashSet<u64> = self.steps.iter().filter_map(free).collect();
        let mut own = HashSet::new();
        (self.keeps, self.returns) = Default::default();
        for (number, step) in self.steps.iter().enumerate() {
            if let Work::Alloc(block) = &step.work {
                own.insert(block.address);
                if freed.contains(&block.address) {
                    self.returns.push(block.clone());
                } else {
                    self.keeps.push((number, block.clone()));
                }
            }
        }
        self.frees = freed.difference(&own).copied().collect();
    }

    /// Fails where a launch would crash the real driver: its events and functions must be there still.
    fn check_alive(&self) -> Result {
        for step in &self.steps {
            match &step.work {
                Work::Record(event) | Work::Wait(event) => {
                    drop(EVENTS.lookup(event.handle, CUDA_ERROR_INVALID_HANDLE)?)
                }
                Work::Kernel(kernel) => kernel.check_loaded()?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether it copies to memory that the driver does not know: its launch waits until the stream has got there.
    fn writes_heap(&self) -> bool {
        let writes =
            |step: &Step| matches!(&step.work, Work::Copy(copy) if step.enabled && waiting::writes_heap(&copy.what));
        self.steps.iter().any(writes)
    }

    /// Takes the memory that its nodes will need.
    pub fn reserve(&self) -> Result {
        self.keeps.iter().map(|(_, block)| block).chain(&self.returns).try_for_each(|block| block.reserve())
    }
}

/// The nodes of one graph, child graphs below theirs.
pub struct Level {
    /// In the order of adding.
    pub nodes: Vec<Known>,
}

/// A node as it was when it was instantiated.
pub struct Known {
    /// Its handle.
    pub handle: Handle,
    /// Its step; of a child graph, the one before those of its own.
    pub step: usize,
    /// Which nodes it waits for, by their places.
    pub after: Vec<usize>,
    /// A child graph's nodes.
    pub child: Option<Level>,
}

/// An executable graph.
pub struct Exec {
    /// Its handle.
    pub handle: Handle,
    /// Flags it was instantiated with.
    pub flags: u64,
    /// Its nodes.
    pub level: Level,
    steps_of: HashMap<Handle, usize>,
    /// Its graph's mark that an executable graph exists.
    instantiated: Arc<AtomicBool>,
    state: Mutex<State>,
}

struct State {
    plan: Arc<Plan>,
    /// The stream and the command of the latest launch.
    last: Option<(Arc<Stream>, u64)>,
}

/// Lays graphs flat.
#[derive(Default)]
struct Layout {
    works: Vec<Work>,
    next: Vec<Vec<usize>>,
    needs: Vec<usize>,
    steps_of: HashMap<Handle, usize>,
}

impl Layout {
    fn push(&mut self, work: Work) -> usize {
        self.works.push(work);
        self.next.push(Vec::new());
        self.needs.push(0);
        self.works.len() - 1
    }

    fn link(&mut self, from: usize, to: usize) {
        self.next[from].push(to);
        self.needs[to] += 1;
    }

    /// Adds a graph's nodes; answers them, and the last step of each.
    fn add(&mut self, nodes: Vec<Snapshot>) -> (Level, Vec<usize>) {
        let mut known = Vec::with_capacity(nodes.len());
        let mut ends = Vec::with_capacity(nodes.len());
        for Snapshot { handle, work, after } in nodes {
            let child = match &work {
                Work::Child(child) => Some(child.snapshot()),
                _ => None,
            };
            let step = self.push(work);
            self.steps_of.insert(handle, step);
            let (child, end) = match child {
                None => (None, step),
                Some(nodes) => {
                    let (level, inner) = self.add(nodes);
                    let end = self.push(Work::Empty);
                    let waited: HashSet<usize> =
                        level.nodes.iter().flat_map(|node| node.after.iter().copied()).collect();
                    for (place, node) in level.nodes.iter().enumerate() {
                        if node.after.is_empty() {
                            self.link(step, node.step);
                        }
                        if !waited.contains(&place) {
                            self.link(inner[place], end);
                        }
                    }
                    if level.nodes.is_empty() {
                        self.link(step, end);
                    }
                    (Some(level), end)
                }
            };
            known.push(Known { handle, step, after, child });
            ends.push(end);
        }
        for node in &known {
            for &before in &node.after {
                self.link(ends[before], node.step);
            }
        }
        (Level { nodes: known }, ends)
    }

    /// Whether every step's turn comes: a cycle has no order.
    fn has_order(&self) -> bool {
        let mut needs = self.needs.clone();
        let mut ready: Vec<usize> = (0..needs.len()).filter(|&step| needs[step] == 0).collect();
        let mut seen = 0;
        while let Some(step) = ready.pop() {
            seen += 1;
            for &next in &self.next[step] {
                needs[next] -= 1;
                if needs[next] == 0 {
                    ready.push(next);
                }
            }
        }
        seen == needs.len()
    }
}

impl Exec {
    /// Instantiates a graph as it is now.
    pub fn create(graph: &Graph, flags: u64) -> Result<Arc<Exec>> {
        if flags & !(AUTO_FREE_ON_LAUNCH | UPLOAD | DEVICE_LAUNCH | USE_NODE_PRIORITY) != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if flags & DEVICE_LAUNCH != 0 {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        if graph.is_taken() {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        let mut layout = Layout::default();
        let (level, _) = layout.add(graph.snapshot());
        if !layout.has_order() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let Layout { works, next, needs, steps_of } = layout;
        let steps = works.into_iter().zip(next).zip(needs);
        let steps = steps.map(|((work, next), needs)| Step { work, enabled: true, next: next.into(), needs }).collect();
        let mut plan = Plan { steps, ..Plan::default() };
        plan.find_memory();
        let state = Mutex::new(State { plan: Arc::new(plan), last: None });
        let instantiated = graph.instantiated.clone();
        instantiated.store(true, Ordering::Release);
        let make = |handle| Exec { handle, flags, level, steps_of, instantiated, state };
        Ok(EXECS.insert_with(make).1)
    }

    /// The live executable graph of a handle.
    pub fn lookup(handle: Handle) -> Result<Arc<Exec>> {
        EXECS.lookup(handle, CUDA_ERROR_INVALID_VALUE)
    }

    /// Makes it invalid. Launches in flight run to their end.
    pub fn destroy(&self) {
        EXECS.remove(self.handle);
        self.instantiated.store(false, Ordering::Release);
    }

    /// The step of a node of its graph, or of the graph of one of its child nodes.
    pub fn step_of(&self, node: Handle) -> Result<usize> {
        self.steps_of.get(&node).copied().ok_or(CUDA_ERROR_INVALID_VALUE)
    }

    /// A step as it is now.
    pub fn step(&self, step: usize) -> Step {
        self.state.lock().plan.steps[step].clone()
    }

    /// Changes steps for later launches.
    pub fn change(&self, change: impl FnOnce(&mut Plan)) {
        change(Arc::make_mut(&mut self.state.lock().plan));
    }

    /// What an upload does: takes the memory that its nodes will need.
    pub fn reserve(&self) -> Result {
        self.state.lock().plan.reserve()
    }

    /// Launches it behind what the stream has and behind its own latest launch, once the stream has room for one more. Waits for it
    /// where the driver does.
    pub fn launch(&self, stream: &Arc<Stream>) -> Result {
        stream.take_places(1);
        let plan = self.launch_now(stream).inspect_err(|_| stream.give_places(1))?;
        if plan.writes_heap() {
            waiting::inside(&stream.context, || waiting::for_stream(stream));
        }
        Ok(())
    }

    fn launch_now(&self, stream: &Arc<Stream>) -> Result<Arc<Plan>> {
        let mut state = self.state.lock();
        let plan = state.plan.clone();
        let auto_free = self.flags & AUTO_FREE_ON_LAUNCH != 0;
        if !auto_free && plan.keeps.iter().any(|(_, block)| block.is_allocated()) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let others: Vec<_> = plan.frees.iter().filter_map(|&address| alloc::block(address)).collect();
        if others.len() < plan.frees.len() || !others.iter().all(|block| block.is_allocated()) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        plan.check_alive()?;
        plan.reserve()?;
        if let Some((other, seq)) = &state.last {
            stream.submit_wait_for_command(other, *seq);
        }
        for (_, block) in plan.keeps.iter().filter(|(_, block)| block.is_allocated()) {
            free_before(block, stream);
        }
        let mut launch = Launch::new(plan.clone());
        let events = plan.steps.iter().enumerate().filter_map(|(number, step)| match &step.work {
            Work::Wait(event) => Some((number, event.latest()?)),
            _ => None,
        });
        launch.completions.extend(events);
        launch.completions.values().for_each(|completion| stream.learn_of(completion));
        let mut recorded = Vec::new();
        let seq = stream.submit(|point| {
            begin(&mut launch, stream, point);
            recorded.extend(launch.completions.iter().map(|(number, record)| (*number, record.clone())));
            Command::Graph(Box::new(launch.look()))
        });
        for (number, completion) in recorded {
            if let Work::Record(event) = &plan.steps[number].work {
                event.set_latest(completion);
            }
        }
        others.iter().for_each(|block| block.set_allocated(false));
        state.last = Some((stream.clone(), seq));
        Ok(plan)
    }
}

/// Makes what others may name from the call on: records of events, and memory that stays.
fn begin(launch: &mut Launch, stream: &Stream, point: &Point) {
    let plan = launch.plan.clone();
    for (number, step) in plan.steps.iter().enumerate() {
        if let Work::Record(event) = &step.work {
            launch.completions.insert(number, event.record_at(point, stream));
        }
    }
    for (step, block) in &plan.keeps {
        block.set_allocated(true);
        launch.allocations.insert(*step, block.allocate(Milestone::pending(point.clone())));
    }
}

/// Frees a block that an earlier launch left, on the stream of the next one.
fn free_before(block: &Block, stream: &Arc<Stream>) {
    let Some(allocation) = memory::starting_at(block.address, |found| found.kind == Kind::Graph) else { return };
    stream.submit(|point| {
        if memory::free_in_order(&allocation, Milestone::pending(point.clone())) {
            Command::Freed(allocation)
        } else {
            Command::Nothing
        }
    });
}
