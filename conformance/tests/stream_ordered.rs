//! `urEnqueueUSMDeviceAllocExp` and `urEnqueueUSMFreeExp`: memory that comes and goes as commands of a queue.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK, ur_device_info_t, ur_event_handle_t, ur_exp_async_usm_alloc_flags_t,
    ur_exp_async_usm_alloc_properties_t, ur_queue_flags_t as Flags, ur_result_t as Code, ur_structure_type_t,
    ur_usm_alloc_info_t as info, ur_usm_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::owned::event_of;
use ur_conformance::{Event, Fixture, Gate, Kind, Launch, Queue, ask, child, expect_code, ok, query, refused, ur};

fn try_allocate(queue: &Queue, bytes: usize) -> Result<*mut c_void, Code> {
    let mut pointer = null_mut();
    let out = &raw mut pointer;
    match ur!(EnqueueExp.pfnUSMDeviceAllocExp(queue.handle(), null_mut(), bytes, null(), 0, null(), out, null_mut())) {
        Code::SUCCESS => Ok(pointer),
        code => {
            assert!(pointer.is_null(), "a failed allocation gave a pointer");
            Err(code)
        }
    }
}

#[track_caller]
fn allocate(queue: &Queue, bytes: usize) -> *mut c_void {
    let pointer = try_allocate(queue, bytes);
    let pointer = pointer.unwrap_or_else(|code| panic!("{bytes} bytes: {code:?} {}", ur_conformance::last_error()));
    assert!(!pointer.is_null());
    pointer
}

fn allocate_event(queue: &Queue, bytes: usize, after: &[&Event]) -> (*mut c_void, Event) {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let (count, mut pointer) = (u32::try_from(list.len()).expect("short"), null_mut());
    let out = &raw mut pointer;
    let event = event_of(|event| {
        ur!(EnqueueExp.pfnUSMDeviceAllocExp(queue.handle(), null_mut(), bytes, null(), count, waits, out, event))
    });
    (pointer, event)
}

fn free(queue: &Queue, pointer: *mut c_void) -> Code {
    ur!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), pointer, 0, null(), null_mut()))
}

fn free_after(queue: &Queue, pointer: *mut c_void, after: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let count = u32::try_from(list.len()).expect("short");
    event_of(|event| ur!(EnqueueExp.pfnUSMFreeExp(queue.handle(), null_mut(), pointer, count, waits, event)))
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
        let freed = free_after(&owner, block, &[&copied]);
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
        drop(free_after(&other, block, &[]));
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
    let freed = free_after(&queue, block, &[&allocated]);
    let property = ur_conformance::ffi::ur_event_info_t::COMMAND_EXECUTION_STATUS;
    let status: u32 = query::get(ask!(Event.pfnGetInfo(freed.handle(), property)));
    assert_ne!(status, ur_conformance::ffi::ur_event_status_t::COMPLETE.0);
    gate.open();
    freed.wait();
}

#[test]
fn urUSMGetMemAllocInfo_knows_stream_ordered_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let block = allocate(&queue, 1000);
    for at in [0, 1, 999] {
        let pointer = block.wrapping_byte_add(at).cast_const();
        let context = fixture.context();
        let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::TYPE)));
        assert_eq!(ur_usm_type_t(kind), ur_usm_type_t::DEVICE);
        let base: *mut c_void = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::BASE_PTR)));
        assert_eq!(base, block);
        let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::SIZE)));
        assert!(size >= 1000);
        let device: *mut _ = query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, info::DEVICE)));
        assert_eq!(device, fixture.device());
    }
    assert_eq!(free(&queue, block), Code::SUCCESS);
    queue.finish();
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
fn urEnqueueUSMDeviceAllocExp_refuses_no_bytes_and_a_missing_output() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let zero = try_allocate(&queue, 0).expect_err("no bytes");
    expect_code(zero, &[Code::ERROR_INVALID_USM_SIZE, Code::ERROR_INVALID_SIZE, Code::ERROR_INVALID_VALUE], "no bytes");
    let q = queue.handle();
    refused!(
        ERROR_INVALID_NULL_POINTER,
        EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, null(), 0, null(), null_mut(), null_mut())
    );
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
