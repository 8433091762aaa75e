//! The planner of programs of several threads: what each thread knows, which order commands have, and the random choices.

use super::random::Random;
use super::{ThreadStep, Threaded};
use crate::order::{Command, QueueId};
use crate::set::{CAPACITY, Set};
use crate::state::{Abilities, BlockId, Content, EventId, Flavour, Kind, PoolId, Sabotage};
use crate::step::Step;

/// The most threads of a program.
const MOST_THREADS: usize = 8;
/// The most blocks that live at a time.
const MOST_BLOCKS: usize = 24;
/// So many words of a block are checked and written at most, which keeps an interpreter of kernels quick.
const MOST_WORDS: u32 = 512;
/// Commands that are left for the program's end, besides those for each block.
const RESERVE: usize = 60;

/// A thread and the number of one of its steps.
type Place = (usize, usize);

/// A command that was given to a queue.
struct Placed {
    queue: QueueId,
    /// It and everything that has finished when it has.
    through: Set,
    event: Option<EventId>,
}

struct Line {
    in_order: bool,
    /// The one thread that uses it; `None` for a queue that all use.
    owner: Option<usize>,
    alive: bool,
    commands: Vec<Command>,
    barriers: Vec<Command>,
}

struct Held {
    kind: Kind,
    pool: PoolId,
    size: usize,
    content: Content,
    live: bool,
    /// The allocation or the last write, and the step that enqueued it.
    written: (Command, Place),
    /// Reads since then. A question of the host is no command.
    reads: Vec<(Option<Command>, Place)>,
}

impl Held {
    fn words(&self) -> u32 {
        u32::try_from(self.size / 4).unwrap_or(u32::MAX)
    }
}

struct Event {
    command: Command,
    place: Place,
}

/// What a thread knows.
#[derive(Clone, Default)]
struct Knowledge {
    /// Steps that each thread has certainly taken.
    clock: Vec<usize>,
    /// Commands that have certainly finished.
    done: Set,
    /// Commands that were certainly enqueued.
    enqueued: Set,
}

#[derive(Default)]
struct Worker {
    now: Knowledge,
    /// What it knew after each of its steps.
    past: Vec<Knowledge>,
    steps: Vec<ThreadStep>,
    /// What its next step must wait for.
    after: Vec<Place>,
}

struct Planner<'a> {
    random: Random,
    abilities: &'a Abilities,
    sabotage: Option<Sabotage>,
    workers: Vec<Worker>,
    lines: Vec<Line>,
    commands: Vec<Placed>,
    kernels: Set,
    blocks: Vec<Held>,
    events: Vec<Event>,
    pools: Vec<Flavour>,
    /// Events behind everything on queues that were released: nobody finishes those.
    released: Vec<EventId>,
    /// Steps that use a pool's handle; `None` for a pool that was destroyed.
    pool_uses: Vec<Option<Vec<Place>>>,
}

/// Plans the program of a seed. `sabotage` may be [`Sabotage::MissingWaits`], so that its orders are missing.
#[must_use]
pub fn plan(seed: u64, abilities: &Abilities, sabotage: Option<Sabotage>) -> Threaded {
    let mut random = Random::new(seed);
    let threads = 1 + random.below(MOST_THREADS);
    let worker = || Worker { now: Knowledge { clock: vec![0; threads], ..Knowledge::default() }, ..Worker::default() };
    let mut planner = Planner {
        random,
        abilities,
        sabotage,
        workers: (0..threads).map(|_| worker()).collect(),
        lines: Vec::new(),
        commands: Vec::new(),
        kernels: Set::default(),
        blocks: Vec::new(),
        events: Vec::new(),
        pools: vec![Flavour::Default],
        released: Vec::new(),
        pool_uses: vec![Some(Vec::new())],
    };
    let shared = planner.begin();
    planner.middle();
    planner.end();
    planner.result(shared)
}

impl Planner<'_> {
    fn begin(&mut self) -> Vec<Step> {
        let mut flavours = vec![Flavour::Plain, Flavour::Threshold(1 << 20)];
        flavours.extend(self.abilities.zero.then_some(Flavour::Zero));
        for _ in 0..self.random.below(3) {
            if let (true, Some(flavour)) = (self.abilities.pools, self.random.pick(&flavours)) {
                self.pools.push(flavour);
                self.pool_uses.push(Some(Vec::new()));
            }
        }
        let shared = (0..self.random.below(3)).map(|_| self.line(None)).collect();
        for thread in 0..self.workers.len() {
            for _ in 0..1 + self.random.below(2) {
                let step = self.line(Some(thread));
                self.push(thread, step);
            }
        }
        shared
    }

    /// Random steps of random threads, a few of one thread in a row at times.
    fn middle(&mut self) {
        let steps = 16 + self.random.below(40) + 12 * self.workers.len();
        let mut thread = 0;
        for _ in 0..steps {
            let live = self.live().len();
            if self.commands.len() + 3 * live + RESERVE > CAPACITY {
                return;
            }
            if self.random.chance(60) {
                thread = self.random.below(self.workers.len());
            }
            self.act(thread);
        }
    }

    /// Every block that lives is checked and freed, every queue finished or waited for.
    fn end(&mut self) {
        for block in self.live() {
            let thread = self.random.below(self.workers.len());
            let queue = self.queue_of(thread);
            self.kernel(thread, queue, block, false);
            if self.random.chance(80) {
                self.free(thread, queue, block);
            } else {
                self.host_free(thread, block);
            }
        }
        let released = core::mem::take(&mut self.released);
        for &event in &released {
            self.join(0, self.events[event].place);
        }
        if !released.is_empty() {
            self.wait_here(0, released);
        }
        for queue in 0..self.lines.len() {
            if self.lines[queue].alive {
                self.finish(self.lines[queue].owner.unwrap_or(0), queue);
            }
        }
    }

    fn result(self, shared: Vec<Step>) -> Threaded {
        let Self { workers, mut random, events, blocks, lines, kernels, pools, .. } = self;
        let threads: Vec<Vec<ThreadStep>> = workers.into_iter().map(|worker| worker.steps).collect();
        // Some programs keep many events to the end, most drop nearly all after their last use.
        let kept = if random.chance(30) { 60 } else { 5 };
        let mut uses: Vec<usize> = events.iter().map(|_| usize::from(random.chance(kept))).collect();
        for step in threads.iter().flatten() {
            Threaded::events_of(&step.step).iter().for_each(|&event| uses[event] += 1);
        }
        Threaded { shared, pools, threads, uses, blocks: blocks.len(), queues: lines.len(), kernels }
    }

    /// One random thing that a thread does.
    fn act(&mut self, thread: usize) {
        let queue = self.queue_of(thread);
        let block = self.block_for(thread);
        match (self.random.below(100), block) {
            (0..22, _) => self.alloc(thread, queue),
            (22..44, Some(block)) => self.kernel(thread, queue, block, true),
            (44..50, Some(block)) => self.kernel(thread, queue, block, false),
            (50..56, Some(block)) => self.fill(thread, queue, block),
            (56..62, Some(block)) => self.copy(thread, queue, block),
            (62..65, Some(block)) => self.read(thread, queue, block),
            (65..81, Some(block)) => self.free(thread, queue, block),
            (81..83, Some(block)) => self.host_free(thread, block),
            (83..85, Some(block)) => self.inspect(thread, block),
            (85..89, _) => self.wait(thread, queue),
            (89..94, _) => self.ask(thread),
            (94..96, _) => self.finish(thread, queue),
            (96..97, _) => self.trim(thread),
            (97..98, _) => self.destroy_pool(thread),
            (98..100, _) => self.change_queue(thread),
            _ => self.alloc(thread, queue),
        }
    }

    // Threads.

    fn here(&self, thread: usize) -> Place {
        (thread, self.workers[thread].steps.len())
    }

    /// A thread's next step.
    fn push(&mut self, thread: usize, step: Step) {
        let worker = &mut self.workers[thread];
        let after = worker.after.drain(..).map(|(other, index)| (other, index + 1)).collect();
        worker.steps.push(ThreadStep { after, step });
        worker.now.clock[thread] = worker.steps.len();
        worker.past.push(worker.now.clone());
    }

    /// The thread's next step comes after another thread's step.
    fn join(&mut self, thread: usize, (other, index): Place) {
        if self.workers[thread].now.clock[other] > index {
            return;
        }
        let past = self.workers[other].past[index].clone();
        let worker = &mut self.workers[thread];
        worker.after.retain(|(one, _)| *one != other);
        worker.after.push((other, index));
        worker.now.done = worker.now.done.or(&past.done);
        worker.now.enqueued = worker.now.enqueued.or(&past.enqueued);
        for (known, then) in worker.now.clock.iter_mut().zip(&past.clock) {
            *known = (*known).max(*then);
        }
    }

    fn learn(&mut self, thread: usize, commands: &[Command]) -> Vec<Command> {
        let worker = &mut self.workers[thread];
        let before = worker.now.done;
        for &command in commands {
            worker.now.done = worker.now.done.or(&self.commands[command].through);
        }
        worker.now.done.without(&before).iter().filter(|&command| self.kernels.has(command)).collect()
    }

    // What there is.

    fn line(&mut self, owner: Option<usize>) -> Step {
        let (in_order, profiling) = (self.random.chance(55), self.random.chance(12));
        self.lines.push(Line { in_order, owner, alive: true, commands: Vec::new(), barriers: Vec::new() });
        Step::NewQueue { queue: self.lines.len() - 1, device: 0, in_order, profiling }
    }

    fn live(&self) -> Vec<BlockId> {
        (0..self.blocks.len()).filter(|&block| self.blocks[block].live).collect()
    }

    /// A queue that the thread may use.
    fn queue_of(&mut self, thread: usize) -> QueueId {
        let usable = |line: &Line| line.alive && line.owner.is_none_or(|owner| owner == thread);
        let queues: Vec<QueueId> = (0..self.lines.len()).filter(|&queue| usable(&self.lines[queue])).collect();
        self.random.pick(&queues).unwrap_or(0)
    }

    /// A block: mostly one that the thread wrote last, else anybody's.
    fn block_for(&mut self, thread: usize) -> Option<BlockId> {
        let live = self.live();
        let own: Vec<BlockId> =
            live.iter().copied().filter(|&block| self.blocks[block].written.1.0 == thread).collect();
        if !own.is_empty() && self.random.chance(55) { self.random.pick(&own) } else { self.random.pick(&live) }
    }

    // Order.

    /// What has finished before the next command of a thread on a queue begins, by these events.
    fn before(&self, thread: usize, queue: QueueId, waits: &[EventId], everything: bool) -> Set {
        let (line, now) = (&self.lines[queue], &self.workers[thread].now);
        let earlier = if line.in_order || everything { &line.commands } else { &line.barriers };
        let earlier = earlier.iter().copied().filter(|&command| now.enqueued.has(command));
        let waited = waits.iter().map(|&event| self.events[event].command);
        earlier.chain(waited).fold(now.done, |set, command| set.or(&self.commands[command].through))
    }

    /// Adds the command that the thread's next step enqueues. Commands of out-of-order queues always have an event.
    fn enqueue(
        &mut self,
        thread: usize,
        queue: QueueId,
        waits: &[EventId],
        everything: bool,
        event: bool,
    ) -> (Command, Option<EventId>) {
        let command = self.add(thread, queue, waits, everything);
        let event = (event || !self.lines[queue].in_order).then(|| {
            self.events.push(Event { command, place: self.here(thread) });
            self.events.len() - 1
        });
        self.commands[command].event = event;
        (command, event)
    }

    fn add(&mut self, thread: usize, queue: QueueId, waits: &[EventId], everything: bool) -> Command {
        let command = self.commands.len();
        let through = self.before(thread, queue, waits, everything).or(&Set::of(command));
        self.commands.push(Placed { queue, through, event: None });
        self.lines[queue].commands.push(command);
        self.workers[thread].now.enqueued.insert(command);
        command
    }

    /// Events that a thread may wait for and that cover what is needed, with new ones where none will do.
    fn cover(&mut self, thread: usize, needs: Set, mut covered: Set) -> Vec<EventId> {
        let mut events = Vec::new();
        while let Some(command) = needs.without(&covered).last() {
            let event = self.commands[command].event;
            let event = event.or_else(|| {
                let (enqueued, behind) = (&self.workers[thread].now.enqueued, self.commands[command].queue);
                // A queue that is released was marked before; there is nothing else to wait for.
                let may_join = !self.lines[behind].alive;
                let fits = |event: &Event| {
                    (may_join || enqueued.has(event.command)) && self.commands[event.command].through.has(command)
                };
                self.events.iter().position(fits)
            });
            let event = event.unwrap_or_else(|| self.mark(thread, self.commands[command].queue));
            self.join(thread, self.events[event].place);
            covered = covered.or(&self.commands[self.events[event].command].through);
            events.push(event);
        }
        events
    }

    /// An event behind everything that a thread knows to be on a queue.
    fn mark(&mut self, thread: usize, queue: QueueId) -> EventId {
        let thread = self.lines[queue].owner.unwrap_or(thread);
        let (_, event) = self.enqueue(thread, queue, &[], true, true);
        self.push(thread, Step::Wait { queue, barrier: false, waits: Vec::new(), event });
        self.events.len() - 1
    }

    /// Brings the thread's next command on a queue behind `needs`, in one of several ways; answers its wait list.
    fn order(&mut self, thread: usize, queue: QueueId, needs: Set) -> Vec<EventId> {
        let mut waits = self.extra(thread);
        if self.sabotage == Some(Sabotage::MissingWaits) {
            return waits;
        }
        let covered = self.before(thread, queue, &waits, false);
        let missing = self.cover(thread, needs, covered);
        if missing.is_empty() {
            return waits;
        }
        match self.random.below(10) {
            0 => self.wait_here(thread, missing),
            1 | 2 => {
                let barrier = !self.lines[queue].in_order || self.random.chance(50);
                self.hold_up(thread, queue, missing, barrier);
            }
            3 => {
                for event in missing {
                    let command = self.events[event].command;
                    if !self.workers[thread].now.done.has(command) {
                        let behind = self.commands[command].queue;
                        let own = self.lines[behind].owner.is_none_or(|owner| owner == thread);
                        if own && self.lines[behind].alive {
                            self.finish(thread, behind);
                        } else {
                            self.wait_here(thread, vec![event]);
                        }
                    }
                }
            }
            _ => waits.extend(missing),
        }
        waits
    }

    /// Events that nobody needs in the wait list.
    fn extra(&mut self, thread: usize) -> Vec<EventId> {
        if !self.random.chance(15) {
            return Vec::new();
        }
        let enqueued = self.workers[thread].now.enqueued;
        let known = (0..self.events.len()).rev().filter(|&event| enqueued.has(self.events[event].command));
        let newest: Vec<EventId> = known.take(6).collect();
        let chosen = self.random.pick(&newest);
        chosen.into_iter().inspect(|&event| self.join(thread, self.events[event].place)).collect()
    }

    fn hold_up(&mut self, thread: usize, queue: QueueId, waits: Vec<EventId>, barrier: bool) {
        let wants = self.random.chance(50);
        let (command, event) = self.enqueue(thread, queue, &waits, waits.is_empty(), wants);
        if barrier {
            self.lines[queue].barriers.push(command);
        }
        self.push(thread, Step::Wait { queue, barrier, waits, event });
    }

    fn wait_here(&mut self, thread: usize, events: Vec<EventId>) {
        let commands: Vec<Command> = events.iter().map(|&event| self.events[event].command).collect();
        let done = self.learn(thread, &commands);
        self.push(thread, Step::WaitHere { events, done });
    }

    // Uses of blocks.

    fn needs(&mut self, thread: usize, block: BlockId, writes: bool) -> Set {
        let (command, place) = self.blocks[block].written;
        self.join(thread, place);
        let mut needs = Set::of(command);
        if writes {
            for (read, place) in self.blocks[block].reads.clone() {
                self.join(thread, place);
                if let Some(read) = read {
                    needs.insert(read);
                }
            }
        }
        needs
    }

    fn wrote(&mut self, block: BlockId, command: Command, place: Place, content: Content) {
        let block = &mut self.blocks[block];
        (block.written, block.content) = ((command, place), content);
        block.reads.clear();
    }

    fn alloc(&mut self, thread: usize, queue: QueueId) {
        const SIZES: [usize; 10] = [4, 64, 512, 512, 1000, 1024, 2048, 4096, 65_536, 1 << 20];
        if self.live().len() >= MOST_BLOCKS {
            return;
        }
        let waits = self.extra(thread);
        let alive: Vec<PoolId> = (0..self.pools.len()).filter(|&pool| self.pool_uses[pool].is_some()).collect();
        let pool = self.random.pick(&alive).unwrap_or(0);
        let mut kinds = vec![Kind::Device; 8];
        kinds.extend(self.abilities.host.then_some(Kind::Host));
        kinds.extend(self.abilities.shared.then_some(Kind::Shared));
        let kind = self.random.pick(&kinds).unwrap_or(Kind::Device);
        let size = self.random.pick(&SIZES).unwrap_or(512);
        let wants = self.random.chance(60);
        let (command, event) = self.enqueue(thread, queue, &waits, false, wants);
        let place = self.here(thread);
        let known = u32::try_from(size / 4).unwrap_or(u32::MAX).min(MOST_WORDS);
        let zeroed = self.pools[pool] == Flavour::Zero;
        let content = if zeroed { Content { known, base: 0, step: 0 } } else { Content::default() };
        let block = self.blocks.len();
        let written = (command, place);
        self.blocks.push(Held { kind, pool, size, content, live: true, written, reads: Vec::new() });
        self.pool_uses[pool].iter_mut().for_each(|uses| uses.push(place));
        let pool = (pool != 0).then_some(pool);
        self.push(thread, Step::Alloc { queue, block, kind, size, pool, waits, event });
    }

    fn kernel(&mut self, thread: usize, queue: QueueId, block: BlockId, writes: bool) {
        let needs = self.needs(thread, block, writes);
        let waits = self.order(thread, queue, needs);
        let wants = self.random.chance(60);
        let (command, event) = self.enqueue(thread, queue, &waits, false, wants);
        self.kernels.insert(command);
        let place = self.here(thread);
        let is = self.blocks[block].content;
        let becomes = writes.then(|| Content {
            known: self.blocks[block].words().min(MOST_WORDS),
            base: self.random.word(),
            step: self.random.word() | 1,
        });
        match becomes {
            Some(becomes) => self.wrote(block, command, place, becomes),
            None => self.blocks[block].reads.push((Some(command), place)),
        }
        self.push(thread, Step::Kernel { queue, command, block, is, becomes, waits, event });
    }

    fn fill(&mut self, thread: usize, queue: QueueId, block: BlockId) {
        let needs = self.needs(thread, block, true);
        let waits = self.order(thread, queue, needs);
        let wants = self.random.chance(60);
        let (command, event) = self.enqueue(thread, queue, &waits, false, wants);
        let (small, word) = (self.random.chance(40), self.random.word());
        let pattern = if small { (word & 0xff) * 0x0101_0101 } else { word };
        let known = self.blocks[block].words().min(MOST_WORDS);
        self.wrote(block, command, self.here(thread), Content { known, base: pattern, step: 0 });
        self.push(thread, Step::Fill { queue, block, pattern, small, waits, event });
    }

    fn copy(&mut self, thread: usize, queue: QueueId, to: BlockId) {
        let others: Vec<BlockId> = self.live().into_iter().filter(|&block| block != to).collect();
        let Some(from) = self.random.pick(&others) else { return };
        let needs = self.needs(thread, from, false).or(&self.needs(thread, to, true));
        let waits = self.order(thread, queue, needs);
        let wants = self.random.chance(60);
        let (command, event) = self.enqueue(thread, queue, &waits, false, wants);
        let (source, place) = (self.blocks[from].content, self.here(thread));
        let words = self.blocks[from].words().min(self.blocks[to].words()).min(MOST_WORDS);
        self.wrote(to, command, place, Content { known: source.known.min(words), ..source });
        self.blocks[from].reads.push((Some(command), place));
        self.push(thread, Step::Copy { queue, from, to, words, waits, event });
    }

    /// A blocking copy to the host.
    fn read(&mut self, thread: usize, queue: QueueId, block: BlockId) {
        let needs = self.needs(thread, block, false);
        let waits = self.order(thread, queue, needs);
        // Nobody needs its event: whoever comes after it comes after its end.
        let command = self.add(thread, queue, &waits, false);
        let place = self.here(thread);
        self.blocks[block].reads.push((Some(command), place));
        let done = self.learn(thread, &[command]);
        self.push(thread, Step::Read { queue, block, is: self.blocks[block].content, waits, done });
    }

    fn free(&mut self, thread: usize, queue: QueueId, block: BlockId) {
        let needs = self.needs(thread, block, true);
        let waits = self.order(thread, queue, needs);
        let wants = self.random.chance(40);
        let (_, event) = self.enqueue(thread, queue, &waits, false, wants);
        self.blocks[block].live = false;
        self.push(thread, Step::Free { queue, block, pool: None, waits, event });
    }

    fn host_free(&mut self, thread: usize, block: BlockId) {
        let needs = self.needs(thread, block, true);
        let events = self.cover(thread, needs, self.workers[thread].now.done);
        if !events.is_empty() && self.sabotage.is_none() {
            self.wait_here(thread, events);
        }
        self.blocks[block].live = false;
        self.push(thread, Step::HostFree { block });
    }

    fn inspect(&mut self, thread: usize, block: BlockId) {
        self.needs(thread, block, false);
        let place = self.here(thread);
        let Held { kind, pool, size, .. } = self.blocks[block];
        let offset = self.random.below(size);
        self.blocks[block].reads.push((None, place));
        let pool = match &mut self.pool_uses[pool] {
            Some(uses) if self.abilities.pools => {
                uses.push(place);
                Some(pool)
            }
            _ => None,
        };
        self.push(thread, Step::Inspect { block, offset, kind, size, device: 0, pool });
    }

    // Everything else.

    fn wait(&mut self, thread: usize, queue: QueueId) {
        let waits = self.extra(thread);
        let barrier = self.random.chance(50);
        self.hold_up(thread, queue, waits, barrier);
    }

    fn ask(&mut self, thread: usize) {
        let enqueued = self.workers[thread].now.enqueued;
        let known = (0..self.events.len()).filter(|&event| enqueued.has(self.events[event].command));
        let Some(event) = self.random.pick(&known.collect::<Vec<_>>()) else { return };
        self.join(thread, self.events[event].place);
        match self.random.below(3) {
            0 => self.push(thread, Step::Look { event, behind_gate: false }),
            1 => self.wait_here(thread, vec![event]),
            _ => {
                let done = self.learn(thread, &[self.events[event].command]);
                self.push(thread, Step::Poll { event, done });
            }
        }
    }

    fn finish(&mut self, thread: usize, queue: QueueId) {
        let enqueued = self.workers[thread].now.enqueued;
        let commands = self.lines[queue].commands.iter().copied().filter(|&command| enqueued.has(command));
        let commands: Vec<Command> = commands.collect();
        let done = self.learn(thread, &commands);
        self.push(thread, Step::Finish { queue, done });
    }

    fn trim(&mut self, thread: usize) {
        let pool = self.random.below(self.pools.len());
        let place = self.here(thread);
        let Some(uses) = &mut self.pool_uses[pool] else { return };
        if self.abilities.pools {
            uses.push(place);
            let keep = if self.random.chance(50) { 0 } else { 1 << 20 };
            self.push(thread, Step::Trim { pool, device: 0, keep });
        }
    }

    /// A pool goes while its blocks may live on.
    fn destroy_pool(&mut self, thread: usize) {
        let pool = self.random.below(self.pools.len());
        if pool == 0 {
            return;
        }
        let Some(uses) = self.pool_uses[pool].take() else { return };
        uses.into_iter().for_each(|place| self.join(thread, place));
        self.push(thread, Step::DestroyPool { pool });
    }

    /// The thread releases one of its queues, whatever is on it, and makes another.
    fn change_queue(&mut self, thread: usize) {
        let own = |line: &Line| line.alive && line.owner == Some(thread);
        let queues: Vec<QueueId> = (0..self.lines.len()).filter(|&queue| own(&self.lines[queue])).collect();
        let Some(queue) = self.random.pick(&queues) else { return };
        // Whoever needs the order of its commands later finds an event.
        let event = self.mark(thread, queue);
        self.released.push(event);
        self.lines[queue].alive = false;
        self.push(thread, Step::ReleaseQueue { queue });
        let step = self.line(Some(thread));
        self.push(thread, step);
    }
}
