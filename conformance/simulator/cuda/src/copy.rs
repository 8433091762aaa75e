//! Copies and fills of up to three dimensions, checked against the map of memory when they run.

use crate::clock::Point;
use crate::memory::{self, Denied};
use core::ptr;

/// One side of a copy: an address and how its rows and slices follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// First byte.
    pub address: u64,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
    /// Whether the driver knows the memory; pageable host memory it does not.
    pub tracked: bool,
}

impl Place {
    /// A run of bytes, tracked if the map knows its first one.
    pub fn linear(address: u64) -> Self {
        Self { address, pitch: 0, slice: 0, tracked: is_tracked(address) }
    }

    fn row(&self, y: usize, z: usize) -> u64 {
        self.address + (z * self.slice + y * self.pitch) as u64
    }

    /// Bytes from the first to past the last one touched.
    pub fn span(&self, extent: [usize; 3]) -> usize {
        (extent[2] - 1) * self.slice + (extent[1] - 1) * self.pitch + extent[0]
    }

    /// Checks that work at `point` may touch it.
    pub fn check(
        &self,
        extent: [usize; 3],
        point: &Point,
    ) -> Result<Option<std::sync::Arc<memory::Allocation>>, Denied> {
        if !self.tracked || extent.contains(&0) {
            return Ok(None);
        }
        memory::check(self.address, self.span(extent), point, None).map(Some)
    }
}

/// Whether the driver knows an address, or will when a graph has allocated it.
fn is_tracked(address: u64) -> bool {
    memory::find(address).is_some() || crate::graph::alloc::block_at(address).is_some()
}

/// Where a copy reads.
pub enum Source {
    /// Memory that stays until the copy runs.
    At(Place),
    /// Rows taken when the copy was submitted, packed: the client may reuse its own at once.
    Staged(Vec<u8>),
}

/// One copy.
pub struct Copy {
    /// Where to.
    pub dst: Place,
    /// Where from.
    pub src: Source,
    /// Bytes of a row, rows, slices.
    pub extent: [usize; 3],
}

impl Copy {
    /// Takes pageable source bytes now, so that the client may reuse them.
    ///
    /// # Safety
    /// An untracked source must be readable host memory.
    pub unsafe fn stage(&mut self) {
        let Source::At(place) = self.src else { return };
        if place.tracked || self.extent.contains(&0) {
            return;
        }
        let [width, height, depth] = self.extent;
        let mut bytes = Vec::with_capacity(width * height * depth);
        for z in 0..depth {
            for y in 0..height {
                // SAFETY: the caller's source covers every row of the extent.
                bytes.extend_from_slice(unsafe { core::slice::from_raw_parts(place.row(y, z) as *const u8, width) });
            }
        }
        self.src = Source::Staged(bytes);
    }

    /// Checks both sides.
    pub fn check(&self, point: &Point) -> Result<(), Denied> {
        self.dst.check(self.extent, point)?;
        if let Source::At(src) = &self.src {
            src.check(self.extent, point)?;
        }
        Ok(())
    }

    /// Copies.
    pub fn run(&self, point: &Point) -> Result<(), Denied> {
        if self.extent.contains(&0) {
            return Ok(());
        }
        let _dst = self.dst.check(self.extent, point)?;
        let _src = match &self.src {
            Source::At(src) => src.check(self.extent, point)?,
            Source::Staged(_) => None,
        };
        let [width, height, depth] = self.extent;
        for z in 0..depth {
            for y in 0..height {
                let src = match &self.src {
                    Source::At(src) => src.row(y, z),
                    Source::Staged(bytes) => bytes[(z * height + y) * width..].as_ptr() as u64,
                };
                // SAFETY: tracked sides were checked above and are held; the client vouches for pageable ones.
                unsafe { ptr::copy(src as *const u8, self.dst.row(y, z) as *mut u8, width) };
            }
        }
        Ok(())
    }
}

/// One fill.
pub struct Fill {
    /// Where.
    pub dst: Place,
    /// The pattern, little end first.
    pub value: u32,
    /// Bytes of the pattern: 1, 2 or 4.
    pub width: usize,
    /// Elements of a row, rows.
    pub extent: [usize; 2],
}

impl Fill {
    /// Its bytes of a row, rows, slices.
    pub fn bytes(&self) -> [usize; 3] {
        [self.extent[0] * self.width, self.extent[1], 1]
    }

    /// Checks the destination.
    pub fn check(&self, point: &Point) -> Result<(), Denied> {
        self.dst.check(self.bytes(), point).map(drop)
    }

    /// Fills.
    pub fn run(&self, point: &Point) -> Result<(), Denied> {
        if self.extent.contains(&0) {
            return Ok(());
        }
        let _dst = self.dst.check(self.bytes(), point)?;
        for y in 0..self.extent[1] {
            let row = self.dst.row(y, 0);
            // SAFETY: the row was checked above and is held; alignment to the element is checked by the API.
            unsafe {
                match self.width {
                    1 => ptr::write_bytes(row as *mut u8, self.value as u8, self.extent[0]),
                    2 => core::slice::from_raw_parts_mut(row as *mut u16, self.extent[0]).fill(self.value as u16),
                    _ => core::slice::from_raw_parts_mut(row as *mut u32, self.extent[0]).fill(self.value),
                }
            }
        }
        Ok(())
    }
}
