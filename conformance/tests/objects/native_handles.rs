//! Native handles both ways: what they name, who looks after them, and that work which came by another way counts.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_context_info_t, ur_context_native_properties_t, ur_device_info_t, ur_event_handle_t, ur_event_info_t,
    ur_event_native_properties_t, ur_event_status_t as Status, ur_kernel_info_t, ur_native_handle_t,
    ur_profiling_info_t, ur_program_build_info_t, ur_program_info_t, ur_program_native_properties_t, ur_queue_flags_t,
    ur_queue_info_t, ur_queue_native_properties_t, ur_queue_properties_t, ur_result_t as Code,
    ur_structure_type_t as Tag,
};
use ur_conformance::native::Streams;
use ur_conformance::sim::status;
use ur_conformance::{
    Context, Event, Fixture, Gate, Kernel, Kind, Launch, Program, Queue, adapter, ask, expect_code, needs_ours,
    needs_sim, ok, query, refused, ur,
};

const NATIVE: usize = 0x5a5a;

fn native_of(call: impl FnOnce(*mut ur_native_handle_t) -> Code) -> ur_native_handle_t {
    let mut native: ur_native_handle_t = NATIVE;
    expect_code(call(&raw mut native), &[Code::SUCCESS], "a native handle");
    native
}

pub(super) fn of_queue(queue: &Queue) -> ur_native_handle_t {
    native_of(|out| ur!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), out)))
}

fn of_event(event: &Event) -> ur_native_handle_t {
    native_of(|out| ur!(Event.pfnGetNativeHandle(event.handle(), out)))
}

/// A context's native handle; none where the library has no contexts, which it must say.
pub(super) fn of_context(fixture: &Fixture) -> Option<usize> {
    let mut native: ur_native_handle_t = NATIVE;
    match ur!(Context.pfnGetNativeHandle(fixture.context(), &raw mut native)) {
        Code::SUCCESS => Some(native),
        code => {
            expect_code(code, &[Code::ERROR_UNSUPPORTED_FEATURE], "urContextGetNativeHandle");
            assert_eq!(native, NATIVE, "a refused question touched its output");
            None
        }
    }
}

pub(super) fn owning(owned: bool) -> ur_queue_native_properties_t {
    ur_queue_native_properties_t {
        stype: Tag::QUEUE_NATIVE_PROPERTIES,
        isNativeHandleOwned: CBool::from(owned),
        ..Default::default()
    }
}

pub(super) fn adopt_queue(
    fixture: &Fixture,
    native: ur_native_handle_t,
    properties: &ur_queue_native_properties_t,
) -> Queue {
    let mut queue = null_mut();
    let (context, device) = (fixture.context(), fixture.device());
    ok!(Queue.pfnCreateWithNativeHandle(native, context, device, core::ptr::from_ref(properties), &raw mut queue));
    Queue::take(queue)
}

pub(super) fn adopt_event(fixture: &Fixture, native: ur_native_handle_t, owned: bool) -> Event {
    let properties = ur_event_native_properties_t {
        stype: Tag::EVENT_NATIVE_PROPERTIES,
        isNativeHandleOwned: CBool::from(owned),
        ..Default::default()
    };
    let mut event = null_mut();
    ok!(Event.pfnCreateWithNativeHandle(native, fixture.context(), &raw const properties, &raw mut event));
    Event::take(event)
}

pub(super) fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn is_empty(queue: &Queue) -> bool {
    query::get::<u8>(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY))) != 0
}

#[test]
fn a_device_s_native_handle_leads_back_to_the_device() {
    let fixture = Fixture::new();
    for &device in &fixture.devices {
        let native = native_of(|out| ur!(Device.pfnGetNativeHandle(device, out)));
        let references = || query::get::<u32>(ask!(Device.pfnGetInfo(device, ur_device_info_t::REFERENCE_COUNT)));
        let before = references();
        let mut found = null_mut();
        ok!(Device.pfnCreateWithNativeHandle(native, adapter(), null(), &raw mut found));
        assert_eq!((found, references()), (device, before));
        ok!(Device.pfnRelease(found));
    }
    needs_ours!("have numbers as native handles of devices, and refuse others");
    let mut found = null_mut();
    for wrong in [fixture.devices.len(), 1 << 31, usize::MAX] {
        refused!(ERROR_INVALID_DEVICE, Device.pfnCreateWithNativeHandle(wrong, adapter(), null(), &raw mut found));
    }
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnCreateWithNativeHandle(0, adapter(), null(), null_mut()));
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnGetNativeHandle(fixture.device(), null_mut()));
    assert!(found.is_null());
}

#[test]
fn a_platform_has_no_native_handle_and_says_so() {
    let fixture = Fixture::new();
    let (mut native, mut platform) = (NATIVE, null_mut());
    refused!(ERROR_UNSUPPORTED_FEATURE, Platform.pfnGetNativeHandle(fixture.platform, &raw mut native));
    refused!(
        ERROR_UNSUPPORTED_FEATURE,
        Platform.pfnCreateWithNativeHandle(native, adapter(), null(), &raw mut platform)
    );
    assert!(native == NATIVE && platform.is_null());
}

#[test]
fn a_context_s_native_handle_leads_to_a_context_of_the_same_device() {
    let fixture = Fixture::new();
    let Some(native) = of_context(&fixture) else {
        println!("skipped: the native library has no contexts");
        return;
    };
    let devices = [fixture.device()];
    for (count, list) in [(0, null()), (1, devices.as_ptr())] {
        let mut made = null_mut();
        ok!(Context.pfnCreateWithNativeHandle(native, adapter(), count, list, null(), &raw mut made));
        let context = Context::take(made);
        let of: Vec<*mut core::ffi::c_void> =
            query::list(ask!(Context.pfnGetInfo(context.handle(), ur_context_info_t::DEVICES)));
        assert_eq!(of, [fixture.device().cast()]);
        let queue = fixture.queue_in(context.handle(), fixture.device(), ur_queue_flags_t::empty());
        queue.finish();
        let again = native_of(|out| ur!(Context.pfnGetNativeHandle(context.handle(), out)));
        assert_eq!(again, native, "one primary context a device");
    }
    let mut made = null_mut();
    let out = &raw mut made;
    refused!(ERROR_INVALID_NULL_HANDLE, Context.pfnCreateWithNativeHandle(0, adapter(), 0, null(), null(), out));
    refused!(ERROR_INVALID_CONTEXT, Context.pfnCreateWithNativeHandle(NATIVE, adapter(), 0, null(), null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Context.pfnCreateWithNativeHandle(native, adapter(), 1, null(), null(), out));
    if fixture.devices.len() > 1 {
        let other = [fixture.devices[1]];
        refused!(
            ERROR_INVALID_CONTEXT,
            Context.pfnCreateWithNativeHandle(native, adapter(), 1, other.as_ptr(), null(), out)
        );
    }
    assert!(made.is_null());
}

#[test]
fn a_native_context_that_is_owned_is_given_back_with_the_context_and_not_before() {
    let fixture = Fixture::new();
    let Some(native) = of_context(&fixture) else {
        println!("skipped: the native library has no contexts");
        return;
    };
    let cuda = ur_conformance::native::Cuda::loaded().expect("only CUDA has contexts");
    cuda.retain_primary(0);
    let properties = ur_context_native_properties_t {
        stype: Tag::CONTEXT_NATIVE_PROPERTIES,
        isNativeHandleOwned: CBool::TRUE,
        ..Default::default()
    };
    let mut made = null_mut();
    ok!(Context.pfnCreateWithNativeHandle(native, adapter(), 0, null(), &raw const properties, &raw mut made));
    let context = Context::take(made);
    let queue = fixture.queue_in(context.handle(), fixture.device(), ur_queue_flags_t::empty());
    queue.finish();
    // What is left when all is gone, the fixture looks at: the retain above is nobody's else to give back.
}

#[test]
fn work_that_somebody_else_puts_on_a_queue_s_stream_counts() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let ends = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&queue);
    ends.wait();
    queue.finish();
    assert!(is_empty(&queue));
    let stranger = adopt_queue(&fixture, of_queue(&queue), &owning(false));
    let mut gate = Gate::new(&fixture);
    gate.block(&stranger);
    assert!(!is_empty(&queue), "the queue's stream is busy with work that is not the queue's");
    let mut event = null_mut();
    ok!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), &raw mut event));
    let event = Event::take(event);
    assert_eq!(status(&event), Status::SUBMITTED, "everything on the stream includes what is not the queue's");
    gate.open();
    queue.finish();
    assert!(gate.has_passed(), "finish waits for all of the stream");
    assert_eq!(status(&event), Status::COMPLETE);
    stranger.finish();
}

#[test]
fn a_stream_ordered_free_comes_after_what_somebody_else_put_on_the_stream() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (q, mut memory) = (queue.handle(), null_mut());
    ok!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 256, null(), 0, null(), &raw mut memory, null_mut()));
    queue.finish();
    let stranger = adopt_queue(&fixture, of_queue(&queue), &owning(false));
    let mut gate = Gate::new(&fixture);
    gate.block(&stranger);
    let mut event = null_mut();
    ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), memory, 0, null(), &raw mut event));
    let event = Event::take(event);
    assert_eq!(status(&event), Status::SUBMITTED, "a free needs no work of the stream, and still has its place there");
    gate.open();
    queue.finish();
    assert_eq!(status(&event), Status::COMPLETE);
    stranger.finish();
}

#[test]
fn urQueueFinish_asks_the_stream_that_somebody_else_has() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    Launch::new(&fixture.basic(c"empty"), &[1]).on(&queue);
    queue.finish();
    sim.expect_calls(&[], || queue.finish());
    let _ = of_queue(&queue);
    for _ in 0..2 {
        sim.expect_calls(&[("cuStreamSynchronize", 1)], || queue.finish());
    }
}

#[test]
fn a_queue_over_a_foreign_stream_runs_and_leaves_the_stream_or_destroys_it_as_told() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"iota");
    let out = fixture.memory(Kind::Device, 400);
    let native = Streams::of(of_context(&fixture));
    for owned in [false, true] {
        let stream = native.stream();
        let queue = adopt_queue(&fixture, stream, &owning(owned));
        assert_eq!(of_queue(&queue), stream);
        out.write(&queue, &[7u32; 100]);
        Launch::new(&kernel, &[100]).pointer(out.pointer()).value(100u32).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 100), (0..100).collect::<Vec<u32>>());
        queue.finish();
        drop(queue);
        if !owned {
            // Fails when the queue has destroyed it; of the owned one, the fixture sees whether it is left behind.
            native.destroy_stream(stream);
        }
    }
}

#[test]
fn urQueueCreateWithNativeHandle_finds_the_device_of_the_stream_and_refuses_another_one() {
    let fixture = Fixture::over_all_devices();
    let own = fixture.in_order();
    let stream = of_queue(&own);
    let mut made = null_mut();
    ok!(Queue.pfnCreateWithNativeHandle(stream, fixture.context(), null_mut(), null(), &raw mut made));
    let queue = Queue::take(made);
    let of: *mut core::ffi::c_void = query::get(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::DEVICE)));
    assert_eq!(of, fixture.device().cast());
    let mut made = null_mut();
    let (context, out) = (fixture.context(), &raw mut made);
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, Queue.pfnCreateWithNativeHandle(stream, context, other, null(), out));
    }
    for default in 0..=2 {
        let device = fixture.device();
        refused!(ERROR_UNSUPPORTED_FEATURE, Queue.pfnCreateWithNativeHandle(default, context, device, null(), out));
    }
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Queue.pfnCreateWithNativeHandle(stream, context, fixture.device(), null(), null_mut())
    );
    refused!(ERROR_INVALID_NULL_POINTER, Queue.pfnGetNativeHandle(own.handle(), null_mut(), null_mut()));
    assert!(made.is_null());
}

#[test]
fn a_queue_over_a_foreign_stream_is_timed_when_it_is_asked_to_be() {
    let fixture = Fixture::new();
    let own = fixture.in_order();
    let mut chained = ur_queue_properties_t {
        stype: Tag::QUEUE_PROPERTIES,
        flags: ur_queue_flags_t::PROFILING_ENABLE,
        ..Default::default()
    };
    let properties = ur_queue_native_properties_t { pNext: core::ptr::from_mut(&mut chained).cast(), ..owning(false) };
    let queue = adopt_queue(&fixture, of_queue(&own), &properties);
    let event = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&queue);
    event.wait();
    let time = |property| query::get::<u64>(ask!(Event.pfnGetProfilingInfo(event.handle(), property)));
    assert!(time(ur_profiling_info_t::COMMAND_START) <= time(ur_profiling_info_t::COMMAND_END));
}

#[test]
fn a_queue_that_asks_for_it_keeps_an_order_with_the_native_default_stream_and_no_other_queue_does() {
    const LEGACY: usize = 0;
    let fixture = Fixture::new();
    let of_default = ur_queue_flags_t::SYNC_WITH_DEFAULT_STREAM | ur_queue_flags_t::USE_DEFAULT_STREAM;
    let apart = fixture.in_order();
    // The device's native context is there once a queue is.
    let native = Streams::of(of_context(&fixture));
    let raw = native.event();
    for flag in of_default.iter() {
        for order in [ur_queue_flags_t::empty(), ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let queue = fixture.queue(flag | order);
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            native.record(raw, LEGACY);
            assert_eq!(native.query(raw), 600, "{flag:?} {order:?}: the default stream waits for the queue");
            gate.open();
            queue.finish();
        }
    }
    let mut gate = Gate::new(&fixture);
    gate.block(&apart);
    native.record(raw, LEGACY);
    while native.query(raw) == 600 {
        std::thread::yield_now();
    }
    assert!(!gate.has_passed(), "the default stream waits for no other queue");
    gate.open();
    apart.finish();
    native.destroy_event(raw);
}

#[test]
fn an_event_s_native_handle_is_done_when_the_event_is() {
    let fixture = Fixture::new();
    let native = Streams::of(of_context(&fixture));
    let queue = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    let event = gate.block_event(&queue);
    let raw = of_event(&event);
    assert_eq!(of_event(&event), raw, "one native event an event");
    assert_eq!(native.query(raw), 600, "the gate is closed");
    // Later work is none of the event's.
    let mut later = Gate::new(&fixture);
    later.block(&queue);
    gate.open();
    event.wait();
    assert_eq!(native.query(raw), 0);
    assert!(!later.has_passed());
    later.open();
    queue.finish();
    // An event that is known to be complete has one too.
    let done = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&queue);
    queue.finish();
    let raw = of_event(&done);
    queue.finish();
    assert_eq!(native.query(raw), 0);
}

#[test]
fn an_event_of_a_native_one_is_waited_for_by_host_and_queues() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.out_of_order());
    let mut gate = Gate::new(&fixture);
    let native = Streams::of(of_context(&fixture));
    let raw = native.event();
    gate.block(&queue);
    native.record(raw, of_queue(&queue));
    let event = adopt_event(&fixture, raw, false);
    assert_eq!(of_event(&event), raw, "the handle comes back");
    assert_eq!(status(&event), Status::SUBMITTED);
    let of_queue: *mut core::ffi::c_void =
        query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_QUEUE)));
    assert!(of_queue.is_null(), "no queue is behind it");
    let context: *mut core::ffi::c_void = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::CONTEXT)));
    assert_eq!(context, fixture.context().cast());
    let mut time = 0u64;
    let out = (&raw mut time).cast();
    let start = ur_profiling_info_t::COMMAND_START;
    refused!(ERROR_PROFILING_INFO_NOT_AVAILABLE, Event.pfnGetProfilingInfo(event.handle(), start, 8, out, null_mut()));

    let after = fixture.memory(Kind::Host, 4);
    after.store(0, 0);
    let fill = fixture.basic(c"fill");
    let launch = Launch::new(&fill, &[1]).pointer(after.pointer()).value(9u32).value(1u32).after(&[&event]);
    let (first, second) = (launch.event_on(&other), launch.event_on(&fixture.in_order()));
    assert_eq!((status(&first), status(&second), after.load(0)), (Status::SUBMITTED, Status::SUBMITTED, 0));
    gate.open();
    event.wait();
    assert_eq!(status(&event), Status::COMPLETE);
    let list: [ur_event_handle_t; 2] = [first.handle(), second.handle()];
    ok!(Event.pfnWait(2, list.as_ptr()));
    assert_eq!(after.load(0), 9);
    drop(event);
    native.destroy_event(raw);
    queue.finish();
}

/// In the other context the event is of another device, or of the same.
#[test]
fn an_event_of_a_native_one_is_waited_for_in_another_context() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let fill = fixture.basic(c"fill");
    for &device in &fixture.devices {
        let other = fixture.context_of(&[device]);
        let foreign = fixture.queue_in(other.handle(), device, ur_queue_flags_t::empty());
        let after = fixture.memory(Kind::Host, 4);
        after.store(0, 0);
        let mut gate = Gate::new(&fixture);
        let native = Streams::of(of_context(&fixture));
        let raw = native.event();
        gate.block(&queue);
        native.record(raw, of_queue(&queue));
        let event = adopt_event(&fixture, raw, false);
        let list = [event.handle()];
        let wait =
            ur_conformance::owned::event_of(|out| ur!(Enqueue.pfnEventsWait(foreign.handle(), 1, list.as_ptr(), out)));
        let launch = Launch::new(&fill, &[1]).pointer(after.pointer()).value(9u32).value(1u32).after(&[&wait]);
        let last = launch.event_on(&fixture.in_order());
        assert_eq!([&wait, &last].map(status), [Status::SUBMITTED; 2]);
        assert_eq!(after.load(0), 0);
        gate.open();
        last.wait();
        assert_eq!((after.load(0), status(&event)), (9, Status::COMPLETE));
        drop((event, wait));
        native.destroy_event(raw);
        foreign.finish();
    }
    queue.finish();
}

#[test]
fn a_native_event_that_is_owned_goes_with_the_event() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let native = Streams::of(of_context(&fixture));
    let raw = native.event();
    native.record(raw, of_queue(&queue));
    let event = adopt_event(&fixture, raw, true);
    event.wait();
    drop(event);
    // The fixture fails if it is left behind; destroying it here is what must not be needed.
    let mut event = null_mut();
    let (context, out) = (fixture.context(), &raw mut event);
    refused!(ERROR_INVALID_NULL_HANDLE, Event.pfnCreateWithNativeHandle(0, null_mut(), null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Event.pfnCreateWithNativeHandle(1, context, null(), null_mut()));
    assert!(event.is_null());
}

#[test]
fn urEventCreateWithNativeHandle_of_0_gives_an_event_that_is_complete() {
    let fixture = Fixture::over_all_devices();
    fixture.allow_late_releases();
    let native = Streams::of(of_context(&fixture));
    let kernel = fixture.basic(c"fill");
    for owned in [false, true] {
        let event = adopt_event(&fixture, 0, owned);
        assert_eq!(status(&event), Status::COMPLETE);
        event.wait();
        assert_eq!(event.call_back().recv(), Ok(()));
        let raw = of_event(&event);
        assert_eq!((raw != 0, native.query(raw)), (true, 0), "its native event is done");
        for device in &fixture.devices {
            for flags in [ur_queue_flags_t::empty(), ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
                let queue = fixture.queue_in(fixture.context(), *device, flags);
                let list = [event.handle()];
                ok!(Enqueue.pfnEventsWait(queue.handle(), 1, list.as_ptr(), null_mut()));
                ok!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 1, list.as_ptr(), null_mut()));
                queue.finish();
            }
        }
        let out = fixture.memory(Kind::Device, 4);
        let queue = fixture.in_order();
        Launch::new(&kernel, &[1]).pointer(out.pointer()).value(5u32).value(1u32).after(&[&event]).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 1), [5]);
        let mut time = 0u64;
        let (start, time) = (ur_profiling_info_t::COMMAND_START, (&raw mut time).cast());
        refused!(
            ERROR_PROFILING_INFO_NOT_AVAILABLE,
            Event.pfnGetProfilingInfo(event.handle(), start, 8, time, null_mut())
        );
    }
}

#[test]
fn urEventCreateWithNativeHandle_of_0_that_fails_natively_leaves_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    // The device's native context is there once a queue is.
    let _queue = fixture.in_order();
    sim.fail("cuEventCreate", 1, ur_conformance::sim::status::OUT_OF_MEMORY);
    let mut event = null_mut();
    let (context, out) = (fixture.context(), &raw mut event);
    refused!(ERROR_OUT_OF_DEVICE_MEMORY, Event.pfnCreateWithNativeHandle(0, context, null(), out));
    assert!(event.is_null());
    assert_eq!(status(&adopt_event(&fixture, 0, false)), Status::COMPLETE);
}

#[test]
fn urEventGetInfo_COMMAND_QUEUE_gives_a_queue_that_can_be_asked_for_its_native_handle() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in [
        ur_queue_flags_t::empty(),
        ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE,
        ur_queue_flags_t::PROFILING_ENABLE,
        ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE | ur_queue_flags_t::PROFILING_ENABLE,
    ] {
        let queue = fixture.queue(flags);
        let events: Vec<Event> = (0..10).map(|_| Launch::new(&kernel, &[1]).event_on(&queue)).collect();
        let barrier = ur_conformance::owned::event_of(|event| {
            ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), event))
        });
        let native = of_queue(&queue);
        let asked = |event: &Event| {
            let queue: *mut ur_conformance::ffi::ur_queue_handle_t_ =
                query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_QUEUE)));
            native_of(|out| ur!(Queue.pfnGetNativeHandle(queue, null_mut(), out)))
        };
        assert!(events.iter().chain([&barrier]).all(|event| asked(event) == native), "{flags:?}");
        assert_eq!(queue.release(), Code::SUCCESS);
        assert!(events.iter().chain([&barrier]).all(|event| asked(event) == native), "{flags:?}, released");
        events.iter().for_each(Event::wait);
    }
}

fn adopt_program(fixture: &Fixture, native: ur_native_handle_t) -> Program {
    let properties = ur_program_native_properties_t { stype: Tag::PROGRAM_NATIVE_PROPERTIES, ..Default::default() };
    let mut made = null_mut();
    ok!(Program.pfnCreateWithNativeHandle(native, fixture.context(), &raw const properties, &raw mut made));
    Program::take(made)
}

#[test]
fn a_program_of_a_native_module_is_built_and_its_kernels_run() {
    let fixture = Fixture::new();
    let (program, queue) = (fixture.program("basic.ptx"), fixture.in_order());
    let native = native_of(|out| ur!(Program.pfnGetNativeHandle(program.handle(), out)));
    let adopted = adopt_program(&fixture, native);
    let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(adopted.handle(), ur_program_info_t::BINARY_SIZES)));
    assert_eq!(sizes, [0], "there is no image");
    let property = ur_program_build_info_t::STATUS;
    let status: u32 = query::get(ask!(Program.pfnGetBuildInfo(adopted.handle(), fixture.device(), property)));
    assert_eq!(status, ur_conformance::ffi::ur_program_build_status_t::SUCCESS.0);
    let out = fixture.memory(Kind::Device, 400);
    let kernel = fixture.kernel(&adopted, c"iota");
    Launch::new(&kernel, &[100]).pointer(out.pointer()).value(100u32).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 100), (0..100).collect::<Vec<u32>>());
    drop((kernel, adopted));
    // The module was not the adopted program's: its own program goes on.
    let kernel = fixture.kernel(&program, c"fill");
    Launch::new(&kernel, &[100]).pointer(out.pointer()).value(5u32).value(100u32).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 100), [5; 100]);
    let unbuilt = fixture.unbuilt(&ur_conformance::Environment::get().image("basic.ptx")).expect("PTX");
    let mut native: ur_native_handle_t = NATIVE;
    refused!(ERROR_UNSUPPORTED_FEATURE, Program.pfnGetNativeHandle(unbuilt.handle(), &raw mut native));
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnGetNativeHandle(unbuilt.handle(), null_mut()));
    assert_eq!(native, NATIVE);
    let mut made = null_mut();
    let (context, out) = (fixture.context(), &raw mut made);
    refused!(ERROR_INVALID_NULL_HANDLE, Program.pfnCreateWithNativeHandle(0, context, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithNativeHandle(1, context, null(), null_mut()));
    assert!(made.is_null());
}

#[test]
fn urKernelCreateWithNativeHandle_passes_on_what_the_native_library_answers() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let program = fixture.program("basic.ptx");
    let kernel = fixture.kernel(&program, c"iota");
    let native = native_of(|out| ur!(Kernel.pfnGetNativeHandle(kernel.handle(), out)));
    let (context, mut made) = (fixture.context(), null_mut());
    let out = &raw mut made;
    sim.fail("cuFuncGetAttribute", 1, status::OUT_OF_MEMORY);
    let answer = ur!(Kernel.pfnCreateWithNativeHandle(native, context, program.handle(), null(), out));
    sim.clear_faults();
    assert_eq!((answer, made.is_null()), (Code::ERROR_OUT_OF_DEVICE_MEMORY, true));
}

#[test]
fn a_kernel_of_a_native_function_is_that_kernel() {
    let fixture = Fixture::new();
    let (program, queue) = (fixture.program("basic.ptx"), fixture.in_order());
    let kernel = fixture.kernel(&program, c"iota");
    let native = native_of(|out| ur!(Kernel.pfnGetNativeHandle(kernel.handle(), out)));
    let mut made = null_mut();
    let (context, out) = (fixture.context(), &raw mut made);
    ok!(Kernel.pfnCreateWithNativeHandle(native, context, program.handle(), null(), out));
    let adopted = Kernel::take(made);
    let name = query::text(ask!(Kernel.pfnGetInfo(adopted.handle(), ur_kernel_info_t::FUNCTION_NAME)));
    let of: *mut core::ffi::c_void = query::get(ask!(Kernel.pfnGetInfo(adopted.handle(), ur_kernel_info_t::PROGRAM)));
    assert_eq!((name.as_str(), of), ("iota", program.handle().cast()));
    let memory = fixture.memory(Kind::Device, 400);
    Launch::new(&adopted, &[100]).pointer(memory.pointer()).value(100u32).on(&queue);
    assert_eq!(memory.read::<u32>(&queue, 100), (0..100).collect::<Vec<u32>>());

    let mut made = null_mut();
    let out = &raw mut made;
    let stranger = fixture.program("basic.ptx");
    refused!(ERROR_INVALID_KERNEL, Kernel.pfnCreateWithNativeHandle(native, context, stranger.handle(), null(), out));
    refused!(ERROR_INVALID_NULL_HANDLE, Kernel.pfnCreateWithNativeHandle(0, context, program.handle(), null(), out));
    assert!(made.is_null());
    match ur!(Kernel.pfnCreateWithNativeHandle(native, context, null_mut(), null(), out)) {
        Code::SUCCESS => {
            let alone = Kernel::take(made);
            Launch::new(&alone, &[100]).pointer(memory.pointer()).value(100u32).on(&queue);
            queue.finish();
        }
        code => expect_code(code, &[Code::ERROR_UNSUPPORTED_FEATURE], "a kernel without its program"),
    }
}
