//! The Unified Runtime's C API as Rust types: the union of all releases, and each release's function tables.
//!
//! Everything that the specification can say is generated; written by hand are only the C boolean, the version
//! rules and the shapes that the generated tables of facts use. This crate calls nothing and depends on none
//! of the others.
//!
//! Types, functions and values are there once, for all releases; a value that moved has its newest number. What is a
//! release's own, its `ur_dditable_t` above all, is in its module of [`releases`]. Nothing here is compiled for a release.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

mod cbool;
pub mod extension;
mod generated;
mod newtype;
mod structure;
pub mod value;
pub mod version;

pub use cbool::CBool;
pub use generated::*;
pub use structure::Structure;
