//! libamd_comgr: LLVM's text to code objects of AMD's devices. The library comes with ROCm or from a distribution, needs no GPU, and is
//! opened at run time. It brings AMD's device libraries (OCML and their kin) itself.

mod find;
mod library;

pub use crate::nvvm::CompileError;
pub use find::{LIBRARY_VARIABLE, candidates, found};
pub use library::Comgr;

/// What is compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Isa {
    /// The architecture as HIP names it, with its features: `gfx90a:sramecc+:xnack-`.
    pub architecture: String,
    /// Lanes of a wave, 32 or 64.
    pub wave_size: u32,
}

impl Isa {
    /// The name by which the library knows it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("amdgcn-amd-amdhsa--{}", self.architecture)
    }

    /// Whether an architecture has both sizes of waves, so that the compiler must be told: gfx10 and later.
    #[must_use]
    pub fn has_both_wave_sizes(&self) -> bool {
        let number: String = self.architecture.chars().skip(3).take_while(char::is_ascii_alphanumeric).collect();
        number.len() >= 4
    }
}

/// How it is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Leaves the code as it is written.
    pub unoptimised: bool,
    /// Subnormal numbers of 32 bits may become zero in the device libraries.
    pub flush_denormals: bool,
    /// The device libraries may give up precision and special values.
    pub fast_math: bool,
    /// The text calls functions of the device libraries.
    pub uses_library: bool,
}

/// What a compilation gives.
#[derive(Clone, Debug, Default)]
pub struct CodeObject {
    /// The executable code object, an ELF file.
    pub bytes: Vec<u8>,
    /// What the compiler said.
    pub log: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_since_gfx10_have_both_wave_sizes() {
        let both =
            |architecture: &str| Isa { architecture: architecture.to_owned(), wave_size: 32 }.has_both_wave_sizes();
        assert!(both("gfx1030") && both("gfx1100:xnack-") && both("gfx1201"));
        assert!(!both("gfx90a:sramecc+:xnack-") && !both("gfx906") && !both("gfx942"));
    }
}
