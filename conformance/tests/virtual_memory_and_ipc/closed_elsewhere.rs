//! Memory of another process that was closed without the adapter, by a library beside it or with its native context.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::null_mut;

use ur_conformance::memory::is_guarded;
use ur_conformance::native::Streams;
use ur_conformance::{Fixture, Kind, Memory, child, needs_sim, ok, ur};

use crate::shared_memory::{DATA, from_hex, get, to_hex};

const BYTES: usize = 8 << 20;

/// More than the simulated driver keeps of what was freed before it gives addresses out again.
const MOST: usize = 64;

/// An allocation of its own that has the address.
fn at(fixture: &Fixture, address: usize) -> Memory<'_> {
    let mut tries = (0..MOST).map(|_| fixture.memory(Kind::Device, BYTES));
    let found = tries.find(|memory| memory.pointer().addr() == address);
    found.expect("the simulated driver gave the address out again")
}

/// Opens what another process has, has the native library close it, and allocates where it was.
fn allocate_where_memory_was_opened(mut data: Vec<u8>) {
    let fixture = Fixture::new();
    let (c, d, size) = (fixture.context(), fixture.device(), data.len());
    let mut opened = null_mut();
    ok!(IPCExp.pfnOpenMemHandleExp(c, d, data.as_mut_ptr().cast(), size, &raw mut opened));
    let mut context = 0;
    let has_context = ur!(Context.pfnGetNativeHandle(c, &raw mut context)).0 == 0;
    Streams::of(has_context.then_some(context)).close_opened_memory(opened.addr());
    let memory = at(&fixture, opened.addr());
    // Its end frees it, which succeeds.
    drop(memory);
}

#[test]
fn urUSMFree_frees_an_allocation_that_lies_where_memory_of_another_process_was() {
    const NAME: &str = "urUSMFree_frees_an_allocation_that_lies_where_memory_of_another_process_was";
    if let Ok(text) = std::env::var(DATA) {
        return child::in_process::<&str>(NAME, &[], || allocate_where_memory_was_opened(from_hex(&text)));
    }
    let fixture = Fixture::new();
    needs_sim!(fixture);
    if is_guarded() {
        // A guarded block is a part of its native allocation, which the native library closes by its start alone.
        return;
    }
    let memory = fixture.memory(Kind::Device, BYTES);
    let data = get(&fixture, memory.pointer());
    // Without pools each allocation has an address that the native library gave.
    let variables = [(DATA, to_hex(&data.bytes)), ("UR_USM_POOL", "0".to_owned())];
    child::in_process(NAME, &variables, || ());
    ok!(IPCExp.pfnPutMemHandleExp(fixture.context(), data.pointer));
}
