//! SPIR-V to PTX or to a code object of AMD's: a module's bytes, constants and options in, an image for a device's loader out.
//!
//! The translation is `ur-spirv`'s and the code generation libnvvm's or libamd_comgr's; here are the way from one to the other, and
//! the results that are kept on disk ([`cache`]). Nothing else of the engine sees either
//! crate. Nothing here knows a device, a context or a program, makes a native call, or holds a lock while it compiles: threads
//! compile side by side.

pub mod cache;
mod compile;
pub mod key;
pub mod options;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ur_ffi::ur_result_t;
use ur_spirv::ErrorKind;

pub use compile::check;
pub use options::BuildOptions;
pub use ur_spirv::{Kernel, is_spirv};

use crate::driver::SpirvTarget;
use crate::driver::native::{comgr, nvvm};
use crate::object::error::{Error, Result};
use crate::program::spirv::key::Key;

/// A module as the application gave it, with the values of its specialisation constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    bytes: Arc<[u8]>,
    constants: BTreeMap<u32, Vec<u8>>,
}

impl Source {
    /// Copies a module that is whole.
    ///
    /// # Errors
    /// `INVALID_BINARY` with the word and the instruction that are wrong; `UNSUPPORTED_FEATURE` for a version that is unknown.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        ur_spirv::parse(bytes).map_err(|error| refused(&error))?;
        Ok(Self { bytes: bytes.into(), constants: BTreeMap::new() })
    }

    /// The module's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same, for who outlives this.
    #[must_use]
    pub fn shared_bytes(&self) -> Arc<[u8]> {
        Arc::clone(&self.bytes)
    }

    /// Sets specialisation constants, all or none. A number that the module does not have is passed over: what a compiler has
    /// found no use for is not in the module.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a value that has not the constant's size.
    pub fn specialise(&mut self, values: &BTreeMap<u32, Vec<u8>>) -> Result<()> {
        let mut module = ur_spirv::parse(&self.bytes).map_err(|error| refused(&error))?;
        for (id, value) in values {
            module.specialise(*id, value).map_err(|error| refused(&error))?;
        }
        let known: BTreeSet<u32> = module.spec_constants().iter().map(|constant| constant.id).collect();
        let changed = values.iter().filter(|(id, _)| known.contains(id));
        self.constants.extend(changed.map(|(id, value)| (*id, value.clone())));
        Ok(())
    }

    /// The module with its constants.
    fn module(&self) -> ur_spirv::Result<ur_spirv::Module> {
        let mut module = ur_spirv::parse(&self.bytes)?;
        for (id, value) in &self.constants {
            module.specialise(*id, value)?;
        }
        Ok(module)
    }

    /// What the module says of its kernels.
    ///
    /// # Errors
    /// `INVALID_BINARY` for a parameter without a size or a broken execution mode.
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        self.module().and_then(|module| module.kernels()).map_err(|error| refused(&error))
    }
}

/// What is to be made.
pub struct Request<'a> {
    /// The modules, which become one.
    pub sources: &'a [Source],
    /// What is made.
    pub target: SpirvTarget,
    /// Most threads of a work-group.
    pub max_threads: u32,
    /// What the application asked for.
    pub options: &'a BuildOptions,
    /// All kernels are to take a global offset, and are named so. Else those do that are to share variables with the others.
    pub global_offset: bool,
    /// Functions and variables may stay open, for a native linker.
    pub allows_imports: bool,
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Product {
    /// PTX, or a code object.
    pub image: Vec<u8>,
    /// What translator and compiler said.
    pub log: String,
}

/// Compiles, unless the disk cache has it.
///
/// # Errors
/// `COMPILER_NOT_AVAILABLE` without the library, with the package to install; `UNSUPPORTED_FEATURE` for an instruction that is not
/// supported and `INVALID_BINARY` for one that is wrong, with its word; `PROGRAM_LINK_FAILURE` for names that no module defines or
/// that two do; `PROGRAM_BUILD_FAILURE` with the compiler's log.
pub fn compile(request: &Request<'_>) -> Result<Product> {
    let found = library_of(&request.target);
    if let Some(kept) = load(request, found.as_deref()) {
        return Ok(kept);
    }
    // Which library it is shows for certain when it is opened. One that was not found before, or not as that one, has results too.
    open_library(&request.target)?;
    let library = library_of(&request.target);
    if library != found
        && let Some(kept) = load(request, library.as_deref())
    {
        return Ok(kept);
    }
    let product = compile::run(request)?;
    if let (Some(library), Some(folder)) = (library, cache::folder()) {
        folder.store(&Key::of(request, &library), &product);
    }
    Ok(product)
}

/// What the disk cache has of a library's.
fn load(request: &Request<'_>, library: Option<&str>) -> Option<Product> {
    let key = Key::of(request, library?);
    cache::folder()?.load(&key)
}

/// Which library compiles for a target, as far as is known.
fn library_of(target: &SpirvTarget) -> Option<Arc<str>> {
    match target {
        SpirvTarget::Ptx(_) => nvvm::identity(),
        SpirvTarget::Amdgcn(_) => comgr::identity(),
    }
}

fn open_library(target: &SpirvTarget) -> Result<()> {
    match target {
        SpirvTarget::Ptx(_) => nvvm::open().map(drop),
        SpirvTarget::Amdgcn(_) => comgr::open().map(drop),
    }
}

/// The engine's error for the translator's.
fn refused(error: &ur_spirv::Error) -> Error {
    let (code, what) = match error.kind() {
        ErrorKind::Malformed | ErrorKind::Limit => (ur_result_t::ERROR_INVALID_BINARY, "the SPIR-V module is wrong"),
        ErrorKind::Unsupported => {
            (ur_result_t::ERROR_UNSUPPORTED_FEATURE, "the SPIR-V module needs what is not supported")
        }
        ErrorKind::Link => (ur_result_t::ERROR_PROGRAM_LINK_FAILURE, "the SPIR-V modules cannot be one program"),
        ErrorKind::Option => (ur_result_t::ERROR_INVALID_VALUE, "the SPIR-V module cannot be compiled so"),
    };
    Error::new(code, format!("{what}: {error}"))
}
