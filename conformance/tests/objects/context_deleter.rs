//! `urContextSetExtendedDeleter`: called when the context dies, all of them, in order, once.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Mutex;

use ur_conformance::{Fixture, needs_ours, ok, refused};

static CALLED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

extern "C" fn note(data: *mut c_void) {
    CALLED.lock().expect("no panic").push(data.addr());
}

fn called() -> Vec<usize> {
    CALLED.lock().expect("no panic").clone()
}

#[test]
fn urContextSetExtendedDeleter_calls_in_order_when_the_context_dies() {
    let fixture = Fixture::new();
    CALLED.lock().expect("no panic").clear();
    let context = fixture.context_of(&fixture.devices[..1]);
    for number in 1..=3 {
        ok!(Context.pfnSetExtendedDeleter(context.handle(), Some(note), core::ptr::without_provenance_mut(number)));
    }
    let queue = fixture.queue_in(context.handle(), fixture.device(), ur_conformance::ffi::ur_queue_flags_t::empty());
    ok!(Context.pfnRetain(context.handle()));
    ok!(Context.pfnRelease(context.handle()));
    assert!(called().is_empty());
    drop(context);
    assert!(called().is_empty(), "the queue keeps the context");
    drop(queue);
    assert_eq!(called(), [1, 2, 3]);
}

#[test]
fn urContextSetExtendedDeleter_refuses_bad_input() {
    let fixture = Fixture::new();
    CALLED.lock().expect("no panic").clear();
    let context = fixture.context_of(&fixture.devices[..1]);
    refused!(ERROR_INVALID_NULL_HANDLE, Context.pfnSetExtendedDeleter(null_mut(), Some(note), null_mut()));
    needs_ours!("refuse nulls themselves, and handles of other types");
    refused!(ERROR_INVALID_NULL_POINTER, Context.pfnSetExtendedDeleter(context.handle(), None, null_mut()));
    refused!(
        ERROR_INVALID_CONTEXT,
        Context.pfnSetExtendedDeleter(fixture.device().cast(), Some(note), null::<c_void>().cast_mut())
    );
    drop(context);
    assert!(called().is_empty());
}
