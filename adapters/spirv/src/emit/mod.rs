//! From a [`Module`] to the text that a target's compiler takes. What differs between compilers is behind [`Emitter`], so that a
//! direct PTX emitter can stand beside the one for LLVM's text, which has dialects of its own. The model above knows none of them.

mod link;
mod llvm;

pub use link::{Linked, link};
pub use llvm::{LlvmEmitter, variant_names_are_free};

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::model::{Kernel, Module, mode_number};
use llvm::symbol;

/// The text that the compiler takes: LLVM's version of it and, for AMD's devices, the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// LLVM 7: pointers have types. libnvvm takes it for architectures before `compute_100`.
    Typed,
    /// LLVM 22: pointers are opaque. libnvvm takes it from `compute_100` on.
    Opaque,
    /// LLVM 15 and later for `amdgcn`: pointers are opaque, and address spaces and intrinsics are AMD's. `libamd_comgr` takes it.
    Amdgcn {
        /// Lanes of a sub-group: 64 on gfx9 and before, 32 after it.
        wave_size: u32,
    },
}

impl Dialect {
    /// The dialect that libnvvm takes for an architecture, where the library itself cannot be asked.
    #[must_use]
    pub fn for_architecture(sm: u32) -> Self {
        if sm >= 100 { Self::Opaque } else { Self::Typed }
    }

    /// Lanes of a full sub-group.
    #[must_use]
    pub fn sub_group_size(self) -> u32 {
        match self {
            Self::Typed | Self::Opaque => 32,
            Self::Amdgcn { wave_size } => wave_size,
        }
    }
}

/// The variants of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GlobalOffset {
    /// As the module has them; their global offset is zero.
    #[default]
    None,
    /// `NAME_with_offset`, with one more parameter: the global offset as three 32-bit numbers.
    Taken,
    /// Either: both work with the same variables of the module. Compilers refuse it unless [`variant_names_are_free`].
    Both,
}

/// What is to be made of a module.
#[derive(Clone, Debug)]
pub struct Options {
    /// The text's dialect.
    pub dialect: Dialect,
    /// The architecture, as in `sm_90`; at least 70. 0 for AMD's devices, whose text is the same for all of one wave size.
    pub sm: u32,
    /// The kernels to translate, by name; all if `None`. What they do not call is left out.
    pub kernels: Option<Vec<String>>,
    /// The most threads of a work-group, for kernels that do not say it themselves.
    pub max_threads: u32,
    /// Writes lines of the source, where the module has them.
    pub line_info: bool,
    /// Whether kernels take a global offset.
    pub global_offset: GlobalOffset,
}

impl Options {
    /// Everything for `sm_N`, with groups of up to 1024 threads.
    #[must_use]
    pub fn for_architecture(sm: u32) -> Self {
        Self {
            dialect: Dialect::for_architecture(sm),
            sm,
            kernels: None,
            max_threads: 1024,
            line_info: false,
            global_offset: GlobalOffset::None,
        }
    }

    /// Everything for AMD's devices with waves of this many lanes, with groups of up to 1024 threads.
    #[must_use]
    pub fn for_amdgcn(wave_size: u32) -> Self {
        Self { dialect: Dialect::Amdgcn { wave_size }, sm: 0, ..Self::for_architecture(0) }
    }
}

/// A translated module.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    /// The target's text.
    pub text: String,
    /// The kernels in it.
    pub kernels: Vec<Kernel>,
    /// It calls functions of the target's library: libdevice, or OCML.
    pub uses_libdevice: bool,
    /// Some kernel forbids fused multiplications and additions, or has an arithmetic fence; the compiler must then fuse none.
    pub contraction_off: bool,
    /// Some kernel wants subnormal numbers of 32 bits flushed to zero, and none wants them kept.
    pub flush_denormals: bool,
    /// Some kernel wants subnormal numbers of 32 bits kept.
    pub preserve_denormals: bool,
    /// Work-group memory in bytes that is known before a launch, scratch of group operations included.
    pub static_shared_bytes: u64,
    /// Functions and variables that another module must define.
    pub imports: Vec<String>,
    /// Functions and variables that other modules and the host see by name, kernels not included.
    pub exports: Vec<String>,
    /// What was left out or approximated, one remark a line.
    pub log: String,
}

impl Translation {
    /// The options that libnvvm must compile this text with.
    #[must_use]
    pub fn compiler_options(&self, options: &Options) -> Vec<String> {
        let mut list = vec![format!("-arch=compute_{}", options.sm)];
        if self.contraction_off {
            list.push("-fma=0".to_owned());
        }
        if self.flush_denormals {
            list.push("-ftz=1".to_owned());
        }
        if options.line_info {
            list.push("-generate-line-info".to_owned());
        }
        list
    }
}

/// What a module's translation knows of the program.
#[derive(Debug, Default)]
struct Program {
    /// The names of all its kernels.
    kernels: BTreeSet<String>,
    /// The names that its modules import from each other, where all of them are known. What the module exports of them is kept.
    imported: Option<BTreeSet<String>>,
    /// Its kernels want subnormal numbers of 32 bits flushed to zero.
    flushes_denormals: bool,
}

impl Program {
    /// That of these modules, and nobody knows whether they are all.
    fn of(modules: &[&Module], options: &Options) -> Self {
        let mut program = Self::default();
        let (mut flushes, mut keeps) = (false, false);
        for module in modules {
            for entry in &module.entry_points {
                program.kernels.insert(entry.name.clone());
                if options.kernels.as_ref().is_none_or(|wanted| wanted.contains(&entry.name)) {
                    flushes |= module.has_mode(entry.function, mode_number::DENORM_FLUSH_TO_ZERO, 32);
                    keeps |= module.has_mode(entry.function, mode_number::DENORM_PRESERVE, 32);
                }
            }
        }
        program.flushes_denormals = flushes && !keeps;
        program
    }
}

/// One target's text.
pub trait Emitter {
    /// Translates the module.
    ///
    /// # Errors
    /// The module holds what the target or this crate does not support; the error names the instruction and its word.
    fn emit(&self, module: &Module, options: &Options) -> Result<Translation>;
}

/// Translates a module to LLVM's text.
///
/// # Errors
/// The module holds what the target or this crate does not support, or an option is wrong.
pub fn translate(module: &Module, options: &Options) -> Result<Translation> {
    translate_with(module, options, &Program::of(&[module], options))
}

/// As [`translate`], as a part of a program.
fn translate_with(module: &Module, options: &Options, program: &Program) -> Result<Translation> {
    match options.dialect {
        Dialect::Amdgcn { wave_size: 32 | 64 } => {}
        Dialect::Amdgcn { wave_size } => {
            return Err(Error::option(format!("a wave of {wave_size} lanes; AMD's devices have 32 or 64")));
        }
        Dialect::Typed | Dialect::Opaque if options.sm < 70 => {
            return Err(Error::option(format!(
                "sm_{} has no memory model; sm_70 is the oldest that is supported",
                options.sm
            )));
        }
        Dialect::Typed | Dialect::Opaque => {}
    }
    llvm::emit_for(module, options, program)
}
