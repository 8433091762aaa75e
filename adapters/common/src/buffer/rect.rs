//! The geometry of rectangular regions: pitches, bounds, and what a region covers.
//!
//! Pure arithmetic with every overflow checked; no handle, no call.

use core::ops::Range;

use ur_ffi::{ur_rect_offset_t, ur_rect_region_t, ur_result_t};

use crate::object::error::{Error, Result};

/// A region of rows and slices in memory that starts at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// Offset of the region's first byte.
    pub first: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice, a multiple of `row_pitch`.
    pub slice_pitch: usize,
    /// Bytes of a row, rows of a slice, slices.
    pub extent: [usize; 3],
}

fn invalid(name: &str, text: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{name}: {text}"))
}

/// A region's extent.
///
/// # Errors
/// `INVALID_SIZE` for an empty one or one that no memory holds.
fn extent(name: &str, region: ur_rect_region_t) -> Result<[usize; 3]> {
    let narrow = |size: u64| usize::try_from(size).ok().filter(|size| *size > 0);
    match (narrow(region.width), narrow(region.height), narrow(region.depth)) {
        (Some(width), Some(height), Some(depth)) => Ok([width, height, depth]),
        _ => Err(invalid(name, "a region's width, height and depth are 1 or more")),
    }
}

impl Rect {
    /// The two sides of a copy: regions of one size, each by origin, row pitch and slice pitch.
    ///
    /// # Errors
    /// As [`extent`] and [`Rect::new`].
    pub fn both(name: &str, size: ur_rect_region_t, sides: [(ur_rect_offset_t, usize, usize); 2]) -> Result<[Self; 2]> {
        let extent = extent(name, size)?;
        let [one, other] = sides.map(|(origin, row, slice)| Self::new(name, origin, extent, row, slice));
        let sides = [one?, other?];
        Ok(if sides.iter().all(Self::is_solid) { sides.map(Self::in_one_row) } else { sides })
    }

    /// A region by origin and pitches; a pitch of 0 means rows or slices without a gap.
    ///
    /// # Errors
    /// `INVALID_SIZE` for pitches that are too small or no multiple of each other, and when something overflows.
    pub fn new(
        name: &str,
        origin: ur_rect_offset_t,
        extent: [usize; 3],
        row_pitch: usize,
        slice_pitch: usize,
    ) -> Result<Self> {
        let [width, height, depth] = extent;
        let row_pitch = if row_pitch == 0 { width } else { row_pitch };
        if row_pitch < width {
            return Err(invalid(name, &format!("a row pitch of {row_pitch} is less than the width of {width}")));
        }
        let overflow = || invalid(name, "the region's end overflows");
        let least = row_pitch.checked_mul(height).ok_or_else(overflow)?;
        let slice_pitch = if slice_pitch == 0 { least } else { slice_pitch };
        if slice_pitch < least || !slice_pitch.is_multiple_of(row_pitch) {
            return Err(invalid(
                name,
                &format!(
                    "a slice pitch of {slice_pitch} is no multiple, {height} or more, of the row pitch {row_pitch}"
                ),
            ));
        }
        let narrow = |offset: u64| usize::try_from(offset).map_err(|_| overflow());
        let (x, y, z) = (narrow(origin.x)?, narrow(origin.y)?, narrow(origin.z)?);
        let at = |x: usize, y: usize, z: usize| {
            z.checked_mul(slice_pitch)?.checked_add(y.checked_mul(row_pitch)?)?.checked_add(x)
        };
        let first = at(x, y, z).ok_or_else(overflow)?;
        let length = at(width, height - 1, depth - 1).ok_or_else(overflow)?;
        first.checked_add(length).ok_or_else(overflow)?;
        Ok(Self { first, row_pitch, slice_pitch, extent }.without_unused_pitches())
    }

    /// The same without a pitch that nothing is stepped over by: how large it is says nothing about the region.
    fn without_unused_pitches(self) -> Self {
        let [width, height, depth] = self.extent;
        let row_pitch = if height == 1 && depth == 1 { width } else { self.row_pitch };
        let slice_pitch = if depth == 1 { row_pitch * height } else { self.slice_pitch };
        Self { row_pitch, slice_pitch, ..self }
    }

    /// A region without gaps as one row.
    fn in_one_row(self) -> Self {
        Self { extent: [self.span().len(), 1, 1], ..self }.without_unused_pitches()
    }

    /// So many rows of so many slices, from a row and a slice on.
    #[must_use]
    pub fn part(&self, [y, z]: [usize; 2], [rows, slices]: [usize; 2]) -> Self {
        let first = self.first + z * self.slice_pitch + y * self.row_pitch;
        Self { first, extent: [self.extent[0], rows, slices], ..*self }.without_unused_pitches()
    }

    /// From the region's first byte to past its last, gaps included.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        let [width, height, depth] = self.extent;
        self.first..self.first + (depth - 1) * self.slice_pitch + (height - 1) * self.row_pitch + width
    }

    /// Whether the span has no gaps.
    #[must_use]
    pub fn is_solid(&self) -> bool {
        let [width, height, depth] = self.extent;
        self.span().len() == width * height * depth
    }

    /// Offsets of the rows from the region's first byte, slice by slice.
    pub fn rows(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { row_pitch, slice_pitch, extent: [_, height, depth], .. } = *self;
        (0..depth).flat_map(move |z| (0..height).map(move |y| z * slice_pitch + y * row_pitch))
    }

    /// Whether a region of the same memory and extent shares a byte with this one.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let starts = |rect: &Self| {
            let first = rect.first;
            rect.rows().map(move |row| first + row)
        };
        // Both come in rising order, so that of two rows which share nothing the lower one is done with.
        let (mut own, mut others) = (starts(self), starts(other));
        let (mut row, mut other_row) = (own.next(), others.next());
        while let (Some(a), Some(b)) = (row, other_row) {
            if a.abs_diff(b) < self.extent[0] {
                return true;
            }
            if a < b {
                row = own.next();
            } else {
                other_row = others.next();
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(x: u64, y: u64, z: u64) -> ur_rect_offset_t {
        ur_rect_offset_t { x, y, z }
    }

    fn bytes(rect: &Rect) -> Vec<usize> {
        rect.rows().flat_map(|row| (0..rect.extent[0]).map(move |x| rect.first + row + x)).collect()
    }

    #[test]
    fn pitches_of_0_are_without_gaps() {
        let rect = Rect::new("t", at(1, 2, 3), [4, 5, 6], 0, 0).unwrap();
        assert_eq!((rect.row_pitch, rect.slice_pitch, rect.first), (4, 20, 1 + 2 * 4 + 3 * 20));
        assert!(rect.is_solid());
        assert_eq!(rect.span().len(), 4 * 5 * 6);
    }

    #[test]
    fn pitches_that_nothing_steps_over_are_the_least() {
        let pitches = |extent, row, slice| {
            let rect = Rect::new("t", at(0, 1, 0), extent, row, slice).unwrap();
            assert_eq!(rect.first, row);
            [rect.row_pitch, rect.slice_pitch]
        };
        assert_eq!(pitches([4, 5, 1], 8, 1 << 40), [8, 40]);
        assert_eq!(pitches([4, 1, 1], 1 << 40, 1 << 50), [4, 4]);
        assert_eq!(pitches([4, 1, 2], 8, 1 << 40), [8, 1 << 40]);
    }

    #[test]
    fn sides_without_gaps_are_one_row_and_others_stay() {
        let size = |[width, height, depth]: [u64; 3]| ur_rect_region_t { width, height, depth };
        let sides = |size, one, other| Rect::both("t", size, [(at(0, 2, 0), one, 0), (at(0, 0, 0), other, 0)]).unwrap();
        let [one, other] = sides(size([1, 3 << 30, 1]), 0, 0);
        assert_eq!((one.first, one.extent, one.row_pitch), (2, [3 << 30, 1, 1], 3 << 30));
        assert_eq!((other.first, other.extent), (0, [3 << 30, 1, 1]));
        let [one, other] = sides(size([4, 3, 2]), 0, 5);
        assert_eq!((one.extent, one.row_pitch, other.extent, other.row_pitch), ([4, 3, 2], 4, [4, 3, 2], 5));
    }

    #[test]
    fn a_part_begins_at_its_row_and_slice() {
        let rect = Rect::new("t", at(1, 0, 0), [4, 5, 6], 8, 64).unwrap();
        let rows = |rows| rect.part([2, 3], rows);
        assert_eq!(
            (rows([3, 2]).first, rows([3, 2]).extent, rows([3, 2]).slice_pitch),
            (1 + 3 * 64 + 2 * 8, [4, 3, 2], 64)
        );
        assert_eq!((rows([3, 1]).slice_pitch, rows([1, 1]).row_pitch, rows([1, 1]).span().len()), (24, 4, 4));
    }

    #[test]
    fn pitches_that_do_not_fit_and_ends_that_overflow_are_refused() {
        let refused = |origin, extent, row, slice| {
            assert_eq!(Rect::new("t", origin, extent, row, slice).unwrap_err().code(), ur_result_t::ERROR_INVALID_SIZE);
        };
        refused(at(0, 0, 0), [4, 5, 6], 3, 0);
        refused(at(0, 0, 0), [4, 5, 6], 8, 39);
        refused(at(0, 0, 0), [4, 5, 6], 8, 44);
        refused(at(0, 0, 0), [usize::MAX, 2, 1], 0, 0);
        refused(at(u64::MAX, 0, 0), [2, 1, 1], 0, 0);
        refused(at(0, u64::MAX, 0), [2, 1, 1], 0, 0);
        refused(at(0, 0, 0), [2, 1, usize::MAX], 0, 0);
    }

    proptest! {
        #[test]
        fn span_solidity_and_overlap_are_those_of_the_bytes(
            extent in (1..5usize, 1..5usize, 1..4usize),
            one in (0..6u64, 0..3u64, 0..3u64, 0..4usize, 0..3usize),
            two in (0..6u64, 0..3u64, 0..3u64, 0..4usize, 0..3usize),
        ) {
            let extent = [extent.0, extent.1, extent.2];
            let rect = |(x, y, z, wider, taller): (u64, u64, u64, usize, usize)| {
                let row = extent[0] + wider;
                Rect::new("t", at(x, y, z), extent, row, row * (extent[1] + taller)).unwrap()
            };
            let (one, two) = (rect(one), rect(two));
            let (mine, theirs) = (bytes(&one), bytes(&two));
            prop_assert_eq!(one.span(), mine[0]..mine[mine.len() - 1] + 1);
            prop_assert_eq!(one.is_solid(), one.span().len() == mine.len());
            prop_assert_eq!(one.overlaps(&two), mine.iter().any(|byte| theirs.contains(byte)));
        }
    }
}
