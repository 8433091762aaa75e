//! What a capture cannot hold is refused before it breaks the capture, and events of a capture are nothing outside of it.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_event_handle_t, ur_event_info_t, ur_execution_info_t, ur_map_flags_t, ur_mem_flags_t, ur_profiling_info_t,
    ur_queue_info_t, ur_result_t as Code,
};
use ur_conformance::graph::{begin, end};
use ur_conformance::native::Streams;
use ur_conformance::owned::event_of;
use ur_conformance::pool::{Plan, Take, give, trim};
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, Event, Fixture, Gate, Graph, Kind, Launch, child, needs_capture, needs_sim, ok, refused, ur,
};

extern "C" fn never(_: *mut c_void) {
    panic!("a host task that was refused runs");
}

extern "C" fn no_event(_: ur_event_handle_t, _: ur_execution_info_t, _: *mut c_void) {
    panic!("a callback that was refused is called");
}

#[test]
fn what_a_capture_cannot_hold_is_refused_and_breaks_nothing() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let (kernel, memory) = (fixture.basic(c"empty"), fixture.memory(Kind::Device, 64));
    let empty = Graph::empty(&fixture).instantiate();
    let mut gate = Gate::new(&fixture);
    let outside = gate.block_event(&other);
    let mut host = [0u8; 64];
    let bytes = host.as_mut_ptr().cast::<c_void>();
    begin(&queue);
    Launch::new(&kernel, &[1]).on(&queue);
    refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, Queue.pfnFinish(queue.handle()));
    refused!(
        ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        Enqueue.pfnUSMMemcpy(queue.handle(), true.into(), bytes, memory.pointer(), 64, 0, null(), null_mut())
    );
    refused!(
        ERROR_GRAPH_CAPTURE_UNSUPPORTED | ERROR_UNSUPPORTED_FEATURE,
        EnqueueExp.pfnHostTaskExp(queue.handle(), Some(never), null_mut(), null(), 0, null(), null_mut())
    );
    let mut event = null_mut();
    refused!(
        ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        EnqueueExp.pfnTimestampRecordingExp(queue.handle(), false.into(), 0, null(), &raw mut event)
    );
    refused!(
        ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        EnqueueExp.pfnGraphExp(queue.handle(), empty.handle(), 0, null(), null_mut())
    );
    refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, DeviceExp.pfnWaitExp(fixture.device()));
    Launch::new(&kernel, &[1]).after(&[&outside]).refused(&[Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED], &queue);
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnBeginGraphCaptureExp(queue.handle()));
    assert!(event.is_null());
    // A question that breaks nothing either.
    let mut is_idle = 0u8;
    let size = size_of_val(&is_idle);
    ok!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY, size, (&raw mut is_idle).cast(), null_mut()));
    ok!(Queue.pfnFlush(queue.handle()));
    gate.open();
    outside.wait();
    // What is complete is nothing to wait for.
    Launch::new(&kernel, &[1]).after(&[&outside]).on(&queue);
    let graph = Graph::take(end(&queue));
    graph.instantiate().on(&queue);
    queue.finish();
    ok!(DeviceExp.pfnWaitExp(fixture.device()));
}

/// Whether a queue captures is told before the native library begins, since a wait for the device breaks what it has begun.
#[test]
fn urDeviceWaitExp_beside_urQueueBeginGraphCaptureExp_is_refused_and_breaks_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    needs_capture!(fixture);
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
    std::thread::scope(|scope| {
        let held = sim.hold_returns("cuStreamBeginCapture_v2");
        let beginning = scope.spawn(|| begin(&queue));
        held.wait_for_one(|| beginning.is_finished());
        refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, DeviceExp.pfnWaitExp(fixture.device()));
        drop(held);
    });
    Launch::new(&kernel, &[1]).on(&queue);
    drop(Graph::take(end(&queue)));
    ok!(DeviceExp.pfnWaitExp(fixture.device()));
}

/// A question to a stream breaks the capture that the native library has begun there.
#[test]
fn urQueueGetInfo_beside_urQueueBeginGraphCaptureExp_breaks_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    needs_capture!(fixture);
    let (queue, kernel, mut gate) = (fixture.in_order(), fixture.basic(c"empty"), Gate::new(&fixture));
    gate.block(&queue);
    let before = Launch::new(&kernel, &[1]).event_on(&queue);
    std::thread::scope(|scope| {
        let held = sim.hold_returns("cuStreamBeginCapture_v2");
        let beginning = scope.spawn(|| begin(&queue));
        held.wait_for_one(|| beginning.is_finished());
        let mut is_empty = 7u8;
        let size = size_of_val(&is_empty);
        ok!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY, size, (&raw mut is_empty).cast(), null_mut()));
        assert_eq!(is_empty, 0, "its launch is behind a gate");
        gate.open();
        before.wait();
        drop(held);
    });
    Launch::new(&kernel, &[1]).on(&queue);
    drop(Graph::take(end(&queue)));
    queue.finish();
}

/// The command holds the stream's lock while the native library makes its event, which can wait for what another thread does there.
#[test]
fn urUSMPoolTrimToExp_beside_a_captured_command_does_not_wait_for_it() {
    child::in_time("urUSMPoolTrimToExp_beside_a_captured_command_does_not_wait_for_it", &[("", ""); 0], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        needs_capture!(fixture);
        let (queue, other, kernel) = (fixture.in_order(), fixture.in_order(), fixture.basic(c"empty"));
        let pool = Plan::new().of(&fixture);
        let keep_one = || {
            give(&other, Take::new(1 << 16).from(&pool).on(&other));
            other.finish();
        };
        keep_one();
        // The next one has no event to make.
        trim(&fixture, pool.handle(), 0);
        keep_one();
        begin(&queue);
        std::thread::scope(|scope| {
            let held = sim.hold_calls("cuEventCreate");
            let launching = scope.spawn(|| drop(Launch::new(&kernel, &[1]).event_on(&queue)));
            held.wait_for_one(|| launching.is_finished());
            trim(&fixture, pool.handle(), 0);
            drop(held);
        });
        drop(Graph::take(end(&queue)));
    });
}

/// What was counted for a capture that did not begin is counted no more.
#[test]
fn urDeviceWaitExp_after_a_refused_begin_of_a_capture_waits() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    needs_capture!(fixture);
    let queue = fixture.in_order();
    sim.fail("cuStreamBeginCapture_v2", 1, status::OUT_OF_MEMORY);
    assert_ne!(ur!(QueueExp.pfnBeginGraphCaptureExp(queue.handle())), Code::SUCCESS);
    sim.clear_faults();
    ok!(DeviceExp.pfnWaitExp(fixture.device()));
}

#[test]
fn maps_are_refused() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let mut own = [0u32; 16];
    let pointer = own.as_mut_ptr().cast::<c_void>();
    let moving = Buffer::of(fixture.context(), ur_mem_flags_t::USE_HOST_POINTER, 64, pointer);
    let still = Buffer::new(&fixture, 64);
    let graph = Graph::captured(&queue, || {
        let (flags, mut mapped, q) = (ur_map_flags_t::READ, null_mut(), queue.handle());
        for buffer in [&moving, &still] {
            let (b, no, out) = (buffer.handle(), false.into(), &raw mut mapped);
            refused!(
                ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                Enqueue.pfnMemBufferMap(q, b, no, flags, 0, 64, 0, null(), null_mut(), out)
            );
            assert!(mapped.is_null());
        }
    });
    assert!(graph.is_empty(), "the refusals broke nothing");
}

#[test]
fn events_of_a_capture_are_nothing_outside_of_it() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let kernel = fixture.basic(c"empty");
    let internal = |event: &Event| {
        let (handle, mut native, mut value, mut size) = (event.handle(), 0, 0u64, 0);
        refused!(ERROR_GRAPH_INTERNAL_EVENT, Event.pfnWait(1, &raw const handle));
        let status = ur_event_info_t::COMMAND_EXECUTION_STATUS;
        refused!(
            ERROR_GRAPH_INTERNAL_EVENT,
            Event.pfnGetInfo(handle, status, 4, (&raw mut value).cast(), &raw mut size)
        );
        let end = ur_profiling_info_t::COMMAND_END;
        refused!(
            ERROR_GRAPH_INTERNAL_EVENT,
            Event.pfnGetProfilingInfo(handle, end, 8, (&raw mut value).cast(), null_mut())
        );
        refused!(ERROR_GRAPH_INTERNAL_EVENT, Event.pfnGetNativeHandle(handle, &raw mut native));
        for status in [ur_execution_info_t::SUBMITTED, ur_execution_info_t::COMPLETE] {
            refused!(ERROR_GRAPH_INTERNAL_EVENT, Event.pfnSetCallback(handle, status, Some(no_event), null_mut()));
        }
        // What needs no answer of the device's is told.
        let owner: *mut _ =
            ur_conformance::query::get(ur_conformance::ask!(Event.pfnGetInfo(handle, ur_event_info_t::COMMAND_QUEUE)));
        assert_eq!(owner, queue.handle());
    };
    begin(&queue);
    let launch = Launch::new(&kernel, &[1]).event_on(&queue);
    let marker = event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event)));
    internal(&launch);
    internal(&marker);
    let graph = Graph::take(end(&queue));
    internal(&launch);
    for queue in [&queue, &other] {
        Launch::new(&kernel, &[1]).after(&[&launch]).refused(&[Code::ERROR_GRAPH_INTERNAL_EVENT], queue);
        let waits = [marker.handle()];
        refused!(ERROR_GRAPH_INTERNAL_EVENT, Enqueue.pfnEventsWait(queue.handle(), 1, waits.as_ptr(), null_mut()));
    }
    begin(&other);
    Launch::new(&kernel, &[1]).after(&[&launch]).refused(&[Code::ERROR_GRAPH_INTERNAL_EVENT], &other);
    drop(Graph::take(end(&other)));
    graph.instantiate().on(&other);
    other.finish();
}

/// The native context that calls of a CUDA driver need to be current.
fn native_context(fixture: &Fixture) -> Option<usize> {
    let mut native = 0;
    (ur!(Context.pfnGetNativeHandle(fixture.context(), &raw mut native)) == Code::SUCCESS).then_some(native)
}

#[test]
fn a_capture_that_somebody_else_breaks_says_so_and_ends() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"empty");
    let mut stream = 0;
    ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut stream));
    Launch::new(&kernel, &[1]).on(&queue);
    let native = Streams::of(native_context(&fixture));
    let event = native.event();
    begin(&queue);
    Launch::new(&kernel, &[1]).on(&queue);
    native.record(event, stream);
    assert_eq!(native.query(event), 907, "a question about an event that is captured");
    Launch::new(&kernel, &[1]).refused(&[Code::ERROR_GRAPH_CAPTURE_INVALIDATED], &queue);
    let mut graph = null_mut();
    refused!(ERROR_GRAPH_CAPTURE_INVALIDATED, QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
    assert!(graph.is_null());
    native.destroy_event(event);
    drop(native);
    Launch::new(&kernel, &[1]).event_on(&queue).wait();
    drop(Graph::captured(&queue, || Launch::new(&kernel, &[1]).on(&queue)));
    queue.finish();
}
