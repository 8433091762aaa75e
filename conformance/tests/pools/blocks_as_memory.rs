//! Blocks of pools given to entry points that take any memory: buffers over native memory, pools over memory, hints.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::buffer::Buffer;
use ur_conformance::ffi::{
    CBool, ur_mem_info_t, ur_mem_native_properties_t, ur_result_t as Code, ur_usm_migration_flags_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, NATIVE_POOLS, Plan, Take, give, used};
use ur_conformance::{Fixture, Kind, Queue, ask, child, needs_sim, ok, query, refused, ur};

/// Bytes of a block. Several of them lie further from their pool's start than a block is long.
const BYTES: usize = 1000;

fn blocks(kind: Kind, from: &ur_conformance::Pool, queue: &Queue) -> Vec<*mut c_void> {
    (0..4).map(|_| Take::new(BYTES).kind(kind).from(from).on(queue)).collect()
}

/// `cuMemFree` of a pool's block ruins the pool, and a buffer that goes has no place in a queue's order.
#[test]
fn urMemBufferCreateWithNativeHandle_refuses_to_own_memory_of_a_pool() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let properties = ur_mem_native_properties_t { isNativeHandleOwned: CBool::TRUE, ..Default::default() };
    let context = fixture.context();
    let refuse = |block: *mut c_void, what: &str| {
        let mut mem = null_mut();
        let native = block.expose_provenance();
        let answer = ur!(Mem.pfnBufferCreateWithNativeHandle(native, context, &raw const properties, &raw mut mem));
        assert_eq!((answer, mem.is_null()), (Code::ERROR_INVALID_VALUE, true), "{what}");
        assert!(ur_conformance::last_error().contains("pool"), "{what}: {}", ur_conformance::last_error());
    };
    for kind in pool::kinds(&queue) {
        let pool = Plan::new().of(&fixture);
        let blocks = blocks(kind, &pool, &queue);
        blocks.iter().for_each(|&block| refuse(block, &format!("a block of {kind:?} memory")));
        memory::write(&queue, blocks[0], &pattern(1, BYTES));
        assert!(memory::read::<u8>(&queue, blocks[0], BYTES) == pattern(1, BYTES));
        blocks.iter().for_each(|&block| give(&queue, block));
        assert_eq!(used(pool.handle()).0, 0);
        let (mut mem, native) = (null_mut(), blocks[0].expose_provenance());
        refused!(
            ERROR_INVALID_VALUE,
            Mem.pfnBufferCreateWithNativeHandle(native, context, &raw const properties, &raw mut mem)
        );
        give(&queue, Take::new(BYTES).kind(kind).from(&pool).on(&queue));
        queue.finish();
    }
    // The first block of a buffer starts where the application's allocation does.
    let buffer = fixture.memory(Kind::Device, 1 << 16);
    let pool = Plan::new().buffer(buffer.pointer(), 1 << 16, Kind::Device, fixture.device()).of(&fixture);
    let block = Take::new(BYTES).from(&pool).on(&queue);
    assert_eq!(block, buffer.pointer());
    refuse(block, "a block of a buffer-backed pool");
    give(&queue, block);
    queue.finish();
}

/// What the library tells as the start of a block in a host pool is not the block's.
#[test]
fn urMemBufferCreateWithNativeHandle_over_a_block_of_a_pool_ends_with_the_block() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in pool::kinds(&queue) {
        let pool = Plan::new().of(&fixture);
        let blocks = blocks(kind, &pool, &queue);
        for (index, block) in blocks.iter().enumerate() {
            for offset in [0, 256] {
                let mut mem = null_mut();
                let native = block.expose_provenance() + offset;
                ok!(Mem.pfnBufferCreateWithNativeHandle(native, fixture.context(), null(), &raw mut mem));
                let told: usize = query::get(ask!(Mem.pfnGetInfo(mem, ur_mem_info_t::SIZE)));
                let over = Buffer::take(mem, BYTES - offset);
                assert_eq!(told, BYTES - offset, "block {index} of {kind:?} memory from byte {offset}");
                over.write(&queue, &pattern(3, BYTES - offset));
                let seen: Vec<u8> = memory::read(&queue, block.wrapping_byte_add(offset), BYTES - offset);
                assert!(seen == pattern(3, BYTES - offset), "block {index} of {kind:?} memory from byte {offset}");
            }
        }
        blocks.into_iter().for_each(|block| give(&queue, block));
        queue.finish();
    }
}

#[test]
fn urUSMPoolCreateExp_over_a_block_of_a_pool_may_have_the_block_and_no_byte_more() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in pool::kinds(&queue) {
        let pool = Plan::new().of(&fixture);
        let blocks = blocks(kind, &pool, &queue);
        for (index, &block) in blocks.iter().enumerate() {
            let over = |size| {
                let plan = Plan::new().buffer(block, size, kind, fixture.device());
                plan.create(fixture.context(), fixture.device()).err()
            };
            let what = format!("block {index} of {kind:?} memory");
            assert_eq!(over(BYTES), None, "{what}: {}", ur_conformance::last_error());
            for too_much in [BYTES + 1, 1 << 20, usize::MAX / 2] {
                assert_eq!(over(too_much), Some(Code::ERROR_INVALID_VALUE), "{what}, {too_much} bytes");
            }
        }
        blocks.iter().for_each(|&block| give(&queue, block));
        let freed = Plan::new().buffer(blocks[1], BYTES, kind, fixture.device());
        let answer = freed.create(fixture.context(), fixture.device()).err();
        assert_eq!(answer, Some(Code::ERROR_INVALID_VALUE), "a freed block of {kind:?} memory");
        queue.finish();
    }
}

#[test]
fn urEnqueueUSMPrefetch_of_a_block_of_a_pool_may_have_the_block_and_no_byte_more() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let q = queue.handle();
    for kind in pool::kinds(&queue) {
        let pool = Plan::new().of(&fixture);
        let blocks = blocks(kind, &pool, &queue);
        for (index, &block) in blocks.iter().enumerate() {
            let hint = |offset: usize, size| {
                let flags = ur_usm_migration_flags_t::empty();
                let from = block.wrapping_byte_add(offset).cast_const();
                ur!(Enqueue.pfnUSMPrefetch(q, from, size, flags, 0, null(), null_mut()))
            };
            let what = format!("block {index} of {kind:?} memory");
            assert_eq!((hint(0, BYTES), hint(900, 100)), (Code::SUCCESS, Code::SUCCESS), "{what}");
            assert_eq!(hint(0, BYTES + 1), Code::ERROR_INVALID_SIZE, "{what}");
            assert_eq!(hint(900, 101), Code::ERROR_INVALID_SIZE, "{what}");
        }
        queue.finish();
        blocks.into_iter().for_each(|block| give(&queue, block));
        queue.finish();
    }
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnUSMPrefetch(q, null(), 1, ur_usm_migration_flags_t::empty(), 0, null(), null_mut())
    );
}

/// AMD's library tells no pools apart: to it, a block that another thread gives back just now is memory like any other.
#[test]
fn urUSMFree_refuses_a_pool_s_block_that_another_thread_is_giving_back_to_the_library() {
    let test = "urUSMFree_refuses_a_pool_s_block_that_another_thread_is_giving_back_to_the_library";
    child::in_time(test, &[("UR_USM_MAGAZINE_BYTES", "0"), NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let made = Plan::new().of(&fixture);
        for bytes in [BYTES, 100 << 20] {
            let block = Take::new(bytes).from(&made).on(&queue);
            queue.finish();
            let held = sim.hold_calls("cuMemFreeAsync");
            let address = block.expose_provenance();
            let answer = std::thread::scope(|scope| {
                let giving = scope.spawn(|| give(&queue, core::ptr::with_exposed_provenance_mut(address)));
                held.wait_for_one(|| giving.is_finished());
                let answer = ur!(USM.pfnFree(fixture.context(), block));
                drop(held);
                answer
            });
            assert_eq!(answer, Code::ERROR_INVALID_MEM_OBJECT, "{bytes} bytes");
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), block));
            queue.finish();
        }
        // Nobody's books are off.
        assert_eq!(used(made.handle()).0, 0);
    });
}
