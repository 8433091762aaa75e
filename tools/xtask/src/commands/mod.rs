//! One module a command; each has a `run` that takes the words behind the command's name.

pub mod abi;
pub mod bundle;
pub mod bundle_sycl;
pub mod coverage;
pub mod demo;
pub mod dist;
pub mod generate;
pub mod hip_headers;
pub mod lines;
pub mod planted;
pub mod races;
pub mod stock;
pub mod sycl;
pub mod sycl_cpu;
pub mod test;
pub mod wheel;
