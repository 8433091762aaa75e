//! Every native call fails in turn while commands on buffers and images are deferred: whoever waits hears of it, maps can be
//! given back, and nothing is left. As `timelines`. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null_mut;

use crate::buffers::{BYTES, WORDS, make_buffer, set};
use crate::timelines::{Fail, make_timeline};
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_map_flags_t as Map, ur_mem_flags_t as Mem, ur_queue_flags_t as Flags,
    ur_queue_handle_t, ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Plan, Take};
use ur_conformance::sim::status;
use ur_conformance::{
    Buffer, Environment, Event, Fixture, Image, Launch, Mem as Memory, Shape, Timeline, expect_code, needs_sim,
    timeline, ur,
};

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

/// When a device is lost that commands are deferred for.
#[derive(Clone, Copy, Debug)]
enum Lost {
    /// While they are deferred; then what they wait for is signalled.
    Early,
    /// When they are on their way to streams that get nowhere.
    Late,
    /// While they are deferred; then nobody is left who could signal.
    Unsignalled,
}

/// A queue, on which each command waits for the one before, and the events.
struct Chain<'t> {
    queue: ur_queue_handle_t,
    timeline: &'t Timeline,
    events: Vec<Event>,
}

impl Chain<'_> {
    #[track_caller]
    fn put(
        &mut self,
        command: impl FnOnce(ur_queue_handle_t, *const ur_event_handle_t, *mut ur_event_handle_t) -> Code,
    ) {
        let list = [self.events.last().map_or_else(null_mut, Event::handle)];
        self.events.push(event_of(|event| command(self.queue, list.as_ptr(), event)));
    }

    fn begin(&mut self) {
        self.events.push(self.timeline.event(1));
    }
}

/// Allocations, frees and commands on a buffer behind a timeline's value, of a device that is lost.
fn lose(fixture: &Fixture, flags: Flags, source: Mem, lost: Lost) {
    let sim = needs_sim!(fixture);
    let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(fixture));
    let (kernel, pool) = (fixture.basic(c"add_constant"), Plan::new().of(fixture));
    let (mut under, given, mut found) = (vec![1u32; WORDS], vec![5u32; WORDS], vec![0u32; WORDS]);
    let wants = source.intersects(Mem::USE_HOST_POINTER | Mem::ALLOC_COPY_HOST_POINTER);
    let host = if wants { under.as_mut_ptr().cast() } else { null_mut() };
    let buffer = Buffer::of(fixture.context(), source, BYTES, host);
    buffer.write(&queue, &given);
    let (take, mut before) = (Take::new(4096).from(&pool), null_mut());
    let allocated = event_of(|event| take.enqueue(&queue, &raw mut before, event));
    let (b, no, mut mapped) = (buffer.handle(), CBool::FALSE, null_mut());
    let mut chain = Chain { queue: queue.handle(), timeline: &timeline, events: Vec::new() };
    chain.begin();
    let mut promised = null_mut();
    // On a queue out of order nothing else puts the free of the first block behind its allocation.
    let take = Take::new(8192).from(&pool).after(&[chain.events.last().unwrap(), &allocated]);
    chain.events.push(event_of(|event| take.enqueue(&queue, &raw mut promised, event)));
    let from = given.as_ptr().cast_mut().cast();
    chain.put(|q, list, event| ur!(Enqueue.pfnMemBufferWrite(q, b, no, 0, BYTES, from, 1, list, event)));
    let launch = Launch::new(&kernel, &[WORDS]).buffer(&buffer, Mem::READ_WRITE).value(10u32).value(WORDS as u32);
    let launched = event_of(|event| launch.after(&[chain.events.last().unwrap()]).enqueue(&queue, event));
    chain.events.push(launched);
    chain.put(|q, list, event| ur!(Enqueue.pfnUSMFill(q, promised, 4, from, 8192, 1, list, event)));
    let to = found.as_mut_ptr().cast();
    chain.put(|q, list, event| ur!(Enqueue.pfnMemBufferRead(q, b, no, 0, BYTES, to, 1, list, event)));
    chain.put(|q, list, event| {
        ur!(Enqueue.pfnMemBufferMap(q, b, no, Map::READ, 0, BYTES, 1, list, event, &raw mut mapped))
    });
    chain.put(|q, list, event| ur!(Enqueue.pfnMemUnmap(q, b, mapped, 1, list, event)));
    for block in [before, promised] {
        chain.put(|q, list, event| ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 1, list, event)));
    }
    assert_eq!(pool::used(pool.handle()).0, 4096 + 8192, "what is promised is in use, what is to be freed still");
    match lost {
        Lost::Early => {
            sim.lose_device(0);
            timeline.signal(1);
        }
        Lost::Late => {
            let held = sim.hold();
            timeline.signal(1);
            sim.lose_device(0);
            drop(held);
        }
        Lost::Unsignalled => {
            sim.lose_device(0);
            timeline.fail(Code::ERROR_DEVICE_LOST);
        }
    }
    for (at, event) in chain.events.iter().enumerate().skip(1) {
        let list = [event.handle()];
        expect_code(ur!(Event.pfnWait(1, list.as_ptr())), &[Code::ERROR_DEVICE_LOST], &format!("{lost:?}, wait {at}"));
    }
    for _ in 0..2 {
        expect_code(ur!(Queue.pfnFinish(queue.handle())), &[Code::ERROR_DEVICE_LOST], "urQueueFinish");
    }
    // What was to be freed is the application's still, unless its free got to the device before that was lost.
    for block in [before, promised] {
        let answer = ur!(USM.pfnFree(fixture.context(), block));
        expect_code(answer, &[Code::SUCCESS, Code::ERROR_DEVICE_LOST, Code::ERROR_INVALID_MEM_OBJECT], "urUSMFree");
    }
    assert_eq!(pool::used(pool.handle()).0, 0, "{lost:?}: everything was given back");
    drop((chain.events, allocated, queue, buffer, kernel, pool));
}

#[test]
fn a_device_that_is_lost_while_commands_on_memory_are_deferred_is_told_by_every_wait_and_leaves_nothing() {
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        for source in [Mem::empty(), Mem::USE_HOST_POINTER, Mem::ALLOC_HOST_POINTER] {
            for lost in [Lost::Early, Lost::Late, Lost::Unsignalled] {
                let fixture = Fixture::new();
                if !timeline::are_there() {
                    return;
                }
                lose(&fixture, flags, source, lost);
            }
        }
    }
}
