//! Runs programs of several threads (`ur_model::threads`). Every kernel checks its block and overwrites it, so memory that was
//! handed out too early, or an order that was lost between two threads, is seen by what lies in the block.

use core::ffi::c_void;
use core::ptr::null_mut;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_event_info_t, ur_event_status_t, ur_queue_flags_t as Flags, ur_queue_properties_t,
    ur_result_t as Code, ur_usm_alloc_info_t as alloc_info, ur_usm_pool_handle_t, ur_usm_pool_info_t as figure,
};
use ur_conformance::pool::{Plan, Take};
use ur_conformance::{Event, Fixture, Pool, Queue, last_error, ok, ur};
use ur_model::{Content, Flavour, Sabotage, Step, Threaded, threads};

use super::pools::{self, list_of};
use super::take::Outcome;
use super::world::World;
use super::{SEED, fixture, mixed, number, say};

/// Runs `UR_MODEL_THREADED` programs, or as many as named here; fails with the first that fails.
pub fn run(test: &str, programs: u64, sabotage: Option<Sabotage>) {
    let programs = number("UR_MODEL_THREADED", programs);
    let (first, repeat) = (super::first_seed(), number("UR_MODEL_REPEAT", 1));
    let fixture = fixture();
    let patience = Duration::from_secs(number("UR_MODEL_PATIENCE", 20));
    free_without_a_queue(&fixture);
    let world = World::new(&fixture, 1, patience);
    let (start, mut steps, mut threads) = (Instant::now(), 0, 0);
    for index in 0..programs {
        let seed = if index == 0 { first } else { mixed(first.wrapping_add(index)) };
        let program = threads::plan(seed, &world.abilities, sabotage);
        steps += program.steps().count();
        threads += program.threads.len();
        for _ in 0..repeat {
            let progress: Vec<AtomicUsize> = program.threads.iter().map(|_| AtomicUsize::new(0)).collect();
            if let Err(what) = attempt(&world, &program, &progress, seed) {
                panic!("{}", report(test, seed, index + 1, &what, &program, &progress));
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let seed = if first == SEED { String::new() } else { format!(" of seed {first:#x}") };
    say(&format!("{test}: {programs} programs{seed}, {threads} threads, {steps} steps in {seconds:.1} s"));
}

fn report(test: &str, seed: u64, number: u64, what: &str, program: &Threaded, progress: &[AtomicUsize]) -> String {
    let mut text = format!("caught by program {number}, {} threads: {what}\n", program.threads.len());
    for step in &program.shared {
        let _ = writeln!(text, "  all: {step}");
    }
    for (thread, (steps, taken)) in program.threads.iter().zip(progress).enumerate() {
        let taken = taken.load(Ordering::Acquire);
        for step in steps.iter().take(taken + 1) {
            let _ = writeln!(text, "  t{thread}: {step}");
        }
    }
    let _ = write!(
        text,
        "(of each thread all steps that it took and the one that it was at)\nagain, whole: UR_MODEL_SEED={seed:#x} \
         UR_MODEL_THREADED=1 UR_MODEL_REPEAT=100 cargo test -p ur-conformance --test model -- {test}"
    );
    text
}

/// Memory whose queue is gone is freed on a stream of the context's own, which stays; it is to be there from the beginning.
fn free_without_a_queue(fixture: &Fixture) {
    let queue = fixture.in_order();
    let block = Take::new(512).on(&queue);
    queue.finish();
    drop(queue);
    ok!(USM.pfnFree(fixture.context(), block));
}

/// Runs a program once, and looks at what it left.
fn attempt(world: &World<'_>, program: &Threaded, progress: &[AtomicUsize], seed: u64) -> Outcome {
    world.watch.begin(seed);
    world.clear_notes();
    let run = Run::begin(world, program, progress)?;
    run.all_threads();
    let outcome = run.end();
    let outcome = outcome.and_then(|()| misuse(world)).and_then(|()| world.objects_left_behind().map_or(Ok(()), Err));
    outcome.map_err(|what| what + &super::told(world))
}

fn misuse(world: &World<'_>) -> Outcome {
    let reports = world.fixture.sim().map(|sim| sim.reports()).unwrap_or_default();
    match &reports[..] {
        [] => Ok(()),
        [(kind, text), ..] => Err(format!("the driver reports {} misuses, first {kind}: {text}", reports.len())),
    }
}

/// A program while it runs.
struct Run<'a, 'f> {
    world: &'a World<'f>,
    program: &'a Threaded,
    /// The steps that each thread has taken.
    progress: &'a [AtomicUsize],
    queues: Vec<RwLock<Option<Arc<Queue>>>>,
    pools: Vec<RwLock<Option<Pool>>>,
    default_pool: AtomicPtr<c_void>,
    events: Vec<Mutex<Option<Arc<Event>>>>,
    /// Uses that are left of each event.
    uses: Vec<AtomicUsize>,
    blocks: Vec<AtomicPtr<c_void>>,
    failed: AtomicBool,
    failure: OnceLock<String>,
}

fn succeeds(answer: Code, call: &str) -> Outcome {
    if answer == Code::SUCCESS { Ok(()) } else { Err(format!("{call} answers {answer:?}: {}", last_error())) }
}

fn plan_of(flavour: Flavour) -> Plan {
    match flavour {
        Flavour::Zero => Plan::new().zeroed(),
        Flavour::Threshold(bytes) => Plan::new().limits(0, bytes),
        _ => Plan::new(),
    }
}

impl<'a, 'f> Run<'a, 'f> {
    fn begin(world: &'a World<'f>, program: &'a Threaded, progress: &'a [AtomicUsize]) -> Result<Self, String> {
        let fixture = world.fixture;
        let mut default_pool = null_mut();
        if world.abilities.pools {
            let pool = pools::default_of(fixture, fixture.device());
            default_pool = pool.map_err(|code| format!("the default pool: {code:?}"))?.handle;
        }
        let made = |(index, &flavour): (usize, &Flavour)| {
            if index == 0 {
                return Ok(RwLock::new(None));
            }
            let pool = plan_of(flavour).create(fixture.context(), fixture.device());
            pool.map(|pool| RwLock::new(Some(pool))).map_err(|code| format!("a pool: {code:?}: {}", last_error()))
        };
        let run = Self {
            world,
            program,
            progress,
            queues: (0..program.queues).map(|_| RwLock::new(None)).collect(),
            pools: program.pools.iter().enumerate().map(made).collect::<Result<_, _>>()?,
            default_pool: AtomicPtr::new(default_pool.cast()),
            events: program.uses.iter().map(|_| Mutex::new(None)).collect(),
            uses: program.uses.iter().map(|&uses| AtomicUsize::new(uses)).collect(),
            blocks: (0..program.blocks).map(|_| AtomicPtr::new(null_mut())).collect(),
            failed: AtomicBool::new(false),
            failure: OnceLock::new(),
        };
        program.shared.iter().try_for_each(|step| run.take(step))?;
        Ok(run)
    }

    fn all_threads(&self) {
        let start = Barrier::new(self.program.threads.len());
        std::thread::scope(|scope| {
            for thread in 0..self.program.threads.len() {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    self.thread(thread);
                });
            }
        });
    }

    fn thread(&self, thread: usize) {
        for (index, step) in self.program.threads[thread].iter().enumerate() {
            for &(other, steps) in &step.after {
                while self.progress[other].load(Ordering::Acquire) < steps {
                    if self.failed.load(Ordering::Acquire) {
                        return;
                    }
                    std::thread::yield_now();
                }
            }
            let outcome = self.take(&step.step).and_then(|()| self.world.verdict().map_or(Ok(()), Err));
            if let Err(what) = outcome {
                let _ = self.failure.set(format!("t{thread}, {}: {what}", step.step));
                self.failed.store(true, Ordering::Release);
            }
            if self.failed.load(Ordering::Acquire) {
                return;
            }
            self.progress[thread].store(index + 1, Ordering::Release);
        }
    }

    /// Gives everything back; what went wrong, if anything did.
    fn end(self) -> Outcome {
        let failed = self.failed.load(Ordering::Acquire);
        for queue in &self.queues {
            let queue = queue.write().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(queue) = queue {
                let finished = ur!(Queue.pfnFinish(queue.handle()));
                if !failed {
                    succeeds(finished, "urQueueFinish")?;
                }
            }
        }
        if failed {
            for block in &self.blocks {
                let block = block.load(Ordering::Acquire);
                if !block.is_null() {
                    // Some are freed already, which is refused.
                    let _ = ur!(USM.pfnFree(self.world.fixture.context(), block));
                }
            }
            return Err(self.failure.into_inner().unwrap_or_default());
        }
        self.world.verdict().map_or(Ok(()), Err)?;
        let kernels = self.program.kernels;
        if let Some(command) = kernels.iter().find(|&command| !self.world.ran(command)) {
            return Err(format!("kernel #{command} never ran"));
        }
        for pool in 0..self.pools.len() {
            let gone = pool != 0 && self.read_pool(pool).is_none();
            if self.world.abilities.pools && !gone {
                let used = pools::figure(self.pool_handle(pool)?, figure::USED_CURRENT_EXP)?;
                if used != 0 {
                    return Err(format!("{used} bytes of p{pool} are used, and nothing is left"));
                }
            }
        }
        Ok(())
    }

    // Things by number.

    fn queue(&self, queue: usize) -> Result<Arc<Queue>, String> {
        let slot = self.queues[queue].read().unwrap_or_else(PoisonError::into_inner);
        slot.clone().ok_or_else(|| format!("q{queue} is not there"))
    }

    fn read_pool(&self, pool: usize) -> Option<ur_usm_pool_handle_t> {
        self.pools[pool].read().unwrap_or_else(PoisonError::into_inner).as_ref().map(Pool::handle)
    }

    fn pool_handle(&self, pool: usize) -> Result<ur_usm_pool_handle_t, String> {
        if pool == 0 {
            return Ok(self.default_pool.load(Ordering::Acquire).cast());
        }
        self.read_pool(pool).ok_or_else(|| format!("p{pool} is not there"))
    }

    fn block(&self, block: usize) -> *mut c_void {
        self.blocks[block].load(Ordering::Acquire)
    }

    fn events(&self, events: &[usize]) -> Result<Vec<Arc<Event>>, String> {
        let of = |&event: &usize| {
            let slot = self.events[event].lock().unwrap_or_else(PoisonError::into_inner);
            slot.clone().ok_or_else(|| format!("e{event} is not there"))
        };
        events.iter().map(of).collect()
    }

    /// Keeps an event until its last use.
    fn keep(&self, event: usize, handle: ur_event_handle_t) -> Outcome {
        if handle.is_null() {
            return Err("an enqueue that was asked for an event gives none".to_owned());
        }
        let taken = Event::take(handle);
        if self.uses[event].load(Ordering::Acquire) > 0 {
            *self.events[event].lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(taken));
        }
        Ok(())
    }

    fn used(&self, events: &[usize]) {
        for &event in events {
            if self.uses[event].fetch_sub(1, Ordering::AcqRel) == 1 {
                drop(self.events[event].lock().unwrap_or_else(PoisonError::into_inner).take());
            }
        }
    }

    /// Takes a step.
    fn take(&self, step: &Step) -> Outcome {
        let numbers = Threaded::events_of(step);
        let events = self.events(numbers)?;
        let waits: Vec<ur_event_handle_t> = events.iter().map(|event| event.handle()).collect();
        match step {
            Step::Alloc { .. }
            | Step::Free { .. }
            | Step::Fill { .. }
            | Step::Copy { .. }
            | Step::Kernel { .. }
            | Step::Wait { .. } => self.enqueue(step, &events, &waits),
            Step::Read { queue, block, is, done, .. } => {
                self.read(*queue, *block, *is, &waits)?;
                self.expect_ran(done, "the blocking copy")
            }
            Step::WaitHere { done, .. } => {
                let (count, list) = list_of(&waits);
                succeeds(ur!(Event.pfnWait(count, list)), "urEventWait")?;
                self.expect_ran(done, "urEventWait")
            }
            Step::Look { .. } => status(waits[0]).map(drop),
            Step::Poll { done, .. } => {
                self.poll(waits[0])?;
                self.expect_ran(done, "a complete event")
            }
            Step::Finish { queue, done } => {
                succeeds(ur!(Queue.pfnFinish(self.queue(*queue)?.handle())), "urQueueFinish")?;
                self.expect_ran(done, "urQueueFinish")
            }
            _ => self.take_object(step),
        }?;
        drop(events);
        self.used(numbers);
        Ok(())
    }

    fn enqueue(&self, step: &Step, events: &[Arc<Event>], waits: &[ur_event_handle_t]) -> Outcome {
        let (count, list) = list_of(waits);
        let (Step::Alloc { queue, event, .. }
        | Step::Free { queue, event, .. }
        | Step::Fill { queue, event, .. }
        | Step::Copy { queue, event, .. }
        | Step::Kernel { queue, event, .. }
        | Step::Wait { queue, event, .. }) = step
        else {
            return Err(format!("no command: {step}"));
        };
        let queue = self.queue(*queue)?;
        let (q, mut handle) = (queue.handle(), null_mut());
        let out = if event.is_some() { &raw mut handle } else { null_mut() };
        let answer = match step {
            Step::Alloc { block, kind, size, pool, .. } => {
                let pool = pool.map_or(Ok(null_mut()), |pool| self.pool_handle(pool))?;
                let (answer, pointer) = pools::allocate(&queue, pool, *kind, *size, waits, out);
                self.blocks[*block].store(pointer, Ordering::Release);
                answer
            }
            Step::Free { block, .. } => {
                let pointer = self.blocks[*block].swap(null_mut(), Ordering::AcqRel);
                ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), pointer, count, list, out))
            }
            Step::Fill { block, pattern, small, .. } => {
                let width = if *small { 1 } else { 4 };
                let (value, bytes) = (pattern.to_ne_bytes(), self.words(*block)? * 4);
                ur!(Enqueue.pfnUSMFill(q, self.block(*block), width, value.as_ptr().cast(), bytes, count, list, out))
            }
            Step::Copy { from, to, words, .. } => {
                let (to, from, bytes) = (self.block(*to), self.block(*from).cast_const(), *words as usize * 4);
                ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, bytes, count, list, out))
            }
            Step::Kernel { command, block, is, becomes, .. } => {
                let next = becomes.unwrap_or_default();
                let pattern = [is.base, is.step, next.base, next.step];
                let launch = self.world.launch_check(self.block(*block), is.known, next.known, pattern, *command);
                let after: Vec<&Event> = events.iter().map(Arc::as_ref).collect();
                launch.after(&after).enqueue(&queue, out)
            }
            Step::Wait { barrier: true, .. } => ur!(Enqueue.pfnEventsWaitWithBarrier(q, count, list, out)),
            _ => ur!(Enqueue.pfnEventsWait(q, count, list, out)),
        };
        succeeds(answer, "the command")?;
        event.map_or(Ok(()), |event| self.keep(event, handle))
    }

    /// Whole words of a block, which its allocation tells.
    fn words(&self, block: usize) -> Result<usize, String> {
        let size = |step: &Step| match step {
            Step::Alloc { block: of, size, .. } if *of == block => Some(*size),
            _ => None,
        };
        let found = self.program.steps().find_map(|step| size(&step.step));
        found.map(|size| size / 4).ok_or_else(|| format!("b{block} is never allocated"))
    }

    fn read(&self, queue: usize, block: usize, is: Content, waits: &[ur_event_handle_t]) -> Outcome {
        let mut values = vec![0u32; (is.known as usize).max(1)];
        let (count, list) = list_of(waits);
        let (q, to, bytes) = (self.queue(queue)?, values.as_mut_ptr().cast(), values.len() * 4);
        let from = self.block(block).cast_const();
        let answer = ur!(Enqueue.pfnUSMMemcpy(q.handle(), CBool::TRUE, to, from, bytes, count, list, null_mut()));
        succeeds(answer, "a blocking copy")?;
        match values.iter().zip(0u32..is.known).find(|(value, index)| **value != is.word(*index)) {
            None => Ok(()),
            Some((value, at)) => Err(format!("the host finds {value:#x} at word {at}, not {:#x} ({is})", is.word(at))),
        }
    }

    fn poll(&self, event: ur_event_handle_t) -> Outcome {
        let end = Instant::now() + self.world.patience;
        while status(event)? != ur_event_status_t::COMPLETE {
            if Instant::now() > end {
                return Err("the event does not become complete".to_owned());
            }
            std::thread::yield_now();
        }
        Ok(())
    }

    fn expect_ran(&self, done: &[usize], whereby: &str) -> Outcome {
        match done.iter().find(|&&command| !self.world.ran(command)) {
            Some(command) => Err(format!("kernel #{command} has not run after {whereby}")),
            None => Ok(()),
        }
    }

    fn take_object(&self, step: &Step) -> Outcome {
        let fixture = self.world.fixture;
        let (context, device) = (fixture.context(), fixture.device());
        match step {
            Step::NewQueue { queue, in_order, profiling, .. } => {
                let mut flags = Flags::empty();
                flags.set(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, !in_order);
                flags.set(Flags::PROFILING_ENABLE, *profiling);
                let properties = ur_queue_properties_t { flags, ..Default::default() };
                let mut handle = null_mut();
                let made = ur!(Queue.pfnCreate(context, device, &raw const properties, &raw mut handle));
                succeeds(made, "urQueueCreate")?;
                let mut slot = self.queues[*queue].write().unwrap_or_else(PoisonError::into_inner);
                *slot = Some(Arc::new(Queue::take(handle)));
                Ok(())
            }
            Step::ReleaseQueue { queue } => {
                drop(self.queues[*queue].write().unwrap_or_else(PoisonError::into_inner).take());
                Ok(())
            }
            Step::HostFree { block } => {
                let pointer = self.blocks[*block].swap(null_mut(), Ordering::AcqRel);
                succeeds(ur!(USM.pfnFree(context, pointer)), "urUSMFree")
            }
            Step::DestroyPool { pool } => {
                drop(self.pools[*pool].write().unwrap_or_else(PoisonError::into_inner).take());
                Ok(())
            }
            Step::Trim { pool, keep, .. } => {
                let pool = self.pool_handle(*pool)?;
                succeeds(ur!(USMExp.pfnPoolTrimToExp(context, device, pool, *keep)), "urUSMPoolTrimToExp")
            }
            Step::Inspect { block, offset, size, pool, .. } => {
                let at = self.block(*block).wrapping_byte_add(*offset).cast_const();
                let base: *mut c_void = self.info(at, alloc_info::BASE_PTR, null_mut())?;
                let told: usize = self.info(at, alloc_info::SIZE, 0)?;
                if base != self.block(*block) || told < *size {
                    return Err(format!("{told} bytes at {base:p}, not {size} at {:p}", self.block(*block)));
                }
                let Some(pool) = pool else { return Ok(()) };
                let (told, own) = (self.info(at, alloc_info::POOL, null_mut())?, self.pool_handle(*pool)?);
                if told == own { Ok(()) } else { Err(format!("its pool is {told:p}, not {own:p}")) }
            }
            other => Err(format!("no step of several threads: {other}")),
        }
    }

    fn info<T: Copy>(&self, at: *const c_void, property: alloc_info, empty: T) -> Result<T, String> {
        let (mut value, context) = (empty, self.world.fixture.context());
        let out = (&raw mut value).cast();
        let answer = ur!(USM.pfnGetMemAllocInfo(context, at, property, size_of::<T>(), out, null_mut()));
        succeeds(answer, "urUSMGetMemAllocInfo")?;
        Ok(value)
    }
}

fn status(event: ur_event_handle_t) -> Result<ur_event_status_t, String> {
    let mut status = 0u32;
    let (property, out) = (ur_event_info_t::COMMAND_EXECUTION_STATUS, (&raw mut status).cast());
    succeeds(ur!(Event.pfnGetInfo(event, property, 4, out, null_mut())), "urEventGetInfo")?;
    Ok(ur_event_status_t(status))
}
