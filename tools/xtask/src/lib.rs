//! The project's own commands as a library: what ships (build, lay out, generate, package) and its tests, and what these and
//! the commands of `xtask-compare` need. It must not depend on any other crate of the workspace, so that it builds while
//! those are broken.

pub mod cli;
pub mod commands;
pub mod support;
