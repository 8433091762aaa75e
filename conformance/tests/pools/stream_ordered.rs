//! `urEnqueueUSM{Device,Host,Shared}AllocExp` and `urEnqueueUSMFreeExp`: memory that comes and goes as commands of a queue.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK, ur_command_t, ur_device_info_t, ur_event_handle_t, ur_event_info_t,
    ur_event_status_t, ur_exp_async_usm_alloc_flags_t, ur_exp_async_usm_alloc_properties_t, ur_profiling_info_t,
    ur_queue_flags_t as Flags, ur_result_t as Code, ur_structure_type_t, ur_usm_alloc_info_t as info,
    ur_usm_pool_info_t, ur_usm_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Plan, Take, free, give, give_after};
use ur_conformance::{Event, Fixture, Gate, Kind, Launch, Queue, ask, child, expect_code, ok, query, refused, ur};

fn try_allocate(queue: &Queue, bytes: usize) -> Result<*mut c_void, Code> {
    Take::new(bytes).try_on(queue)
}

#[track_caller]
fn allocate(queue: &Queue, bytes: usize) -> *mut c_void {
    Take::new(bytes).on(queue)
}

#[track_caller]
fn allocate_event(queue: &Queue, bytes: usize, after: &[&Event]) -> (*mut c_void, Event) {
    Take::new(bytes).after(after).event_on(queue)
}

#[test]
fn urEnqueueUSMDeviceAllocExp_gives_memory_to_later_commands_of_the_queue() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"iota");
    for count in [1u32, 7, 1024, 100_000] {
        let block = allocate(&queue, count as usize * 4);
        Launch::new(&kernel, &[count as usize]).pointer(block).value(count).on(&queue);
        let found = memory::read::<u32>(&queue, block, count as usize);
        assert!(found.iter().enumerate().all(|(index, &value)| value == index as u32), "{count}");
        ok!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), block, 0, null(), null_mut()));
    }
    queue.finish();
}

#[test]
fn urEnqueueUSMDeviceAllocExp_gives_blocks_that_do_not_overlap() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let sizes = [1, 2, 255, 256, 257, 511, 512, 513, 4096, 65_537, 1 << 20, (4 << 20) + 1];
    let blocks: Vec<_> = sizes.iter().map(|&size| (allocate(&queue, size), size)).collect();
    for (index, &(block, size)) in blocks.iter().enumerate() {
        assert!(block.addr().is_multiple_of(256), "{size} bytes at {block:p}");
        memory::write(&queue, block, &vec![index as u8; size]);
    }
    for (index, &(block, size)) in blocks.iter().enumerate() {
        assert!(memory::read::<u8>(&queue, block, size) == vec![index as u8; size], "{size} bytes");
        assert_eq!(free(&queue, block), Code::SUCCESS);
    }
    queue.finish();
}

/// What `urEnqueueUSMFreeExp` frees may be used again at once, but never before the work that still uses it has run.
#[test]
fn urEnqueueUSMFreeExp_frees_only_after_the_queue_s_earlier_work() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"copy");
    let outputs: Vec<_> = (0..50).map(|_| fixture.memory(Kind::Device, 4096)).collect();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for (index, output) in outputs.iter().enumerate() {
        let block = allocate(&queue, 4096);
        let value = (index as u32).to_ne_bytes();
        ok!(Enqueue.pfnUSMFill(queue.handle(), block, 4, value.as_ptr().cast(), 4096, 0, null(), null_mut()));
        Launch::new(&kernel, &[1024]).pointer(output.pointer()).pointer(block).value(1024u32).on(&queue);
        assert_eq!(free(&queue, block), Code::SUCCESS);
    }
    gate.open();
    for (index, output) in outputs.iter().enumerate() {
        assert!(output.read::<u32>(&queue, 1024).iter().all(|&value| value == index as u32), "block {index}");
    }
}

#[test]
fn urEnqueueUSMDeviceAllocExp_s_event_makes_the_memory_usable_on_another_queue() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"iota");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let (owner, user) = (fixture.queue(flags), fixture.queue(flags));
        let (block, allocated) = allocate_event(&owner, 4096, &[]);
        let used = Launch::new(&kernel, &[1024]).pointer(block).value(1024u32).after(&[&allocated]).event_on(&user);
        let back = fixture.memory(Kind::Host, 4096);
        let list = [used.handle()];
        let copied = event_of(|event| {
            let (no, to) = (ur_conformance::ffi::CBool::FALSE, back.pointer());
            ur!(Enqueue.pfnUSMMemcpy(user.handle(), no, to, block, 4096, 1, list.as_ptr(), event))
        });
        let freed = give_after(&owner, block, &[&copied]);
        freed.wait();
        assert!((0..1024).all(|index| back.load(index) == index as u32), "{flags:?}");
    }
}

#[test]
fn urEnqueueUSMFreeExp_on_another_queue_after_the_event_is_fine() {
    let fixture = Fixture::new();
    let (owner, other) = (fixture.in_order(), fixture.in_order());
    let kernel = fixture.basic(c"iota");
    for _ in 0..20 {
        let (block, allocated) = allocate_event(&owner, 4096, &[]);
        Launch::new(&kernel, &[1024]).pointer(block).value(1024u32).after(&[&allocated]).on(&other);
        drop(give_after(&other, block, &[]));
    }
    other.finish();
    owner.finish();
}

#[test]
fn urEnqueueUSMDeviceAllocExp_waits_for_its_list() {
    let fixture = Fixture::new();
    let (blocked, queue) = (fixture.in_order(), fixture.in_order());
    let mut gate = Gate::new(&fixture);
    let before = gate.block_event(&blocked);
    let (block, allocated) = allocate_event(&queue, 64, &[&before]);
    let freed = give_after(&queue, block, &[&allocated]);
    let property = ur_conformance::ffi::ur_event_info_t::COMMAND_EXECUTION_STATUS;
    let status: u32 = query::get(ask!(Event.pfnGetInfo(freed.handle(), property)));
    assert_ne!(status, ur_conformance::ffi::ur_event_status_t::COMPLETE.0);
    gate.open();
    freed.wait();
}

#[test]
fn urEnqueueUSMDeviceAllocExp_takes_properties_and_refuses_unknown_flags() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let ask_with = |properties: ur_exp_async_usm_alloc_properties_t| {
        let mut pointer = null_mut();
        let (q, given, out) = (queue.handle(), &raw const properties, &raw mut pointer);
        let answer = ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, given, 0, null(), out, null_mut()));
        if answer == Code::SUCCESS {
            assert_eq!(free(&queue, pointer), Code::SUCCESS);
        } else {
            assert!(pointer.is_null());
        }
        answer
    };
    type Properties = ur_exp_async_usm_alloc_properties_t;
    assert_eq!(ask_with(Properties::default()), Code::SUCCESS);
    assert_eq!(ask_with(Properties { stype: ur_structure_type_t(0), ..Default::default() }), Code::SUCCESS);
    for bits in [0x8000_0000, UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK] {
        let flags = ur_exp_async_usm_alloc_flags_t::from_bits_retain(bits);
        assert_eq!(ask_with(Properties { flags, ..Default::default() }), Code::ERROR_INVALID_ENUMERATION, "{bits:#x}");
    }
    queue.finish();
}

#[test]
fn urEnqueueUSMFreeExp_refuses_what_is_not_the_start_of_live_device_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    assert_eq!(free(&queue, null_mut()), Code::ERROR_INVALID_NULL_POINTER);
    let mut local = [0u8; 16];
    assert_eq!(free(&queue, local.as_mut_ptr().cast()), Code::ERROR_INVALID_MEM_OBJECT, "memory of the stack");
    let host = fixture.memory(Kind::Host, 64);
    assert_eq!(free(&queue, host.pointer()), Code::ERROR_INVALID_MEM_OBJECT, "host memory");
    let block = allocate(&queue, 4096);
    assert_eq!(free(&queue, block.wrapping_byte_add(256)), Code::ERROR_INVALID_MEM_OBJECT, "inside of a block");
    assert_eq!(free(&queue, block), Code::SUCCESS);
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT, "freed already");
    queue.finish();
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT, "freed already and finished");
    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), block));
}

#[test]
fn urEnqueueUSMFreeExp_s_double_free_is_seen_while_the_first_has_not_run() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let block = allocate(&queue, 4096);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    assert_eq!(free(&queue, block), Code::SUCCESS);
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
    gate.open();
    queue.finish();
}

#[test]
fn urUSMFree_takes_stream_ordered_memory_that_nothing_uses_any_more() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let block = allocate(&queue, 4096);
    memory::write(&queue, block, &pattern(1, 4096));
    queue.finish();
    ok!(USM.pfnFree(fixture.context(), block));
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
}

/// In a small device of its own on the simulated driver; on a real one with all of its memory.
#[test]
fn urEnqueueUSMDeviceAllocExp_runs_out_of_device_memory_and_works_again_after_a_free() {
    let test = "urEnqueueUSMDeviceAllocExp_runs_out_of_device_memory_and_works_again_after_a_free";
    child::in_process(test, &[("SIMCUDA_MEMORY", "256M")], || {
        let fixture = Fixture::new();
        let queue = fixture.in_order();
        let property = ur_device_info_t::GLOBAL_MEM_SIZE;
        let all: u64 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
        let all = usize::try_from(all).expect("a 64-bit machine");
        for too_much in [all + 1, usize::MAX, usize::MAX / 2, 1 << 60] {
            let code = try_allocate(&queue, too_much).expect_err("more than there is");
            expect_code(code, &[Code::ERROR_OUT_OF_DEVICE_MEMORY, Code::ERROR_INVALID_USM_SIZE], "far too much");
            let next = allocate(&queue, 64);
            assert_eq!(free(&queue, next), Code::SUCCESS, "the call after it works");
        }
        let mut blocks = Vec::new();
        let code = loop {
            match try_allocate(&queue, all / 8) {
                Ok(block) => blocks.push(block),
                Err(code) => break code,
            }
            assert!(blocks.len() <= 8, "more memory than the device has");
        };
        assert_eq!(code, Code::ERROR_OUT_OF_DEVICE_MEMORY);
        assert!(!ur_conformance::last_error().is_empty());
        assert!(blocks.len() >= 4, "{} eighths of the memory", blocks.len());
        let last = blocks.pop().expect("some");
        assert_eq!(free(&queue, last), Code::SUCCESS);
        let again = allocate(&queue, all / 8);
        memory::write(&queue, again, &pattern(5, 4096));
        assert!(memory::read::<u8>(&queue, again, 4096) == pattern(5, 4096));
        for block in blocks.into_iter().chain([again]) {
            assert_eq!(free(&queue, block), Code::SUCCESS);
        }
        queue.finish();
        drop(fixture.memory(Kind::Device, all / 2));
    });
}

/// A release threshold of 0, and what some parts do with any threshold: all free memory goes back at every wait. The
/// simulated driver's default pool is such a one, which the device's free memory shows.
#[test]
fn a_pool_that_keeps_nothing_over_a_wait_serves_the_next_command_as_well() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"iota");
    let property = ur_device_info_t::GLOBAL_MEM_FREE;
    let unused = || {
        let ask: query::Ask<'_> = ask!(Device.pfnGetInfo(fixture.device(), property));
        query::get::<u64>(ask)
    };
    const WORDS: usize = 1 << 20;
    let before = unused();
    for round in 0..10 {
        let block = allocate(&queue, WORDS * 4);
        Launch::new(&kernel, &[WORDS]).pointer(block).value(WORDS as u32).on(&queue);
        let found = memory::read::<u32>(&queue, block, WORDS);
        assert!(found.iter().enumerate().all(|(index, &value)| value == index as u32), "round {round}");
        assert_eq!(free(&queue, block), Code::SUCCESS);
        queue.finish();
        if fixture.sim().is_some() {
            assert_eq!(unused(), before, "round {round}: the pool keeps memory");
        }
    }
}

#[test]
fn a_queue_s_release_leaves_its_stream_ordered_memory_alive() {
    let fixture = Fixture::new();
    let (owner, other) = (fixture.in_order(), fixture.in_order());
    let (block, allocated) = allocate_event(&owner, 4096, &[]);
    allocated.wait();
    drop((owner, allocated));
    memory::write(&other, block, &pattern(6, 4096));
    assert!(memory::read::<u8>(&other, block, 4096) == pattern(6, 4096));
    assert_eq!(free(&other, block), Code::SUCCESS);
    other.finish();
}

/// Whether an event says that its command has finished.
fn is_complete(event: &Event) -> bool {
    let property = ur_event_info_t::COMMAND_EXECUTION_STATUS;
    let status: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), property)));
    status == ur_event_status_t::COMPLETE.0
}

fn wait_for(queue: &Queue, events: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = events.iter().map(|event| event.handle()).collect();
    let (count, list) = pool::list_of(&list);
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), count, list, event)))
}

/// Every allocation and the free, each with this wait list, on fresh memory and on memory that the queue keeps.
#[track_caller]
fn everything_after(queue: &Queue, list: &[&Event], check: impl Fn(&str, &Event)) {
    for kind in pool::kinds(queue) {
        let take = Take::new(3000).kind(kind);
        let (kept, before) = take.event_on(queue);
        let (fresh, allocated) = take.clone().after(list).event_on(queue);
        check("an allocation", &allocated);
        let freed = give_after(queue, kept, &[&[&before], list].concat());
        check("a free", &freed);
        let (again, reallocated) = take.after(&[&[&freed], list].concat()).event_on(queue);
        check("an allocation of what was kept", &reallocated);
        drop((give_after(queue, fresh, &[&allocated]), give_after(queue, again, &[&reallocated])));
    }
}

/// Events of the queue itself, of another, of another context and of another device, behind a closed gate, with duplicates
/// and with some that have completed.
#[test]
fn every_entry_point_of_the_family_waits_for_its_list() {
    let fixture = Fixture::over_all_devices();
    let stranger = fixture.context_of(&fixture.devices);
    let last = *fixture.devices.last().expect("a device");
    let kernel = fixture.basic(c"empty");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let done = Launch::new(&kernel, &[1]).event_on(&queue);
        done.wait();
        let others = [
            fixture.in_order(),
            fixture.out_of_order(),
            fixture.queue_in(fixture.context(), last, Flags::empty()),
            fixture.queue_in(stranger.handle(), fixture.device(), Flags::empty()),
            fixture.queue_in(stranger.handle(), last, Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
        ];
        for (index, other) in others.iter().enumerate() {
            let blocked = fixture.in_order();
            let mut gate = Gate::new(&fixture);
            let first = gate.block_event(&blocked);
            let before = wait_for(other, &[&first]);
            let list = [&done, &before, &before, &done, &before];
            everything_after(&queue, &list, |what, event| {
                assert!(!is_complete(event), "{what} does not wait for queue {index} ({flags:?})");
            });
            gate.open();
            queue.finish();
            other.finish();
            blocked.finish();
        }
        let mut gate = Gate::new(&fixture);
        let own = gate.block_event(&queue);
        everything_after(&queue, &[&own, &done, &own], |what, event| {
            assert!(!is_complete(event), "{what} does not wait for its own queue ({flags:?})");
        });
        gate.open();
        queue.finish();
    }
}

#[test]
fn every_entry_point_of_the_family_takes_a_list_of_completed_events_and_one_of_thousands() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (queue, other) = (fixture.queue(flags), fixture.queue(flags));
        let some: Vec<_> = (0..40).map(|_| Launch::new(&kernel, &[1]).event_on(&other)).collect();
        other.finish();
        let completed: Vec<&Event> = some.iter().collect();
        everything_after(&queue, &completed, |_, event| event.wait());
        let mut gate = Gate::new(&fixture);
        let last = gate.block_event(&other);
        let many: Vec<&Event> = some.iter().cycle().take(5000).chain([&last]).collect();
        everything_after(&queue, &many, |what, event| assert!(!is_complete(event), "{what}"));
        gate.open();
        queue.finish();
        other.finish();
    }
}

#[test]
fn every_entry_point_of_the_family_refuses_a_bad_wait_list_and_loses_nothing() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let plan = Plan::new().of(&fixture);
    let block = Take::new(100).from(&plan).on(&queue);
    let good = wait_for(&queue, &[]);
    let with_null = [good.handle(), null_mut()];
    let with_queue: [ur_event_handle_t; 2] = [good.handle(), queue.handle().cast()];
    let cases: [(&str, u32, *const ur_event_handle_t, Code); 4] = [
        ("a null list", 1, null(), Code::ERROR_INVALID_EVENT_WAIT_LIST),
        ("a list of none", 0, with_null.as_ptr(), Code::ERROR_INVALID_EVENT_WAIT_LIST),
        ("a null event", 2, with_null.as_ptr(), Code::ERROR_INVALID_EVENT_WAIT_LIST),
        ("a queue", 2, with_queue.as_ptr(), Code::ERROR_INVALID_EVENT),
    ];
    for (what, count, list, code) in cases {
        let (mut out, mut event, q, p) = (null_mut(), null_mut(), queue.handle(), plan.handle());
        let (o, e) = (&raw mut out, &raw mut event);
        let answers = [
            ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, p, 64, null(), count, list, o, e)),
            ur!(EnqueueExp.pfnUSMHostAllocExp(q, p, 64, null(), count, list, o, e)),
            ur!(EnqueueExp.pfnUSMSharedAllocExp(q, p, 64, null(), count, list, o, e)),
            ur!(EnqueueExp.pfnUSMFreeExp(q, p, block, count, list, e)),
        ];
        assert_eq!(answers, [code; 4], "{what}");
        assert!(out.is_null() && event.is_null(), "{what}");
        assert_eq!(pool::used(plan.handle()), (100, 100), "{what}");
    }
    give(&queue, block);
    queue.finish();
}

#[test]
fn an_event_of_each_kind_has_its_command_type_and_times() {
    let fixture = Fixture::new();
    let ordered = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];
    for flags in ordered.into_iter().chain(ordered.map(|flags| flags | Flags::PROFILING_ENABLE)) {
        let queue = fixture.queue(flags);
        for kind in pool::kinds(&queue) {
            let command = match kind {
                Kind::Host => ur_command_t::ENQUEUE_USM_HOST_ALLOC_EXP,
                Kind::Device => ur_command_t::ENQUEUE_USM_DEVICE_ALLOC_EXP,
                Kind::Shared => ur_command_t::ENQUEUE_USM_SHARED_ALLOC_EXP,
            };
            // The second round is served by what the queue keeps.
            for _ in 0..2 {
                let (block, allocated) = Take::new(64).kind(kind).event_on(&queue);
                let freed = give_after(&queue, block, &[&allocated]);
                queue.finish();
                for (event, command) in [(&allocated, command), (&freed, ur_command_t::ENQUEUE_USM_FREE_EXP)] {
                    let told: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE)));
                    assert_eq!(ur_command_t(told), command, "{flags:?}");
                    let of: *mut c_void =
                        query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_QUEUE)));
                    assert_eq!(of, queue.handle().cast());
                    assert!(is_complete(event), "{flags:?}");
                    let property = ur_profiling_info_t::COMMAND_END;
                    if !flags.contains(Flags::PROFILING_ENABLE) {
                        let mut time = 7u64;
                        let out = (&raw mut time).cast();
                        refused!(
                            ERROR_PROFILING_INFO_NOT_AVAILABLE,
                            Event.pfnGetProfilingInfo(event.handle(), property, 8, out, null_mut())
                        );
                        assert_eq!(time, 7);
                        continue;
                    }
                    let times = [
                        ur_profiling_info_t::COMMAND_QUEUED,
                        ur_profiling_info_t::COMMAND_SUBMIT,
                        ur_profiling_info_t::COMMAND_START,
                        property,
                        ur_profiling_info_t::COMMAND_COMPLETE,
                    ]
                    .map(|time| query::get::<u64>(ask!(Event.pfnGetProfilingInfo(event.handle(), time))));
                    assert!(times[0] > 0 && times.is_sorted(), "{command:?} of {kind:?}: {times:?}");
                }
            }
        }
    }
}

/// "Everything on the queue so far" must stay that, whatever follows while somebody holds the event.
#[test]
fn tail_events_of_allocations_and_frees_keep_their_place() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        give(&queue, Take::new(64).on(&queue));
        queue.finish();
        let (kept, early) = Take::new(64).event_on(&queue);
        let (fresh, second) = Take::new(1 << 20).event_on(&queue);
        let freed = give_after(&queue, kept, &[]);
        let launched = Launch::new(&kernel, &[1]).event_on(&queue);
        let after_launch = give_after(&queue, fresh, &[]);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&queue);
        let (block, late) = Take::new(64).event_on(&queue);
        let freed_late = give_after(&queue, block, &[]);
        for event in [&early, &second, &freed, &launched, &after_launch] {
            event.wait();
            assert!(is_complete(event));
        }
        assert!(![&blocked, &late, &freed_late].into_iter().any(is_complete), "what comes after the gate has not run");
        gate.open();
        freed_late.wait();
        assert!([&blocked, &late, &freed_late].into_iter().all(is_complete));
    }
}

#[test]
fn blocks_of_every_kind_follow_the_queue_s_order() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (fill, copy) = (fixture.basic(c"fill"), fixture.basic(c"copy"));
    for kind in pool::kinds(&queue) {
        let outputs: Vec<_> = (0..20).map(|_| fixture.memory(Kind::Device, 4096)).collect();
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        for (index, output) in outputs.iter().enumerate() {
            let block = Take::new(4096).kind(kind).on(&queue);
            Launch::new(&fill, &[1024]).pointer(block).value(index as u32).value(1024u32).on(&queue);
            Launch::new(&copy, &[1024]).pointer(output.pointer()).pointer(block).value(1024u32).on(&queue);
            give(&queue, block);
        }
        gate.open();
        for (index, output) in outputs.iter().enumerate() {
            assert!(output.read::<u32>(&queue, 1024).iter().all(|&word| word == index as u32), "{kind:?} {index}");
        }
    }
}

fn told_type(fixture: &Fixture, pointer: *mut c_void) -> ur_usm_type_t {
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer.cast_const(), info::TYPE))))
}

#[test]
fn urUSMGetMemAllocInfo_knows_type_base_size_device_and_pool_of_every_live_block_and_no_freed_one() {
    let fixture = Fixture::over_all_devices();
    let mut default = null_mut();
    for &device in &fixture.devices {
        let queue = fixture.queue_in(fixture.context(), device, Flags::empty());
        ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), device, &raw mut default));
        let made = Plan::new().create(fixture.context(), device).expect("a pool");
        for kind in pool::kinds(&queue) {
            let type_ = match kind {
                Kind::Host => ur_usm_type_t::HOST,
                Kind::Device => ur_usm_type_t::DEVICE,
                Kind::Shared => ur_usm_type_t::SHARED,
            };
            for (given, told) in [(pool::CURRENT, default), (made.handle(), made.handle())] {
                let block = Take::new(1001).kind(kind).from_raw(given).on(&queue);
                for at in [0, 1, 500, 1000] {
                    let (context, pointer) = (fixture.context(), block.wrapping_byte_add(at).cast_const());
                    let of = |property| -> *mut c_void {
                        query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, property)))
                    };
                    assert_eq!(told_type(&fixture, pointer.cast_mut()), type_, "{kind:?} + {at}");
                    assert_eq!(of(info::BASE_PTR), block, "{kind:?} + {at}");
                    assert_eq!(of(info::POOL), told.cast(), "{kind:?} + {at}");
                    assert_eq!(of(info::DEVICE), device.cast(), "{kind:?} + {at}");
                    let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::SIZE)));
                    assert_eq!(size, 1001, "{kind:?} + {at}: the size as asked for");
                }
                ur_conformance::check_every_property!(
                    ur_usm_alloc_info_t,
                    &[],
                    USM.pfnGetMemAllocInfo(fixture.context(), block.cast_const())
                );
                let unknown = |step: &str| {
                    for at in [0, 500] {
                        let pointer = block.wrapping_byte_add(at);
                        assert_eq!(told_type(&fixture, pointer), ur_usm_type_t::UNKNOWN, "{kind:?} + {at}, {step}");
                    }
                };
                let mut gate = Gate::new(&fixture);
                let blocker = fixture.in_order();
                let blocked = gate.block_event(&blocker);
                drop(give_after(&queue, block, &[&blocked]));
                unknown("freed, the queue has not got there");
                gate.open();
                queue.finish();
                unknown("freed and finished");
                pool::set(told, ur_usm_pool_info_t::RELEASE_THRESHOLD_EXP, usize::MAX);
                give(&queue, Take::new(1001).kind(kind).from_raw(given).on(&queue));
                queue.finish();
                unknown("kept over a finish");
                pool::set(told, ur_usm_pool_info_t::RELEASE_THRESHOLD_EXP, 0);
                blocker.finish();
            }
        }
        queue.finish();
    }
}

#[test]
fn urUSMFree_takes_blocks_of_every_kind_on_a_queue_or_of_one_that_is_gone() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let plan = Plan::new().of(&fixture);
    for kind in pool::kinds(&queue) {
        for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let owner = fixture.queue(flags);
            let blocks: Vec<_> = (0..3).map(|_| Take::new(4096).kind(kind).from(&plan).on(&owner)).collect();
            owner.finish();
            ok!(USM.pfnFree(fixture.context(), blocks[0]));
            assert_eq!(told_type(&fixture, blocks[0]), ur_usm_type_t::UNKNOWN);
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), blocks[0]));
            assert_eq!(free(&owner, blocks[0]), Code::ERROR_INVALID_MEM_OBJECT);
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), blocks[1].wrapping_byte_add(512)));
            drop(owner);
            assert_eq!(pool::used(plan.handle()).0, 8192, "{kind:?}");
            ok!(USM.pfnFree(fixture.context(), blocks[1]));
            give(&queue, blocks[2]);
            assert_eq!(pool::used(plan.handle()).0, 0, "{kind:?}");
        }
    }
    queue.finish();
}

#[test]
fn any_queue_of_the_context_may_free_a_block_also_on_another_device() {
    let fixture = Fixture::over_all_devices();
    let plan = Plan::new().core_of(&fixture);
    let queues: Vec<_> = fixture
        .devices
        .iter()
        .flat_map(|&device| {
            [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE]
                .map(|flags| fixture.queue_in(fixture.context(), device, flags))
        })
        .collect();
    for owner in &queues {
        for other in &queues {
            for kind in pool::kinds(owner) {
                let (block, allocated) = Take::new(4096).kind(kind).from(&plan).event_on(owner);
                drop(give_after(other, block, &[&allocated]));
                assert_eq!(pool::used(plan.handle()).0, 0);
                // A free is complete for whoever comes next.
                assert_eq!(free(owner, block), Code::ERROR_INVALID_MEM_OBJECT);
                assert_eq!(free(other, block), Code::ERROR_INVALID_MEM_OBJECT);
            }
        }
    }
    queues.iter().for_each(Queue::finish);
}

#[test]
fn urEnqueueUSMFreeExp_says_what_a_pointer_is_that_it_cannot_free() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let other = fixture.context_of(std::slice::from_ref(&fixture.device()));
    let foreign = fixture.queue_in(other.handle(), fixture.device(), Flags::empty());
    let says = |queue: &Queue, pointer: *mut c_void, words: &str| {
        let mut event = null_mut();
        let q = queue.handle();
        let answer = ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), pointer, 0, null(), &raw mut event));
        assert_eq!(answer, Code::ERROR_INVALID_MEM_OBJECT, "{words}");
        assert!(event.is_null());
        let said = ur_conformance::last_error();
        assert!(said.contains(words), "`{words}` is not in: {said}");
    };
    let block = Take::new(4096).on(&queue);
    says(&queue, block.wrapping_byte_add(1), "inside");
    says(&queue, block.wrapping_byte_add(4095), "inside");
    says(&foreign, block, "no stream-ordered memory of this context");
    give(&queue, block);
    says(&queue, block, "freed already");
    queue.finish();
    says(&queue, block, "freed already");
    for kind in Kind::ALL {
        let plain = fixture.memory(kind, 4096);
        says(&queue, plain.pointer(), "urUSMFree");
        says(&queue, plain.at(512), "urUSMFree");
    }
    let mut local = [0u8; 16];
    says(&queue, local.as_mut_ptr().cast(), "no live USM memory");
    says(&queue, core::ptr::without_provenance_mut(16), "no live USM memory");
    refused!(
        ERROR_INVALID_NULL_POINTER,
        EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), null_mut(), 0, null(), null_mut())
    );
    queue.finish();
    foreign.finish();
}

#[test]
fn every_allocation_of_the_family_refuses_no_bytes_no_output_and_unknown_flags() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let plan = Plan::new().of(&fixture);
    for kind in Kind::ALL {
        Take::new(0).kind(kind).refused(Code::ERROR_INVALID_USM_SIZE, &queue);
        Take::new(0).kind(kind).from(&plan).refused(Code::ERROR_INVALID_USM_SIZE, &queue);
        let answer = Take::new(64).kind(kind).enqueue(&queue, null_mut(), null_mut());
        assert_eq!(answer, Code::ERROR_INVALID_NULL_POINTER, "{kind:?}");
        let flags = ur_exp_async_usm_alloc_flags_t::from_bits_retain(UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK);
        let bad = ur_exp_async_usm_alloc_properties_t { flags, ..Default::default() };
        let (q, bad, mut out) = (queue.handle(), &raw const bad, null_mut());
        let o = &raw mut out;
        let answer = match kind {
            Kind::Host => ur!(EnqueueExp.pfnUSMHostAllocExp(q, null_mut(), 64, bad, 0, null(), o, null_mut())),
            Kind::Device => ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, bad, 0, null(), o, null_mut())),
            Kind::Shared => ur!(EnqueueExp.pfnUSMSharedAllocExp(q, null_mut(), 64, bad, 0, null(), o, null_mut())),
        };
        assert_eq!(answer, Code::ERROR_INVALID_ENUMERATION, "{kind:?}");
        assert!(out.is_null());
    }
    assert_eq!(pool::used(plan.handle()), (0, 0));
}
