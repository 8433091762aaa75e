//! The CUDA adapter: the engine of `ur-adapter` over the CUDA driver API.
//!
//! This crate only translates. It opens `libcuda` at run time (it never links it), calls one native function
//! a method and exports the table getters that a loader looks for, nothing else. Policy belongs to the engine.

mod device_info;
mod driver;
mod map;
mod nvml;
mod program;
mod sys;

ur_adapter::export_getters!(crate::driver::CELL.table);
