//! The static of a backend's crate: where the adapter's table is, and the opened library.
//!
//! The first word of every handle points to the table, so handles of two backends are told apart by its address. The engine is
//! compiled once for all releases of the API: the final library says which release it is for, and so which table. What
//! the engine keeps beside the library (platform and devices) is attached by [`crate::device::adapter`]. Nothing here is ever
//! destroyed, so that a call from an exit handler still finds it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use ur_ffi::releases::{DdiTable, Release};

use crate::driver::Driver;
use crate::object::attachment::Attachment;
use crate::object::{TableAddress, error};

/// The static that a backend's crate declares: its one adapter.
pub struct AdapterCell<D: Driver> {
    /// The table of the release that the library is linked for; null before that is said.
    table: AtomicPtr<core::ffi::c_void>,
    /// The release's place in [`Release::ALL`].
    release: AtomicU8,
    driver: OnceLock<D>,
    /// The adapter's objects: handle, platform, devices.
    pub objects: Attachment,
    /// Who keeps pinned memory for commands to come, of any device.
    pub staging_reclaimers: Attachment,
}

impl<D: Driver> AdapterCell<D> {
    /// A cell in which nothing has happened yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "only ever the initialiser of a static")]
    pub const fn new() -> Self {
        Self {
            table: AtomicPtr::new(core::ptr::null_mut()),
            release: AtomicU8::new(Release::NEWEST as u8),
            driver: OnceLock::new(),
            objects: Attachment::new(),
            staging_reclaimers: Attachment::new(),
        }
    }

    /// Makes the adapter that of a release: handles are told by this table's address from here on. A final library does so in
    /// each of its exported functions, always with its one table, so that nothing else of the adapter runs before.
    pub fn link<T: DdiTable>(&self, table: &'static T) -> &'static T {
        self.release.store(T::RELEASE as u8, Ordering::Relaxed);
        error::answer_as(T::RELEASE);
        self.table.store(core::ptr::from_ref(table).cast_mut().cast(), Ordering::Relaxed);
        table
    }

    /// The table that the first word of every handle points to.
    #[inline]
    pub fn table(&self) -> TableAddress {
        // Relaxed: whoever has a function of the table got it from a call that had linked the cell.
        self.table.load(Ordering::Relaxed)
    }

    /// The release of the API that the library is for; the newest before that is said.
    pub fn release(&self) -> Release {
        Release::ALL.get(usize::from(self.release.load(Ordering::Relaxed))).copied().unwrap_or(Release::NEWEST)
    }

    /// The library, once it was opened and its devices are known.
    #[inline]
    pub fn driver(&'static self) -> Option<&'static D> {
        self.driver.get()
    }

    /// Keeps the opened library for as long as the process lives; the first one stays.
    pub fn keep_driver(&'static self, driver: D) -> &'static D {
        self.driver.get_or_init(|| driver)
    }
}
