//! The way from a handle to its adapter: one load. It must stay that short, since every API call takes it, and must touch
//! no state of the loader: a call in progress is then safe against init and teardown on other threads.

use ur_ffi::ur_dditable_t;

/// The function table of the adapter that made `handle`; none for a null handle.
///
/// # Safety
/// A handle that is not null must be a live one that an adapter made: its first word points to the adapter's table.
#[inline(always)]
pub unsafe fn table<T>(handle: *mut T) -> Option<&'static ur_dditable_t> {
    if handle.is_null() {
        return None;
    }
    // SAFETY: the caller's promise. The table lives as long as the process, since adapters are never unloaded.
    Some(unsafe { &**handle.cast::<*const ur_dditable_t>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_handle_has_no_table() {
        // SAFETY: null is allowed.
        assert!(unsafe { table::<u8>(std::ptr::null_mut()) }.is_none());
    }

    #[test]
    fn a_handle_leads_to_the_table_in_its_first_word() {
        // SAFETY: all entries of the table are nullable function pointers.
        let expected: &'static ur_dditable_t = Box::leak(Box::new(unsafe { std::mem::zeroed() }));
        let mut object = [std::ptr::from_ref(expected).addr(), 7];
        object[0] = std::ptr::from_ref(expected).expose_provenance();
        // SAFETY: the object begins with the table's address.
        let found = unsafe { table(object.as_mut_ptr()) }.unwrap();
        assert!(std::ptr::eq(found, expected));
    }
}
