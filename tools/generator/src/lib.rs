//! Turns the API's specification into everything that must agree with it: Rust bindings, C headers, the
//! loader's exports, the adapters' entry points and the reference manual.
//!
//! The stages follow one another: [`load`] reads the files as written, [`resolve`] works out each release,
//! [`lint`] judges the result, [`emit`] writes text, [`output`] compares it with the disk or puts it there. This
//! crate depends on none of its own products, so that it builds while they are broken.

pub mod across;
pub mod condition;
pub mod ctype;
mod derive;
pub mod emit;
pub mod engine;
pub mod layout;
pub mod lint;
pub mod load;
#[allow(missing_docs, reason = "fields are named after the keys in spec/README.md")]
pub mod model;
pub mod names;
pub mod output;
pub mod problem;
pub mod project;
pub mod releases;
pub mod resolve;
#[allow(missing_docs, reason = "the keys are described in spec/README.md")]
pub mod spec;
pub mod union;

use std::path::Path;

pub use output::Report;
pub use problem::{Location, OutputState, Problem};

/// Whether to change the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Write what differs, delete what is no longer made.
    Write,
    /// Change nothing; what differs is a problem.
    Check,
}

/// Reads and judges the specification under `root`.
pub fn model(root: &Path) -> Result<model::Model, Vec<Problem>> {
    let spec = load::load(root)?;
    let mut model = resolve::resolve(&spec)?;
    model.engine = engine::EngineMap::load(root).map_err(|problem| vec![problem])?;
    let mut problems = lint::lint(&spec, &model);
    problems.extend(model.engine.lint(&model));
    if problems.is_empty() { Ok(model) } else { Err(problems) }
}

/// Generates everything from the specification under `root`.
pub fn generate(root: &Path, mode: Mode) -> Result<Report, Vec<Problem>> {
    let outputs = emit::all(&model(root)?);
    match mode {
        Mode::Write => output::write(root, &outputs),
        Mode::Check => output::check(root, &outputs),
    }
}
