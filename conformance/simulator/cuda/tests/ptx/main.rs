//! The interpreter alone: what PTX means, what is refused, and what goes wrong while it runs. One binary, since no test here has
//! anything to do with the driver's state.

mod errors;
mod fatbin;
mod faults;
mod instructions;
mod kernels;
mod support;
