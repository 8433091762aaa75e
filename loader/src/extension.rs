//! The project's own tables of the adapters: which adapter has which, by the address of its `ur_dditable_t`, the first word
//! behind each of its handles.
//!
//! An adapter is entered when its handles are first seen, which is before any application has one, and stays for ever, as its
//! library does. The list is as long as there are adapters. Looking one up takes no lock: calls on handles must be safe
//! against init and teardown on other threads.

use libloading::os::unix::Library as Dynamic;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use ur_ffi::releases::Release;
use ur_ffi::*;

/// The adapters that have extension tables.
#[derive(Debug, Default)]
pub struct Extensions {
    first: OnceLock<&'static Known>,
    /// Whether the loader is initialised: an unknown handle is told so.
    is_ready: AtomicBool,
}

/// One adapter, and the next one's place.
#[derive(Debug)]
struct Known {
    /// The address of its `ur_dditable_t`.
    address: usize,
    tables: ExtensionTables,
    next: OnceLock<&'static Known>,
}

impl Extensions {
    /// No adapter.
    pub const fn new() -> Self {
        Extensions { first: OnceLock::new(), is_ready: AtomicBool::new(false) }
    }

    /// Says whether the loader is initialised.
    pub fn set_ready(&self, is_ready: bool) {
        self.is_ready.store(is_ready, Ordering::Relaxed);
    }

    /// Enters the adapter whose `ur_dditable_t` lies at an address, unless it was entered before. The registry's lock is held,
    /// so that two threads do not enter one adapter twice.
    pub fn enter(&self, address: usize, tables: &ExtensionTables) {
        let mut place = &self.first;
        while let Some(known) = place.get() {
            if known.address == address {
                return;
            }
            place = &known.next;
        }
        let known = Known { address, tables: *tables, next: OnceLock::new() };
        place.get_or_init(|| Box::leak(Box::new(known)));
    }

    /// The extension tables of the adapter that made `handle`.
    ///
    /// # Errors
    /// `INVALID_NULL_HANDLE`; for an adapter that was not entered `UNSUPPORTED_FEATURE`, or `UNINITIALIZED` while the loader is
    /// not initialised.
    ///
    /// # Safety
    /// A handle that is not null must be a live one that an adapter made: its first word points to the adapter's table.
    #[inline]
    pub unsafe fn of<H>(&self, handle: *mut H) -> Result<&'static ExtensionTables, ur_result_t> {
        if handle.is_null() {
            return Err(ur_result_t::ERROR_INVALID_NULL_HANDLE);
        }
        // SAFETY: the caller's promise.
        let address = unsafe { handle.cast::<*const c_void>().read() }.addr();
        let mut place = &self.first;
        while let Some(known) = place.get() {
            if known.address == address {
                return Ok(&known.tables);
            }
            place = &known.next;
        }
        Err(self.unknown())
    }

    #[cold]
    fn unknown(&self) -> ur_result_t {
        match self.is_ready.load(Ordering::Relaxed) {
            true => ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            false => ur_result_t::ERROR_UNINITIALIZED,
        }
    }
}

type Getter = unsafe extern "C" fn(ur_api_version_t, *const std::ffi::c_char, usize, *mut c_void) -> ur_result_t;

/// The extension tables that an adapter's library offers, null where it has none; nothing for a library without the getter.
pub fn ask(library: &Dynamic, release: Release) -> Option<ExtensionTables> {
    // SAFETY: a symbol of this name is the getter, whose type is fixed.
    let getter = unsafe { library.get::<Getter>(b"urGetExtensionProcAddrTableExt\0") }.ok()?;
    // SAFETY: only the address is taken.
    let own = unsafe { library.get::<*mut c_void>(b"urGetAdapterProcAddrTable\0") }.ok()?;
    // The dynamic linker also looks in the libraries that the adapter needs. One that needs a loader must not get the
    // loader's own functions for its own: they would call themselves for ever.
    if object_of(*getter as *const c_void) != object_of(own.into_raw()) {
        return None;
    }
    let (major, minor) = release.version();
    let mut tables = ExtensionTables::default();
    let mut has_any = false;
    for &(name, offset, size) in EXTENSION_TABLES {
        // SAFETY: the table lies at this offset, has this size, and consists of nullable function pointers, which stay
        // null if the getter refuses.
        let result = unsafe {
            let table = (&raw mut tables).byte_add(offset).cast::<c_void>();
            getter(version::make(major, minor), name.as_ptr(), size, table)
        };
        has_any |= result == ur_result_t::SUCCESS;
    }
    has_any.then_some(tables)
}

/// Where the shared object begins that an address lies in.
fn object_of(address: *const c_void) -> usize {
    // SAFETY: all fields are integers or pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked about.
    match unsafe { libc::dladdr(address, &mut info) } {
        0 => 0,
        _ => info.dli_fbase.addr(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn retain(_timeline: ur_ext_timeline_handle_t) -> ur_result_t {
        ur_result_t::SUCCESS
    }

    fn with_retain() -> ExtensionTables {
        let mut tables = ExtensionTables::default();
        tables.TimelineExt.pfnTimelineRetainExt = Some(retain);
        tables
    }

    /// An object whose table lies at an address that only its own table has.
    fn object(table: &u8) -> [*const u8; 2] {
        [std::ptr::from_ref(table), std::ptr::null()]
    }

    fn find(extensions: &Extensions, table: &u8) -> Result<&'static ExtensionTables, ur_result_t> {
        // SAFETY: the object begins with its table's address.
        unsafe { extensions.of(object(table).as_mut_ptr()) }
    }

    #[test]
    fn an_adapter_is_found_by_the_first_word_of_its_handles_and_only_once_it_was_entered() {
        let [ours, another, strangers] = [0, 1, 2];
        let extensions = Extensions::new();
        extensions.set_ready(true);
        assert_eq!(find(&extensions, &ours).err(), Some(ur_result_t::ERROR_UNSUPPORTED_FEATURE));
        extensions.enter((&raw const ours).addr(), &with_retain());
        extensions.enter((&raw const another).addr(), &ExtensionTables::default());
        assert!(find(&extensions, &ours).is_ok_and(|tables| tables.TimelineExt.pfnTimelineRetainExt.is_some()));
        assert!(find(&extensions, &another).is_ok_and(|tables| tables.TimelineExt.pfnTimelineRetainExt.is_none()));
        assert_eq!(find(&extensions, &strangers).err(), Some(ur_result_t::ERROR_UNSUPPORTED_FEATURE));
    }

    #[test]
    fn an_adapter_that_is_seen_again_is_not_entered_twice() {
        let table = 0;
        let extensions = Extensions::new();
        for _ in 0..3 {
            extensions.enter((&raw const table).addr(), &with_retain());
        }
        assert!(extensions.first.get().is_some_and(|known| known.next.get().is_none()));
    }

    #[test]
    fn null_wins_and_an_unknown_adapter_is_told_whether_the_loader_is_initialised() {
        let [known, unknown] = [0, 1];
        let extensions = Extensions::new();
        // SAFETY: null is allowed.
        let null = unsafe { extensions.of(std::ptr::null_mut::<u8>()) };
        assert_eq!(null.err(), Some(ur_result_t::ERROR_INVALID_NULL_HANDLE));
        assert_eq!(find(&extensions, &unknown).err(), Some(ur_result_t::ERROR_UNINITIALIZED));
        extensions.enter((&raw const known).addr(), &with_retain());
        extensions.set_ready(true);
        assert_eq!(find(&extensions, &unknown).err(), Some(ur_result_t::ERROR_UNSUPPORTED_FEATURE));
        extensions.set_ready(false);
        assert_eq!(find(&extensions, &unknown).err(), Some(ur_result_t::ERROR_UNINITIALIZED));
        assert!(find(&extensions, &known).is_ok(), "a call in progress outlives the teardown");
    }

    #[test]
    fn adapters_that_are_entered_while_others_are_looked_up_are_all_found() {
        let tables: Vec<u8> = vec![0; 64];
        let extensions = Extensions::new();
        extensions.set_ready(true);
        std::thread::scope(|scope| {
            let finder = scope.spawn(|| {
                while tables.iter().any(|table| find(&extensions, table).is_err()) {
                    std::thread::yield_now();
                }
            });
            for table in &tables {
                extensions.enter((&raw const *table).addr(), &with_retain());
            }
            finder.join().unwrap();
        });
    }
}
