//! The static of a backend's crate: the adapter's table and the opened library.
//!
//! The first word of every handle points to the table here, so handles of two backends are told apart by its address. What
//! the engine keeps beside the library (platform and devices) is attached by [`crate::device::adapter`]. Nothing here is ever
//! destroyed, so that a call from an exit handler still finds it.

use std::sync::OnceLock;

use ur_ffi::ur_dditable_t;

use crate::driver::Driver;
use crate::object::attachment::Attachment;

/// The static that a backend's crate declares: its one adapter.
pub struct AdapterCell<D: Driver> {
    /// The adapter's table, which the first word of every handle points to.
    pub table: ur_dditable_t,
    driver: OnceLock<D>,
    /// The adapter's objects: handle, platform, devices.
    pub objects: Attachment,
}

impl<D: Driver> AdapterCell<D> {
    /// A cell in which nothing has happened yet.
    #[must_use]
    pub const fn new(table: ur_dditable_t) -> Self {
        Self { table, driver: OnceLock::new(), objects: Attachment::new() }
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
