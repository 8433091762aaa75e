//! `urUSMPitchedAllocExp` from a USM pool: rows in a block like any other of the pool.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{CBool, ur_result_t as Code, ur_usm_alloc_info_t, ur_usm_desc_t};
use ur_conformance::memory::pattern;
use ur_conformance::pool::{self, Plan};
use ur_conformance::{Fixture, Kind, Pool, ask, ok, query, refused, ur};

/// `urUSMPitchedAllocExp` from a pool.
fn pitched(fixture: &Fixture, pool: &Pool, width: usize, height: usize) -> Result<(*mut c_void, usize), Code> {
    let (mut memory, mut pitch) = (null_mut(), 7);
    let (c, d, out, rows) = (fixture.context(), fixture.device(), &raw mut memory, &raw mut pitch);
    let answer = ur!(USMExp.pfnPitchedAllocExp(c, d, null(), pool.handle(), width, height, 4, out, rows));
    if answer == Code::SUCCESS {
        return Ok((memory, pitch));
    }
    assert!(memory.is_null() && pitch == 7, "a refusal wrote something");
    assert!(!ur_conformance::last_error().is_empty(), "a refusal says why");
    Err(answer)
}

#[test]
fn urUSMPitchedAllocExp_takes_rows_from_a_pool_as_blocks_like_any_other() {
    let fixture = Fixture::new();
    let (queue, c) = (fixture.in_order(), fixture.context());
    let buffer = fixture.memory(Kind::Device, 1 << 20);
    let over = Plan::new().buffer(buffer.pointer(), 1 << 20, Kind::Device, fixture.device()).of(&fixture);
    for pool in [Plan::new().of(&fixture), Plan::new().zeroed().core_of(&fixture), over] {
        for (width, height) in [(1, 1), (100, 10), (512, 3), (513, 7), (4096, 64)] {
            let (memory, pitch) = pitched(&fixture, &pool, width, height).expect("rows");
            assert!(pitch >= width && pitch.is_multiple_of(512), "a pitch of {pitch} for rows of {width}");
            if fixture.sim().is_some() {
                assert_eq!(pitch, width.next_multiple_of(512), "as the native library has it");
                assert!(memory.addr().is_multiple_of(256));
            }
            assert_eq!(pool::used(pool.handle()).0, pitch * height);
            let of = |property| query::get::<usize>(ask!(USM.pfnGetMemAllocInfo(c, memory.cast_const(), property)));
            assert_eq!(of(ur_usm_alloc_info_t::SIZE), pitch * height);
            assert_eq!(of(ur_usm_alloc_info_t::BASE_PTR), memory.addr());
            assert_eq!(of(ur_usm_alloc_info_t::POOL), pool.handle().addr());
            let (source, q, yes) = (pattern(width as u32, width * height), queue.handle(), CBool::TRUE);
            let (mut back, from) = (vec![0u8; width * height], source.as_ptr().cast());
            let (none, no) = (null(), null_mut());
            ok!(Enqueue.pfnUSMMemcpy2D(q, yes, memory, pitch, from, width, width, height, 0, none, no));
            let to = back.as_mut_ptr().cast();
            ok!(Enqueue.pfnUSMMemcpy2D(q, yes, to, width, memory, pitch, width, height, 0, none, no));
            assert!(back == source);
            if height == 3 {
                pool::give(&queue, memory);
                queue.finish();
            } else {
                ok!(USM.pfnFree(c, memory));
            }
            assert_eq!(pool::used(pool.handle()).0, 0);
        }
    }
}

#[test]
fn urUSMPitchedAllocExp_keeps_to_its_pool_s_maximum_and_leaves_other_pools_alone() {
    const MIB: usize = 1 << 20;
    let fixture = Fixture::new();
    let limited = Plan::new().limits(32 * MIB, 0).of(&fixture);
    let other = Plan::new().limits(0, usize::MAX).of(&fixture);
    let queue = fixture.in_order();
    // A block that is out keeps its pages there: of unused ones the native library takes all when a pool is full.
    let out = pool::Take::new(MIB).from(&other).on(&queue);
    queue.finish();
    let before = pool::Figures::of(other.handle());
    // The bytes of the rows fit, their pitches do not.
    assert_eq!(pitched(&fixture, &limited, 300, 80_000), Err(Code::ERROR_OUT_OF_DEVICE_MEMORY));
    let (memory, pitch) = pitched(&fixture, &limited, 300, 40_000).expect("rows within the maximum");
    assert_eq!(pitched(&fixture, &limited, 300, 40_000), Err(Code::ERROR_OUT_OF_DEVICE_MEMORY));
    assert_eq!(pool::used(limited.handle()).0, pitch * 40_000);
    assert_eq!(pool::Figures::of(other.handle()), before, "a full pool had another one changed");
    pool::give(&queue, out);
    ok!(USM.pfnFree(fixture.context(), memory));
    let (memory, _) = pitched(&fixture, &limited, 300, 40_000).expect("what was freed");
    ok!(USM.pfnFree(fixture.context(), memory));
}

#[test]
fn urUSMPitchedAllocExp_from_a_pool_refuses_bad_sizes_descriptions_and_pools_of_others() {
    let fixture = Fixture::over_all_devices();
    let (c, d, pool) = (fixture.context(), fixture.device(), Plan::new().of(&fixture));
    for (width, height) in [(0, 4), (4, 0), (usize::MAX, 2), (1 << 50, 1 << 12), (1 << 40, 1 << 10)] {
        assert_eq!(pitched(&fixture, &pool, width, height), Err(Code::ERROR_INVALID_USM_SIZE), "{width} {height}");
    }
    let (mut memory, mut pitch) = (null_mut(), 7);
    let (m, p, h) = (&raw mut memory, &raw mut pitch, pool.handle());
    for (align, code) in [(3, Code::ERROR_INVALID_VALUE), (1 << 20, Code::ERROR_UNSUPPORTED_ALIGNMENT)] {
        let desc = ur_usm_desc_t { align, ..Default::default() };
        let answer = ur!(USMExp.pfnPitchedAllocExp(c, d, &raw const desc, h, 4, 4, 4, m, p));
        assert_eq!(answer, code, "an alignment of {align}");
    }
    let context = fixture.context_of(&fixture.devices[..1]);
    let stranger = Plan::new().create(context.handle(), d).expect("a pool");
    refused!(ERROR_INVALID_CONTEXT, USMExp.pfnPitchedAllocExp(c, d, null(), stranger.handle(), 4, 4, 4, m, p));
    if let Some(&second) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, USMExp.pfnPitchedAllocExp(c, second, null(), h, 4, 4, 4, m, p));
    }
    let host = fixture.memory(Kind::Host, 1 << 16);
    let over = Plan::new().buffer(host.pointer(), 1 << 16, Kind::Host, null_mut()).of(&fixture);
    refused!(ERROR_INVALID_VALUE, USMExp.pfnPitchedAllocExp(c, d, null(), over.handle(), 4, 4, 4, m, p));
    assert!(memory.is_null());
    assert_eq!(pitch, 7);
}
