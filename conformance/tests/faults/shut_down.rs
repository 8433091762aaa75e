//! The native library has shut down, as its exit handler does while exit handlers and threads of the application still run: whoever
//! waits is told. Needs the simulated driver, whose calls answer then what the real one's do.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::null_mut;
use std::sync::mpsc::{Sender, channel};

use ur_conformance::ffi::{
    ur_event_handle_t, ur_execution_info_t, ur_exp_host_task_properties_t, ur_ext_host_task_status_t,
    ur_queue_flags_t as Flags, ur_result_t as Code, ur_structure_type_t as Structure,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Event, Fixture, Launch, Queue, Sim, Timeline, child, needs_sim, ok, timeline, ur};

const ORDERS: [(&str, Flags); 2] = [("in", Flags::empty()), ("out", Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE)];

/// What whoever waits, or asks for what others wait for, can call below.
const ASKED: [&str; 10] = [
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuCtxSynchronize",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
];

/// The native library's end, before that of the process.
fn shut_down(sim: &Sim) {
    ASKED.iter().for_each(|name| sim.fail_always(name, status::DEINITIALIZED));
}

/// What the tests made can be given back: a lost device takes along what it never got to.
fn give_up(sim: &Sim) {
    sim.clear_faults();
    sim.lose_device(0);
    sim.clear_reports();
}

extern "C" fn never(_: *mut c_void) {
    panic!("a task runs that no stream has called for");
}

/// A task that reports.
fn report(queue: &Queue, number: &mut i32) -> Event {
    let stype = Structure::EXT_HOST_TASK_STATUS;
    let mut status = ur_ext_host_task_status_t { stype, pStatus: number, ..Default::default() };
    let properties = ur_exp_host_task_properties_t { pNext: (&raw mut status).cast(), ..Default::default() };
    let (queue, properties) = (queue.handle(), &raw const properties);
    event_of(|event| {
        ur!(EnqueueExp.pfnHostTaskExp(queue, Some(never), null_mut(), properties, 0, core::ptr::null(), event))
    })
}

#[test]
fn urQueueFinish_and_urEventWait_end_though_no_task_that_reports_is_called_any_more() {
    let test = "urQueueFinish_and_urEventWait_end_though_no_task_that_reports_is_called_any_more";
    for (name, flags) in ORDERS {
        child::in_time(test, &[("UR_TEST_ORDER", name)], || {
            if std::env::var("UR_TEST_ORDER").is_ok_and(|order| order != name) {
                return;
            }
            let fixture = Fixture::new();
            fixture.allow_late_releases();
            fixture.allow_leaks();
            let sim = needs_sim!(fixture);
            if !timeline::are_there() {
                return;
            }
            let (kernel, queue, mut number) = (fixture.basic(c"empty"), fixture.queue(flags), 0);
            let held = sim.hold();
            Launch::new(&kernel, &[1]).on(&queue);
            let task = report(&queue, &mut number);
            let after = Launch::new(&kernel, &[1]).after(&[&task]).event_on(&queue);
            shut_down(sim);
            for event in [&task, &after] {
                let list = [event.handle()];
                assert_eq!(ur!(Event.pfnWait(1, list.as_ptr())), Code::ERROR_UNINITIALIZED);
            }
            assert_eq!(ur!(Queue.pfnFinish(queue.handle())), Code::ERROR_UNINITIALIZED);
            give_up(sim);
            drop(held);
        });
    }
}

extern "C" fn tell(_: ur_event_handle_t, _: ur_execution_info_t, data: *mut c_void) {
    // SAFETY: the sender was given away for one call.
    let _ = unsafe { Box::from_raw(data.cast::<Sender<()>>()) }.send(());
}

#[test]
fn urTimelineWaitExt_ends_and_callbacks_are_called_though_nothing_is_reached_any_more() {
    let test = "urTimelineWaitExt_ends_and_callbacks_are_called_though_nothing_is_reached_any_more";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        fixture.allow_late_releases();
        fixture.allow_leaks();
        let sim = needs_sim!(fixture);
        if !timeline::are_there() {
            return;
        }
        let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
        let timelines = [(); 2].map(|()| Timeline::at_zero(&fixture));
        let held = sim.hold();
        let event = Launch::new(&kernel, &[1]).event_on(&queue);
        timelines.iter().for_each(|timeline| queue.signal(timeline, 1));
        std::thread::scope(|scope| {
            let asked = sim.calls_so_far("cuEventQuery");
            let waiting = scope.spawn(|| timeline::wait(&[(&timelines[0], 1), (&timelines[1], 1)], false, u64::MAX).0);
            // It asks itself at most once for each, and then the thread that watches asks.
            while sim.calls_so_far("cuEventQuery") < asked + 10 {
                std::thread::yield_now();
            }
            let (sender, calls) = channel::<()>();
            let (data, complete) = (Box::into_raw(Box::new(sender)).cast(), ur_execution_info_t::COMPLETE);
            ok!(Event.pfnSetCallback(event.handle(), complete, Some(tell), data));
            shut_down(sim);
            assert_eq!(waiting.join().expect("the wait ends"), Code::ERROR_UNINITIALIZED);
            calls.recv().expect("the callback is called");
        });
        give_up(sim);
        drop(held);
    });
}
