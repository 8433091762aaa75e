//! Every native call of the stream-ordered family fails in turn: the caller gets a code that fits, nothing is left behind,
//! figures stay true, and the next attempt works. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::control::Control;
use ur_conformance::faults::{Attempt, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{
    ur_context_handle_t, ur_event_handle_t, ur_exp_usm_pool_reuse_flags_t as Reuse, ur_queue_flags_t as Flags,
    ur_result_t as Code, ur_usm_alloc_info_t, ur_usm_pool_info_t as info,
};
use ur_conformance::pool::{self, CURRENT, Figures, Plan, Take, free, give};
use ur_conformance::sim::status;
use ur_conformance::{Context, Environment, Event, Fixture, Gate, Kind, Launch, Pool, Queue, child, ok, ur};

const WORDS: usize = 1024;

/// A block that is given back whatever happens, once the queues that may use it have finished.
struct Block<'q> {
    queues: &'q [Queue; 2],
    context: ur_context_handle_t,
    pointer: *mut c_void,
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        // The fault was one call's, so the second attempt works. Nothing uses the block any more.
        for queue in self.queues {
            let _ = ur!(Queue.pfnFinish(queue.handle()));
        }
        let once = || ur!(USM.pfnFree(self.context, self.pointer)) == Code::SUCCESS;
        let _ = once() || once();
    }
}

impl Block<'_> {
    /// Freed by `call`; the block stays this object's when that fails.
    fn by(self, name: &'static str, call: impl FnOnce(*mut c_void) -> Code) -> Attempt<()> {
        tried(name, call(self.pointer), || core::mem::forget(self))
    }
}

fn take<'q>(take: &Take, queues: &'q [Queue; 2], on: usize, context: &Context) -> Attempt<(Block<'q>, Event)> {
    let mut pointer = null_mut();
    let event = enqueue("a stream-ordered allocation", |event| take.enqueue(&queues[on], &raw mut pointer, event));
    assert_eq!(pointer.is_null(), event.is_err(), "an allocation's output");
    event.map(|event| (Block { queues, context: context.handle(), pointer }, event))
}

fn give_back(block: Block<'_>, queue: &Queue, after: &[&Event]) -> Attempt<Event> {
    let waits: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let (count, list) = pool::list_of(&waits);
    let (mut event, q) = (null_mut(), queue.handle());
    block.by("urEnqueueUSMFreeExp", |pointer| {
        ur!(EnqueueExp.pfnUSMFreeExp(q, CURRENT, pointer, count, list, &raw mut event))
    })?;
    Ok(Event::take(event))
}

fn made(name: &'static str, made: Result<Pool, Code>) -> Attempt<Pool> {
    made.map_err(|code| (name, code))
}

fn figures(pool: &Pool) -> Attempt<()> {
    let properties = [
        info::RELEASE_THRESHOLD_EXP,
        info::MAXIMUM_SIZE_EXP,
        info::RESERVED_CURRENT_EXP,
        info::RESERVED_HIGH_EXP,
        info::USED_CURRENT_EXP,
        info::USED_HIGH_EXP,
        info::REUSE_POLICY_EXP,
    ];
    properties.into_iter().try_for_each(|property| {
        let (mut value, mut told) = ([0xa5u8; 8], 99);
        let out = value.as_mut_ptr().cast();
        let answer = ur!(USM.pfnPoolGetInfo(pool.handle(), property, 8, out, &raw mut told));
        assert!(answer == Code::SUCCESS || (value, told) == ([0xa5; 8], 99), "a failed query wrote something");
        tried("urUSMPoolGetInfo", answer, || ())
    })
}

fn settings(pool: &Pool) -> Attempt<()> {
    let mut reuse = Reuse::OPPORTUNISTIC;
    let (name, handle) = ("urUSMPoolSetInfoExp", pool.handle());
    tried(name, pool::set(handle, info::RELEASE_THRESHOLD_EXP, 1 << 20), || ())?;
    tried(name, pool::set(handle, info::USED_HIGH_EXP, 0), || ())?;
    tried(name, pool::set(handle, info::RESERVED_HIGH_EXP, 0), || ())?;
    let answer = ur!(USMExp.pfnPoolSetInfoExp(handle, info::REUSE_POLICY_EXP, (&raw mut reuse).cast(), 4));
    tried(name, answer, || ())
}

/// A little of everything in the family. Whatever fails ends it, and everything is given back.
fn scenario(fixture: &Fixture, image: &[u8], flags: Flags, kinds: &[Kind]) -> Attempt<()> {
    let context = fixture.context_of(&fixture.devices);
    let (c, d) = (context.handle(), fixture.device());
    let reuse = Plan::new().zeroed().limits(64 << 20, 1 << 16).peers(&fixture.devices[1..]);
    let pool = made("urUSMPoolCreateExp", reuse.create(c, d))?;
    let core = made("urUSMPoolCreate", Plan::new().reuse(Reuse::FOLLOW_EVENT_DEPENDENCIES).create_core(c))?;
    let queues = [make_queue(&context, fixture.device(), flags)?, make_queue(&context, fixture.device(), flags)?];
    let [first, second] = &queues;
    let (_program, kernel) = make_kernel(&context, &fixture.devices[..1], image, c"fill")?;
    let fill = |block: &Block<'_>, queue: &Queue, after: &[&Event]| {
        let launch = Launch::new(&kernel, &[WORDS]).local(&[64]).pointer(block.pointer).value(5u32).value(WORDS as u32);
        enqueue("urEnqueueKernelLaunchWithArgsExp", |event| launch.after(after).enqueue(queue, event))
    };
    for from in [&pool, &core] {
        for &kind in kinds {
            if kind == Kind::Shared && core::ptr::eq(from, &pool) {
                continue;
            }
            let plan = Take::new(4 * WORDS).kind(kind).from(from);
            let (block, allocated) = take(&plan, &queues, 0, &context)?;
            let filled = fill(&block, first, &[&allocated])?;
            let freed = give_back(block, first, &[&filled])?;
            // Again, from what the queue keeps; used and freed on the other queue.
            let (block, allocated) = take(&plan.after(&[&freed]), &queues, 0, &context)?;
            let filled = fill(&block, second, &[&allocated])?;
            drop(give_back(block, second, &[&filled])?);
        }
        figures(from)?;
        settings(from)?;
    }
    // A pool at its own maximum takes back what the other queue keeps.
    let limited = made("urUSMPoolCreateExp", Plan::new().limits(32 << 20, 0).create(c, d))?;
    for on in [0, 1] {
        let (block, allocated) = take(&Take::new(24 << 20).from(&limited), &queues, on, &context)?;
        drop(give_back(block, &queues[on], &[&allocated])?);
    }
    drop(limited);
    // The current pool, a block that is asked about, and one freed in no order.
    tried("urUSMPoolSetDevicePoolExp", ur!(USMExp.pfnPoolSetDevicePoolExp(c, d, core.handle())), || ())?;
    let (block, allocated) = take(&Take::new(1 << 20), &queues, 0, &context)?;
    let list = [allocated.handle()];
    tried("urEventWait", ur!(Event.pfnWait(1, list.as_ptr())), || ())?;
    let (mut size, property) = (0usize, ur_usm_alloc_info_t::SIZE);
    let told = (&raw mut size).cast();
    let answer = ur!(USM.pfnGetMemAllocInfo(c, block.pointer.cast_const(), property, 8, told, null_mut()));
    tried("urUSMGetMemAllocInfo", answer, || assert_eq!(size, 1 << 20))?;
    block.by("urUSMFree", |pointer| ur!(USM.pfnFree(c, pointer)))?;
    // Plain memory of a pool.
    let mut pointer = null_mut();
    let answer = ur!(USM.pfnDeviceAlloc(c, d, null(), pool.handle(), 4 * WORDS, &raw mut pointer));
    assert_eq!(pointer.is_null(), answer != Code::SUCCESS, "an allocation's output");
    let block = tried("urUSMDeviceAlloc", answer, || Block { queues: &queues, context: c, pointer })?;
    drop(give_back(block, second, &[])?);
    // Memory of the application's.
    let (mut memory, mut arena) = (null_mut(), null_mut());
    let answer = ur!(USM.pfnDeviceAlloc(c, d, null(), null_mut(), 1 << 16, &raw mut memory));
    let memory = tried("urUSMDeviceAlloc", answer, || Block { queues: &queues, context: c, pointer: memory })?;
    let buffer = Plan::new().zeroed().buffer(memory.pointer, 1 << 16, Kind::Device, d);
    let buffered = made("urUSMPoolCreateExp over a buffer", buffer.create(c, d))?;
    let (block, allocated) = take(&Take::new(1 << 16).from(&buffered), &queues, 0, &context)?;
    let freed = give_back(block, first, &[&allocated])?;
    let (block, allocated) = take(&Take::new(1 << 16).from(&buffered).after(&[&freed]), &queues, 1, &context)?;
    drop(give_back(block, second, &[&allocated])?);
    figures(&buffered)?;
    let out = &raw mut arena;
    tried("urUSMPoolGetDefaultDevicePoolExp", ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(c, d, out)), || ())?;
    for from in [pool.handle(), core.handle(), buffered.handle()] {
        tried("urUSMPoolTrimToExp", ur!(USMExp.pfnPoolTrimToExp(c, d, from, 0)), || ())?;
    }
    tried("urQueueFinish", ur!(Queue.pfnFinish(first.handle())), || ())?;
    tried("urQueueFinish", ur!(Queue.pfnFinish(second.handle())), || ())?;
    for from in [&pool, &core, &buffered] {
        let mut used = usize::MAX;
        let told = (&raw mut used).cast();
        let answer = ur!(USM.pfnPoolGetInfo(from.handle(), info::USED_CURRENT_EXP, 8, told, null_mut()));
        tried("urUSMPoolGetInfo", answer, || assert_eq!(used, 0, "everything was freed"))?;
    }
    drop(buffered);
    memory.by("urUSMFree", |pointer| ur!(USM.pfnFree(c, pointer)))
}

/// What was to make room for an allocation failed: then there is no room.
fn may_be_full(call: &str, code: Code) -> bool {
    call.contains("llocation") && code == Code::ERROR_OUT_OF_DEVICE_MEMORY
}

fn sweep(flags: Flags, error: i32, returning: bool) {
    let mut fixture = Fixture::over_all_devices();
    if fixture.sim().is_none() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let image = Environment::get().image("basic.ptx");
    let kinds = pool::kinds(&fixture.in_order());
    let lost = error == status::ILLEGAL_ADDRESS;
    let sweep = Sweep { error, returning, least: 20, may_also: if lost { |_, _| false } else { may_be_full } };
    sweep.over(&mut fixture, |fixture| scenario(fixture, &image, flags, &kinds));
}

#[test]
fn out_of_memory_in_any_native_call_of_the_family_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::OUT_OF_MEMORY, false);
}

#[test]
fn an_unknown_failure_in_any_native_call_of_the_family_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::UNKNOWN, false);
}

#[test]
fn a_lost_context_in_any_native_call_of_the_family_is_reported_as_a_lost_device() {
    sweep(Flags::empty(), status::ILLEGAL_ADDRESS, false);
}

#[test]
fn an_unknown_failure_on_out_of_order_queues_is_reported_and_leaves_nothing() {
    sweep(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, status::UNKNOWN, false);
}

#[test]
fn an_unknown_failure_on_profiling_queues_is_reported_and_leaves_nothing() {
    sweep(Flags::PROFILING_ENABLE, status::UNKNOWN, false);
}

#[test]
fn a_call_of_the_family_that_cannot_give_something_back_harms_nothing_else() {
    sweep(Flags::empty(), status::UNKNOWN, true);
}

#[test]
fn any_native_call_of_the_family_may_fail_without_magazines() {
    let test = "any_native_call_of_the_family_may_fail_without_magazines";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], || {
        sweep(Flags::empty(), status::OUT_OF_MEMORY, false);
        sweep(Flags::empty(), status::UNKNOWN, false);
    });
}

/// The names of a native function, in each library that can be made to fail it.
fn failing(cuda: &str, hip: &str) -> Vec<(Control, String)> {
    let named = |library: Control| {
        let name = if library.is_driver() { cuda } else { hip };
        (library, name.to_owned())
    };
    Control::loaded().into_iter().map(named).collect()
}

#[test]
fn a_free_that_the_driver_refuses_leaves_the_block_as_it_was() {
    let test = "a_free_that_the_driver_refuses_leaves_the_block_as_it_was";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], || {
        let fixture = Fixture::new();
        let (queue, other) = (fixture.in_order(), fixture.in_order());
        let pool = Plan::new().of(&fixture);
        for (library, name) in failing("cuMemFreeAsync", "hipFreeAsync") {
            for here in [&queue, &other] {
                let (block, allocated) = Take::new(4096).from(&pool).event_on(&queue);
                allocated.wait();
                let before = Figures::of(pool.handle());
                library.fail(&name, 1, status::UNKNOWN);
                assert_eq!(free(here, block), Code::ERROR_ADAPTER_SPECIFIC, "{name}");
                library.fail(&name, 1, status::UNKNOWN);
                let answer = ur!(USM.pfnFree(fixture.context(), block));
                assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "{name}");
                library.clear_faults();
                assert_eq!(Figures::of(pool.handle()), before, "{name}");
                give(here, block);
                assert_eq!(Figures::of(pool.handle()).used, 0);
                assert_eq!(free(here, block), Code::ERROR_INVALID_MEM_OBJECT);
            }
        }
        queue.finish();
        other.finish();
    });
}

#[test]
fn a_trim_that_cannot_empty_a_magazine_loses_no_block() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
    for (library, name) in failing("cuMemFreeAsync", "hipFreeAsync") {
        let blocks: Vec<_> = (0..3).map(|_| Take::new(4096).from(&pool).on(&queue)).collect();
        blocks.into_iter().for_each(|block| give(&queue, block));
        library.fail(&name, 2, status::UNKNOWN);
        let (context, device) = (fixture.context(), fixture.device());
        let answer = ur!(USMExp.pfnPoolTrimToExp(context, device, pool.handle(), 0));
        assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC);
        library.clear_faults();
        queue.finish();
        pool::trim(&fixture, pool.handle(), 0);
        assert_eq!(Figures::of(pool.handle()).reserved, 0, "{name}: a block was lost");
    }
}

/// Two failures: the allocation, and what was to make room for it. The first is the one that the caller hears of.
#[test]
fn an_allocation_that_fails_twice_is_OUT_OF_DEVICE_MEMORY_and_the_next_one_works() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    give(&queue, Take::new(64).from(&pool).on(&queue));
    for (library, name) in failing("cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync") {
        library.fail(&name, 1, status::OUT_OF_MEMORY);
        give(&queue, Take::new(4096).from(&pool).on(&queue));
        library.fail(&name, 1, status::OUT_OF_MEMORY);
        library.fail(&name, 2, status::OUT_OF_MEMORY);
        let before = Figures::of(pool.handle());
        Take::new(9000).from(&pool).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
        library.clear_faults();
        let after = Figures::of(pool.handle());
        assert_eq!((after.used, after.used_high), (before.used, before.used_high));
        give(&queue, Take::new(9000).from(&pool).on(&queue));
        pool::trim(&fixture, pool.handle(), 0);
    }
    for (library, name) in failing("cuMemPoolTrimTo", "hipMemPoolTrimTo") {
        let alloc = if name.starts_with("cu") { "cuMemAllocFromPoolAsync" } else { "hipMallocFromPoolAsync" };
        library.fail(alloc, 1, status::OUT_OF_MEMORY);
        library.fail(&name, 1, status::UNKNOWN);
        Take::new(20_000).from(&pool).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
        library.clear_faults();
        give(&queue, Take::new(20_000).from(&pool).on(&queue));
        pool::trim(&fixture, pool.handle(), 0);
    }
    queue.finish();
}

/// No pool named, no wait list, no event: what most programs do has a way of its own through an adapter.
#[test]
fn an_allocation_and_a_free_that_come_alone_fail_like_any_other_and_with_no_call_more() {
    /// More than a queue keeps.
    const LARGE: usize = 65 << 20;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    ok!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), fixture.device(), pool.handle()));
    give(&queue, Take::new(64).on(&queue));
    for (library, name) in failing("cuMemAllocFromPoolAsync", "hipMallocFromPoolAsync") {
        let called = |work: &dyn Fn()| library.calls_of(work).1.get(&name).copied();
        library.fail(&name, 1, status::UNKNOWN);
        let refused = || assert_eq!(Take::new(LARGE).try_on(&queue), Err(Code::ERROR_ADAPTER_SPECIFIC));
        assert_eq!(called(&refused), Some(1), "{name}");
        library.fail(&name, 1, status::OUT_OF_MEMORY);
        assert_eq!(called(&|| give(&queue, Take::new(LARGE).on(&queue))), Some(2), "{name}: one more try");
        library.fail(&name, 1, status::OUT_OF_MEMORY);
        library.fail(&name, 2, status::OUT_OF_MEMORY);
        let refused = || assert_eq!(Take::new(LARGE).try_on(&queue), Err(Code::ERROR_OUT_OF_DEVICE_MEMORY));
        assert_eq!(called(&refused), Some(2), "{name}");
        library.clear_faults();
        assert_eq!(pool::used(pool.handle()).0, 0);
    }
    for (library, name) in failing("cuMemFreeAsync", "hipFreeAsync") {
        let block = Take::new(LARGE).on(&queue);
        library.fail(&name, 1, status::UNKNOWN);
        assert_eq!(free(&queue, block), Code::ERROR_ADAPTER_SPECIFIC, "{name}");
        library.clear_faults();
        assert_eq!(pool::used(pool.handle()).0, LARGE, "{name}: the block is out still");
        give(&queue, block);
        assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
        assert_eq!(pool::used(pool.handle()).0, 0);
    }
    queue.finish();
}

/// The block is the queue's own again after either attempt, of which the second one comes behind a relief.
#[test]
fn urEnqueueUSMFreeExp_that_cannot_wait_in_two_attempts_leaves_the_block_out() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let pool = Plan::new().of(&fixture);
    for (library, name) in failing("cuStreamWaitEvent", "hipStreamWaitEvent") {
        let block = Take::new(4096).from(&pool).on(&queue);
        let mut gate = Gate::new(&fixture);
        gate.block(&other);
        let before = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&other);
        let list = [before.handle()];
        let free_behind = || {
            let place = (queue.handle(), list.as_ptr());
            ur!(EnqueueExp.pfnUSMFreeExp(place.0, null_mut(), block, 1, place.1, null_mut()))
        };
        library.fail(&name, 1, status::OUT_OF_MEMORY);
        library.fail(&name, 2, status::OUT_OF_MEMORY);
        let (answer, calls) = library.calls_of(free_behind);
        assert_eq!((answer, calls.get(&name).copied()), (Code::ERROR_OUT_OF_DEVICE_MEMORY, Some(2)), "{name}");
        library.clear_faults();
        assert_eq!(pool::used(pool.handle()).0, 4096, "{name}: the block is out still");
        assert_eq!(free_behind(), Code::SUCCESS, "{name}");
        gate.open();
        [&queue, &other].into_iter().for_each(Queue::finish);
        assert_eq!(pool::used(pool.handle()).0, 0);
    }
}

/// Nobody has seen the block that could not be cleared, wherever it came from: fresh, kept by the queue, or by another one.
#[test]
fn a_block_that_cannot_be_cleared_is_not_handed_out_and_not_lost() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let pool = Plan::new().zeroed().of(&fixture);
    let take = Take::new(4096).from(&pool);
    for (library, name) in failing("cuMemsetD32Async", "hipMemsetD32Async") {
        let refused = |take: &Take, queue: &Queue| {
            library.fail(&name, 1, status::UNKNOWN);
            take.refused(Code::ERROR_ADAPTER_SPECIFIC, queue);
            library.clear_faults();
            assert_eq!(pool::used(pool.handle()).0, 0);
        };
        refused(&take, &queue);
        give(&queue, take.on(&queue));
        refused(&take, &queue);
        let freed = pool::give_after(&queue, take.on(&queue), &[]);
        refused(&take.clone().after(&[&freed]), &other);
        give(&other, take.clone().after(&[&freed]).on(&other));
        assert_eq!(pool::used(pool.handle()).0, 0);
        [&queue, &other].into_iter().for_each(Queue::finish);
        pool::trim(&fixture, pool.handle(), 0);
        assert_eq!(Figures::of(pool.handle()).reserved, 0);
    }
}
