//! Modules: whatever the CUDA loader takes (PTX, cubins, fat binaries) is a code object here.
//!
//! With `HIP_ON_CUDA_ARCHITECTURE` devices say that they are AMD's of that architecture; what `simnvvm`'s comgr makes for them is
//! taken then: a file of AMD's machine whose first section is PTX.
//!
//! HIP's options for its compiler have CUDA's numbers up to a point; what is beyond is AMD's and has no effect.

use core::ffi::{c_int, c_void};

use crate::current::Scope;
use crate::sys::status::*;
use crate::sys::value::enumerator7::hipJitOptionFastCompile;

/// The architecture of AMD's that devices say they have, where a test wants that.
pub fn amd_architecture() -> Option<String> {
    std::env::var("HIP_ON_CUDA_ARCHITECTURE").ok().filter(|name| name.starts_with("gfx"))
}

/// The PTX in a file of AMD's machine; anything else as it is.
fn unwrapped(image: *const c_void) -> *const c_void {
    const MAGIC: &[u8] = b"\x7fELF";
    const MACHINE: usize = 18;
    const AMDGPU: u16 = 224;
    const SECTIONS: usize = 40;
    /// Where the second section's header, behind the empty one, has the offset of its contents.
    const CONTENTS: usize = 64 + 24;
    let bytes = image.cast::<u8>();
    // SAFETY: an image has a zero at its end at least, and the comparison ends at the first byte that differs.
    let is_elf = MAGIC.iter().enumerate().all(|(at, byte)| unsafe { bytes.add(at).read() } == *byte);
    // SAFETY: an ELF file has a header of 64 bytes.
    if amd_architecture().is_none() || !is_elf || unsafe { bytes.add(MACHINE).cast::<u16>().read_unaligned() } != AMDGPU
    {
        return image;
    }
    // SAFETY: the file is whole, which the adapter has checked, and `simnvvm` gave it two sections.
    unsafe {
        let sections = bytes.add(SECTIONS).cast::<u64>().read_unaligned() as usize;
        let contents = bytes.add(sections + CONTENTS).cast::<u64>().read_unaligned() as usize;
        bytes.add(contents).cast()
    }
}

/// Loads an image on the current device. Sizes of logs come back in `values`.
pub fn load(image: *const c_void, options: &[c_int], values: &mut [*mut c_void]) -> Result<usize> {
    if image.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let image = unwrapped(image);
    let shared = |option: c_int| (0..=hipJitOptionFastCompile).contains(&option);
    let places: Vec<usize> = (0..options.len()).filter(|place| shared(options[*place])).collect();
    let taken: Vec<c_int> = places.iter().map(|place| options[*place]).collect();
    let mut passed: Vec<*mut c_void> = places.iter().map(|place| values[*place]).collect();
    let count = passed.len().try_into().map_err(|_| hipErrorInvalidValue)?;
    let _scope = Scope::here()?;
    let mut module = 0;
    let result = cu!(module_load(&raw mut module, image, count, taken.as_ptr(), passed.as_mut_ptr()));
    for (place, value) in places.iter().zip(passed) {
        values[*place] = value;
    }
    result.map(|()| module)
}

/// Fails on the null handle.
pub fn required(handle: usize) -> Result {
    if handle == 0 { Err(hipErrorInvalidResourceHandle) } else { Ok(()) }
}
