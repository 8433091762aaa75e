//! What several commands need: where things are, how programs are run, what cargo built. No command's policy here.

pub mod answered;
pub mod cargo;
pub mod debian;
pub mod failure;
pub mod files;
pub mod process;
pub mod python;
pub mod symbols;
pub mod workspace;
