//! Programs of SPIR-V: from the module to kernels that run, what is refused, and what the disk keeps.
//!
//! Each test runs in a process of its own, whose libnvvm is the simulated one ([`toolchain`]); `UR_TEST_NVVM` names a real one for the
//! tests that do not look into it.

mod amdgcn;
mod cache;
mod concurrent;
mod faults;
mod program;
mod refused;
mod search;
mod toolchain;
