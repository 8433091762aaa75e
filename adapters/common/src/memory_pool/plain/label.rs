//! What the table of live blocks says of a plain block: whose heap it came from, and of which class it is.

use crate::driver::MemoryKind;
use crate::memory_pool::live_blocks::Owner;

/// The class of blocks without one: each has a native allocation whose size the heap knows.
pub const LARGE: u8 = u8::MAX;

/// Where a plain block belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The index of the heap's device in its context.
    pub device_index: u16,
    /// The heap's memory.
    pub kind: MemoryKind,
    /// Whether it is the engine's own (a buffer's), which the application may ask about and not free.
    pub is_internal: bool,
    /// Its size class, or [`LARGE`].
    pub class: u8,
}

/// Devices of a context that can have heaps.
pub const MOST_DEVICES: usize = 1 << 12;

const KIND_SHIFT: u32 = 8;
const INTERNAL: u32 = 1 << 10;
const DEVICE_SHIFT: u32 = 12;

impl Label {
    /// As the table has it: the number of a backend, of no stream.
    #[inline]
    #[must_use]
    pub const fn owner(self) -> Owner {
        let kind = match self.kind {
            MemoryKind::Host => 0,
            MemoryKind::Device => 1,
            MemoryKind::Shared => 2,
        };
        let internal = if self.is_internal { INTERNAL } else { 0 };
        Owner::plain((self.device_index as u32) << DEVICE_SHIFT | kind << KIND_SHIFT | internal | self.class as u32)
    }

    /// What [`Label::owner`] made; `None` for a stream's block.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "fields of their own width")]
    pub const fn of(owner: Owner) -> Option<Self> {
        if !owner.is_plain() {
            return None;
        }
        let bits = owner.backend();
        let kind = match bits >> KIND_SHIFT & 3 {
            0 => MemoryKind::Host,
            1 => MemoryKind::Device,
            _ => MemoryKind::Shared,
        };
        let device_index = (bits >> DEVICE_SHIFT) as u16;
        Some(Self { device_index, kind, is_internal: bits & INTERNAL != 0, class: bits as u8 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_what_it_was_made_of_and_no_stream_has_one() {
        for kind in [MemoryKind::Host, MemoryKind::Device, MemoryKind::Shared] {
            for (device_index, is_internal, class) in [(0, false, 0), (4095, true, 79), (7, true, LARGE)] {
                let label = Label { device_index, kind, is_internal, class };
                assert_eq!(Label::of(label.owner()), Some(label));
            }
        }
        assert_eq!(Label::of(Owner::new(1, 5)), None);
    }
}
