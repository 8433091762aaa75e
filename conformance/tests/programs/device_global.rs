//! `urEnqueueDeviceGlobalVariableRead`, `urEnqueueDeviceGlobalVariableWrite`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::{CStr, c_char, c_void};
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_device_info_t, ur_program_metadata_t, ur_program_metadata_type_t, ur_program_metadata_value_t,
    ur_program_properties_t, ur_result_t as Code,
};
use ur_conformance::sim::status;
use ur_conformance::{
    Environment, Fixture, Gate, Kind, Launch, Program, Queue, Timeline, ask, needs_sim, ok, owned, query, refused,
    timeline, ur,
};

fn write(queue: &Queue, program: &Program, name: &CStr, offset: usize, words: &[u32]) -> Code {
    let (q, p, from) = (queue.handle(), program.handle(), words.as_ptr().cast());
    let bytes = size_of_val(words);
    ur!(Enqueue.pfnDeviceGlobalVariableWrite(
        q,
        p,
        name.as_ptr(),
        CBool::TRUE,
        bytes,
        offset,
        from,
        0,
        null(),
        null_mut()
    ))
}

#[track_caller]
fn read<const N: usize>(queue: &Queue, program: &Program, name: &CStr, offset: usize) -> [u32; N] {
    let mut words = [0; N];
    let (q, p, to) = (queue.handle(), program.handle(), words.as_mut_ptr().cast());
    let n = name.as_ptr();
    ok!(Enqueue.pfnDeviceGlobalVariableRead(q, p, n, CBool::TRUE, 4 * N, offset, to, 0, null(), null_mut()));
    words
}

#[test]
fn urDeviceGetInfo_says_that_variables_can_be_read_and_written() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::GLOBAL_VARIABLE_SUPPORT;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
}

#[test]
fn variables_are_read_as_the_program_has_them_and_kernels_see_what_is_written() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("basic.ptx");
    assert_eq!(read(&queue, &program, c"table", 0), [1, 2, 4, 8, 16, 32, 64, 128]);
    assert_eq!(read(&queue, &program, c"table", 12), [8, 16]);
    assert_eq!(read(&queue, &program, c"counter", 0), [7]);
    assert_eq!(read(&queue, &program, c"scale", 0), [2.5f32.to_bits()]);
    assert_eq!(write(&queue, &program, c"table", 4, &[70, 71]), Code::SUCCESS);
    assert_eq!(write(&queue, &program, c"counter", 0, &[41]), Code::SUCCESS);
    let kernel = fixture.kernel(&program, c"module_variables");
    let (out, scaled) = (fixture.memory(Kind::Device, 36), fixture.memory(Kind::Device, 4));
    Launch::new(&kernel, &[8]).pointer(out.pointer()).pointer(scaled.pointer()).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 9), [1, 70, 71, 8, 16, 32, 64, 128, 42]);
    assert_eq!(read(&queue, &program, c"counter", 0), [42]);
    // Another program of the same image has variables of its own.
    let other = fixture.program("basic.ptx");
    assert_eq!(read(&queue, &other, c"counter", 0), [7]);
}

#[test]
fn reading_and_writing_are_commands_of_their_queue() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("basic.ptx");
    let kernel = fixture.kernel(&program, c"module_variables");
    let (out, found) = (fixture.memory(Kind::Device, 64), fixture.memory(Kind::Host, 64));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let five = fixture.memory(Kind::Host, 4);
    five.store(0, 5);
    let (q, p, name) = (queue.handle(), program.handle(), c"counter".as_ptr());
    let (from, to) = (five.pointer(), found.pointer());
    ok!(Enqueue.pfnDeviceGlobalVariableWrite(q, p, name, CBool::FALSE, 4, 0, from, 0, null(), null_mut()));
    Launch::new(&kernel, &[8]).pointer(out.pointer()).pointer(out.at(60)).on(&queue);
    let event = owned::event_of(|event| {
        ur!(Enqueue.pfnDeviceGlobalVariableRead(q, p, name, CBool::FALSE, 4, 0, to, 0, null(), event))
    });
    assert!(!gate.has_passed());
    gate.open();
    event.wait();
    assert_eq!(found.load(0), 6);
}

/// The copy waits in the driver until its stream gets there, and the stream waits for the gate.
#[test]
fn urTimelineSignalExt_does_not_wait_for_a_variable_that_is_read_to_the_heap_behind_it() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let (program, mut found) = (fixture.program("basic.ptx"), [0u32]);
    let mut gate = Gate::new(&fixture);
    queue.wait_for(&timeline, 1);
    gate.block(&queue);
    let (q, p, name, to) = (queue.handle(), program.handle(), c"counter".as_ptr(), found.as_mut_ptr().cast());
    ok!(Enqueue.pfnDeviceGlobalVariableRead(q, p, name, CBool::FALSE, 4, 0, to, 0, null(), null_mut()));
    timeline.signal(1);
    assert!(!gate.has_passed());
    gate.open();
    queue.finish();
    assert_eq!(found, [7]);
}

#[test]
fn a_program_s_metadata_tell_the_symbol_behind_a_name() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Environment::get().image("basic.ptx");
    // 8 bytes of length, then the symbol.
    let symbol = *b"\x05\0\0\0\0\0\0\0table";
    let entry = ur_program_metadata_t {
        pName: c"my_variable@global_id_mapping".as_ptr(),
        type_: ur_program_metadata_type_t::BYTE_ARRAY,
        size: symbol.len(),
        value: ur_program_metadata_value_t { pData: symbol.as_ptr().cast_mut().cast() },
    };
    let properties = ur_program_properties_t { count: 1, pMetadatas: &raw const entry, ..Default::default() };
    let (mut device, mut length, mut bytes) = (fixture.device(), image.len(), image.as_ptr());
    let mut program = null_mut();
    ok!(Program.pfnCreateWithBinary(
        fixture.context(),
        1,
        &raw mut device,
        &raw mut length,
        &raw mut bytes,
        &raw const properties,
        &raw mut program
    ));
    let program = Program::take(program);
    ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    assert_eq!(read(&queue, &program, c"my_variable", 0), [1, 2]);
    assert_eq!(read(&queue, &program, c"table", 0), [1, 2]);
}

#[test]
fn variables_refuse_names_ranges_and_programs_that_are_not_theirs() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("basic.ptx");
    let mut words = [9u32; 8];
    let mut event = null_mut();
    let mut both = |q, p, name: *const c_char, bytes, offset, data: *mut c_void, expected: Code| {
        let (f, out) = (CBool::TRUE, &raw mut event);
        let wrote = ur!(Enqueue.pfnDeviceGlobalVariableWrite(q, p, name, f, bytes, offset, data, 0, null(), out));
        let read = ur!(Enqueue.pfnDeviceGlobalVariableRead(q, p, name, f, bytes, offset, data, 0, null(), out));
        assert_eq!((wrote, read), (expected, expected), "{bytes} bytes at {offset}");
        assert!(event.is_null());
    };
    let (q, p, data) = (queue.handle(), program.handle(), words.as_mut_ptr().cast::<c_void>());
    let table = c"table".as_ptr();
    both(q, p, c"no_such_variable".as_ptr(), 4, 0, data, Code::ERROR_INVALID_VALUE);
    both(q, p, c"".as_ptr(), 4, 0, data, Code::ERROR_INVALID_VALUE);
    both(q, p, table, 36, 0, data, Code::ERROR_INVALID_VALUE);
    both(q, p, table, 4, 29, data, Code::ERROR_INVALID_VALUE);
    both(q, p, table, 4, usize::MAX, data, Code::ERROR_INVALID_VALUE);
    both(q, p, table, 0, 0, data, Code::ERROR_INVALID_SIZE);
    both(q, p, null(), 4, 0, data, Code::ERROR_INVALID_NULL_POINTER);
    both(q, p, table, 4, 0, null_mut(), Code::ERROR_INVALID_NULL_POINTER);
    both(null_mut(), p, table, 4, 0, data, Code::ERROR_INVALID_NULL_HANDLE);
    both(q, null_mut(), table, 4, 0, data, Code::ERROR_INVALID_NULL_HANDLE);
    let image = Environment::get().image("basic.ptx");
    let unbuilt = fixture.unbuilt(&image).expect("a program");
    both(q, unbuilt.handle(), table, 4, 0, data, Code::ERROR_INVALID_PROGRAM_EXECUTABLE);
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let foreign = fixture.queue_in(elsewhere.handle(), fixture.device(), Default::default());
    both(foreign.handle(), p, table, 4, 0, data, Code::ERROR_INVALID_PROGRAM_EXECUTABLE);
    assert_eq!(words, [9; 8]);
    assert_eq!(read(&queue, &program, c"table", 0), [1, 2, 4, 8, 16, 32, 64, 128], "nothing was written");
}

#[test]
fn a_native_failure_of_a_variable_is_told() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("basic.ptx");
    let sim = needs_sim!(fixture);
    for name in ["cuModuleGetGlobal_v2", "cuMemcpyAsync"] {
        let mut word = 3u32;
        let (q, p, n, to) = (queue.handle(), program.handle(), c"counter".as_ptr(), (&raw mut word).cast());
        sim.fail(name, 1, status::UNKNOWN);
        refused!(
            ERROR_ADAPTER_SPECIFIC,
            Enqueue.pfnDeviceGlobalVariableRead(q, p, n, CBool::TRUE, 4, 0, to, 0, null(), null_mut())
        );
        assert_eq!(word, 3, "{name}");
    }
    assert_eq!(read(&queue, &program, c"counter", 0), [7]);
}
