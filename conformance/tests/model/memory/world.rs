//! A program: what it has made, and its steps, each of which is chosen, told to the model and done at once.

mod choose;
mod steps;

use core::ptr::{null, null_mut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ur_conformance::ffi::{
    ur_device_handle_t, ur_device_info_t, ur_event_handle_t, ur_exp_event_desc_t, ur_mem_flags_t as Flags,
    ur_program_handle_t, ur_queue_flags_t as QueueFlags, ur_result_t as Code,
};
use ur_conformance::{
    Buffer, CommandBuffer, Environment, Event, ExecutableGraph, Fixture, Kernel, Kind, Program, Queue, Timeline,
    command_buffer, expect_success, graph, has_function, memory, ok, timeline,
};

use super::area::{Area, BYTES, Object, Storage};
use super::order::{Order, Set};
use super::told::{self, log};
use super::work::{Kernels, Request, Work};
use crate::runner::mixed;

/// Steps of a program.
const STEPS: u64 = 48;

/// Numbers of a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = mixed(self.0);
        (self.0 >> 20) as usize % end
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        (!items.is_empty()).then(|| items[self.below(items.len())])
    }
}

/// What all programs use.
pub struct Place<'f> {
    fixture: &'f Fixture,
    pub devices: usize,
    kernels: Kernels,
    timelines: bool,
    /// Whether there are host tasks.
    tasks: bool,
    /// Whether there are command buffers.
    records: bool,
    /// Whether queues can capture.
    captures: bool,
}

impl<'f> Place<'f> {
    pub fn new(fixture: &'f Fixture) -> Self {
        let devices = fixture.devices_of_context();
        let (image, context) = (Environment::get().image("basic.ptx"), fixture.context());
        let mut handles = fixture.devices[..devices].to_vec();
        let (mut lengths, mut images) = (vec![image.len(); devices], vec![image.as_ptr(); devices]);
        let (count, lengths, images) = (devices as u32, lengths.as_mut_ptr(), images.as_mut_ptr());
        let mut program: ur_program_handle_t = null_mut();
        ok!(Program.pfnCreateWithBinary(
            context,
            count,
            handles.as_mut_ptr(),
            lengths,
            images,
            null(),
            &raw mut program
        ));
        let program = Program::take(program);
        ok!(Program.pfnBuild(context, program.handle(), null()));
        let kernel = |name| -> Kernel { fixture.kernel(&program, name) };
        let kernels = Kernels { add: kernel(c"add_constant"), copy: kernel(c"copy") };
        let tasks = command_buffer::device_can(fixture, ur_device_info_t::ENQUEUE_HOST_TASK_SUPPORT_EXP);
        let records = command_buffer::device_can(fixture, ur_device_info_t::COMMAND_BUFFER_SUPPORT_EXP);
        Self {
            fixture,
            devices,
            kernels,
            timelines: timeline::are_there(),
            tasks,
            records,
            captures: graph::are_there(fixture),
        }
    }

    fn reusable_events(&self) -> Vec<(Event, Option<usize>)> {
        if !has_function("urEventCreateExp") {
            return Vec::new();
        }
        let make = |&device: &ur_device_handle_t| {
            let (description, mut event) = (ur_exp_event_desc_t::default(), null_mut());
            ok!(EventExp.pfnCreateExp(self.fixture.context(), device, &raw const description, &raw mut event));
            (Event::take(event), None)
        };
        self.fixture.devices[..self.devices].iter().map(make).collect()
    }
}

/// A map that is open.
struct Open {
    area: Area,
    writes: bool,
    /// Whether its bytes are anything until the host has written them.
    is_undefined: bool,
    command: usize,
    pointer: *mut u8,
}

/// How commands were recorded.
enum Recorded {
    Buffer(CommandBuffer),
    Captured(ExecutableGraph),
}

/// Commands that are launched together.
struct Group {
    commands: Recorded,
    device: usize,
    works: Vec<Work>,
}

/// A queue.
struct Line {
    queue: Queue,
    device: usize,
    /// Its number in the order.
    number: usize,
}

/// One program.
pub struct World<'p> {
    place: &'p Place<'p>,
    dice: Dice,
    order: Order,
    lines: Vec<Line>,
    lines_made: usize,
    /// They keep buffers, which need the memory below them until they go.
    groups: Vec<Group>,
    objects: Vec<Object<'p>>,
    uses: Vec<(usize, Area, bool)>,
    maps: Vec<Open>,
    timeline: Option<Timeline>,
    value: u64,
    /// An event of each device that is signalled again and again, with the command that did so last.
    reusable: Vec<(Event, Option<usize>)>,
}

impl<'p> World<'p> {
    /// Runs the program of a seed; how many commands it had.
    pub fn run(place: &'p Place<'p>, seed: u64) -> usize {
        told::begin(seed);
        let skipped = std::env::var("UR_MODEL_SKIP").unwrap_or_default();
        let skipped: Vec<u64> = skipped.split(',').filter_map(|number| number.parse().ok()).collect();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut world = Self::new(place, seed);
            for step in (0..STEPS).filter(|step| !skipped.contains(step)) {
                // Numbers of its own, so that steps stay what they are when others are left out.
                world.dice = Dice(mixed(seed.wrapping_add(mixed(step))));
                if world.order.has_room() {
                    log(format!("step {step}"));
                    world.step();
                }
            }
            world.end()
        }));
        told::end(outcome.is_err());
        outcome.unwrap_or_else(|cause| resume_unwind(cause))
    }

    fn new(place: &'p Place<'p>, seed: u64) -> Self {
        let mut world = Self {
            place,
            dice: Dice(seed),
            order: Order::default(),
            lines: Vec::new(),
            lines_made: 0,
            objects: Vec::new(),
            uses: Vec::new(),
            maps: Vec::new(),
            groups: Vec::new(),
            timeline: place.timelines.then(|| Timeline::at_zero(place.fixture)),
            value: 0,
            reusable: place.reusable_events(),
        };
        for _ in 0..2 + world.dice.below(3) {
            let line = world.line();
            world.lines.push(line);
        }
        world.add(Storage::Heap(vec![0; BYTES].into()), None);
        let context = place.fixture.context();
        for (kind, device) in [(Kind::Host, 0), (Kind::Shared, 0), (Kind::Device, 0), (Kind::Device, 1)] {
            if device < place.devices {
                let memory = memory::Memory::on(place.fixture, kind, place.fixture.devices[device], BYTES);
                let of = (kind != Kind::Host).then_some(device);
                world.add(Storage::Usm(memory), of);
                let index = world.objects.len() - 1;
                let line = world.place.fixture.queue_in(context, place.fixture.devices[device], QueueFlags::empty());
                memory::write(&line, world.objects[index].pointer(0), &[0u8; BYTES]);
            }
        }
        for _ in 0..3 {
            world.add_buffer();
        }
        world
    }

    fn line(&mut self) -> Line {
        let (device, in_order) = (self.dice.below(self.place.devices), !self.dice.one_in(3));
        let mut flags = if in_order { QueueFlags::empty() } else { QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE };
        if self.dice.one_in(4) {
            flags |= QueueFlags::PROFILING_ENABLE;
        }
        let fixture = self.place.fixture;
        let queue = fixture.queue_in(fixture.context(), fixture.devices[device], flags);
        self.order.add_queue(in_order);
        self.lines_made += 1;
        log(format!("q{} = queue of device {device}, {flags:?}", self.lines_made - 1));
        Line { queue, device, number: self.lines_made - 1 }
    }

    fn add(&mut self, storage: Storage<'p>, device: Option<usize>) {
        self.objects.push(Object { storage, device, content: vec![0; BYTES], is_released: false });
    }

    fn add_buffer(&mut self) {
        let flags = [
            Flags::READ_WRITE,
            Flags::USE_HOST_POINTER,
            Flags::ALLOC_COPY_HOST_POINTER,
            Flags::ALLOC_HOST_POINTER,
            Flags::READ_WRITE,
        ];
        let flags = self.dice.pick(&flags).unwrap_or_default();
        let content = memory::pattern(self.objects.len() as u32, BYTES);
        let mut host: Box<[u8]> = content.clone().into();
        let copies = flags == Flags::USE_HOST_POINTER || flags == Flags::ALLOC_COPY_HOST_POINTER;
        let pointer = if copies { host.as_mut_ptr().cast() } else { null_mut() };
        let whole = Buffer::of(self.place.fixture.context(), flags, BYTES, pointer);
        let parts = [(0, 512), (256, 256), (512, 512)].map(|(origin, size)| (origin, whole.part(origin, size)));
        let mut views = vec![(0, whole)];
        views.extend(parts);
        if !copies {
            // On a queue of its own: nothing may be waited for on the others while a value is not signalled.
            let (fixture, device) = (self.place.fixture, self.dice.below(self.place.devices));
            views[0]
                .1
                .write(&fixture.queue_in(fixture.context(), fixture.devices[device], QueueFlags::empty()), &content);
        }
        let below = (flags == Flags::USE_HOST_POINTER).then_some(host);
        self.add(Storage::Buffer { views, below }, None);
        let index = self.objects.len() - 1;
        self.objects[index].content = content;
        log(format!("o{index} = buffer {flags:?}"));
    }

    /// The commands that a new one on a queue has to wait for by events, besides some that it need not.
    fn waits(&mut self, slot: usize, uses: &[(Area, bool)], besides: Set) -> Vec<usize> {
        let conflicts = |area: &Area, writes: bool| {
            uses.iter().any(|(other, other_writes)| (writes || *other_writes) && area.meets(other))
        };
        let found = self.uses.iter().filter(|(_, area, writes)| conflicts(area, *writes));
        let needed = found.fold(besides, |set, (command, ..)| set | 1 << command);
        let mut waits = Vec::new();
        let mut covered = self.order.before_next(self.lines[slot].number);
        loop {
            let missing = needed & !covered;
            if missing == 0 {
                break;
            }
            let command = 127 - missing.leading_zeros() as usize;
            if let Some(event) = self.order.event_after(command) {
                waits.push(event);
                covered |= self.order.until(event);
            } else {
                let number = self.order.queue_of(command);
                let other =
                    self.lines.iter().position(|line| line.number == number).expect("a queue that is left has events");
                self.finish(other);
                covered |= self.order.all_of(number);
            }
        }
        while self.dice.one_in(3) {
            let all = self.order.with_events();
            if let Some(more) = self.dice.pick(&all) {
                let at = self.dice.below(waits.len() + 1);
                waits.insert(at, more);
            } else {
                break;
            }
        }
        waits
    }

    fn after(&self, waits: &[usize]) -> Set {
        waits.iter().fold(0, |set, &wait| set | self.order.until(wait))
    }

    /// Whether the host may wait for a command that is enqueued now.
    fn may_block(&self, slot: usize, waits: &[usize]) -> bool {
        let number = self.lines[slot].number;
        let before = self.order.before_next(number) | self.after(waits);
        !self.order.is_held(before) && (self.order.is_in_order(number) || !self.order.is_anything_held())
    }

    /// Enqueues something and writes it down.
    fn put(
        &mut self,
        slot: usize,
        what: &str,
        uses: &[(Area, bool)],
        waits: &[usize],
        (more, barrier, blocking): (Set, bool, bool),
        call: impl FnOnce(&mut Self, &Queue, &[ur_event_handle_t], *mut ur_event_handle_t) -> Code,
    ) -> usize {
        let handles: Vec<_> =
            waits.iter().map(|&wait| self.order.event(wait).expect("an event that is held").handle()).collect();
        let asks = !self.dice.one_in(4);
        let number = self.lines[slot].number;
        let blocks = if blocking { " blocking" } else { "" };
        log(format!("q{number}: {what}{blocks} after {waits:?}{}", if asks { "" } else { " without event" }));
        let mut event = null_mut();
        let place = if asks { &raw mut event } else { null_mut() };
        let queue = self.lines[slot].queue.handle();
        // The queue stays where it is; the call needs the rest of the program.
        let borrowed = core::mem::ManuallyDrop::new(Queue::take(queue));
        expect_success(call(self, &borrowed, &handles, place), what);
        let event = asks.then(|| Event::take(event));
        let after = self.after(waits) | more;
        let command = self.order.add(number, after, barrier, event);
        log(format!("  is c{command}"));
        self.uses.extend(uses.iter().map(|&(area, writes)| (command, area, writes)));
        if blocking {
            self.order.learn(self.order.until(command));
        }
        command
    }

    fn enqueue(&mut self, slot: usize, work: &Work) {
        let uses = work.uses();
        self.end_maps(&uses);
        let waits = self.waits(slot, &uses, 0);
        let can_block = matches!(work, Work::Copy { from, to }
            if !self.objects[from.object].is_buffer() || !self.objects[to.object].is_buffer());
        let blocking = can_block && self.dice.one_in(4) && self.may_block(slot, &waits);
        let all = matches!(work, Work::Wait { .. }) && waits.is_empty();
        let more = if all { self.order.all_of(self.lines[slot].number) } else { 0 };
        let barrier = matches!(work, Work::Wait { barrier: true });
        let what = format!("{work:?}");
        self.put(slot, &what, &uses, &waits, (more, barrier, blocking), |this, queue, waits, event| {
            let request = Request { queue, blocking, waits, event };
            work.enqueue(&mut this.objects, &this.place.kernels, &request)
        });
        work.apply(&mut self.objects);
    }

    /// Compares everything; how many commands there were.
    fn end(mut self) -> usize {
        while !self.maps.is_empty() {
            let slot = self.dice.below(self.lines.len());
            self.unmap(0, slot);
        }
        self.open();
        (0..self.lines.len()).for_each(|slot| self.finish(slot));
        let commands = self.order.with_events();
        // Of queues that were released.
        commands.iter().for_each(|&command| self.order.event(command).expect("an event").wait());
        for index in 0..self.objects.len() {
            if self.objects[index].is_released {
                continue;
            }
            let device = self.objects[index].device;
            let slots: Vec<_> = (0..self.lines.len())
                .filter(|&slot| device.is_none_or(|device| self.lines[slot].device == device))
                .collect();
            let slot = self.dice.pick(&slots);
            let own = device.map(|device| {
                let fixture = self.place.fixture;
                fixture.queue_in(fixture.context(), fixture.devices[device], QueueFlags::empty())
            });
            let queue = slot.map(|slot| &self.lines[slot].queue).or(own.as_ref()).expect("a queue");
            let found = match &self.objects[index].storage {
                Storage::Buffer { views, .. } => views[0].1.read::<u8>(queue),
                Storage::Usm(memory) => memory.read::<u8>(queue, BYTES),
                Storage::Heap(bytes) => bytes.to_vec(),
            };
            compare(&format!("o{index}"), &found, &self.objects[index].content);
        }
        self.groups.clear();
        for (index, object) in self.objects.iter_mut().enumerate() {
            if let Storage::Buffer { views, below } = &mut object.storage {
                views.clear();
                if let Some(below) = below {
                    compare(&format!("the memory below o{index}"), below, &object.content);
                }
            }
        }
        commands.len()
    }
}

#[track_caller]
fn compare(what: &str, found: &[u8], expected: &[u8]) {
    let wrong: Vec<_> = (0..found.len()).filter(|&at| found[at] != expected[at]).collect();
    if let (Some(&first), Some(last)) = (wrong.first(), wrong.last()) {
        let (is, should) = (found[first], expected[first]);
        panic!("{what}: {} bytes of {first}..={last} are wrong; at {first} is {is:#x}, not {should:#x}", wrong.len());
    }
}
