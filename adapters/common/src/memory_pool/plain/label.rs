//! What the table of live blocks says of a plain block: whose heap it came from, and of which class it is.

use crate::driver::MemoryKind;
use crate::memory_pool::live_blocks::Owner;

/// The class of blocks without one: each has a native allocation whose size the heap knows.
pub const LARGE: u8 = u8::MAX;

/// Where a plain block belongs: the index of its heap's device in its context, the heap's memory, whether it is the engine's own
/// (a buffer's), which the application may ask about and not free, and its size class, or [`LARGE`]. It is the number that the table
/// has for it, since every free reads one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label(u32);

/// Devices of a context that can have heaps.
pub const MOST_DEVICES: usize = 1 << 12;

const CLASS: u32 = u8::MAX as u32;
const KIND_SHIFT: u32 = 8;
const KIND: u32 = 3 << KIND_SHIFT;
const INTERNAL: u32 = 1 << 10;
const DEVICE_SHIFT: u32 = 12;

impl Label {
    /// Of a heap's blocks without a class that are the application's. There are fewer than [`MOST_DEVICES`] devices.
    #[must_use]
    pub const fn new(device_index: u16, kind: MemoryKind) -> Self {
        let kind = match kind {
            MemoryKind::Host => 0,
            MemoryKind::Device => 1,
            MemoryKind::Shared => 2,
        };
        Self((device_index as u32) << DEVICE_SHIFT | kind << KIND_SHIFT)
    }

    /// The same of a class.
    #[inline]
    #[must_use]
    pub const fn with_class(self, class: u8) -> Self {
        Self(self.0 & !CLASS | class as u32)
    }

    /// The same, of the engine's own blocks or of the application's.
    #[inline]
    #[must_use]
    pub const fn with_internal(self, is_internal: bool) -> Self {
        Self(self.0 & !INTERNAL | if is_internal { INTERNAL } else { 0 })
    }

    /// The index of the heap's device in its context.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "there are fewer devices")]
    pub const fn device_index(self) -> u16 {
        (self.0 >> DEVICE_SHIFT) as u16
    }

    /// The heap's memory.
    #[inline]
    #[must_use]
    pub const fn kind(self) -> MemoryKind {
        match (self.0 & KIND) >> KIND_SHIFT {
            0 => MemoryKind::Host,
            1 => MemoryKind::Device,
            _ => MemoryKind::Shared,
        }
    }

    /// Whether it is the engine's own.
    #[inline]
    #[must_use]
    pub const fn is_internal(self) -> bool {
        self.0 & INTERNAL != 0
    }

    /// Its size class, or [`LARGE`].
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "the lowest byte is meant")]
    pub const fn class(self) -> u8 {
        self.0 as u8
    }

    /// As the table has it: the number of a backend, of no stream.
    #[inline]
    #[must_use]
    pub const fn owner(self) -> Owner {
        Owner::plain(self.0)
    }

    /// What [`Label::owner`] made; `None` for a stream's block.
    #[inline]
    #[must_use]
    pub const fn of(owner: Owner) -> Option<Self> {
        if owner.is_plain() { Some(Self(owner.backend())) } else { None }
    }
}

impl core::fmt::Debug for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (device, kind, class) = (self.device_index(), self.kind(), self.class());
        write!(f, "device {device}, {kind}, class {class}{}", if self.is_internal() { ", internal" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_what_it_was_made_of_and_no_stream_has_one() {
        for kind in [MemoryKind::Host, MemoryKind::Device, MemoryKind::Shared] {
            for (device_index, is_internal, class) in [(0, false, 0), (4095, true, 79), (7, true, LARGE)] {
                let heaps = Label::new(device_index, kind);
                let label = Label::of(heaps.with_class(class).with_internal(is_internal).owner()).expect("no stream's");
                let parts = (label.device_index(), label.kind(), label.is_internal(), label.class());
                assert_eq!(parts, (device_index, kind, is_internal, class));
                assert_eq!(label.with_internal(false).with_class(0), heaps);
            }
        }
        assert_eq!(Label::of(Owner::new(1, 5)), None);
    }
}
