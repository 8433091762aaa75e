//! The API's version numbers and the rule by which a table is handed out.

use crate::releases::Release;
use crate::{ur_api_version_t, ur_result_t};

/// Packs a version as C does: the major number above, the minor below.
#[must_use]
pub const fn make(major: u32, minor: u32) -> ur_api_version_t {
    ur_api_version_t((major << 16) | (minor & 0xffff))
}

/// The major number.
#[must_use]
pub const fn major(version: ur_api_version_t) -> u32 {
    version.0 >> 16
}

/// The minor number.
#[must_use]
pub const fn minor(version: ur_api_version_t) -> u32 {
    version.0 & 0xffff
}

/// Whether a caller that was built for `requested` can use a release's tables: the same major number and no newer minor
/// one.
#[must_use]
pub const fn serves(release: Release, requested: ur_api_version_t) -> bool {
    let own = release.version();
    major(requested) == own.0 && minor(requested) <= own.1
}

/// What every table getter does: fills the caller's table, or says why not and leaves it alone.
///
/// # Safety
/// `table` is null or points to memory for a `T` that nobody else reads or writes during the call.
pub unsafe fn fill_table<T: Copy>(
    release: Release,
    requested: ur_api_version_t,
    table: *mut T,
    content: &T,
) -> ur_result_t {
    if table.is_null() {
        return ur_result_t::ERROR_INVALID_NULL_POINTER;
    }
    if !serves(release, requested) {
        return ur_result_t::ERROR_UNSUPPORTED_VERSION;
    }
    // SAFETY: not null, and by this function's contract valid for one `T`.
    unsafe { table.write(*content) };
    ur_result_t::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_major_and_no_newer_minor_is_served() {
        for &release in Release::ALL {
            let (own_major, own_minor) = release.version();
            assert!(serves(release, make(own_major, own_minor)));
            assert!(serves(release, make(own_major, 0)));
            assert!(!serves(release, make(own_major, own_minor + 1)));
            assert!(!serves(release, make(own_major + 1, 0)));
        }
        let newest = Release::NEWEST.version();
        assert_eq!(make(newest.0, newest.1), ur_api_version_t::CURRENT);
    }

    #[test]
    fn a_refused_table_is_left_alone() {
        let mut table = 7;
        // SAFETY: a local that nobody else touches.
        let refused = unsafe { fill_table(Release::NEWEST, make(9, 9), &raw mut table, &1) };
        assert_eq!((refused, table), (ur_result_t::ERROR_UNSUPPORTED_VERSION, 7));
        // SAFETY: null is allowed.
        let null = unsafe { fill_table(Release::NEWEST, ur_api_version_t::CURRENT, core::ptr::null_mut(), &1) };
        assert_eq!(null, ur_result_t::ERROR_INVALID_NULL_POINTER);
        // SAFETY: as above.
        let filled = unsafe { fill_table(Release::NEWEST, ur_api_version_t::CURRENT, &raw mut table, &1) };
        assert_eq!((filled, table), (ur_result_t::SUCCESS, 1));
    }
}
