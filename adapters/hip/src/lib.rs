//! The HIP adapter: the engine of `ur-adapter` over the HIP runtime API.
//!
//! This crate only translates. It opens `libamdhip64` at run time (it never links it), calls one native function
//! a method and exports the table getters that a loader looks for, nothing else. Policy belongs to the engine.

mod device_info;
mod driver;
#[cfg(test)]
mod header_tests;
mod map;
mod program;
mod sys;

ur_adapter::export_getters!(crate::driver::CELL.table);
