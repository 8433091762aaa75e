//! What a pool says of itself and what of it can be set: the figures are true at any moment.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::null_mut;

use ur_conformance::ffi::{
    ur_exp_usm_pool_reuse_flags_t as Reuse, ur_queue_flags_t as Flags, ur_result_t as Code, ur_usm_pool_info_t as info,
};
use ur_conformance::pool::{self, Figures, Plan, Take, figure, give, give_after, set, used};
use ur_conformance::{Fixture, Gate, Kind, Pool, Queue, child, ok, refused, ur};

const FIGURES: [info; 6] = [
    info::RELEASE_THRESHOLD_EXP,
    info::MAXIMUM_SIZE_EXP,
    info::RESERVED_CURRENT_EXP,
    info::RESERVED_HIGH_EXP,
    info::USED_CURRENT_EXP,
    info::USED_HIGH_EXP,
];

#[test]
fn urUSMPoolGetInfo_follows_the_rules_of_queries_for_every_property() {
    let fixture = Fixture::over_all_devices();
    let queue = fixture.in_order();
    let mut default = null_mut();
    ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut default));
    let plan = Plan::new().peers(&fixture.devices[1..]).limits(1, 100);
    let (exp, core) = (plan.of(&fixture), Plan::new().core_of(&fixture));
    for handle in [exp.handle(), core.handle(), default] {
        let block = Take::new(64).from_raw(handle).on(&queue);
        let answered = ur_conformance::check_every_property!(ur_usm_pool_info_t, &[], USM.pfnPoolGetInfo(handle));
        for property in FIGURES.iter().chain(&[info::REFERENCE_COUNT, info::CONTEXT]) {
            assert!(answered.iter().any(|(found, _)| found == property), "{property:?} is not answered");
        }
        give(&queue, block);
    }
    queue.finish();
}

/// It is told no size: the buffer is as large as the property.
#[test]
fn urUSMPoolGetInfoExp_answers_as_urUSMPoolGetInfo_does() {
    let fixture = Fixture::over_all_devices();
    let queue = fixture.in_order();
    let pool = Plan::new().peers(&fixture.devices[1..]).limits(1 << 20, 77).of(&fixture);
    let block = Take::new(1234).from(&pool).on(&queue);
    let handle = pool.handle();
    for property in
        FIGURES.iter().chain(&[info::REFERENCE_COUNT, info::CONTEXT, info::REUSE_POLICY_EXP, info::PEERS_EXP])
    {
        let (mut told, mut size) = ([0xa5u8; 256], 0);
        ok!(USM.pfnPoolGetInfo(handle, *property, told.len(), told.as_mut_ptr().cast(), &raw mut size));
        let (mut exp, mut exp_size) = ([0xa5u8; 256], 0);
        ok!(USMExp.pfnPoolGetInfoExp(handle, *property, exp.as_mut_ptr().cast(), &raw mut exp_size));
        assert_eq!((told, size), (exp, exp_size), "{property:?}");
        let mut alone = 0;
        ok!(USMExp.pfnPoolGetInfoExp(handle, *property, null_mut(), &raw mut alone));
        assert_eq!(alone, size, "{property:?}: the size alone");
        ok!(USMExp.pfnPoolGetInfoExp(handle, *property, exp.as_mut_ptr().cast(), null_mut()));
    }
    let mut room = [0xa5u8; 64];
    let none = null_mut::<usize>();
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPoolGetInfoExp(handle, info::USED_CURRENT_EXP, null_mut(), none));
    refused!(
        ERROR_INVALID_ENUMERATION | ERROR_UNSUPPORTED_ENUMERATION,
        USMExp.pfnPoolGetInfoExp(handle, info(0x7fff_0000), room.as_mut_ptr().cast(), none)
    );
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        USMExp.pfnPoolGetInfoExp(null_mut(), info::USED_CURRENT_EXP, room.as_mut_ptr().cast(), none)
    );
    refused!(
        ERROR_INVALID_VALUE,
        USMExp.pfnPoolGetInfoExp(queue.handle().cast(), info::USED_CURRENT_EXP, room.as_mut_ptr().cast(), none)
    );
    assert_eq!(room, [0xa5; 64]);
    give(&queue, block);
    queue.finish();
}

/// Allocates, frees here, there, and in no queue's order, and looks after every step.
fn figures_are_exact(fixture: &Fixture, queues: &[Queue], pool: &Pool) {
    let sizes = [1, 100, 511, 512, 513, 4096, 100_000, 1 << 20];
    let (mut now, mut high) = (0, 0);
    let mut live: Vec<(*mut c_void, usize)> = Vec::new();
    let look = |now: usize, high: usize, step: &str| {
        let figures = Figures::of(pool.handle());
        assert_eq!((figures.used, figures.used_high), (now, high), "{step}");
        assert!(figures.reserved >= now && figures.reserved_high >= figures.reserved, "{step}: {figures:?}");
    };
    look(0, 0, "at first");
    for round in 0..60 {
        let queue = &queues[round % queues.len()];
        let size = sizes[round * 5 % sizes.len()];
        let (block, allocated) = Take::new(size).from(pool).event_on(queue);
        allocated.wait();
        live.push((block, size));
        now += size;
        high = high.max(now);
        look(now, high, "an allocation");
        if round % 4 != 0 {
            let (block, size) = live.swap_remove(round * 7 % live.len());
            match round % 3 {
                0 => give(&queues[(round / 3) % queues.len()], block),
                1 => drop(give_after(queue, block, &[&allocated])),
                _ => ok!(USM.pfnFree(fixture.context(), block)),
            }
            now -= size;
            look(now, high, "a free");
        }
        match round {
            20 => {
                assert_eq!(set(pool.handle(), info::USED_HIGH_EXP, 0), Code::SUCCESS);
                high = now;
                look(now, high, "a reset mark");
            }
            30 => queue.finish(),
            40 => pool::trim(fixture, pool.handle(), 0),
            _ => {}
        }
        look(now, high, "a finish or a trim");
    }
    for (block, size) in live {
        give(&queues[0], block);
        now -= size;
        look(now, high, "the last frees");
    }
    queues.iter().for_each(Queue::finish);
    look(0, high, "the end");
}

fn figures_on(flags: Flags) {
    let fixture = Fixture::new();
    let queues: Vec<_> = (0..3).map(|_| fixture.queue(flags)).collect();
    for pool in
        [Plan::new().of(&fixture), Plan::new().core_of(&fixture), Plan::new().limits(1 << 30, 1 << 20).of(&fixture)]
    {
        figures_are_exact(&fixture, &queues, &pool);
    }
}

#[test]
fn USED_is_the_sizes_asked_for_from_the_call_that_allocates_to_the_call_that_frees() {
    figures_on(Flags::empty());
}

#[test]
fn USED_is_exact_on_out_of_order_queues() {
    figures_on(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

#[test]
fn USED_is_exact_without_magazines() {
    let test = "USED_is_exact_without_magazines";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], || figures_on(Flags::empty()));
}

#[test]
fn USED_is_exact_with_magazines_that_overflow() {
    let test = "USED_is_exact_with_magazines_that_overflow";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "8K")], || figures_on(Flags::empty()));
}

/// Each allocation takes what the other queue has freed, or a part of the room that its frees have left.
#[test]
fn USED_is_exact_as_blocks_go_between_queues_that_wait_for_each_other() {
    let fixture = Fixture::new();
    let queues = [fixture.in_order(), fixture.in_order()];
    for pool in [Plan::new().of(&fixture), Plan::new().zeroed().of(&fixture), Plan::new().core_of(&fixture)] {
        let first = Take::new(3000).from(&pool).on(&queues[1]);
        let mut freed = give_after(&queues[1], first, &[]);
        for round in 0..8 {
            let (queue, last) = (&queues[round % 2], &queues[(round + 1) % 2]);
            // Another size of the same class, so that what the block's last user paid is not what the next one owes.
            let size = 2900 + round;
            let block = Take::new(size).from(&pool).after(&[&freed]).on(queue);
            assert_eq!(used(pool.handle()), (size, 3000), "round {round}, a block of the other queue");
            let other = Take::new(64).from(&pool).on(last);
            assert_eq!(used(pool.handle()), (size + 64, 3000), "round {round}, another block");
            give(last, other);
            freed = give_after(queue, block, &[]);
            assert_eq!(used(pool.handle()), (0, 3000), "round {round}, both freed");
        }
        queues.iter().for_each(Queue::finish);
    }
}

/// The figures speak of calls, not of what the device has got to.
#[test]
fn USED_does_not_wait_for_the_queue() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let block = Take::new(5000).from(&pool).on(&queue);
    assert_eq!(used(pool.handle()), (5000, 5000));
    give(&queue, block);
    assert_eq!(used(pool.handle()), (0, 5000));
    gate.open();
    queue.finish();
}

#[test]
fn figures_of_several_native_pools_add_up() {
    let fixture = Fixture::over_all_devices();
    let pool = Plan::new().core_of(&fixture);
    let queues: Vec<_> =
        fixture.devices.iter().map(|&device| fixture.queue_in(fixture.context(), device, Flags::empty())).collect();
    let (mut live, mut expected, mut reserved) = (Vec::new(), 0, 0);
    for (index, queue) in queues.iter().enumerate() {
        for kind in pool::kinds(queue) {
            let size = 1000 * (index + 1) + kind as usize;
            live.push((queue, Take::new(size).kind(kind).from(&pool).on(queue)));
            expected += size;
            let figures = Figures::of(pool.handle());
            assert_eq!((figures.used, figures.used_high), (expected, expected));
            assert!(figures.reserved > reserved, "{kind:?} of device {index}: {figures:?}");
            reserved = figures.reserved;
        }
    }
    for (queue, block) in live {
        give(queue, block);
    }
    assert_eq!(used(pool.handle()), (0, expected));
    queues.iter().for_each(Queue::finish);
}

#[test]
fn a_high_water_mark_takes_the_value_0_alone_and_becomes_the_current_value() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    let handle = pool.handle();
    let (large, small) = (Take::new(40 << 20).from(&pool).on(&queue), Take::new(1000).from(&pool).on(&queue));
    give(&queue, large);
    queue.finish();
    pool::trim(&fixture, handle, 0);
    let before = Figures::of(handle);
    assert_eq!((before.used, before.used_high), (1000, (40 << 20) + 1000));
    assert!(before.reserved_high >= 40 << 20 && before.reserved < before.reserved_high, "{before:?}");
    for (property, other) in
        [(info::USED_HIGH_EXP, info::RESERVED_HIGH_EXP), (info::RESERVED_HIGH_EXP, info::USED_HIGH_EXP)]
    {
        assert_eq!(set(handle, property, 1), Code::ERROR_INVALID_VALUE, "{property:?}");
        assert_eq!(set(handle, property, usize::MAX), Code::ERROR_INVALID_VALUE, "{property:?}");
        assert_eq!(
            Figures::of(handle).used_high,
            if property == info::USED_HIGH_EXP { before.used_high } else { 1000 }
        );
        let kept = figure(handle, other);
        assert_eq!(set(handle, property, 0), Code::SUCCESS, "{property:?}: {}", ur_conformance::last_error());
        assert_eq!(figure(handle, other), kept, "{other:?} is another mark");
    }
    let after = Figures::of(handle);
    assert_eq!((after.used_high, after.reserved_high), (1000, after.reserved));
    // It counts on from there.
    give(&queue, Take::new(500).from(&pool).on(&queue));
    assert_eq!(used(handle), (1000, 1500));
    give(&queue, small);
    queue.finish();
}

#[test]
fn urUSMPoolSetInfoExp_checks_size_value_and_property() {
    let fixture = Fixture::new();
    let pool = Plan::new().limits(0, 4096).of(&fixture);
    let handle = pool.handle();
    let call = |property: info, size: usize| {
        let mut value = 0u128;
        ur!(USMExp.pfnPoolSetInfoExp(handle, property, (&raw mut value).cast(), size))
    };
    for property in [info::RELEASE_THRESHOLD_EXP, info::RESERVED_HIGH_EXP, info::USED_HIGH_EXP] {
        for size in [0, 1, 4, 7, 9, 16, usize::MAX] {
            assert_eq!(call(property, size), Code::ERROR_INVALID_SIZE, "{property:?} of {size} bytes");
        }
        refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPoolSetInfoExp(handle, property, null_mut(), 8));
        let mut value = 0usize;
        let value = (&raw mut value).cast();
        refused!(ERROR_INVALID_NULL_HANDLE, USMExp.pfnPoolSetInfoExp(null_mut(), property, value, 8));
    }
    for size in [0, 1, 8] {
        assert_eq!(call(info::REUSE_POLICY_EXP, size), Code::ERROR_INVALID_SIZE, "the policy of {size} bytes");
    }
    for property in [
        info::REFERENCE_COUNT,
        info::CONTEXT,
        info::MAXIMUM_SIZE_EXP,
        info::RESERVED_CURRENT_EXP,
        info::USED_CURRENT_EXP,
        info::PEERS_EXP,
    ] {
        for size in [0, 4, 8] {
            assert_eq!(call(property, size), Code::ERROR_UNSUPPORTED_ENUMERATION, "{property:?} of {size} bytes");
        }
    }
    assert_eq!(call(info(0x7fff_0000), 8), Code::ERROR_INVALID_ENUMERATION);
    assert_eq!(figure(handle, info::RELEASE_THRESHOLD_EXP), 4096, "nothing was changed");
    let mut unknown = Reuse::from_bits_retain(8);
    refused!(
        ERROR_INVALID_ENUMERATION,
        USMExp.pfnPoolSetInfoExp(handle, info::REUSE_POLICY_EXP, (&raw mut unknown).cast(), 4)
    );
    assert_eq!(set(handle, info::RELEASE_THRESHOLD_EXP, 1 << 20), Code::SUCCESS);
    assert_eq!(figure(handle, info::RELEASE_THRESHOLD_EXP), 1 << 20);
}

/// Native pools made later, for other kinds, have the setting too.
#[test]
fn RELEASE_THRESHOLD_EXP_holds_for_native_pools_that_are_made_later() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    assert_eq!(set(pool.handle(), info::RELEASE_THRESHOLD_EXP, usize::MAX), Code::SUCCESS);
    for kind in pool::kinds(&queue) {
        if kind == Kind::Device {
            continue;
        }
        let before = figure(pool.handle(), info::RESERVED_CURRENT_EXP);
        give(&queue, Take::new(1 << 20).kind(kind).from(&pool).on(&queue));
        queue.finish();
        queue.finish();
        let kept = figure(pool.handle(), info::RESERVED_CURRENT_EXP);
        assert!(kept > before, "{kind:?}: {kept} after {before}");
    }
}
