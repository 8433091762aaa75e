//! Which commands a program has next: the numbers say, among what there is.

use super::World;
use crate::memory::area::{Area, BYTES, Storage};
use crate::memory::work::Work;

impl World<'_> {
    /// Objects that a device's queues may use.
    pub(super) fn usable(&self, device: usize) -> Vec<usize> {
        let objects = self.objects.iter().enumerate();
        let usable = objects.filter(|(_, object)| !object.is_released && object.device.is_none_or(|own| own == device));
        usable.map(|(index, _)| index).collect()
    }

    pub(super) fn buffers(&self) -> Vec<usize> {
        self.usable(usize::MAX).into_iter().filter(|&index| self.objects[index].is_buffer()).collect()
    }

    /// An object for a command, rather a buffer.
    pub(super) fn object(&mut self, device: usize) -> usize {
        let usable = self.usable(device);
        let buffers: Vec<_> = usable.iter().copied().filter(|&index| self.objects[index].is_buffer()).collect();
        let from = if buffers.is_empty() || self.dice.one_in(3) { usable } else { buffers };
        self.dice.pick(&from).expect("there is memory that all may use")
    }

    /// A view of an object: its number, its start and its size.
    pub(super) fn view(&mut self, object: usize) -> (usize, usize, usize) {
        match &self.objects[object].storage {
            Storage::Buffer { views, .. } => {
                let view = if self.dice.one_in(2) { 0 } else { self.dice.below(views.len()) };
                (view, views[view].0, views[view].1.size())
            }
            _ => (0, 0, BYTES),
        }
    }

    pub(super) fn rectangle(&mut self, object: usize, region: [usize; 3]) -> Area {
        let (view, base, size) = self.view(object);
        let [width, height, depth] = region;
        let row = width + self.dice.below(12);
        let slice = row * (height + self.dice.below(2));
        let origin = if self.objects[object].is_buffer() || depth > 1 {
            [self.dice.below(row - width + 1), self.dice.below(3), self.dice.below(2)]
        } else {
            [self.dice.below(100), 0, 0]
        };
        let area = Area { object, view, base, origin, region, row, slice };
        if area.end() <= base + size {
            area
        } else {
            Area { origin: [0; 3], row: width, slice: width * height, ..area }
        }
    }

    pub(super) fn line_of(&mut self, object: usize, bytes: usize, unit: usize) -> Area {
        let (view, base, size) = self.view(object);
        let bytes = bytes.min(size);
        let at = self.dice.below((size - bytes) / unit + 1) * unit;
        Area::line(object, view, base, at, bytes)
    }

    pub(super) fn copy(&mut self, device: usize, rectangles: bool) -> Option<Work> {
        let (from, to) = (self.object(device), self.object(device));
        let (one, other) = (self.objects[from].is_buffer(), self.objects[to].is_buffer());
        let (from, to) = if rectangles {
            let depth = if one || other { 1 + self.dice.below(2) } else { 1 };
            let region = [1 + self.dice.below(20), 1 + self.dice.below(4), depth];
            (self.rectangle(from, region), self.rectangle(to, region))
        } else {
            let bytes = if self.dice.one_in(4) { 256 } else { 1 + self.dice.below(200) };
            (self.line_of(from, bytes, 1), self.line_of(to, bytes, 1))
        };
        (!from.spans_meet(&to)).then_some(Work::Copy { from, to })
    }

    /// Memory that a kernel is given: a whole view, or memory's words.
    pub(super) fn words(&mut self, device: usize, bytes: usize) -> Option<Area> {
        let object = self.object(device);
        match &self.objects[object].storage {
            Storage::Heap(_) => None,
            Storage::Usm(_) => Some(self.line_of(object, bytes, 4)),
            Storage::Buffer { .. } => {
                let (view, base, size) = self.view(object);
                (bytes == 0 || size == bytes).then(|| Area::line(object, view, base, 0, size))
            }
        }
    }

    /// A command; one that command buffers can have too with `recorded`.
    pub(super) fn work(&mut self, device: usize, recorded: bool) -> Option<Work> {
        match self.dice.below(if recorded { 10 } else { 12 }) {
            0..=2 => self.copy(device, false),
            3 | 4 => {
                let work = self.copy(device, true)?;
                let Work::Copy { from, to } = &work else { return None };
                let of_memory = !self.objects[from.object].is_buffer() && !self.objects[to.object].is_buffer();
                (!recorded || !of_memory).then_some(work)
            }
            5 | 6 => {
                let unit = 1 << self.dice.below(5);
                let pattern: Vec<u8> = (0..unit).map(|_| self.dice.below(256) as u8).collect();
                let object = self.object(device);
                if !recorded && !self.objects[object].is_buffer() && self.dice.one_in(2) {
                    let height = 1 + self.dice.below(4);
                    let width = unit * (1 + self.dice.below(4).min(64 / unit - 1));
                    let mut to = self.rectangle(object, [width, height, 1]);
                    to.origin[0] -= to.origin[0] % unit;
                    to.row = to.row.next_multiple_of(unit);
                    return (to.end() <= BYTES && !matches!(self.objects[object].storage, Storage::Heap(_)))
                        .then_some(Work::Fill { to, pattern });
                }
                if matches!(self.objects[object].storage, Storage::Heap(_)) {
                    return None;
                }
                let bytes = unit * (1 + self.dice.below(256 / unit));
                Some(Work::Fill { to: self.line_of(object, bytes, unit), pattern })
            }
            7 | 8 => {
                let to = self.words(device, 4 * (1 + self.dice.0 as usize % 32)).or_else(|| self.words(device, 0));
                Some(Work::Add { to: to.filter(|to| to.bytes() > 0)?, value: self.dice.0 as u32 | 1 })
            }
            9 => {
                let to = self.words(device, 512)?;
                let from = self.words(device, to.bytes())?;
                (!from.spans_meet(&to)).then_some(Work::Move { from, to })
            }
            10 if !self.place.tasks => None,
            10 => {
                let usable = self.usable(device);
                let host: Vec<_> = usable.into_iter().filter(|&index| self.objects[index].is_of_host()).collect();
                let (object, bytes) = (self.dice.pick(&host)?, 1 + self.dice.below(200));
                Some(Work::Task { to: self.line_of(object, bytes, 1), flip: self.dice.0 as u8 | 1 })
            }
            _ => Some(Work::Wait { barrier: self.dice.one_in(2) }),
        }
    }
}
