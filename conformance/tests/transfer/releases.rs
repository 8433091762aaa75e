//! Everything that a program has, given back in any order while its work is pending: by the program itself, by a host task of the queue
//! that has the work, and by an event's callback; and after the device was lost.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::any::Any;
use core::ffi::c_void;
use core::ptr::null_mut;
use std::sync::mpsc::channel;

use crate::host_task_releases::task;
use ur_conformance::ffi::{
    ur_event_handle_t, ur_execution_info_t as Status, ur_mem_flags_t as Mem, ur_queue_flags_t as Flags,
};
use ur_conformance::pool::{self, Plan, Take};
use ur_conformance::{
    Buffer, CommandBuffer, Event, Fixture, Launch, Timeline, child, command_buffer, needs_sim, ok, timeline,
};

const ORDERS: [Flags; 2] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];
const WORDS: usize = 64;

/// Who gives everything back.
#[derive(Clone, Copy, Debug)]
enum By {
    Program,
    Task,
    Callback,
}

/// What is given back.
type Objects = Vec<Box<dyn Any + Send>>;

/// Puts them in one of many orders.
fn shuffle(objects: &mut Objects, seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..objects.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        objects.swap(last, (state >> 33) as usize % (last + 1));
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// What [`call_back`] sets.
unsafe extern "C" fn run(_: ur_event_handle_t, _: Status, data: *mut c_void) {
    // SAFETY: `call_back` gave the work away for one call.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    work();
}

/// Has an event call `work` at its end.
fn call_back(event: &Event, work: impl FnOnce() + Send + 'static) {
    let work: Work = Box::new(work);
    let data = Box::into_raw(Box::new(work)).cast();
    ok!(Event.pfnSetCallback(event.handle(), Status::COMPLETE, Some(run), data));
}

/// One round; `lose` is called while the work is pending.
fn round(fixture: &Fixture, flags: Flags, by: By, seed: u64, lose: Option<&dyn Fn()>) {
    let (context, device) = (fixture.context_of(&fixture.devices[..1]), fixture.device());
    let program = fixture.program_in(context.handle(), "basic.ptx");
    let (add, empty) = (fixture.kernel(&program, c"add_constant"), fixture.kernel(&program, c"empty"));
    let queues = [(); 2].map(|()| fixture.queue_in(context.handle(), device, flags));
    let [queue, behind] = &queues;
    let buffer = Buffer::of(context.handle(), Mem::READ_WRITE, WORDS * 4, null_mut());
    let timeline = Timeline::of(context.handle());
    let pool = Plan::new().create(context.handle(), device).expect("a pool");
    let commands = CommandBuffer::of(context.handle(), device, command_buffer::description(false, true, false));
    commands.launch(&Launch::new(&empty, &[1]), &[]);
    commands.fill_buffer(&buffer, &[1u32], 0, WORDS * 4, &[]);
    commands.finalize();
    let launch =
        || Launch::new(&add, &[WORDS]).local(&[8]).buffer(&buffer, Mem::READ_WRITE).value(1u32).value(WORDS as u32);

    let (open, opened) = channel::<()>();
    let Some((_, blocked)) = task(fixture, queue, &[], move || opened.recv().is_ok()) else { return };
    let added = launch().after(&[&blocked]).event_on(queue);
    let enqueued = commands.event_on(queue, &[&added]);
    let block = Take::new(4096).from(&pool).after(&[&enqueued]).on(queue);
    let freed = pool::give_after(queue, block, &[&enqueued]);
    let signalled = queue.signal_after(&timeline, 1, &[&enqueued]);
    // Behind what is signalled, and behind what never is.
    behind.wait_for(&timeline, 1);
    let followed = Launch::new(&empty, &[1]).event_on(behind);
    behind.wait_for(&timeline, 2);
    let kept = [launch().event_on(behind), commands.event_on(behind, &[]), timeline.event(3)];
    let ends: Vec<_> =
        [&blocked, &added, &enqueued, &signalled, &followed].into_iter().chain(&kept).map(Event::call_back).collect();

    let (give, given) = channel::<Objects>();
    let release = move || {
        let mut objects = given.recv().expect("what is to be given back");
        shuffle(&mut objects, seed);
        objects.into_iter().for_each(drop);
    };
    let (mut objects, mut here) = (Objects::new(), None);
    match by {
        By::Program => here = Some(release),
        By::Callback => call_back(&added, release),
        By::Task => {
            let (_, event) = task(fixture, queue, &[added.handle()], release).expect("tasks, as before");
            objects.push(Box::new(event));
        }
    }
    lose.iter().for_each(|lose| lose());
    let [queue, behind] = queues;
    objects.extend(
        [blocked, added, enqueued, freed, signalled, followed]
            .into_iter()
            .chain(kept)
            .map(|event| Box::new(event) as _),
    );
    objects.extend::<Objects>(vec![Box::new(context), Box::new(program), Box::new(add), Box::new(empty)]);
    objects.extend::<Objects>(vec![Box::new(queue), Box::new(behind), Box::new(buffer), Box::new(timeline)]);
    objects.extend::<Objects>(vec![Box::new(pool), Box::new(commands)]);
    give.send(objects).expect("somebody gives it back");
    here.into_iter().for_each(|release| release());
    drop(open);
    // Each function is called once, and its channel closes.
    ends.iter().for_each(|end| end.iter().for_each(drop));
}

/// Twelve orders for queues in order and out of order.
fn rounds(test: &str, by: By, is_lost: bool) {
    child::in_time(test, &[] as &[(&str, &str)], || {
        if !timeline::are_there() {
            return;
        }
        for (flags, seed) in ORDERS.into_iter().flat_map(|flags| (1..=12).map(move |seed| (flags, seed))) {
            // One for each round, since a lost device stays lost.
            let fixture = Fixture::new();
            fixture.allow_late_releases();
            println!("{flags:?}, {by:?}, order {seed}");
            if !is_lost {
                round(&fixture, flags, by, seed, None);
                continue;
            }
            let sim = needs_sim!(fixture);
            round(&fixture, flags, by, seed, Some(&|| sim.lose_device(0)));
        }
    });
}

#[test]
fn everything_can_be_released_in_any_order_while_its_work_is_pending() {
    rounds("everything_can_be_released_in_any_order_while_its_work_is_pending", By::Program, false);
}

#[test]
fn a_host_task_can_release_everything_in_any_order_while_its_queue_has_work() {
    rounds("a_host_task_can_release_everything_in_any_order_while_its_queue_has_work", By::Task, false);
}

#[test]
fn a_callback_can_release_everything_in_any_order_while_the_queue_has_work() {
    rounds("a_callback_can_release_everything_in_any_order_while_the_queue_has_work", By::Callback, false);
}

#[test]
fn everything_of_a_lost_device_can_be_released_in_any_order_while_its_work_is_pending() {
    rounds("everything_of_a_lost_device_can_be_released_in_any_order_while_its_work_is_pending", By::Program, true);
}

#[test]
fn a_callback_can_release_everything_of_a_lost_device_in_any_order() {
    rounds("a_callback_can_release_everything_of_a_lost_device_in_any_order", By::Callback, true);
}
