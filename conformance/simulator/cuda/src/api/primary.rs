//! Primary contexts.

use super::args::Out;
use super::guard::call;
use crate::context;
use crate::device;
use crate::sys::*;
use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRetain(out: Out<Handle>, dev: CUdevice) -> CUresult {
    call!(cuDevicePrimaryCtxRetain, {
        out.required()?;
        out.put(context::retain_primary(device::get(dev)?)?.handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> CUresult {
    call!(cuDevicePrimaryCtxRelease_v2, { context::release_primary(device::get(dev)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease(dev: CUdevice) -> CUresult {
    call!(cuDevicePrimaryCtxRelease, { context::release_primary(device::get(dev)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> CUresult {
    call!(cuDevicePrimaryCtxReset_v2, {
        context::reset_primary(device::get(dev)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxReset(dev: CUdevice) -> CUresult {
    call!(cuDevicePrimaryCtxReset, {
        context::reset_primary(device::get(dev)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: c_uint) -> CUresult {
    call!(cuDevicePrimaryCtxSetFlags_v2, { set_flags(dev, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxSetFlags(dev: CUdevice, flags: c_uint) -> CUresult {
    call!(cuDevicePrimaryCtxSetFlags, { set_flags(dev, flags) })
}

fn set_flags(dev: CUdevice, flags: c_uint) -> Result {
    let device = device::get(dev)?;
    if flags & !CU_CTX_FLAGS_MASK != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    device.primary_flags.store(flags, Ordering::Release);
    if let Some(context) = &device.primary.lock().context {
        context.flags.store(flags, Ordering::Release);
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxGetState(dev: CUdevice, flags: Out<c_uint>, active: Out<c_int>) -> CUresult {
    call!(cuDevicePrimaryCtxGetState, {
        let device = device::get(dev)?;
        flags.put(device.primary_flags.load(Ordering::Acquire))?;
        active.put(device.primary.lock().context.is_some().into())
    })
}
