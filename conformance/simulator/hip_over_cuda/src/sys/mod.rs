//! Names, values and layouts of the HIP API that this library speaks: ROCm 6 and 7, by ROCm 7.1's headers.
//!
//! Facts only, spelled as the headers spell them. `tests/headers.rs` compiles them against the public headers.

pub mod attribute;
pub mod graph;
pub mod layout;
pub mod status;
pub mod value;
