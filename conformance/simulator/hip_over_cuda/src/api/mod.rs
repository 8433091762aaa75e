//! The exported functions, by area, and thin: what a call means is in the module of its object.
//!
//! Each goes through `guard::call!`. `build.rs` reads their names out of these files.

#![allow(missing_docs, reason = "the functions are the C API's, which documents them")]
#![allow(non_snake_case, reason = "the C API's own spelling")]

pub mod array;
pub mod capture;
pub mod context;
pub mod control;
pub mod copy;
pub mod device;
pub mod error;
pub mod event;
pub mod external;
pub mod fill;
pub mod graph;
pub mod graph_exec;
pub mod graph_node;
pub mod init;
pub mod interprocess;
pub mod managed;
pub mod memory;
pub mod module;
pub mod pointer;
pub mod pool;
pub mod stream;
pub mod virtual_memory;

/// What `build.rs` found.
#[allow(non_upper_case_globals, reason = "the C API's own spelling")]
pub mod exports {
    use core::ffi::c_void;

    include!(concat!(env!("OUT_DIR"), "/exports.rs"));
}
