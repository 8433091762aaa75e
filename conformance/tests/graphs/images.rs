//! Images and samplers as arguments of launches that a queue captures: their contents are brought to the device at each launch of
//! the graph.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null_mut;

use ur_conformance::ffi::{
    ur_image_channel_order_t as Order, ur_image_channel_type_t as Type, ur_mem_flags_t as Flags,
    ur_queue_flags_t as QueueFlags, ur_result_t as Code, ur_sampler_addressing_mode_t as Mode,
    ur_sampler_filter_mode_t as Filter,
};
use ur_conformance::image::sampler;
use ur_conformance::launch::parameters_are_known;
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::pool::{Take, free};
use ur_conformance::{
    Arg, Fixture, Gate, Graph, Image, Kernel, Kind, Launch, Shape, Timeline, expect_code, graph, needs_capture,
    needs_sim, ok, timeline,
};

const SIZE: [usize; 2] = [16, 8];
const WORDS: usize = SIZE[0] * SIZE[1];

fn adding<'k>(kernel: &'k Kernel, image: &Image, value: u32) -> Launch<'k> {
    let launch = Launch::new(kernel, &SIZE).arg(Arg::memory(image.handle(), Flags::READ_WRITE)).value(value);
    launch.value(SIZE[0] as i32).value(SIZE[1] as i32)
}

fn node_count(graph: &Graph) -> usize {
    let mut value = 0;
    ok!(GraphExp.pfnGetNativeHandleExp(graph.handle(), &raw mut value));
    NativeGraph::named(value).nodes().len()
}

#[test]
fn an_image_of_a_captured_launch_is_read_and_written_at_every_launch() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let kernel = fixture.kernel(&fixture.program("image.ptx"), c"add_2d");
    for flags in [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        // One has contents from its creation that no device has yet, the other none at all.
        let (given, blank) = (
            Image::with(fixture.context(), Shape::word(&SIZE), &[0u8; 4 * WORDS]),
            Image::new(&fixture, Shape::word(&SIZE)),
        );
        let graph = Graph::captured(&queue, || {
            let first = adding(&kernel, &given, 1).event_on(&queue);
            adding(&kernel, &given, 10).after(&[&first]).on(&queue);
            adding(&kernel, &blank, 5).on(&queue);
        });
        assert_eq!(node_count(&graph), 3, "contents are no part of the graph");
        let executable = graph.instantiate();
        drop(graph);
        for round in 1..4u32 {
            blank.write(&queue, &[100 * round; WORDS]);
            executable.event_on(&queue).wait();
            assert_eq!(given.read::<u32>(&queue), [11 * round; WORDS], "{flags:?}");
            assert_eq!(blank.read::<u32>(&queue), [100 * round + 5; WORDS], "{flags:?}");
        }
        // What the graph uses stays.
        drop((given, blank));
        executable.on(&queue);
        queue.finish();
    }
}

#[test]
fn an_image_moves_between_devices_with_the_launches_of_a_graph() {
    let fixture = Fixture::over_all_devices();
    needs_capture!(fixture);
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let queues: Vec<_> = fixture.devices[..2]
        .iter()
        .map(|device| fixture.queue_in(fixture.context(), *device, Default::default()))
        .collect();
    let add = fixture.kernel(&fixture.program_on("image.ptx", fixture.devices[0]), c"add_2d");
    let image = Image::in_context(fixture.context(), Shape::word(&SIZE));
    image.write(&queues[1], &[7u32; WORDS]);
    let graph = Graph::captured(&queues[0], || adding(&add, &image, 5).on(&queues[0]));
    assert_eq!(node_count(&graph), 1);
    let executable = graph.instantiate();
    for round in 0..3u32 {
        image.write(&queues[1], &[100 * round; WORDS]);
        executable.on(&queues[0]);
        queues[0].finish();
        assert_eq!(image.read::<u32>(&queues[1]), [100 * round + 5; WORDS]);
    }
}

#[test]
fn a_queue_of_another_device_that_joins_a_capture_uses_no_image_there() {
    let fixture = Fixture::over_all_devices();
    needs_capture!(fixture);
    let [one, two, ..] = fixture.devices[..] else {
        println!("skipped: needs two devices");
        return;
    };
    let [(a, on_a), (b, on_b)] = [one, two].map(|device| {
        let kernel = fixture.kernel(&fixture.program_on("image.ptx", device), c"add_2d");
        (fixture.queue_in(fixture.context(), device, Default::default()), kernel)
    });
    let image = Image::in_context(fixture.context(), Shape::word(&SIZE));
    image.write(&b, &[7u32; WORDS]);
    let graph = Graph::captured(&a, || {
        let root = adding(&on_a, &image, 1).event_on(&a);
        adding(&on_b, &image, 2).after(&[&root]).refused(&[Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED], &b);
        adding(&on_a, &image, 4).on(&a);
    });
    graph.instantiate().event_on(&a).wait();
    assert_eq!(image.read::<u32>(&b), [12; WORDS]);
}

#[test]
fn a_texture_of_a_captured_launch_is_sampled_at_every_launch() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let fetch = fixture.kernel(&fixture.program("image.ptx"), c"sample_1d");
    if !parameters_are_known(&fetch) {
        return;
    }
    let image = Image::new(&fixture, Shape::new(Order::R, Type::FLOAT, &[4]));
    let (at, out) = (fixture.memory(Kind::Device, 24), fixture.memory(Kind::Device, 32));
    at.write(&queue, &[[0.5f32, 0.0, 0.0], [1.0, 0.0, 0.0]]);
    let graph = {
        let sampler = sampler(&fixture, false, Mode::CLAMP_TO_EDGE, Filter::LINEAR);
        let launch = Launch::new(&fetch, &[2]).arg(Arg::memory(image.handle(), Flags::READ_ONLY));
        let launch =
            launch.arg(Arg::sampler(sampler.handle())).pointer(at.pointer()).pointer(out.pointer()).value(2u32);
        Graph::captured(&queue, || launch.on(&queue))
    };
    let executable = graph.instantiate();
    for scale in [1f32, 3.0] {
        image.write(&queue, &[scale, 2.0 * scale, 0.0, 0.0]);
        executable.on(&queue);
        let found = out.read::<[f32; 4]>(&queue, 2);
        assert_eq!([found[0][0], found[1][0]], [scale, 1.5 * scale]);
    }
}

#[test]
fn transfers_of_images_are_refused_and_break_nothing() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&SIZE));
    image.write(&queue, &[3u32; WORDS]);
    let mut words = [0u32; WORDS];
    let graph = Graph::captured(&queue, || {
        let codes = [Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED];
        let (whole, mut event) = (image.whole(), null_mut());
        let read = image.read_box(&queue, &whole, [0, 0], words.as_mut_ptr().cast(), &[], &raw mut event);
        expect_code(read, &codes, "urEnqueueMemImageRead");
        let write = image.write_box(&queue, &whole, [0, 0], words.as_ptr().cast(), &[], &raw mut event);
        expect_code(write, &codes, "urEnqueueMemImageWrite");
        assert!(event.is_null());
    });
    assert!(graph.is_empty());
    assert_eq!(image.read::<u32>(&queue), [3; WORDS]);
}

#[test]
fn urMemRelease_of_an_image_waits_for_its_launches_from_before_a_capture_of_their_queue() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    let kernel = fixture.kernel(&fixture.program("image.ptx"), c"add_2d");
    let (queue, image) = (fixture.in_order(), Image::new(&fixture, Shape::word(&SIZE)));
    image.write(&queue, &[3u32; WORDS]);
    adding(&kernel, &image, 1).on(&queue);
    queue.finish();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    adding(&kernel, &image, 1).on(&queue);
    graph::begin(&queue);
    let is_early = image.goes_before(sim, &mut gate);
    drop(Graph::take(graph::end(&queue)));
    queue.finish();
    assert!(!is_early, "the surface went while a launch with it was on the queue");
}

/// The native library may give the address to another graph from then on, whose memory it is.
#[test]
fn urGraphDestroyExp_forgets_an_allocation_before_it_waits_for_an_image() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    let kernel = fixture.kernel(&fixture.program("image.ptx"), c"add_2d");
    let (queue, image) = (fixture.in_order(), Image::new(&fixture, Shape::word(&SIZE)));
    let (deferring, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    image.write(&queue, &[3u32; WORDS]);
    let mut block = null_mut();
    let graph = Graph::captured(&queue, || {
        block = Take::new(4 * WORDS).on(&queue);
        adding(&kernel, &image, 1).on(&queue);
    });
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    adding(&kernel, &image, 1).on(&queue);
    drop(image);
    // A free that is kept is asked for what launches may allocate.
    deferring.wait_for(&timeline, 1);
    let destroyed = || sim.calls_so_far("cuGraphDestroy");
    let before = destroyed();
    let answer = std::thread::scope(|scope| {
        let destroying = scope.spawn(|| drop(graph));
        while !destroying.is_finished() && destroyed() == before {
            std::thread::yield_now();
        }
        let answer = free(&deferring, block);
        gate.open();
        destroying.join().expect("the end of a graph");
        answer
    });
    assert_eq!(answer, Code::ERROR_INVALID_MEM_OBJECT, "the free of memory of a graph that is gone");
    timeline.signal(1);
    deferring.finish();
    queue.finish();
}
