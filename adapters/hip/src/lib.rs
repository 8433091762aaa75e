//! The HIP adapter: the engine of `ur-adapter` over the HIP runtime API.
//!
//! This crate only translates. It opens `libamdhip64` at run time (it never links it), calls one native function
//! a method and has the table of each release, nothing else. Policy belongs to the engine. The libraries that loaders look
//! for are linked from `library/`, one crate for all releases, which only chooses a table.

// The tables alone need all of the engine and of the driver's methods. This crate's tests need neither, and with them would take
// six times as long to compile.
#![cfg_attr(test, allow(dead_code, reason = "tests are compiled without the tables"))]

mod device_info;
mod driver;
#[cfg(test)]
mod header_tests;
mod map;
mod program;
mod sys;

#[cfg(not(test))]
use ur_ffi::ExtensionTables;
#[cfg(not(test))]
use ur_ffi::releases::{v2026_1, v2026_2};

#[cfg(not(test))]
use crate::driver::{CELL, Hip};

/// The table of oneAPI 2026.1, which the adapter is for once this was called.
#[cfg(not(test))]
pub fn table_v2026_1() -> &'static v2026_1::ur_dditable_t {
    static TABLE: v2026_1::ur_dditable_t = ur_adapter::entry_points::table_v2026_1::<Hip>();
    CELL.link(&TABLE)
}

/// The table of oneAPI 2026.2, which the adapter is for once this was called.
#[cfg(not(test))]
pub fn table_v2026_2() -> &'static v2026_2::ur_dditable_t {
    static TABLE: v2026_2::ur_dditable_t = ur_adapter::entry_points::table_v2026_2::<Hip>();
    CELL.link(&TABLE)
}

/// The tables of the project's own functions, which are the same in every release.
#[cfg(not(test))]
pub fn extensions() -> &'static ExtensionTables {
    static TABLES: ExtensionTables = ur_adapter::entry_points::extension_tables::<Hip>();
    &TABLES
}
