//! The HIP runtime API over the CUDA driver API: a test vehicle, which runs the HIP adapter without an AMD GPU.
//!
//! `libhip_on_cuda.so` exports the C ABI of ROCm 6 and 7 and opens a CUDA driver (`UR_CUDA_LIBRARY`, or
//! `libcuda.so.1`) at run time: over simcuda it needs no GPU, over the real driver it runs on NVIDIA hardware. It
//! keeps HIP's rules, above all the thread-local current device, and must leave the thread's current CUDA context as
//! every call found it. It is no way to run HIP programs: compiled HIP code is for AMD's machines, and the parts of
//! the API that no adapter needs are not there. Never opened unless a test names it (`UR_HIP_LIBRARY`).

#![allow(non_upper_case_globals, reason = "the C API's own spelling")]

#[macro_use]
mod cuda;

pub mod api;
pub mod sys;

mod args;
mod array;
mod copy;
mod counts;
mod current;
mod device;
mod error;
mod event;
mod faults;
mod graph;
mod guard;
mod host_functions;
mod launch;
mod memory;
mod module;
mod pool;
mod properties;
mod stream;
