//! `urUSMPoolCreateExp`, `urUSMPoolCreate` and what becomes of the pool: kinds, flags, the default pool, destruction.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_USM_POOL_FLAGS_MASK, ur_base_desc_t, ur_queue_flags_t, ur_result_t as Code, ur_structure_type_t,
    ur_usm_alloc_info_t, ur_usm_desc_t, ur_usm_pool_desc_t, ur_usm_pool_flags_t as Flags, ur_usm_pool_handle_t,
    ur_usm_pool_info_t as info,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, CURRENT, Plan, Take, figure, free, free_of, give, give_after, used};
use ur_conformance::{
    Fixture, Gate, Kind, Launch, Pool, Queue, ask, child, needs_sim, ok, query, refused, renew_adapter, ur,
};

fn device_of(fixture: &Fixture, pointer: *mut c_void) -> *mut c_void {
    let (context, property) = (fixture.context(), ur_usm_alloc_info_t::DEVICE);
    query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer.cast_const(), property)))
}

fn default_of(fixture: &Fixture) -> ur_usm_pool_handle_t {
    let mut pool = null_mut();
    ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut pool));
    pool
}

fn current_of(fixture: &Fixture) -> ur_usm_pool_handle_t {
    let mut pool = null_mut();
    ok!(USMExp.pfnPoolGetDevicePoolExp(fixture.context(), fixture.device(), &raw mut pool));
    pool
}

fn native_pools(fixture: &Fixture) -> Option<u64> {
    fixture.sim().map(|sim| sim.objects().get("memory pool").copied().unwrap_or(0))
}

/// Writes to memory and reads it back, through the queue.
#[track_caller]
fn works(queue: &Queue, pointer: *mut c_void, bytes: usize) {
    let values = pattern(bytes as u32, bytes);
    memory::write(queue, pointer, &values);
    assert!(memory::read::<u8>(queue, pointer, bytes) == values);
}

#[test]
fn urUSMPoolCreateExp_and_urUSMPoolCreate_make_the_same_kind_of_object() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pools = [Plan::new().of(&fixture), Plan::new().core_of(&fixture)];
    for pool in &pools {
        let count = || query::get::<u32>(ask!(USM.pfnPoolGetInfo(pool.handle(), info::REFERENCE_COUNT)));
        assert_eq!(count(), 1);
        ok!(USM.pfnPoolRetain(pool.handle()));
        assert_eq!(count(), 2);
        ok!(USM.pfnPoolRelease(pool.handle()));
        assert_eq!(count(), 1);
        let context: *mut c_void = query::get(ask!(USM.pfnPoolGetInfo(pool.handle(), info::CONTEXT)));
        assert_eq!(context, fixture.context().cast());
        let block = Take::new(1000).from(pool).on(&queue);
        works(&queue, block, 1000);
        assert_eq!(used(pool.handle()).0, 1000);
        give(&queue, block);
        let mut plain = null_mut();
        ok!(USM.pfnDeviceAlloc(fixture.context(), fixture.device(), null(), pool.handle(), 1000, &raw mut plain));
        works(&queue, plain, 1000);
        ok!(USM.pfnFree(fixture.context(), plain));
    }
    queue.finish();
    // Either way of giving back takes either pool.
    let [exp, core] = pools;
    ok!(USM.pfnPoolRetain(core.handle()));
    ok!(USMExp.pfnPoolDestroyExp(fixture.context(), fixture.device(), core.handle()));
    assert_eq!((exp.release(), core.release()), (Code::SUCCESS, Code::SUCCESS));
}

#[test]
fn urUSMPoolCreate_serves_every_device_of_its_context() {
    let fixture = Fixture::over_all_devices();
    let pool = Plan::new().core_of(&fixture);
    for (index, &device) in fixture.devices.iter().enumerate() {
        let queue = fixture.queue_in(fixture.context(), device, Default::default());
        let block = Take::new(4096).from(&pool).on(&queue);
        assert_eq!(device_of(&fixture, block), device.cast(), "device {index}");
        works(&queue, block, 4096);
        assert_eq!(used(pool.handle()).0, 4096, "device {index}");
        give(&queue, block);
        queue.finish();
    }
}

#[test]
fn urUSMPoolCreateExp_is_bound_to_its_device() {
    let fixture = Fixture::over_all_devices();
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let queue = fixture.queue_in(fixture.context(), other, Default::default());
    let pool = Plan::new().of(&fixture);
    for kind in pool::kinds(&queue) {
        Take::new(64).kind(kind).from(&pool).refused(Code::ERROR_INVALID_DEVICE, &queue);
    }
    let mut pointer = null_mut();
    refused!(
        ERROR_INVALID_DEVICE,
        USM.pfnDeviceAlloc(fixture.context(), other, null(), pool.handle(), 64, &raw mut pointer)
    );
    refused!(ERROR_INVALID_DEVICE, USMExp.pfnPoolSetDevicePoolExp(fixture.context(), other, pool.handle()));
    refused!(ERROR_INVALID_DEVICE, USMExp.pfnPoolTrimToExp(fixture.context(), other, pool.handle(), 0));
    assert!(pointer.is_null());
}

#[test]
fn urUSMPoolDestroyExp_checks_context_and_device_and_gives_one_reference_back() {
    let fixture = Fixture::over_all_devices();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    let (context, device, handle) = (fixture.context(), fixture.device(), pool.handle());
    let other = fixture.context_of(&fixture.devices);
    refused!(ERROR_INVALID_CONTEXT, USMExp.pfnPoolDestroyExp(other.handle(), device, handle));
    if let Some(&second) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, USMExp.pfnPoolDestroyExp(context, second, handle));
    }
    refused!(ERROR_INVALID_NULL_HANDLE, USMExp.pfnPoolDestroyExp(context, device, null_mut()));
    refused!(ERROR_INVALID_VALUE, USMExp.pfnPoolDestroyExp(context, device, queue.handle().cast()));
    let count = || query::get::<u32>(ask!(USM.pfnPoolGetInfo(handle, info::REFERENCE_COUNT)));
    assert_eq!(count(), 1, "a refused call gives nothing back");
    ok!(USM.pfnPoolRetain(handle));
    ok!(USMExp.pfnPoolDestroyExp(context, device, handle));
    assert_eq!(count(), 1);
    give(&queue, Take::new(64).from(&pool).on(&queue));
    queue.finish();
}

/// `pool::kinds` fails the test for any other answer than success and `UNSUPPORTED_FEATURE`, which is for devices without
/// managed memory.
#[test]
fn a_pool_serves_every_kind_that_the_device_has_memory_of() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kinds = pool::kinds(&queue);
    assert!(kinds.contains(&Kind::Host), "there is host memory on every device");
    if fixture.sim().is_some() {
        assert_eq!(kinds, Kind::ALL);
    }
    let pool = Plan::new().of(&fixture);
    for &kind in &kinds {
        let block = Take::new(4096).kind(kind).from(&pool).on(&queue);
        works(&queue, block, 4096);
        let word: *mut u32 = block.cast();
        if kind != Kind::Device {
            // SAFETY: memory of the host, which nobody else uses.
            unsafe { word.write_volatile(7) };
            assert_eq!(memory::read::<u32>(&queue, block, 1), [7], "{kind:?}: the device sees what the host wrote");
        }
        let kernel = fixture.basic(c"fill");
        Launch::new(&kernel, &[1024]).pointer(block).value(9u32).value(1024u32).on(&queue);
        queue.finish();
        if kind != Kind::Device {
            // SAFETY: as above; the kernel has run.
            assert_eq!(unsafe { word.read_volatile() }, 9, "{kind:?}: the host sees what the device wrote");
        }
        give(&queue, block);
    }
    for kind in Kind::ALL.into_iter().filter(|kind| !kinds.contains(kind)) {
        Take::new(64).kind(kind).from(&pool).refused(Code::ERROR_UNSUPPORTED_FEATURE, &queue);
    }
    queue.finish();
}

#[test]
fn a_pool_makes_one_native_pool_for_each_device_and_kind_that_the_library_has_pools_of_at_first_need() {
    let test = "a_pool_makes_one_native_pool_for_each_device_and_kind_that_the_library_has_pools_of_at_first_need";
    child::with_native_pools(test, || {
        let fixture = Fixture::over_all_devices();
        let _sim = needs_sim!(fixture);
        let queues: Vec<_> = fixture
            .devices
            .iter()
            .map(|&device| fixture.queue_in(fixture.context(), device, Default::default()))
            .collect();
        let kinds = pool::kinds(&queues[0]);
        let before = native_pools(&fixture);
        let more = |count: u64| before.map(|before| before + count);
        let pool = Plan::new().core_of(&fixture);
        assert_eq!(native_pools(&fixture), before, "nothing was asked of it yet");
        let mut made = 0;
        for queue in &queues {
            for &kind in &kinds {
                made += u64::from(pool::is_native(kind));
                for _ in 0..2 {
                    give(queue, Take::new(64).kind(kind).from(&pool).on(queue));
                    assert_eq!(native_pools(&fixture), more(made), "{kind:?}");
                }
            }
        }
        queues.iter().for_each(Queue::finish);
        drop(pool);
        assert_eq!(native_pools(&fixture), before, "they go with the pool when their memory is back");
    });
}

#[test]
fn host_memory_of_a_pool_is_every_device_s_of_the_context() {
    let fixture = Fixture::over_all_devices();
    let queue = fixture.in_order();
    if !pool::kinds(&queue).contains(&Kind::Host) {
        println!("skipped: there are no pools of host memory");
        return;
    }
    let (block, allocated) = Take::new(4096).kind(Kind::Host).event_on(&queue);
    allocated.wait();
    for (index, &device) in fixture.devices.iter().enumerate() {
        let image = ur_conformance::Environment::get().image("basic.ptx");
        let other = fixture.queue_in(fixture.context(), device, Default::default());
        let (mut device, mut length, mut bytes) = (device, image.len(), image.as_ptr());
        let (mut program, mut kernel) = (null_mut(), null_mut());
        let (device, length, bytes) = (&raw mut device, &raw mut length, &raw mut bytes);
        let context = fixture.context();
        ok!(Program.pfnCreateWithBinary(context, 1, device, length, bytes, null(), &raw mut program));
        let program = ur_conformance::Program::take(program);
        ok!(Program.pfnBuild(context, program.handle(), null()));
        ok!(Kernel.pfnCreate(program.handle(), c"fill".as_ptr(), &raw mut kernel));
        let kernel = ur_conformance::Kernel::take(kernel);
        let value = 100 + index as u32;
        Launch::new(&kernel, &[1024]).pointer(block).value(value).value(1024u32).on(&other);
        other.finish();
        // SAFETY: host memory, and the kernel has run.
        assert_eq!(unsafe { block.cast::<u32>().add(1023).read_volatile() }, value, "device {index}");
    }
    give(&queue, block);
    queue.finish();
}

#[test]
fn USE_NATIVE_MEMORY_POOL_EXP_and_READ_ONLY_EXP_change_nothing() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for flags in [Flags::USE_NATIVE_MEMORY_POOL_EXP, Flags::READ_ONLY_EXP, Flags::from_bits_retain(6)] {
        for pool in [Plan::new().flags(flags).of(&fixture), Plan::new().flags(flags).core_of(&fixture)] {
            let block = Take::new(4096).from(&pool).on(&queue);
            works(&queue, block, 4096);
            give(&queue, block);
        }
    }
    queue.finish();
}

/// Fills each block before it frees it, so that whatever gets it next sees it unless it is cleared.
#[test]
fn ZERO_INITIALIZE_BLOCK_makes_every_block_read_as_zeros_recycled_ones_too() {
    let fixture = Fixture::new();
    let sizes = [1, 3, 4, 511, 512, 4096, 4099, 1 << 20];
    for flags in [Default::default(), ur_conformance::ffi::ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        for plan in [Plan::new().zeroed(), Plan::new().zeroed().limits(0, 1 << 30)] {
            let pool = plan.of(&fixture);
            for kind in pool::kinds(&queue) {
                for round in 0..4 {
                    let taken: Vec<_> = sizes
                        .iter()
                        .map(|&size| (Take::new(size).kind(kind).from(&pool).event_on(&queue), size))
                        .collect();
                    for ((block, allocated), size) in taken {
                        allocated.wait();
                        let found = memory::read::<u8>(&queue, block, size);
                        assert!(found.iter().all(|&byte| byte == 0), "{size} bytes of {kind:?}, round {round}");
                        memory::write(&queue, block, &vec![0xffu8; size]);
                        give(&queue, block);
                    }
                    if round == 1 {
                        queue.finish();
                    }
                    if round == 2 {
                        pool::trim(&fixture, pool.handle(), 0);
                    }
                }
            }
        }
    }
}

#[test]
fn ZERO_INITIALIZE_BLOCK_is_a_fill_in_the_queue_s_order() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().zeroed().of(&fixture);
    let (copy, fill) = (fixture.basic(c"copy"), fixture.basic(c"fill"));
    let outputs: Vec<_> = (0..20).map(|_| fixture.memory(Kind::Device, 4096)).collect();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for output in &outputs {
        let block = Take::new(4096).from(&pool).on(&queue);
        Launch::new(&copy, &[1024]).pointer(output.pointer()).pointer(block).value(1024u32).on(&queue);
        Launch::new(&fill, &[1024]).pointer(block).value(!0u32).value(1024u32).on(&queue);
        give(&queue, block);
    }
    gate.open();
    for (index, output) in outputs.iter().enumerate() {
        assert!(output.read::<u32>(&queue, 1024).iter().all(|&word| word == 0), "block {index}");
    }
}

#[test]
fn ZERO_INITIALIZE_BLOCK_holds_for_plain_allocations_from_the_pool_too() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for pool in [Plan::new().zeroed().of(&fixture), Plan::new().zeroed().core_of(&fixture)] {
        for _ in 0..3 {
            let mut block = null_mut();
            ok!(USM.pfnDeviceAlloc(fixture.context(), fixture.device(), null(), pool.handle(), 5000, &raw mut block));
            assert!(memory::read::<u8>(&queue, block, 5000).iter().all(|&byte| byte == 0));
            memory::write(&queue, block, &[0xffu8; 5000]);
            ok!(USM.pfnFree(fixture.context(), block));
        }
    }
}

#[test]
fn urUSMPoolGetDefaultDevicePoolExp_has_one_handle_as_long_as_the_context_lives() {
    let fixture = Fixture::over_all_devices();
    let queue = fixture.in_order();
    let pool = default_of(&fixture);
    assert!(!pool.is_null());
    give(&queue, Take::new(64).on(&queue));
    give(&queue, Take::new(64).from_raw(pool).on(&queue));
    queue.finish();
    assert_eq!(default_of(&fixture), pool);
    assert_eq!(current_of(&fixture), pool, "it is what a null pool means");
    let context: *mut c_void = query::get(ask!(USM.pfnPoolGetInfo(pool, info::CONTEXT)));
    assert_eq!(context, fixture.context().cast());
    for &device in &fixture.devices[1..] {
        let mut other = null_mut();
        ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), device, &raw mut other));
        assert_ne!(other, pool, "each device has its own");
    }
    ok!(USM.pfnPoolRetain(pool));
    ok!(USM.pfnPoolRelease(pool));
    assert_eq!(default_of(&fixture), pool);
}

#[test]
fn urUSMPoolDestroyExp_refuses_the_default_pool() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = default_of(&fixture);
    refused!(ERROR_INVALID_VALUE, USMExp.pfnPoolDestroyExp(fixture.context(), fixture.device(), pool));
    assert!(ur_conformance::last_error().contains("default"), "{}", ur_conformance::last_error());
    refused!(ERROR_INVALID_VALUE, USM.pfnPoolRelease(pool));
    let block = Take::new(64).on(&queue);
    assert_eq!(used(pool).0, 64);
    give(&queue, block);
    queue.finish();
}

#[test]
fn the_default_pool_s_settings_and_figures_are_this_context_s_alone() {
    let fixture = Fixture::new();
    let other = fixture.context_of(std::slice::from_ref(&fixture.device()));
    let (queue, foreign) = (fixture.in_order(), fixture.queue_in(other.handle(), fixture.device(), Default::default()));
    let mine = default_of(&fixture);
    let mut theirs = null_mut();
    ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(other.handle(), fixture.device(), &raw mut theirs));
    assert_ne!(mine, theirs);
    assert_eq!(pool::set(mine, info::RELEASE_THRESHOLD_EXP, 1 << 20), Code::SUCCESS);
    assert_eq!((figure(mine, info::RELEASE_THRESHOLD_EXP), figure(theirs, info::RELEASE_THRESHOLD_EXP)), (1 << 20, 0));
    let block = Take::new(1000).on(&queue);
    assert_eq!((used(mine), used(theirs)), ((1000, 1000), (0, 0)));
    assert_eq!(figure(theirs, info::RESERVED_HIGH_EXP), 0);
    give(&queue, block);
    queue.finish();
    foreign.finish();
}

#[test]
fn urUSMPoolSetDevicePoolExp_changes_what_a_null_pool_means() {
    let fixture = Fixture::over_all_devices();
    let queue = fixture.in_order();
    let default = default_of(&fixture);
    let pool = Plan::new().of(&fixture);
    let early = Take::new(100).on(&queue);
    ok!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), fixture.device(), pool.handle()));
    assert_eq!((current_of(&fixture), default_of(&fixture)), (pool.handle(), default));
    let later = Take::new(1000).on(&queue);
    assert_eq!((used(default).0, used(pool.handle()).0), (100, 1000));
    for &device in &fixture.devices[1..] {
        let mut other = null_mut();
        ok!(USMExp.pfnPoolGetDevicePoolExp(fixture.context(), device, &raw mut other));
        assert_ne!(other, pool.handle(), "another device's stays as it was");
    }
    let stranger = fixture.context_of(&fixture.devices);
    let mut other = null_mut();
    ok!(USMExp.pfnPoolGetDevicePoolExp(stranger.handle(), fixture.device(), &raw mut other));
    assert_ne!(other, pool.handle(), "another context's stays as it was");
    // A free of an earlier block with the null pool means the block's own.
    give(&queue, early);
    give(&queue, later);
    assert_eq!((used(default).0, used(pool.handle()).0), (0, 0));
    ok!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), fixture.device(), default));
    assert_eq!(current_of(&fixture), default);
    let again = Take::new(10).on(&queue);
    assert_eq!((used(default).0, used(pool.handle()).0), (10, 0));
    give(&queue, again);
    queue.finish();
}

#[test]
fn destroying_the_pool_that_is_set_brings_the_default_pool_back() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let default = default_of(&fixture);
    let (handle, block) = {
        let pool = Plan::new().of(&fixture);
        ok!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), fixture.device(), pool.handle()));
        (pool.handle(), Take::new(64).on(&queue))
    };
    assert_ne!(handle, default);
    assert_eq!(current_of(&fixture), default);
    let next = Take::new(128).on(&queue);
    assert_eq!(used(default).0, 128);
    give(&queue, block);
    give(&queue, next);
    queue.finish();
}

#[test]
fn urUSMPoolSetDevicePoolExp_takes_a_pool_of_the_whole_context() {
    let fixture = Fixture::over_all_devices();
    let pool = Plan::new().core_of(&fixture);
    for &device in &fixture.devices {
        ok!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), device, pool.handle()));
        let queue = fixture.queue_in(fixture.context(), device, Default::default());
        let block = Take::new(64).on(&queue);
        assert_eq!(used(pool.handle()).0, 64);
        give(&queue, block);
        queue.finish();
    }
}

#[test]
fn a_destroyed_pool_s_blocks_stay_valid_until_they_are_freed_and_the_native_pool_goes_after_the_last() {
    let test = "a_destroyed_pool_s_blocks_stay_valid_until_they_are_freed_and_the_native_pool_goes_after_the_last";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let (queue, other) = (fixture.in_order(), fixture.in_order());
        let before = native_pools(&fixture);
        let gone = fixture.in_order();
        let pool = Plan::new().of(&fixture);
        let blocks: Vec<_> = (0..4).map(|_| Take::new(4096).from(&pool).on(&queue)).collect();
        let orphan = Take::new(4096).from(&pool).on(&gone);
        gone.finish();
        drop(gone);
        // One stays in the magazine until now.
        give(&queue, Take::new(8192).from(&pool).on(&queue));
        ok!(USMExp.pfnPoolDestroyExp(fixture.context(), fixture.device(), pool.handle()));
        let handle = pool.handle();
        core::mem::forget(pool);
        queue.finish();
        for &block in blocks.iter().chain([&orphan]) {
            works(&queue, block, 4096);
            let (context, property) = (fixture.context(), ur_usm_alloc_info_t::POOL);
            let told: *mut c_void = query::get(ask!(USM.pfnGetMemAllocInfo(context, block.cast_const(), property)));
            assert!(told.is_null() && !handle.is_null(), "a pool that is gone has no handle to tell");
        }
        let still = before.map(|before| before + 1);
        assert_eq!(native_pools(&fixture), still);
        give(&queue, blocks[0]);
        drop(give_after(&other, blocks[1], &[]));
        ok!(USM.pfnFree(fixture.context(), blocks[2]));
        give(&other, orphan);
        assert_eq!(native_pools(&fixture), still);
        assert_eq!(free(&queue, blocks[0]), Code::ERROR_INVALID_MEM_OBJECT);
        give(&queue, blocks[3]);
        assert_eq!(native_pools(&fixture), still, "nobody has waited for the last free");
        queue.finish();
        other.finish();
        let next = Plan::new().of(&fixture);
        give(&queue, Take::new(64).from(&next).on(&queue));
        queue.finish();
        drop(next);
        assert_eq!(native_pools(&fixture), before, "it goes with the next pool that ends");
    });
}

#[test]
fn a_pool_whose_work_is_still_running_can_be_destroyed() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let out = fixture.memory(Kind::Device, 4096);
    let (fill, copy) = (fixture.basic(c"fill"), fixture.basic(c"copy"));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    {
        let pool = Plan::new().of(&fixture);
        let block = Take::new(4096).from(&pool).on(&queue);
        Launch::new(&fill, &[1024]).pointer(block).value(3u32).value(1024u32).on(&queue);
        Launch::new(&copy, &[1024]).pointer(out.pointer()).pointer(block).value(1024u32).on(&queue);
        give(&queue, block);
    }
    gate.open();
    assert!(out.read::<u32>(&queue, 1024).iter().all(|&word| word == 3));
}

#[test]
fn a_context_s_release_leaves_its_pools_and_their_blocks_alive() {
    let fixture = Fixture::new();
    let context = fixture.context_of(std::slice::from_ref(&fixture.device()));
    let queue = fixture.queue_in(context.handle(), fixture.device(), Default::default());
    let pool = Plan::new().create(context.handle(), fixture.device()).expect("a pool");
    drop(context);
    let block = Take::new(4096).from(&pool).on(&queue);
    works(&queue, block, 4096);
    give(&queue, block);
    queue.finish();
    drop(queue);
    assert_eq!(used(pool.handle()), (0, 4096));
}

#[test]
fn a_free_with_another_pool_than_the_block_s_is_INVALID_VALUE() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let (own, foreign) = (Plan::new().of(&fixture), Plan::new().of(&fixture));
    let block = Take::new(64).from(&own).on(&queue);
    for queue in [&queue, &other] {
        assert_eq!(free_of(queue, foreign.handle(), block), Code::ERROR_INVALID_VALUE);
        assert_eq!(free_of(queue, default_of(&fixture), block), Code::ERROR_INVALID_VALUE);
        assert_eq!(used(own.handle()).0, 64, "nothing was freed");
    }
    assert_eq!(free_of(&queue, queue.handle().cast(), block), Code::ERROR_INVALID_VALUE, "a handle of another kind");
    works(&queue, block, 64);
    assert_eq!(free_of(&other, own.handle(), block), Code::SUCCESS);
    let block = Take::new(64).on(&queue);
    assert_eq!(free_of(&queue, own.handle(), block), Code::ERROR_INVALID_VALUE);
    assert_eq!(free_of(&queue, default_of(&fixture), block), Code::SUCCESS);
    queue.finish();
    other.finish();
}

#[test]
fn urUSMPoolCreate_refuses_bad_descriptors_and_makes_nothing() {
    let fixture = Fixture::new();
    let before = native_pools(&fixture);
    let unknown = UR_USM_POOL_FLAGS_MASK & UR_USM_POOL_FLAGS_MASK.wrapping_neg();
    let stranger = ur_base_desc_t { stype: ur_structure_type_t::QUEUE_PROPERTIES, pNext: null() };
    let chained = |next: *const c_void| ur_usm_pool_desc_t { pNext: next, ..Default::default() };
    let flags = |bits| ur_usm_pool_desc_t { flags: Flags::from_bits_retain(bits), ..Default::default() };
    let cases = [
        ("an unknown flag", flags(unknown), Code::ERROR_INVALID_ENUMERATION),
        ("all flags", flags(!0), Code::ERROR_INVALID_ENUMERATION),
        ("an unknown structure", chained((&raw const stranger).cast()), Code::ERROR_INVALID_VALUE),
    ];
    for (what, mut desc, code) in cases {
        let (mut pool, desc, context) = (null_mut(), &raw mut desc, fixture.context());
        let exp = ur!(USMExp.pfnPoolCreateExp(context, fixture.device(), desc, &raw mut pool));
        let core = ur!(USM.pfnPoolCreate(context, desc, &raw mut pool));
        assert_eq!((exp, core), (code, code), "{what}");
        assert!(pool.is_null() && !ur_conformance::last_error().is_empty(), "{what}");
    }
    let mut desc = ur_usm_pool_desc_t::default();
    let (mut pool, context, device) = (null_mut(), fixture.context(), fixture.device());
    let (desc, out) = (&raw mut desc, &raw mut pool);
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPoolCreateExp(context, device, null_mut(), out));
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPoolCreateExp(context, device, desc, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, USMExp.pfnPoolCreateExp(null_mut(), device, desc, out));
    refused!(ERROR_INVALID_NULL_HANDLE, USMExp.pfnPoolCreateExp(context, null_mut(), desc, out));
    refused!(ERROR_INVALID_NULL_POINTER, USM.pfnPoolCreate(context, null_mut(), out));
    refused!(ERROR_INVALID_NULL_POINTER, USM.pfnPoolCreate(context, desc, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, USM.pfnPoolCreate(null_mut(), desc, out));
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, USMExp.pfnPoolCreateExp(context, other, desc, out));
        refused!(ERROR_INVALID_DEVICE, USMExp.pfnPoolGetDefaultDevicePoolExp(context, other, out));
        refused!(ERROR_INVALID_DEVICE, USMExp.pfnPoolGetDevicePoolExp(context, other, out));
    }
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPoolGetDefaultDevicePoolExp(context, device, null_mut()));
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPoolGetDevicePoolExp(context, device, null_mut()));
    assert!(pool.is_null());
    assert_eq!(native_pools(&fixture), before, "nothing native was left");
}

/// libsycl leaves the tag of the first descriptor 0; its place says what it is.
#[test]
fn urUSMPoolCreate_takes_a_descriptor_without_its_tag() {
    let fixture = Fixture::new();
    let plan = Plan::new().stype(ur_structure_type_t(0));
    drop((plan.of(&fixture), plan.core_of(&fixture)));
}

#[test]
fn a_pool_of_another_context_is_INVALID_CONTEXT_everywhere() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let other = fixture.context_of(std::slice::from_ref(&fixture.device()));
    let foreign = Plan::new().create(other.handle(), fixture.device()).expect("a pool");
    let (context, device, pool) = (fixture.context(), fixture.device(), foreign.handle());
    for kind in Kind::ALL {
        Take::new(64).kind(kind).from(&foreign).refused(Code::ERROR_INVALID_CONTEXT, &queue);
    }
    let (mut block, none) = (null_mut(), null());
    let out = &raw mut block;
    refused!(ERROR_INVALID_CONTEXT, USM.pfnHostAlloc(context, none, pool, 64, out));
    refused!(ERROR_INVALID_CONTEXT, USM.pfnDeviceAlloc(context, device, none, pool, 64, out));
    refused!(ERROR_INVALID_CONTEXT, USM.pfnSharedAlloc(context, device, none, pool, 64, out));
    refused!(ERROR_INVALID_CONTEXT, USMExp.pfnPoolSetDevicePoolExp(context, device, pool));
    refused!(ERROR_INVALID_CONTEXT, USMExp.pfnPoolTrimToExp(context, device, pool, 0));
    assert!(block.is_null());
    for entry in [queue.handle().cast(), context.cast()] {
        Take::new(64).from_raw(entry).refused(Code::ERROR_INVALID_VALUE, &queue);
    }
    assert_eq!(used(pool), (0, 0));
}

#[test]
fn urUSMAlloc_from_a_pool_keeps_the_rules_of_plain_allocations() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kinds = pool::kinds(&queue);
    let (context, device) = (fixture.context(), fixture.device());
    for pool in [Plan::new().of(&fixture), Plan::new().core_of(&fixture)] {
        let p = pool.handle();
        let call = |kind, desc: *const ur_usm_desc_t, bytes, out| match kind {
            Kind::Host => ur!(USM.pfnHostAlloc(context, desc, p, bytes, out)),
            Kind::Device => ur!(USM.pfnDeviceAlloc(context, device, desc, p, bytes, out)),
            Kind::Shared => ur!(USM.pfnSharedAlloc(context, device, desc, p, bytes, out)),
        };
        for kind in Kind::ALL {
            let mut block = null_mut();
            for align in [3, 100, 257] {
                let desc = ur_usm_desc_t { align, ..Default::default() };
                let answer = call(kind, &raw const desc, 64, &raw mut block);
                assert_eq!(answer, Code::ERROR_INVALID_VALUE, "{kind:?}: an alignment of {align}");
            }
            assert_eq!(call(kind, null(), 0, &raw mut block), Code::ERROR_INVALID_USM_SIZE, "{kind:?}");
            assert_eq!(call(kind, null(), 64, null_mut()), Code::ERROR_INVALID_NULL_POINTER, "{kind:?}");
            assert!(block.is_null());
            let answer = call(kind, null(), 1000, &raw mut block);
            if !kinds.contains(&kind) {
                assert_eq!(answer, Code::ERROR_UNSUPPORTED_FEATURE, "{kind:?}");
                assert!(block.is_null());
                continue;
            }
            assert_eq!(answer, Code::SUCCESS, "{kind:?}: {}", ur_conformance::last_error());
            // It is everybody's at once, without any order.
            let other = fixture.in_order();
            works(&other, block, 1000);
            assert_eq!(used(p).0, 1000, "{kind:?}");
            ok!(USM.pfnFree(context, block));
            assert_eq!(used(p).0, 0, "{kind:?}");
            assert_eq!(ur!(USM.pfnFree(context, block)), Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}");
        }
    }
    queue.finish();
}

#[test]
fn memory_of_a_plain_allocation_from_a_pool_may_be_freed_in_stream_order() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool: Pool = Plan::new().of(&fixture);
    let mut block = null_mut();
    ok!(USM.pfnDeviceAlloc(fixture.context(), fixture.device(), null(), pool.handle(), 4096, &raw mut block));
    works(&queue, block, 4096);
    assert_eq!(free_of(&queue, pool.handle(), block), Code::SUCCESS);
    assert_eq!(used(pool.handle()).0, 0);
    assert_eq!(free_of(&queue, CURRENT, block), Code::ERROR_INVALID_MEM_OBJECT);
    queue.finish();
}

/// The real driver crashes some calls later when a pool of host memory is destroyed too early; the simulated one tells.
#[test]
fn urUSMPoolDestroyExp_of_a_pool_that_gave_host_memory_waits_for_nobody_and_harms_nobody() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    if !pool::kinds(&queue).contains(&Kind::Host) {
        println!("skipped: no pools of host memory");
        return;
    }
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for _ in 0..20 {
        let pool = Plan::new().of(&fixture);
        let block = Take::new(5000).kind(Kind::Host).from(&pool).on(&queue);
        give(&queue, block);
    }
    gate.open();
    queue.finish();
    for _ in 0..20 {
        let pool = Plan::new().of(&fixture);
        let block = Take::new(5000).from(&pool).on(&queue);
        works(&queue, block, 5000);
        give(&queue, block);
    }
    queue.finish();
}

/// A pool that holds memory is destroyed after a wait for the device alone: CUDA 13.0 crashes over anything else.
#[test]
fn a_pool_with_a_block_that_nobody_freed_ends_after_a_wait_with_the_adapter_s_last_reference() {
    let test = "a_pool_with_a_block_that_nobody_freed_ends_after_a_wait_with_the_adapter_s_last_reference";
    child::with_native_pools(test, || {
        let mut fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let context = fixture.context_of(&[fixture.device()]);
        let queue = fixture.queue_in(context.handle(), fixture.device(), ur_queue_flags_t::empty());
        let pool = Plan::new().create(context.handle(), fixture.device()).expect("a pool");
        let _never_freed = Take::new(1000).from(&pool).on(&queue);
        let kernel = fixture.kernel(&fixture.program_in(context.handle(), "basic.ptx"), c"empty");
        let event = Launch::new(&kernel, &[1]).event_on(&queue);
        drop((kernel, pool, queue, context));
        let ends = |work: &mut dyn FnMut()| {
            let ((), calls) = sim.calls_of(work);
            let count = |name: &str| calls.get(name).copied().unwrap_or(0);
            (count("cuCtxSynchronize"), count("cuMemPoolDestroy"))
        };
        let mut event = Some(event);
        assert_eq!(ends(&mut || drop(event.take())), (0, 0), "a release waits for nothing");
        assert_eq!(ends(&mut renew_adapter), (1, 1));
        fixture.accept_objects();
    });
}
