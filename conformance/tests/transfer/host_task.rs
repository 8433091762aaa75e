//! `urEnqueueHostTaskExp`: when the task runs, what waits for it, and that it may call UR.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use ur_conformance::ffi::{
    CBool, ur_command_t, ur_device_info_t, ur_event_handle_t, ur_event_info_t, ur_exp_host_task_flags_t,
    ur_exp_host_task_properties_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Event, Fixture, Gate, Kind, Launch, Queue, ask, needs_sim, query, refused, renew_adapter, ur};

const PATIENCE: Duration = Duration::from_secs(20);
const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];

/// What a task does.
type Work = Box<dyn FnOnce() + Send>;

extern "C" fn run(data: *mut c_void) {
    // SAFETY: `enqueue` gave the work away for one call.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    work();
}

fn enqueue(
    queue: ur_queue_handle_t,
    waits: &[ur_event_handle_t],
    event: *mut ur_event_handle_t,
    work: impl FnOnce() + Send + 'static,
) -> Code {
    let work: Work = Box::new(work);
    let data = Box::into_raw(Box::new(work));
    let (count, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
    let answer = ur!(EnqueueExp.pfnHostTaskExp(queue, Some(run), data.cast(), null(), count, list, event));
    if answer != Code::SUCCESS {
        // SAFETY: a task that was refused never runs.
        drop(unsafe { Box::from_raw(data) });
    }
    answer
}

/// A task that tells when it begins and ends when it is told to.
struct Stop {
    begun: Receiver<std::thread::ThreadId>,
    end: Sender<()>,
}

impl Stop {
    fn enqueue(queue: &Queue, waits: &[ur_event_handle_t]) -> (Self, Event) {
        let ((begin, begun), (end, ended)) = (channel(), channel());
        let event = event_of(|event| {
            enqueue(queue.handle(), waits, event, move || {
                let _ = begin.send(std::thread::current().id());
                let _ = ended.recv_timeout(PATIENCE);
            })
        });
        (Self { begun, end }, event)
    }

    #[track_caller]
    fn expect_begun(&self) {
        let thread = self.begun.recv_timeout(PATIENCE).expect("the task begins");
        assert_ne!(thread, std::thread::current().id(), "the task runs on the application's thread");
    }

    fn has_begun(&self) -> bool {
        self.begun.try_recv() != Err(TryRecvError::Empty)
    }

    fn end(self) {
        let _ = self.end.send(());
    }
}

fn is_complete(event: &Event) -> bool {
    query::get::<i32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))) == 0
}

/// Whether the device has them; where it has not, the call must say so.
fn is_there(fixture: &Fixture) -> bool {
    let there: bool =
        query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::ENQUEUE_HOST_TASK_SUPPORT_EXP)))
            != 0;
    if !there {
        let queue = fixture.in_order();
        assert_eq!(enqueue(queue.handle(), &[], null_mut(), || ()), Code::ERROR_UNSUPPORTED_FEATURE);
    }
    there || fixture.sim().is_some_and(|_| panic!("the simulated driver has what it takes"))
}

#[test]
fn urEnqueueHostTaskExp_comes_between_the_commands_of_an_in_order_queue() {
    let fixture = Fixture::new();
    if !is_there(&fixture) {
        return;
    }
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let memory = fixture.memory(Kind::Host, 4);
        memory.store(0, 7);
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        let (task, event) = Stop::enqueue(&queue, &[]);
        let value = 9u32;
        let after = event_of(|event| {
            let (to, from) = (memory.pointer(), (&raw const value).cast());
            ur!(Enqueue.pfnUSMFill(queue.handle(), to, 4, from, 4, 0, null(), event))
        });
        assert!(!task.has_begun(), "it runs before the command before it");
        gate.open();
        task.expect_begun();
        assert!(gate.has_passed() && !is_complete(&event) && !is_complete(&after));
        assert_eq!(memory.load(0), 7, "the command after it does not wait");
        task.end();
        queue.finish();
        assert!(is_complete(&event) && is_complete(&after));
        assert_eq!(memory.load(0), 9);
    }
}

#[test]
fn urEnqueueHostTaskExp_waits_for_its_list_and_is_waited_for_across_queues() {
    let fixture = Fixture::new();
    if !is_there(&fixture) {
        return;
    }
    for flags in ORDERS {
        let (before, queue, later) = (fixture.in_order(), fixture.queue(flags), fixture.queue(flags));
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&before);
        let (task, event) = Stop::enqueue(&queue, &[blocked.handle()]);
        let list = [event.handle()];
        let after = event_of(|event| ur!(Enqueue.pfnEventsWait(later.handle(), 1, list.as_ptr(), event)));
        assert!(!task.has_begun());
        gate.open();
        task.expect_begun();
        assert!(!is_complete(&event) && !is_complete(&after));
        task.end();
        event.wait();
        after.wait();
        for queue in [&before, &queue, &later] {
            queue.finish();
        }
    }
}

#[test]
fn urEnqueueHostTaskExp_s_event_names_the_command() {
    let fixture = Fixture::new();
    if !is_there(&fixture) {
        return;
    }
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let event = event_of(|event| enqueue(queue.handle(), &[], event, || ()));
        let command = ur_command_t(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE))));
        assert_eq!(command, ur_command_t::HOST_TASK_EXP);
        queue.finish();
    }
}

#[test]
fn urEnqueueHostTaskExp_runs_every_task_once_and_in_order() {
    const TASKS: u32 = 2000;
    let fixture = Fixture::new();
    if !is_there(&fixture) {
        return;
    }
    let queue = fixture.in_order();
    let (sender, numbers) = channel();
    for number in 0..TASKS {
        let sender = sender.clone();
        assert_eq!(enqueue(queue.handle(), &[], null_mut(), move || sender.send(number).unwrap()), Code::SUCCESS);
    }
    queue.finish();
    drop(sender);
    assert!(numbers.iter().eq(0..TASKS));
}

/// Each task waits for work of its own, so none may hold up the threads that the others need.
#[test]
fn urEnqueueHostTaskExp_s_task_may_call_UR_and_wait_for_other_tasks() {
    let fixture = Fixture::new();
    if !is_there(&fixture) {
        return;
    }
    let queues: Vec<Queue> = ORDERS.iter().map(|flags| fixture.queue(*flags)).collect();
    let memory = fixture.memory(Kind::Device, 64);
    let inner = fixture.in_order();
    let (sender, answers) = channel();
    for queue in &queues {
        let (sender, inner, to) =
            (sender.clone(), inner.handle().expose_provenance(), memory.pointer().expose_provenance());
        let work = move || {
            let inner: ur_queue_handle_t = core::ptr::with_exposed_provenance_mut(inner);
            let to: *mut c_void = core::ptr::with_exposed_provenance_mut(to);
            let value = 3u32;
            let (tell, told) = channel();
            let _ = sender.send(enqueue(inner, &[], null_mut(), move || tell.send(()).unwrap()));
            let _ =
                sender.send(ur!(Enqueue.pfnUSMFill(inner, to, 4, (&raw const value).cast(), 4, 0, null(), null_mut())));
            let _ = sender.send(ur!(Queue.pfnFinish(inner)));
            told.recv_timeout(PATIENCE).expect("the inner task has run");
        };
        assert_eq!(enqueue(queue.handle(), &[], null_mut(), work), Code::SUCCESS);
    }
    for queue in &queues {
        queue.finish();
    }
    drop(sender);
    let answers: Vec<Code> = answers.iter().collect();
    assert_eq!(answers, vec![Code::SUCCESS; 3 * queues.len()]);
    assert_eq!(memory.read::<u32>(&inner, 1), [3]);
}

#[test]
fn urEnqueueHostTaskExp_of_a_released_queue_still_runs() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    if !is_there(&fixture) {
        return;
    }
    let context = fixture.context_of(&fixture.devices[..1]);
    let queue = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
    let mut gate = Gate::new(&fixture);
    // Blocked from outside: a kernel on the queue itself would keep the context that is to go.
    let blocked = fixture.in_order();
    let before = gate.block_event(&blocked);
    let (sender, ran) = channel();
    assert_eq!(
        enqueue(queue.handle(), &[before.handle()], null_mut(), move || sender.send(()).unwrap()),
        Code::SUCCESS
    );
    drop((queue, context));
    gate.open();
    ran.recv_timeout(PATIENCE).expect("the task runs");
}

#[test]
fn urEnqueueHostTaskExp_refuses_bad_input_and_runs_nothing() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let q = queue.handle();
    let mut event = null_mut();
    let e = &raw mut event;
    let good = ur_exp_host_task_properties_t::default();
    let bad = ur_exp_host_task_properties_t { flags: ur_exp_host_task_flags_t::from_bits_retain(0x8000), ..good };
    let foreign: [ur_event_handle_t; 1] = [q.cast()];
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        EnqueueExp.pfnHostTaskExp(null_mut(), Some(run), null_mut(), null(), 0, null(), e)
    );
    refused!(
        ERROR_INVALID_QUEUE,
        EnqueueExp.pfnHostTaskExp(fixture.context().cast(), Some(run), null_mut(), null(), 0, null(), e)
    );
    refused!(ERROR_INVALID_NULL_POINTER, EnqueueExp.pfnHostTaskExp(q, None, null_mut(), null(), 0, null(), e));
    refused!(
        ERROR_INVALID_ENUMERATION,
        EnqueueExp.pfnHostTaskExp(q, Some(run), null_mut(), &raw const bad, 0, null(), e)
    );
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, EnqueueExp.pfnHostTaskExp(q, Some(run), null_mut(), null(), 1, null(), e));
    refused!(
        ERROR_INVALID_EVENT_WAIT_LIST,
        EnqueueExp.pfnHostTaskExp(q, Some(run), null_mut(), null(), 0, foreign.as_ptr(), e)
    );
    refused!(ERROR_INVALID_EVENT, EnqueueExp.pfnHostTaskExp(q, Some(run), null_mut(), null(), 1, foreign.as_ptr(), e));
    assert!(event.is_null());
    queue.finish();
}

#[test]
fn urEnqueueHostTaskExp_that_fails_natively_runs_nothing_and_works_the_next_time() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    for call in ["cuMemHostAlloc", "cuLaunchHostFunc", "cuStreamWaitValue32_v2"] {
        for blocked in [false, true] {
            // The first task of a device makes the words that streams wait for.
            renew_adapter();
            let context = fixture.context_of(&fixture.devices[..1]);
            let queue = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
            let mut gate = Gate::in_context(&fixture, &context);
            if blocked {
                gate.block(&queue);
            }
            let (sender, ran) = channel();
            let mut event = null_mut();
            let copy: Sender<()> = sender.clone();
            sim.fail(call, 1, status::UNKNOWN);
            let answer = enqueue(queue.handle(), &[], &raw mut event, move || copy.send(()).unwrap());
            sim.clear_faults();
            assert_ne!(answer, Code::SUCCESS, "{call}");
            assert!(event.is_null(), "{call}");
            gate.open();
            queue.finish();
            assert_eq!(ran.try_recv(), Err(TryRecvError::Empty), "a task ran whose enqueue failed at {call}");
            assert_eq!(enqueue(queue.handle(), &[], null_mut(), move || sender.send(()).unwrap()), Code::SUCCESS);
            queue.finish();
            assert_eq!(ran.recv(), Ok(()));
            assert!(ran.recv().is_err());
        }
    }
}

#[test]
fn a_lost_device_drops_its_tasks_and_everything_can_be_released() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let held = sim.hold();
    Launch::new(&kernel, &[1]).on(&queue);
    let (task, event) = Stop::enqueue(&queue, &[]);
    sim.lose_device(0);
    drop(held);
    let list = [event.handle()];
    refused!(ERROR_DEVICE_LOST, Event.pfnWait(1, list.as_ptr()));
    refused!(ERROR_DEVICE_LOST, Queue.pfnFinish(queue.handle()));
    let mut none = null_mut();
    assert_eq!(
        enqueue(queue.handle(), &[], &raw mut none, || panic!("a task of a lost device")),
        Code::ERROR_DEVICE_LOST
    );
    assert!(none.is_null() && !task.has_begun());
    drop((event, queue));
}

/// From the device into memory of the heap, changed there by a task, and on into other memory of the host.
#[test]
fn urEnqueueUSMMemcpy_of_the_heap_keeps_its_order_with_a_task() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    for flags in ORDERS {
        for count in [4, 1 << 14] {
            let queue = fixture.queue(flags);
            let bytes = count * size_of::<u32>();
            let (from, to) = (fixture.memory(Kind::Device, bytes), fixture.memory(Kind::Host, bytes));
            from.write(&queue, &vec![7u32; count]);
            to.write(&queue, &vec![0u32; count]);
            let mut heap = vec![0u32; count];
            let address = heap.as_mut_ptr();
            let copy = |to: *mut c_void, from: *const c_void, after: &[ur_event_handle_t]| {
                let (count, list) = (after.len() as u32, if after.is_empty() { null() } else { after.as_ptr() });
                let (q, no) = (queue.handle(), CBool::FALSE);
                event_of(|event| ur!(Enqueue.pfnUSMMemcpy(q, no, to, from, bytes, count, list, event)))
            };
            let read = copy(address.cast(), from.pointer(), &[]);
            let (cell, enqueued) = (AtomicPtr::new(address), Arc::new(AtomicBool::new(false)));
            let seen = Arc::clone(&enqueued);
            let task = event_of(|event| {
                enqueue(queue.handle(), &[read.handle()], event, move || {
                    // Long enough for a copy that does not wait to be on its way with the old bytes.
                    (0..20_000).take_while(|_| !seen.load(Ordering::Acquire)).for_each(|_| std::thread::yield_now());
                    // SAFETY: the copy before it has written the memory, and the one after it waits for the task.
                    unsafe { core::slice::from_raw_parts_mut(cell.into_inner(), count) }.fill(8);
                })
            });
            let written = copy(to.pointer(), address.cast(), &[task.handle()]);
            enqueued.store(true, Ordering::Release);
            written.wait();
            assert!(to.read::<u32>(&queue, count).iter().all(|&word| word == 8), "{flags:?}, {count} words");
            drop(heap);
        }
    }
}
