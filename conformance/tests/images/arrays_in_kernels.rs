//! Images in arrays as kernel arguments: surfaces and textures with layers.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use ur_conformance::ffi::{
    ur_image_channel_order_t as Order, ur_image_channel_type_t as Type, ur_mem_flags_t as Flags,
    ur_sampler_addressing_mode_t as Mode, ur_sampler_filter_mode_t as Filter,
};
use ur_conformance::image::sampler;
use ur_conformance::launch::parameters_are_known;
use ur_conformance::memory::pattern;
use ur_conformance::{Arg, Fixture, Image, Kernel, Kind, Launch, Program, Queue, Shape};

const READ: Flags = Flags::READ_ONLY;

/// A kernel of `image_array.ptx` with its program.
fn kernel(fixture: &Fixture, name: &core::ffi::CStr) -> (Program, Kernel) {
    let program = fixture.program("image_array.ptx");
    let kernel = fixture.kernel(&program, name);
    (program, kernel)
}

fn arg(image: &Image, flags: Flags) -> Arg {
    Arg::memory(image.handle(), flags)
}

/// The arguments behind the image and the output: as many extents as there are.
fn sized<'k>(launch: Launch<'k>, size: &[usize]) -> Launch<'k> {
    size.iter().fold(launch, |launch, &extent| launch.value(extent as i32))
}

#[test]
fn a_kernel_reads_and_writes_every_layer_of_an_array() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("image_array.ptx");
    let (line, plane) = (Shape::words(&[17]).layers(6), Shape::words(&[9, 4]).layers(3));
    for (shape, axes, read, write) in
        [(line, 2, c"read_1d_array", c"write_1d_array"), (plane, 3, c"read_2d_array", c"write_2d_array")]
    {
        let (read, write) = (fixture.kernel(&program, read), fixture.kernel(&program, write));
        let (image, size) = (Image::new(&fixture, shape), shape.size());
        let size = &size[..axes];
        let contents = pattern(1, shape.bytes());
        image.write(&queue, &contents);
        let out = fixture.memory(Kind::Device, contents.len());
        sized(Launch::new(&read, size).arg(arg(&image, READ)).pointer(out.pointer()), size).on(&queue);
        assert_eq!(out.read::<u8>(&queue, contents.len()), contents, "{shape:?}");

        let seed = 77u32;
        sized(Launch::new(&write, size).arg(arg(&image, Flags::WRITE_ONLY)).value(seed), size).on(&queue);
        let [width, height, _] = shape.size().map(|size| size as u32);
        for (index, four) in (0u32..).zip(image.read::<u32>(&queue).chunks(4)) {
            let (x, y, z) = (index % width, index / width % height, index / width / height);
            assert_eq!(four, [seed + x, seed + 100 * y, seed + 10000 * z, !seed], "{shape:?} at {x} {y} {z}");
        }
    }
}

#[test]
fn a_kernel_on_another_device_finds_the_layers_that_the_first_one_wrote() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let context = fixture.context();
    let work: Vec<_> = fixture.devices[..2]
        .iter()
        .map(|device| {
            let program = fixture.program_on("image_array.ptx", *device);
            let kernel = |name| fixture.kernel(&program, name);
            let (read, write) = (kernel(c"read_2d_array"), kernel(c"write_2d_array"));
            (fixture.queue_in(context, *device, Default::default()), read, write)
        })
        .collect();
    let shape = Shape::words(&[8, 4]).layers(3);
    let (image, size) = (Image::in_context(context, shape), shape.size());
    for (seed, writer, reader) in [(5u32, 0, 1), (9, 1, 0)] {
        let (queue, _, write) = &work[writer];
        sized(Launch::new(write, &size).arg(arg(&image, Flags::WRITE_ONLY)).value(seed), &size).on(queue);
        queue.finish();
        let (queue, read, _) = &work[reader];
        let out = fixture.memory(Kind::Host, shape.bytes());
        sized(Launch::new(read, &size).arg(arg(&image, READ)).pointer(out.pointer()), &size).on(queue);
        for (index, four) in (0u32..).zip(out.read::<u32>(queue, shape.bytes() / 4).chunks(4)) {
            let (x, y, z) = (index % 8, index / 8 % 4, index / 32);
            assert_eq!(four, [seed + x, seed + 100 * y, seed + 10000 * z, !seed], "at {x} {y} {z}");
        }
    }
}

#[test]
fn what_is_outside_of_a_line_is_its_own_layer_s_edge_or_zero() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, kernel) = kernel(&fixture, c"edges_1d_array");
    let image = Image::new(&fixture, Shape::word(&[4]).layers(3));
    let contents: Vec<u32> = (100..112).collect();
    image.write(&queue, &contents);
    let out = fixture.memory(Kind::Device, 16);
    let launch = Launch::new(&kernel, &[1]).arg(arg(&image, Flags::READ_WRITE)).pointer(out.pointer());
    launch.value(4i32).value(3i32).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 4), [108, 0, 111, 0]);
    assert_eq!(image.read::<u32>(&queue), contents);
}

/// Samples one channel of an image at places; `None` where the library does not tell that the parameter is a texture.
fn sample(
    fixture: &Fixture,
    queue: &Queue,
    name: &core::ffi::CStr,
    image: &Image,
    (normalized, mode, filter): (bool, Mode, Filter),
    places: &[[f32; 3]],
) -> Option<Vec<f32>> {
    let (_program, kernel) = kernel(fixture, name);
    if !parameters_are_known(&kernel) {
        return None;
    }
    let sampler = sampler(fixture, normalized, mode, filter);
    let (at, out) =
        (fixture.memory(Kind::Device, size_of_val(places)), fixture.memory(Kind::Device, 16 * places.len()));
    at.write(queue, places);
    let launch = Launch::new(&kernel, &[places.len()]).arg(arg(image, READ)).arg(Arg::sampler(sampler.handle()));
    launch.pointer(at.pointer()).pointer(out.pointer()).value(places.len() as u32).on(queue);
    Some(out.read::<f32>(queue, 4 * places.len()).chunks(4).map(|four| four[0]).collect())
}

#[test]
fn a_texture_interpolates_within_a_layer_and_never_between_two() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let how = (false, Mode::CLAMP_TO_EDGE, Filter::LINEAR);
    let lines = Image::new(&fixture, Shape::new(Order::R, Type::FLOAT, &[2]).layers(3));
    lines.write(&queue, &[0f32, 8.0, 100.0, 200.0, 1000.0, 3000.0]);
    let places = [[0.5, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, 1.9], [1.5, 0.0, 2.0], [1.0, 0.0, 2.0]];
    let Some(found) = sample(&fixture, &queue, c"sample_1d_array", &lines, how, &places) else { return };
    assert_eq!(found, [0.0, 4.0, 150.0, 150.0, 3000.0, 2000.0]);
    // A layer beyond the last is the last.
    let found = sample(&fixture, &queue, c"sample_1d_array", &lines, how, &[[0.5, 0.0, 3.0], [0.5, 0.0, 4e9]]);
    assert_eq!(found, Some(vec![1000.0, 1000.0]));

    let planes = Image::new(&fixture, Shape::new(Order::R, Type::FLOAT, &[2, 2]).layers(2));
    planes.write(&queue, &[0f32, 8.0, 16.0, 32.0, 100.0, 108.0, 116.0, 132.0]);
    let places = [[0.5, 0.5, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.25, 0.75, 0.0], [1.25, 0.75, 1.0]];
    let found = sample(&fixture, &queue, c"sample_2d_array", &planes, how, &places);
    assert_eq!(found, Some(vec![0.0, 14.0, 114.0, 11.5, 111.5]));
}

#[test]
fn a_texture_of_an_array_treats_what_is_outside_as_its_sampler_says() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let lines = Image::new(&fixture, Shape::new(Order::R, Type::FLOAT, &[4]).layers(2));
    lines.write(&queue, &[1f32, 2.0, 5.0, 10.0, 11.0, 12.0, 15.0, 20.0]);
    let places = [-0.125f32, 0.125, 1.125, 1.375, 2.125].map(|x| [x, 0.0, 1.0]);
    for (normalized, mode, expected) in [
        (true, Mode::CLAMP_TO_EDGE, [11.0, 11.0, 20.0, 20.0, 20.0]),
        (true, Mode::CLAMP, [0.0, 11.0, 0.0, 0.0, 0.0]),
        (true, Mode::REPEAT, [20.0, 11.0, 11.0, 12.0, 11.0]),
        (true, Mode::MIRRORED_REPEAT, [11.0, 11.0, 20.0, 15.0, 11.0]),
        (false, Mode::CLAMP, [0.0, 11.0, 12.0, 12.0, 15.0]),
    ] {
        let how = (normalized, mode, Filter::NEAREST);
        let Some(found) = sample(&fixture, &queue, c"sample_1d_array", &lines, how, &places) else { return };
        assert_eq!(found, expected, "{how:?}");
    }
    // At the ends of a line half of an element is border; beside it there is none, in other layers neither.
    let how = (false, Mode::CLAMP, Filter::LINEAR);
    let places = [0.0f32, 0.5, 1.0, 4.0].map(|x| [x, 0.0, 1.0]);
    let found = sample(&fixture, &queue, c"sample_1d_array", &lines, how, &places);
    assert_eq!(found, Some(vec![5.5, 11.0, 11.5, 10.0]));
}

#[test]
fn a_texture_of_an_array_is_fetched_by_the_number_of_its_element() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, fetch) = kernel(&fixture, c"fetch_2d_array");
    if !parameters_are_known(&fetch) {
        return;
    }
    let image = Image::new(&fixture, Shape::words(&[5, 3]).layers(4));
    let contents: Vec<u32> = (0..240).collect();
    image.write(&queue, &contents);
    let sampler = sampler(&fixture, false, Mode::CLAMP_TO_EDGE, Filter::NEAREST);
    let (at, out) = (fixture.memory(Kind::Device, 36), fixture.memory(Kind::Device, 48));
    at.write(&queue, &[0i32, 0, 0, 4, 2, 1, 1, 1, 3]);
    let launch = Launch::new(&fetch, &[3]).arg(arg(&image, READ)).arg(Arg::sampler(sampler.handle()));
    launch.pointer(at.pointer()).pointer(out.pointer()).value(3u32).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 12), [0, 1, 2, 3, 116, 117, 118, 119, 204, 205, 206, 207]);
}

#[test]
fn a_surface_of_an_array_tells_its_width() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (_program, extent) = kernel(&fixture, c"surface_array_extent");
    let out = fixture.memory(Kind::Device, 8);
    for shape in [Shape::word(&[9]).layers(4), Shape::word(&[6, 5]).layers(3)] {
        let image = Image::new(&fixture, shape);
        Launch::new(&extent, &[1]).arg(arg(&image, READ)).pointer(out.pointer()).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 1), [shape.desc.width as u32]);
    }
}
