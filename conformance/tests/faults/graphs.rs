//! Every native call of a capture, and of changing a command buffer, fails in turn: the queue captures and executes afterwards as
//! before, and the buffer does what it did. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::cell::Cell;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Change, Command, SyncPoint, device_can};
use ur_conformance::control::Control;
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{ur_device_info_t, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::graph::{ExecutableGraph, are_there, is_capturing};
use ur_conformance::sim::status;
use ur_conformance::{
    CommandBuffer, Context, Environment, Event, Fixture, Graph, Kernel, Kind, Launch, Memory, Queue, memory, needs_sim,
    ur,
};

const WORDS: usize = 16;

/// Memory that is given back whatever happens. A failed free is tried once more, since the fault was one call's.
struct Block<'c> {
    context: &'c Context,
    pointer: *mut core::ffi::c_void,
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        if ur!(USM.pfnFree(self.context.handle(), self.pointer)) != Code::SUCCESS {
            let _ = ur!(USM.pfnFree(self.context.handle(), self.pointer));
        }
    }
}

/// What a queue is given while it captures: memory that comes and goes, a fill, a launch, a copy, a barrier and another launch.
fn commands(queue: &Queue, kernel: &Kernel, out: *mut core::ffi::c_void) -> Attempt<()> {
    let (q, bytes, mut block) = (queue.handle(), 4 * WORDS, null_mut());
    let (none, to) = (null_mut(), &raw mut block);
    let allocated = enqueue("urEnqueueUSMDeviceAllocExp", |event| {
        ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, none, bytes, null(), 0, null(), to, event))
    })?;
    let (unit, list) = (3u32, [allocated.handle()]);
    let from = (&raw const unit).cast();
    let filled = enqueue("urEnqueueUSMFill", |event| {
        ur!(Enqueue.pfnUSMFill(q, block, 4, from, bytes, 1, list.as_ptr(), event))
    })?;
    let launch = |memory, after: &[&Event]| {
        Launch::new(kernel, &[WORDS]).pointer(memory).value(10u32).value(WORDS as u32).after(after)
    };
    let added = enqueue("a launch", |event| launch(block, &[&filled]).enqueue(queue, event))?;
    let list = [added.handle()];
    let copied = enqueue("urEnqueueUSMMemcpy", |event| {
        ur!(Enqueue.pfnUSMMemcpy(q, false.into(), out, block, bytes, 1, list.as_ptr(), event))
    })?;
    let list = [copied.handle()];
    enqueue("urEnqueueUSMFreeExp", |event| {
        ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 1, list.as_ptr(), event))
    })?;
    enqueue("urEnqueueEventsWaitWithBarrier", |event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event)))?;
    enqueue("a launch", |event| launch(out, &[]).enqueue(queue, event)).map(drop)
}

/// Captures, whatever fails; the queue executes again afterwards.
fn capture(queue: &Queue, kernel: &Kernel, out: *mut core::ffi::c_void) -> Attempt<Graph> {
    tried("urQueueBeginGraphCaptureExp", ur!(QueueExp.pfnBeginGraphCaptureExp(queue.handle())), || ())?;
    let recorded = commands(queue, kernel, out);
    let mut graph = null_mut();
    let mut ended = ur!(QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
    assert_eq!(graph.is_null(), ended != Code::SUCCESS, "urQueueEndGraphCaptureExp's output");
    if is_capturing(queue) {
        // What failed was not the end.
        assert_ne!(ended, Code::SUCCESS);
        let again = ur!(QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
        assert!(again == Code::SUCCESS || recorded.is_err(), "the capture cannot be ended: {again:?}");
        ended = if graph.is_null() { again } else { ended };
    }
    assert!(!is_capturing(queue));
    let graph = (!graph.is_null()).then(|| Graph::take(graph));
    recorded?;
    match (ended, graph) {
        (Code::SUCCESS, Some(graph)) => Ok(graph),
        (code, _) => Err(("urQueueEndGraphCaptureExp", code)),
    }
}

fn scenario(fixture: &Fixture, image: &[u8], flags: Flags) -> Attempt<()> {
    let context = fixture.context_of(&fixture.devices[..1]);
    let mut pointer = null_mut();
    let answer = memory::allocate(Kind::Host, context.handle(), fixture.device(), null(), 256, &raw mut pointer);
    let out = tried("urUSMHostAlloc", answer, || Block { context: &context, pointer })?;
    let (_program, kernel) = make_kernel(&context, &fixture.devices[..1], image, c"add_constant")?;
    let queue = make_queue(&context, fixture.device(), flags)?;
    let _finish = Finish(&queue);
    let captured = capture(&queue, &kernel, out.pointer);
    // Whatever became of it, the queue executes: the fault was one call's.
    let plain = Launch::new(&kernel, &[WORDS]).pointer(out.pointer).value(1u32).value(WORDS as u32);
    let executed = tried("a launch after the capture", plain.enqueue(&queue, null_mut()), || ());
    assert!(captured.is_ok() || executed.is_ok(), "{captured:?}, and then {executed:?}");
    let graph = captured?;
    executed?;
    let mut executable = null_mut();
    let answer = ur!(GraphExp.pfnInstantiateGraphExp(graph.handle(), &raw mut executable));
    assert_eq!(executable.is_null(), answer != Code::SUCCESS, "urGraphInstantiateGraphExp's output");
    let executable = tried("urGraphInstantiateGraphExp", answer, || ExecutableGraph::take(executable))?;
    tried("urQueueFinish", ur!(Queue.pfnFinish(queue.handle())), || ())?;
    let done = enqueue("urEnqueueGraphExp", |event| executable.enqueue(&queue, &[], event))?;
    let list = [done.handle()];
    tried("urEventWait", ur!(Event.pfnWait(1, list.as_ptr())), || ())?;
    // SAFETY: host memory of that many words, and the launches that write it have finished.
    let words = unsafe { core::slice::from_raw_parts(out.pointer.cast::<u32>(), WORDS) };
    assert!(words.iter().all(|&word| word == 23), "every call succeeded and the result is wrong: {words:x?}");
    tried("urQueueFinish", ur!(Queue.pfnFinish(queue.handle())), || ())
}

fn sweep(flags: Flags, error: i32) {
    let mut fixture = Fixture::new();
    if fixture.sim().is_none() || !are_there(&fixture) {
        println!("skipped: needs the simulated driver, with captures");
        return;
    }
    let image = Environment::get().image("basic.ptx");
    let may_also = |_: &str, code| code == ur_conformance::told(Code::ERROR_GRAPH_CAPTURE_INVALIDATED);
    Sweep { error, returning: false, least: 10, may_also }
        .over(&mut fixture, |fixture| scenario(fixture, &image, flags));
}

#[test]
fn an_unknown_failure_in_any_native_call_of_a_capture_is_reported_and_leaves_the_queue_as_it_was() {
    sweep(Flags::empty(), status::UNKNOWN);
}

#[test]
fn out_of_memory_in_any_native_call_of_a_capture_is_reported_and_leaves_the_queue_as_it_was() {
    sweep(Flags::empty(), status::OUT_OF_MEMORY);
}

#[test]
fn a_failure_in_any_native_call_of_a_capture_out_of_order_is_reported_and_leaves_the_queue_as_it_was() {
    sweep(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, status::UNKNOWN);
}

/// A buffer of three launches that can be changed, the second of which waits for an event where that can be.
struct Changeable<'f> {
    buffer: CommandBuffer,
    commands: Vec<Command>,
    memory: &'f Memory<'f>,
    queue: &'f Queue,
}

impl Changeable<'_> {
    fn change(&self, value: u32) -> Code {
        let change = |(word, &command): (usize, &Command)| {
            Change::of(command).pointer(0, self.memory.at(4 * word)).value(1, value + word as u32).global(&[1])
        };
        self.buffer.change(&self.commands.iter().enumerate().map(change).collect::<Vec<_>>())
    }

    #[track_caller]
    fn expect(&self, value: u32, what: &str) {
        self.memory.write(self.queue, &[0u32; 3]);
        self.buffer.on(self.queue);
        self.queue.finish();
        assert_eq!(self.memory.read::<u32>(self.queue, 3), [value, value + 1, value + 2], "{what}");
    }
}

/// Fails each native call that `work` makes, in every library that can be made to. Gives what came of it to `check`.
fn each_call(work: impl Fn() -> Code, check: impl Fn(Code, &str)) {
    let mut failures = 0;
    for library in Control::loaded() {
        let (answer, calls) = library.calls_of(&work);
        assert_eq!(answer, Code::SUCCESS, "{}", ur_conformance::last_error());
        check(answer, "nothing fails");
        for (name, count) in &calls {
            for nth in 1..=*count {
                library.fail(name, nth, status::UNKNOWN);
                let answer = work();
                library.clear_faults();
                let what = format!("{name}, call {nth} of {count}");
                assert!([Code::SUCCESS, Code::ERROR_ADAPTER_SPECIFIC].contains(&answer), "{what}: {answer:?}");
                failures += usize::from(answer != Code::SUCCESS);
                check(answer, &what);
            }
        }
    }
    assert!(failures > 0, "no failure reached the caller");
}

#[test]
fn a_change_of_which_any_native_call_fails_has_changed_nothing() {
    let fixture = Fixture::new();
    let _sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 12);
    let buffer = CommandBuffer::updatable(&fixture);
    let command = |word: usize| {
        let launch = Launch::new(&kernel, &[1]).pointer(memory.at(4 * word)).value(word as u32).value(1u32);
        buffer.command(&launch, &[]).1
    };
    let commands = (0..3).map(command).collect();
    buffer.finalize();
    let all = Changeable { buffer, commands, memory: &memory, queue: &queue };
    all.expect(0, "as it was recorded");
    each_call(
        || all.change(50),
        |answer, what| {
            all.expect(if answer == Code::SUCCESS { 50 } else { 0 }, what);
            assert_eq!(all.change(0), Code::SUCCESS, "{what}: the next change");
            all.expect(0, what);
        },
    );
}

#[test]
fn a_change_of_events_of_which_any_native_call_fails_has_changed_nothing() {
    let fixture = Fixture::new();
    let _sim = needs_sim!(fixture);
    if !device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    let before = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(1u32).value(1u32).event_on(&queue);
    let buffer = CommandBuffer::updatable(&fixture);
    let (b, to, unit, mut command, mut signal) = (buffer.handle(), memory.pointer(), 5u32, null_mut(), null_mut());
    let (from, waits, none) = ((&raw const unit).cast(), [before.handle()], null_mut::<SyncPoint>());
    ur_conformance::ok!(CommandBufferExp.pfnAppendUSMFillExp(
        b,
        to,
        from,
        4,
        4,
        0,
        null(),
        1,
        waits.as_ptr(),
        none,
        &raw mut signal,
        &raw mut command
    ));
    drop(Event::take(signal));
    buffer.finalize();
    let launches = |what: &str| {
        memory.write(&queue, &[0u32]);
        buffer.on(&queue);
        queue.finish();
        assert_eq!(memory.read::<u32>(&queue, 1), [5], "{what}");
    };
    let made = || Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(1u32).value(1u32).event_on(&queue);
    let (events, turn) = ([made(), made()], Cell::new(0));
    let update_waits = || {
        // Made before: what is failed is the change alone.
        let event = &events[turn.replace(1 - turn.get())];
        let list = [event.handle()];
        ur!(CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, list.as_ptr()))
    };
    each_call(update_waits, |_, what| launches(what));
    let update_signal = || {
        let mut signal = null_mut();
        let answer = ur!(CommandBufferExp.pfnUpdateSignalEventExp(command, &raw mut signal));
        assert_eq!(signal.is_null(), answer != Code::SUCCESS, "urCommandBufferUpdateSignalEventExp's output");
        if !signal.is_null() {
            drop(Event::take(signal));
        }
        answer
    };
    each_call(update_signal, |_, what| launches(what));
}
