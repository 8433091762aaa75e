//! Plain memory that a buffer owns (`urMemBufferCreateWithNativeHandle` with `isNativeHandleOwned`): it is the buffer's alone, and
//! goes back whole.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_context_handle_t, ur_context_info_t, ur_mem_native_properties_t, ur_result_t as Code,
    ur_usm_alloc_info_t, ur_usm_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::{Buffer, Fixture, Kind, ask, child, expect_success, ok, query, refused, ur};

const SIZES: [usize; 2] = [512, 3 << 20];

fn take(fixture: &Fixture, context: ur_context_handle_t, kind: Kind, bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    let answer = memory::allocate(kind, context, fixture.device(), null(), bytes, &raw mut pointer);
    expect_success(answer, "an allocation");
    pointer
}

/// A buffer that is to own memory.
fn own(context: ur_context_handle_t, pointer: *mut c_void, bytes: usize) -> Result<Buffer, Code> {
    let properties = ur_mem_native_properties_t { isNativeHandleOwned: CBool::TRUE, ..Default::default() };
    let (native, mut mem) = (pointer.expose_provenance(), null_mut());
    match ur!(Mem.pfnBufferCreateWithNativeHandle(native, context, &raw const properties, &raw mut mem)) {
        Code::SUCCESS => Ok(Buffer::take(mem, bytes)),
        refused => Err(refused),
    }
}

/// What a buffer owns is neither another's nor the application's to free, whichever context asks.
fn is_one_buffer_s() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.context_of(&[fixture.device()]));
    let owner = fixture.context();
    for (kind, bytes) in Kind::ALL.into_iter().flat_map(|kind| SIZES.map(|bytes| (kind, bytes))) {
        let pointer = take(&fixture, owner, kind, bytes);
        let buffer = own(owner, pointer, bytes).expect("a buffer that owns the memory");
        buffer.write(&queue, &pattern(1, bytes));
        for context in [owner, other.handle()] {
            let second = own(context, pointer, bytes).map(|_| ()).err();
            assert_eq!(second, Some(Code::ERROR_INVALID_VALUE), "{kind:?}, {bytes} bytes");
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, pointer));
        }
        // Nobody was given it in between.
        let fresh = take(&fixture, owner, kind, bytes);
        assert_ne!(fresh, pointer, "{kind:?}, {bytes} bytes");
        memory::write(&queue, fresh, &vec![0xee_u8; bytes]);
        assert!(buffer.read::<u8>(&queue) == pattern(1, bytes), "{kind:?}, {bytes} bytes");
        drop(buffer);
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(owner, pointer));
        ok!(USM.pfnFree(owner, fresh));
        let used: u64 = query::get(ask!(Context.pfnGetInfo(owner, ur_context_info_t::USM_USED_BYTES_EXP)));
        assert_eq!(used, 0, "{kind:?}, {bytes} bytes");
    }
}

#[test]
fn urMemBufferCreateWithNativeHandle_refuses_to_own_what_a_buffer_owns_and_urUSMFree_to_free_it() {
    is_one_buffer_s();
}

#[test]
fn urMemBufferCreateWithNativeHandle_refuses_to_own_what_a_buffer_owns_in_debug_mode_too() {
    let test = "urMemBufferCreateWithNativeHandle_refuses_to_own_what_a_buffer_owns_in_debug_mode_too";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "1")], is_one_buffer_s);
}

/// Before such memory is given out again its own context's queues are asked alone.
#[test]
fn urMemBufferCreateWithNativeHandle_refuses_to_own_pooled_memory_of_another_context() {
    let test = "urMemBufferCreateWithNativeHandle_refuses_to_own_pooled_memory_of_another_context";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let other = fixture.context_of(&[fixture.device()]);
        for (kind, bytes) in Kind::ALL.into_iter().flat_map(|kind| SIZES.map(|bytes| (kind, bytes))) {
            let pointer = take(&fixture, other.handle(), kind, bytes);
            let refused = own(fixture.context(), pointer, bytes).map(|_| ()).err();
            assert_eq!(refused, Some(Code::ERROR_INVALID_VALUE), "{kind:?}, {bytes} bytes");
            ok!(USM.pfnFree(other.handle(), pointer));
        }
    });
}

#[test]
fn urUSMGetMemAllocInfo_knows_memory_that_a_buffer_owns() {
    let fixture = Fixture::new();
    for (kind, expected) in
        Kind::ALL.into_iter().zip([ur_usm_type_t::HOST, ur_usm_type_t::DEVICE, ur_usm_type_t::SHARED])
    {
        let pointer = take(&fixture, fixture.context(), kind, 512);
        let _buffer = own(fixture.context(), pointer, 512).expect("a buffer that owns the memory");
        let inside = pointer.wrapping_byte_add(100).cast_const();
        let told: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), inside, ur_usm_alloc_info_t::TYPE)));
        assert_eq!(ur_usm_type_t(told), expected, "{kind:?}");
    }
}

/// In debug mode the application's memory lies inside of a block, so a release that took it for one would give out memory that
/// reaches into the next.
#[test]
fn urMemRelease_of_a_buffer_that_owns_guarded_memory_gives_the_whole_block_back() {
    let test = "urMemRelease_of_a_buffer_that_owns_guarded_memory_gives_the_whole_block_back";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "1")], || {
        let fixture = Fixture::new();
        let (context, queue) = (fixture.context(), fixture.in_order());
        for (bytes, count) in [(512, 64), (3 << 20, 4)] {
            for kind in Kind::ALL {
                let owned: Vec<_> = (0..count).map(|_| take(&fixture, context, kind, bytes)).collect();
                let buffers: Vec<_> =
                    owned.iter().map(|pointer| own(context, *pointer, bytes).expect("a buffer")).collect();
                let mut known: Vec<_> = owned.iter().map(|pointer| pointer.addr()).collect();
                drop(buffers);
                let again: Vec<_> = (0..count).map(|_| take(&fixture, context, kind, bytes)).collect();
                for (number, pointer) in (0..).zip(&again) {
                    memory::write(&queue, *pointer, &pattern(number, bytes));
                }
                for (number, pointer) in (0..).zip(&again) {
                    assert!(
                        memory::read::<u8>(&queue, *pointer, bytes) == pattern(number, bytes),
                        "{kind:?}, {bytes} bytes"
                    );
                }
                // Wherever a block was, a whole one still begins.
                known.extend(again.iter().map(|pointer| pointer.addr()));
                known.sort_unstable();
                known.dedup();
                let closest = known.windows(2).map(|pair| pair[1] - pair[0]).min();
                assert!(
                    closest.is_none_or(|apart| apart >= bytes + 320),
                    "{kind:?}, {bytes} bytes: {closest:?} bytes apart"
                );
                again.into_iter().for_each(|pointer| ok!(USM.pfnFree(context, pointer)));
            }
        }
    });
}
