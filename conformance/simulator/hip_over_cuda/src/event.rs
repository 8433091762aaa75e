//! Events: CUDA's own, handed through. HIP's further flags concern caches that NVIDIA's GPUs do not have.

use core::ffi::c_uint;

use crate::current::Scope;
use crate::sys::status::*;
use crate::sys::value::flag::*;
use crate::sys::value::flag7::hipEventDisableSystemFence;

/// Flags that CUDA has under the same number.
const SHARED: c_uint = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
/// Flags about cache flushes: taken, and without effect.
const FENCES: c_uint = hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;

/// Makes an event on the current device.
pub fn create(flags: c_uint) -> Result<usize> {
    let both = hipEventReleaseToDevice | hipEventReleaseToSystem;
    let interprocess = flags & (hipEventInterprocess | hipEventDisableTiming) == hipEventInterprocess;
    if flags & !(SHARED | FENCES) != 0 || flags & both == both || interprocess {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let mut event = 0;
    cu!(event_create(&raw mut event, flags & SHARED))?;
    Ok(event)
}

/// Fails on the null handle.
pub fn required(event: usize) -> Result {
    if event == 0 { Err(hipErrorInvalidHandle) } else { Ok(()) }
}
