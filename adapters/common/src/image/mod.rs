//! Images: formats and extents, the native arrays that hold an image's elements, and samplers.
//!
//! Neither handles of images nor commands on them are here: those are in [`crate::memory_object`].

pub mod argument;
pub mod command_box;
pub mod contents;
pub mod format;
pub mod object;
pub mod sampler;
pub mod users;
