//! Commands on buffers and images behind a wait for a timeline's value that nobody has signalled: nothing happens before the
//! signal, everything after it, in order, and the objects stay as long as commands need them.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;

use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status, ur_map_flags_t as Map,
    ur_mem_flags_t as Flags, ur_queue_flags_t as QueueFlags, ur_queue_handle_t, ur_rect_offset_t, ur_rect_region_t,
    ur_result_t as Code,
};
use ur_conformance::memory::pattern;
use ur_conformance::owned::event_of;
use ur_conformance::{
    Arg, Buffer, Cells, Change, CommandBuffer, Event, Fixture, Gate, Image, Kernel, Kind, Launch, Queue, Shape,
    Timeline, ask, ok, query, refused, timeline, ur,
};

const ORDERS: [QueueFlags; 3] =
    [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE, QueueFlags::PROFILING_ENABLE];
const SOURCES: [Flags; 4] =
    [Flags::empty(), Flags::USE_HOST_POINTER, Flags::ALLOC_HOST_POINTER, Flags::ALLOC_COPY_HOST_POINTER];
const CAUSE: Code = Code::ERROR_INVALID_ARGUMENT;
const WORDS: usize = 64;
const BYTES: usize = 4 * WORDS;

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn wait_for(event: &Event) -> Code {
    let list = [event.handle()];
    ur!(Event.pfnWait(1, list.as_ptr()))
}

/// A queue, and the event of the last command of it: every next command waits for that, so that the order is the same on any
/// queue.
struct Chain {
    queue: Queue,
    last: Option<Event>,
    all: Vec<Event>,
}

impl Chain {
    /// Behind a wait for the timeline's first value.
    fn behind(queue: Queue, timeline: &Timeline) -> Self {
        let last = Some(timeline.event(1));
        Self { queue, last, all: Vec::new() }
    }

    /// One more command.
    #[track_caller]
    fn put(
        &mut self,
        command: impl FnOnce(ur_queue_handle_t, u32, *const ur_event_handle_t, *mut ur_event_handle_t) -> Code,
    ) {
        let list = [self.last.as_ref().map_or(null_mut(), Event::handle)];
        let queue = self.queue.handle();
        let event = event_of(|event| command(queue, 1, list.as_ptr(), event));
        self.all.extend(self.last.replace(event));
    }

    fn launch(&mut self, launch: Launch<'_>) {
        let launch = launch.after(&[self.last.as_ref().unwrap()]);
        let event = event_of(|event| launch.enqueue(&self.queue, event));
        self.all.extend(self.last.replace(event));
    }

    fn last(&self) -> &Event {
        self.last.as_ref().unwrap()
    }
}

fn add<'k>(kernel: &'k Kernel, buffer: &Buffer, value: u32) -> Launch<'k> {
    Launch::new(kernel, &[WORDS]).buffer(buffer, Flags::READ_WRITE).value(value).value(WORDS as u32)
}

fn over(fixture: &Fixture, source: Flags, host: &mut [u32]) -> Buffer {
    let wants = source.intersects(Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER);
    let pointer = if wants { host.as_mut_ptr().cast() } else { null_mut() };
    Buffer::of(fixture.context(), source, BYTES, pointer)
}

/// All commands on buffers, one behind the other. Their objects are released before anything has run.
#[test]
fn every_command_on_buffers_is_deferred_with_its_objects() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let kernel = fixture.basic(c"add_constant");
    for (flags, source) in ORDERS.into_iter().flat_map(|flags| SOURCES.map(|source| (flags, source))) {
        let timeline = Timeline::at_zero(&fixture);
        let queue = fixture.queue_in(fixture.context(), fixture.device(), flags);
        let (mut under, mut beneath) = (vec![1u32; WORDS], vec![2u32; WORDS]);
        let (a, b) = (over(&fixture, source, &mut under), over(&fixture, source, &mut beneath));
        let (ah, bh) = (a.handle(), b.handle());
        let given: Vec<u32> = (0..WORDS as u32).collect();
        let (mut read, mut rows) = (vec![0u32; WORDS], vec![0u32; WORDS]);
        let no = CBool::FALSE;
        let zero = ur_rect_offset_t { x: 0, y: 0, z: 0 };
        let (second, four) =
            (ur_rect_offset_t { x: 0, y: 1, z: 0 }, ur_rect_region_t { width: 16, height: 2, depth: 1 });
        let mut chain = Chain::behind(queue, &timeline);
        let from = given.as_ptr().cast_mut().cast();
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemBufferWrite(q, ah, no, 0, BYTES, from, n, list, event)));
        chain.launch(add(&kernel, &a, 100));
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemBufferCopy(q, ah, bh, 0, 0, BYTES, n, list, event)));
        {
            let mut seven = [7u32];
            let fill = seven.as_ptr().cast();
            chain.put(|q, n, list, event| ur!(Enqueue.pfnMemBufferFill(q, bh, fill, 4, 8, 8, n, list, event)));
            seven[0] = 8;
            core::hint::black_box(&seven);
        }
        // The first two rows of 16 bytes go to the second and third of the other buffer.
        chain.put(|q, n, list, event| {
            ur!(Enqueue.pfnMemBufferCopyRect(q, ah, bh, zero, second, four, 16, 0, 16, 0, n, list, event))
        });
        let rect_from = given[32..].as_ptr().cast_mut().cast();
        chain.put(|q, n, list, event| {
            ur!(Enqueue.pfnMemBufferWriteRect(q, ah, no, second, zero, four, 32, 0, 16, 0, rect_from, n, list, event))
        });
        let to = read.as_mut_ptr().cast();
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemBufferRead(q, bh, no, 0, BYTES, to, n, list, event)));
        let to = rows.as_mut_ptr().cast();
        chain.put(|q, n, list, event| {
            ur!(Enqueue.pfnMemBufferReadRect(q, ah, no, zero, zero, four, 32, 0, 32, 0, to, n, list, event))
        });
        drop((a, b));
        assert!(chain.all.iter().chain([chain.last()]).all(|event| status(event) == Status::QUEUED), "{flags:?}");
        assert!(read.iter().chain(&rows).all(|word| *word == 0), "nobody has signalled");
        timeline.signal(1);
        chain.last().wait();
        chain.queue.finish();
        let mut expected: Vec<u32> = (100..100 + WORDS as u32).collect();
        let first = expected[..8].to_vec();
        expected[2..4].fill(7);
        expected[4..12].copy_from_slice(&first);
        assert_eq!(read, expected, "{flags:?} {source:?}");
        assert_eq!((&rows[..4], &rows[8..12]), (&first[..4], &given[32..36]), "{flags:?} {source:?}");
    }
}

#[test]
fn blocking_forms_return_after_the_signal_and_hold_up_nobody() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    for (flags, source) in ORDERS.into_iter().flat_map(|flags| SOURCES.map(|source| (flags, source))) {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let (timeline, mut under) = (Timeline::at_zero(&fixture), vec![0u32; WORDS]);
        let buffer = over(&fixture, source, &mut under);
        buffer.write(&other, &[5u32; WORDS]);
        queue.wait_for(&timeline, 1);
        std::thread::scope(|scope| {
            let (begin, begun) = channel();
            let (queue, buffer) = (&queue, &buffer);
            let reading = scope.spawn(move || {
                begin.send(()).unwrap();
                let read = buffer.read::<u32>(queue);
                let mut mapped = null_mut();
                let (q, m, yes) = (queue.handle(), buffer.handle(), CBool::TRUE);
                ok!(Enqueue.pfnMemBufferMap(q, m, yes, Map::READ, 0, 4, 0, null(), null_mut(), &raw mut mapped));
                // SAFETY: four bytes that are mapped.
                let first = unsafe { mapped.cast::<u32>().read() };
                ok!(Enqueue.pfnMemUnmap(q, m, mapped, 0, null(), null_mut()));
                (read, first)
            });
            begun.recv().unwrap();
            // Whoever waits has nothing locked: another queue writes the same buffer.
            buffer.write(&other, &[6u32; WORDS]);
            timeline.signal(1);
            assert_eq!(reading.join().unwrap(), (vec![6; WORDS], 6), "{flags:?} {source:?}");
        });
        queue.finish();
    }
}

/// Maps without waiting; gives the address and the event.
fn map(queue: &Queue, buffer: &Buffer, flags: Map, after: &Event) -> (*mut u32, Event) {
    let (list, mut pointer) = ([after.handle()], null_mut());
    let (q, m, no) = (queue.handle(), buffer.handle(), CBool::FALSE);
    let event = event_of(|event| {
        ur!(Enqueue.pfnMemBufferMap(q, m, no, flags, 0, BYTES, 1, list.as_ptr(), event, &raw mut pointer))
    });
    assert!(!pointer.is_null());
    (pointer.cast(), event)
}

fn unmap(queue: &Queue, buffer: &Buffer, pointer: *mut u32, after: &[&Event]) -> Event {
    let list: Vec<_> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let (q, m, count) = (queue.handle(), buffer.handle(), list.len() as u32);
    event_of(|event| ur!(Enqueue.pfnMemUnmap(q, m, pointer.cast(), count, waits, event)))
}

#[test]
fn urEnqueueMemBufferMap_gives_its_address_at_once_and_urEnqueueMemUnmap_is_deferred_too() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    for (flags, source) in ORDERS.into_iter().flat_map(|flags| SOURCES.map(|source| (flags, source))) {
        let (queue, timeline, mut under) = (fixture.queue(flags), Timeline::at_zero(&fixture), vec![0u32; WORDS]);
        let buffer = over(&fixture, source, &mut under);
        buffer.write(&queue, &[5u32; WORDS]);
        let (pointer, mapped) = map(&queue, &buffer, Map::READ | Map::WRITE, &timeline.event(1));
        assert_eq!(status(&mapped), Status::QUEUED);
        timeline.signal(1);
        mapped.wait();
        // SAFETY: the map has finished.
        let words = unsafe { core::slice::from_raw_parts_mut(pointer, WORDS) };
        assert_eq!(words, [5; WORDS], "{flags:?} {source:?}");
        words.fill(9);
        let unmapped = unmap(&queue, &buffer, pointer, &[&timeline.event(2)]);
        let again = unmap_is_refused(&queue, &buffer, pointer);
        let (list, mut read) = ([unmapped.handle()], vec![0u32; WORDS]);
        let (q, m, to) = (queue.handle(), buffer.handle(), read.as_mut_ptr().cast());
        let copied =
            event_of(|event| ur!(Enqueue.pfnMemBufferRead(q, m, CBool::FALSE, 0, BYTES, to, 1, list.as_ptr(), event)));
        assert_eq!([&unmapped, &copied].map(status), [Status::QUEUED; 2]);
        timeline.signal(2);
        copied.wait();
        assert_eq!((read, again), (vec![9; WORDS], true), "{flags:?} {source:?}");
        queue.finish();
    }
}

/// Whether an address is no map's any more.
fn unmap_is_refused(queue: &Queue, buffer: &Buffer, pointer: *mut u32) -> bool {
    let (q, m) = (queue.handle(), buffer.handle());
    refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemUnmap(q, m, pointer.cast(), 0, null(), null_mut()));
    true
}

#[test]
fn a_failure_reaches_commands_on_buffers_and_leaves_maps_to_unmap() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    for (flags, source) in ORDERS.into_iter().flat_map(|flags| SOURCES.map(|source| (flags, source))) {
        let (queue, timelines, mut under) =
            (fixture.queue(flags), [(); 2].map(|()| Timeline::at_zero(&fixture)), vec![0u32; WORDS]);
        let buffer = over(&fixture, source, &mut under);
        buffer.write(&queue, &[5u32; WORDS]);
        let (pointer, mapped) = map(&queue, &buffer, Map::WRITE, &timelines[0].event(1));
        timelines[0].fail(CAUSE);
        assert_eq!((status(&mapped), wait_for(&mapped)), (Status::ERROR, CAUSE));
        // The map's address can be given back, and an unmap that fails leaves it.
        let (list, m) = ([timelines[1].event(1)], buffer.handle());
        let failed = unmap(&queue, &buffer, pointer, &[&list[0]]);
        let from = [1u32; WORDS];
        let waits = [list[0].handle()];
        let written = event_of(|event| {
            let from = from.as_ptr().cast_mut().cast();
            ur!(Enqueue.pfnMemBufferWrite(queue.handle(), m, CBool::FALSE, 0, BYTES, from, 1, waits.as_ptr(), event))
        });
        timelines[1].fail(CAUSE);
        for event in [&failed, &written] {
            assert_eq!((status(event), wait_for(event)), (Status::ERROR, CAUSE));
        }
        assert_eq!(ur!(Queue.pfnFinish(queue.handle())), CAUSE);
        assert_eq!(buffer.read::<u32>(&queue), [5; WORDS], "{flags:?} {source:?}");
        let (again, mapped) = map(&queue, &buffer, Map::READ, &written_nothing(&queue));
        mapped.wait();
        unmap(&queue, &buffer, again, &[]).wait();
        // SAFETY: what was mapped is the application's until it is unmapped; the map itself brought nothing.
        unsafe { core::slice::from_raw_parts_mut(pointer, WORDS) }.fill(8);
        unmap(&queue, &buffer, pointer, &[]).wait();
        assert_eq!(buffer.read::<u32>(&queue), [8; WORDS], "{flags:?} {source:?}");
        unmap_is_refused(&queue, &buffer, pointer);
    }
}

/// An event that is complete.
fn written_nothing(queue: &Queue) -> Event {
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event)))
}

#[test]
fn bytes_are_brought_to_the_device_when_the_command_s_turn_has_come() {
    let fixture = Fixture::over_all_devices();
    let [one, two, ..] = fixture.devices[..] else { return println!("skipped: needs two devices") };
    if !timeline::are_there() {
        return;
    }
    let programs = [one, two].map(|device| fixture.program_on("basic.ptx", device));
    let kernels = programs.each_ref().map(|program| fixture.kernel(program, c"add_constant"));
    for source in SOURCES {
        let queues = [one, two].map(|device| fixture.queue_in(fixture.context(), device, QueueFlags::empty()));
        let (timeline, mut under) = (Timeline::at_zero(&fixture), vec![0u32; WORDS]);
        let (buffer, mut gate) = (over(&fixture, source, &mut under), Gate::new(&fixture));
        buffer.write(&queues[0], &[1u32; WORDS]);
        queues[1].wait_for(&timeline, 1);
        add(&kernels[1], &buffer, 10).on(&queues[1]);
        queues[1].signal(&timeline, 2);
        gate.block(&queues[0]);
        add(&kernels[0], &buffer, 100).on(&queues[0]);
        queues[0].signal(&timeline, 1);
        // Back again, behind what the other queue has kept.
        queues[0].wait_for(&timeline, 2);
        add(&kernels[0], &buffer, 1000).on(&queues[0]);
        gate.open();
        queues.iter().for_each(Queue::finish);
        assert_eq!(buffer.read::<u32>(&queues[0]), [1111; WORDS], "{source:?}");
    }
}

/// The arguments behind an image.
fn sized<'k>(launch: Launch<'k>, size: &[usize]) -> Launch<'k> {
    size.iter().fold(launch, |launch, &extent| launch.value(extent as i32))
}

#[test]
fn commands_on_images_and_launches_with_them_are_deferred_with_their_objects() {
    const SIZE: [usize; 2] = [16, 16];
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let program = fixture.program("image.ptx");
    let (adds, copies) = (fixture.kernel(&program, c"add_2d"), fixture.kernel(&program, c"copy_2d"));
    for flags in ORDERS {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let make = || Image::new(&fixture, Shape::word(&SIZE));
        let (a, b, c) = (make(), make(), make());
        let (given, mut seen) = ([5u32; 256], [0u32; 256]);
        let mut chain = Chain::behind(queue, &timeline);
        let (ah, bh, ch, whole) = (a.handle(), b.handle(), c.handle(), a.whole());
        let (origin, region, from) = (whole.offset(), whole.region(), given.as_ptr().cast_mut().cast::<c_void>());
        let no = CBool::FALSE;
        chain.put(|q, n, list, event| {
            ur!(Enqueue.pfnMemImageWrite(q, ah, no, origin, region, 0, 0, from, n, list, event))
        });
        chain.launch(sized(Launch::new(&adds, &SIZE).arg(Arg::memory(ah, Flags::READ_WRITE)).value(20u32), &SIZE));
        let launch = Launch::new(&copies, &SIZE).arg(Arg::memory(bh, Flags::WRITE_ONLY));
        chain.launch(sized(launch.arg(Arg::memory(ah, Flags::READ_ONLY)), &SIZE));
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemImageCopy(q, bh, ch, origin, origin, region, n, list, event)));
        let to = seen.as_mut_ptr().cast();
        chain
            .put(|q, n, list, event| ur!(Enqueue.pfnMemImageRead(q, ch, no, origin, region, 0, 0, to, n, list, event)));
        drop((a, b, c));
        assert!(chain.all.iter().chain([chain.last()]).all(|event| status(event) == Status::QUEUED));
        assert_eq!(seen, [0; 256]);
        timeline.signal(1);
        chain.last().wait();
        chain.queue.finish();
        assert_eq!(seen, [25; 256], "{flags:?}");
    }
}

#[test]
fn urEnqueueMemImageCopy_between_layers_of_one_image_is_deferred() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in ORDERS {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let image = Image::new(&fixture, Shape::word(&[8, 4]).layers(3));
        let contents = pattern(7, image.shape.bytes());
        image.write(&queue, &contents);
        let layer = ur_rect_region_t { width: 8, height: 4, depth: 1 };
        let (first, last) = (ur_rect_offset_t { x: 0, y: 0, z: 0 }, ur_rect_offset_t { x: 0, y: 0, z: 2 });
        let mut chain = Chain::behind(queue, &timeline);
        let m = image.handle();
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemImageCopy(q, m, m, first, last, layer, n, list, event)));
        timeline.signal(1);
        chain.last().wait();
        let (one, found) = (contents.len() / 3, image.read::<u8>(&chain.queue));
        assert_eq!((&found[..2 * one], &found[2 * one..]), (&contents[..2 * one], &contents[..one]), "{flags:?}");
    }
}

/// What a native command sees: the buffer's native address on its queue's device.
struct Seen {
    word: u32,
    source: *mut c_void,
}

extern "C" fn look(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    let seen = unsafe { &mut *data.cast::<Seen>() };
    let to = (&raw mut seen.word).cast();
    ok!(Enqueue.pfnUSMMemcpy(queue, CBool::FALSE, to, seen.source, 4, 0, null(), null_mut()));
}

#[test]
fn urEnqueueNativeCommandExp_with_memory_objects_is_deferred_with_them() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let kernel = fixture.basic(c"add_constant");
    // What the function enqueues on a queue out of order comes after nothing.
    for flags in [QueueFlags::empty(), QueueFlags::PROFILING_ENABLE] {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let (buffer, image) = (Buffer::new(&fixture, BYTES), Image::new(&fixture, Shape::word(&[4, 4])));
        buffer.write(&queue, &[3u32; WORDS]);
        let mut native = 0;
        ok!(Mem.pfnGetNativeHandle(buffer.handle(), fixture.device(), &raw mut native));
        let mut seen = Seen { word: 0, source: core::ptr::with_exposed_provenance_mut(native) };
        let (data, list) = ((&raw mut seen).cast(), [buffer.handle(), image.handle()]);
        let mut chain = Chain::behind(queue, &timeline);
        chain.launch(add(&kernel, &buffer, 4));
        chain.put(|q, n, waits, event| {
            ur!(EnqueueExp.pfnNativeCommandExp(q, Some(look), data, 2, list.as_ptr(), null(), n, waits, event))
        });
        drop(image);
        assert_eq!((status(chain.last()), seen.word), (Status::QUEUED, 0));
        timeline.signal(1);
        chain.last().wait();
        chain.queue.finish();
        // SAFETY: the command has finished, and what it wrote is the driver's work.
        assert_eq!(unsafe { (&raw const seen.word).read_volatile() }, 7, "{flags:?}");
    }
}

#[test]
fn urEnqueueCommandBufferExp_of_an_updatable_buffer_is_deferred_as_it_is_at_its_enqueue() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let kernel = fixture.basic(c"add_constant");
    for flags in [QueueFlags::empty(), QueueFlags::PROFILING_ENABLE] {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let (one, two) = (Buffer::new(&fixture, BYTES), Buffer::new(&fixture, BYTES));
        [&one, &two].iter().for_each(|buffer| buffer.write(&queue, &[0u32; WORDS]));
        let commands = CommandBuffer::updatable(&fixture);
        let (_, command) = commands.command(&add(&kernel, &one, 1), &[]);
        commands.finalize();
        queue.wait_for(&timeline, 1);
        commands.on(&queue);
        commands.update(&[Change::of(command).value(1, 10u32)]);
        commands.on(&queue);
        commands.on(&queue);
        commands.update(&[Change::of(command).memory(0, two.handle()).value(1, 100u32)]);
        commands.on(&queue);
        drop(two_is_kept(&two));
        let behind = written_nothing(&queue);
        assert_eq!(status(&behind), Status::QUEUED);
        timeline.signal(1);
        behind.wait();
        // One more as it is now.
        commands.on(&queue);
        commands.update(&[Change::of(command).memory(0, one.handle())]);
        commands.on(&queue);
        assert_eq!(
            (one.read::<u32>(&queue), two.read::<u32>(&queue)),
            (vec![121; WORDS], vec![200; WORDS]),
            "{flags:?}"
        );
        queue.finish();
    }
}

/// One more reference, given back at once.
fn two_is_kept(buffer: &Buffer) -> Buffer {
    ok!(Mem.pfnRetain(buffer.handle()));
    Buffer::take(buffer.handle(), buffer.size())
}

#[test]
fn a_command_buffer_over_buffers_and_one_that_allocates_are_deferred() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    for flags in ORDERS {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let (from, to) = (Buffer::new(&fixture, BYTES), Buffer::new(&fixture, BYTES));
        to.write(&queue, &[0u32; WORDS]);
        let commands = CommandBuffer::in_order(&fixture);
        commands.fill_buffer(&from, &[6u32], 0, BYTES, &[]);
        commands.copy_buffer(&from, &to, [0, 0], BYTES, &[]);
        commands.finalize();
        let mut chain = Chain::behind(queue, &timeline);
        let b = commands.handle();
        chain.put(|q, n, list, event| ur!(EnqueueExp.pfnCommandBufferExp(q, b, n, list, event)));
        drop(commands);
        assert_eq!(status(chain.last()), Status::QUEUED);
        timeline.signal(1);
        chain.last().wait();
        assert_eq!(to.read::<u32>(&chain.queue), [6; WORDS], "{flags:?}");
        chain.queue.finish();
    }
}

/// A stream that is full holds up neither the host's signal nor another queue, also where a command copies pageable memory.
#[test]
fn urTimelineSignalExt_does_not_wait_for_commands_on_buffers() {
    const COMMANDS: usize = 3_000;
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let (queues, timeline) = ([(); 2].map(|()| fixture.in_order()), Timeline::at_zero(&fixture));
    let kernel = fixture.basic(c"add_constant");
    let (full, other) = (Buffer::new(&fixture, BYTES), Buffer::new(&fixture, BYTES));
    [&full, &other].iter().for_each(|buffer| buffer.write(&queues[0], &[0u32; WORDS]));
    let (mut gate, from) = (Gate::new(&fixture), [1u32; WORDS]);
    gate.block(&queues[0]);
    queues.iter().for_each(|queue| queue.wait_for(&timeline, 1));
    let (q, m) = (queues[0].handle(), full.handle());
    ok!(Enqueue.pfnMemBufferWrite(
        q,
        m,
        CBool::FALSE,
        0,
        BYTES,
        from.as_ptr().cast_mut().cast(),
        0,
        null(),
        null_mut()
    ));
    for _ in 0..COMMANDS {
        add(&kernel, &full, 1).on(&queues[0]);
    }
    add(&kernel, &other, 1).on(&queues[1]);
    timeline.signal(1);
    queues[1].finish();
    assert_eq!(other.read::<u32>(&queues[1]), [1; WORDS]);
    gate.open();
    queues[0].finish();
    assert_eq!(full.read::<u32>(&queues[0]), [COMMANDS as u32 + 1; WORDS]);
}

/// So many commands of each kind behind one wait: enqueueing returns, and all of them run, or fail, in the end.
#[test]
fn a_hundred_thousand_commands_of_each_kind_behind_a_wait_run_or_fail() {
    const COMMANDS: usize = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() || fixture.sim().is_none() {
        return println!("skipped: needs the simulated driver and timelines");
    }
    let kernel = fixture.basic(c"add_constant");
    let words = fixture.memory(Kind::Host, BYTES);
    for fails in [false, true] {
        for kind in 0..5 {
            let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
            let (buffer, other) = (Buffer::new(&fixture, BYTES), Buffer::new(&fixture, BYTES));
            [&buffer, &other].iter().for_each(|buffer| buffer.write(&queue, &[0u32; WORDS]));
            let (q, m, o, memory) = (queue.handle(), buffer.handle(), other.handle(), words.pointer());
            let one = Launch::new(&kernel, &[1]).local(&[1]).buffer(&buffer, Flags::READ_WRITE).value(1u32).value(1u32);
            let (fill, none, no) = ([1u32], null(), CBool::FALSE);
            queue.wait_for(&timeline, 1);
            for _ in 0..COMMANDS {
                match kind {
                    0 => one.on(&queue),
                    1 => ok!(Enqueue.pfnMemBufferFill(q, m, fill.as_ptr().cast(), 4, 0, 8, 0, none, null_mut())),
                    2 => ok!(Enqueue.pfnMemBufferCopy(q, o, m, 0, 0, 8, 0, none, null_mut())),
                    3 => ok!(Enqueue.pfnMemBufferWrite(q, m, no, 0, 8, memory, 0, none, null_mut())),
                    _ => ok!(Enqueue.pfnMemBufferRead(q, m, no, 0, 8, memory, 0, none, null_mut())),
                }
            }
            if fails {
                timeline.fail(CAUSE);
                assert_eq!(ur!(Queue.pfnFinish(q)), CAUSE);
            } else {
                timeline.signal(1);
                queue.finish();
                if kind == 0 {
                    assert_eq!(buffer.read::<u32>(&queue)[0], COMMANDS as u32);
                }
            }
        }
    }
}

#[test]
fn a_deferred_launch_takes_no_argument_from_cells_that_changed() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline, cells) = (fixture.in_order(), Timeline::at_zero(&fixture), Cells::new(&fixture, 1));
    let (kernel, buffer) = (fixture.basic(c"add_constant"), Buffer::new(&fixture, BYTES));
    buffer.write(&queue, &[1u32; WORDS]);
    queue.wait_for(&timeline, 1);
    for value in [10u32, 100] {
        // The values lie in the launch, which is gone before its turn.
        add(&kernel, &buffer, value).on(&queue);
    }
    assert_eq!(cells.load(0), 0);
    timeline.signal(1);
    assert_eq!(buffer.read::<u32>(&queue), [111; WORDS]);
}

/// Nobody is left who could signal, so what waits fails, and all that was released goes with it.
#[test]
fn deferred_commands_on_memory_end_with_the_timeline_that_nobody_can_signal() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let given = [1u32; WORDS];
    for flags in ORDERS {
        let context = fixture.context_of(&fixture.devices);
        let queue = fixture.queue_in(context.handle(), fixture.device(), flags);
        let timeline = Timeline::of(context.handle());
        fixture.allow_late_releases();
        let buffer = Buffer::of(context.handle(), Flags::empty(), BYTES, null_mut());
        let image = Image::in_context(context.handle(), Shape::word(&[8, 8]));
        let mut chain = Chain::behind(queue, &timeline);
        let (m, picture, whole, no) = (buffer.handle(), image.handle(), image.whole(), CBool::FALSE);
        let from = given.as_ptr().cast_mut().cast::<c_void>();
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemBufferWrite(q, m, no, 0, BYTES, from, n, list, event)));
        let mut pointer = null_mut();
        chain.put(|q, n, list, event| {
            ur!(Enqueue.pfnMemBufferMap(q, m, no, Map::WRITE, 0, BYTES, n, list, event, &raw mut pointer))
        });
        chain.put(|q, n, list, event| ur!(Enqueue.pfnMemUnmap(q, m, pointer, n, list, event)));
        let (origin, region) = (whole.offset(), whole.region());
        chain.put(|q, n, list, event| {
            ur!(Enqueue.pfnMemImageWrite(q, picture, no, origin, region, 0, 0, from, n, list, event))
        });
        let Chain { queue, last, all } = chain;
        drop((buffer, image, queue, context));
        assert!(all.iter().chain(&last).all(|event| status(event) == Status::QUEUED));
        drop(timeline);
        assert!(all.iter().chain(&last).all(|event| wait_for(event) == Code::ERROR_INVALID_OPERATION), "{flags:?}");
    }
}

/// The last reference goes with the command, and a native free waits for the device: not on the thread that signals.
#[test]
fn urTimelineSignalExt_does_not_wait_for_the_end_of_a_buffer_that_was_released() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, other, timeline) = (fixture.in_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let (kernel, mut gate) = (fixture.basic(c"add_constant"), Gate::new(&fixture));
    // Too large for a block of a slab.
    let buffer = Buffer::new(&fixture, 64 << 20);
    buffer.write(&queue, &[1u32; WORDS]);
    queue.wait_for(&timeline, 1);
    add(&kernel, &buffer, 1).on(&queue);
    gate.block(&other);
    drop(buffer);
    timeline.signal(1);
    assert!(!gate.has_passed());
    gate.open();
    [queue, other].iter().for_each(Queue::finish);
}

#[test]
fn a_buffer_over_the_host_s_memory_that_is_released_is_written_there_before_the_command_s_event_is_complete() {
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let kernel = fixture.basic(c"add_constant");
    for flags in ORDERS {
        let (queue, timeline, mut host) = (fixture.queue(flags), Timeline::at_zero(&fixture), vec![1u32; WORDS]);
        let buffer = over(&fixture, Flags::USE_HOST_POINTER, &mut host);
        let mut chain = Chain::behind(queue, &timeline);
        chain.launch(add(&kernel, &buffer, 4));
        drop(buffer);
        assert_eq!(host, [1; WORDS]);
        timeline.signal(1);
        chain.last().wait();
        assert_eq!(host, [5; WORDS], "{flags:?}");
        chain.queue.finish();
    }
}
