//! The loader of oneAPI 2026.1 as a library: its exports and the getters of its tables, all generated. What they do is the
//! loader crate's.

#[allow(missing_docs, reason = "generated from the spec; the reference manual documents every entry point")]
mod generated;
