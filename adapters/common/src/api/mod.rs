//! Where C meets the engine: the map from each entry point to the function that answers it, the thunks that check C's
//! parameters, and the guard that lets no panic and no call in a forked child through.
//!
//! Must not decide anything: what an entry point does is in the folder of its subject. Nothing but the crate's root uses
//! this folder. The no-op backend stands here too, since a backend sees the whole engine.

#[allow(missing_docs, reason = "the specification's sentences are there; parameters are in the reference manual")]
pub mod generated;
pub mod guard;
#[cfg(feature = "testing")]
pub mod noop;
#[cfg(feature = "testing")]
pub mod testing;
pub mod thunk;
pub mod unsupported;
