//! For which devices copies are made: the variable `UR_SYCL_IMAGES`, `cuda` unless set.

use std::ffi::CStr;

/// Names the devices, separated by commas: `cuda`, `hip`; `off` for none.
pub const VARIABLE: &str = "UR_SYCL_IMAGES";

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What the variable and adapters call it.
    pub word: &'static str,
    /// What libsycl calls the target of its images.
    pub name: &'static CStr,
}

/// NVIDIA's.
pub const CUDA: Target = Target { word: "cuda", name: c"nvptx64" };
/// AMD's.
pub const HIP: Target = Target { word: "hip", name: c"amdgcn" };

/// The devices of that word, if the variable lets them have copies.
pub fn wanted(word: &[u8]) -> Option<Target> {
    let target = [CUDA, HIP].into_iter().find(|target| target.word.as_bytes() == word)?;
    let allowed = std::env::var_os(VARIABLE);
    allowed.map_or(target == CUDA, |value| names(&value.to_string_lossy(), target)).then_some(target)
}

/// Words that mean nothing here ask for nothing.
fn names(value: &str, target: Target) -> bool {
    value.split(',').any(|word| word.trim().eq_ignore_ascii_case(target.word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_devices_and_anything_else_names_none() {
        let read = |value: &str| [CUDA, HIP].map(|target| names(value, target));
        assert_eq!(read("cuda"), [true, false]);
        assert_eq!(read("HIP, cuda,cuda"), [true, true]);
        assert_eq!(read("hip"), [false, true]);
        for nothing in ["", "off", "0", "cudax", "cuda hip"] {
            assert_eq!(read(nothing), [false, false], "{nothing}");
        }
    }

    #[test]
    fn devices_that_nobody_knows_are_not_wanted() {
        assert_eq!(wanted(b"opencl"), None);
    }
}
