//! Modules: whatever the CUDA loader takes (PTX, cubins, fat binaries) is a code object here.
//!
//! HIP's options for its compiler have CUDA's numbers up to a point; what is beyond is AMD's and has no effect.

use core::ffi::{c_int, c_void};

use crate::current::Scope;
use crate::sys::status::*;
use crate::sys::value::enumerator7::hipJitOptionFastCompile;

/// Loads an image on the current device. Sizes of logs come back in `values`.
pub fn load(image: *const c_void, options: &[c_int], values: &mut [*mut c_void]) -> Result<usize> {
    if image.is_null() {
        return Err(hipErrorInvalidValue);
    }
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
