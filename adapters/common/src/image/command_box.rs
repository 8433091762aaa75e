//! Boxes of elements that a command may use until it has finished, and the native copy between two of them.
//!
//! Whoever makes a [`CommandBox`] keeps its memory or its array until the command has finished. The application owes memory
//! to the command where an [`Address`] names it. An image's array is destroyed only after the queues that use the image are
//! idle, and contents given at creation are freed only after their copy. So whoever copies has nothing to promise, and only
//! this room makes a box of an array.

use crate::driver::Driver;
use crate::driver::images::{Array, BoxCopy, BoxSide, RectSide};
use crate::image::contents::Contents;
use crate::image::format::{Extents, Pitches, Pixel, Region};
use crate::object::error::Result;
use crate::object::params::Address;
use crate::stream::staging::Staging;

/// Memory that the application owes to a command, which may be deferred.
#[derive(Clone, Copy, Debug)]
pub struct ApplicationMemory {
    address: usize,
}

impl From<Address> for ApplicationMemory {
    fn from(memory: Address) -> Self {
        Self { address: memory.as_ptr().expose_provenance() }
    }
}

/// A box that a command may read or write until it has finished.
#[derive(Clone, Copy, Debug)]
pub struct CommandBox {
    side: BoxSide,
    /// Bytes of a row, rows, slices.
    extent: [usize; 3],
}

impl CommandBox {
    /// A box in the application's memory, from an offset behind the address on. A box of one row has no pitches.
    #[must_use]
    pub fn of_application(memory: ApplicationMemory, offset: usize, pitches: Pitches, extent: [usize; 3]) -> Self {
        let address = memory.address + offset;
        let side = RectSide { address, row_pitch: pitches.row, slice_pitch: pitches.slice, of_process: true };
        Self { side: BoxSide::Memory(side), extent }
    }

    /// A whole image, packed.
    ///
    /// # Panics
    /// If the bytes are fewer.
    pub(super) fn of_contents<D: Driver>(contents: &Contents<D>, extent: [usize; 3]) -> Self {
        Self::packed(contents.address(), contents.size(), extent)
    }

    /// Staged memory with room for a box as large as this one, packed.
    ///
    /// # Panics
    /// If it is smaller.
    #[must_use]
    pub fn staged<D: Driver>(self, staging: &Staging<D>) -> Self {
        Self::packed(staging.address(), staging.size(), self.extent)
    }

    fn packed(address: usize, size: usize, extent: [usize; 3]) -> Self {
        let [row, rows, slices] = extent;
        assert!(size >= row * rows * slices, "{size} bytes for a box of {extent:?}");
        let side = RectSide { address, row_pitch: row, slice_pitch: row * rows, of_process: true };
        Self { side: BoxSide::Memory(side), extent }
    }
}

/// An image's array on the device of a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandArray {
    array: usize,
    extents: Extents,
    pixel: Pixel,
}

impl CommandArray {
    /// The array of an image of that extent.
    pub(super) fn new(array: &Array, extents: Extents, pixel: Pixel) -> Self {
        Self { array: array.value(), extents, pixel }
    }

    /// A part of it.
    ///
    /// # Panics
    /// If the region leaves the image.
    #[must_use]
    pub fn part(&self, region: &Region) -> CommandBox {
        let Region { origin: [x, y, z], size: [width, rows, slices] } = *region;
        let is_inside = (0..3).all(|axis| region.origin[axis] + region.size[axis] <= self.extents.size[axis]);
        assert!(is_inside, "{region:?} of {:?}", self.extents);
        let pixel = self.pixel.bytes();
        let side = BoxSide::Array { array: self.array, origin: [x * pixel, y, z] };
        CommandBox { side, extent: [width * pixel, rows, slices] }
    }
}

/// Copies a box in the stream's order.
///
/// # Panics
/// If one side has another extent than the other.
///
/// # Errors
/// What the native library answers.
pub fn copy<D: Driver>(driver: &D, stream: &D::Stream, to: CommandBox, from: CommandBox) -> Result<()> {
    assert_eq!(to.extent, from.extent, "both sides of a copy have one extent");
    let copy = BoxCopy { to: to.side, from: from.side, extent: to.extent };
    // SAFETY: both sides are there until the command has finished, which is what the type says, and a part of an array lies
    // in it.
    unsafe { driver.copy_box_async(&copy, stream) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::images::Channel;

    fn array() -> CommandArray {
        let extents = Extents { dimensions: 2, size: [8, 4, 1], layered: false };
        CommandArray { array: 1, extents, pixel: Pixel { channel: Channel::Float, channels: 2, normalized: false } }
    }

    #[test]
    fn a_part_counts_bytes_along_its_rows_and_elements_across() {
        let part = array().part(&Region { origin: [3, 1, 0], size: [5, 2, 1] });
        assert_eq!(part.extent, [40, 2, 1]);
        assert!(matches!(part.side, BoxSide::Array { array: 1, origin: [24, 1, 0] }));
    }

    #[test]
    #[should_panic(expected = "Region")]
    fn a_part_does_not_leave_its_image() {
        let _ = array().part(&Region { origin: [4, 0, 0], size: [5, 1, 1] });
    }
}
