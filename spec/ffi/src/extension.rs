//! The rule by which a table of the project's own is handed out: by its name, and as much of it as the caller knows.
//!
//! Such a table only grows, at its end. So a caller and a callee of different ages understand each other: what the caller does
//! not know is left out, what the callee does not have is null.

use core::ffi::{CStr, c_char, c_void};

use crate::releases::Release;
use crate::version::serves;
use crate::{EXTENSION_TABLES, ExtensionTables, ur_api_version_t, ur_result_t};

/// What the getter of extension tables does: fills the caller's table, or says why not and leaves it alone.
///
/// # Safety
/// `name` is null or leads to a string that ends; `table` is null or points to `size` bytes, aligned as pointers are, that
/// nobody else reads or writes during the call.
pub unsafe fn fill_table(
    release: Release,
    requested: ur_api_version_t,
    name: *const c_char,
    size: usize,
    table: *mut c_void,
    tables: &ExtensionTables,
) -> ur_result_t {
    if name.is_null() || table.is_null() {
        return ur_result_t::ERROR_INVALID_NULL_POINTER;
    }
    if size == 0 || !size.is_multiple_of(size_of::<usize>()) {
        return ur_result_t::ERROR_INVALID_SIZE;
    }
    if !serves(release, requested) {
        return ur_result_t::ERROR_UNSUPPORTED_VERSION;
    }
    // SAFETY: not null, and by this function's contract a string.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(&(_, offset, own)) = EXTENSION_TABLES.iter().find(|(known, ..)| *known == name) else {
        return ur_result_t::ERROR_UNSUPPORTED_FEATURE;
    };
    // SAFETY: the table lies at that offset and has that many bytes; the caller's has `size`.
    unsafe {
        let content = core::ptr::from_ref(tables).byte_add(offset).cast::<u8>();
        let known = own.min(size);
        table.cast::<u8>().copy_from_nonoverlapping(content, known);
        table.cast::<u8>().add(known).write_bytes(0, size - known);
    }
    ur_result_t::SUCCESS
}

#[cfg(test)]
mod tests {
    use core::ptr::{null, null_mut};

    use super::*;
    use crate::version::make;
    use crate::{
        ur_context_handle_t, ur_exp_external_semaphore_handle_t, ur_ext_timeline_handle_t, ur_timeline_ext_dditable_t,
    };

    const WORD: usize = size_of::<usize>();
    const OWN: usize = size_of::<ur_timeline_ext_dditable_t>();

    unsafe extern "C" fn first(_timeline: ur_ext_timeline_handle_t) -> ur_result_t {
        ur_result_t::SUCCESS
    }

    unsafe extern "C" fn last(
        _context: ur_context_handle_t,
        _semaphore: ur_exp_external_semaphore_handle_t,
        _timeline: *mut ur_ext_timeline_handle_t,
    ) -> ur_result_t {
        ur_result_t::ERROR_UNKNOWN
    }

    fn tables() -> ExtensionTables {
        let mut tables = ExtensionTables::default();
        tables.TimelineExt.pfnTimelineRetainExt = Some(first);
        tables.TimelineExt.pfnTimelineCreateWithExternalSemaphoreExt = Some(last);
        tables
    }

    /// Asks for the table into words that were not zero before.
    fn ask(name: &CStr, size: usize) -> (ur_result_t, Vec<usize>) {
        let mut words = vec![7; OWN / WORD + 3];
        let version = ur_api_version_t::CURRENT;
        // SAFETY: the list has three words more than the table, and no test asks for more.
        let answer =
            unsafe { fill_table(Release::NEWEST, version, name.as_ptr(), size, words.as_mut_ptr().cast(), &tables()) };
        (answer, words)
    }

    fn of_table() -> Vec<usize> {
        // SAFETY: nullable function pointers are words.
        unsafe { core::mem::transmute::<ur_timeline_ext_dditable_t, [usize; OWN / WORD]>(tables().TimelineExt) }
            .to_vec()
    }

    #[test]
    fn a_caller_of_the_same_age_gets_the_table() {
        let (answer, words) = ask(c"timeline", OWN);
        assert_eq!(answer, ur_result_t::SUCCESS);
        assert_eq!(words[..OWN / WORD], of_table());
        assert_eq!(words[OWN / WORD..], [7, 7, 7], "nothing is written behind it");
        assert!(words[0] == 0 && words[1] != 0, "{words:?}");
    }

    #[test]
    fn an_older_caller_gets_what_it_knows_and_a_newer_one_nulls_for_the_rest() {
        let (answer, words) = ask(c"timeline", 2 * WORD);
        assert_eq!((answer, &words[..2]), (ur_result_t::SUCCESS, &of_table()[..2]));
        assert!(words[2..].iter().all(|&word| word == 7), "{words:?}");
        let (answer, words) = ask(c"timeline", OWN + 2 * WORD);
        assert_eq!((answer, &words[..OWN / WORD]), (ur_result_t::SUCCESS, &of_table()[..]));
        assert_eq!(words[OWN / WORD..], [0, 0, 7]);
    }

    #[test]
    fn what_is_refused_is_left_alone() {
        let mut word = 7usize;
        let fill = |version, name, size, table| {
            // SAFETY: null or one word, where no more is asked for.
            unsafe { fill_table(Release::NEWEST, version, name, size, table, &tables()) }
        };
        let (now, name, room) = (ur_api_version_t::CURRENT, c"timeline".as_ptr(), (&raw mut word).cast());
        assert_eq!(fill(now, null(), WORD, room), ur_result_t::ERROR_INVALID_NULL_POINTER);
        assert_eq!(fill(now, name, WORD, null_mut()), ur_result_t::ERROR_INVALID_NULL_POINTER);
        assert_eq!(fill(now, name, 0, room), ur_result_t::ERROR_INVALID_SIZE);
        assert_eq!(fill(now, name, WORD - 1, room), ur_result_t::ERROR_INVALID_SIZE);
        assert_eq!(fill(make(9, 9), name, WORD, room), ur_result_t::ERROR_UNSUPPORTED_VERSION);
        assert_eq!(fill(now, c"timelines".as_ptr(), WORD, room), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
        assert_eq!(word, 7);
    }
}
