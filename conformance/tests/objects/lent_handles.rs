//! Native handles that stay the application's: once the object over one was released, the application may destroy it or use it
//! anew, whatever the engine still keeps of the object. The simulated driver reports every call with a handle that is gone.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};
use std::time::Duration;

use ur_conformance::below::Below;
use ur_conformance::ffi::{CBool, ur_event_status_t as Status, ur_map_flags_t as Map, ur_result_t as Code};
use ur_conformance::native::Streams;
use ur_conformance::{
    Buffer, Event, Fixture, Gate, Image, Kind, Launch, Queue, Shape, Timeline, ok, pool, refused, timeline, ur,
};

use crate::native_handles::{adopt_event, adopt_queue, of_context, of_queue, owning, status};

/// So long a call may take to come, at most.
const PATIENCE: Duration = Duration::from_secs(20);
const SIZE: [usize; 2] = [16, 8];
const WORDS: usize = SIZE[0] * SIZE[1];

/// A queue over a native stream of the test's, and that.
fn lent(fixture: &Fixture, native: &Streams) -> (Queue, usize) {
    let stream = native.stream();
    (adopt_queue(fixture, stream, &owning(false)), stream)
}

/// Waits for a native stream as the application does it by itself.
fn wait_natively(native: &Streams, stream: usize) {
    let event = native.event();
    native.record(event, stream);
    while native.query(event) != 0 {
        std::thread::yield_now();
    }
    native.destroy_event(event);
}

/// Has the engine look at all streams of the context: a trim of the default pool, and plain memory that is used again.
fn look_at_streams(fixture: &Fixture) {
    let mut default = null_mut();
    match ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut default)) {
        Code::SUCCESS => pool::trim(fixture, default, 0),
        code => assert_eq!(code, Code::ERROR_UNSUPPORTED_FEATURE),
    }
    for _ in 0..300 {
        drop(fixture.memory(Kind::Device, 4096));
    }
}

#[test]
fn urMemRelease_of_an_image_asks_nothing_of_a_lent_stream_whose_queue_was_released() {
    let fixture = Fixture::new();
    let image = Image::new(&fixture, Shape::word(&SIZE));
    let warm = fixture.in_order();
    image.write(&warm, &[7u32; WORDS]);
    let native = Streams::of(of_context(&fixture));
    let (queue, stream) = lent(&fixture, &native);
    image.write(&queue, &[8u32; WORDS]);
    queue.finish();
    drop(queue);
    native.destroy_stream(stream);
    drop(image);
}

#[test]
fn urMemRelease_of_an_image_waits_for_work_of_a_lent_stream_that_was_destroyed_behind_it() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let image = Image::new(&fixture, Shape::word(&SIZE));
    let warm = fixture.in_order();
    image.write(&warm, &[7u32; WORDS]);
    let read = fixture.memory(Kind::Host, 4 * WORDS);
    let native = Streams::of(of_context(&fixture));
    let (queue, stream) = lent(&fixture, &native);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let mut event = null_mut();
    let answer = image.read_box(&queue, &image.whole(), [0, 0], read.pointer(), &[], &raw mut event);
    assert_eq!(answer, Code::SUCCESS);
    let event = Event::take(event);
    drop(queue);
    // What is on it runs to its end, for which AMD's runtime waits.
    let ends_at_once = !Below::is_hip();
    if ends_at_once {
        native.destroy_stream(stream);
    }
    let (memory, waits) = (image.mem, fixture.sim().map(|sim| move || sim.calls_so_far("cuEventSynchronize")));
    let before = waits.map(|waits| waits());
    let is_early = std::thread::scope(|scope| {
        let releasing = scope.spawn(|| drop(memory));
        while !releasing.is_finished() && waits.is_some_and(|waits| Some(waits()) == before) {
            std::thread::yield_now();
        }
        let is_early = waits.is_some() && releasing.is_finished();
        gate.open();
        releasing.join().expect("a release");
        is_early
    });
    if !ends_at_once {
        native.destroy_stream(stream);
    }
    event.wait();
    assert!(!is_early, "the image went while a command with it was on the lent stream");
    assert_eq!(read.load(5), 7);
}

#[test]
fn urQueueRelease_of_a_lent_stream_s_queue_ends_all_questions_to_the_stream_though_an_event_is_kept() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let native = Streams::of(of_context(&fixture));
    look_at_streams(&fixture);
    for is_native in [false, true] {
        let (queue, stream) = lent(&fixture, &native);
        let event = Launch::new(&kernel, &[1]).event_on(&queue);
        if is_native {
            wait_natively(&native, stream)
        } else {
            queue.finish()
        }
        drop(queue);
        native.destroy_stream(stream);
        look_at_streams(&fixture);
        assert_eq!(status(&event), Status::COMPLETE);
        event.wait();
    }
}

/// The buffer keeps the pinned memory of its map, which knows the stream and not the queue.
#[test]
fn urQueueRelease_of_a_lent_stream_s_queue_ends_all_questions_to_the_stream_though_a_buffer_was_mapped_there() {
    let fixture = Fixture::new();
    let (buffer, native) = (Buffer::new(&fixture, 4096), Streams::of(of_context(&fixture)));
    look_at_streams(&fixture);
    let (queue, stream) = lent(&fixture, &native);
    let (q, m, mut mapped) = (queue.handle(), buffer.handle(), null_mut());
    ok!(Enqueue.pfnMemBufferMap(q, m, CBool::TRUE, Map::READ, 0, 4096, 0, null(), null_mut(), &raw mut mapped));
    ok!(Enqueue.pfnMemUnmap(q, m, mapped, 0, null(), null_mut()));
    queue.finish();
    drop(queue);
    native.destroy_stream(stream);
    look_at_streams(&fixture);
    drop(buffer);
}

#[test]
fn urQueueRelease_of_a_lent_stream_s_queue_ends_all_questions_to_the_stream_though_a_timeline_knows_the_queue() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let native = Streams::of(of_context(&fixture));
    look_at_streams(&fixture);
    let timeline = Timeline::at_zero(&fixture);
    let (queue, stream) = lent(&fixture, &native);
    queue.signal(&timeline, 1);
    queue.finish();
    drop(queue);
    native.destroy_stream(stream);
    look_at_streams(&fixture);
    assert_eq!(timeline.value(), 1);
}

/// The queue parts with its stream at the end of the last command that it keeps.
#[test]
fn urQueueRelease_of_a_lent_stream_s_queue_that_keeps_commands_ends_all_questions_behind_the_last_of_them() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let kernel = fixture.basic(c"empty");
    let native = Streams::of(of_context(&fixture));
    look_at_streams(&fixture);
    let timeline = Timeline::at_zero(&fixture);
    let (queue, stream) = lent(&fixture, &native);
    queue.wait_for(&timeline, 1);
    let last = Launch::new(&kernel, &[1]).event_on(&queue);
    drop(queue);
    timeline.signal(1);
    last.wait();
    native.destroy_stream(stream);
    look_at_streams(&fixture);
    assert_eq!(status(&last), Status::COMPLETE);
}

#[test]
fn stream_ordered_memory_of_a_lent_stream_that_is_gone_can_be_freed() {
    let fixture = Fixture::new();
    let native = Streams::of(of_context(&fixture));
    let kernel = fixture.basic(c"empty");
    let (queue, stream) = lent(&fixture, &native);
    let (q, mut memory) = (queue.handle(), null_mut());
    ok!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 256, null(), 0, null(), &raw mut memory, null_mut()));
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    queue.finish();
    drop(queue);
    native.destroy_stream(stream);
    ok!(USM.pfnFree(fixture.context(), memory));
    look_at_streams(&fixture);
    drop(event);
    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), memory));
}

/// What the application does with a native event, once it has released the event over it.
#[derive(Clone, Copy, Debug)]
enum Then {
    Destroy,
    RecordAnew,
}

#[test]
fn a_kept_command_waits_for_what_a_lent_event_stood_for_when_it_was_enqueued() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let fill = fixture.basic(c"fill");
    let (out, native) = (fixture.memory(Kind::Host, 4), Streams::of(of_context(&fixture)));
    for then in [Then::Destroy, Then::RecordAnew] {
        let (queue, other, later) = (fixture.in_order(), fixture.in_order(), fixture.in_order());
        let (timeline, raw) = (Timeline::at_zero(&fixture), native.event());
        let (mut gate, mut later_gate) = (Gate::new(&fixture), Gate::new(&fixture));
        out.store(0, 0);
        gate.block(&other);
        native.record(raw, of_queue(&other));
        let event = adopt_event(&fixture, raw, false);
        queue.wait_for(&timeline, 1);
        let launch = Launch::new(&fill, &[1]).pointer(out.pointer()).value(9u32).value(1u32).after(&[&event]);
        let launched = launch.event_on(&queue);
        drop(event);
        later_gate.block(&later);
        match then {
            Then::Destroy => native.destroy_event(raw),
            Then::RecordAnew => native.record(raw, of_queue(&later)),
        }
        timeline.signal(1);
        assert_eq!((status(&launched), out.load(0)), (Status::SUBMITTED, 0), "{then:?}");
        gate.open();
        launched.wait();
        assert_eq!(out.load(0), 9, "{then:?}");
        later_gate.open();
        [&queue, &other, &later].iter().for_each(|queue| queue.finish());
        if let Then::RecordAnew = then {
            native.destroy_event(raw);
        }
    }
}

#[test]
fn urEventSetCallback_of_a_lent_event_is_called_though_the_event_was_released_and_destroyed() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let queue = fixture.in_order();
    let native = Streams::of(of_context(&fixture));
    let (mut gate, raw) = (Gate::new(&fixture), native.event());
    gate.block(&queue);
    native.record(raw, of_queue(&queue));
    let event = adopt_event(&fixture, raw, false);
    let calls = event.call_back();
    drop(event);
    native.destroy_event(raw);
    assert!(calls.try_recv().is_err(), "called before the end");
    gate.open();
    assert_eq!(calls.recv_timeout(PATIENCE), Ok(()));
    queue.finish();
}
