//! Plain memory that is freed while commands use it: whatever happens meanwhile, nobody has it before they have finished.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_context_handle_t, ur_context_info_t, ur_mem_native_properties_t, ur_usm_advice_flags_t,
};
use ur_conformance::memory::allocate;
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, Fixture, Gate, Kind, Launch, Queue, ask, child, expect_success, needs_sim, ok, query, refused,
};

#[track_caller]
fn take(fixture: &Fixture, context: ur_context_handle_t, kind: Kind, bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    let answer = allocate(kind, context, fixture.device(), null(), bytes, &raw mut pointer);
    expect_success(answer, "a USM allocation");
    pointer
}

#[track_caller]
fn free(context: ur_context_handle_t, pointer: *mut c_void) {
    ok!(USM.pfnFree(context, pointer));
}

/// Whether none of many more blocks is one that was freed while a kernel uses it; `meanwhile` happens between.
fn stays_away(fixture: &Fixture, bytes: usize, count: usize, meanwhile: impl FnOnce(&[*mut c_void])) {
    let (context, queue, kernel) = (fixture.context(), fixture.in_order(), fixture.basic(c"fill"));
    let blocks: Vec<_> = (0..count).map(|_| take(fixture, context, Kind::Device, bytes)).collect();
    let early = blocks[0];
    let mut gate = Gate::new(fixture);
    gate.block(&queue);
    let words = u32::try_from(bytes / 4).expect("a small block");
    Launch::new(&kernel, &[bytes / 4]).pointer(early).value(0xbad_u32).value(words).on(&queue);
    free(context, early);
    meanwhile(&blocks[1..]);
    let more: Vec<_> = (0..2 * count).map(|_| fixture.memory(Kind::Device, bytes)).collect();
    assert!(more.iter().all(|block| block.pointer() != early), "{bytes}: a kernel still uses it");
    gate.open();
    queue.finish();
}

#[test]
fn a_block_among_very_many_that_are_freed_while_commands_run_is_used_again_behind_them_alone() {
    child::with_pooled_memory(
        "a_block_among_very_many_that_are_freed_while_commands_run_is_used_again_behind_them_alone",
        || {
            let fixture = Fixture::new();
            for bytes in [1024, 100 << 10] {
                stays_away(&fixture, bytes, 200, |others| {
                    others.iter().for_each(|other| free(fixture.context(), *other));
                });
            }
        },
    );
}

#[test]
fn a_block_that_is_freed_while_commands_run_and_then_trimmed_is_used_again_behind_them_alone() {
    child::with_pooled_memory(
        "a_block_that_is_freed_while_commands_run_and_then_trimmed_is_used_again_behind_them_alone",
        || {
            let fixture = Fixture::new();
            let mut pool = null_mut();
            ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut pool));
            stays_away(&fixture, 1024, 40, |others| {
                ok!(USMExp.pfnPoolTrimToExp(fixture.context(), fixture.device(), pool, 0));
                others.iter().for_each(|other| free(fixture.context(), *other));
            });
        },
    );
}

/// A native free waits for all of the device's work, so what the context keeps stays until there is none.
#[test]
fn urUSMPoolTrimToExp_of_the_default_pool_beside_a_busy_queue_waits_for_nobody() {
    child::in_time(
        "urUSMPoolTrimToExp_of_the_default_pool_beside_a_busy_queue_waits_for_nobody",
        &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")],
        || {
            let fixture = Fixture::new();
            let mut pool = null_mut();
            ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut pool));
            let (busy, mut gate) = (fixture.in_order(), Gate::new(&fixture));
            for kind in Kind::ALL {
                [300, 300_000, 3 << 20].into_iter().for_each(|bytes| drop(fixture.memory(kind, bytes)));
            }
            gate.block(&busy);
            ok!(USMExp.pfnPoolTrimToExp(fixture.context(), fixture.device(), pool, 0));
            gate.open();
            busy.finish();
            if let Some(sim) = fixture.sim() {
                let (_, calls) =
                    sim.calls_of(|| ok!(USMExp.pfnPoolTrimToExp(fixture.context(), fixture.device(), pool, 0)));
                assert!(calls.contains_key("cuMemFree_v2") && calls.contains_key("cuMemFreeHost"), "{calls:?}");
            }
        },
    );
}

/// Work of a queue that is enqueued after another block's free was noted, and before that block is past.
#[test]
fn the_end_of_one_queue_s_work_frees_no_block_of_another_queue_s() {
    child::with_pooled_memory("the_end_of_one_queue_s_work_frees_no_block_of_another_queue_s", || {
        const BYTES: usize = 4 << 20;
        let fixture = Fixture::new();
        let (context, kernel) = (fixture.context(), fixture.basic(c"fill"));
        let (one, other) = (fixture.in_order(), fixture.in_order());
        let [first, second] = [0; 2].map(|_: u8| take(&fixture, context, Kind::Device, BYTES));
        let (mut gate, mut later) = (Gate::new(&fixture), Gate::new(&fixture));
        let fill = |queue: &Queue, block: *mut c_void| {
            Launch::new(&kernel, &[1]).pointer(block).value(1u32).value(1u32).on(queue)
        };
        gate.block(&one);
        fill(&one, first);
        free(context, first);
        let fresh = fixture.memory(Kind::Device, BYTES);
        assert_ne!(fresh.pointer(), first);
        later.block(&other);
        fill(&other, second);
        free(context, second);
        gate.open();
        one.finish();
        let more = [0; 4].map(|_: u8| fixture.memory(Kind::Device, BYTES));
        assert!(more.iter().all(|block| block.pointer() != second), "a kernel still uses it");
        later.open();
        other.finish();
    });
}

/// What somebody else puts on the stream has no number by which the context could know that it is over. Here that is another context.
#[test]
fn a_block_that_is_freed_waits_for_what_somebody_else_put_on_a_queue_s_stream() {
    child::with_pooled_memory("a_block_that_is_freed_waits_for_what_somebody_else_put_on_a_queue_s_stream", || {
        const BYTES: usize = 4 << 20;
        let fixture = Fixture::new();
        let (queue, elsewhere) = (fixture.in_order(), fixture.context_of(&fixture.devices[..1]));
        Launch::new(&fixture.basic(c"empty"), &[1]).on(&queue);
        queue.finish();
        let (mut native, mut other) = (Default::default(), null_mut());
        ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
        let (context, device) = (elsewhere.handle(), fixture.device());
        ok!(Queue.pfnCreateWithNativeHandle(native, context, device, null(), &raw mut other));
        let other = Queue::take(other);
        let block = take(&fixture, fixture.context(), Kind::Device, BYTES);
        let mut gate = Gate::in_context(&fixture, &elsewhere);
        gate.block(&other);
        free(fixture.context(), block);
        // Two at least: the first look is another one than those behind it.
        let more = [0; 4].map(|_: u8| fixture.memory(Kind::Device, BYTES));
        assert!(more.iter().all(|fresh| fresh.pointer() != block), "a kernel may still use it");
        gate.open();
        other.finish();
        queue.finish();
    });
}

/// The queue is seen with its work first, and gone when it is looked at again.
#[test]
fn a_queue_that_is_released_after_it_was_seen_with_work_holds_blocks_back() {
    child::with_pooled_memory("a_queue_that_is_released_after_it_was_seen_with_work_holds_blocks_back", || {
        const BYTES: usize = 4 << 20;
        let fixture = Fixture::new();
        fixture.allow_late_releases();
        let (context, queue) = (fixture.context(), fixture.in_order());
        let early = take(&fixture, context, Kind::Device, BYTES);
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        Launch::new(&fixture.basic(c"fill"), &[1]).pointer(early).value(1u32).value(1u32).on(&queue);
        free(context, early);
        let fresh = fixture.memory(Kind::Device, BYTES);
        drop(queue);
        let more = [0; 4].map(|_: u8| fixture.memory(Kind::Device, BYTES));
        let all = more.iter().chain([&fresh]);
        assert!(all.map(|block| block.pointer()).all(|pointer| pointer != early), "a kernel still uses it");
        gate.open();
    });
}

/// A buffer's memory may be asked about, and is the buffer's.
#[test]
fn urUSMFree_refuses_the_memory_of_a_buffer() {
    refuses_the_memory_of_a_buffer();
}

/// There it is a native allocation, which the native library does not tell from the application's.
#[test]
fn urUSMFree_refuses_the_memory_of_a_buffer_where_plain_memory_is_the_native_library_s() {
    let test = "urUSMFree_refuses_the_memory_of_a_buffer_where_plain_memory_is_the_native_library_s";
    child::in_process(test, &[("UR_USM_POOL", "0")], refuses_the_memory_of_a_buffer);
}

fn refuses_the_memory_of_a_buffer() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for bytes in [1000, 3 << 20] {
        let buffer = Buffer::new(&fixture, bytes);
        buffer.write(&queue, &vec![3u8; bytes]);
        let mut native = 0;
        ok!(Mem.pfnGetNativeHandle(buffer.handle(), fixture.device(), &raw mut native));
        let pointer = core::ptr::with_exposed_provenance_mut::<c_void>(native);
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), pointer));
        // Nor can another buffer own it.
        let owned = ur_mem_native_properties_t { isNativeHandleOwned: CBool::TRUE, ..Default::default() };
        let mut other = null_mut();
        refused!(
            ERROR_INVALID_VALUE,
            Mem.pfnBufferCreateWithNativeHandle(native, fixture.context(), &raw const owned, &raw mut other)
        );
        drop(fixture.memory(Kind::Device, bytes));
        assert!(buffer.read::<u8>(&queue) == vec![3; bytes]);
    }
}

/// The next one to have the block begins with its advice, which costs time alone; a block that is lost costs memory.
#[test]
fn urUSMFree_of_a_block_whose_advice_cannot_be_taken_back_frees_it_all_the_same() {
    child::with_pooled_memory("urUSMFree_of_a_block_whose_advice_cannot_be_taken_back_frees_it_all_the_same", || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (context, queue) = (fixture.context(), fixture.in_order());
        let advice = ur_usm_advice_flags_t::SET_READ_MOSTLY;
        let used = || query::get::<u64>(ask!(Context.pfnGetInfo(context, ur_context_info_t::USM_USED_BYTES_EXP)));
        for bytes in [8192, 3 << 20] {
            let block = take(&fixture, context, Kind::Shared, bytes);
            ok!(Enqueue.pfnUSMAdvise(queue.handle(), block, bytes, advice, null_mut()));
            queue.finish();
            sim.fail("cuMemAdvise", 1, status::UNKNOWN);
            refused!(ERROR_ADAPTER_SPECIFIC, USM.pfnFree(context, block));
            sim.clear_faults();
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, block));
            assert_eq!(used(), 0, "{bytes}");
        }
    });
}

/// While every other block is live, freed ones hold all native memory, and nothing is to be had of them.
#[test]
fn blocks_between_live_ones_go_back_with_those() {
    child::with_pooled_memory("blocks_between_live_ones_go_back_with_those", || {
        let fixture = Fixture::new();
        let kept = |context| {
            let get = |property| query::get::<u64>(ask!(Context.pfnGetInfo(context, property)));
            get(ur_context_info_t::USM_RESERVED_BYTES_EXP) - get(ur_context_info_t::USM_USED_BYTES_EXP)
        };
        for (bytes, count) in [(1024, 256 << 10), (100 << 10, 4 << 10)] {
            let context = fixture.context_of(&[fixture.device()]);
            let blocks: Vec<_> = (0..count).map(|_| take(&fixture, context.handle(), Kind::Device, bytes)).collect();
            let half = bytes as u64 * count / 2;
            blocks.iter().step_by(2).for_each(|block| free(context.handle(), *block));
            if bytes == 1024 {
                assert!(kept(context.handle()) >= half);
            }
            blocks.iter().skip(1).step_by(2).for_each(|block| free(context.handle(), *block));
            let left = kept(context.handle());
            assert!(left <= (64 << 20) + (8 << 20), "{bytes}: {left} bytes are kept of {half} and as many");
        }
    });
}

/// Without an event behind its work nobody could ask the released queue's stream when that has finished.
#[test]
fn a_queue_that_is_released_with_work_holds_blocks_back_though_no_event_can_be_recorded() {
    let test = "a_queue_that_is_released_with_work_holds_blocks_back_though_no_event_can_be_recorded";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (queue, kernel, bytes) = (fixture.in_order(), fixture.basic(c"fill"), 200_000);
        let mut gate = Gate::new(&fixture);
        let early = take(&fixture, fixture.context(), Kind::Device, bytes);
        gate.block(&queue);
        Launch::new(&kernel, &[bytes / 4]).pointer(early).value(0xbad_u32).value(50_000_u32).on(&queue);
        sim.fail("cuEventRecord", 1, status::OUT_OF_MEMORY);
        drop::<Queue>(queue);
        sim.clear_faults();
        free(fixture.context(), early);
        let others: Vec<_> = (0..4).map(|_| fixture.memory(Kind::Device, bytes)).collect();
        assert!(others.iter().all(|other| other.pointer() != early), "the released queue's kernel still uses it");
        gate.open();
        drop(others);
        // It comes back when the kernel has finished, though nobody waits for that.
        while !(0..4).map(|_| fixture.memory(Kind::Device, bytes)).any(|block| block.pointer() == early) {
            std::thread::yield_now();
        }
    });
}

/// Each leaves an event behind its work for whoever looks whether plain memory is free again, and perhaps nobody ever looks.
#[test]
fn queues_that_are_released_with_work_leave_no_event_each() {
    child::with_pooled_memory("queues_that_are_released_with_work_leave_no_event_each", || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let kernel = fixture.basic(c"empty");
        drop(fixture.memory(Kind::Device, 4096));
        let ((), calls) = sim.calls_of(|| {
            for count in 1..=1000 {
                Launch::new(&kernel, &[1]).on(&fixture.in_order());
                // What has not ended keeps its event rightly.
                if count % 50 == 0 {
                    ok!(DeviceExp.pfnWaitExp(fixture.device()));
                }
            }
        });
        let count = |name: &str| calls.get(name).copied().unwrap_or(0);
        let left = count("cuEventCreate") - count("cuEventDestroy_v2");
        assert!(left <= 200, "1000 queues leave {left} events");
    });
}
