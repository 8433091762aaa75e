//! The steps of a program besides plain commands: maps, command buffers, values that are waited for, and what goes.

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{SyncPoint, description, list};
use ur_conformance::ffi::{ur_map_flags_t as Map, ur_queue_flags_t as QueueFlags};
use ur_conformance::{CommandBuffer, Event, Graph, Timeline, expect_success, graph, memory, ok, ur};

use super::{Group, Open, Recorded, World};
use crate::memory::area::{Area, BYTES, Storage};
use crate::memory::told::log;
use crate::memory::work::{Request, Work, enqueue_task};

impl World<'_> {
    pub(super) fn step(&mut self) {
        let slot = self.dice.below(self.lines.len());
        let device = self.lines[slot].device;
        match self.dice.below(100) {
            0..54 => {
                if let Some(work) = self.work(device, false) {
                    self.enqueue(slot, &work);
                }
            }
            54..56 => self.signal(slot),
            56..66 => self.map(slot),
            66..71 => {
                if !self.maps.is_empty() {
                    let which = self.dice.below(self.maps.len());
                    if self.place.tasks && self.dice.one_in(2) {
                        self.touch_by_task(which, slot);
                    } else {
                        self.touch(which);
                    }
                }
            }
            71..76 => {
                if !self.maps.is_empty() {
                    let which = self.dice.below(self.maps.len());
                    self.unmap(which, slot);
                }
            }
            76..80 => {
                self.record(device);
                self.launch(slot);
            }
            80..84 => self.launch(slot),
            84..87 => self.hold(slot),
            87..89 => self.open(),
            89..92 => {
                if let Some(command) = self.any_event() {
                    self.wait_here(command);
                }
            }
            92 => self.finish(slot),
            93..96 => {
                if let Some(command) = self.any_event() {
                    log(format!("release e{command}"));
                    drop(self.order.take_event(command));
                }
            }
            96..98 => self.replace_buffer(),
            _ => self.replace_queue(slot),
        }
    }

    pub(super) fn any_event(&mut self) -> Option<usize> {
        let all = self.order.with_events();
        self.dice.pick(&all)
    }

    pub(super) fn map(&mut self, slot: usize) {
        let buffers = self.buffers();
        let Some(object) = self.dice.pick(&buffers) else { return };
        let bytes = if self.dice.one_in(3) { BYTES } else { 1 + self.dice.below(300) };
        let area = self.line_of(object, bytes, 1);
        let flags = [Map::READ, Map::READ, Map::WRITE, Map::READ | Map::WRITE, Map::WRITE_INVALIDATE_REGION];
        let flags = self.dice.pick(&flags).unwrap_or_default();
        let (writes, is_undefined) = (flags != Map::READ, flags == Map::WRITE_INVALIDATE_REGION);
        let uses = [(area, writes)];
        self.end_maps(&uses);
        let waits = self.waits(slot, &uses, 0);
        let blocking = self.dice.one_in(3) && self.may_block(slot, &waits);
        let mut pointer: *mut c_void = null_mut();
        let out = &raw mut pointer;
        let what = format!("map {flags:?} {area:?}");
        let command = self.put(slot, &what, &uses, &waits, (0, false, blocking), |this, queue, waits, event| {
            let Storage::Buffer { views, .. } = &this.objects[object].storage else { panic!("a buffer") };
            let (m, (count, waits)) = (views[area.view].1.handle(), list(waits));
            let (q, at, bytes) = (queue.handle(), area.at(), area.bytes());
            ur!(Enqueue.pfnMemBufferMap(q, m, blocking.into(), flags, at, bytes, count, waits, event, out))
        });
        assert!(!pointer.is_null(), "a map without an address");
        self.maps.push(Open { area, writes, is_undefined, command, pointer: pointer.cast() });
    }

    /// The host looks at a map's bytes, and changes them.
    pub(super) fn touch(&mut self, which: usize) {
        let Open { area, writes, is_undefined, command, pointer } = self.maps[which];
        if !self.order.is_known(command) {
            match self.order.event_after(command) {
                Some(event) => self.wait_here(event),
                None => {
                    let number = self.order.queue_of(command);
                    let slot = self.lines.iter().position(|line| line.number == number).expect("a queue");
                    self.finish(slot);
                }
            }
        }
        let start = area.base + area.at();
        let content = &mut self.objects[area.object].content[start..start + area.bytes()];
        // SAFETY: the map is done and open; nothing else writes there by the program's plan.
        let bytes = unsafe { core::slice::from_raw_parts_mut(pointer, area.bytes()) };
        if !is_undefined {
            let wrong = (0..bytes.len()).find(|&at| bytes[at] != content[at]);
            assert_eq!(
                wrong.map(|at| (at, bytes[at], content[at])),
                None,
                "the map of c{command}: place, found, expected"
            );
        }
        if writes {
            let seed = self.dice.0 as u32;
            let some = if is_undefined { 0..bytes.len() } else { bytes.len() / 3..bytes.len() };
            bytes[some.clone()].copy_from_slice(&memory::pattern(seed, some.len()));
            content.copy_from_slice(bytes);
            self.maps[which].is_undefined = false;
        }
        log(format!("the host touches the map of c{command}"));
    }

    /// A host task changes a map's bytes.
    fn touch_by_task(&mut self, which: usize, slot: usize) {
        let Open { area, writes, is_undefined, command, pointer } = self.maps[which];
        if !writes || is_undefined {
            return;
        }
        let uses = [(area, true)];
        let (waits, bits) = (self.waits(slot, &uses, 1 << command), self.dice.0 as u8 | 1);
        let what = format!("task on the map of c{command}");
        let task = self.put(slot, &what, &uses, &waits, (0, false, false), |_, queue, waits, event| {
            let request = Request { queue, blocking: false, waits, event };
            enqueue_task(pointer, area.bytes(), bits, &request)
        });
        let start = area.base + area.at();
        self.objects[area.object].content[start..start + area.bytes()].iter_mut().for_each(|byte| *byte ^= bits);
        // Whoever looks at the map next comes after the task.
        self.maps[which].command = task;
    }

    pub(super) fn unmap(&mut self, which: usize, slot: usize) {
        if self.maps[which].is_undefined || self.dice.one_in(2) {
            self.touch(which);
        }
        let Open { area, writes, command, pointer, .. } = self.maps.swap_remove(which);
        let uses = [(area, writes)];
        let waits = self.waits(slot, &uses, 1 << command);
        let what = format!("unmap of c{command}");
        self.put(slot, &what, &uses, &waits, (0, false, false), |this, queue, waits, event| {
            let Storage::Buffer { views, .. } = &this.objects[area.object].storage else { panic!("a buffer") };
            let (m, (count, waits)) = (views[area.view].1.handle(), list(waits));
            ur!(Enqueue.pfnMemUnmap(queue.handle(), m, pointer.cast(), count, waits, event))
        });
    }

    /// Ends the maps that would meet a command.
    pub(super) fn end_maps(&mut self, uses: &[(Area, bool)]) {
        let meets = |map: &Open| uses.iter().any(|(area, writes)| (*writes || map.writes) && area.meets(&map.area));
        while let Some(which) = self.maps.iter().position(meets) {
            let slot = self.dice.below(self.lines.len());
            self.unmap(which, slot);
        }
    }

    pub(super) fn end_maps_of(&mut self, object: usize) {
        let whole = Area::line(object, 0, 0, 0, BYTES);
        self.end_maps(&[(whole, true)]);
    }

    pub(super) fn record(&mut self, device: usize) {
        if self.groups.len() == 3 || !self.place.records {
            return;
        }
        if self.place.captures && self.dice.one_in(2) {
            return self.capture(device);
        }
        let fixture = self.place.fixture;
        let in_order = self.dice.one_in(3);
        let commands =
            CommandBuffer::of(fixture.context(), fixture.devices[device], description(false, in_order, false));
        let (mut works, mut points): (Vec<Work>, Vec<SyncPoint>) = (Vec::new(), Vec::new());
        for _ in 0..2 + self.dice.below(4) {
            let Some(work) = self.work(device, true) else { continue };
            let uses = work.uses();
            let meets = |before: &Work| {
                let mine =
                    |one: &Area, writes: bool| uses.iter().any(|(two, also)| (writes || *also) && one.meets(two));
                before.uses().iter().any(|(one, writes)| mine(one, *writes))
            };
            let after: Vec<_> =
                (0..works.len()).filter(|&at| !in_order && meets(&works[at])).map(|at| points[at]).collect();
            points.push(work.append(&mut self.objects, &self.place.kernels, &commands, &after));
            log(format!("recorded {work:?} behind {} others", after.len()));
            works.push(work);
        }
        commands.finalize();
        log(format!("g{} = command buffer of {} commands of device {device}", self.groups.len(), works.len()));
        self.groups.push(Group { commands: Recorded::Buffer(commands), device, works });
    }

    /// What a queue captures that is given some commands.
    fn capture(&mut self, device: usize) {
        let (fixture, mut works) = (self.place.fixture, Vec::new());
        let queue = fixture.queue_in(fixture.context(), fixture.devices[device], QueueFlags::empty());
        graph::begin(&queue);
        for _ in 0..2 + self.dice.below(4) {
            let Some(work) = self.work(device, false) else { continue };
            if matches!(work, Work::Task { .. }) {
                continue;
            }
            let request = Request { queue: &queue, blocking: false, waits: &[], event: null_mut() };
            expect_success(
                work.enqueue(&mut self.objects, &self.place.kernels, &request),
                "a command that is captured",
            );
            log(format!("captured {work:?}"));
            works.push(work);
        }
        let graph = Graph::take(graph::end(&queue)).instantiate();
        log(format!("g{} = graph of {} commands of device {device}", self.groups.len(), works.len()));
        self.groups.push(Group { commands: Recorded::Captured(graph), device, works });
    }

    /// Signals an event that may have been signalled before.
    pub(super) fn signal(&mut self, slot: usize) {
        let device = self.lines[slot].device;
        let Some(before) = self.reusable.get_mut(device).map(|(_, before)| before.take()) else { return };
        // It does not stand for that any more.
        before.into_iter().for_each(|before| drop(self.order.take_event(before)));
        let waits = self.waits(slot, &[], 0);
        let more = if waits.is_empty() { self.order.all_of(self.lines[slot].number) } else { 0 };
        let handle = self.reusable[device].0.handle();
        let command = self.put(slot, "signal", &[], &waits, (more, true, false), |_, queue, waits, event| {
            let (q, (count, waits), mut given) = (queue.handle(), list(waits), handle);
            let answer = ur!(Enqueue.pfnEventsWaitWithBarrierExt(q, null(), count, waits, &raw mut given));
            if !event.is_null() {
                ok!(Event.pfnRetain(handle));
                // SAFETY: the place is the caller's.
                unsafe { event.write(handle) };
            }
            answer
        });
        self.reusable[device].1 = Some(command);
    }

    pub(super) fn launch(&mut self, slot: usize) {
        let device = self.lines[slot].device;
        let groups: Vec<_> = (0..self.groups.len()).filter(|&group| self.groups[group].device == device).collect();
        let Some(group) = self.dice.pick(&groups) else { return };
        let works = self.groups[group].works.clone();
        let uses: Vec<_> = works.iter().flat_map(Work::uses).collect();
        self.end_maps(&uses);
        let waits = self.waits(slot, &uses, 0);
        let what = format!("launch of g{group}");
        self.put(slot, &what, &uses, &waits, (0, false, false), |this, queue, waits, event| {
            let (q, (count, waits)) = (queue.handle(), list(waits));
            match &this.groups[group].commands {
                Recorded::Buffer(commands) => {
                    ur!(EnqueueExp.pfnCommandBufferExp(q, commands.handle(), count, waits, event))
                }
                Recorded::Captured(graph) => ur!(EnqueueExp.pfnGraphExp(q, graph.handle(), count, waits, event)),
            }
        });
        works.iter().for_each(|work| work.apply(&mut self.objects));
    }

    /// What follows waits until the host says so.
    pub(super) fn hold(&mut self, slot: usize) {
        let Some(timeline) = self.timeline.as_ref().map(Timeline::handle) else { return };
        self.value += 1;
        let waits = self.waits(slot, &[], 0);
        let value = self.value;
        let command = self.put(slot, "hold", &[], &waits, (0, true, false), |_, queue, waits, event| {
            let (q, (count, waits)) = (queue.handle(), list(waits));
            ur!(TimelineExt.pfnEnqueueTimelineWaitExt(q, 1, &raw const timeline, &raw const value, count, waits, event))
        });
        self.order.close(command);
    }

    pub(super) fn open(&mut self) {
        if self.order.is_anything_held() {
            log("the host lets everything go on".into());
            self.order.open();
            self.timeline.as_ref().expect("a timeline").signal(self.value);
        }
    }

    pub(super) fn wait_here(&mut self, command: usize) {
        let (until, number) = (self.order.until(command), self.order.queue_of(command));
        if self.order.is_held(until) || !self.order.is_in_order(number) {
            self.open();
        }
        log(format!("urEventWait e{command}"));
        self.order.event(command).expect("an event").wait();
        self.order.learn(until);
    }

    pub(super) fn finish(&mut self, slot: usize) {
        let number = self.lines[slot].number;
        if self.order.is_held(self.order.all_of(number)) || !self.order.is_in_order(number) {
            self.open();
        }
        log(format!("q{number}: finish"));
        self.lines[slot].queue.finish();
        self.order.learn(self.order.all_of(number));
    }

    pub(super) fn replace_buffer(&mut self) {
        let buffers = self.buffers();
        let Some(object) = self.dice.pick(&buffers) else { return };
        self.end_maps_of(object);
        log(format!("release o{object}"));
        let Storage::Buffer { views, .. } = &mut self.objects[object].storage else { panic!("a buffer") };
        if self.dice.one_in(2) {
            views.reverse();
        }
        views.drain(..).for_each(drop);
        self.objects[object].is_released = true;
        self.add_buffer();
    }

    pub(super) fn replace_queue(&mut self, slot: usize) {
        let number = self.lines[slot].number;
        let (queue, mut event) = (self.lines[slot].queue.handle(), null_mut());
        // One event for all that is on its way there.
        ok!(Enqueue.pfnEventsWait(queue, 0, null(), &raw mut event));
        let command = self.order.add(number, self.order.all_of(number), false, Some(Event::take(event)));
        self.order.keep(command);
        log(format!("q{number}: released, c{command} waits for all of it"));
        let line = self.line();
        self.lines[slot] = line;
    }
}
