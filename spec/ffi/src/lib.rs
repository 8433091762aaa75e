//! The Unified Runtime's C API as Rust types, laid out as the selected release has them.
//!
//! Everything that the specification can say is generated; written by hand are only the C boolean, the version
//! rules and the shapes that the generated tables of facts use. This crate calls nothing and depends on none
//! of the others.
//!
//! Without a feature the bindings are those of the newest release; `release-2026-1` selects 2026.1.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]

mod cbool;
mod generated;
mod newtype;
pub mod value;
pub mod version;

pub use cbool::CBool;
pub use generated::*;
