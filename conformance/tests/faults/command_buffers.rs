//! Every native call of recording, changing and launching a command buffer fails in turn; a device goes away while a launch
//! runs. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Change, Command, SyncPoint, description, device_can, list};
use ur_conformance::current::{Current, Place};
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{
    ur_device_info_t, ur_event_handle_t, ur_exp_event_desc_t, ur_mem_flags_t as MemFlags, ur_queue_flags_t as Flags,
    ur_result_t as Code,
};
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, CommandBuffer, Context, Environment, Event, Fixture, Kind, Launch, Timeline, buffer, expect_code, memory,
    needs_function, needs_sim, ok, timeline, ur,
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

fn make_buffer(context: &Context) -> Attempt<Buffer> {
    let mut made = null_mut();
    let answer = buffer::create(context.handle(), MemFlags::READ_WRITE, 4 * WORDS, null_mut(), &raw mut made);
    tried("urMemBufferCreate", answer, || Buffer::take(made, 4 * WORDS))
}

fn make_commands(context: &Context, fixture: &Fixture) -> Attempt<CommandBuffer> {
    let (given, mut made) = (description(true, false, false), null_mut());
    let answer =
        ur!(CommandBufferExp.pfnCreateExp(context.handle(), fixture.device(), &raw const given, &raw mut made));
    assert_eq!(made.is_null(), answer != Code::SUCCESS, "urCommandBufferCreateExp's output");
    tried("urCommandBufferCreateExp", answer, || CommandBuffer::take(made))
}

/// A little of every kind of node, changed and launched. Whatever fails ends it, and everything is given back.
fn scenario(fixture: &Fixture, image: &[u8], flags: Flags) -> Attempt<()> {
    let context = fixture.context_of(&fixture.devices[..1]);
    let mut pointer = null_mut();
    let answer = memory::allocate(Kind::Host, context.handle(), fixture.device(), null(), 256, &raw mut pointer);
    let out = tried("urUSMHostAlloc", answer, || Block { context: &context, pointer })?;
    let queue = make_queue(&context, fixture.device(), flags)?;
    let (_program, kernel) = make_kernel(&context, &fixture.devices[..1], image, c"add_constant")?;
    let (one, two) = (make_buffer(&context)?, make_buffer(&context)?);
    let commands = make_commands(&context, fixture)?;
    let _finish = Finish(&queue);
    let (b, m1, m2, unit) = (commands.handle(), one.handle(), two.handle(), 3u32);
    let (no, n, from) = (null(), null_mut(), (&raw const unit).cast());
    let mut points = [SyncPoint::MAX; 5];
    let [filled, copied, launched, read, odd] = points.each_mut().map(|point| &raw mut *point);
    let answer =
        ur!(CommandBufferExp.pfnAppendMemBufferFillExp(b, m1, from, 4, 0, 64, 0, null(), 0, no, filled, n, null_mut()));
    tried("urCommandBufferAppendMemBufferFillExp", answer, || ())?;
    let answer =
        ur!(CommandBufferExp.pfnAppendMemBufferCopyExp(b, m1, m2, 0, 0, 64, 1, filled, 0, no, copied, n, null_mut()));
    tried("urCommandBufferAppendMemBufferCopyExp", answer, || ())?;
    let launch = Launch::new(&kernel, &[WORDS]).buffer(&two, MemFlags::READ_WRITE).value(10u32).value(WORDS as u32);
    // SAFETY: a local, which the calls before have written.
    let after = [unsafe { copied.read() }];
    let mut command = null_mut();
    let answer = commands.append(&launch, &[], &after, launched, &raw mut command);
    tried("urCommandBufferAppendKernelLaunch[WithArgs]Exp", answer, || ())?;
    let to = out.pointer;
    let answer =
        ur!(CommandBufferExp.pfnAppendMemBufferReadExp(b, m2, 0, 64, to, 1, launched, 0, no, read, n, null_mut()));
    tried("urCommandBufferAppendMemBufferReadExp", answer, || ())?;
    // SAFETY: a word of the block, which nothing uses yet.
    unsafe { out.pointer.wrapping_byte_add(128).cast::<u32>().write(0) };
    let to = out.pointer.wrapping_byte_add(64);
    let pattern = [1u8, 2, 3];
    let from = pattern.as_ptr().cast();
    let answer = ur!(CommandBufferExp.pfnAppendUSMFillExp(b, to, from, 3, 63, 0, null(), 0, no, odd, n, null_mut()));
    tried("urCommandBufferAppendUSMFillExp", answer, || ())?;
    // Several that follow each other, and the end of the recording behind them.
    let (chained, mut last) = (out.pointer.wrapping_byte_add(128), [points[3]]);
    for _ in 0..3 {
        let launch = Launch::new(&kernel, &[1]).pointer(chained).value(7u32).value(1u32);
        let mut point = SyncPoint::MAX;
        let answer = commands.append(&launch, &[], &last, &raw mut point, null_mut());
        tried("urCommandBufferAppendKernelLaunch[WithArgs]Exp", answer, || ())?;
        last = [point];
    }
    tried("urCommandBufferFinalizeExp", ur!(CommandBufferExp.pfnFinalizeExp(b)), || ())?;
    let first = enqueue("urEnqueueCommandBufferExp", |event| commands.enqueue(&queue, &[], event))?;
    let answer = commands.change(&[Change::of(command).value(1, 20u32)]);
    tried("urCommandBufferUpdateKernelLaunchExp", answer, || ())?;
    let second = enqueue("urEnqueueCommandBufferExp", |event| commands.enqueue(&queue, &[&first], event))?;
    let list = [second.handle()];
    tried("urEventWait", ur!(Event.pfnWait(1, list.as_ptr())), || ())?;
    // SAFETY: host memory of that many words, and the launches that write it have finished.
    let words = unsafe { core::slice::from_raw_parts(out.pointer.cast::<u32>(), WORDS) };
    assert!(words.iter().all(|&word| word == 23), "every call succeeded and the result is wrong: {words:x?}");
    // SAFETY: as above.
    let sum = unsafe { chained.cast::<u32>().read() };
    assert_eq!(sum, 2 * 3 * 7, "every call succeeded and the sum of launches that follow each other is wrong");
    // SAFETY: as above, for bytes.
    let bytes = unsafe { core::slice::from_raw_parts(out.pointer.cast::<u8>().add(64), 63) };
    assert!(bytes.chunks(3).all(|unit| unit == pattern), "the odd pattern is wrong: {bytes:x?}");
    tried("urQueueFinish", ur!(Queue.pfnFinish(queue.handle())), || ())
}

fn sweep(flags: Flags, error: i32, returning: bool) {
    let mut fixture = Fixture::new();
    if fixture.sim().is_none() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let image = Environment::get().image("basic.ptx");
    let sweep = Sweep { error, returning, least: 10, may_also: |_, _| false };
    sweep.over(&mut fixture, |fixture| scenario(fixture, &image, flags));
}

#[test]
fn out_of_memory_in_any_native_call_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::OUT_OF_MEMORY, false);
}

#[test]
fn an_unknown_failure_in_any_native_call_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::UNKNOWN, false);
}

#[test]
fn an_unknown_failure_in_any_native_call_of_an_out_of_order_profiling_queue_is_reported_and_leaves_nothing() {
    let flags = Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE | Flags::PROFILING_ENABLE;
    sweep(flags, status::UNKNOWN, false);
}

#[test]
fn a_lost_context_in_any_native_call_is_reported_as_a_lost_device() {
    sweep(Flags::empty(), status::ILLEGAL_ADDRESS, false);
}

#[test]
fn a_native_call_that_cannot_give_something_back_harms_nothing_else() {
    sweep(Flags::empty(), status::UNKNOWN, true);
}

#[test]
fn a_device_that_is_lost_in_mid_launch_fails_with_DEVICE_LOST_and_everything_can_be_released() {
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let current = Current::at(Place::LastDevice);
        let (kernel, queue) = (fixture.basic(c"iota"), fixture.queue(flags));
        let memory = fixture.memory(Kind::Device, 64);
        let commands = CommandBuffer::updatable(&fixture);
        let launch = Launch::new(&kernel, &[8]).pointer(memory.pointer()).value(8u32);
        let (_, command) = commands.command(&launch, &[]);
        commands.finalize();
        let held = sim.hold();
        let event = commands.event_on(&queue, &[]);
        sim.lose_device(0);
        drop(held);
        let (q, list, mut second) = (queue.handle(), [event.handle()], null_mut());
        let lost = [Code::ERROR_DEVICE_LOST];
        current.after("urEventWait", || expect_code(ur!(Event.pfnWait(1, list.as_ptr())), &lost, "urEventWait"));
        current.after("urQueueFinish", || expect_code(ur!(Queue.pfnFinish(q)), &lost, "urQueueFinish"));
        current.after("a launch", || {
            expect_code(commands.enqueue(&queue, &[], &raw mut second), &lost, "urEnqueueCommandBufferExp");
        });
        assert!(second.is_null());
        current.after("a change", || {
            // Whether the native library notices when a graph is changed is its own matter.
            let codes = [Code::SUCCESS, Code::ERROR_DEVICE_LOST];
            expect_code(commands.change(&[Change::of(command).value(1, 4u32)]), &codes, "a change");
        });
        current.after("the releases", || drop((event, commands, queue, kernel)));
        current.after("urUSMFree", || drop(memory));
        drop(current);
    }
}

/// The buffer's contents are the application's: a launch that thinks them written would bring nothing to the device.
#[test]
fn a_fill_that_could_not_be_appended_is_no_use_of_its_buffer() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4);
    let mut contents: Vec<u32> = (1..=WORDS as u32).collect();
    let expected = contents.clone();
    let host = contents.as_mut_ptr().cast();
    let flags = MemFlags::READ_WRITE | MemFlags::USE_HOST_POINTER;
    let buffer = Buffer::of(fixture.context(), flags, 4 * WORDS, host);
    // Nodes for the units' bytes, and one that joins them; or an event behind them.
    let (pattern, mut event) = ([1u8, 2, 3], null_mut());
    for (call, asks_for_event) in [("cuGraphAddEmptyNode", false), ("cuGraphAddEventRecordNode", true)] {
        let commands = CommandBuffer::new(&fixture);
        let (b, m, from, mut point) = (commands.handle(), buffer.handle(), pattern.as_ptr().cast(), SyncPoint::MAX);
        let (out, wanted) = (&raw mut point, if asks_for_event { &raw mut event } else { null_mut() });
        sim.fail(call, 1, status::OUT_OF_MEMORY);
        let answer = ur!(CommandBufferExp.pfnAppendMemBufferFillExp(
            b,
            m,
            from,
            3,
            0,
            63,
            0,
            null(),
            0,
            null(),
            out,
            wanted,
            null_mut()
        ));
        sim.clear_faults();
        assert_ne!(answer, Code::SUCCESS, "{call}");
        commands.fill(memory.pointer(), &[7u32], 4, &[]);
        commands.finalize();
        commands.on(&queue);
        queue.finish();
        assert_eq!(buffer.read::<u32>(&queue), expected, "{call}");
    }
}

/// What a node names is signalled behind no timeline, since the node would not see that.
#[test]
fn an_event_of_an_append_or_update_that_failed_is_signalled_behind_a_timeline() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP) || !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let memory = fixture.memory(Kind::Device, 8);
    let (given, mut event, mut plain) = (ur_exp_event_desc_t::default(), null_mut(), null_mut());
    ok!(EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const given, &raw mut event));
    ok!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), &raw mut plain));
    let (event, plain) = (Event::take(event), Event::take(plain));
    let buffer = CommandBuffer::updatable(&fixture);
    let copy = |waits: &[ur_event_handle_t], signal: *mut ur_event_handle_t, command: *mut Command| {
        let (b, to, from, none) = (buffer.handle(), memory.at(4), memory.pointer(), null_mut());
        let (count, waits) = list(waits);
        ur!(CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, from, 4, 0, null(), count, waits, none, signal, command))
    };
    let mut value = 0;
    let mut expect_signal = |what: &str| {
        value += 1;
        queue.wait_for(&timeline, value);
        let mut given = event.handle();
        let answer = ur!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut given));
        timeline.signal(value);
        queue.finish();
        assert_eq!(answer, Code::SUCCESS, "a signal behind a timeline, after {what}");
    };
    expect_signal("nothing");
    let mut signal = null_mut();
    for call in ["cuGraphAddEventWaitNode", "cuGraphAddMemcpyNode", "cuGraphAddEventRecordNode"] {
        sim.fail(call, 1, status::UNKNOWN);
        let answer = copy(&[event.handle()], &raw mut signal, null_mut());
        assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "{call}");
        expect_signal(call);
    }
    let mut command = null_mut();
    expect_code(copy(&[plain.handle()], null_mut(), &raw mut command), &[Code::SUCCESS], "an append");
    buffer.finalize();
    sim.fail("cuGraphExecEventWaitNodeSetEvent", 1, status::UNKNOWN);
    let waits = [event.handle()];
    let answer = ur!(CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, waits.as_ptr()));
    assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC, "urCommandBufferUpdateWaitEventsExp");
    expect_signal("an update");
    buffer.on(&queue);
    queue.finish();
    for waits in [[event.handle()], [plain.handle()]] {
        ok!(CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, waits.as_ptr()));
        // The first launch lets go of what the one before used, once that has finished.
        for _ in 0..2 {
            buffer.on(&queue);
            queue.finish();
        }
    }
    expect_signal("an update to another event, and launches");
    drop(buffer);
    let other = CommandBuffer::updatable(&fixture);
    let named = [event.handle()];
    let (b, to, from, none) = (other.handle(), memory.at(4), memory.pointer(), null_mut());
    let (count, waits) = list(&named);
    ok!(CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, from, 4, 0, null(), count, waits, none, null_mut(), null_mut()));
    drop(other);
    expect_signal("the end of a buffer");
}
