//! Every native call of work with images fails in turn: the caller gets a code, nothing is left behind, and the next
//! attempt works. Needs the simulated driver; where HIP runs over CUDA, the calls of both are failed.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::description;
use ur_conformance::control::Control;
use ur_conformance::faults;
use ur_conformance::ffi::{
    ur_mem_flags_t as Flags, ur_result_t as Code, ur_sampler_addressing_mode_t as Mode,
    ur_sampler_filter_mode_t as Filter,
};
use ur_conformance::image::{Box3, sampler};
use ur_conformance::launch::parameters_are_known;
use ur_conformance::memory::pattern;
use ur_conformance::sim::status;
use ur_conformance::{
    Arg, CommandBuffer, Context, Fixture, Image, Kernel, Kind, Launch, Mem, Memory, Queue, Sampler, Shape, Sim, ur,
};

type Attempt = faults::Attempt<()>;

fn tried(name: &'static str, answer: Code) -> Attempt {
    faults::tried(name, answer, || ())
}

/// What is made once, so that only the work with images is failed.
struct Stage<'f> {
    fixture: &'f Fixture,
    queues: Vec<Queue>,
    read: Kernel,
    sample: Option<Kernel>,
    sampler: Sampler,
    out: Memory<'f>,
}

impl Stage<'_> {
    fn make(&self, contents: &[u8]) -> Result<Image, (&'static str, Code)> {
        self.make_of(Shape::words(&[8, 4]), contents)
    }

    fn make_of(&self, shape: Shape, contents: &[u8]) -> Result<Image, (&'static str, Code)> {
        let flags = Flags::READ_WRITE | Flags::ALLOC_COPY_HOST_POINTER;
        let context: *mut _ = self.fixture.context();
        let (answer, mem) = shape.create(context, flags, contents.as_ptr().cast_mut().cast());
        assert_eq!(mem.is_null(), answer != Code::SUCCESS, "urMemImageCreate's output");
        tried("urMemImageCreate", answer)?;
        Ok(Image { mem: Mem::take(mem), shape })
    }

    /// A little of everything on every device. Whatever fails ends it, and everything is given back.
    fn play(&self) -> Attempt {
        let contents = pattern(1, 8 * 4 * 16);
        let result = self.act(&contents, self.out.pointer());
        for queue in &self.queues {
            if ur!(Queue.pfnFinish(queue.handle())) != Code::SUCCESS {
                let _ = ur!(Queue.pfnFinish(queue.handle()));
            }
        }
        result
    }

    fn act(&self, contents: &[u8], out: *mut core::ffi::c_void) -> Attempt {
        let (image, other) = (self.make(contents)?, self.make(contents)?);
        let whole = image.whole();
        for queue in &self.queues {
            let part = Box3 { origin: [1, 1, 0], size: [2, 2, 1] };
            let from = contents.as_ptr().cast();
            tried("urEnqueueMemImageWrite", image.write_box(queue, &part, [0, 0], from, &[], null_mut()))?;
            let mut event = null_mut();
            let answer = image.read_box(queue, &whole, [0, 0], out, &[], &raw mut event);
            assert_eq!(event.is_null(), answer != Code::SUCCESS, "the read's event");
            tried("urEnqueueMemImageRead", answer)?;
            let _event = ur_conformance::Event::take(event);
            let (q, a, b) = (queue.handle(), image.handle(), other.handle());
            let (at, region) = (whole.offset(), whole.region());
            let answer = ur!(Enqueue.pfnMemImageCopy(q, a, b, at, at, region, 0, null(), null_mut()));
            tried("urEnqueueMemImageCopy", answer)?;
            tried("urQueueFinish", ur!(Queue.pfnFinish(q)))?;
        }
        self.act_on_layers(contents)?;
        // Kernels run on the first device, where the images are not at present.
        let queue = &self.queues[0];
        let read = Launch::new(&self.read, &[8, 4]).arg(Arg::memory(other.handle(), Flags::READ_WRITE));
        tried("a launch", read.pointer(out).value(8i32).value(4i32).enqueue(queue, null_mut()))?;
        if let Some(sample) = &self.sample {
            let launch = Launch::new(sample, &[1]).arg(Arg::memory(other.handle(), Flags::READ_ONLY));
            let launch = launch.arg(Arg::sampler(self.sampler.handle())).pointer(out);
            tried("a launch with a texture", launch.enqueue(queue, null_mut()))?;
        }
        tried("urQueueFinish", ur!(Queue.pfnFinish(queue.handle())))
    }
}

impl Stage<'_> {
    /// Lines in an array, written on one device after the other and copied to the rows of a plane, one native copy each.
    fn act_on_layers(&self, contents: &[u8]) -> Attempt {
        let (lines, plane) = (self.make_of(Shape::words(&[8]).layers(4), contents)?, self.make(contents)?);
        for queue in &self.queues {
            let part = Box3 { origin: [1, 1, 0], size: [2, 2, 1] };
            let from = contents.as_ptr().cast();
            tried("urEnqueueMemImageWrite", lines.write_box(queue, &part, [0, 0], from, &[], null_mut()))?;
            let (q, a, b) = (queue.handle(), lines.handle(), plane.handle());
            let (at, region) = (lines.whole().offset(), lines.whole().region());
            let answer = ur!(Enqueue.pfnMemImageCopy(q, a, b, at, at, region, 0, null(), null_mut()));
            tried("urEnqueueMemImageCopy", answer)?;
            tried("urQueueFinish", ur!(Queue.pfnFinish(q)))?;
        }
        Ok(())
    }
}

/// Native calls that give something back, or go to the place where that is done and back again: when they fail, what
/// was to be given back stays, whoever called them, and nobody can be told.
fn gives_back(name: &str) -> bool {
    let words = ["Destroy", "Free", "Release", "CtxGetCurrent", "CtxSetCurrent", "hipGetDevice", "hipSetDevice"];
    words.iter().any(|word| name.contains(word))
}

fn sweep(devices: usize, error: i32, allowed: &[Code]) {
    let mut fixture = if devices == 1 { Fixture::new() } else { Fixture::over_all_devices() };
    if fixture.sim().is_none() || fixture.devices.len() < devices {
        println!("skipped: needs the simulated driver with {devices} devices");
        return;
    }
    let program = fixture.program("image.ptx");
    let (read, sample) = (fixture.kernel(&program, c"read_2d"), fixture.kernel(&program, c"texture_extent"));
    let sample = parameters_are_known(&sample).then_some(sample);
    let queue = |device| fixture.queue_in(fixture.context(), device, Default::default());
    let queues: Vec<_> = fixture.devices.iter().take(devices).map(|device| queue(*device)).collect();
    let sampler = sampler(&fixture, true, Mode::CLAMP, Filter::NEAREST);
    let out = fixture.memory(Kind::Host, 8 * 4 * 16);
    let stage = Stage { fixture: &fixture, queues, read, sample, sampler, out };
    assert_eq!(stage.play(), Ok(()), "{}", ur_conformance::last_error());
    let before = fixture.sim().map(Sim::objects);
    for library in Control::loaded() {
        let (result, calls) = library.calls_of(|| stage.play());
        assert_eq!(result, Ok(()));
        let mut failures = 0;
        for (name, count) in calls.iter().filter(|(name, _)| !gives_back(name)) {
            for nth in 1..=*count {
                library.fail(name, nth, error);
                let result = stage.play();
                library.clear_faults();
                let what = format!("{name}, call {nth} of {count}, answers {error}");
                if let Err((call, code)) = result {
                    failures += 1;
                    assert!(allowed.contains(&code), "{what}: {call} answers {code:?}");
                }
                let reports = fixture.sim().map(Sim::reports).unwrap_or_default();
                assert!(reports.is_empty(), "{what}: misuse: {reports:#?}");
                // Events that nobody uses stay in their pool; nothing of an image may stay.
                let left = fixture.sim().map(Sim::objects);
                let images = |objects: &Option<ur_conformance::control::Counts>| {
                    let objects = objects.clone().unwrap_or_default();
                    ["array", "texture object", "surface object"].map(|kind| objects.get(kind).copied().unwrap_or(0))
                };
                assert_eq!(images(&left), images(&before), "{what}");
                assert_eq!(stage.play(), Ok(()), "{what}; the next time: {}", ur_conformance::last_error());
            }
        }
        assert!(failures >= 5, "only {failures} of the injected failures reached the caller");
    }
    drop(stage);
    drop(program);
    fixture.accept_objects();
}

const ANY: &[Code] = &[Code::ERROR_ADAPTER_SPECIFIC];
const MEMORY: &[Code] =
    &[Code::ERROR_OUT_OF_DEVICE_MEMORY, Code::ERROR_OUT_OF_HOST_MEMORY, Code::ERROR_OUT_OF_RESOURCES];

#[test]
fn an_unknown_failure_in_any_native_call_with_images_is_reported_and_leaves_nothing() {
    sweep(1, status::UNKNOWN, ANY);
}

#[test]
fn out_of_memory_in_any_native_call_with_images_is_reported_and_leaves_nothing() {
    sweep(1, status::OUT_OF_MEMORY, MEMORY);
}

#[test]
fn an_unknown_failure_in_any_native_call_that_moves_an_image_between_devices_leaves_nothing() {
    sweep(2, status::UNKNOWN, ANY);
}

/// The array that an image gets on the second device when it is first used there finds no memory until something is given back.
#[test]
fn an_image_s_first_array_on_a_device_is_made_behind_a_relief_whatever_uses_it_first() {
    let mut fixture = Fixture::over_all_devices();
    if fixture.sim().is_none() || fixture.devices.len() < 2 {
        println!("skipped: needs the simulated driver with two devices");
        return;
    }
    let second = fixture.devices[1];
    let queue = |device| fixture.queue_in(fixture.context(), device, Default::default());
    let queues = [queue(fixture.device()), queue(second)];
    let read = fixture.kernel(&fixture.program_on("image.ptx", second), c"read_2d");
    let (contents, out) = (pattern(1, 8 * 4 * 16), fixture.memory(Kind::Host, 8 * 4 * 16));
    let launch = |image: &Image| {
        let launch = Launch::new(&read, &[8, 4]).arg(Arg::memory(image.handle(), Flags::READ_ONLY));
        launch.pointer(out.pointer()).value(8i32).value(4i32)
    };
    type Use<'a> = (&'static str, &'a dyn Fn(&Image) -> Code);
    let uses: [Use<'_>; 3] = [
        ("urEnqueueMemImageRead", &|image| {
            image.read_box(&queues[1], &image.whole(), [0, 0], out.pointer(), &[], null_mut())
        }),
        ("urEnqueueKernelLaunch", &|image| launch(image).enqueue(&queues[1], null_mut())),
        ("urCommandBufferAppendKernelLaunchExp", &|image| {
            let buffer = CommandBuffer::of(fixture.context(), second, description(false, false, false));
            let answer = buffer.append(&launch(image), &[], &[], null_mut(), null_mut());
            if answer == Code::SUCCESS {
                buffer.run(&queues[1]);
            }
            answer
        }),
    ];
    for (name, act) in uses {
        let image = Image::in_context(fixture.context(), Shape::words(&[8, 4]));
        image.write(&queues[0], &contents);
        out.write(&queues[0], &vec![0_u8; contents.len()]);
        let sim = fixture.sim().expect("the simulated driver");
        sim.fail("cuArray3DCreate_v2", 1, status::OUT_OF_MEMORY);
        let answer = act(&image);
        sim.clear_faults();
        assert_eq!(answer, Code::SUCCESS, "{name}: {}", ur_conformance::last_error());
        queues[1].finish();
        assert!(out.read::<u8>(&queues[0], contents.len()) == contents, "{name}");
    }
    drop((read, out));
    drop(queues);
    fixture.accept_objects();
}

#[test]
fn an_image_that_does_not_fit_the_device_s_memory_is_refused_and_leaves_nothing() {
    let fixture = Fixture::new();
    if fixture.sim().is_none() {
        println!("skipped: needs the simulated driver");
        return;
    }
    let context: &Context = &fixture.context_of(&fixture.devices[..1]);
    let shape = Shape::words(&[16384, 16384, 1024]);
    let (answer, mem) = shape.create(context.handle(), Flags::READ_WRITE, null_mut());
    assert_eq!((answer, mem.is_null()), (Code::ERROR_OUT_OF_DEVICE_MEMORY, true));
}
