//! Images and samplers as arguments of recorded launches: contents at every launch, changes, several devices, what is kept,
//! and what is refused when it is appended.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Change, Command, SyncPoint, description};
use ur_conformance::ffi::{
    ur_image_channel_order_t as Order, ur_image_channel_type_t as Type, ur_mem_flags_t as Flags, ur_result_t as Code,
    ur_sampler_addressing_mode_t as Mode, ur_sampler_filter_mode_t as Filter,
};
use ur_conformance::image::sampler;
use ur_conformance::launch::parameters_are_known;
use ur_conformance::memory::pattern;
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::{
    Arg, CommandBuffer, Fixture, Gate, Image, Kernel, Kind, Launch, Queue, Sampler, Shape, expect_code, needs_sim, ok,
};

const SIZE: [usize; 2] = [16, 8];
const WORDS: usize = SIZE[0] * SIZE[1];

fn kernel(fixture: &Fixture, name: &core::ffi::CStr) -> Kernel {
    fixture.kernel(&fixture.program("image.ptx"), name)
}

fn word_image(fixture: &Fixture, queue: &Queue, value: u32) -> Image {
    let image = Image::new(fixture, Shape::word(&SIZE));
    image.write(queue, &[value; WORDS]);
    image
}

/// `add_2d` over the whole image.
fn adding<'k>(kernel: &'k Kernel, image: &Image, value: u32) -> Launch<'k> {
    let launch = Launch::new(kernel, &SIZE).arg(Arg::memory(image.handle(), Flags::READ_WRITE)).value(value);
    launch.value(SIZE[0] as i32).value(SIZE[1] as i32)
}

#[test]
fn an_image_as_an_argument_is_read_and_written_at_every_launch() {
    let fixture = Fixture::new();
    let (queue, add, read) = (fixture.in_order(), kernel(&fixture, c"add_2d"), kernel(&fixture, c"read_2d"));
    let image = word_image(&fixture, &queue, 0);
    let four = Image::new(&fixture, Shape::words(&SIZE));
    let out = fixture.memory(Kind::Device, four.shape.bytes());
    let buffer = CommandBuffer::new(&fixture);
    let first = buffer.launch(&adding(&add, &image, 1), &[]);
    buffer.launch(&adding(&add, &image, 10), &[first]);
    let launch = Launch::new(&read, &SIZE).arg(Arg::memory(four.handle(), Flags::READ_ONLY)).pointer(out.pointer());
    buffer.launch(&launch.value(SIZE[0] as i32).value(SIZE[1] as i32), &[]);
    buffer.finalize();
    for round in 1..4u32 {
        let contents = pattern(round, four.shape.bytes());
        four.write(&queue, &contents);
        buffer.on(&queue);
        assert_eq!(image.read::<u32>(&queue), [11 * round; WORDS]);
        assert_eq!(out.read::<u8>(&queue, contents.len()), contents);
        assert_eq!(four.read::<u8>(&queue), contents);
    }
}

/// Contents that another device wrote are brought before the launch, and what it writes is found there afterwards.
#[test]
fn an_image_moves_between_devices_with_the_launches_of_a_buffer() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let context = fixture.context();
    let queues: Vec<_> =
        fixture.devices[..2].iter().map(|device| fixture.queue_in(context, *device, Default::default())).collect();
    let add = fixture.kernel(&fixture.program_on("image.ptx", fixture.devices[0]), c"add_2d");
    let image = Image::in_context(context, Shape::word(&SIZE));
    let buffer = CommandBuffer::of(context, fixture.devices[0], description(false, false, false));
    buffer.launch(&adding(&add, &image, 5), &[]);
    buffer.finalize();
    for round in 0..3u32 {
        image.write(&queues[1], &[100 * round; WORDS]);
        buffer.on(&queues[0]);
        queues[0].finish();
        assert_eq!(image.read::<u32>(&queues[1]), [100 * round + 5; WORDS]);
    }
}

/// What launches only read stays where it is too.
#[test]
fn an_image_that_a_buffer_only_reads_is_not_copied_again() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    if fixture.devices.len() < 2 {
        return;
    }
    let queue = |index: usize| fixture.queue_in(fixture.context(), fixture.devices[index], Default::default());
    let (first, second) = (queue(0), queue(1));
    let read = fixture.kernel(&fixture.program_on("image.ptx", fixture.devices[0]), c"read_2d");
    let image = Image::in_context(fixture.context(), Shape::words(&SIZE));
    let out = fixture.memory(Kind::Device, image.shape.bytes());
    image.write(&first, &vec![3u8; image.shape.bytes()]);
    let _ = image.read::<u8>(&second);
    for (flags, copies) in [(Flags::READ_ONLY, 1), (Flags::READ_WRITE, 2)] {
        let buffer = CommandBuffer::of(fixture.context(), fixture.devices[0], description(false, false, false));
        let launch = Launch::new(&read, &SIZE).arg(Arg::memory(image.handle(), flags)).pointer(out.pointer());
        buffer.launch(&launch.value(SIZE[0] as i32).value(SIZE[1] as i32), &[]);
        buffer.run(&first);
        let (_, calls) = sim.calls_of(|| image.read::<u8>(&second));
        assert_eq!(calls.get("cuMemcpy3DAsync_v2"), Some(&copies), "{flags:?}");
    }
}

#[test]
fn an_image_is_changed_and_kept_alive() {
    let fixture = Fixture::new();
    let (queue, add, copy) = (fixture.in_order(), kernel(&fixture, c"add_2d"), kernel(&fixture, c"copy_2d"));
    let (one, two, out) =
        (word_image(&fixture, &queue, 1), word_image(&fixture, &queue, 2), word_image(&fixture, &queue, 0));
    let buffer = CommandBuffer::updatable(&fixture);
    let (added, adds) = buffer.command(&adding(&add, &one, 10), &[]);
    let launch = Launch::new(&copy, &SIZE).arg(Arg::memory(out.handle(), Flags::WRITE_ONLY));
    let launch = launch.arg(Arg::memory(one.handle(), Flags::READ_ONLY));
    let (_, copies) = buffer.command(&launch.value(SIZE[0] as i32).value(SIZE[1] as i32), &[added]);
    buffer.finalize();
    buffer.on(&queue);
    assert_eq!((one.read::<u32>(&queue), out.read::<u32>(&queue)), (vec![11; WORDS], vec![11; WORDS]));
    buffer.update(&[Change::of(adds).memory(0, two.handle()), Change::of(copies).memory(1, two.handle())]);
    buffer.on(&queue);
    assert_eq!((one.read::<u32>(&queue), out.read::<u32>(&queue)), (vec![11; WORDS], vec![12; WORDS]));
    drop((one, two));
    buffer.on(&queue);
    assert_eq!(out.read::<u32>(&queue), [22; WORDS]);
}

#[test]
fn a_sampler_arrives_as_32_bits_and_may_be_released() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), kernel(&fixture, c"sampler_bits"));
    let out = fixture.memory(Kind::Device, 4);
    let buffer = CommandBuffer::new(&fixture);
    let mut native = 0;
    {
        let sampler = sampler(&fixture, true, Mode::REPEAT, Filter::LINEAR);
        ur_conformance::ok!(Sampler.pfnGetNativeHandle(sampler.handle(), &raw mut native));
        buffer.launch(&Launch::new(&kernel, &[1]).pointer(out.pointer()).arg(Arg::sampler(sampler.handle())), &[]);
    }
    buffer.finalize();
    for _ in 0..2 {
        out.write(&queue, &[0u32]);
        buffer.on(&queue);
        assert_eq!(out.read::<u32>(&queue, 1), [native as u32]);
    }
}

#[test]
fn a_texture_is_of_the_image_before_its_sampler_also_when_that_image_is_changed() {
    let fixture = Fixture::new();
    let (queue, fetch) = (fixture.in_order(), kernel(&fixture, c"sample_1d"));
    if !parameters_are_known(&fetch) {
        return;
    }
    let line = |values: &[f32; 4]| {
        let image = Image::new(&fixture, Shape::new(Order::R, Type::FLOAT, &[4]));
        image.write(&queue, values);
        image
    };
    let (one, two) = (line(&[1.0, 2.0, 5.0, 10.0]), line(&[3.0, 4.0, 9.0, 27.0]));
    let (at, out) = (fixture.memory(Kind::Device, 36), fixture.memory(Kind::Device, 48));
    at.write(&queue, &[[0.5f32, 0.0, 0.0], [1.0, 0.0, 0.0], [3.5, 0.0, 0.0]]);
    let sampler = sampler(&fixture, false, Mode::CLAMP_TO_EDGE, Filter::LINEAR);
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&fetch, &[3]).arg(Arg::memory(one.handle(), Flags::READ_ONLY));
    let launch = launch.arg(Arg::sampler(sampler.handle())).pointer(at.pointer()).pointer(out.pointer()).value(3u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    drop((launch, sampler));
    let run = || {
        buffer.on(&queue);
        out.read::<[f32; 4]>(&queue, 3).iter().map(|four| four[0]).collect::<Vec<_>>()
    };
    assert_eq!(run(), [1.0, 1.5, 10.0]);
    buffer.update(&[Change::of(command).memory(0, two.handle())]);
    drop((one, two));
    assert_eq!(run(), [3.0, 3.5, 27.0]);
}

#[test]
fn images_of_a_buffer_that_is_released_while_it_runs_stay_until_its_end() {
    let fixture = Fixture::new();
    let (queue, add, copy) = (fixture.in_order(), kernel(&fixture, c"add_2d"), kernel(&fixture, c"copy_2d"));
    let (image, out) = (word_image(&fixture, &queue, 1), word_image(&fixture, &queue, 0));
    let buffer = CommandBuffer::new(&fixture);
    let added = buffer.launch(&adding(&add, &image, 4), &[]);
    let launch = Launch::new(&copy, &SIZE).arg(Arg::memory(out.handle(), Flags::WRITE_ONLY));
    let launch = launch.arg(Arg::memory(image.handle(), Flags::READ_ONLY));
    buffer.launch(&launch.value(SIZE[0] as i32).value(SIZE[1] as i32), &[added]);
    buffer.finalize();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    buffer.on(&queue);
    assert!(!gate.has_passed());
    gate.open();
    // The launch is behind the gate still, or on its way.
    drop((image, buffer));
    assert_eq!(out.read::<u32>(&queue), [5; WORDS]);
}

extern "C" fn nothing(_: *mut c_void) {}

/// The release has the last reference to the image, so it waits for the launch; that is no native free, to which host tasks give
/// way.
#[test]
fn a_release_that_waits_for_a_launch_over_an_image_holds_up_no_host_task() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, other, add) = (fixture.in_order(), fixture.in_order(), kernel(&fixture, c"add_2d"));
    let image = word_image(&fixture, &queue, 1);
    let buffer = CommandBuffer::new(&fixture);
    buffer.launch(&adding(&add, &image, 10), &[]);
    buffer.finalize();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    buffer.on(&queue);
    drop(image);
    let waits = || sim.calls_so_far("cuStreamSynchronize");
    let before = waits();
    std::thread::scope(|scope| {
        let releasing = scope.spawn(move || drop(buffer));
        while waits() == before {
            assert!(!releasing.is_finished(), "the release did not wait for the launch");
            std::thread::yield_now();
        }
        let (none, no_waits, no_event) = (null_mut(), null(), null_mut());
        ok!(EnqueueExp.pfnHostTaskExp(other.handle(), Some(nothing), none, null(), 0, no_waits, no_event));
        other.finish();
        gate.open();
    });
    queue.finish();
}

#[test]
fn wrong_images_and_samplers_are_refused_when_they_are_appended_and_nothing_is_recorded() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (extent, sample) = (kernel(&fixture, c"surface_extent"), kernel(&fixture, c"sample_2d"));
    let (image, out) = (word_image(&fixture, &queue, 0), fixture.memory(Kind::Device, 64));
    let buffer = CommandBuffer::updatable(&fixture);
    let refuse = |launch: Launch<'_>, code, what: &str| {
        let (mut point, mut command): (SyncPoint, Command) = (SyncPoint::MAX, null_mut());
        expect_code(buffer.append(&launch, &[], &[], &raw mut point, &raw mut command), &[code], what);
        assert!(point == SyncPoint::MAX && command.is_null(), "{what}: a launch that failed gave something out");
    };
    let of = |arg: Arg| Launch::new(&extent, &[1]).arg(arg).pointer(out.pointer());
    let memory = |image: &Image| Arg::memory(image.handle(), Flags::READ_ONLY);
    let strange = Arg::memory(queue.handle().cast(), Flags::READ_ONLY);
    refuse(of(strange), Code::ERROR_INVALID_MEM_OBJECT, "no memory object");
    let flags = Arg::memory(image.handle(), Flags::from_bits_retain(0x80));
    refuse(of(flags), Code::ERROR_INVALID_ENUMERATION, "unknown flags");
    refuse(of(Arg::sampler(image.handle().cast())), Code::ERROR_INVALID_SAMPLER, "no sampler");
    let other = fixture.context_of(&fixture.devices[..1]);
    let foreign = Image::in_context(other.handle(), image.shape);
    refuse(of(memory(&foreign)), Code::ERROR_INVALID_CONTEXT, "another context's image");
    if parameters_are_known(&sample) {
        let edge = Mode::CLAMP_TO_EDGE;
        let (linear, nearest) =
            (sampler(&fixture, false, edge, Filter::LINEAR), sampler(&fixture, false, edge, Filter::NEAREST));
        let of = |first: Arg, sampler: &Sampler| {
            let launch = Launch::new(&sample, &[1]).arg(first).arg(Arg::sampler(sampler.handle()));
            launch.pointer(out.pointer()).pointer(out.pointer()).value(0u32)
        };
        refuse(of(memory(&image), &linear), Code::ERROR_UNSUPPORTED_IMAGE_FORMAT, "interpolated integers");
        refuse(of(Arg::value(0u64), &nearest), Code::ERROR_INVALID_KERNEL_ARGS, "a texture of no image");
    }
    assert!(NativeGraph::of(&buffer).nodes().is_empty(), "nothing was recorded");
}

#[test]
fn a_change_to_a_wrong_image_is_refused_and_changes_nothing() {
    let fixture = Fixture::new();
    let (queue, add) = (fixture.in_order(), kernel(&fixture, c"add_2d"));
    let image = word_image(&fixture, &queue, 0);
    let other = fixture.context_of(&fixture.devices[..1]);
    let foreign = Image::in_context(other.handle(), image.shape);
    let buffer = CommandBuffer::updatable(&fixture);
    let (_, command) = buffer.command(&adding(&add, &image, 1), &[]);
    buffer.finalize();
    let change = Change::of(command).value(1, 100u32).memory(0, foreign.handle());
    expect_code(buffer.change(&[change]), &[Code::ERROR_INVALID_CONTEXT], "another context's image");
    buffer.on(&queue);
    assert_eq!(image.read::<u32>(&queue), [1; WORDS]);
}
