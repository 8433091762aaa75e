//! Planning for blocks: allocations, frees and uses, each behind what it must come after.

use crate::order::{Command, QueueId};
use crate::plan::{MOST_BLOCKS, Model, SIZES, pick};
use crate::set::Set;
use crate::state::{Block, BlockId, Content, EventId, Flavour, Kind, PoolId, Sabotage};
use crate::step::Step;

/// What an allocation is to be.
pub(crate) struct Wish {
    pool: PoolId,
    named: Option<PoolId>,
    kind: Kind,
    size: usize,
}

impl Model {
    /// An allocation like the block that was freed last, on any queue, as far as this one may make it.
    pub(crate) fn freed_last(&self, queue: QueueId) -> Option<Wish> {
        let Block { pool, kind, size, .. } = self.blocks[self.last_freed?];
        let named = self.abilities.pools && self.current[self.device_of(queue)] != pool;
        let named = named.then_some(pool);
        self.pools[pool].serves(self.device_of(queue)).then_some(Wish { pool, named, kind, size })
    }

    pub(crate) fn wish(&self, queue: QueueId, pool: u8, kind: u8, size: u8) -> Option<Wish> {
        let device = self.device_of(queue);
        let mut named = vec![None, None];
        if self.abilities.pools {
            // A pool of its own twice: what is special is rarer than the default otherwise.
            let pools = self.pools_that(|pool| pool.serves(device));
            named.extend(pools.iter().map(|&pool| Some(pool)));
            named.extend(pools.iter().filter(|&&pool| pool >= self.devices).map(|&pool| Some(pool)));
        }
        let named = pick(&named, pool)?;
        let pool = named.unwrap_or(self.current[device]);
        let kinds = [Kind::Device, Kind::Device, Kind::Device, Kind::Host, Kind::Shared, Kind::Device];
        let kind = self.kind_that_fits(pick(&kinds, kind)?, self.pools[pool].flavour);
        Some(Wish { pool, named, kind, size: pick(&SIZES, size)? })
    }

    pub(crate) fn alloc(
        &mut self,
        queue: QueueId,
        wish: Wish,
        waits: u8,
        event: bool,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if self.blocks_that(|block| block.live).len() >= MOST_BLOCKS {
            return None;
        }
        let (device, Wish { pool: from, named, kind, size }) = (self.device_of(queue), wish);
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

    pub(crate) fn kind_that_fits(&self, kind: Kind, flavour: Flavour) -> Kind {
        let able = match kind {
            Kind::Device => true,
            Kind::Host => self.abilities.host,
            Kind::Shared => self.abilities.shared,
        };
        match flavour {
            Flavour::Buffer(_) => Kind::Device,
            _ if able => kind,
            _ => Kind::Device,
        }
    }

    pub(crate) fn free(
        &mut self,
        queue: QueueId,
        block: BlockId,
        name: bool,
        event: bool,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let own = self.blocks[block].pool;
        let pool = (name && self.abilities.pools && self.pools[own].alive).then_some(own);
        let slot = self.enqueue(queue, self.blocks[block].uses, Vec::new(), event, steps);
        self.book_free(block);
        steps.push(Step::Free { queue, block, pool, waits: slot.waits, event: slot.event });
        Some(())
    }

    pub(crate) fn host_free(&mut self, block: BlockId, steps: &mut Vec<Step>) -> Option<()> {
        if self.order.is_closed() || !self.blocks[block].uses.is_within(&self.order.known()) {
            return None;
        }
        self.book_free(block);
        steps.push(Step::HostFree { block });
        Some(())
    }

    pub(crate) fn book_free(&mut self, block: BlockId) {
        let Block { pool, kind, device, size, .. } = self.blocks[block];
        self.blocks[block].live = false;
        self.last_freed = Some(block);
        if self.sabotage != Some(Sabotage::WrongBooks) {
            self.pools[pool].take_back(kind, device, size);
        }
    }

    pub(crate) fn use_block(&mut self, block: BlockId, command: Command, becomes: Option<Content>) {
        let block = &mut self.blocks[block];
        block.uses.insert(command);
        if let Some(content) = becomes {
            block.written.insert(command);
            block.content = content;
        }
    }

    pub(crate) fn fill(
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

    pub(crate) fn copy(
        &mut self,
        queue: QueueId,
        from: BlockId,
        to: BlockId,
        event: bool,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if from == to {
            return None;
        }
        // Drivers wait for such a copy inside of the call.
        let is_between_hosts = [from, to].iter().all(|&block| self.blocks[block].kind == Kind::Host);
        if is_between_hosts && self.order.is_closed() {
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

    pub(crate) fn kernel(
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

    pub(crate) fn read(&mut self, queue: QueueId, block: BlockId, steps: &mut Vec<Step>) -> Option<()> {
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
}
