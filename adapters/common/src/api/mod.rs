//! Where C meets the engine: the map from each entry point to the function that answers it, the guard that lets no
//! panic and no call in a forked child through, and the names that a backend imports.
//!
//! Must not decide anything: what an entry point does is in the folder of its subject. Nothing but the crate's root uses
//! this folder.

pub mod backend;
pub mod guard;
pub mod map;
pub mod unsupported;
