//! Plain memory in debug mode (`UR_USM_POOL_DEBUG`): what is found and told, by the log or, where nobody listens, on standard
//! error, as settings are that cannot be read.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::{CStr, c_char, c_void};
use core::ptr::null_mut;
use std::sync::Mutex;

use ur_conformance::ffi::{ur_logger_level_t, ur_usm_alloc_info_t as info, ur_usm_type_t};
use ur_conformance::memory;
use ur_conformance::pool::Plan;
use ur_conformance::{Fixture, Kind, Queue, adapter, ask, child, ok, query, refused};

use crate::plain::{free, kinds, take};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn keep_line(_: ur_logger_level_t, text: *const c_char, _: *mut c_void) {
    // SAFETY: the adapter gives a C string that lives as long as the call.
    let text = unsafe { CStr::from_ptr(text) };
    LINES.lock().expect("nobody panicked").push(text.to_string_lossy().into_owned());
}

fn take_lines() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().expect("nobody panicked"))
}

/// Runs a body in debug mode, where errors in the log come to [`take_lines`].
#[track_caller]
fn debugged(test: &str, body: impl FnOnce(&Fixture, &Queue)) {
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "1")], || {
        let fixture = Fixture::new();
        ok!(Adapter.pfnSetLoggerCallback(adapter(), Some(keep_line), null_mut(), ur_logger_level_t::ERROR));
        let queue = fixture.in_order();
        body(&fixture, &queue);
    });
}

/// Exactly one line, with all of these words.
#[track_caller]
fn expect_line(words: &[&str]) {
    let told = take_lines();
    assert!(told.len() == 1 && words.iter().all(|word| told[0].contains(word)), "{words:?}: {told:#?}");
}

fn asked_by(kind: Kind) -> &'static str {
    match kind {
        Kind::Device => "urUSMDeviceAlloc",
        Kind::Host => "urUSMHostAlloc",
        Kind::Shared => "urUSMSharedAlloc",
    }
}

const SIZES: [usize; 4] = [100, 4096, 70_000, 3 << 20];

#[test]
fn debug_mode_reports_a_block_that_was_written_beyond_its_end_or_before_its_beginning() {
    let test = "debug_mode_reports_a_block_that_was_written_beyond_its_end_or_before_its_beginning";
    debugged(test, |fixture, queue| {
        let own = std::fs::read_to_string("/proc/thread-self/comm").expect("a name");
        let own = format!("({})", own.trim_end());
        for kind in kinds() {
            for bytes in SIZES {
                let block = fixture.memory(kind, bytes);
                block.write(queue, &vec![1_u8; bytes]);
                drop(block);
                assert_eq!(take_lines(), Vec::<String>::new(), "{kind:?} {bytes}: all of a block is its owner's");
                for (offset, what) in [(bytes as isize, "beyond its end"), (-1, "before its beginning")] {
                    let block = fixture.memory(kind, bytes);
                    let pointer = block.pointer();
                    let at = pointer.wrapping_byte_offset(offset);
                    memory::write(queue, at, &[2_u8]);
                    drop(block);
                    let [start, at] = [pointer, at].map(|pointer| format!("{:#x}", pointer.addr()));
                    expect_line(&[&start, &at, what, asked_by(kind), "urUSMFree", &own]);
                }
            }
        }
    });
}

#[test]
fn debug_mode_fills_what_is_freed_and_reports_who_freed_what_was_written_afterwards() {
    let test = "debug_mode_fills_what_is_freed_and_reports_who_freed_what_was_written_afterwards";
    debugged(test, |fixture, queue| {
        for kind in kinds() {
            for bytes in SIZES {
                let block = take(fixture, fixture.context(), kind, bytes);
                memory::write(queue, block, &vec![1_u8; bytes]);
                free(fixture.context(), block);
                assert!(memory::read::<u8>(queue, block, bytes).iter().all(|byte| *byte == 0xdd), "{kind:?} {bytes}");
                memory::write(queue, block.wrapping_byte_add(bytes / 2), &[2_u8]);
                queue.finish();
                let again: Vec<_> = (0..200).map_while(|_| take_lines_until_report(fixture, kind, bytes)).collect();
                expect_line(&["was written after it was freed by urUSMFree", "first at"]);
                again.into_iter().for_each(|pointer| free(fixture.context(), pointer));
                assert_eq!(take_lines(), Vec::<String>::new());
            }
        }
    });
}

/// A block of a size, unless something is in the log: blocks come back in no order that is promised.
fn take_lines_until_report(fixture: &Fixture, kind: Kind, bytes: usize) -> Option<*mut c_void> {
    let is_told = !LINES.lock().expect("nobody panicked").is_empty();
    (!is_told).then(|| take(fixture, fixture.context(), kind, bytes))
}

#[test]
fn debug_mode_tells_blocks_apart_as_any_mode_does() {
    let test = "debug_mode_tells_blocks_apart_as_any_mode_does";
    debugged(test, |fixture, _| {
        let other = fixture.context_of(&[fixture.device()]);
        for kind in kinds() {
            for bytes in SIZES {
                let [first, second] = [0; 2].map(|_: u8| take(fixture, fixture.context(), kind, bytes));
                for at in [0, bytes / 2, bytes - 1] {
                    let address = first.wrapping_byte_add(at).cast_const();
                    for context in [fixture.context(), other.handle()] {
                        let base: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, address, info::BASE_PTR)));
                        let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(context, address, info::SIZE)));
                        assert_eq!((base, size), (first.addr(), bytes), "{kind:?} {at} of {bytes}");
                    }
                }
                for outside in [first.wrapping_byte_add(bytes), first.wrapping_byte_sub(1)] {
                    let context = fixture.context();
                    let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(context, outside.cast_const(), info::TYPE)));
                    assert_eq!(kind, ur_usm_type_t::UNKNOWN.0, "guards are nobody's");
                    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, outside));
                }
                free(other.handle(), first);
                free(fixture.context(), second);
                for context in [fixture.context(), other.handle()] {
                    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, first));
                }
            }
        }
        assert_eq!(take_lines(), Vec::<String>::new());
    });
}

/// Whoever writes in C sets no callback.
#[test]
fn debug_mode_reports_on_standard_error_where_no_callback_is_set() {
    let test = "debug_mode_reports_on_standard_error_where_no_callback_is_set";
    let variables = [("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "1")];
    child::prints(test, &variables, &["[ERROR]: urUSMFree on", "beyond its end"], || {
        let fixture = Fixture::new();
        // The fixture listens in debug mode.
        ok!(Adapter.pfnSetLoggerCallback(adapter(), None, null_mut(), ur_logger_level_t::QUIET));
        let (queue, block) = (fixture.in_order(), fixture.memory(Kind::Device, 100));
        memory::write(&queue, block.pointer().wrapping_byte_add(100), &[2_u8]);
    });
}

#[test]
fn a_setting_that_is_no_number_is_told_on_standard_error_where_no_callback_is_set() {
    let test = "a_setting_that_is_no_number_is_told_on_standard_error_where_no_callback_is_set";
    let variables = [("UR_USM_POOL_DEBUG", "yes"), ("UR_USM_MAGAZINE_BYTES", "much")];
    let lines = ["[WARNING]: UR_USM_POOL_DEBUG=yes", "[WARNING]: UR_USM_MAGAZINE_BYTES=much"];
    child::prints(test, &variables, &lines, || {
        let fixture = Fixture::new();
        ok!(Adapter.pfnSetLoggerCallback(adapter(), None, null_mut(), ur_logger_level_t::QUIET));
        drop(fixture.memory(Kind::Device, 100));
        drop(Plan::new().of(&fixture));
    });
}
