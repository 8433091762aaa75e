//! What the release of an image waits for, and what of its contents lives on until it has arrived.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::null_mut;

use ur_conformance::ffi::{ur_mem_flags_t as Flags, ur_queue_flags_t as QueueFlags};
use ur_conformance::memory::pattern;
use ur_conformance::owned::event_of;
use ur_conformance::{Arg, Event, Fixture, Gate, Image, Kind, Launch, Queue, Shape, expect_success, needs_sim};

const SIZE: [usize; 2] = [16, 16];

/// An image asks which of its queues still have work when there are many. One of them has none yet: its launch is on its way
/// and makes another image's array.
#[test]
fn urMemRelease_of_an_image_waits_for_a_launch_that_was_on_its_way_when_other_queues_used_the_image() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let copy = fixture.kernel(&fixture.program_on("image.ptx", fixture.device()), c"copy_2d");
    let queues: Vec<_> = (0..9).map(|_| fixture.in_order()).collect();
    let gated = fixture.in_order();
    let (launching, ninth) = (&queues[0], &queues[8]);
    let image = Image::with(fixture.context(), Shape::word(&SIZE), &pattern(1, 4 * 16 * 16));
    // It has no array on any device yet.
    let source = Image::with(fixture.context(), Shape::word(&SIZE), &pattern(2, 4 * 16 * 16));
    for queue in &queues[..8] {
        let _ = image.read::<u8>(queue);
        queue.finish();
    }
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&gated);
    std::thread::scope(|scope| {
        let arrays = sim.hold_calls("cuArray3DCreate_v2");
        let enqueuing = scope.spawn(|| {
            let launch = Launch::new(&copy, &SIZE).arg(Arg::memory(image.mem.handle(), Flags::WRITE_ONLY));
            let launch = launch.arg(Arg::memory(source.mem.handle(), Flags::READ_ONLY));
            launch.value(SIZE[0] as i32).value(SIZE[1] as i32).after(&[&blocked]).on(launching);
        });
        arrays.wait_for_one(|| enqueuing.is_finished());
        let _ = image.read::<u8>(ninth);
        drop(arrays);
        enqueuing.join().expect("a launch");
    });
    let is_early = image.goes_before(sim, &mut gate);
    launching.finish();
    assert!(!is_early, "the surface went while a launch with it was on the queue");
}

/// Every command waits for the first queue, which cannot get on: none of the copies between the devices has run when the image
/// gets its contents anew, and other images are made meanwhile.
#[test]
fn contents_of_an_image_stay_until_they_have_arrived_though_it_is_written_elsewhere_and_comes_back() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let queue = |index: usize| fixture.queue_in(fixture.context(), fixture.devices[index], QueueFlags::empty());
    let (first, second) = (queue(0), queue(1));
    let shape = Shape::word(&SIZE);
    let (bytes, contents) = (shape.bytes(), pattern(1, shape.bytes()));
    let out = fixture.memory(Kind::Host, 2 * bytes);
    let written = fixture.memory(Kind::Host, bytes);
    written.write(&first, &pattern(2, bytes));
    let image = Image::with(fixture.context(), Shape::word(&SIZE), &contents);
    let whole = image.whole();
    let enqueue = |what: &dyn Fn(&[_], *mut _) -> _, after: &[&Event]| -> Event {
        let waits: Vec<_> = after.iter().map(|event| event.handle()).collect();
        let mut event = null_mut();
        expect_success(what(&waits, &raw mut event), "a command on the image");
        Event::take(event)
    };
    let read = |queue: &Queue, to: usize, after: &[&Event]| {
        enqueue(&|waits, event| image.read_box(queue, &whole, [0, 0], out.at(to), waits, event), after)
    };
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    let one = read(&first, 0, &[]);
    let part = ur_conformance::image::Box3 { origin: [0, 0, 0], size: [16, 1, 1] };
    let two = enqueue(
        &|waits, event| image.write_box(&second, &part, [0, 0], written.pointer().cast_const(), waits, event),
        &[&one],
    );
    let three = read(&first, bytes, &[&two]);
    // Memory that the contents came from would serve again.
    let others: Vec<_> =
        (10..14).map(|seed| Image::with(fixture.context(), Shape::word(&SIZE), &pattern(seed, bytes))).collect();
    gate.open();
    three.wait();
    assert!(out.read::<u8>(&first, bytes) == contents, "what the first command reads");
    let mut changed = contents;
    changed[..64].copy_from_slice(&pattern(2, bytes)[..64]);
    let last: Vec<u8> = ur_conformance::memory::read(&first, out.at(bytes), bytes);
    assert!(last == changed, "what the last command reads");
    drop(others);
}

#[test]
fn a_command_on_an_image_asks_few_queues_however_many_have_work_with_it() {
    const BUSY: usize = 64;
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let image = Image::with(fixture.context(), Shape::word(&SIZE), &pattern(1, 4 * 16 * 16));
    let out = fixture.memory(Kind::Host, image.shape.bytes());
    let queues: Vec<_> = (0..2 * BUSY).map(|_| fixture.in_order()).collect();
    let (gated, whole) = (fixture.in_order(), image.whole());
    let mut gate = Gate::new(&fixture);
    let blocked = [gate.block_event(&gated)];
    let waits = [blocked[0].handle()];
    let read = |queue: &Queue| event_of(|event| image.read_box(queue, &whole, [0, 0], out.pointer(), &waits, event));
    let _early: Vec<_> = queues[..BUSY].iter().map(read).collect();
    let (_late, calls) = sim.calls_of(|| queues[BUSY..].iter().map(read).collect::<Vec<_>>());
    let questions = calls.get("cuStreamQuery").copied().unwrap_or(0);
    gate.open();
    queues.iter().for_each(Queue::finish);
    assert!(questions <= 4 * BUSY as u64, "{questions} questions for {BUSY} commands");
}

/// An image that lives long has been written by a queue that did not.
#[test]
fn an_image_lets_go_of_a_released_queue_that_is_finished_when_another_one_uses_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let streams = || sim.objects().get("stream").copied().unwrap_or(0);
    let before = streams();
    let images: Vec<_> = (0..100)
        .map(|seed| {
            let (queue, image) = (fixture.in_order(), Image::new(&fixture, Shape::word(&SIZE)));
            image.write(&queue, &pattern(seed, image.shape.bytes()));
            queue.finish();
            image
        })
        .collect();
    let queue = fixture.in_order();
    for image in &images {
        let _ = image.read::<u8>(&queue);
    }
    let more = streams() - before;
    // A context and its device keep up to 32 for the next queues.
    assert!(more <= 40, "{more} streams for one queue and {} images", images.len());
}
