//! The way from a handle to its adapter: one load. It must stay that short, since every API call takes it, and must touch
//! no state of the loader: a call in progress is then safe against init and teardown on other threads.

use core::mem::offset_of;

use ur_ffi::releases::{Release, v2026_1, v2026_2};
use ur_ffi::{ur_adapter_dditable_t, ur_adapter_handle_t, ur_device_dditable_t, ur_platform_dditable_t};

/// The function table of the adapter that made `handle`, with the type `T` of the adapter's release; none for a null handle.
///
/// # Safety
/// A handle that is not null must be a live one that an adapter of that release made: its first word points to the
/// adapter's table.
#[inline(always)]
pub unsafe fn table<T: 'static, H>(handle: *mut H) -> Option<&'static T> {
    if handle.is_null() {
        return None;
    }
    // SAFETY: the caller's promise. The table lives as long as the process, since adapters are never unloaded.
    Some(unsafe { &**handle.cast::<*const T>() })
}

/// Its entry points for adapters, which every release has first.
///
/// # Safety
/// A handle that is not null must be a live one that an adapter made.
pub unsafe fn adapter_table(handle: ur_adapter_handle_t) -> Option<&'static ur_adapter_dditable_t> {
    const _: () = {
        assert!(offset_of!(v2026_1::ur_dditable_t, Adapter) == 0);
        assert!(offset_of!(v2026_2::ur_dditable_t, Adapter) == 0);
    };
    // SAFETY: the caller's promise; what the table begins with is the same in every release.
    unsafe { table(handle) }
}

/// What the loader itself asks of platforms and devices.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    /// Entry points for platforms.
    pub platform: &'static ur_platform_dditable_t,
    /// Entry points for devices.
    pub device: &'static ur_device_dditable_t,
}

/// The tables of the adapter that made `handle`, where a release has them; none for a null handle.
///
/// # Safety
/// As [`table`].
pub unsafe fn tables<H>(release: Release, handle: *mut H) -> Option<Tables> {
    match release {
        // SAFETY: the caller's promise.
        Release::R2026_1 => unsafe { table::<v2026_1::ur_dditable_t, H>(handle) }
            .map(|table| Tables { platform: &table.Platform, device: &table.Device }),
        // SAFETY: the caller's promise.
        Release::R2026_2 => unsafe { table::<v2026_2::ur_dditable_t, H>(handle) }
            .map(|table| Tables { platform: &table.Platform, device: &table.Device }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_handle_has_no_table() {
        // SAFETY: null is allowed.
        assert!(unsafe { table::<v2026_2::ur_dditable_t, u8>(std::ptr::null_mut()) }.is_none());
    }

    #[test]
    fn a_handle_leads_to_the_table_in_its_first_word() {
        // SAFETY: all entries of the table are nullable function pointers.
        let expected: &'static v2026_2::ur_dditable_t = Box::leak(Box::new(unsafe { std::mem::zeroed() }));
        let mut object = [std::ptr::from_ref(expected).addr(), 7];
        object[0] = std::ptr::from_ref(expected).expose_provenance();
        // SAFETY: the object begins with the table's address.
        let found: &v2026_2::ur_dditable_t = unsafe { table(object.as_mut_ptr()) }.unwrap();
        assert!(std::ptr::eq(found, expected));
    }
}
