//! Stream-ordered memory from many threads: on one queue, on queues of their own, handed from one to another, while others look
//! at the figures, trim, and make and destroy pools. Every result is checked.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::null;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use ur_conformance::ffi::{CBool, ur_queue_flags_t as Flags, ur_result_t as Code, ur_usm_pool_info_t as info};
use ur_conformance::memory;
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Figures, Plan, Take, give, give_after};
use ur_conformance::sim::status;
use ur_conformance::{
    Event, Fixture, Gate, Kernel, Kind, Launch, Memory, Pool, Queue, child, expect_success, needs_sim, ok, ur,
};

const THREADS: usize = 8;
const ROUNDS: usize = 40;
const WORDS: usize = 256;

/// Starts the threads together, each with its number.
fn on_threads(count: usize, work: impl Fn(usize) + Sync) {
    let start = Barrier::new(count);
    std::thread::scope(|scope| {
        for number in 0..count {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            });
        }
    });
}

/// An address that travels between threads.
#[derive(Clone, Copy)]
struct Address(usize);

impl Address {
    fn of(pointer: *mut c_void) -> Self {
        Self(pointer.expose_provenance())
    }

    fn pointer(self) -> *mut c_void {
        core::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// What every thread needs.
struct Bench<'f> {
    iota: Kernel,
    add: Kernel,
    outputs: Vec<Memory<'f>>,
}

impl<'f> Bench<'f> {
    fn new(fixture: &'f Fixture, threads: usize) -> Self {
        let program = fixture.program("basic.ptx");
        let (iota, add) = (fixture.kernel(&program, c"iota"), fixture.kernel(&program, c"add_constant"));
        Self { iota, add, outputs: (0..threads).map(|_| fixture.memory(Kind::Host, 4 * WORDS)).collect() }
    }

    /// Writes to the block and copies it back, all by events; gives the copy's.
    fn use_block(&self, queue: &Queue, block: *mut c_void, allocated: &Event, number: usize, value: u32) -> Event {
        let words = WORDS as u32;
        let filled = Launch::new(&self.iota, &[WORDS]).pointer(block).value(words).after(&[allocated]).event_on(queue);
        let add = Launch::new(&self.add, &[WORDS]).pointer(block).value(value).value(words);
        let added = add.after(&[&filled]).event_on(queue);
        let (list, to) = ([added.handle()], self.outputs[number].pointer());
        event_of(|event| {
            ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, block, 4 * WORDS, 1, list.as_ptr(), event))
        })
    }

    fn check(&self, number: usize, value: u32) {
        let right = (0..WORDS).all(|index| self.outputs[number].load(index) == index as u32 + value);
        assert!(right, "thread {number}, value {value}");
    }
}

/// Allocates, uses and frees, and looks at the figures at the end.
fn rounds(flags: Flags, shared: bool, plan: &Plan) {
    let fixture = Fixture::new();
    let bench = Bench::new(&fixture, THREADS);
    let queues: Vec<_> = (0..THREADS).map(|_| fixture.queue(flags)).collect();
    let pool = plan.of(&fixture);
    let kinds = pool::kinds(&queues[0]);
    on_threads(THREADS, |number| {
        let queue = &queues[if shared { 0 } else { number }];
        for round in 0..ROUNDS {
            let value = (number * 1000 + round) as u32;
            // Sizes that threads share and some of their own, so that magazines of one queue are fought over.
            let bytes = 4 * WORDS + [0, 0, 512 * number, 40_000][round % 4];
            let kind = kinds[round % kinds.len()];
            let (block, allocated) = Take::new(bytes).kind(kind).from(&pool).event_on(queue);
            let copied = bench.use_block(queue, block, &allocated, number, value);
            drop(give_after(queue, block, &[&copied]));
            copied.wait();
            bench.check(number, value);
        }
    });
    queues.iter().for_each(Queue::finish);
    assert_eq!(Figures::of(pool.handle()).used, 0);
}

#[test]
fn eight_threads_on_in_order_queues_of_their_own() {
    rounds(Flags::empty(), false, &Plan::new());
}

#[test]
fn eight_threads_on_one_in_order_queue() {
    rounds(Flags::empty(), true, &Plan::new().zeroed());
}

#[test]
fn eight_threads_on_out_of_order_queues_of_their_own() {
    rounds(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, false, &Plan::new().limits(0, usize::MAX));
}

#[test]
fn eight_threads_on_one_out_of_order_queue() {
    rounds(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, true, &Plan::new());
}

#[test]
fn eight_threads_on_one_profiling_queue() {
    rounds(Flags::PROFILING_ENABLE, true, &Plan::new());
}

#[test]
fn eight_threads_without_magazines_and_with_small_ones() {
    let test = "eight_threads_without_magazines_and_with_small_ones";
    for bound in ["0", "4K"] {
        child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", bound)], || {
            rounds(Flags::empty(), false, &Plan::new());
            rounds(Flags::empty(), true, &Plan::new());
        });
    }
}

/// Each thread frees what its neighbour allocated, while others trim, finish, and look at the figures.
#[test]
fn blocks_travel_between_eight_threads_while_others_trim_and_look() {
    let fixture = Fixture::new();
    let bench = Bench::new(&fixture, THREADS);
    let flags = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];
    let queues: Vec<_> = (0..THREADS).map(|number| fixture.queue(flags[number % 2])).collect();
    let pool = Plan::new().limits(0, 1 << 20).of(&fixture);
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| std::sync::mpsc::sync_channel::<(Address, Event, u32)>(ROUNDS)).unzip();
    let receivers: Vec<_> = receivers.into_iter().map(std::sync::Mutex::new).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (pool, fixture, done, queues) = (&pool, &fixture, &done, &queues);
        let watcher = scope.spawn(move || {
            while !done.load(Ordering::Acquire) {
                let (used, high) = pool::used(pool.handle());
                // Read one after the other: the mark is the later one, and only rises.
                assert!(used <= high, "{used} bytes used and a mark of {high}");
                assert!(used <= THREADS * ROUNDS * 8 * WORDS, "{used} bytes used");
                pool::trim(fixture, pool.handle(), 1 << 16);
                queues[0].finish();
            }
        });
        on_threads(THREADS, |number| {
            let (mine, next) = (&queues[number], (number + 1) % THREADS);
            for round in 0..ROUNDS {
                let value = (number * 1000 + round) as u32;
                let (block, allocated) = Take::new(4 * WORDS + 512 * (round % 3)).from(pool).event_on(mine);
                let filled = Launch::new(&bench.iota, &[WORDS])
                    .pointer(block)
                    .value(WORDS as u32)
                    .after(&[&allocated])
                    .event_on(mine);
                senders[next].send((Address::of(block), filled, value)).expect("the neighbour lives");
                let inbox = receivers[number].lock().expect("one thread's own");
                let (block, filled, value) = inbox.recv().expect("the neighbour sends");
                let add = Launch::new(&bench.add, &[WORDS]).pointer(block.pointer()).value(value).value(WORDS as u32);
                let added = add.after(&[&filled]).event_on(mine);
                let (list, to) = ([added.handle()], bench.outputs[number].pointer());
                let copied = event_of(|event| {
                    let (q, no, from) = (mine.handle(), CBool::FALSE, block.pointer());
                    ur!(Enqueue.pfnUSMMemcpy(q, no, to, from, 4 * WORDS, 1, list.as_ptr(), event))
                });
                if round % 5 == 4 {
                    copied.wait();
                    ok!(USM.pfnFree(fixture.context(), block.pointer()));
                } else {
                    drop(give_after(mine, block.pointer(), &[&copied]));
                    copied.wait();
                }
                bench.check(number, value);
            }
        });
        done.store(true, Ordering::Release);
        watcher.join().expect("the figures are true at any moment");
    });
    queues.iter().for_each(Queue::finish);
    assert_eq!(Figures::of(pool.handle()).used, 0);
}

#[test]
fn one_block_is_freed_once_however_many_threads_try() {
    let fixture = Fixture::new();
    let queues: Vec<_> = (0..THREADS).map(|_| fixture.in_order()).collect();
    let pool = Plan::new().of(&fixture);
    for _ in 0..30 {
        let (block, allocated) = Take::new(4096).from(&pool).event_on(&queues[0]);
        allocated.wait();
        let (block, freed) = (Address::of(block), std::sync::atomic::AtomicUsize::new(0));
        on_threads(THREADS, |number| {
            let q = queues[number].handle();
            let answer = match number % 3 {
                0 => ur!(USM.pfnFree(fixture.context(), block.pointer())),
                _ => ur!(EnqueueExp.pfnUSMFreeExp(q, pool::CURRENT, block.pointer(), 0, null(), core::ptr::null_mut())),
            };
            match answer {
                Code::SUCCESS => {
                    freed.fetch_add(1, Ordering::Relaxed);
                }
                other => assert_eq!(other, Code::ERROR_INVALID_MEM_OBJECT),
            }
        });
        assert_eq!(freed.into_inner(), 1);
        assert_eq!(Figures::of(pool.handle()).used, 0);
    }
    queues.iter().for_each(Queue::finish);
}

#[test]
fn pools_and_queues_come_and_go_while_eight_threads_work() {
    let fixture = Fixture::new();
    let bench = Bench::new(&fixture, THREADS);
    let shared: Pool = Plan::new().of(&fixture);
    // A slab takes a real device so long to make that the current pool changes meanwhile.
    if let Some(sim) = fixture.sim().filter(|_| pool::in_slabs()) {
        sim.slow_down("cuMemAlloc_v2", 3000);
    }
    on_threads(THREADS, |number| {
        let (context, device) = (fixture.context(), fixture.device());
        for round in 0..10 {
            let queue =
                fixture.queue(if round % 2 == 0 { Flags::empty() } else { Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE });
            let own = Plan::new().limits(0, 1 << 20).of(&fixture);
            if number == 0 {
                ok!(USMExp.pfnPoolSetDevicePoolExp(context, device, own.handle()));
            }
            let takes = [Take::new(4 * WORDS).from(&own), Take::new(4 * WORDS).from(&shared), Take::new(4 * WORDS)];
            let blocks: Vec<_> = takes.iter().map(|take| take.event_on(&queue)).collect();
            // Its blocks are valid for as long as they are not freed.
            drop(own);
            for (block, allocated) in &blocks {
                let value = (number * 100 + round) as u32;
                let copied = bench.use_block(&queue, *block, allocated, number, value);
                drop(give_after(&queue, *block, &[&copied]));
                copied.wait();
                bench.check(number, value);
            }
            queue.finish();
        }
    });
    assert_eq!(Figures::of(shared.handle()).used, 0);
}

/// Many at once run into a limit, so they empty each other's magazines; nobody is refused while there is room.
#[test]
fn eight_threads_share_a_pool_that_has_room_for_all_of_them_only_when_nobody_hoards() {
    share_a_pool_with_a_limit(|_| {});
}

/// A slab counts against the limit before anybody can have a block of it, and while it goes back.
#[test]
fn threads_that_share_a_limited_pool_are_served_from_slabs_that_others_make_or_give_back() {
    let test = "threads_that_share_a_limited_pool_are_served_from_slabs_that_others_make_or_give_back";
    child::in_process(test, &[pool::NO_NATIVE_POOLS], || {
        share_a_pool_with_a_limit(|fixture| {
            if let Some(sim) = fixture.sim() {
                ["cuMemAlloc_v2", "cuMemFree_v2"].iter().for_each(|call| sim.slow_down(call, 3000));
            }
        });
    });
}

fn share_a_pool_with_a_limit(prepare: impl FnOnce(&Fixture)) {
    let fixture = Fixture::new();
    let pool = match Plan::new().limits(64 << 20, usize::MAX).create(fixture.context(), fixture.device()) {
        Ok(pool) => pool,
        Err(code) => {
            assert!(fixture.sim().is_none(), "{code:?}");
            println!("skipped: the native library has no pools with a limit");
            return;
        }
    };
    let queues: Vec<_> = (0..4).map(|_| fixture.in_order()).collect();
    prepare(&fixture);
    on_threads(4, |number| {
        for round in 0..20 {
            // Of other sizes each time, so that what is kept serves nobody. Four of the largest fit at one time.
            let bytes = (4 << 20) + ((round * 7 + number * 3) % 5) * (512 << 10);
            let block = Take::new(bytes).from(&pool).on(&queues[number]);
            give(&queues[number], block);
        }
    });
    queues.iter().for_each(Queue::finish);
    let high = pool::figure(pool.handle(), info::RESERVED_HIGH_EXP);
    assert!(high <= pool::figure(pool.handle(), info::MAXIMUM_SIZE_EXP), "{high} bytes");
    expect_success(pool::set(pool.handle(), info::RELEASE_THRESHOLD_EXP, 0), "urUSMPoolSetInfoExp");
}

/// The fill that clears a block waits for room on a full queue.
#[test]
fn urUSMFree_waits_for_no_block_that_another_thread_is_clearing() {
    let test = "urUSMFree_waits_for_no_block_that_another_thread_is_clearing";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (queue, pool) = (fixture.in_order(), Plan::new().zeroed().of(&fixture));
        let [old, plain] = [pool.handle(), pool::CURRENT].map(|pool| Take::new(4096).from_raw(pool).on(&queue));
        queue.finish();
        let block = std::thread::scope(|scope| {
            let fills = sim.hold_calls("cuMemsetD32Async");
            let clearing = scope.spawn(|| Address::of(Take::new(4096).from(&pool).on(&queue)));
            fills.wait_for_one(|| clearing.is_finished());
            [old, plain].into_iter().for_each(|block| ok!(USM.pfnFree(fixture.context(), block)));
            assert!(!clearing.is_finished());
            drop(fills);
            clearing.join().expect("a block").pointer()
        });
        assert!(memory::read::<u8>(&queue, block, 4096).iter().all(|byte| *byte == 0));
        give(&queue, block);
        queue.finish();
    });
}

/// The pool is gone, and its other block comes back while the free is on its way.
#[test]
fn a_block_whose_free_fails_beside_its_pool_s_last_other_free_is_not_lost() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (home, one, other) = (fixture.in_order(), fixture.in_order(), fixture.in_order());
    let pool = Plan::new().of(&fixture);
    let take = Take::new(4096).from(&pool);
    let [block, last] = [take.on(&home), take.on(&home)];
    home.finish();
    drop(pool);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&other);
    let address = Address::of(block);
    std::thread::scope(|scope| {
        sim.fail("cuStreamWaitEvent", 1, status::UNKNOWN);
        let waits = sim.hold_calls("cuStreamWaitEvent");
        let freeing = scope.spawn(|| {
            let (q, list) = (one.handle(), [blocked.handle()]);
            let (pointer, event) = (address.pointer(), core::ptr::null_mut());
            ur!(EnqueueExp.pfnUSMFreeExp(q, pool::CURRENT, pointer, 1, list.as_ptr(), event))
        });
        waits.wait_for_one(|| freeing.is_finished());
        ok!(USM.pfnFree(fixture.context(), last));
        drop(waits);
        let answer = freeing.join().expect("no panic");
        assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "the native failure is told");
    });
    sim.clear_faults();
    gate.open();
    give(&one, block);
    [&home, &one, &other].into_iter().for_each(Queue::finish);
}
