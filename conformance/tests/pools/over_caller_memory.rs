//! `ur_usm_pool_buffer_desc_t`: pools over the caller's memory.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::control::Control;
use ur_conformance::ffi::{
    ur_event_info_t, ur_event_status_t, ur_queue_flags_t as Flags, ur_result_t as Code, ur_structure_type_t,
    ur_usm_alloc_info_t, ur_usm_pool_buffer_desc_t, ur_usm_pool_desc_t, ur_usm_pool_info_t as info, ur_usm_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, Figures, Plan, Take, figure, free, give, give_after, set, used};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Gate, Kind, Launch, Memory, Pool, ask, child, needs_sim, ok, query, refused};

const SIZE: usize = 1 << 20;

fn over<'f>(fixture: &'f Fixture, kind: Kind) -> (Memory<'f>, Pool) {
    let memory = fixture.memory(kind, SIZE);
    let device = if kind == Kind::Host { null_mut() } else { fixture.device() };
    let pool = Plan::new().buffer(memory.pointer(), SIZE, kind, device).of(fixture);
    (memory, pool)
}

fn lies_in(memory: &Memory<'_>, block: *mut c_void, bytes: usize) -> bool {
    let (start, end) = (memory.pointer().addr(), memory.pointer().addr() + memory.bytes());
    block.addr() >= start && block.addr() + bytes <= end
}

#[test]
fn blocks_of_a_buffer_backed_pool_are_cut_from_the_buffer_and_do_not_overlap() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let (buffer, pool) = over(&fixture, kind);
        let sizes = [1, 2, 511, 512, 513, 4096, 65_537, 100_000];
        let blocks: Vec<_> =
            sizes.iter().map(|&size| (Take::new(size).kind(kind).from(&pool).on(&queue), size)).collect();
        for (index, &(block, size)) in blocks.iter().enumerate() {
            assert!(lies_in(&buffer, block, size), "{kind:?}: {size} bytes at {block:p}");
            assert!(block.addr().is_multiple_of(256), "{kind:?}: {block:p}");
            memory::write(&queue, block, &vec![index as u8; size]);
        }
        assert_eq!(used(pool.handle()).0, sizes.iter().sum::<usize>());
        for (index, &(block, size)) in blocks.iter().enumerate() {
            assert!(memory::read::<u8>(&queue, block, size) == vec![index as u8; size], "{kind:?}: {size} bytes");
            let (context, pointer) = (fixture.context(), block.cast_const());
            let base: *mut c_void =
                query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, ur_usm_alloc_info_t::BASE_PTR)));
            let told: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, ur_usm_alloc_info_t::SIZE)));
            let of: *mut c_void = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, ur_usm_alloc_info_t::POOL)));
            assert_eq!((base, told, of), (block, size, pool.handle().cast()), "{kind:?}");
            give(&queue, block);
        }
        queue.finish();
        drop(pool);
        // The caller's memory is as good as before.
        buffer.write(&queue, &pattern(3, SIZE));
        assert!(buffer.read::<u8>(&queue, SIZE) == pattern(3, SIZE));
    }
}

#[test]
fn RESERVED_and_MAXIMUM_SIZE_EXP_are_the_buffer_s_size_and_a_release_threshold_has_no_effect() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let (_buffer, pool) = over(&fixture, kind);
        let handle = pool.handle();
        let look = |step: &str| {
            let figures = Figures::of(handle);
            assert_eq!((figures.reserved, figures.reserved_high), (SIZE, SIZE), "{kind:?}, {step}");
            assert_eq!(figure(handle, info::MAXIMUM_SIZE_EXP), SIZE, "{kind:?}, {step}");
        };
        look("at first");
        for threshold in [0, usize::MAX] {
            assert_eq!(set(handle, info::RELEASE_THRESHOLD_EXP, threshold), Code::SUCCESS);
            assert_eq!(figure(handle, info::RELEASE_THRESHOLD_EXP), threshold);
            let block = Take::new(SIZE / 2).kind(kind).from(&pool).on(&queue);
            look("with a block");
            give(&queue, block);
            queue.finish();
            pool::trim(&fixture, handle, 0);
            assert_eq!(set(handle, info::RESERVED_HIGH_EXP, 0), Code::SUCCESS);
            look("after a trim");
        }
        assert_eq!(used(handle), (0, SIZE / 2));
        assert_eq!(set(handle, info::USED_HIGH_EXP, 0), Code::SUCCESS);
        assert_eq!(used(handle), (0, 0));
    }
}

#[test]
fn a_full_buffer_is_OUT_OF_DEVICE_MEMORY_and_serves_again_after_a_free() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let (_buffer, pool) = over(&fixture, Kind::Device);
        let take = |bytes| Take::new(bytes).from(&pool);
        for too_much in [SIZE + 1, usize::MAX / 2, usize::MAX] {
            take(too_much).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
        }
        for _ in 0..3 {
            let blocks: Vec<_> = (0..8).map(|_| take(SIZE / 8).event_on(&queue)).collect();
            let before = Figures::of(pool.handle());
            take(1).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
            assert_eq!(Figures::of(pool.handle()), before);
            for (block, allocated) in blocks {
                drop(give_after(&queue, block, &[&allocated]));
            }
            // The pieces grow together again, once nothing uses them.
            queue.finish();
            let (whole, allocated) = take(SIZE).event_on(&queue);
            allocated.wait();
            memory::write(&queue, whole, &pattern(1, SIZE));
            give(&queue, whole);
        }
        queue.finish();
    }
}

/// Whoever uses the block next, on whatever queue, comes after those that used it before.
#[test]
fn a_block_of_a_buffer_is_reused_only_behind_its_free() {
    let fixture = Fixture::new();
    let (fill, copy) = (fixture.basic(c"fill"), fixture.basic(c"copy"));
    for (first, second) in [(Flags::empty(), Flags::empty()), (Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE)] {
        let (first, second) = (fixture.queue(first), fixture.queue(second));
        let (_buffer, pool) = over(&fixture, Kind::Device);
        let out = fixture.memory(Kind::Device, 4096);
        let block = Take::new(SIZE).from(&pool).on(&first);
        let mut gate = Gate::new(&fixture);
        gate.block(&first);
        Launch::new(&fill, &[1024]).pointer(block).value(1u32).value(1024u32).on(&first);
        Launch::new(&copy, &[1024]).pointer(out.pointer()).pointer(block).value(1024u32).on(&first);
        give(&first, block);
        let (again, allocated) = Take::new(SIZE).from(&pool).event_on(&second);
        let launch = Launch::new(&fill, &[1024]).pointer(again).value(2u32).value(1024u32).after(&[&allocated]);
        let used = launch.event_on(&second);
        let property = ur_event_info_t::COMMAND_EXECUTION_STATUS;
        let status: u32 = query::get(ask!(Event.pfnGetInfo(used.handle(), property)));
        assert_ne!(status, ur_event_status_t::COMPLETE.0, "the buffer is used twice at one time");
        drop(give_after(&second, again, &[&used]));
        gate.open();
        first.finish();
        second.finish();
        assert!(out.read::<u32>(&first, 1024).iter().all(|&word| word == 1));
    }
}

/// What one queue has got past, others get without a wait; and a queue that is gone leaves nothing locked up.
#[test]
fn a_block_of_a_buffer_whose_free_was_reached_is_everybody_s() {
    let fixture = Fixture::new();
    let (_buffer, pool) = over(&fixture, Kind::Device);
    let kernel = fixture.basic(c"fill");
    let blocked = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    gate.block(&blocked);
    for round in 0..6 {
        let queue = fixture.in_order();
        let block = Take::new(SIZE).from(&pool).on(&queue);
        Launch::new(&kernel, &[1024]).pointer(block).value(7u32).value(1024u32).on(&queue);
        give(&queue, block);
        if round % 2 == 0 {
            queue.finish();
        }
    }
    gate.open();
    blocked.finish();
}

/// The native names of a wait on an event, in each library that can be made to fail it.
fn waits() -> Vec<(Control, &'static str)> {
    let named = |library: Control| {
        let name = if library.is_driver() { "cuStreamWaitEvent" } else { "hipStreamWaitEvent" };
        (library, name)
    };
    Control::loaded().into_iter().map(named).collect()
}

/// A block that another queue's free still precedes keeps that order when the wait for it could not be made.
#[test]
fn a_block_of_a_buffer_whose_wait_the_driver_refuses_keeps_its_order() {
    let fixture = Fixture::new();
    let (fill, copy) = (fixture.basic(c"fill"), fixture.basic(c"copy"));
    // All of it, and a part: what is put back is joined with its rest.
    for ((library, name), part) in waits().iter().flat_map(|case| [(case, SIZE), (case, SIZE / 2)]) {
        let (first, second) = (fixture.in_order(), fixture.in_order());
        let (_buffer, pool) = over(&fixture, Kind::Device);
        let out = fixture.memory(Kind::Device, 4096);
        let block = Take::new(SIZE).from(&pool).on(&first);
        let mut gate = Gate::new(&fixture);
        gate.block(&first);
        Launch::new(&fill, &[1024]).pointer(block).value(1u32).value(1024u32).on(&first);
        Launch::new(&copy, &[1024]).pointer(out.pointer()).pointer(block).value(1024u32).on(&first);
        give(&first, block);
        library.fail(name, 1, status::UNKNOWN);
        Take::new(part).from(&pool).refused(Code::ERROR_ADAPTER_SPECIFIC, &second);
        library.clear_faults();
        assert_eq!(used(pool.handle()).0, 0, "{name}");
        let (again, allocated) = Take::new(SIZE).from(&pool).event_on(&second);
        let launch = Launch::new(&fill, &[1024]).pointer(again).value(2u32).value(1024u32).after(&[&allocated]);
        let used = launch.event_on(&second);
        let property = ur_event_info_t::COMMAND_EXECUTION_STATUS;
        let status: u32 = query::get(ask!(Event.pfnGetInfo(used.handle(), property)));
        assert_ne!(status, ur_event_status_t::COMPLETE.0, "{name}: the buffer is used twice at one time");
        drop(give_after(&second, again, &[&used]));
        gate.open();
        first.finish();
        second.finish();
        assert!(out.read::<u32>(&first, 1024).iter().all(|&word| word == 1), "{name}");
    }
}

#[test]
fn ZERO_INITIALIZE_BLOCK_holds_for_buffers_too() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let buffer = fixture.memory(kind, SIZE);
        buffer.write(&queue, &vec![0xffu8; SIZE]);
        let pool = Plan::new().zeroed().buffer(buffer.pointer(), SIZE, kind, fixture.device()).of(&fixture);
        for size in [1000, 1001, SIZE / 2, 1000] {
            let block = Take::new(size).kind(kind).from(&pool).on(&queue);
            assert!(memory::read::<u8>(&queue, block, size).iter().all(|&byte| byte == 0), "{size} bytes of {kind:?}");
            memory::write(&queue, block, &vec![0xffu8; size]);
            give(&queue, block);
        }
        queue.finish();
    }
}

#[test]
fn a_buffer_backed_pool_gives_no_other_kind_of_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for own in Kind::ALL {
        let (_buffer, pool) = over(&fixture, own);
        for kind in Kind::ALL.into_iter().filter(|&kind| kind != own) {
            Take::new(64).kind(kind).from(&pool).refused(Code::ERROR_INVALID_VALUE, &queue);
        }
        give(&queue, Take::new(64).kind(own).from(&pool).on(&queue));
    }
    queue.finish();
}

#[test]
fn urUSMPoolCreateExp_refuses_a_buffer_that_is_not_what_it_says() {
    let fixture = Fixture::over_all_devices();
    let (device, host, shared) =
        (fixture.memory(Kind::Device, SIZE), fixture.memory(Kind::Host, SIZE), fixture.memory(Kind::Shared, SIZE));
    let refuse = |what: &str, plan: Plan, code: Code| {
        assert_eq!(plan.create(fixture.context(), fixture.device()).err(), Some(code), "{what}");
        assert!(!ur_conformance::last_error().is_empty());
    };
    let (own, d, h, s) = (fixture.device(), device.pointer(), host.pointer(), shared.pointer());
    let plan = |pointer, size, kind| Plan::new().buffer(pointer, size, kind, own);
    let invalid = Code::ERROR_INVALID_VALUE;
    for (pointer, really) in [(d, Kind::Device), (h, Kind::Host), (s, Kind::Shared)] {
        for kind in Kind::ALL.into_iter().filter(|&kind| kind != really) {
            refuse(&format!("{really:?} called {kind:?}"), plan(pointer, SIZE, kind), invalid);
        }
        for size in [0, SIZE + 1, usize::MAX, usize::MAX - SIZE + 2] {
            refuse(&format!("{size} bytes of {really:?}"), plan(pointer, size, really), invalid);
        }
        let inside = pointer.wrapping_byte_add(4096);
        refuse("beyond the end", plan(inside, SIZE, really), invalid);
        refuse("an overflow", plan(inside, usize::MAX - 4000, really), invalid);
        drop(plan(inside, SIZE - 4096, really).of(&fixture));
    }
    refuse("null", plan(null_mut(), SIZE, Kind::Device), Code::ERROR_INVALID_NULL_POINTER);
    let mut stack = [0u8; 4096];
    refuse("memory of the stack", plan(stack.as_mut_ptr().cast(), 4096, Kind::Host), invalid);
    refuse("a wild pointer", plan(core::ptr::without_provenance_mut(0x1000), 4096, Kind::Device), invalid);
    if let Some(&other) = fixture.devices.get(1) {
        let foreign = Plan::new().buffer(d, SIZE, Kind::Device, other);
        refuse("a device that is not the pool's", foreign.clone(), Code::ERROR_INVALID_DEVICE);
        let answer = plan(d, SIZE, Kind::Device).create(fixture.context(), other).err();
        assert_eq!(answer, Some(Code::ERROR_INVALID_DEVICE), "another device's pool");
        let unsaid = Plan::new().buffer(d, SIZE, Kind::Device, null_mut());
        assert_eq!(unsaid.create(fixture.context(), other).err(), Some(Code::ERROR_INVALID_DEVICE), "device not said");
        drop(unsaid.of(&fixture));
    }
    refuse(
        "a context for a device",
        Plan::new().buffer(d, SIZE, Kind::Device, fixture.context().cast()),
        Code::ERROR_INVALID_DEVICE,
    );
    assert_eq!(plan(d, SIZE, Kind::Device).create_core(fixture.context()).err(), Some(invalid), "urUSMPoolCreate");
    let raw = ur_usm_pool_buffer_desc_t {
        pMem: d,
        size: SIZE,
        memType: ur_usm_type_t(77),
        device: own,
        ..Default::default()
    };
    let mut desc = ur_usm_pool_desc_t { pNext: (&raw const raw).cast(), ..Default::default() };
    let mut pool = null_mut();
    let out = &raw mut pool;
    refused!(ERROR_INVALID_VALUE, USMExp.pfnPoolCreateExp(fixture.context(), own, &raw mut desc, out));
    desc.stype = ur_structure_type_t(0);
    refused!(ERROR_INVALID_VALUE, USMExp.pfnPoolCreateExp(fixture.context(), own, &raw mut desc, out));
    assert!(pool.is_null());
}

#[test]
fn a_buffer_with_odd_ends_is_used_inside_its_bounds() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let buffer = fixture.memory(Kind::Device, SIZE);
    buffer.write(&queue, &vec![0x11u8; SIZE]);
    let (start, size) = (buffer.at(3), 10_000);
    let pool = Plan::new().buffer(start, size, Kind::Device, fixture.device()).of(&fixture);
    let mut blocks = Vec::new();
    while let Ok(block) = Take::new(512).from(&pool).try_on(&queue) {
        assert!(block.addr().is_multiple_of(256) && block.addr() >= start.addr());
        assert!(block.addr() + 512 <= start.addr() + size);
        memory::write(&queue, block, &[0x22u8; 512]);
        blocks.push(block);
        assert!(blocks.len() < 20);
    }
    assert!(blocks.len() >= 17, "{} blocks", blocks.len());
    let after = memory::read::<u8>(&queue, buffer.pointer(), SIZE);
    let outside = after[..3].iter().chain(&after[3 + size..]);
    assert!(outside.into_iter().all(|&byte| byte == 0x11), "memory outside of the buffer was written");
    blocks.into_iter().for_each(|block| give(&queue, block));
    queue.finish();
    let tiny = Plan::new().buffer(buffer.at(1), 100, Kind::Device, fixture.device()).of(&fixture);
    Take::new(1).from(&tiny).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
}

#[test]
fn blocks_of_a_buffer_are_freed_by_the_family_s_rules() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let (_buffer, pool) = over(&fixture, Kind::Device);
    let blocks: Vec<_> = (0..4).map(|_| Take::new(4096).from(&pool).on(&queue)).collect();
    assert_eq!(free(&queue, blocks[0].wrapping_byte_add(512)), Code::ERROR_INVALID_MEM_OBJECT, "inside");
    give(&queue, blocks[0]);
    assert_eq!(free(&queue, blocks[0]), Code::ERROR_INVALID_MEM_OBJECT, "freed already");
    give(&other, blocks[1]);
    ok!(USM.pfnFree(fixture.context(), blocks[2]));
    let mut plain = null_mut();
    ok!(USM.pfnDeviceAlloc(fixture.context(), fixture.device(), null(), pool.handle(), 4096, &raw mut plain));
    memory::write(&other, plain, &pattern(2, 4096));
    assert_eq!(used(pool.handle()).0, 8192);
    ok!(USM.pfnFree(fixture.context(), plain));
    // Destruction is deferred.
    drop(pool);
    memory::write(&queue, blocks[3], &pattern(1, 4096));
    give(&queue, blocks[3]);
    queue.finish();
    other.finish();
}

#[test]
fn a_buffer_backed_pool_works_without_magazines() {
    let test = "a_buffer_backed_pool_works_without_magazines";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], || {
        let fixture = Fixture::new();
        let (first, second) = (fixture.in_order(), fixture.in_order());
        let (_buffer, pool) = over(&fixture, Kind::Device);
        for round in 0..20 {
            let queue = if round % 3 == 0 { &first } else { &second };
            let block = Take::new(SIZE / 2 + 512).from(&pool).on(queue);
            assert_eq!(used(pool.handle()).0, SIZE / 2 + 512);
            memory::write(queue, block, &pattern(round, 4096));
            assert!(memory::read::<u8>(queue, block, 4096) == pattern(round, 4096));
            give(queue, block);
            assert_eq!(used(pool.handle()).0, 0);
        }
        first.finish();
        second.finish();
    });
}

/// Whoever asks a full buffer asks each queue that freed something, not each block, and asks again only for what came since.
#[test]
fn an_allocation_from_a_full_buffer_records_one_event_for_each_queue() {
    const BLOCKS: usize = 64;
    let test = "an_allocation_from_a_full_buffer_records_one_event_for_each_queue";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (_buffer, pool) = over(&fixture, Kind::Device);
        let (first, second, third) = (fixture.in_order(), fixture.in_order(), fixture.in_order());
        let mut gate = Gate::new(&fixture);
        for queue in [&first, &second] {
            gate.block(queue);
            let blocks: Vec<_> = (0..BLOCKS).map(|_| Take::new(SIZE / BLOCKS / 2).from(&pool).on(queue)).collect();
            blocks.into_iter().for_each(|block| give(queue, block));
        }
        let records = |work: &dyn Fn()| sim.calls_of(work).1.get("cuEventRecord").copied().unwrap_or(0);
        let too_much = || Take::new(SIZE).from(&pool).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &third);
        assert_eq!(records(&too_much), 2, "events for {} blocks that two queues freed", 2 * BLOCKS);
        assert_eq!(records(&too_much), 0, "events for what has one already");
        let block = Take::new(SIZE / BLOCKS / 2).from(&pool).on(&first);
        give(&first, block);
        assert_eq!(records(&too_much), 1, "events for what one queue freed since");
        gate.open();
        [&first, &second, &third].into_iter().for_each(ur_conformance::Queue::finish);
        give(&third, Take::new(SIZE).from(&pool).on(&third));
        third.finish();
    });
}

/// Host memory is next to the pool's device and to no other.
#[test]
fn urUSMHostAlloc_from_a_second_device_s_pool_gives_no_byte_that_is_out() {
    let fixture = Fixture::over_all_devices();
    let Some(&second) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let queue = fixture.queue_in(fixture.context(), second, Flags::empty());
    let buffer = fixture.memory(Kind::Host, SIZE);
    let plan = Plan::new().buffer(buffer.pointer(), SIZE, Kind::Host, null_mut());
    let pool = plan.create(fixture.context(), second).expect("a pool over host memory");
    let early = Take::new(4096).kind(Kind::Host).from(&pool).on(&queue);
    let mut late = null_mut();
    ok!(USM.pfnHostAlloc(fixture.context(), null(), pool.handle(), 4096, &raw mut late));
    assert_ne!(late, early, "both are out");
    assert!(lies_in(&buffer, late, 4096));
    let figures = Figures::of(pool.handle());
    assert_eq!((figures.reserved, figures.used), (SIZE, 2 * 4096));
    ok!(USM.pfnFree(fixture.context(), late));
    give(&queue, early);
    queue.finish();
}

/// Without an event behind the frees nobody could ask the released queue's stream whether they were reached.
#[test]
fn blocks_of_a_queue_that_is_released_with_work_come_back_though_no_event_can_be_recorded() {
    let test = "blocks_of_a_queue_that_is_released_with_work_come_back_though_no_event_can_be_recorded";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (buffer, pool) = over(&fixture, Kind::Device);
        let take = Take::new(SIZE).from(&pool);
        // Behind an event that is recorded later, or because the stream has got past the free.
        for is_over in [false, true] {
            let (queue, other) = (fixture.in_order(), fixture.in_order());
            let mut gate = Gate::new(&fixture);
            let block = take.on(&queue);
            gate.block(&queue);
            give(&queue, block);
            sim.fail("cuEventRecord", 1, status::OUT_OF_MEMORY);
            drop(queue);
            sim.clear_faults();
            if is_over {
                gate.open();
            }
            let again = loop {
                match take.try_on(&other) {
                    Ok(again) => break again,
                    Err(code) => assert_eq!(code, Code::ERROR_OUT_OF_DEVICE_MEMORY),
                }
            };
            assert_eq!(again, block);
            Launch::new(&fixture.basic(c"fill"), &[SIZE / 4])
                .pointer(again)
                .value(7u32)
                .value(SIZE as u32 / 4)
                .on(&other);
            if !is_over {
                gate.open();
            }
            assert!(memory::read::<u32>(&other, again, SIZE / 4).iter().all(|word| *word == 7));
            give(&other, again);
            other.finish();
        }
        drop((pool, buffer));
    });
}
