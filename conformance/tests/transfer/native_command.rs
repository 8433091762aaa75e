//! `urEnqueueNativeCommandExp`: when the function is called, and what the command's event covers.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    ur_command_t, ur_device_handle_t, ur_event_handle_t, ur_event_info_t, ur_exp_enqueue_native_command_flags_t,
    ur_exp_enqueue_native_command_properties_t, ur_mem_flags_t, ur_mem_handle_t, ur_native_handle_t,
    ur_profiling_info_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Buffer, Event, Fixture, Gate, Kind, Queue, ask, needs_sim, ok, query, refused, ur};

const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];

/// What the function is given, and what it saw.
#[derive(Default)]
struct Seen {
    calls: u32,
    queue: usize,
    answer: Option<Code>,
    fill: *mut c_void,
}

extern "C" fn see(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive during the enqueue, which calls this.
    let seen = unsafe { &mut *data.cast::<Seen>() };
    seen.calls += 1;
    seen.queue = queue.addr();
    if !seen.fill.is_null() {
        let value = 5u32;
        let from = (&raw const value).cast();
        seen.answer = Some(ur!(Enqueue.pfnUSMFill(queue, seen.fill, 4, from, 4, 0, null(), null_mut())));
    }
}

fn enqueue(queue: &Queue, seen: &mut Seen, waits: &[ur_event_handle_t], event: *mut ur_event_handle_t) -> Code {
    let (count, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
    let data = core::ptr::from_mut(seen).cast();
    ur!(EnqueueExp.pfnNativeCommandExp(queue.handle(), Some(see), data, 0, null(), null(), count, list, event))
}

fn is_complete(event: &Event) -> bool {
    query::get::<i32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))) == 0
}

#[test]
fn urEnqueueNativeCommandExp_calls_the_function_once_with_the_queue_before_it_returns() {
    let fixture = Fixture::new();
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let mut seen = Seen::default();
        let current = Current::at(Place::LastDevice);
        let event =
            current.after("urEnqueueNativeCommandExp", || event_of(|event| enqueue(&queue, &mut seen, &[], event)));
        drop(current);
        assert_eq!((seen.calls, seen.queue), (1, queue.handle().addr()));
        let command = ur_command_t(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE))));
        assert_eq!(command, ur_command_t::ENQUEUE_NATIVE_EXP);
        event.wait();
        if flags.contains(Flags::PROFILING_ENABLE) {
            let time = |property| query::get::<u64>(ask!(Event.pfnGetProfilingInfo(event.handle(), property)));
            assert!(time(ur_profiling_info_t::COMMAND_START) <= time(ur_profiling_info_t::COMMAND_END));
        }
        queue.finish();
    }
}

#[test]
fn urEnqueueNativeCommandExp_s_event_covers_what_the_function_enqueued_after_its_wait_list() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let memory = fixture.memory(Kind::Host, 4);
        memory.store(0, 0);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&other);
        let mut seen = Seen { fill: memory.pointer(), ..Seen::default() };
        let event = event_of(|event| enqueue(&queue, &mut seen, &[blocked.handle()], event));
        assert_eq!(seen.answer, Some(Code::SUCCESS));
        assert!(!is_complete(&event));
        assert_eq!(memory.load(0), 0, "the function's work does not wait for the list");
        gate.open();
        event.wait();
        assert_eq!(memory.load(0), 5);
        queue.finish();
        other.finish();
    }
}

/// The device's address of a buffer, which makes the device the only one that has its bytes.
fn address(buffer: &Buffer, device: ur_device_handle_t) -> *mut c_void {
    let mut native: ur_native_handle_t = 0;
    ok!(Mem.pfnGetNativeHandle(buffer.handle(), device, &raw mut native));
    core::ptr::with_exposed_provenance_mut(native)
}

#[test]
fn memory_objects_of_urEnqueueNativeCommandExp_are_current_on_the_queue_s_device_and_come_from_there_afterwards() {
    for flags in ORDERS {
        let fixture = Fixture::over_all_devices();
        let (&first, &last) = (fixture.devices.first().expect("a device"), fixture.devices.last().expect("a device"));
        let writer = fixture.queue_in(fixture.context(), first, Flags::empty());
        let queue = fixture.queue_in(fixture.context(), last, flags);
        let (one, two) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 16));
        let there = address(&one, last);
        one.write(&writer, &[7u32; 16]);
        two.write(&writer, &[8u32; 4]);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&writer);
        let (list, waits) = ([one.handle(), two.handle()], [blocked.handle()]);
        // Through UR the function reaches the stream of the list's work on a queue that keeps the order alone.
        let in_order = !flags.contains(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let mut seen = Seen { fill: if in_order { there } else { null_mut() }, ..Seen::default() };
        let (q, data) = (queue.handle(), core::ptr::from_mut(&mut seen).cast());
        let event = event_of(|event| {
            ur!(EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 2, list.as_ptr(), null(), 1, waits.as_ptr(), event))
        });
        assert_eq!((seen.calls, seen.answer), (1, in_order.then_some(Code::SUCCESS)));
        assert!(!is_complete(&event), "{flags:?}: the wait list comes first");
        gate.open();
        event.wait();
        let mut expected = [7u32; 16];
        expected[0] = if in_order { 5 } else { 7 };
        assert_eq!(one.read::<u32>(&writer), expected, "{flags:?}");
        assert_eq!(two.read::<u32>(&writer), [8; 4], "{flags:?}");
    }
}

#[test]
fn a_native_command_whose_memory_cannot_be_brought_calls_nobody() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 1 << 20);
    let (mut seen, mut event) = (Seen::default(), null_mut());
    let data = (&raw mut seen).cast();
    let (q, list) = (queue.handle(), [buffer.handle()]);
    sim.fail("cuMemAlloc_v2", 1, status::UNKNOWN);
    refused!(
        ERROR_ADAPTER_SPECIFIC,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 1, list.as_ptr(), null(), 0, null(), &raw mut event)
    );
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let foreign = Buffer::of(elsewhere.handle(), ur_mem_flags_t::READ_WRITE, 64, null_mut());
    let list = [buffer.handle(), foreign.handle()];
    refused!(
        ERROR_INVALID_CONTEXT,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 2, list.as_ptr(), null(), 0, null(), &raw mut event)
    );
    let list = [buffer.handle(), null_mut()];
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 2, list.as_ptr(), null(), 0, null(), &raw mut event)
    );
    let list: [ur_mem_handle_t; 1] = [q.cast()];
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 1, list.as_ptr(), null(), 0, null(), &raw mut event)
    );
    assert_eq!((seen.calls, event.is_null()), (0, true));
    queue.finish();
}

#[test]
fn urEnqueueNativeCommandExp_refuses_bad_input_and_calls_nobody() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let q = queue.handle();
    let mut seen = Seen::default();
    let data = (&raw mut seen).cast();
    let mut event = null_mut();
    let e = &raw mut event;
    let good = ur_exp_enqueue_native_command_properties_t::default();
    let flags = ur_exp_enqueue_native_command_flags_t::from_bits_retain(0x8000);
    let bad = ur_exp_enqueue_native_command_properties_t { flags, ..good };
    let memories: [ur_mem_handle_t; 1] = [null_mut()];
    let foreign: [ur_event_handle_t; 1] = [q.cast()];
    let (none, list) = (null(), foreign.as_ptr());
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        EnqueueExp.pfnNativeCommandExp(null_mut(), Some(see), data, 0, none, null(), 0, null(), e)
    );
    refused!(ERROR_INVALID_NULL_POINTER, EnqueueExp.pfnNativeCommandExp(q, None, data, 0, none, null(), 0, null(), e));
    refused!(
        ERROR_INVALID_ENUMERATION,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 0, none, &raw const bad, 0, null(), e)
    );
    refused!(
        ERROR_INVALID_EVENT_WAIT_LIST,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 0, none, null(), 1, null(), e)
    );
    refused!(ERROR_INVALID_EVENT, EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 0, none, null(), 1, list, e));
    refused!(ERROR_INVALID_VALUE, EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 1, none, null(), 0, null(), e));
    refused!(
        ERROR_INVALID_VALUE,
        EnqueueExp.pfnNativeCommandExp(q, Some(see), data, 0, memories.as_ptr(), null(), 0, null(), e)
    );
    assert!(event.is_null());
    assert_eq!(seen.calls, 0);
}

#[test]
fn urEnqueueNativeCommandExp_that_cannot_wait_calls_nobody() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&other);
    let (mut seen, mut event) = (Seen::default(), null_mut());
    for call in ["cuEventRecord", "cuStreamWaitEvent"] {
        sim.fail(call, 1, status::UNKNOWN);
        assert_ne!(enqueue(&queue, &mut seen, &[blocked.handle()], &raw mut event), Code::SUCCESS, "{call}");
        sim.clear_faults();
        assert_eq!(seen.calls, 0);
        assert!(event.is_null());
    }
    let event = event_of(|event| enqueue(&queue, &mut seen, &[blocked.handle()], event));
    assert_eq!(seen.calls, 1);
    gate.open();
    event.wait();
    queue.finish();
    other.finish();
}
