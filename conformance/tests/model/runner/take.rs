//! Takes the steps of one program and compares every answer with the model's. What goes wrong is told as text; nothing here
//! panics, so that the rest can be cleared away and a smaller program be tried.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use ur_conformance::ffi::{
    CBool, ur_device_handle_t, ur_event_handle_t, ur_event_info_t, ur_event_status_t, ur_queue_flags_t,
    ur_queue_properties_t, ur_result_t as Code, ur_usm_alloc_info_t as alloc_info, ur_usm_pool_handle_t,
    ur_usm_pool_info_t as figure, ur_usm_type_t,
};
use ur_conformance::{Event, Owned, Queue, last_error, ur};
use ur_model::{Content, Flavour, Kind, Mistake, Step};

use super::pools::{self, Pool, list_of};
use super::world::World;

/// What went wrong.
pub type Outcome = Result<(), String>;

/// Counts of what programs did, by name.
pub type Tally = BTreeMap<&'static str, u64>;

struct Block {
    pointer: *mut c_void,
    size: usize,
    live: bool,
}

/// One program while it runs.
pub struct Program<'w, 'f> {
    world: &'w World<'f>,
    queues: Vec<Option<Queue>>,
    pools: Vec<Option<Pool<'f>>>,
    /// Memory below pools that are destroyed; their blocks may live on.
    backings: Vec<pools::Backing<'f>>,
    events: HashMap<usize, Event>,
    blocks: Vec<Block>,
    /// What was in use of each default pool when the program began: nothing, unless an earlier program failed.
    before: Vec<u64>,
    pub tally: &'w mut Tally,
}

fn expect(answer: Code, wanted: Code, call: &str) -> Outcome {
    if answer == wanted { Ok(()) } else { Err(format!("{call} answers {answer:?}, not {wanted:?}: {}", last_error())) }
}

fn succeeds(answer: Code, call: &str) -> Outcome {
    expect(answer, Code::SUCCESS, call)
}

fn same<T: PartialEq + core::fmt::Debug>(found: T, expected: T, what: &str) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, not {expected:?}")) }
}

/// Whether a step only compares what the implementation says.
fn is_question(step: &Step) -> bool {
    matches!(
        step,
        Step::Figures { .. }
            | Step::Drain { .. }
            | Step::Inspect { .. }
            | Step::InspectFreed { .. }
            | Step::Wrong { .. }
    )
}

impl<'w, 'f> Program<'w, 'f> {
    /// A program that begins; `forgiving` takes what is in use of the default pools for given.
    pub fn begin(world: &'w World<'f>, tally: &'w mut Tally, seed: u64, forgiving: bool) -> Result<Self, String> {
        world.watch.begin(seed);
        world.clear_notes();
        let (mut pools, mut before) = (Vec::new(), vec![0; world.abilities.devices]);
        if world.abilities.pools {
            for (device, before) in before.iter_mut().enumerate() {
                let pool = pools::default_of(world.fixture, world.fixture.devices[device]);
                let pool = pool.map_err(|code| format!("the default pool of device {device}: {code:?}"))?;
                if forgiving {
                    *before = pools::figure(pool.handle, figure::USED_CURRENT_EXP)?;
                }
                pools.push(Some(pool));
            }
        }
        let (events, queues, backings, blocks) = (HashMap::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { world, queues, pools, backings, events, blocks, before, tally })
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_insert(0) += 1;
    }

    fn device(&self, device: usize) -> ur_device_handle_t {
        self.world.fixture.devices[device]
    }

    fn queue(&self, queue: usize) -> Result<&Queue, String> {
        self.queues.get(queue).and_then(Option::as_ref).ok_or_else(|| format!("q{queue} was never made"))
    }

    fn pool(&self, pool: Option<usize>) -> Result<ur_usm_pool_handle_t, String> {
        let Some(pool) = pool else { return Ok(null_mut()) };
        let found = self.pools.get(pool).and_then(Option::as_ref).ok_or_else(|| format!("p{pool} was never made"))?;
        Ok(found.handle)
    }

    fn event(&self, event: usize) -> Result<ur_event_handle_t, String> {
        self.events.get(&event).map(Owned::handle).ok_or_else(|| format!("e{event} was never made"))
    }

    fn waits(&self, events: &[usize]) -> Result<Vec<ur_event_handle_t>, String> {
        events.iter().map(|&event| self.event(event)).collect()
    }

    /// Runs an enqueue with a place for its event if the model wants one.
    fn enqueue(
        &mut self,
        event: Option<usize>,
        name: &'static str,
        call: impl FnOnce(&Self, *mut ur_event_handle_t) -> Result<Code, String>,
    ) -> Outcome {
        self.count(name);
        let mut handle: ur_event_handle_t = null_mut();
        let out = if event.is_some() { &raw mut handle } else { null_mut() };
        let answer = call(self, out)?;
        succeeds(answer, name)?;
        if let Some(event) = event {
            if handle.is_null() {
                return Err(format!("{name} gives no event"));
            }
            self.events.insert(event, Event::take(handle));
        }
        Ok(())
    }

    /// Takes a step.
    pub fn take(&mut self, step: &Step) -> Outcome {
        if self.world.content_only && is_question(step) {
            return Ok(());
        }
        match step {
            Step::Alloc { .. } | Step::Free { .. } | Step::HostFree { .. } => self.take_memory(step),
            Step::Fill { .. } | Step::Copy { .. } | Step::Kernel { .. } | Step::Read { .. } => self.take_use(step),
            Step::Wait { .. }
            | Step::Close { .. }
            | Step::Open { .. }
            | Step::WaitHere { .. }
            | Step::Poll { .. }
            | Step::Look { .. }
            | Step::ReleaseEvent { .. }
            | Step::Finish { .. }
            | Step::NewQueue { .. }
            | Step::ReleaseQueue { .. } => self.take_order(step),
            Step::Inspect { block, offset, kind, size, device, pool } => {
                self.inspect(*block, *offset, *kind, *size, *device, *pool)
            }
            Step::InspectFreed { block } => self.inspect_freed(*block),
            Step::Wrong { queue, mistake } => self.wrong(*queue, *mistake),
            _ => self.take_pool(step),
        }?;
        // What a kernel found is told as soon as possible: the steps so far are the program that shows it.
        self.world.verdict().map_or(Ok(()), Err)
    }

    fn take_memory(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Alloc { queue, block, kind, size, pool, waits, event } => {
                let mut pointer = null_mut();
                self.enqueue(*event, "alloc", |this, out| {
                    let (pool, waits) = (this.pool(*pool)?, this.waits(waits)?);
                    let (answer, got) = pools::allocate(this.queue(*queue)?, pool, *kind, *size, &waits, out);
                    pointer = got;
                    Ok(answer)
                })?;
                self.add_block(*block, pointer, *size)
            }
            Step::Free { queue, block, pool, waits, event } => {
                self.enqueue(*event, "free", |this, out| {
                    let (pool, waits) = (this.pool(*pool)?, this.waits(waits)?);
                    let (count, list) = list_of(&waits);
                    let (queue, pointer) = (this.queue(*queue)?.handle(), this.blocks[*block].pointer);
                    Ok(ur!(EnqueueExp.pfnUSMFreeExp(queue, pool, pointer, count, list, out)))
                })?;
                self.blocks[*block].live = false;
                Ok(())
            }
            Step::HostFree { block } => {
                self.count("host free");
                let answer = ur!(USM.pfnFree(self.world.fixture.context(), self.blocks[*block].pointer));
                succeeds(answer, "urUSMFree")?;
                self.blocks[*block].live = false;
                Ok(())
            }
            other => Err(format!("no step of memory: {other}")),
        }
    }

    fn add_block(&mut self, block: usize, pointer: *mut c_void, size: usize) -> Outcome {
        same(pointer.is_null(), false, "whether the new block's address is null")?;
        let ends = |block: &Block| (block.pointer.addr(), block.pointer.addr() + block.size);
        let new = (pointer.addr(), pointer.addr() + size);
        let overlaps = |(_, old): &(usize, &Block)| old.live && ends(old).0 < new.1 && new.0 < ends(old).1;
        if let Some((old, _)) = self.blocks.iter().enumerate().find(overlaps) {
            return Err(format!("b{block} at {pointer:p} overlaps b{old}, which is not freed"));
        }
        if self.blocks.iter().any(|old| !old.live && old.pointer == pointer) {
            self.count("address again");
        }
        self.blocks.resize_with(block, || Block { pointer: null_mut(), size: 0, live: false });
        self.blocks.push(Block { pointer, size, live: true });
        Ok(())
    }

    fn take_use(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Fill { queue, block, pattern, small, waits, event } => self.enqueue(*event, "fill", |this, out| {
                let waits = this.waits(waits)?;
                let (count, list) = list_of(&waits);
                let (bytes, width) = (this.blocks[*block].size / 4 * 4, if *small { 1 } else { 4 });
                let (queue, pointer) = (this.queue(*queue)?.handle(), this.blocks[*block].pointer);
                let value = pattern.to_ne_bytes();
                let value = value.as_ptr().cast();
                Ok(ur!(Enqueue.pfnUSMFill(queue, pointer, width, value, bytes, count, list, out)))
            }),
            Step::Copy { queue, from, to, words, waits, event } => self.enqueue(*event, "copy", |this, out| {
                let waits = this.waits(waits)?;
                let (count, list) = list_of(&waits);
                let (to, from) = (this.blocks[*to].pointer, this.blocks[*from].pointer.cast_const());
                let (queue, bytes) = (this.queue(*queue)?.handle(), *words as usize * 4);
                Ok(ur!(Enqueue.pfnUSMMemcpy(queue, CBool::FALSE, to, from, bytes, count, list, out)))
            }),
            Step::Kernel { queue, command, block, is, becomes, waits, event } => {
                self.enqueue(*event, "kernel", |this, out| {
                    let next = becomes.unwrap_or_default();
                    let pattern = [is.base, is.step, next.base, next.step];
                    let pointer = this.blocks[*block].pointer;
                    let launch = this.world.launch_check(pointer, is.known, next.known, pattern, *command);
                    let waits = waits.iter().filter_map(|event| this.events.get(event)).collect::<Vec<_>>();
                    Ok(launch.after(&waits).enqueue(this.queue(*queue)?, out))
                })
            }
            Step::Read { queue, block, is, waits, done } => {
                self.read(*queue, *block, *is, waits)?;
                self.expect_ran(done, "the blocking copy")
            }
            other => Err(format!("no use of a block: {other}")),
        }
    }

    fn read(&mut self, queue: usize, block: usize, is: Content, waits: &[usize]) -> Outcome {
        let mut values = vec![0u32; self.blocks[block].size / 4];
        let bytes = values.len() * 4;
        self.enqueue(None, "read", |this, _| {
            let waits = this.waits(waits)?;
            let (count, list) = list_of(&waits);
            let (to, from) = (values.as_mut_ptr().cast(), this.blocks[block].pointer.cast_const());
            let queue = this.queue(queue)?.handle();
            Ok(ur!(Enqueue.pfnUSMMemcpy(queue, CBool::TRUE, to, from, bytes, count, list, null_mut())))
        })?;
        let known = values.iter().zip(0u32..is.known);
        match known.clone().find(|(value, index)| **value != is.word(*index)) {
            None => Ok(()),
            Some((value, index)) => {
                Err(format!("the host finds {value:#x} at word {index} of b{block}, not {:#x} ({is})", is.word(index)))
            }
        }
    }

    fn take_order(&mut self, step: &Step) -> Outcome {
        match step {
            Step::NewQueue { queue, device, in_order, profiling } => {
                self.new_queue(*queue, *device, *in_order, *profiling)
            }
            Step::ReleaseQueue { queue } => match self.queues[*queue].take() {
                Some(queue) => succeeds(queue.release(), "urQueueRelease"),
                None => Err("a queue is released twice".to_owned()),
            },
            Step::Wait { queue, barrier, waits, event } => {
                self.enqueue(*event, if *barrier { "barrier" } else { "wait" }, |this, out| {
                    let waits = this.waits(waits)?;
                    let (count, list) = list_of(&waits);
                    let queue = this.queue(*queue)?.handle();
                    Ok(if *barrier {
                        ur!(Enqueue.pfnEventsWaitWithBarrier(queue, count, list, out))
                    } else {
                        ur!(Enqueue.pfnEventsWait(queue, count, list, out))
                    })
                })
            }
            Step::Close { queue, command, gate, waits, event } => {
                self.world.watch.closed(self.world.gate_address(*gate));
                self.enqueue(*event, "gate", |this, out| {
                    let waits = waits.iter().filter_map(|event| this.events.get(event)).collect::<Vec<_>>();
                    Ok(this.world.launch_gate(*gate, *command).after(&waits).enqueue(this.queue(*queue)?, out))
                })
            }
            Step::Open { gate } => {
                let in_time = self.world.watch.opened();
                self.world.open(*gate);
                if in_time { Ok(()) } else { Err("a call waited for work that was to come after it".to_owned()) }
            }
            Step::WaitHere { events, done } => {
                self.count("host wait");
                let waits = self.waits(events)?;
                let (count, list) = list_of(&waits);
                succeeds(ur!(Event.pfnWait(count, list)), "urEventWait")?;
                self.expect_ran(done, "urEventWait")
            }
            Step::Poll { event, done } => {
                self.poll(*event)?;
                self.expect_ran(done, "a complete event")
            }
            Step::Look { event, behind_gate } => {
                self.count("look");
                let complete = self.status(*event)? == ur_event_status_t::COMPLETE;
                let early = *behind_gate && complete;
                if early { Err(format!("e{event} is complete, and its gate is closed")) } else { Ok(()) }
            }
            Step::ReleaseEvent { event } => match self.events.remove(event) {
                Some(event) => succeeds(event.release(), "urEventRelease"),
                None => Err("an event is released twice".to_owned()),
            },
            Step::Finish { queue, done } => {
                self.count("finish");
                succeeds(ur!(Queue.pfnFinish(self.queue(*queue)?.handle())), "urQueueFinish")?;
                self.expect_ran(done, "urQueueFinish")
            }
            other => Err(format!("no step of order: {other}")),
        }
    }

    fn new_queue(&mut self, queue: usize, device: usize, in_order: bool, profiling: bool) -> Outcome {
        self.count("queue");
        let mut flags = ur_queue_flags_t::empty();
        flags.set(ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE, !in_order);
        flags.set(ur_queue_flags_t::PROFILING_ENABLE, profiling);
        let properties = ur_queue_properties_t { flags, ..Default::default() };
        let mut handle = null_mut();
        let (context, device) = (self.world.fixture.context(), self.device(device));
        succeeds(ur!(Queue.pfnCreate(context, device, &raw const properties, &raw mut handle)), "urQueueCreate")?;
        self.queues.resize_with(queue, || None);
        self.queues.push(Some(Queue::take(handle)));
        Ok(())
    }

    fn status(&self, event: usize) -> Result<ur_event_status_t, String> {
        let mut status = 0u32;
        let (handle, property) = (self.event(event)?, ur_event_info_t::COMMAND_EXECUTION_STATUS);
        let answer = ur!(Event.pfnGetInfo(handle, property, 4, (&raw mut status).cast(), null_mut()));
        succeeds(answer, "urEventGetInfo")?;
        Ok(ur_event_status_t(status))
    }

    /// Asks until the event is complete. It must become so by itself, whatever gate is closed.
    fn poll(&mut self, event: usize) -> Outcome {
        self.count("poll");
        // Half, so that this and not the watch over the gate tells what happened.
        let end = Instant::now() + self.world.patience / 2;
        while self.status(event)? != ur_event_status_t::COMPLETE {
            if Instant::now() > end {
                return Err(format!("e{event} does not become complete, and no gate holds it up"));
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Kernels that are done by the model have run.
    fn expect_ran(&self, done: &[usize], whereby: &str) -> Outcome {
        match done.iter().find(|&&command| !self.world.ran(command)) {
            Some(command) => Err(format!("kernel #{command} has not run after {whereby}")),
            None => Ok(()),
        }
    }

    fn take_pool(&mut self, step: &Step) -> Outcome {
        match step {
            Step::NewPool { pool, device, flavour } => {
                self.count("pool");
                let device = device.map(|device| self.device(device));
                let made = pools::create(self.world.fixture, device, *flavour);
                let made = made.map_err(|code| format!("a new pool: {code:?}: {}", last_error()))?;
                self.pools.resize_with(*pool, || None);
                self.pools.push(Some(made));
                Ok(())
            }
            Step::DestroyPool { pool } => {
                self.count("pool destroyed");
                let gone = self.pools[*pool].take().ok_or("a pool is destroyed twice")?;
                let answer = gone.give_back(self.world.fixture);
                self.backings.extend(gone.memory);
                succeeds(answer, "a pool's destruction")
            }
            Step::SetDevicePool { device, pool } => {
                self.count("device pool");
                let (context, device) = (self.world.fixture.context(), self.device(*device));
                let answer = ur!(USMExp.pfnPoolSetDevicePoolExp(context, device, self.pool(Some(*pool))?));
                succeeds(answer, "urUSMPoolSetDevicePoolExp")
            }
            Step::Trim { pool, device, keep } => {
                self.count("trim");
                self.trim(*pool, *device, *keep)
            }
            Step::Figures { pool, used, high, threshold, flavour, parts } => {
                self.count("figures");
                self.figures(*pool, [*used, *high], *parts, *threshold, *flavour)
            }
            Step::ResetHigh { pool } => {
                self.count("mark reset");
                succeeds(pools::set(self.pool(Some(*pool))?, figure::USED_HIGH_EXP, 0, 8), "a reset of USED_HIGH")
            }
            Step::Threshold { pool, bytes } => {
                self.count("threshold");
                let answer = pools::set(self.pool(Some(*pool))?, figure::RELEASE_THRESHOLD_EXP, *bytes, 8);
                succeeds(answer, "setting RELEASE_THRESHOLD")
            }
            Step::Drain { pool, device } => self.drain(*pool, *device),
            other => Err(format!("no step of a pool: {other}")),
        }
    }

    fn trim(&self, pool: usize, device: usize, keep: usize) -> Outcome {
        let (context, device) = (self.world.fixture.context(), self.device(device));
        succeeds(ur!(USMExp.pfnPoolTrimToExp(context, device, self.pool(Some(pool))?, keep)), "urUSMPoolTrimToExp")
    }

    fn figures(
        &self,
        pool: usize,
        [used, high]: [u64; 2],
        parts: u64,
        threshold: Option<u64>,
        flavour: Flavour,
    ) -> Outcome {
        let handle = self.pool(Some(pool))?;
        let before = self.before.get(pool).copied().unwrap_or(0);
        let of = |property| pools::figure(handle, property);
        same(of(figure::USED_CURRENT_EXP)?, used + before, &format!("USED_CURRENT of p{pool}"))?;
        same(of(figure::USED_HIGH_EXP)?, high + before, &format!("USED_HIGH of p{pool}"))?;
        let (reserved, most) = (of(figure::RESERVED_CURRENT_EXP)?, of(figure::MAXIMUM_SIZE_EXP)?);
        let mark = of(figure::RESERVED_HIGH_EXP)?;
        if reserved < used || mark < reserved || (most > 0 && reserved > most * parts) {
            return Err(format!("p{pool}: used {used}, reserved {reserved}, high {mark}, maximum {most}"));
        }
        match flavour {
            Flavour::Limited(bytes) if most < bytes as u64 => {
                return Err(format!("MAXIMUM_SIZE of p{pool} is {most}, less than {bytes}"));
            }
            Flavour::Buffer(bytes) => {
                same((reserved, most), (bytes as u64, bytes as u64), "RESERVED_CURRENT and MAXIMUM_SIZE")?;
            }
            _ => {}
        }
        let Some(threshold) = threshold else { return Ok(()) };
        same(of(figure::RELEASE_THRESHOLD_EXP)?, threshold, &format!("RELEASE_THRESHOLD of p{pool}"))
    }

    /// Trims until nothing is reserved: frees that are under way end by themselves. Drivers give back what they saw to be
    /// free when the host last synchronised, so it does that each time, behind a command that has to be waited for.
    fn drain(&mut self, pool: usize, device: usize) -> Outcome {
        self.count("drain");
        let end = Instant::now() + self.world.patience;
        loop {
            for queue in self.queues.iter().flatten() {
                succeeds(self.world.launch_nothing().enqueue(queue, null_mut()), "a launch")?;
                succeeds(ur!(Queue.pfnFinish(queue.handle())), "urQueueFinish")?;
            }
            self.trim(pool, device, 0)?;
            let reserved = pools::figure(self.pool(Some(pool))?, figure::RESERVED_CURRENT_EXP)?;
            if reserved == 0 {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!("p{pool} keeps {reserved} bytes though nothing is in use and it was trimmed"));
            }
            std::thread::yield_now();
        }
    }

    fn info<T: Copy>(&self, at: *const c_void, property: alloc_info, empty: T) -> Result<T, String> {
        let mut value = empty;
        let (context, size) = (self.world.fixture.context(), size_of::<T>());
        let out = (&raw mut value).cast();
        succeeds(ur!(USM.pfnGetMemAllocInfo(context, at, property, size, out, null_mut())), "urUSMGetMemAllocInfo")?;
        Ok(value)
    }

    fn inspect(
        &mut self,
        block: usize,
        offset: usize,
        kind: Kind,
        size: usize,
        device: usize,
        pool: Option<usize>,
    ) -> Outcome {
        self.count("inspect");
        let base = self.blocks[block].pointer;
        let at = base.wrapping_byte_add(offset).cast_const();
        let of_kind = match kind {
            Kind::Device => ur_usm_type_t::DEVICE,
            Kind::Host => ur_usm_type_t::HOST,
            Kind::Shared => ur_usm_type_t::SHARED,
        };
        same(ur_usm_type_t(self.info(at, alloc_info::TYPE, 0u32)?), of_kind, &format!("TYPE of b{block}"))?;
        same(self.info(at, alloc_info::BASE_PTR, null_mut::<c_void>())?, base, &format!("BASE_PTR of b{block}"))?;
        let told = self.info(at, alloc_info::SIZE, 0usize)?;
        if self.world.abilities.pools {
            same(told, size, &format!("SIZE of b{block}"))?;
        } else if told < size {
            return Err(format!("SIZE of b{block} is {told}, less than {size}"));
        }
        if kind == Kind::Device {
            let told: ur_device_handle_t = self.info(at, alloc_info::DEVICE, null_mut())?;
            same(told, self.device(device), &format!("DEVICE of b{block}"))?;
        }
        let Some(pool) = pool else { return Ok(()) };
        let told: ur_usm_pool_handle_t = self.info(at, alloc_info::POOL, null_mut())?;
        same(told, self.pool(Some(pool))?, &format!("POOL of b{block}"))
    }

    fn is_taken(&self, address: usize) -> bool {
        let holds = |block: &Block| block.pointer.addr() <= address && address < block.pointer.addr() + block.size;
        self.blocks.iter().any(|block| block.live && holds(block))
    }

    fn inspect_freed(&mut self, block: usize) -> Outcome {
        let at = self.blocks[block].pointer;
        if !self.world.abilities.pools || self.is_taken(at.addr()) {
            return Ok(());
        }
        self.count("inspect freed");
        let told = ur_usm_type_t(self.info(at, alloc_info::TYPE, 0u32)?);
        same(told, ur_usm_type_t::UNKNOWN, &format!("TYPE of b{block}, which is freed,"))
    }

    fn wrong(&mut self, queue: usize, mistake: Mistake) -> Outcome {
        let queue = self.queue(queue)?;
        let free = |pointer: *mut c_void, pool| {
            ur!(EnqueueExp.pfnUSMFreeExp(queue.handle(), pool, pointer, 0, null(), null_mut()))
        };
        let alloc = |pool, size| match pools::allocate(queue, pool, Kind::Device, size, &[], null_mut()) {
            (Code::SUCCESS, _) => Code::SUCCESS,
            (code, pointer) if pointer.is_null() => code,
            // An answer that no step expects: the pointer was written though the call failed.
            _ => Code::ERROR_UNKNOWN,
        };
        let mut local = 0u64;
        let (answer, wanted) = match mistake {
            Mistake::FreeAgain(block) | Mistake::HostFreeAgain(block) => {
                let pointer = self.blocks[block].pointer;
                if self.is_taken(pointer.addr()) {
                    return Ok(());
                }
                let answer = match mistake {
                    Mistake::FreeAgain(_) => free(pointer, null_mut()),
                    _ => ur!(USM.pfnFree(self.world.fixture.context(), pointer)),
                };
                (answer, Code::ERROR_INVALID_MEM_OBJECT)
            }
            Mistake::FreeInside(block, offset) => {
                let pointer = self.blocks[block].pointer.wrapping_byte_add(offset);
                (free(pointer, null_mut()), Code::ERROR_INVALID_MEM_OBJECT)
            }
            Mistake::FreeToPool(block, pool) => {
                (free(self.blocks[block].pointer, self.pool(Some(pool))?), Code::ERROR_INVALID_VALUE)
            }
            Mistake::FreeUnknown => (free((&raw mut local).cast(), null_mut()), Code::ERROR_INVALID_MEM_OBJECT),
            Mistake::FreeNull => (free(null_mut(), null_mut()), Code::ERROR_INVALID_NULL_POINTER),
            Mistake::AllocNothing => (alloc(null_mut(), 0), Code::ERROR_INVALID_USM_SIZE),
            Mistake::AllocElsewhere(pool) => (alloc(self.pool(Some(pool))?, 512), Code::ERROR_INVALID_DEVICE),
            Mistake::AllocTooMuch(pool, size) => {
                (alloc(self.pool(Some(pool))?, size), Code::ERROR_OUT_OF_DEVICE_MEMORY)
            }
            Mistake::SetFigure(pool) => {
                let answer = pools::set(self.pool(Some(pool))?, figure::USED_CURRENT_EXP, 0, 8);
                (answer, Code::ERROR_UNSUPPORTED_ENUMERATION)
            }
            Mistake::SetInFourBytes(pool) => {
                let answer = pools::set(self.pool(Some(pool))?, figure::RELEASE_THRESHOLD_EXP, 0, 4);
                (answer, Code::ERROR_INVALID_SIZE)
            }
            Mistake::DestroyDefault(pool) => {
                let (context, device) = (self.world.fixture.context(), self.device(pool));
                let answer = ur!(USMExp.pfnPoolDestroyExp(context, device, self.pool(Some(pool))?));
                (answer, Code::ERROR_INVALID_VALUE)
            }
        };
        let outcome = expect(answer, wanted, &format!("the mistake {mistake:?}"));
        self.count("mistake");
        outcome
    }

    /// Gives everything back, whatever state it is in; for programs that failed.
    pub fn clear_away(&mut self, gates: usize) {
        (0..gates).for_each(|gate| self.world.open(gate));
        let _ = self.world.watch.opened();
        for queue in self.queues.iter().flatten() {
            let _ = ur!(Queue.pfnFinish(queue.handle()));
        }
        for (_, event) in self.events.drain() {
            let _ = ur!(Event.pfnWait(1, [event.handle()].as_ptr()));
            let _ = event.release();
        }
        for block in self.blocks.iter_mut().filter(|block| block.live) {
            let _ = ur!(USM.pfnFree(self.world.fixture.context(), block.pointer));
            block.live = false;
        }
        for device in 0..self.before.len().min(self.pools.len()) {
            if let (true, Some(pool)) = (self.world.abilities.device_pool, &self.pools[device]) {
                let (context, device) = (self.world.fixture.context(), self.device(device));
                let _ = ur!(USMExp.pfnPoolSetDevicePoolExp(context, device, pool.handle));
            }
        }
        for pool in self.pools.drain(..).flatten().filter(|pool| !pool.is_default) {
            let _ = pool.give_back(self.world.fixture);
            self.backings.extend(pool.memory);
        }
        for queue in self.queues.drain(..).flatten() {
            let _ = queue.release();
        }
    }
}
