//! The exported functions, thin: each counts itself, checks its arguments, and hands over to the model.
//!
//! Every function goes through [`guard::call`], which answers injected faults, refuses calls inside host functions
//! and lets no panic cross the C ABI. Names, order of parameters and meaning are the driver API's; its manual is
//! their documentation.

#![allow(missing_docs, reason = "the functions are the CUDA driver API's, which documents them")]
#![allow(non_snake_case, reason = "the C API's own spelling")]

pub mod args;
pub mod array;
pub mod capture;
pub mod context;
pub mod control;
pub mod copy;
pub mod device;
pub mod event;
pub mod external;
pub mod function;
pub mod graph;
pub mod graph_edges;
pub mod graph_exec;
pub mod graph_node;
pub mod guard;
pub mod init;
pub mod ipc;
pub mod launch;
pub mod library;
pub mod link;
pub mod memory;
pub mod module;
pub mod nvml;
pub mod pointer;
pub mod pool;
pub mod primary;
pub mod set;
pub mod stream;
pub mod vmm;

/// The exported functions by name, for `cuGetProcAddress`.
pub mod exports {
    use core::ffi::c_void;
    include!(concat!(env!("OUT_DIR"), "/exports.rs"));
}
