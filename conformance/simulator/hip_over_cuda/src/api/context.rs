//! HIP's contexts, which are its devices by another name.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;

use crate::args::Out;
use crate::guard::call;
use crate::sys::status::*;
use crate::{current, device};

#[unsafe(no_mangle)]
pub extern "C" fn hipDevicePrimaryCtxRetain(out: Out<usize>, device: c_int) -> hipError_t {
    call!(hipDevicePrimaryCtxRetain, {
        out.required()?;
        out.put(device::get(device)?.handle())
    })
}

/// HIP keeps no count; the device stays usable.
#[unsafe(no_mangle)]
pub extern "C" fn hipDevicePrimaryCtxRelease(device: c_int) -> hipError_t {
    call!(hipDevicePrimaryCtxRelease, { device::get(device).map(drop) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDevicePrimaryCtxReset(device: c_int) -> hipError_t {
    call!(hipDevicePrimaryCtxReset, { device::get(device)?.release_context() })
}

/// HIP refuses, since its devices are always in use.
#[unsafe(no_mangle)]
pub extern "C" fn hipDevicePrimaryCtxSetFlags(device: c_int, _flags: c_uint) -> hipError_t {
    call!(hipDevicePrimaryCtxSetFlags, {
        device::get(device)?;
        Err(hipErrorContextAlreadyInUse)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDevicePrimaryCtxGetState(device: c_int, flags: Out<c_uint>, active: Out<c_int>) -> hipError_t {
    call!(hipDevicePrimaryCtxGetState, {
        let device = device::get(device)?;
        flags.put_if(device.flags.load(Ordering::Relaxed));
        active.put_if(device.is_active().into());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCtxCreate(out: Out<usize>, _flags: c_uint, device: c_int) -> hipError_t {
    call!(hipCtxCreate, {
        out.required()?;
        let device = device::get(device)?;
        current::push(device.ordinal)?;
        out.put(device.handle())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCtxDestroy(context: usize) -> hipError_t {
    call!(hipCtxDestroy, {
        let device = device::of_handle(context)?;
        if device.ordinal == current::device()?.ordinal {
            let _ = current::pop();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCtxGetCurrent(out: Out<usize>) -> hipError_t {
    call!(hipCtxGetCurrent, {
        out.required()?;
        out.put(current::device()?.handle())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCtxGetDevice(out: Out<c_int>) -> hipError_t {
    call!(hipCtxGetDevice, {
        out.required()?;
        out.put(current::device()?.ordinal)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCtxSetCurrent(context: usize) -> hipError_t {
    call!(hipCtxSetCurrent, {
        let device = if context == 0 { None } else { Some(device::of_handle(context)?.ordinal) };
        current::replace(device)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCtxPushCurrent(context: usize) -> hipError_t {
    call!(hipCtxPushCurrent, { current::push(device::of_handle(context)?.ordinal) })
}

/// Pops HIP's stack; the thread's device stays what it is, as in HIP.
#[unsafe(no_mangle)]
pub extern "C" fn hipCtxPopCurrent(out: Out<usize>) -> hipError_t {
    call!(hipCtxPopCurrent, {
        let now = current::device()?.handle();
        current::pop()?;
        out.put_if(now);
        Ok(())
    })
}

/// HIP has no such thing.
#[unsafe(no_mangle)]
pub extern "C" fn hipCtxSynchronize() -> hipError_t {
    call!(hipCtxSynchronize, { Err(hipErrorNotSupported) })
}
