//! The model itself: reads ops against what exists, and says which steps to take and what they must answer.

use crate::op::{Op, Profile};
use crate::order::{Command, Order, QueueId};
use crate::set::Set;
use crate::state::{Abilities, Block, BlockId, Content, Event, EventId, Flavour, Kind, Pool, PoolId, Sabotage};
use crate::step::Step;

/// Bytes of blocks. Few and often the same, so that freed blocks fit what is asked for next.
const SIZES: [usize; 16] = [512, 512, 512, 512, 500, 1024, 4096, 4096, 4096, 64, 4, 1002, 512, 4096, 16_384, 65_536];

/// The most blocks that live at a time.
const MOST_BLOCKS: usize = 12;
/// The most pools that are made.
const MOST_POOLS: usize = 6;
/// The most queues that live at a time.
const MOST_QUEUES: usize = 4;
/// The most gates of a program.
pub const GATES: usize = 8;
/// Commands that the end of a program may need.
const SPARE: usize = 140;

/// A program in the making: what exists, and what is known of it.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) abilities: Abilities,
    pub(crate) sabotage: Option<Sabotage>,
    out_of_order: u8,
    devices: usize,
    pub(crate) order: Order,
    pub(crate) blocks: Vec<Block>,
    pub(crate) pools: Vec<Pool>,
    events: Vec<Event>,
    kernels: Set,
    current: Vec<PoolId>,
    gates: usize,
    values: u32,
}

/// Where a command was put.
struct Slot {
    command: Command,
    waits: Vec<EventId>,
    event: Option<EventId>,
}

pub(crate) fn pick<T: Copy>(list: &[T], choice: impl Into<usize>) -> Option<T> {
    (!list.is_empty()).then(|| list[choice.into() % list.len()])
}

impl Model {
    /// A program's start: its queues and the steps that make them.
    #[must_use]
    pub fn begin(
        profile: &Profile,
        abilities: &Abilities,
        sabotage: Option<Sabotage>,
        queues: &[u8],
    ) -> (Self, Vec<Step>) {
        let devices = profile.devices.min(abilities.devices);
        let mut model = Self {
            abilities: abilities.clone(),
            sabotage,
            out_of_order: profile.out_of_order,
            devices,
            order: Order::default(),
            blocks: Vec::new(),
            pools: (0..devices).map(|device| Pool::new(Flavour::Default, Some(device))).collect(),
            events: Vec::new(),
            kernels: Set::default(),
            current: (0..devices).collect(),
            gates: 0,
            values: 0,
        };
        let mut steps = Vec::new();
        if abilities.pools {
            for pool in 0..devices {
                steps.push(Step::ResetHigh { pool });
                model.set_threshold(pool, 0, &mut steps);
                model.figures(pool, &mut steps);
            }
        }
        for (index, &sort) in queues.iter().enumerate() {
            model.new_queue(sort, index, &mut steps);
        }
        (model, steps)
    }

    /// The blocks, freed ones too.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What to do for an op; nothing if it cannot be done now.
    #[must_use]
    pub fn plan(&mut self, op: &Op) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.order.has_room(SPARE) {
            // An op that finds nothing to act on is left out; what was done for it up to there stays.
            let _ = self.plan_into(op, &mut steps);
        }
        steps
    }

    fn plan_into(&mut self, op: &Op, steps: &mut Vec<Step>) -> Option<()> {
        match *op {
            Op::Alloc { queue, pool, kind, size, waits, event } => {
                let kinds = [Kind::Device, Kind::Device, Kind::Device, Kind::Host, Kind::Shared, Kind::Device];
                self.alloc(self.queue(queue)?, pool, pick(&kinds, kind)?, pick(&SIZES, size)?, waits, event, steps)
            }
            Op::Free { queue, block, name_pool, event } => {
                self.free(self.queue(queue)?, self.live(block)?, name_pool, event, steps)
            }
            Op::HostFree { block } => self.host_free(self.live(block)?, steps),
            Op::Fill { queue, block, value, small, event } => {
                let queue = self.queue(queue)?;
                self.fill(queue, self.live_on(queue, block)?, value, small, event, steps)
            }
            Op::Copy { queue, from, to, event } => {
                let queue = self.queue(queue)?;
                let (to, from) = (self.live_on(queue, to)?, self.source(queue, from)?);
                self.copy(queue, from, to, event, steps)
            }
            Op::Kernel { queue, block, write, waits, event } => {
                let queue = self.queue(queue)?;
                let extra = self.newest(waits);
                self.kernel(queue, self.target(queue, block)?, write, extra, event, steps)
            }
            Op::Read { queue, block } => {
                let queue = self.queue(queue)?;
                self.read(queue, self.live_on(queue, block)?, steps)
            }
            Op::Wait { queue, waits, barrier, event } => {
                let (queue, waits) = (self.queue(queue)?, self.newest(waits));
                self.wait(queue, waits, barrier, event, steps);
                Some(())
            }
            Op::WaitHere { event, more } => self.wait_here(event, more, steps),
            Op::Ask { event, wait } => self.ask(pick(&self.live_events(), event)?, wait, steps),
            Op::ReleaseEvent { event } => self.release_event(pick(&self.live_events(), event)?, steps),
            Op::Finish { queue } => self.finish_queue(self.queue(queue)?, steps),
            Op::Close { queue, event } => self.close(self.queue(queue)?, event, steps),
            Op::Open => self.open(steps),
            Op::NewQueue { sort, device } => {
                (self.live_queues().len() < MOST_QUEUES).then(|| self.new_queue(sort, usize::from(device), steps))
            }
            Op::ReleaseQueue { queue } => self.release_queue(self.queue(queue)?, steps),
            Op::Inspect { block, offset, freed } => self.inspect(block, usize::from(offset), freed, steps),
            Op::Wrong { what, queue, block, pool } => self.wrong(what, self.queue(queue)?, block, pool, steps),
            _ if !self.abilities.pools => None,
            Op::Trim { pool, keep } => self.trim(self.pool(pool)?, usize::from(keep), steps),
            Op::Figures { pool } => {
                self.figures(self.pool(pool)?, steps);
                Some(())
            }
            Op::ResetHigh { pool } => self.reset_high(self.pool(pool)?, steps),
            Op::Threshold { pool, value } => {
                let bytes = pick(&[0, 1 << 20, 64 << 20, u64::MAX], value)?;
                self.set_threshold(self.pool(pool)?, bytes, steps);
                Some(())
            }
            Op::NewPool { flavour, device } => self.new_pool(flavour, usize::from(device), steps),
            Op::DestroyPool { pool } => self.destroy_pool(pool, steps),
            Op::SetDevicePool { device, pool } => self.set_device_pool(usize::from(device), pool, steps),
        }
    }

    /// The program's end: every block is checked and freed, everything given back, and the books must be even.
    #[must_use]
    pub fn end(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let _ = self.open(&mut steps);
        let live: Vec<BlockId> = (0..self.blocks.len()).filter(|&block| self.blocks[block].live).collect();
        for (index, &block) in live.iter().enumerate() {
            let queues = self.live_queues();
            let user =
                queues.iter().copied().find(|&q| self.blocks[block].is_reached_from(self.order.queues[q].device));
            if let Some(user) = user {
                let _ = self.kernel(user, block, false, Vec::new(), index % 2 == 0, &mut steps);
            }
            if let (Some(queue), false) = (pick(&queues, index), index % 4 == 3) {
                let _ = self.free(queue, block, index % 2 == 1, index % 3 == 0, &mut steps);
            }
        }
        for queue in self.live_queues() {
            let _ = self.finish_queue(queue, &mut steps);
        }
        let pinned: Vec<EventId> = self.live_events().into_iter().filter(|&event| self.events[event].pinned).collect();
        if !pinned.is_empty() {
            self.wait_for(pinned, &mut steps);
        }
        for block in live {
            if self.blocks[block].live {
                let _ = self.host_free(block, &mut steps);
            }
        }
        for event in self.live_events() {
            let _ = self.release_event(event, &mut steps);
        }
        self.end_pools(&mut steps);
        steps.extend(self.live_queues().into_iter().map(|queue| Step::ReleaseQueue { queue }));
        steps
    }

    fn end_pools(&mut self, steps: &mut Vec<Step>) {
        if !self.abilities.pools {
            return;
        }
        for device in 0..self.devices {
            if self.current[device] != device {
                steps.push(Step::SetDevicePool { device, pool: device });
            }
        }
        for pool in 0..self.pools.len() {
            if !self.pools[pool].alive {
                continue;
            }
            self.figures(pool, steps);
            if let (Some(device), false) = (self.pools[pool].device, pool < self.devices) {
                if !matches!(self.pools[pool].flavour, Flavour::Buffer(_)) && pool % 2 == 0 {
                    steps.push(Step::Drain { pool, device });
                }
            }
            if pool >= self.devices {
                steps.push(Step::DestroyPool { pool });
            }
        }
    }

    // What there is.

    fn live_queues(&self) -> Vec<QueueId> {
        (0..self.order.queues.len()).filter(|&queue| self.order.queues[queue].alive).collect()
    }

    fn queue(&self, choice: u8) -> Option<QueueId> {
        pick(&self.live_queues(), choice)
    }

    fn device_of(&self, queue: QueueId) -> usize {
        self.order.queues[queue].device
    }

    fn blocks_that(&self, wanted: impl Fn(&Block) -> bool) -> Vec<BlockId> {
        (0..self.blocks.len()).filter(|&block| wanted(&self.blocks[block])).collect()
    }

    pub(crate) fn live(&self, choice: u8) -> Option<BlockId> {
        pick(&self.blocks_that(|block| block.live), choice)
    }

    pub(crate) fn freed(&self, choice: u8) -> Option<BlockId> {
        pick(&self.blocks_that(|block| !block.live), choice)
    }

    fn live_on(&self, queue: QueueId, choice: u8) -> Option<BlockId> {
        let device = self.device_of(queue);
        pick(&self.blocks_that(|block| block.live && block.is_reached_from(device)), choice)
    }

    fn target(&self, queue: QueueId, choice: u8) -> Option<BlockId> {
        let device = self.device_of(queue);
        let freed = self.blocks_that(|block| !block.live && block.is_reached_from(device));
        match self.sabotage {
            Some(Sabotage::UseAfterFree) if !freed.is_empty() => pick(&freed, choice),
            _ => self.live_on(queue, choice),
        }
    }

    fn source(&self, queue: QueueId, choice: u8) -> Option<BlockId> {
        let (device, cross) = (self.device_of(queue), self.abilities.cross_copies);
        pick(&self.blocks_that(|block| block.live && (cross || block.is_reached_from(device))), choice)
    }

    fn pool(&self, choice: u8) -> Option<PoolId> {
        pick(&self.pools_that(|pool| pool.alive), choice)
    }

    pub(crate) fn pools_that(&self, wanted: impl Fn(&Pool) -> bool) -> Vec<PoolId> {
        (0..self.pools.len()).filter(|&pool| wanted(&self.pools[pool])).collect()
    }

    fn live_events(&self) -> Vec<EventId> {
        (0..self.events.len()).filter(|&event| self.events[event].alive).collect()
    }

    fn newest(&self, bits: u8) -> Vec<EventId> {
        let newest = self.live_events().into_iter().rev().enumerate().take(8);
        newest.filter(|(index, _)| bits & (1 << index) != 0).map(|(_, event)| event).collect()
    }

    fn value(&mut self) -> u32 {
        self.values = self.values.wrapping_add(0x9e37_79b9);
        self.values ^ (self.values >> 15)
    }

    pub(crate) fn has_device(&self, queue: QueueId, device: usize) -> bool {
        self.device_of(queue) == device
    }

    // Order.

    fn add_event(&mut self, command: Command) -> EventId {
        self.events.push(Event { command, alive: true, pinned: false });
        self.events.len() - 1
    }

    /// Live events that bring the queue's next command behind all of `needs`; with new events where none will do.
    fn cover(&mut self, queue: QueueId, needs: Set, mut waits: Vec<EventId>, steps: &mut Vec<Step>) -> Vec<EventId> {
        if self.sabotage == Some(Sabotage::MissingWaits) {
            return waits;
        }
        let before = self.order.before_next(queue);
        let mut covered =
            waits.iter().fold(before, |set, &event| set.or(&self.order.through(self.events[event].command)));
        while let Some(command) = needs.without(&covered).last() {
            let known = self.live_events().into_iter();
            let fit = known.filter(|&event| self.order.through(self.events[event].command).has(command));
            let event = match fit.min_by_key(|&event| self.events[event].command) {
                Some(event) => event,
                None => self.mark(self.order.queue_of(command), steps),
            };
            covered = covered.or(&self.order.through(self.events[event].command));
            waits.push(event);
        }
        waits
    }

    /// An event behind everything on a queue.
    fn mark(&mut self, queue: QueueId, steps: &mut Vec<Step>) -> EventId {
        let command = self.order.add(queue, &[], true, false);
        let event = self.add_event(command);
        steps.push(Step::Wait { queue, barrier: false, waits: Vec::new(), event: Some(event) });
        event
    }

    fn commands(&self, waits: &[EventId]) -> Vec<Command> {
        waits.iter().map(|&event| self.events[event].command).collect()
    }

    /// Puts a command on a queue, behind `needs` and the events `extra`.
    fn enqueue(&mut self, queue: QueueId, needs: Set, extra: Vec<EventId>, event: bool, steps: &mut Vec<Step>) -> Slot {
        let waits = self.cover(queue, needs, extra, steps);
        let command = self.order.add(queue, &self.commands(&waits), false, false);
        let event = (event || !self.order.queues[queue].in_order).then(|| self.add_event(command));
        Slot { command, waits, event }
    }

    /// The host learns that commands have finished; answers the kernels among what is news.
    fn learn(&mut self, learn: impl FnOnce(&mut Order)) -> Vec<Command> {
        let before = self.order.known();
        learn(&mut self.order);
        self.order.known().without(&before).iter().filter(|&command| self.kernels.has(command)).collect()
    }

    // Blocks.

    #[allow(clippy::too_many_arguments, reason = "an allocation has as many")]
    fn alloc(
        &mut self,
        queue: QueueId,
        pool: u8,
        kind: Kind,
        size: usize,
        waits: u8,
        event: bool,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if self.blocks_that(|block| block.live).len() >= MOST_BLOCKS {
            return None;
        }
        let device = self.device_of(queue);
        let mut named = vec![None];
        if self.abilities.pools {
            // A pool of its own twice: what is special is rarer than the default otherwise.
            let pools = self.pools_that(|pool| pool.serves(device));
            named.extend(pools.iter().map(|&pool| Some(pool)));
            named.extend(pools.iter().filter(|&&pool| pool >= self.devices).map(|&pool| Some(pool)));
        }
        let named = pick(&named, pool)?;
        let from = named.unwrap_or(self.current[device]);
        let kind = self.kind_that_fits(kind, self.pools[from].flavour);
        let words = u32::try_from(size / 4).ok()?;
        let waits = self.newest(waits);
        let slot = self.enqueue(queue, Set::default(), waits, event, steps);
        let content = match self.pools[from].flavour {
            Flavour::Zero => Content { known: words, base: 0, step: 0 },
            _ => Content::default(),
        };
        self.pools[from].hand_out(kind, device, size);
        let born = Set::of(slot.command);
        self.blocks.push(Block { kind, device, pool: from, size, content, live: true, uses: born, written: born });
        let block = self.blocks.len() - 1;
        steps.push(Step::Alloc { queue, block, kind, size, pool: named, waits: slot.waits, event: slot.event });
        Some(())
    }

    fn kind_that_fits(&self, kind: Kind, flavour: Flavour) -> Kind {
        let able = match kind {
            Kind::Device => true,
            Kind::Host => self.abilities.host,
            Kind::Shared => self.abilities.shared,
        };
        match flavour {
            Flavour::Limited(_) | Flavour::Buffer(_) => Kind::Device,
            _ if able => kind,
            _ => Kind::Device,
        }
    }

    fn free(&mut self, queue: QueueId, block: BlockId, name: bool, event: bool, steps: &mut Vec<Step>) -> Option<()> {
        let own = self.blocks[block].pool;
        let pool = (name && self.abilities.pools && self.pools[own].alive).then_some(own);
        let slot = self.enqueue(queue, self.blocks[block].uses, Vec::new(), event, steps);
        self.book_free(block);
        steps.push(Step::Free { queue, block, pool, waits: slot.waits, event: slot.event });
        Some(())
    }

    fn host_free(&mut self, block: BlockId, steps: &mut Vec<Step>) -> Option<()> {
        if self.order.is_closed() || !self.blocks[block].uses.is_within(&self.order.known()) {
            return None;
        }
        self.book_free(block);
        steps.push(Step::HostFree { block });
        Some(())
    }

    fn book_free(&mut self, block: BlockId) {
        let Block { pool, kind, device, size, .. } = self.blocks[block];
        self.blocks[block].live = false;
        if self.sabotage != Some(Sabotage::WrongBooks) {
            self.pools[pool].take_back(kind, device, size);
        }
    }

    fn use_block(&mut self, block: BlockId, command: Command, becomes: Option<Content>) {
        let block = &mut self.blocks[block];
        block.uses.insert(command);
        if let Some(content) = becomes {
            block.written.insert(command);
            block.content = content;
        }
    }

    fn fill(
        &mut self,
        queue: QueueId,
        block: BlockId,
        value: u8,
        small: bool,
        event: bool,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let pattern = if small { u32::from(value) * 0x0101_0101 } else { self.value() };
        let slot = self.enqueue(queue, self.blocks[block].uses, Vec::new(), event, steps);
        let content = Content { known: self.blocks[block].words(), base: pattern, step: 0 };
        self.use_block(block, slot.command, Some(content));
        steps.push(Step::Fill { queue, block, pattern, small, waits: slot.waits, event: slot.event });
        Some(())
    }

    fn copy(&mut self, queue: QueueId, from: BlockId, to: BlockId, event: bool, steps: &mut Vec<Step>) -> Option<()> {
        if from == to {
            return None;
        }
        let words = self.blocks[from].words().min(self.blocks[to].words());
        let needs = self.blocks[from].written.or(&self.blocks[to].uses);
        let slot = self.enqueue(queue, needs, Vec::new(), event, steps);
        let content = self.blocks[from].content;
        self.use_block(from, slot.command, None);
        self.use_block(to, slot.command, Some(Content { known: content.known.min(words), ..content }));
        steps.push(Step::Copy { queue, from, to, words, waits: slot.waits, event: slot.event });
        Some(())
    }

    fn kernel(
        &mut self,
        queue: QueueId,
        block: BlockId,
        write: bool,
        extra: Vec<EventId>,
        event: bool,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let is = self.blocks[block].content;
        let known = self.blocks[block].words();
        let becomes = write.then(|| Content { known, base: self.value(), step: self.value() | 1 });
        let needs = if write { self.blocks[block].uses } else { self.blocks[block].written };
        let slot = self.enqueue(queue, needs, extra, event, steps);
        let command = slot.command;
        self.kernels.insert(command);
        self.use_block(block, command, becomes);
        steps.push(Step::Kernel { queue, command, block, is, becomes, waits: slot.waits, event: slot.event });
        Some(())
    }

    fn read(&mut self, queue: QueueId, block: BlockId, steps: &mut Vec<Step>) -> Option<()> {
        let waits = self.cover(queue, self.blocks[block].written, Vec::new(), steps);
        let commands = self.commands(&waits);
        let delayed = commands.iter().any(|&command| self.order.may_be_delayed(command));
        if delayed || self.order.queue_may_be_delayed(queue) {
            return None;
        }
        let command = self.order.add(queue, &commands, false, false);
        self.use_block(block, command, None);
        let done = self.learn(|order| order.learn(command));
        steps.push(Step::Read { queue, block, is: self.blocks[block].content, waits, done });
        Some(())
    }

    // Events and queues.

    fn wait(&mut self, queue: QueueId, waits: Vec<EventId>, barrier: bool, event: bool, steps: &mut Vec<Step>) {
        let command = self.order.add(queue, &self.commands(&waits), waits.is_empty(), barrier);
        let event = event.then(|| self.add_event(command));
        steps.push(Step::Wait { queue, barrier, waits, event });
    }

    fn wait_here(&mut self, first: u8, more: u8, steps: &mut Vec<Step>) -> Option<()> {
        let may_finish = |event: &EventId| !self.order.may_be_delayed(self.events[*event].command);
        let able: Vec<EventId> = self.live_events().into_iter().filter(may_finish).collect();
        let mut events = vec![pick(&able, first)?];
        if more & 3 == 0 {
            events.extend(able.iter().rev().take(usize::from(more >> 6)).copied());
        }
        self.wait_for(events, steps);
        Some(())
    }

    fn wait_for(&mut self, events: Vec<EventId>, steps: &mut Vec<Step>) {
        let commands = self.commands(&events);
        let done = self.learn(|order| commands.iter().for_each(|&command| order.learn(command)));
        steps.push(Step::WaitHere { events, done });
    }

    fn ask(&mut self, event: EventId, wait: bool, steps: &mut Vec<Step>) -> Option<()> {
        let command = self.events[event].command;
        let behind_gate = self.order.is_behind_gate(command);
        let sabotaged = behind_gate && self.sabotage == Some(Sabotage::WaitBehindGate);
        if sabotaged || (wait && !self.order.may_be_delayed(command)) {
            let done = self.learn(|order| order.learn(command));
            steps.push(Step::Poll { event, done });
        } else {
            steps.push(Step::Look { event, behind_gate });
        }
        Some(())
    }

    fn release_event(&mut self, event: EventId, steps: &mut Vec<Step>) -> Option<()> {
        let Event { command, pinned, .. } = self.events[event];
        if pinned && !self.order.known().has(command) {
            return None;
        }
        self.events[event].alive = false;
        steps.push(Step::ReleaseEvent { event });
        Some(())
    }

    fn finish_queue(&mut self, queue: QueueId, steps: &mut Vec<Step>) -> Option<()> {
        if self.order.queue_may_be_delayed(queue) {
            return None;
        }
        let done = self.learn(|order| order.learn_queue(queue));
        steps.push(Step::Finish { queue, done });
        Some(())
    }

    fn close(&mut self, queue: QueueId, event: bool, steps: &mut Vec<Step>) -> Option<()> {
        if self.order.is_closed() || self.gates == GATES {
            return None;
        }
        let command = self.order.close(queue, &[]);
        self.kernels.insert(command);
        let event = event.then(|| self.add_event(command));
        steps.push(Step::Close { queue, command, gate: self.gates, waits: Vec::new(), event });
        Some(())
    }

    fn open(&mut self, steps: &mut Vec<Step>) -> Option<()> {
        if !self.order.is_closed() {
            return None;
        }
        self.order.open();
        steps.push(Step::Open { gate: self.gates });
        self.gates += 1;
        Some(())
    }

    fn new_queue(&mut self, sort: u8, device: usize, steps: &mut Vec<Step>) {
        let device = (device + usize::from(sort >> 7)) % self.devices;
        let (in_order, profiling) = (sort & 7 >= self.out_of_order, (sort >> 3) & 7 == 0);
        let queue = self.order.add_queue(device, in_order);
        steps.push(Step::NewQueue { queue, device, in_order, profiling });
    }

    fn release_queue(&mut self, queue: QueueId, steps: &mut Vec<Step>) -> Option<()> {
        if self.live_queues().len() < 2 {
            return None;
        }
        if self.order.unknown_of(queue).last().is_some() {
            let event = self.mark(queue, steps);
            self.events[event].pinned = true;
        }
        self.order.queues[queue].alive = false;
        steps.push(Step::ReleaseQueue { queue });
        Some(())
    }

    // Pools.

    fn figures(&mut self, pool: PoolId, steps: &mut Vec<Step>) {
        let Pool { threshold, flavour, .. } = self.pools[pool];
        let (used, high) = (self.pools[pool].used(), self.pools[pool].high());
        steps.push(Step::Figures { pool, used, high, threshold, flavour });
    }

    fn reset_high(&mut self, pool: PoolId, steps: &mut Vec<Step>) -> Option<()> {
        self.pools[pool].reset_high();
        steps.push(Step::ResetHigh { pool });
        Some(())
    }

    fn set_threshold(&mut self, pool: PoolId, bytes: u64, steps: &mut Vec<Step>) {
        if matches!(self.pools[pool].flavour, Flavour::Buffer(_)) {
            return;
        }
        self.pools[pool].threshold = Some(bytes);
        steps.push(Step::Threshold { pool, bytes });
    }

    fn trim(&mut self, pool: PoolId, keep: usize, steps: &mut Vec<Step>) -> Option<()> {
        let keep = pick(&[0, 0, 4096, 1 << 20, 40 << 20], keep)?;
        let device = self.pools[pool].device.unwrap_or(0);
        steps.push(Step::Trim { pool, device, keep });
        Some(())
    }

    fn new_pool(&mut self, flavour: u8, device: usize, steps: &mut Vec<Step>) -> Option<()> {
        if self.pools.len() - self.devices >= MOST_POOLS {
            return None;
        }
        let Abilities { zero, limits, context_pools, buffers, .. } = self.abilities;
        let all = [
            (true, Flavour::Plain),
            (zero, Flavour::Zero),
            (zero, Flavour::Zero),
            (limits, Flavour::Limited(1 << 20)),
            (limits, Flavour::Limited(40 << 20)),
            (limits, Flavour::Threshold(48 << 20)),
            (context_pools, Flavour::Context),
            (buffers, Flavour::Buffer(4 << 20)),
        ];
        let able: Vec<Flavour> = all.iter().filter(|(able, _)| *able).map(|(_, flavour)| *flavour).collect();
        let flavour = pick(&able, flavour)?;
        let device = (flavour != Flavour::Context).then_some(device % self.devices);
        self.pools.push(Pool::new(flavour, device));
        steps.push(Step::NewPool { pool: self.pools.len() - 1, device, flavour });
        Some(())
    }

    fn destroy_pool(&mut self, choice: u8, steps: &mut Vec<Step>) -> Option<()> {
        let made: Vec<PoolId> = self.pools_that(|pool| pool.alive).into_iter().filter(|&p| p >= self.devices).collect();
        let pool = pick(&made, choice)?;
        self.pools[pool].alive = false;
        for (device, current) in self.current.iter_mut().enumerate() {
            if *current == pool {
                *current = device;
            }
        }
        steps.push(Step::DestroyPool { pool });
        Some(())
    }

    fn set_device_pool(&mut self, device: usize, choice: u8, steps: &mut Vec<Step>) -> Option<()> {
        if !self.abilities.device_pool {
            return None;
        }
        let device = device % self.devices;
        let pool = pick(&self.pools_that(|pool| pool.alive && pool.device == Some(device)), choice)?;
        self.current[device] = pool;
        steps.push(Step::SetDevicePool { device, pool });
        Some(())
    }

    // Questions.

    fn inspect(&mut self, choice: u8, offset: usize, freed: bool, steps: &mut Vec<Step>) -> Option<()> {
        if freed {
            steps.push(Step::InspectFreed { block: self.freed(choice)? });
            return Some(());
        }
        let block = self.live(choice)?;
        let Block { kind, size, device, pool, .. } = self.blocks[block];
        let offset = offset % size;
        let pool = (self.abilities.pools && self.pools[pool].alive).then_some(pool);
        steps.push(Step::Inspect { block, offset, kind, size, device, pool });
        Some(())
    }
}
