//! SPIR-V kernels for GPUs that take no SPIR-V.
//!
//! [`parse`] reads a module of SPIR-V 1.0 to 1.6 as OpenCL kernels use it; [`Module`] tells its kernels and their parameters and
//! takes specialisation constants; [`translate`] writes LLVM's text; [`nvvm`] compiles that with libnvvm to PTX, [`comgr`] with
//! libamd_comgr to machine code of AMD's devices. The bytes may come from anybody: nothing here panics, recurses without bound or
//! reads outside them, and every error names the word and the instruction. The crate knows nothing of the engine; only `nvvm` and
//! `comgr` open a library, and `linker` says which file that is.

pub mod comgr;
mod emit;
mod error;
mod fold;
mod grammar;
pub mod limits;
mod linker;
mod model;
pub mod nvvm;
mod parse;

/// The translator's version, for keys of caches: it changes with every source of this crate.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("UR_SPIRV_SOURCES"));

pub use emit::{
    Dialect, Emitter, GlobalOffset, Linked, LlvmEmitter, Options, Translation, link, translate, variant_names_are_free,
};
pub use error::{Error, ErrorKind, Result};
pub use grammar::{KnownInstruction, instructions, opencl_instructions};
pub use model::{Kernel, Module, Parameter, ParameterKind, SpecConstant};
pub use parse::{is_spirv, parse};
