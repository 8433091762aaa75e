//! `urIPC*EventHandleExp`: events that two processes signal and wait for.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::fmt::Write as _;
use core::ptr::{null, null_mut};
use std::io::{Read, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::scope;

use ur_conformance::ffi::{
    ur_context_handle_t, ur_device_info_t, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status,
    ur_exp_event_desc_t, ur_exp_event_flags_t as Flags, ur_queue_flags_t as QueueFlags,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status as status_of;
use ur_conformance::{
    Event, Fixture, Gate, Kernel, Kind, Launch, Memory, Queue, ask, child, needs_function, needs_sim, ok, query,
    refused, ur,
};

const BOTH: [QueueFlags; 2] = [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE];

fn create(fixture: &Fixture, flags: Flags) -> Event {
    let description = ur_exp_event_desc_t { flags, ..Default::default() };
    let mut event = null_mut();
    ok!(EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const description, &raw mut event));
    Event::take(event)
}

fn shared(fixture: &Fixture) -> Event {
    create(fixture, Flags::IPC_EXP)
}

#[track_caller]
fn signal(queue: &Queue, event: &Event) {
    let mut given = event.handle();
    ok!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut given));
}

#[track_caller]
fn wait_for(queue: &Queue, event: &Event) {
    let list = [event.handle()];
    ok!(Enqueue.pfnEventsWait(queue.handle(), 1, list.as_ptr(), null_mut()));
}

#[track_caller]
fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

/// Handle data that are out: where the adapter has them, and a copy.
struct Data {
    pointer: *mut c_void,
    bytes: Vec<u8>,
}

#[track_caller]
fn get(event: &Event) -> Data {
    let (mut pointer, mut size) = (null_mut(), 0);
    ok!(IPCExp.pfnGetEventHandleExp(event.handle(), &raw mut pointer, &raw mut size));
    assert!(!pointer.is_null() && size > 0);
    // SAFETY: the adapter gave as many bytes until they are put back.
    let bytes = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), size) }.to_vec();
    Data { pointer, bytes }
}

/// The bytes of an event, given back at once.
#[track_caller]
fn bytes_of(fixture: &Fixture, event: &Event) -> Vec<u8> {
    let data = get(event);
    ok!(IPCExp.pfnPutEventHandleExp(fixture.context(), data.pointer));
    data.bytes
}

/// An event that was opened is not handed on.
#[track_caller]
fn expect_no_export(event: &Event) {
    let (mut data, mut size) = (null_mut(), 7usize);
    refused!(ERROR_INVALID_EVENT, IPCExp.pfnGetEventHandleExp(event.handle(), &raw mut data, &raw mut size));
    assert!(data.is_null() && size == 7);
}

#[track_caller]
fn open_in(context: ur_context_handle_t, bytes: &[u8]) -> Event {
    let mut event = null_mut();
    ok!(IPCExp.pfnOpenEventHandleExp(context, bytes.as_ptr().cast(), bytes.len(), &raw mut event));
    Event::take(event)
}

/// A kernel that writes 7. Loading one waits for what runs, so it comes before anything that waits for the other process.
struct Seven<'f> {
    fill: Kernel,
    result: Memory<'f>,
}

impl<'f> Seven<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let result = fixture.memory(Kind::Host, 4);
        result.store(0, 0);
        Self { fill: fixture.basic(c"fill"), result }
    }

    /// The command that writes, after what the queue was given so far and the events.
    #[track_caller]
    fn on(&self, queue: &Queue, after: &[&Event]) -> Event {
        let launch = Launch::new(&self.fill, &[1]).pointer(self.result.pointer()).value(7u32).value(1u32);
        launch.after(after).event_on(queue)
    }

    fn result(&self) -> u32 {
        self.result.load(0)
    }
}

/// Where the two processes of a test meet, and what the one that makes the event says of it.
const PLACE: &str = "UR_TEST_IPC_EVENT_PLACE";
const DATA: &str = "UR_TEST_IPC_EVENT_DATA";

/// The way to the other process.
struct Other(UnixStream);

impl Other {
    /// Goes on when the other process says so, too.
    #[track_caller]
    fn meet(&mut self) {
        self.0.write_all(b".").expect("the other process lives");
        self.0.read_exact(&mut [0]).expect("the other process goes on");
    }
}

/// Comes to the place at the end, so that nobody waits there for a process that failed before it came.
struct Comes(PathBuf);

impl Drop for Comes {
    fn drop(&mut self) {
        // Nobody waits there if the process came itself.
        drop(UnixStream::connect(&self.0));
    }
}

/// Runs two bodies that meet: one here with the event, the other in another process with the event opened there.
fn two_processes(
    test: &str,
    here: impl FnOnce(&Fixture, Event, &mut Other),
    there: impl FnOnce(&Fixture, Event, &mut Other),
) {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    if let Ok(place) = std::env::var(PLACE) {
        return child::in_process::<&str>(test, &[], || {
            let text = std::env::var(DATA).expect("the event's bytes");
            let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
            let bytes: Vec<u8> = (0..text.len()).step_by(2).map(digits).collect();
            let mut other = Other(UnixStream::connect(place).expect("a way to the other process"));
            let event = open_in(fixture.context(), &bytes);
            expect_no_export(&event);
            other.meet();
            there(&fixture, event, &mut other);
            other.meet();
        });
    }
    let event = shared(&fixture);
    let text = bytes_of(&fixture, &event).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let folder = std::env::temp_dir().join(format!("ur-ipc-event-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of our own");
    let place = folder.join("s");
    let listener = UnixListener::bind(&place).expect("a place to meet");
    scope(|scope| {
        let variables = [(PLACE, place.display().to_string()), (DATA, text)];
        let comes = Comes(place);
        scope.spawn(move || {
            let _comes = comes;
            child::in_process(test, &variables, || ());
        });
        let (stream, _) = listener.accept().expect("the other process comes");
        let mut other = Other(stream);
        other.meet();
        here(&fixture, event, &mut other);
        other.meet();
    });
    std::fs::remove_dir_all(folder).expect("the folder of our own");
}

#[test]
fn urDeviceGetInfo_says_that_events_can_be_shared() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::new();
    let property = ur_device_info_t::IPC_EVENT_SUPPORT_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
}

#[test]
fn either_of_two_processes_signals_and_the_other_waits() {
    needs_function!(urIPCGetEventHandleExp);
    two_processes(
        "either_of_two_processes_signals_and_the_other_waits",
        |fixture, event, other| {
            for flags in BOTH {
                one_signals(fixture, &event, other, flags);
                other_waits(fixture, &event, other, flags);
            }
        },
        |fixture, event, other| {
            for flags in BOTH {
                other_waits(fixture, &event, other, flags);
                one_signals(fixture, &event, other, flags);
            }
        },
    );
}

fn one_signals(fixture: &Fixture, event: &Event, other: &mut Other, flags: QueueFlags) {
    let queue = fixture.queue(flags);
    assert_eq!(status(event), Status::COMPLETE);
    other.meet();
    let mut gate = Gate::new(fixture);
    gate.block(&queue);
    signal(&queue, event);
    assert_eq!(status(event), Status::SUBMITTED);
    other.meet();
    other.meet();
    gate.open();
    event.wait();
    queue.finish();
    other.meet();
}

fn other_waits(fixture: &Fixture, event: &Event, other: &mut Other, flags: QueueFlags) {
    let (queue, write) = (fixture.queue(flags), Seven::new(fixture));
    assert_eq!(status(event), Status::COMPLETE);
    other.meet();
    other.meet();
    assert_eq!(status(event), Status::SUBMITTED, "{flags:?}");
    let called = event.call_back();
    let list = [event.handle()];
    let written = write.on(&queue, &[event]);
    assert_eq!((status(&written), write.result()), (Status::SUBMITTED, 0), "{flags:?}");
    other.meet();
    ok!(Event.pfnWait(1, list.as_ptr()));
    assert_eq!(status(event), Status::COMPLETE);
    written.wait();
    assert_eq!(write.result(), 7, "{flags:?}");
    assert_eq!(called.recv(), Ok(()));
    other.meet();
}

#[test]
fn a_wait_is_for_the_other_process_s_signal_before_it_and_no_later_one() {
    needs_function!(urIPCGetEventHandleExp);
    two_processes(
        "a_wait_is_for_the_other_process_s_signal_before_it_and_no_later_one",
        |fixture, event, other| {
            let queue = fixture.in_order();
            let (mut first, mut second) = (Gate::new(fixture), Gate::new(fixture));
            first.block(&queue);
            signal(&queue, &event);
            other.meet();
            other.meet();
            second.block(&queue);
            signal(&queue, &event);
            first.open();
            other.meet();
            other.meet();
            second.open();
            queue.finish();
        },
        |fixture, event, other| {
            let (queue, write) = (fixture.in_order(), Seven::new(fixture));
            other.meet();
            wait_for(&queue, &event);
            let written = write.on(&queue, &[]);
            other.meet();
            other.meet();
            written.wait();
            assert_eq!((write.result(), status(&event)), (7, Status::SUBMITTED));
            other.meet();
            event.wait();
        },
    );
}

#[test]
fn an_opened_event_is_there_when_whoever_made_it_has_released_it() {
    needs_function!(urIPCGetEventHandleExp);
    two_processes(
        "an_opened_event_is_there_when_whoever_made_it_has_released_it",
        |fixture, event, other| {
            let queue = fixture.in_order();
            let mut gate = Gate::new(fixture);
            gate.block(&queue);
            signal(&queue, &event);
            drop(event);
            other.meet();
            other.meet();
            gate.open();
            queue.finish();
        },
        |fixture, event, other| {
            let (queue, write) = (fixture.in_order(), Seven::new(fixture));
            other.meet();
            assert_eq!(status(&event), Status::SUBMITTED);
            wait_for(&queue, &event);
            let written = write.on(&queue, &[]);
            assert_eq!(status(&written), Status::SUBMITTED);
            other.meet();
            written.wait();
            assert_eq!((write.result(), status(&event)), (7, Status::COMPLETE));
            signal(&queue, &event);
            event.wait();
        },
    );
}

#[test]
fn urIPCOpenEventHandleExp_in_the_event_s_own_process_gives_the_same_event_once_more() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::new();
    let elsewhere = fixture.context_of(&[fixture.device()]);
    let event = shared(&fixture);
    let bytes = bytes_of(&fixture, &event);
    let again = [open_in(fixture.context(), &bytes), open_in(elsewhere.handle(), &bytes)];
    let queues = [fixture.in_order(), fixture.queue_in(elsewhere.handle(), fixture.device(), QueueFlags::empty())];
    again.iter().for_each(expect_no_export);
    assert_eq!(bytes_of(&fixture, &event), bytes, "the one that was made is handed on as before");
    for (event, queue) in again.iter().zip(&queues) {
        let context: *mut c_void = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::CONTEXT)));
        let of: *mut c_void =
            query::get(ask!(Queue.pfnGetInfo(queue.handle(), ur_conformance::ffi::ur_queue_info_t::CONTEXT)));
        assert_eq!(context, of);
    }
    for (signals, queue) in again.iter().zip(&queues).rev() {
        let mut gate = if core::ptr::eq(queue, &raw const queues[1]) {
            Gate::in_context(&fixture, &elsewhere)
        } else {
            Gate::new(&fixture)
        };
        gate.block(queue);
        signal(queue, signals);
        assert_eq!([&event, &again[0], &again[1]].map(status), [Status::SUBMITTED; 3]);
        gate.open();
        event.wait();
        assert_eq!([&event, &again[0], &again[1]].map(status), [Status::COMPLETE; 3]);
    }
    // A queue signals events of its own context.
    let mut given = again[0].handle();
    refused!(
        ERROR_INVALID_EVENT,
        Enqueue.pfnEventsWaitWithBarrierExt(queues[1].handle(), null(), 0, null(), &raw mut given)
    );
    drop(event);
    let last = open_in(fixture.context(), &bytes);
    signal(&queues[0], &last);
    again[1].wait();
    queues[0].finish();
    drop((last, again));
    let mut gone = null_mut();
    refused!(
        ERROR_INVALID_VALUE,
        IPCExp.pfnOpenEventHandleExp(fixture.context(), bytes.as_ptr().cast(), bytes.len(), &raw mut gone)
    );
    assert!(gone.is_null());
}

#[test]
fn queues_of_another_device_signal_a_shared_event_and_wait_for_it() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::over_all_devices();
    fixture.allow_late_releases();
    let Some(&second) = fixture.devices.get(1) else { return };
    let event = shared(&fixture);
    for flags in BOTH {
        let near = fixture.queue(flags);
        let far = fixture.queue_in(fixture.context(), second, flags);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&near);
        signal(&near, &event);
        let list = [event.handle()];
        let after = event_of(|out| ur!(Enqueue.pfnEventsWait(far.handle(), 1, list.as_ptr(), out)));
        assert_eq!((status(&event), status(&after)), (Status::SUBMITTED, Status::SUBMITTED), "{flags:?}");
        gate.open();
        after.wait();
        assert_eq!(status(&blocked), Status::COMPLETE, "{flags:?}");

        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&near);
        let (list, mut given) = ([blocked.handle()], event.handle());
        ok!(Enqueue.pfnEventsWaitWithBarrierExt(far.handle(), null(), 1, list.as_ptr(), &raw mut given));
        assert_eq!(status(&event), Status::SUBMITTED, "{flags:?}");
        gate.open();
        event.wait();
        assert_eq!(status(&blocked), Status::COMPLETE, "{flags:?}");
        near.finish();
        far.finish();
    }
}

#[test]
fn urIPCGetEventHandleExp_refuses_events_that_were_not_made_to_be_shared() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (mut data, mut size) = (null_mut(), 7usize);
    let (d, s) = (&raw mut data, &raw mut size);
    let command = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&queue);
    for event in [create(&fixture, Flags::empty()), create(&fixture, Flags::ENABLE_PROFILING), command] {
        refused!(ERROR_INVALID_EVENT, IPCExp.pfnGetEventHandleExp(event.handle(), d, s));
        event.wait();
    }
    let event = shared(&fixture);
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnGetEventHandleExp(null_mut(), d, s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetEventHandleExp(event.handle(), null_mut(), s));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnGetEventHandleExp(event.handle(), d, null_mut()));
    refused!(ERROR_INVALID_EVENT, IPCExp.pfnGetEventHandleExp(queue.handle().cast(), d, s));
    assert!(data.is_null() && size == 7);

    let both = ur_exp_event_desc_t { flags: Flags::IPC_EXP | Flags::ENABLE_PROFILING, ..Default::default() };
    let mut none = null_mut();
    refused!(
        ERROR_INVALID_VALUE,
        EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const both, &raw mut none)
    );
    assert!(none.is_null());
}

#[test]
fn urIPCPutEventHandleExp_takes_back_what_is_out_and_nothing_else() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::new();
    let event = shared(&fixture);
    let (first, second) = (get(&event), get(&event));
    assert_ne!(first.pointer, second.pointer);
    assert_eq!(first.bytes, second.bytes);
    let c = fixture.context();
    ok!(IPCExp.pfnPutEventHandleExp(c, first.pointer));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutEventHandleExp(c, first.pointer));
    refused!(ERROR_INVALID_VALUE, IPCExp.pfnPutMemHandleExp(c, second.pointer));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnPutEventHandleExp(c, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnPutEventHandleExp(null_mut(), second.pointer));
    // The bytes are no longer the event's, but the event is.
    drop(event);
    ok!(IPCExp.pfnPutEventHandleExp(c, second.pointer));
}

#[test]
fn urIPCOpenEventHandleExp_refuses_bytes_that_are_no_event_s() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::over_all_devices();
    let (c, event) = (fixture.context(), shared(&fixture));
    let bytes = bytes_of(&fixture, &event);
    let size = bytes.len();
    let mut opened = null_mut();
    let out = &raw mut opened;
    let at = bytes.as_ptr().cast();
    for wrong in [0, size - 1, size + 1] {
        // The longer size is told from its number alone.
        refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenEventHandleExp(c, at, wrong, out));
    }
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnOpenEventHandleExp(c, null(), size, out));
    refused!(ERROR_INVALID_NULL_POINTER, IPCExp.pfnOpenEventHandleExp(c, at, size, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, IPCExp.pfnOpenEventHandleExp(null_mut(), at, size, out));
    for byte in (0..12).chain(16..33) {
        let mut wrong = bytes.clone();
        wrong[byte] ^= 0x40;
        refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenEventHandleExp(c, wrong.as_ptr().cast(), size, out));
    }
    if let Some(&second) = fixture.devices.get(1) {
        let other = fixture.context_of(&[second]);
        refused!(ERROR_INVALID_VALUE, IPCExp.pfnOpenEventHandleExp(other.handle(), at, size, out));
    }
    assert!(opened.is_null());
}

#[test]
fn nothing_is_left_of_a_shared_event_that_could_not_be_made_or_opened() {
    needs_function!(urIPCGetEventHandleExp);
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let event = shared(&fixture);
    let before = sim.objects().get("event").copied();
    let description = ur_exp_event_desc_t { flags: Flags::IPC_EXP, ..Default::default() };
    let mut none = null_mut();
    for call in ["cuEventCreate", "cuIpcGetEventHandle"] {
        sim.fail(call, 1, status_of::UNKNOWN);
        refused!(
            ERROR_ADAPTER_SPECIFIC,
            EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const description, &raw mut none)
        );
    }
    // Bytes of nobody's: the native library has its say.
    let mut bytes = bytes_of(&fixture, &event);
    bytes[32 + 8..32 + 16].fill(0xff);
    let open = |out: *mut ur_event_handle_t| {
        refused!(
            ERROR_INVALID_VALUE,
            IPCExp.pfnOpenEventHandleExp(fixture.context(), bytes.as_ptr().cast(), bytes.len(), out)
        );
    };
    open(&raw mut none);
    sim.fail("cuIpcOpenEventHandle", 1, status_of::UNKNOWN);
    open(&raw mut none);
    assert!(none.is_null());
    assert_eq!(sim.objects().get("event").copied(), before);
}
