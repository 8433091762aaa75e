//! Every native call fails in turn while commands on buffers and images are deferred: whoever waits hears of it, maps can be
//! given back, and nothing is left. As `timelines`. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null_mut;

use crate::buffers::{BYTES, WORDS, make_buffer, set};
use crate::timelines::{Fail, make_timeline};
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{CBool, ur_map_flags_t as Map, ur_mem_flags_t as Mem, ur_queue_flags_t as Flags};
use ur_conformance::sim::status;
use ur_conformance::{Environment, Event, Fixture, Image, Launch, Mem as Memory, Shape, Timeline, timeline, ur};

/// The event of a timeline's value.
fn point(timeline: &Timeline, value: u64) -> Attempt<Event> {
    let get = |event| ur!(TimelineExt.pfnTimelineGetEventExt(timeline.handle(), value, event));
    enqueue("urTimelineGetEventExt", get)
}

fn signal(timeline: &Timeline, value: u64) -> Attempt<()> {
    tried("urTimelineSignalExt", ur!(TimelineExt.pfnTimelineSignalExt(timeline.handle(), value)), || ())
}

fn wait(event: &Event) -> Attempt<()> {
    tried("urEventWait", ur!(Event.pfnWait(1, [event.handle()].as_ptr())), || ())
}

fn scenario(fixture: &Fixture, image: &[u8], devices: usize, flags: Flags, source: Mem) -> Attempt<()> {
    let (mut host, expected, mut found) = (vec![1u32; WORDS], vec![5u32; WORDS], vec![0u32; WORDS]);
    let (mut seen, shape) = ([0u32; 16], Shape::word(&[4, 4]));
    let context = fixture.context_of(&fixture.devices[..devices]);
    let (_program, kernel) = make_kernel(&context, &fixture.devices[..devices], image, c"add_constant")?;
    let (first, second) =
        (make_queue(&context, fixture.devices[0], flags)?, make_queue(&context, fixture.devices[devices - 1], flags)?);
    let (one, other) = (make_buffer(&context, source, &mut host)?, make_buffer(&context, Mem::empty(), &mut [])?);
    let (answer, mem) = shape.create(context.handle(), Mem::READ_WRITE, null_mut());
    let picture = tried("urMemImageCreate", answer, || Image { mem: Memory::take(mem), shape })?;
    let timeline = make_timeline(&context)?;
    let _finish = (Finish(&first), Finish(&second));
    // Whatever has failed, nothing waits for ever.
    let _fail = Fail(&timeline);
    let (q1, q2, m, o, no) = (first.handle(), second.handle(), one.handle(), other.handle(), CBool::FALSE);
    let begin = point(&timeline, 1)?;
    let list = [begin.handle()];
    let written = enqueue("urEnqueueMemBufferWrite", |event| {
        ur!(Enqueue.pfnMemBufferWrite(
            q1,
            m,
            no,
            0,
            BYTES,
            expected.as_ptr().cast_mut().cast(),
            1,
            list.as_ptr(),
            event
        ))
    })?;
    let add = Launch::new(&kernel, &[WORDS]).local(&[8]).buffer(&one, Mem::READ_WRITE).value(10u32).value(WORDS as u32);
    let add = add.after(&[&written]);
    let added = enqueue("a launch", |event| add.enqueue(&second, event))?;
    let list = [added.handle()];
    let copied = enqueue("urEnqueueMemBufferCopy", |event| {
        ur!(Enqueue.pfnMemBufferCopy(q1, m, o, 0, 0, BYTES, 1, list.as_ptr(), event))
    })?;
    let (list, mut pointer) = ([copied.handle()], null_mut());
    let mapped = enqueue("urEnqueueMemBufferMap", |event| {
        let (access, out) = (Map::READ | Map::WRITE, &raw mut pointer);
        ur!(Enqueue.pfnMemBufferMap(q2, o, no, access, 0, BYTES, 1, list.as_ptr(), event, out))
    })?;
    signal(&timeline, 1)?;
    wait(&mapped)?;
    // SAFETY: the map has finished.
    assert_eq!(unsafe { pointer.cast::<u32>().read() }, 15, "every call succeeded and the map is wrong");
    set(pointer, 0, 77);
    let middle = point(&timeline, 2)?;
    let list = [middle.handle()];
    let unmapped =
        enqueue("urEnqueueMemUnmap", |event| ur!(Enqueue.pfnMemUnmap(q1, o, pointer, 1, list.as_ptr(), event)))?;
    let (words, whole) = ([9u32; 16], picture.whole());
    let painted = enqueue("urEnqueueMemImageWrite", |event| {
        picture.write_box(&first, &whole, [0, 0], words.as_ptr().cast(), &list, event)
    })?;
    let list = [unmapped.handle()];
    let to = found.as_mut_ptr().cast();
    let read = enqueue("urEnqueueMemBufferRead", |event| {
        ur!(Enqueue.pfnMemBufferRead(q2, o, no, 0, BYTES, to, 1, list.as_ptr(), event))
    })?;
    signal(&timeline, 2)?;
    wait(&read)?;
    wait(&painted)?;
    tried("urQueueFinish", ur!(Queue.pfnFinish(q1)), || ())?;
    let to = seen.as_mut_ptr().cast();
    tried("urEnqueueMemImageRead", picture.read_box(&second, &whole, [0, 0], to, &[], null_mut()), || ())?;
    tried("urQueueFinish", ur!(Queue.pfnFinish(q2)), || ())?;
    assert_eq!((found[0], found[1], seen), (77, 15, words), "every call succeeded and the result is wrong");
    Ok(())
}

fn sweep(devices: usize, flags: Flags, source: Mem, error: i32) {
    let mut fixture = Fixture::new();
    if fixture.sim().is_none() || !timeline::are_there() || fixture.devices.len() < devices {
        println!("skipped: needs the simulated driver with {devices} devices, and timelines");
        return;
    }
    // The worker that submits a command holds its queue a moment longer than whoever waited for the command.
    fixture.allow_late_releases();
    let image = Environment::get().image("basic.ptx");
    let sweep = Sweep { error, returning: false, least: 5, may_also: |_, _| false };
    sweep.over(&mut fixture, |fixture| scenario(fixture, &image, devices, flags, source));
}

#[test]
fn out_of_memory_in_any_native_call_of_deferred_commands_on_memory_is_reported_and_leaves_nothing() {
    for devices in [1, 2] {
        sweep(devices, Flags::empty(), Mem::empty(), status::OUT_OF_MEMORY);
    }
}

#[test]
fn an_unknown_failure_in_any_native_call_of_deferred_commands_on_memory_out_of_order_leaves_nothing() {
    sweep(2, Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Mem::ALLOC_COPY_HOST_POINTER, status::UNKNOWN);
}

#[test]
fn a_lost_context_in_any_native_call_of_deferred_commands_on_memory_is_reported_as_a_lost_device() {
    sweep(1, Flags::PROFILING_ENABLE, Mem::USE_HOST_POINTER, status::ILLEGAL_ADDRESS);
}
