//! What an adapter does not support it says so: it answers `UNSUPPORTED_FEATURE`, ours in slots that are all filled.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use ur_conformance::ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::{Fixture, adapter, has_function, loader, needs_ours, ur};

/// The address in a function's slot.
fn slot(table: &AllFunctions, offset: usize) -> usize {
    let at = core::ptr::from_ref(table).wrapping_byte_add(offset).cast::<usize>();
    // SAFETY: offsets of `FUNCTIONS` are those of nullable function pointers in the table.
    unsafe { at.read() }
}

/// The functions of the release under test, each with its place among all.
fn slots() -> impl Iterator<Item = (&'static str, usize)> {
    let known = FUNCTIONS.iter().filter_map(|function| Some((function.name, function.slot?.offset)));
    known.filter(|(name, _)| has_function(name))
}

#[test]
fn every_slot_of_the_adapter_s_table_is_filled() {
    let _fixture = Fixture::new();
    needs_ours!("fill slots of what they do not support; a loader answers for others");
    let table = ur_conformance::adapter_functions();
    let empty: Vec<_> = slots().filter(|&(_, offset)| slot(table, offset) == 0).map(|(name, _)| name).collect();
    assert!(empty.is_empty(), "functions without a slot: {empty:?}");
}

#[test]
fn every_function_of_the_release_is_exported_by_the_loader() {
    let _fixture = Fixture::new();
    let table = &loader().table;
    let missing: Vec<_> = slots().filter(|&(_, offset)| slot(table, offset) == 0).map(|(name, _)| name).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_handle_s_first_word_is_the_same_table() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
    let event = ur_conformance::Launch::new(&kernel, &[1]).event_on(&queue);
    let program = fixture.program("saxpy.ptx");
    let first = |handle: *mut core::ffi::c_void| {
        // SAFETY: as in `every_slot_of_the_adapter_s_table_is_filled`.
        unsafe { handle.cast::<usize>().read() }
    };
    let table = first(adapter().cast());
    for handle in [
        fixture.platform.cast(),
        fixture.device().cast(),
        fixture.context().cast(),
        queue.handle().cast(),
        event.handle().cast(),
        kernel.handle().cast(),
        program.handle().cast(),
    ] {
        assert_eq!(first(handle), table);
    }
}

/// One of every group of functions, called with handles and outputs that are all right. An adapter that supports one of
/// them answers otherwise; then its own tests are elsewhere.
#[test]
fn a_function_that_is_not_supported_says_so_and_touches_no_output() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let list = [program.handle()];
    let mut native = 0;
    let native = &raw mut native;
    let answers = [
        ("urPlatformGetNativeHandle", ur!(Platform.pfnGetNativeHandle(fixture.platform, native))),
        ("urProgramDynamicLinkExp", ur!(ProgramExp.pfnDynamicLinkExp(fixture.context(), 1, list.as_ptr()))),
    ];
    let word = ur_conformance::last_error();
    for (name, answer) in answers {
        if answer != Code::ERROR_UNSUPPORTED_FEATURE {
            println!("{name} answers {answer:?}: supported, so not tried here");
        }
    }
    let unsupported = answers.iter().filter(|(_, answer)| *answer == Code::ERROR_UNSUPPORTED_FEATURE).count();
    if unsupported == answers.len() {
        // SAFETY: a local of this function.
        assert_eq!(unsafe { native.read() }, 0);
        needs_ours!("say of every refusal which function refused");
        assert!(word.contains("urProgramDynamicLinkExp"), "the message names the function: {word}");
    }
}
