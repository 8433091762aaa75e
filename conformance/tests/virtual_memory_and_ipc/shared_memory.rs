//! `urIPC*MemHandleExp`, in one process and across two.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::fmt::Write as _;
use core::ptr::null_mut;

use ur_conformance::ffi::{ur_device_info_t, ur_usm_alloc_info_t as info, ur_usm_type_t};
use ur_conformance::memory::{self, pattern};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Kind, Launch, ask, child, needs_sim, ok, query, refused};

/// Tells the child what the parent exports.
pub(super) const DATA: &str = "UR_TEST_IPC_DATA";

pub(super) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn from_hex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
    (0..text.len()).step_by(2).map(digits).collect()
}

/// Handle data that are out: where the adapter has them, and a copy.
pub(super) struct Data {
    pub(super) pointer: *mut c_void,
    pub(super) bytes: Vec<u8>,
}

impl Data {
    pub(super) fn of(pointer: *mut c_void, size: usize) -> Self {
        assert!(!pointer.is_null() && size > 0);
        // SAFETY: the adapter gave as many bytes until they are put back.
        let bytes = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), size) }.to_vec();
        Self { pointer, bytes }
    }
}

#[track_caller]
pub(super) fn get(fixture: &Fixture, memory: *mut c_void) -> Data {
    let (mut data, mut size) = (null_mut(), 0);
    ok!(IPCExp.pfnGetMemHandleExp(fixture.context(), memory, &raw mut data, &raw mut size));
    Data::of(data, size)
}

/// Runs the test of this name once more in another process, with these bytes; there `body` runs with them.
#[track_caller]
pub(super) fn in_another_process(test: &str, bytes: impl FnOnce() -> Vec<u8>, body: impl FnOnce(Vec<u8>)) {
    match std::env::var(DATA) {
        Ok(text) => child::in_process::<&str>(test, &[], || body(from_hex(&text))),
        Err(_) => child::in_process(test, &[(DATA, to_hex(&bytes()))], || ()),
    }
}

pub(super) fn is_child() -> bool {
    std::env::var_os(DATA).is_some()
}

#[test]
fn urDeviceGetInfo_says_that_memory_can_be_shared() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::IPC_MEMORY_SUPPORT_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
}

#[test]
fn two_processes_see_each_other_s_bytes_in_memory_that_one_of_them_shares() {
    const NAME: &str = "two_processes_see_each_other_s_bytes_in_memory_that_one_of_them_shares";
    const BYTES: usize = 4 << 20;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    if is_child() {
        return in_another_process(NAME, Vec::new, |mut data| opened_in_the_child(&fixture, &mut data, BYTES));
    }
    // Not the first allocation of the device: its place in the driver's larger blocks must not matter.
    let before = fixture.memory(Kind::Device, 100_000);
    let memory = fixture.memory(Kind::Device, BYTES);
    memory.write(&queue, &pattern(1, BYTES));
    let data = get(&fixture, memory.pointer());
    in_another_process(NAME, || data.bytes.clone(), drop);
    ok!(IPCExp.pfnPutMemHandleExp(fixture.context(), data.pointer));
    let words = memory.read::<u32>(&queue, BYTES / 4);
    assert!(words.iter().all(|&word| word == 0x5eed), "what the other process wrote");
    drop(before);
}

fn opened_in_the_child(fixture: &Fixture, data: &mut [u8], bytes: usize) {
    let queue = fixture.in_order();
    let (c, d, size) = (fixture.context(), fixture.device(), data.len());
    let (mut memory, mut again) = (null_mut(), null_mut());
    ok!(IPCExp.pfnOpenMemHandleExp(c, d, data.as_mut_ptr().cast(), size, &raw mut memory));
    ok!(IPCExp.pfnOpenMemHandleExp(c, d, data.as_mut_ptr().cast(), size, &raw mut again));
    assert_eq!(memory, again, "the same memory has one address");
    let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(c, memory.cast_const(), info::TYPE)));
    assert_eq!(kind, ur_usm_type_t::DEVICE.0);
    let held: usize = query::get(ask!(USM.pfnGetMemAllocInfo(c, memory.cast_const(), info::SIZE)));
    assert!(held >= bytes);
    ok!(IPCExp.pfnCloseMemHandleExp(c, again));
    assert!(memory::read::<u8>(&queue, memory, bytes) == pattern(1, bytes), "the other process's bytes");
    let kernel = fixture.basic(c"fill");
    let words = u32::try_from(bytes / 4).expect("a small block");
    Launch::new(&kernel, &[bytes / 4]).pointer(memory).value(0x5eed_u32).value(words).on(&queue);
    queue.finish();
    // What another process owns is not freed but closed, and that once.
    memory::expect_not_to_be_freed(c, memory);
    ok!(IPCExp.pfnCloseMemHandleExp(c, memory));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnCloseMemHandleExp(c, memory));
    if let Some(sim) = fixture.sim() {
        sim.clear_reports();
        for name in ["cuIpcOpenMemHandle_v2", "cuCtxGetCurrent"] {
            let mut failed = null_mut();
            sim.fail(name, 1, status::UNKNOWN);
            refused!(
                ERROR_ADAPTER_SPECIFIC,
                IPCExp.pfnOpenMemHandleExp(c, d, data.as_mut_ptr().cast(), size, &raw mut failed)
            );
            sim.clear_faults();
            assert!(failed.is_null());
            assert_eq!(sim.objects().get("opened memory"), None, "{name}");
        }
    }
}

/// A block inside of the native allocation is known by what was opened, not by the native library.
#[test]
fn urIPCCloseMemHandleExp_that_fails_natively_leaves_the_memory_open() {
    const NAME: &str = "urIPCCloseMemHandleExp_that_fails_natively_leaves_the_memory_open";
    const BYTES: usize = 5000;
    let fixture = Fixture::new();
    if is_child() {
        return in_another_process(NAME, Vec::new, |mut data| {
            let sim = needs_sim!(fixture);
            let (c, d, mut memory) = (fixture.context(), fixture.device(), null_mut());
            ok!(IPCExp.pfnOpenMemHandleExp(c, d, data.as_mut_ptr().cast(), data.len(), &raw mut memory));
            sim.fail("cuIpcCloseMemHandle", 1, status::UNKNOWN);
            refused!(ERROR_ADAPTER_SPECIFIC, IPCExp.pfnCloseMemHandleExp(c, memory));
            let inner = memory.wrapping_byte_add(17).cast_const();
            let base: usize = query::get(ask!(USM.pfnGetMemAllocInfo(c, inner, info::BASE_PTR)));
            let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(c, inner, info::SIZE)));
            assert_eq!((base, size), (memory.addr(), BYTES));
            ok!(IPCExp.pfnCloseMemHandleExp(c, memory));
            refused!(ERROR_INVALID_VALUE, IPCExp.pfnCloseMemHandleExp(c, memory));
        });
    }
    let blocks = [0; 2].map(|_: u8| fixture.memory(Kind::Device, BYTES));
    let data = get(&fixture, blocks[1].pointer());
    in_another_process(NAME, || data.bytes.clone(), drop);
    ok!(IPCExp.pfnPutMemHandleExp(fixture.context(), data.pointer));
}

/// Blocks that share a native allocation are shared one by one, each with its own address and size.
#[test]
fn blocks_side_by_side_are_opened_as_themselves() {
    const NAME: &str = "blocks_side_by_side_are_opened_as_themselves";
    const BYTES: usize = 5000;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    if is_child() {
        return in_another_process(NAME, Vec::new, |mut data| {
            let (c, d, half) = (fixture.context(), fixture.device(), data.len() / 2);
            let mut opened = [null_mut(); 2];
            for (data, (seed, memory)) in data.chunks_mut(half).zip((1..).zip(opened.iter_mut())) {
                ok!(IPCExp.pfnOpenMemHandleExp(c, d, data.as_mut_ptr().cast(), half, memory));
                let inner = memory.wrapping_byte_add(17).cast_const();
                let base: usize = query::get(ask!(USM.pfnGetMemAllocInfo(c, inner, info::BASE_PTR)));
                let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(c, inner, info::SIZE)));
                assert_eq!((base, size), (memory.addr(), BYTES));
                assert!(memory::read::<u8>(&queue, *memory, BYTES) == pattern(seed, BYTES));
            }
            let far = &mut data[half..];
            // A part that goes beyond what is shared.
            far[half - 4] = 1;
            let mut none = null_mut();
            refused!(
                ERROR_INVALID_VALUE,
                IPCExp.pfnOpenMemHandleExp(c, d, far.as_mut_ptr().cast(), half, &raw mut none)
            );
            assert!(none.is_null());
            memory::write(&queue, opened[1], &[9_u8; BYTES]);
            queue.finish();
            for memory in opened {
                refused!(ERROR_INVALID_VALUE, IPCExp.pfnCloseMemHandleExp(c, memory.wrapping_byte_add(256)));
                ok!(IPCExp.pfnCloseMemHandleExp(c, memory));
                refused!(ERROR_INVALID_VALUE, IPCExp.pfnCloseMemHandleExp(c, memory));
            }
        });
    }
    let blocks = [0; 3].map(|_: u8| fixture.memory(Kind::Device, BYTES));
    for (seed, block) in (0..).zip(&blocks) {
        block.write(&queue, &pattern(seed, BYTES));
    }
    let (mut data, mut size) = (null_mut(), 0);
    let inner = blocks[1].at(256);
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnGetMemHandleExp(fixture.context(), inner, &raw mut data, &raw mut size));
    let [first, second] = [1, 2].map(|at: usize| get(&fixture, blocks[at].pointer()));
    in_another_process(NAME, || [first.bytes.clone(), second.bytes.clone()].concat(), drop);
    for data in [first, second] {
        ok!(IPCExp.pfnPutMemHandleExp(fixture.context(), data.pointer));
    }
    assert!(blocks[0].read::<u8>(&queue, BYTES) == pattern(0, BYTES), "a neighbour");
    assert!(blocks[1].read::<u8>(&queue, BYTES) == pattern(1, BYTES), "a neighbour");
    assert_eq!(blocks[2].read::<u8>(&queue, BYTES), [9; BYTES]);
}

#[test]
fn urIPCGetMemHandleExp_refuses_what_is_not_the_start_of_device_memory() {
    let fixture = Fixture::new();
    let c = fixture.context();
    let device = fixture.memory(Kind::Device, 4096);
    let (mut data, mut size) = (null_mut(), 7usize);
    let (d, s) = (&raw mut data, &raw mut size);
    for kind in Kind::OF_HOST {
        let memory = fixture.memory(kind, 4096);
        refused!(ERROR_INVALID_VALUE, IPCExp.pfnGetMemHandleExp(c, memory.pointer(), d, s));
    }
    let mut heap = vec![0u8; 64];
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnGetMemHandleExp(c, heap.as_mut_ptr().cast(), d, s));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnGetMemHandleExp(c, device.at(256), d, s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetMemHandleExp(c, null_mut(), d, s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetMemHandleExp(c, device.pointer(), null_mut(), s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetMemHandleExp(c, device.pointer(), d, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnGetMemHandleExp(null_mut(), device.pointer(), d, s));
    if let Some(sim) = fixture.sim() {
        sim.fail("cuIpcGetMemHandle", 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, IPCExp.pfnGetMemHandleExp(c, device.pointer(), d, s));
    }
    assert!(data.is_null());
    assert_eq!(size, 7);
}

#[test]
fn urIPCPutMemHandleExp_takes_back_what_is_out_and_nothing_else() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 4096);
    let (first, second) = (get(&fixture, memory.pointer()), get(&fixture, memory.pointer()));
    assert_ne!(first.pointer, second.pointer);
    let c = fixture.context();
    ok!(IPCExp.pfnPutMemHandleExp(c, first.pointer));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutMemHandleExp(c, first.pointer));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutMemHandleExp(c, memory.pointer()));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnPutMemHandleExp(c, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnPutMemHandleExp(null_mut(), second.pointer));
    ok!(IPCExp.pfnPutMemHandleExp(c, second.pointer));
}

#[test]
fn urIPCOpenMemHandleExp_refuses_bytes_that_are_no_handle_data_and_memory_of_its_own_process() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 4096);
    let data = get(&fixture, memory.pointer());
    let (c, d) = (fixture.context(), fixture.device());
    let mut opened = null_mut();
    let out = &raw mut opened;
    let mut own = data.bytes.clone();
    let (bytes, size) = (own.as_mut_ptr().cast(), own.len());
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenMemHandleExp(c, d, bytes, size, out));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenMemHandleExp(c, d, bytes, size - 1, out));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenMemHandleExp(c, d, bytes, 0, out));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnOpenMemHandleExp(c, d, null_mut(), size, out));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnOpenMemHandleExp(c, d, bytes, size, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnOpenMemHandleExp(null_mut(), d, bytes, size, out));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnOpenMemHandleExp(c, null_mut(), bytes, size, out));
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, IPCExp.pfnOpenMemHandleExp(c, other, bytes, size, out));
    }
    for byte in 0..16 {
        let mut wrong = data.bytes.clone();
        wrong[byte] ^= 0x40;
        if byte < 12 {
            let bytes = wrong.as_mut_ptr().cast();
            refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenMemHandleExp(c, d, bytes, size, out));
        }
    }
    let mut empty = data.bytes.clone();
    empty[16..].fill(0);
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenMemHandleExp(c, d, empty.as_mut_ptr().cast(), size, out));
    assert!(opened.is_null());
    for pointer in [memory.pointer(), memory.at(256)] {
        refused!(ERROR_INVALID_VALUE, IPCExp.pfnCloseMemHandleExp(c, pointer));
    }
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnCloseMemHandleExp(c, null_mut()));
    ok!(IPCExp.pfnPutMemHandleExp(c, data.pointer));
}

#[test]
fn handle_data_outlive_the_memory_and_are_put_back_all_the_same() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let memory = fixture.memory(Kind::Device, 4096);
    let data = get(&fixture, memory.pointer());
    drop(memory);
    ok!(IPCExp.pfnPutMemHandleExp(fixture.context(), data.pointer));
    assert!(sim.reports().is_empty());
}
