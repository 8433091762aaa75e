//! Images and samplers as kernel arguments: surfaces, textures, order, several devices, and lists that are wrong.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null_mut;

use ur_conformance::below::Below;
use ur_conformance::ffi::{
    ur_image_channel_order_t as Order, ur_image_channel_type_t as Type, ur_mem_flags_t as Flags, ur_result_t as Code,
    ur_sampler_addressing_mode_t as Mode, ur_sampler_filter_mode_t as Filter,
};
use ur_conformance::image::sampler;
use ur_conformance::launch::parameters_are_known;
use ur_conformance::memory::pattern;
use ur_conformance::{
    Arg, Buffer, Fixture, Gate, Image, Kernel, Kind, Launch, Program, Queue, Shape, last_error, needs_sim,
};

const READ: Flags = Flags::READ_ONLY;
const WRITE: Flags = Flags::WRITE_ONLY;
const BOTH: Flags = Flags::READ_WRITE;

fn arg(image: &Image, flags: Flags) -> Arg {
    Arg::memory(image.handle(), flags)
}

/// A kernel of `image.ptx` with its program.
fn kernel(fixture: &Fixture, name: &core::ffi::CStr) -> (Program, Kernel) {
    let program = fixture.program("image.ptx");
    let kernel = fixture.kernel(&program, name);
    (program, kernel)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes"))).collect()
}

/// The arguments behind the image and the output: as many extents as there are.
fn sized<'k>(launch: Launch<'k>, size: &[usize]) -> Launch<'k> {
    size.iter().fold(launch, |launch, &extent| launch.value(extent as i32))
}

#[test]
fn a_kernel_reads_and_writes_images_of_every_dimension() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("image.ptx");
    let cases: [(&[usize], &core::ffi::CStr, &core::ffi::CStr); 3] =
        [(&[33], c"read_1d", c"write_1d"), (&[17, 5], c"read_2d", c"write_2d"), (&[9, 4, 3], c"read_3d", c"write_3d")];
    for (size, read, write) in cases {
        let (read, write) = (fixture.kernel(&program, read), fixture.kernel(&program, write));
        let image = Image::new(&fixture, Shape::words(size));
        let contents = pattern(size.len() as u32, image.shape.bytes());
        image.write(&queue, &contents);
        let out = fixture.memory(Kind::Device, contents.len());
        let launch = Launch::new(&read, size).arg(arg(&image, READ)).pointer(out.pointer());
        sized(launch, size).on(&queue);
        assert_eq!(out.read::<u8>(&queue, contents.len()), contents, "read {size:?}");

        let seed = 77u32;
        sized(Launch::new(&write, size).arg(arg(&image, WRITE)).value(seed), size).on(&queue);
        let [width, height, _] = image.shape.size();
        let found = words(&image.read::<u8>(&queue));
        for (index, four) in (0u32..).zip(found.chunks(4)) {
            let (x, rest) = (index % width as u32, index / width as u32);
            let (y, z) = (rest % height as u32, rest / height as u32);
            assert_eq!(four, [seed + x, seed + 100 * y, seed + 10000 * z, !seed], "{size:?} at {x} {y} {z}");
        }
    }
}

#[test]
fn an_image_begins_with_its_contents_for_a_kernel_too() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, read) = kernel(&fixture, c"read_2d");
    let shape = Shape::words(&[8, 8]);
    let contents = pattern(5, shape.bytes());
    let image = Image::with(fixture.context(), shape, &contents);
    let out = fixture.memory(Kind::Device, contents.len());
    let launch = Launch::new(&read, &[8, 8]).arg(arg(&image, READ)).pointer(out.pointer());
    sized(launch, &[8, 8]).on(&queue);
    assert_eq!(out.read::<u8>(&queue, contents.len()), contents);
}

#[test]
fn surfaces_are_read_and_written_in_units_of_every_width() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, kernel) = kernel(&fixture, c"widths");
    let image = Image::new(&fixture, Shape::new(Order::RGBA, Type::UNSIGNED_INT16, &[12, 6]));
    let contents = pattern(3, image.shape.bytes());
    image.write(&queue, &contents);
    let row = 12 * 8;
    Launch::new(&kernel, &[12]).arg(arg(&image, BOTH)).value(row as u32).on(&queue);
    let found = image.read::<u8>(&queue);
    for (index, line) in found.chunks(row).enumerate() {
        assert_eq!(line, &contents[..row], "row {index}");
    }
}

#[test]
fn what_is_outside_of_a_surface_is_the_edge_or_zero_and_takes_no_store() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, kernel) = kernel(&fixture, c"edges");
    let image = Image::new(&fixture, Shape::word(&[4, 3]));
    let contents: Vec<u32> = (100..112).collect();
    image.write(&queue, &contents);
    let out = fixture.memory(Kind::Device, 32);
    Launch::new(&kernel, &[1]).arg(arg(&image, BOTH)).pointer(out.pointer()).value(4i32).value(3i32).on(&queue);
    // Left of the first row, right of it, above the first column, below it.
    assert_eq!(out.read::<u32>(&queue, 8), [100, 0, 103, 0, 100, 0, 108, 0]);
    assert_eq!(image.read::<u32>(&queue), contents);
}

#[test]
fn kernels_and_transfers_take_turns_on_an_image_in_the_queue_s_order() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("image.ptx");
    let (add, copy) = (fixture.kernel(&program, c"add_2d"), fixture.kernel(&program, c"copy_2d"));
    let (image, other) = (Image::new(&fixture, Shape::word(&[16, 16])), Image::new(&fixture, Shape::word(&[16, 16])));
    image.write(&queue, &[5u32; 256]);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for value in [1u32, 10, 100] {
        let launch = Launch::new(&add, &[16, 16]).arg(arg(&image, BOTH)).value(value);
        sized(launch, &[16, 16]).on(&queue);
    }
    let launch = Launch::new(&copy, &[16, 16]).arg(arg(&other, WRITE)).arg(arg(&image, READ));
    sized(launch, &[16, 16]).on(&queue);
    gate.open();
    assert_eq!(other.read::<u32>(&queue), [116; 256]);
}

#[test]
fn a_kernel_on_another_device_finds_what_the_first_one_wrote() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let context = fixture.context();
    let image = Image::in_context(context, Shape::word(&[16, 16]));
    let work: Vec<_> = fixture
        .devices
        .iter()
        .map(|device| {
            let queue = fixture.queue_in(context, *device, Default::default());
            let program = fixture.program_on("image.ptx", *device);
            let kernel = fixture.kernel(&program, c"add_2d");
            (queue, program, kernel)
        })
        .collect();
    image.write(&work[0].0, &[1u32; 256]);
    let mut expected = 1;
    for (value, (queue, _, kernel)) in (1u32..).zip(work.iter().cycle().take(6)) {
        let launch = Launch::new(kernel, &[16, 16]).arg(arg(&image, BOTH)).value(value);
        sized(launch, &[16, 16]).on(queue);
        queue.finish();
        expected += value;
    }
    for (queue, ..) in &work {
        assert_eq!(image.read::<u32>(queue), [expected; 256]);
    }
}

/// What a kernel reads stays with the devices that have it; what it writes does not.
#[test]
fn an_image_that_a_kernel_only_reads_is_not_copied_again() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    if fixture.devices.len() < 2 {
        return;
    }
    let queue = |index: usize| fixture.queue_in(fixture.context(), fixture.devices[index], Default::default());
    let (first, second) = (queue(0), queue(1));
    let program = fixture.program_on("image.ptx", fixture.devices[0]);
    let read = fixture.kernel(&program, c"read_2d");
    let image = Image::in_context(fixture.context(), Shape::words(&[8, 8]));
    image.write(&first, &vec![3u8; image.shape.bytes()]);
    let _ = image.read::<u8>(&second);
    let out = fixture.memory(Kind::Device, image.shape.bytes());
    for (flags, copies) in [(READ, 1), (BOTH, 2)] {
        let launch = Launch::new(&read, &[8, 8]).arg(arg(&image, flags)).pointer(out.pointer());
        sized(launch, &[8, 8]).on(&first);
        first.finish();
        let (_, calls) = sim.calls_of(|| image.read::<u8>(&second));
        assert_eq!(calls.get("cuMemcpy3DAsync_v2"), Some(&copies), "{flags:?}");
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Four<T> {
    x: T,
    y: T,
    z: T,
    w: T,
}

/// Samples an image at places through a sampler; `None` where the library does not tell that the parameter is a texture.
fn sample<T: Copy + Default>(
    fixture: &Fixture,
    queue: &Queue,
    name: &core::ffi::CStr,
    image: &Image,
    (normalized, mode, filter): (bool, Mode, Filter),
    places: &[[f32; 3]],
) -> Option<Vec<Four<T>>> {
    let (_program, kernel) = kernel(fixture, name);
    if !parameters_are_known(&kernel) {
        return None;
    }
    let sampler = sampler(fixture, normalized, mode, filter);
    let at = fixture.memory(Kind::Device, size_of_val(places));
    at.write(queue, places);
    let out = fixture.memory(Kind::Device, 16 * places.len());
    let launch = Launch::new(&kernel, &[places.len()]).arg(arg(image, READ)).arg(Arg::sampler(sampler.handle()));
    launch.pointer(at.pointer()).pointer(out.pointer()).value(places.len() as u32).on(queue);
    Some(out.read(queue, places.len()))
}

fn line(fixture: &Fixture, queue: &Queue) -> Image {
    let image = Image::new(fixture, Shape::new(Order::R, Type::FLOAT, &[4]));
    image.write(queue, &[1f32, 2.0, 5.0, 10.0]);
    image
}

#[test]
fn a_texture_takes_the_nearest_element_or_interpolates_with_8_bits() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = line(&fixture, &queue);
    let at = |xs: &[f32]| xs.iter().map(|x| [*x, 0.0, 0.0]).collect::<Vec<_>>();
    let run = |how, xs: &[f32]| {
        let found = sample::<f32>(&fixture, &queue, c"sample_1d", &image, how, &at(xs))?;
        Some(found.iter().map(|four| four.x).collect::<Vec<_>>())
    };
    let edge = Mode::CLAMP_TO_EDGE;
    let Some(nearest) = run((false, edge, Filter::NEAREST), &[-3.0, 0.0, 0.75, 1.0, 3.75, 4.0, 99.0]) else { return };
    assert_eq!(nearest, [1.0, 1.0, 1.0, 2.0, 10.0, 10.0, 10.0]);
    let linear = run((false, edge, Filter::LINEAR), &[0.0, 0.5, 1.0, 1.25, 2.0, 3.5, 9.0]);
    assert_eq!(linear, Some(vec![1.0, 1.0, 1.5, 1.75, 3.5, 10.0, 10.0]));
    // At the ends half of an element is border; between them there is none, beside a line neither.
    let linear = run((false, Mode::CLAMP, Filter::LINEAR), &[0.0, 0.5, 1.0, 3.5, 4.0, 5.0]);
    assert_eq!(linear, Some(vec![0.5, 1.0, 1.5, 10.0, 5.0, 0.0]));
    // A third of the way is 85/256 for the hardware.
    assert_eq!(run((false, edge, Filter::LINEAR), &[0.5 + 1.0 / 3.0]), Some(vec![1.0 + 85.0 / 256.0]));
    let normal = run((true, edge, Filter::NEAREST), &[0.0, 0.25, 0.5, 0.999, 1.0, 2.0]);
    assert_eq!(normal, Some(vec![1.0, 2.0, 5.0, 10.0, 10.0, 10.0]));
}

#[test]
fn a_texture_treats_what_is_outside_as_its_sampler_says() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = line(&fixture, &queue);
    let places = [-0.125f32, 0.125, 1.125, 1.375, 2.125].map(|x| [x, 0.0, 0.0]);
    for (normalized, mode, expected) in [
        (true, Mode::CLAMP_TO_EDGE, [1.0, 1.0, 10.0, 10.0, 10.0]),
        (true, Mode::NONE, [1.0, 1.0, 10.0, 10.0, 10.0]),
        (true, Mode::CLAMP, [0.0, 1.0, 0.0, 0.0, 0.0]),
        (true, Mode::REPEAT, [10.0, 1.0, 1.0, 2.0, 1.0]),
        (true, Mode::MIRRORED_REPEAT, [1.0, 1.0, 10.0, 5.0, 1.0]),
        (false, Mode::CLAMP, [0.0, 1.0, 2.0, 2.0, 5.0]),
    ] {
        let how = (normalized, mode, Filter::NEAREST);
        let Some(found) = sample::<f32>(&fixture, &queue, c"sample_1d", &image, how, &places) else { return };
        assert_eq!(found.iter().map(|four| four.x).collect::<Vec<_>>(), expected, "{how:?}");
    }
}

#[test]
fn textures_of_two_and_three_dimensions_interpolate_along_each() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let how = (false, Mode::CLAMP_TO_EDGE, Filter::LINEAR);
    let plane = Image::new(&fixture, Shape::new(Order::RGBA, Type::FLOAT, &[2, 2]));
    let pixel = |x: f32| [x, 2.0 * x, 3.0 * x, 4.0 * x];
    plane.write(&queue, &[pixel(0.0), pixel(8.0), pixel(16.0), pixel(32.0)]);
    let places = [[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [1.0, 1.0, 0.0], [1.25, 0.75, 0.0]];
    let Some(found) = sample::<f32>(&fixture, &queue, c"sample_2d", &plane, how, &places) else { return };
    // The last: x at 3/4 gives 6 and 28, y at 1/4 gives 11.5.
    for (four, x) in found.iter().zip([0.0, 4.0, 8.0, 14.0, 11.5]) {
        assert_eq!([four.x, four.y, four.z, four.w], pixel(x));
    }
    let cube = Image::new(&fixture, Shape::new(Order::R, Type::HALF_FLOAT, &[2, 2, 2]));
    // Halves of 0, 1, 2, 4 in the first slice and of 8, 16, 32, 64 in the second.
    cube.write(&queue, &[0u16, 0x3c00, 0x4000, 0x4400, 0x4800, 0x4c00, 0x5000, 0x5400]);
    let places = [[0.5, 0.5, 0.5], [1.5, 1.5, 1.5], [0.5, 0.5, 1.0], [1.0, 1.0, 1.0], [1.5, 0.5, 1.25]];
    let found = sample::<f32>(&fixture, &queue, c"sample_3d", &cube, how, &places).unwrap_or_default();
    assert_eq!(found.iter().map(|four| four.x).collect::<Vec<_>>(), [0.0, 64.0, 4.0, 127.0 / 8.0, 12.25]);
}

#[test]
fn a_texture_reads_integers_as_they_are_and_normalised_ones_as_fractions() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let how = (false, Mode::CLAMP_TO_EDGE, Filter::NEAREST);
    let places = [[0.5, 0.5, 0.0], [1.5, 0.5, 0.0]];
    let image = |kind| Image::new(&fixture, Shape::new(Order::RGBA, kind, &[2, 1]));
    let bytes: [u8; 8] = [0, 255, 0x80, 0x7f, 1, 2, 3, 0xff];
    let plain = image(Type::SIGNED_INT8);
    plain.write(&queue, &bytes);
    let Some(found) = sample::<i32>(&fixture, &queue, c"sample_signed", &plain, how, &places) else { return };
    assert_eq!(found, [Four { x: 0, y: -1, z: -128, w: 127 }, Four { x: 1, y: 2, z: 3, w: -1 }]);
    let fraction = |kind| {
        let image = image(kind);
        image.write(&queue, &bytes);
        let found = sample::<f32>(&fixture, &queue, c"sample_2d", &image, how, &places);
        found.map(|found| [found[0].x, found[0].y, found[0].z, found[0].w])
    };
    let (half, whole) = (128.0 / 255.0, 127.0 / 255.0);
    assert_eq!(fraction(Type::UNORM_INT8), Some([0.0, 1.0, half, whole]));
    assert_eq!(fraction(Type::SNORM_INT8), Some([0.0, -1.0 / 127.0, -1.0, 1.0]));
}

fn fetch_three(
    fetch: &Kernel,
    image: &Image,
    sampler: &ur_conformance::Sampler,
    [at, out]: [*mut core::ffi::c_void; 2],
    queue: &Queue,
) {
    let launch = Launch::new(fetch, &[3]).arg(arg(image, READ)).arg(Arg::sampler(sampler.handle()));
    launch.pointer(at).pointer(out).value(3u32).on(queue);
}

#[test]
fn a_texture_is_fetched_by_the_number_of_its_element_too_and_tells_its_extents() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (program, fetch) = kernel(&fixture, c"fetch_unsigned");
    if !parameters_are_known(&fetch) {
        return;
    }
    let image = Image::new(&fixture, Shape::words(&[5, 3]));
    let contents: Vec<u32> = (0..60).collect();
    image.write(&queue, &contents);
    let sampler = sampler(&fixture, false, Mode::CLAMP_TO_EDGE, Filter::NEAREST);
    let (at, out) = (fixture.memory(Kind::Device, 24), fixture.memory(Kind::Device, 48));
    at.write(&queue, &[0i32, 0, 4, 2, 1, 1]);
    fetch_three(&fetch, &image, &sampler, [at.pointer(), out.pointer()], &queue);
    assert_eq!(out.read::<u32>(&queue, 12), [0, 1, 2, 3, 56, 57, 58, 59, 24, 25, 26, 27]);

    // Given in another order: the sampler comes first, and its image still stands before it.
    at.write(&queue, &[-1i32, 0, 5, 0, 0, 3]);
    fetch_three(&fetch, &image, &sampler, [at.pointer(), out.pointer()], &queue);
    assert_eq!(out.read::<u32>(&queue, 12), [0; 12], "an element that there is not");
    let cube = Image::new(&fixture, Shape::word(&[7, 6, 5]));
    let extent = fixture.kernel(&program, c"texture_extent");
    let launch =
        Launch::new(&extent, &[1]).arg_at(1, Arg::sampler(sampler.handle())).arg_at(2, Arg::pointer(out.pointer()));
    launch.arg_at(0, arg(&cube, READ)).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 3), [7, 6, 5]);
}

#[test]
fn a_surface_tells_its_extents() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, extent) = kernel(&fixture, c"surface_extent");
    let out = fixture.memory(Kind::Device, 8);
    for (size, told) in [(&[9, 4][..], [9, 4]), (&[6, 5, 3], [6, 5]), (&[7], [7, 0])] {
        let image = Image::new(&fixture, Shape::word(size));
        Launch::new(&extent, &[1]).arg(arg(&image, READ)).pointer(out.pointer()).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 2), told);
    }
}

#[test]
fn samplers_that_no_texture_can_have_are_refused() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, kernel) = kernel(&fixture, c"sample_2d");
    if !parameters_are_known(&kernel) {
        return;
    }
    let out = fixture.memory(Kind::Device, 64);
    let whole = Image::new(&fixture, Shape::words(&[4, 4]));
    let float = Image::new(&fixture, Shape::new(Order::R, Type::FLOAT, &[4, 4]));
    let edge = Mode::CLAMP_TO_EDGE;
    for (image, how, code, words) in [
        (&whole, (false, edge, Filter::LINEAR), Code::ERROR_UNSUPPORTED_IMAGE_FORMAT, "interpolate"),
        (&float, (false, Mode::REPEAT, Filter::NEAREST), Code::ERROR_INVALID_VALUE, "normalised"),
        (&float, (false, Mode::MIRRORED_REPEAT, Filter::NEAREST), Code::ERROR_INVALID_VALUE, "normalised"),
    ] {
        let sampler = sampler(&fixture, how.0, how.1, how.2);
        let launch = Launch::new(&kernel, &[1]).arg(arg(image, READ)).arg(Arg::sampler(sampler.handle()));
        launch.pointer(out.pointer()).pointer(out.pointer()).value(0u32).refused(&[code], &queue);
        assert!(last_error().contains(words), "{}", last_error());
    }
    let sampler = sampler(&fixture, true, edge, Filter::NEAREST);
    let launch = Launch::new(&kernel, &[1]).value(0u64).arg(Arg::sampler(sampler.handle()));
    launch
        .pointer(out.pointer())
        .pointer(out.pointer())
        .value(0u32)
        .refused(&[Code::ERROR_INVALID_KERNEL_ARGS], &queue);
    assert!(last_error().contains("image"), "{}", last_error());
}

#[test]
fn a_launch_takes_an_image_and_a_buffer_together() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, read) = kernel(&fixture, c"read_2d");
    let size = [17, 5];
    let image = Image::new(&fixture, Shape::words(&size));
    let contents = pattern(3, image.shape.bytes());
    image.write(&queue, &contents);
    let out = Buffer::new(&fixture, contents.len());
    sized(Launch::new(&read, &size).arg(arg(&image, READ)).buffer(&out, WRITE), &size).on(&queue);
    assert_eq!(out.read::<u8>(&queue), contents);
}

#[test]
fn wrong_handles_flags_and_contexts_are_refused() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, kernel) = kernel(&fixture, c"surface_extent");
    let (image, out) = (Image::new(&fixture, Shape::word(&[4, 4])), fixture.memory(Kind::Device, 8));
    let refuse = |arg: Arg, code| Launch::new(&kernel, &[1]).arg(arg).pointer(out.pointer()).refused(&[code], &queue);
    refuse(Arg::memory(queue.handle().cast(), READ), Code::ERROR_INVALID_MEM_OBJECT);
    refuse(Arg::memory(image.handle(), Flags::from_bits_retain(0x80)), Code::ERROR_INVALID_ENUMERATION);
    refuse(Arg::sampler(null_mut()), Code::ERROR_INVALID_NULL_POINTER);
    refuse(Arg::sampler(image.handle().cast()), Code::ERROR_INVALID_SAMPLER);
    let other = fixture.context_of(&fixture.devices[..1]);
    let foreign = Image::in_context(other.handle(), image.shape);
    refuse(Arg::memory(foreign.handle(), READ), Code::ERROR_INVALID_CONTEXT);
}

#[test]
fn a_launch_makes_an_image_s_surface_once_and_a_texture_once_for_each_sampler() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (program, extent) = kernel(&fixture, c"surface_extent");
    let sim = needs_sim!(fixture);
    let (image, out) = (Image::new(&fixture, Shape::word(&[4, 4])), fixture.memory(Kind::Device, 16));
    let launch = || Launch::new(&extent, &[1]).arg(arg(&image, READ)).pointer(out.pointer()).on(&queue);
    let (_, calls) = sim.calls_of(launch);
    assert_eq!(calls.get("cuSurfObjectCreate"), Some(&1));
    sim.expect_calls(&[(Below::the_adapter().launch, 1)], launch);
    let texture = fixture.kernel(&program, c"texture_extent");
    if !parameters_are_known(&texture) {
        return;
    }
    let samplers = [Mode::CLAMP, Mode::CLAMP_TO_EDGE].map(|mode| sampler(&fixture, true, mode, Filter::NEAREST));
    let launch = || {
        for sampler in &samplers {
            let launch = Launch::new(&texture, &[1]).arg(arg(&image, READ)).arg(Arg::sampler(sampler.handle()));
            launch.pointer(out.pointer()).on(&queue);
        }
    };
    let (_, calls) = sim.calls_of(launch);
    assert_eq!(calls.get("cuTexObjectCreate"), Some(&2));
    sim.expect_calls(&[(Below::the_adapter().launch, 2)], launch);
}
