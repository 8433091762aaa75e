//! From global and local work sizes to the shape of a native launch.
//!
//! Pure arithmetic over a device's limits: no handle, no call. The ABI wants whole work-groups, so a local
//! size must divide the global size, and a size chosen here always does.

use ur_ffi::ur_result_t;

use crate::driver::LaunchShape;
use crate::object::error::{Error, Result};
use crate::sync::unlikely::unlikely;

/// What a device and a function allow.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most threads of a block.
    pub threads: u32,
    /// Most threads of a block in each dimension.
    pub block: [u32; 3],
    /// Most blocks in each dimension.
    pub grid: [u32; 3],
}

/// A global size that was read from the caller: unused dimensions are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalSize(pub [usize; 3]);

/// The sizes of a launch as the caller holds them: one to three of each, as many as the launch has dimensions.
#[derive(Clone, Copy)]
pub struct WorkSizes<'a> {
    /// Where the work-items' numbers begin.
    pub offset: Option<&'a [usize]>,
    /// How many work-items there are.
    pub global: &'a [usize],
    /// How many of them are a group; `None` for a choice of the engine's.
    pub local: Option<&'a [usize]>,
}

impl WorkSizes<'_> {
    /// Whether every offset is 0, or there are none.
    #[inline(always)]
    pub fn have_no_offset(self) -> bool {
        let is_zero = |offset: &[usize], axis: usize| offset.get(axis).is_none_or(|start| *start == 0);
        self.offset.is_none_or(|offset| is_zero(offset, 0) && is_zero(offset, 1) && is_zero(offset, 2))
    }

    /// The offset, if it says anything.
    #[inline]
    pub fn given_offset(self) -> Option<[usize; 3]> {
        if self.have_no_offset() { None } else { self.offset.map(|offset| in_three(offset, 0)) }
    }
}

/// Sizes in three dimensions; `missing` stands in the unused ones.
pub fn in_three(sizes: &[usize], missing: usize) -> [usize; 3] {
    let mut three = [missing; 3];
    three.iter_mut().zip(sizes).for_each(|(place, size)| *place = *size);
    three
}

/// The launch that the caller's sizes ask for, where they are right and simple: read once, one division a dimension.
/// `None` says that [`GlobalSize`] has to look, for the error or for a local size.
#[inline(always)]
pub fn quick_shape(sizes: WorkSizes<'_>, limits: &Limits) -> Option<([u32; 3], [u32; 3])> {
    let (global, local) = (sizes.global, sizes.local?);
    let (groups, mut items) = divide(*global.first()?, *local.first()?, 0, limits)?;
    let (mut grid, mut block) = ([groups, 1, 1], [items, 1, 1]);
    // Axes by number: what a loop writes to an array stays in memory.
    // One axis is what most launches have, and the others' code is out of its way.
    if let (Some(size), Some(side)) = (global.get(1), local.get(1)) {
        core::hint::cold_path();
        (grid[1], block[1]) = divide(*size, *side, 1, limits)?;
        items = items.checked_mul(block[1])?;
        if let (Some(size), Some(side)) = (global.get(2), local.get(2)) {
            (grid[2], block[2]) = divide(*size, *side, 2, limits)?;
            items = items.checked_mul(block[2])?;
        }
    }
    if unlikely!(items > limits.threads) { None } else { Some((grid, block)) }
}

/// Groups and their size along an axis, if they are within the limits and fill it.
#[inline(always)]
fn divide(size: usize, local: usize, axis: usize, limits: &Limits) -> Option<(u32, u32)> {
    // One less, so that 0 is too large as well; neither is above 32 bits then.
    let is_wrong = local.wrapping_sub(1) >= limits.block[axis] as usize || size.wrapping_sub(1) >= u32::MAX as usize;
    if unlikely!(is_wrong) {
        return None;
    }
    let (size, local) = (size as u32, local as u32);
    // By `perf`, the division was a tenth of what a launch takes beside the native call.
    let groups = if local.is_power_of_two() { size >> local.trailing_zeros() } else { size / local };
    if unlikely!(groups * local != size || groups > limits.grid[axis]) { None } else { Some((groups, local)) }
}

impl GlobalSize {
    /// Checks that no dimension is empty.
    ///
    /// # Errors
    /// `INVALID_WORK_DIMENSION`, the ABI's code for a global size of 0.
    pub fn new(sizes: [usize; 3]) -> Result<Self> {
        if sizes.contains(&0) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_WORK_DIMENSION,
                format!("a global size of {sizes:?} has a dimension of 0"),
            ));
        }
        Ok(Self(sizes))
    }

    /// The launch with work-groups of the caller's size.
    ///
    /// # Errors
    /// `INVALID_WORK_GROUP_SIZE` for a size that is 0, too large or no divisor of the global size; otherwise as
    /// [`GlobalSize::suggest`].
    pub fn with_local(self, local: [usize; 3], limits: &Limits) -> Result<([u32; 3], [u32; 3])> {
        let refuse = |why: &str| {
            Error::new(
                ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE,
                format!("work-groups of {local:?} over {:?}: {why}", self.0),
            )
        };
        if local.contains(&0) {
            return Err(refuse("a dimension is 0"));
        }
        let (mut grid, mut block) = ([1u32; 3], [1u32; 3]);
        let mut items = 1u64;
        for axis in 0..3 {
            let (size, local) = (self.0[axis], local[axis]);
            if size == 1 && local == 1 {
                continue;
            }
            if local > limits.block[axis] as usize {
                return Err(refuse("a dimension is larger than the device allows"));
            }
            let groups = size / local;
            if groups * local != size {
                return Err(refuse("the global size is no multiple"));
            }
            // Not above a `u32` limit, so it fits.
            block[axis] = local as u32;
            grid[axis] = self.checked_groups(axis, groups, limits)?;
            items *= local as u64;
        }
        if items > u64::from(limits.threads) {
            return Err(refuse("more work-items than the kernel allows in a group"));
        }
        Ok((grid, block))
    }

    fn grid(self, block: [u32; 3], limits: &Limits) -> Result<[u32; 3]> {
        let mut grid = [1u32; 3];
        for axis in 0..3 {
            grid[axis] = self.checked_groups(axis, self.0[axis] / block[axis] as usize, limits)?;
        }
        Ok(grid)
    }

    fn checked_groups(self, axis: usize, groups: usize, limits: &Limits) -> Result<u32> {
        match u32::try_from(groups) {
            Ok(groups) if groups <= limits.grid[axis] => Ok(groups),
            _ => Err(Error::new(
                ur_result_t::ERROR_INVALID_GLOBAL_WIDTH_DIMENSION,
                format!(
                    "a global size of {:?} makes {groups} work-groups in dimension {axis}; the device launches at most {}",
                    self.0, limits.grid[axis]
                ),
            )),
        }
    }

    /// A local size of at most `preferred` work-items that divides the global size: first what the device's
    /// limits of groups force in y and z, then as much of x, y and z as fits.
    ///
    /// # Errors
    /// `INVALID_GLOBAL_WIDTH_DIMENSION` when no local size makes few enough work-groups.
    pub fn suggest(self, preferred: u32, limits: &Limits) -> Result<([u32; 3], [u32; 3])> {
        let mut block = [1u32; 3];
        for axis in [2, 1, 0] {
            block[axis] = self.least(axis, limits);
        }
        let budget = preferred.clamp(1, limits.threads.max(1));
        for axis in 0..3 {
            let others: u32 = (0..3).filter(|other| *other != axis).map(|other| block[other]).product();
            let room = (budget / others.max(1)).min(limits.block[axis]);
            if room > block[axis] {
                block[axis] = largest_divisor(self.0[axis], room, block[axis]);
            }
        }
        if block.iter().map(|size| u64::from(*size)).product::<u64>() > u64::from(limits.threads) {
            // The group limits force more work-items than a group may have; report what is too large.
            return self.grid([1; 3], limits).map(|grid| (grid, [1; 3]));
        }
        Ok((self.grid(block, limits)?, block))
    }

    /// The smallest divisor of a dimension that keeps its number of groups within the device's limit.
    fn least(self, axis: usize, limits: &Limits) -> u32 {
        let size = self.0[axis];
        let most = limits.grid[axis] as usize;
        if size <= most {
            return 1;
        }
        let first = u32::try_from(size.div_ceil(most.max(1))).unwrap_or(u32::MAX);
        (first..=limits.block[axis]).find(|divisor| size.is_multiple_of(*divisor as usize)).unwrap_or(1)
    }
}

/// The largest divisor of `size` that is at most `limit`, at least `floor` (itself a divisor).
fn largest_divisor(size: usize, limit: u32, floor: u32) -> u32 {
    let start = u32::try_from(size).map_or(limit, |size| size.min(limit));
    (floor..=start).rev().find(|divisor| size.is_multiple_of(*divisor as usize)).unwrap_or(floor)
}

/// The native shape of a launch.
#[must_use]
pub fn shape(grid: [u32; 3], block: [u32; 3], dynamic_shared: u32) -> LaunchShape {
    LaunchShape { grid, block, dynamic_shared }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { threads: 1024, block: [1024, 1024, 64], grid: [0x7fff_ffff, 65535, 65535] };

    fn suggested(global: [usize; 3]) -> [u32; 3] {
        let (grid, block) = GlobalSize::new(global).unwrap().suggest(256, &LIMITS).unwrap();
        for axis in 0..3 {
            assert_eq!(grid[axis] as usize * block[axis] as usize, global[axis], "{global:?}");
        }
        block
    }

    #[test]
    fn a_suggested_size_divides_the_global_size_and_fills_a_group() {
        assert_eq!(suggested([1 << 20, 1, 1]), [256, 1, 1]);
        assert_eq!(suggested([1000, 1, 1]), [250, 1, 1]);
        assert_eq!(suggested([16, 16, 16]), [16, 16, 1]);
        assert_eq!(suggested([1009, 1, 1]), [1, 1, 1]);
        assert_eq!(suggested([7, 1009, 1]), [7, 1, 1]);
        assert_eq!(suggested([1, 1, 640]), [1, 1, 64]);
    }

    #[test]
    fn the_quick_way_answers_as_the_careful_one_or_not_at_all() {
        let most = u32::MAX as usize;
        let sizes = [0, 1, 2, 3, 63, 64, 65, 1024, 1025, 65_535, 65_536, 1 << 20, most, most + 1, 1 << 33];
        let mut answered = 0;
        for (x, y) in sizes.iter().flat_map(|x| sizes.iter().map(move |y| (*x, *y))) {
            for (a, b) in sizes.iter().flat_map(|a| sizes.iter().map(move |b| (*a, *b))) {
                for dimensions in 1..=2 {
                    let (global, local) = ([x, y], [a, b]);
                    let (global, local) = (&global[..dimensions], &local[..dimensions]);
                    let careful = GlobalSize::new(in_three(global, 1))
                        .and_then(|global| global.with_local(in_three(local, 1), &LIMITS));
                    let quick = quick_shape(WorkSizes { offset: None, global, local: Some(local) }, &LIMITS);
                    match quick {
                        Some(quick) => assert_eq!(quick, careful.unwrap(), "{global:?} {local:?}"),
                        None => assert!(careful.is_err() || x > u32::MAX as usize || y > u32::MAX as usize),
                    }
                    answered += usize::from(quick.is_some());
                }
            }
        }
        assert!(answered > 100, "{answered}");
    }

    #[test]
    fn a_dimension_beyond_the_grid_limit_gets_larger_groups() {
        assert_eq!(suggested([1, 65536 * 4, 1]), [1, 256, 1]);
        assert_eq!(suggested([1, 1, 65536]), [1, 1, 64]);
    }

    #[test]
    fn a_size_no_group_can_cover_is_refused_with_the_dimension() {
        let error = GlobalSize::new([1, 1, 65536 * 65]).unwrap().suggest(256, &LIMITS);
        // 65536 * 65 / 65535 needs at least 66 work-items in z; 64 is the limit.
        assert_eq!(error.unwrap_err().code(), ur_result_t::ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
        let error = GlobalSize::new([usize::MAX, 1, 1]).unwrap().suggest(256, &LIMITS).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
    }

    #[test]
    fn a_local_size_must_divide_and_fit() {
        let global = GlobalSize::new([1024, 4, 1]).unwrap();
        assert_eq!(global.with_local([128, 2, 1], &LIMITS).unwrap(), ([8, 2, 1], [128, 2, 1]));
        for bad in [[0, 1, 1], [3, 1, 1], [2048, 1, 1], [1024, 4, 1]] {
            let error = global.with_local(bad, &LIMITS).unwrap_err();
            assert_eq!(error.code(), ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE, "{bad:?}");
        }
    }

    #[test]
    fn an_empty_global_size_is_refused() {
        assert_eq!(GlobalSize::new([0, 1, 1]).unwrap_err().code(), ur_result_t::ERROR_INVALID_WORK_DIMENSION);
    }

    #[test]
    fn an_offset_of_zeros_is_none() {
        let sizes = |offset| WorkSizes { offset, global: &[8, 8], local: None };
        assert_eq!(sizes(None).given_offset(), None);
        assert_eq!(sizes(Some(&[0, 0])).given_offset(), None);
        assert_eq!(sizes(Some(&[0, 7])).given_offset(), Some([0, 7, 0]));
    }
}
