//! Programs of timelines: steps of several queues and of the host in an order that solves them, which the steps' enqueues
//! need not keep.
//!
//! A step waits for values of timelines and for events of steps before it, works on a cell or two, and may signal a value.
//! Whatever touches a cell comes after what touched it before, by its queue's own order or by a wait that was added for it,
//! and few waits are there for nothing. A value comes after the one before it on its timeline. So the solving order says
//! what each kernel finds. Where the host fails a timeline instead of signalling, everything was enqueued before, and the
//! values that come before lost ones are reached, so the steps that fail are those that come after it, by a wait or by their
//! queue's order, and no others.
//!
//! Must not know how an adapter keeps or orders anything; the suite runs the plans
//! (`conformance/tests/model/runner/timelines.rs`).

use core::fmt;

use crate::state::Content;
use crate::threads::random::Random;

/// The queues: in order are those of an even number.
pub const QUEUES: usize = 8;
/// The timelines.
pub const TIMELINES: usize = 4;
/// The cells.
pub const CELLS: usize = 6;
/// Words of a cell.
pub const WORDS: u32 = 16;
/// The most steps of a program.
pub const MOST_STEPS: usize = 48;

/// Whether a cell is a buffer, whose bytes move between the devices; the others are memory at one address.
#[must_use]
pub fn is_buffer(cell: usize) -> bool {
    cell >= CELLS / 2
}

/// Whether a queue runs its steps in their order.
#[must_use]
pub fn is_in_order(queue: usize) -> bool {
    queue.is_multiple_of(2)
}

/// Whether a queue is of the first device, which has the kernel.
#[must_use]
pub fn is_on_first_device(queue: usize) -> bool {
    queue % 4 < 2
}

/// A value of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The timeline.
    pub timeline: usize,
    /// The value.
    pub value: u64,
}

/// What a step does between its waits and its signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing; the host's.
    Host,
    /// A kernel that checks a cell and may overwrite it.
    Kernel {
        /// The cell.
        cell: usize,
        /// What it has to find.
        is: Content,
        /// What it leaves.
        becomes: Option<Content>,
    },
    /// Copies a cell over another.
    Copy {
        /// The cell that is read.
        from: usize,
        /// The cell that is written.
        to: usize,
    },
}

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its queue; none is the host.
    pub queue: Option<usize>,
    /// The values that it waits for.
    pub points: Vec<Point>,
    /// Whether its queue waits for them, and with it whatever follows there; else its command alone does.
    pub holds_queue: bool,
    /// Steps before it whose events its command waits for.
    pub events: Vec<usize>,
    /// What it does.
    pub work: Work,
    /// What it signals.
    pub signal: Option<Point>,
    /// Whether it makes that timeline fail instead.
    pub fails: bool,
    /// Whether it comes after that failure.
    pub is_lost: bool,
    /// Steps that are through when it begins, as bits.
    pub after: u64,
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.queue {
            None => write!(out, "the host")?,
            Some(queue) => write!(out, "q{queue}")?,
        }
        let form = if self.holds_queue { "holds for" } else { "after" };
        for Point { timeline, value } in &self.points {
            write!(out, ", {form} t{timeline}={value}")?;
        }
        for event in &self.events {
            write!(out, ", after #{event}")?;
        }
        match self.work {
            Work::Host => {}
            Work::Kernel { cell, becomes: None, .. } => write!(out, ", kernel checks c{cell}")?,
            Work::Kernel { cell, .. } => write!(out, ", kernel checks and writes c{cell}")?,
            Work::Copy { from, to } => write!(out, ", copies c{from} to c{to}")?,
        }
        if let Some(Point { timeline, value }) = self.signal {
            let verb = if self.fails { "fails instead of" } else { "signals" };
            write!(out, ", {verb} t{timeline}={value}")?;
        }
        if self.is_lost { write!(out, ", lost") } else { Ok(()) }
    }
}

/// A program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What lies in the cells before.
    pub entry: Vec<Content>,
    /// What lies there in the end.
    pub exit: Vec<Content>,
    /// The steps, in an order that solves them.
    pub steps: Vec<Step>,
    /// The order in which they are enqueued or, on the host, taken.
    pub order: Vec<usize>,
    /// The value that each timeline reaches.
    pub values: [u64; TIMELINES],
    /// The timelines that fail.
    pub failed: [bool; TIMELINES],
}

/// What is known while the steps are chosen.
struct State {
    random: Random,
    steps: Vec<Step>,
    content: Vec<Content>,
    last_write: Vec<Option<usize>>,
    reads: Vec<Vec<usize>>,
    /// The steps that signal each timeline, the first one 1 and so on.
    signals: [Vec<usize>; TIMELINES],
    /// The last step of each queue.
    last: [Option<usize>; QUEUES],
    /// What each queue's waits have let through.
    held: [u64; QUEUES],
    /// The steps that the host knows to be through.
    host: u64,
}

fn bits(steps: &[usize]) -> u64 {
    steps.iter().fold(0, |bits, step| bits | 1 << step)
}

impl State {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut content = || Content { known: WORDS, base: random.word(), step: random.word() | 1 };
        Self {
            content: (0..CELLS).map(|_| content()).collect(),
            random,
            steps: Vec::new(),
            last_write: vec![None; CELLS],
            reads: vec![Vec::new(); CELLS],
            signals: [const { Vec::new() }; TIMELINES],
            last: [None; QUEUES],
            held: [0; QUEUES],
            host: 0,
        }
    }

    /// What is through once a step is.
    fn through(&self, step: usize) -> u64 {
        self.steps[step].after | 1 << step
    }

    fn work(&mut self, queue: usize) -> Work {
        let cell = self.random.below(CELLS);
        if !is_on_first_device(queue) || self.random.chance(30) {
            return Work::Copy { from: cell, to: (cell + 1 + self.random.below(CELLS - 1)) % CELLS };
        }
        let mut word = || self.random.word();
        let next = Content { known: WORDS, base: word(), step: word() | 1 };
        let becomes = self.random.chance(70).then_some(next);
        Work::Kernel { cell, is: self.content[cell], becomes }
    }

    /// The steps before it that a work must come after.
    fn needed(&self, work: Work) -> Vec<usize> {
        let (read, written) = match work {
            Work::Host => (None, None),
            Work::Kernel { cell, becomes, .. } => (Some(cell), becomes.map(|_| cell)),
            Work::Copy { from, to } => (Some(from), Some(to)),
        };
        let mut needed: Vec<usize> = read.and_then(|cell| self.last_write[cell]).into_iter().collect();
        if let Some(cell) = written {
            needed.extend(self.last_write[cell]);
            needed.extend(&self.reads[cell]);
        }
        needed.sort_unstable_by(|one, two| two.cmp(one));
        needed
    }

    /// Notes what a work leaves in the cells.
    fn touch(&mut self, number: usize, work: Work) {
        let (read, written) = match work {
            Work::Host => return,
            Work::Kernel { cell, becomes, .. } => (cell, becomes.map(|content| (cell, content))),
            Work::Copy { from, to } => (from, Some((to, self.content[from]))),
        };
        self.reads[read].push(number);
        if let Some((cell, content)) = written {
            self.last_write[cell] = Some(number);
            self.reads[cell].clear();
            self.content[cell] = content;
        }
    }

    /// The first value of some timeline that comes after a step, if one does.
    fn point_after(&mut self, step: usize) -> Option<Point> {
        let of = |timeline: usize| {
            let signals = &self.signals[timeline];
            let first = signals.iter().position(|&signal| self.through(signal) & (1 << step) != 0)?;
            Some(Point { timeline, value: first as u64 + 1 })
        };
        let points: Vec<Point> = (0..TIMELINES).filter_map(of).collect();
        self.random.pick(&points)
    }

    fn signalling(&self, point: Point) -> usize {
        self.signals[point.timeline][usize::try_from(point.value).unwrap_or(1) - 1]
    }

    /// Adds a step of a queue, or of the host.
    fn add(&mut self, queue: Option<usize>) {
        let number = self.steps.len();
        let work = queue.map_or(Work::Host, |queue| self.work(queue));
        let before = match queue {
            None => self.host,
            Some(queue) if is_in_order(queue) => self.last[queue].map_or(0, |last| self.through(last)),
            Some(queue) => self.held[queue],
        };
        let (mut after, mut points, mut events) = (before, Vec::new(), Vec::new());
        let signals = queue.is_none() || self.random.chance(60);
        let signal = signals.then(|| {
            let timeline = self.random.below(TIMELINES);
            Point { timeline, value: self.signals[timeline].len() as u64 + 1 }
        });
        let mut by_points = before;
        if let Some(Point { timeline, value }) = signal
            && let Some(&last) = self.signals[timeline].last()
            && after & (1 << last) == 0
        {
            points.push(Point { timeline, value: value - 1 });
            after |= self.through(last);
            by_points = after;
        }
        if queue.is_none() && self.random.chance(50) {
            let all: Vec<usize> = self.signals.concat();
            if let Some(step) = self.random.pick(&all)
                && let Some(point) = self.point_after(step)
            {
                points.push(point);
                after |= self.through(self.signalling(point));
            }
        }
        for needed in self.needed(work) {
            if after & (1 << needed) != 0 {
                continue;
            }
            let point = if self.random.chance(80) { self.point_after(needed) } else { None };
            if let Some(point) = point {
                points.push(point);
                let through = self.through(self.signalling(point));
                after |= through;
                by_points |= through;
            } else {
                events.push(needed);
                after |= self.through(needed);
            }
        }
        let holds_queue = self.random.chance(50);
        self.touch(number, work);
        match queue {
            None => self.host = after | 1 << number,
            Some(queue) => {
                self.last[queue] = Some(number);
                if holds_queue {
                    self.held[queue] |= by_points;
                }
            }
        }
        if let Some(signal) = signal {
            self.signals[signal.timeline].push(number);
        }
        let step = Step { queue, points, holds_queue, events, work, signal, fails: false, is_lost: false, after };
        self.steps.push(step);
    }

    /// Makes the host's last step fail its timeline, and notes what is lost by that.
    fn fail(&mut self) -> [bool; TIMELINES] {
        let mut failed = [None::<u64>; TIMELINES];
        let Some(failing) = self.steps.iter().rposition(|step| step.queue.is_none()) else {
            return [false; TIMELINES];
        };
        let mut lost_queues = [false; QUEUES];
        self.steps[failing].fails = true;
        for number in failing..self.steps.len() {
            let step = &self.steps[number];
            let reaches = |point: &Point| failed[point.timeline].is_some_and(|first| point.value >= first);
            let by_points = step.points.iter().any(reaches);
            let by_events = step.events.iter().any(|&event| self.steps[event].is_lost);
            let by_queue = step.queue.is_some_and(|queue| lost_queues[queue]);
            let is_lost = number == failing || by_points || by_events || by_queue;
            if is_lost {
                if let Some(point) = step.signal {
                    failed[point.timeline].get_or_insert(point.value);
                }
                if let Some(queue) = step.queue {
                    lost_queues[queue] |= is_in_order(queue) || (step.holds_queue && by_points);
                }
            }
            self.steps[number].is_lost = is_lost;
        }
        self.reach_before(failing, failed);
        failed.map(|first| first.is_some())
    }

    /// Has the host wait for what comes before the first lost value of each timeline. A timeline that fails takes all its later
    /// values with it at once, and so do the timelines that these would have been followed by: a signal that is on its way
    /// there would be too late.
    fn reach_before(&mut self, failing: usize, lost: [Option<u64>; TIMELINES]) {
        for (timeline, first) in lost.into_iter().enumerate() {
            let point = Point { timeline, value: first.map_or(0, |first| first - 1) };
            if point.value > 0 && !self.steps[failing].points.contains(&point) {
                self.steps[failing].after |= self.through(self.signalling(point));
                self.steps[failing].points.push(point);
            }
        }
    }

    /// An order of enqueues: each queue's own is kept, and an event is there before it is named. The host takes a step once
    /// all before it were enqueued; a failure comes after everything.
    fn order(&mut self) -> Vec<usize> {
        let (mut order, mut left): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..self.steps.len()).collect());
        // Queues that are enqueued first, whatever they wait for.
        let favoured = self.random.number();
        while !left.is_empty() {
            let enqueued = bits(&order);
            let may_go = |&step: &usize| {
                let of = &self.steps[step];
                let is_first = left.iter().find(|&&other| self.steps[other].queue == of.queue) == Some(&step);
                let host = of.queue.is_some() || if of.fails { left.len() == 1 } else { left[0] == step };
                is_first && host && bits(&of.events) & !enqueued == 0
            };
            let mut ready: Vec<usize> = left.iter().copied().filter(may_go).collect();
            let is_favoured = |step: &usize| self.steps[*step].queue.is_some_and(|queue| favoured & (1 << queue) != 0);
            if ready.iter().any(is_favoured) && self.random.chance(75) {
                ready.retain(is_favoured);
            }
            let next = self.random.pick(&ready).unwrap_or(left[0]);
            left.retain(|&step| step != next);
            order.push(next);
        }
        order
    }
}

impl Plan {
    /// The program of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut state = State::new(seed);
        let entry = state.content.clone();
        let steps = 8 + state.random.below(MOST_STEPS - 7);
        for _ in 0..steps {
            let queue = if state.random.chance(12) { None } else { Some(state.random.below(QUEUES)) };
            state.add(queue);
        }
        let failed = if state.random.chance(40) { state.fail() } else { [false; TIMELINES] };
        let order = state.order();
        let mut plan = Self { exit: Vec::new(), entry, steps: state.steps, order, values: [0; TIMELINES], failed };
        plan.exit = plan.run();
        plan
    }

    /// Takes all steps that are not lost, in the solving order; what lies in the cells then.
    fn run(&mut self) -> Vec<Content> {
        let mut cells = self.entry.clone();
        for step in self.steps.iter().filter(|step| !step.is_lost) {
            match step.work {
                Work::Kernel { cell, becomes: Some(content), .. } => cells[cell] = content,
                Work::Copy { from, to } => cells[to] = cells[from],
                _ => {}
            }
            if let Some(point) = step.signal {
                self.values[point.timeline] = point.value;
            }
        }
        cells
    }
}
