//! What PTX arithmetic computes, one lane at a time. Pure functions; they know nothing of registers.

pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod half;
pub(crate) mod integer;
pub(crate) mod round;
