//! Contexts and the thread's current one.

use super::args::{Out, Raw};
use super::guard::call;
use crate::context::{self, CONTEXTS, Context};
use crate::device;
use crate::graph::capture;
use crate::pool;
use crate::reports::{self, Kind as Misuse};
use crate::sys::*;
use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;
use std::sync::Arc;

fn create(out: &Out<Handle>, flags: c_uint, dev: CUdevice) -> Result {
    out.required()?;
    let device = device::get(dev)?;
    if flags & !CU_CTX_FLAGS_MASK != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if device.is_lost() {
        return Err(CUDA_ERROR_DEVICE_UNAVAILABLE);
    }
    let context = Context::create(device, false, flags);
    let handle = context.handle;
    context::push(context);
    out.put(handle)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxCreate_v2(out: Out<Handle>, flags: c_uint, dev: CUdevice) -> CUresult {
    call!(cuCtxCreate_v2, { create(&out, flags, dev) })
}

/// The parameters of the fourth version ask for affinities and graphics sharing, which are not simulated.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxCreate_v4(out: Out<Handle>, params: Raw, flags: c_uint, dev: CUdevice) -> CUresult {
    call!(cuCtxCreate_v4, {
        if params.address() != 0 {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        create(&out, flags, dev)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDestroy_v2(ctx: Handle) -> CUresult {
    call!(cuCtxDestroy_v2, {
        let context = context::lookup(ctx)?;
        if context.primary {
            reports::add(Misuse::Context, "a primary context is released, not destroyed");
            return Err(CUDA_ERROR_INVALID_CONTEXT);
        }
        if context::top().is_some_and(|top| top.id == context.id) {
            context::pop();
        }
        context.destroy();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(ctx: Handle) -> CUresult {
    call!(cuCtxPushCurrent_v2, {
        context::push(context::lookup(ctx)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPopCurrent_v2(out: Out<Handle>) -> CUresult {
    call!(cuCtxPopCurrent_v2, {
        let Some(context) = context::pop() else {
            reports::add(Misuse::Context, "the stack of contexts is empty");
            return Err(CUDA_ERROR_INVALID_CONTEXT);
        };
        out.put_if(context.handle);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(ctx: Handle) -> CUresult {
    call!(cuCtxSetCurrent, {
        let next = if ctx == 0 { None } else { Some(context::lookup(ctx)?) };
        context::set(next);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCurrent(out: Out<Handle>) -> CUresult {
    call!(cuCtxGetCurrent, { out.put(context::top().map_or(0, |context| context.handle)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetDevice(out: Out<CUdevice>) -> CUresult {
    call!(cuCtxGetDevice, { out.put(context::current()?.device.ordinal as CUdevice) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetFlags(flags: Out<c_uint>) -> CUresult {
    call!(cuCtxGetFlags, { flags.put(context::current()?.flags.load(Ordering::Acquire)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetFlags(flags: c_uint) -> CUresult {
    call!(cuCtxSetFlags, {
        if flags & !CU_CTX_FLAGS_MASK != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        context::current()?.flags.store(flags, Ordering::Release);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> CUresult {
    call!(cuCtxSynchronize, {
        let context = context::current()?;
        capture::refuse_synchronize(&context)?;
        let result = context.synchronize();
        pool::on_synchronize();
        result
    })
}

/// The context that a null handle stands for is the current one.
fn named_or_current(ctx: Handle) -> Result<Arc<Context>> {
    if ctx == 0 { context::current() } else { context::lookup(ctx) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetApiVersion(ctx: Handle, version: Out<c_uint>) -> CUresult {
    call!(cuCtxGetApiVersion, {
        named_or_current(ctx)?;
        version.put(3020)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetId(ctx: Handle, id: Out<u64>) -> CUresult {
    call!(cuCtxGetId, { id.put(named_or_current(ctx)?.id) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) -> CUresult {
    call!(cuCtxGetStreamPriorityRange, {
        context::current()?;
        least.put_if(0);
        greatest.put_if(-5);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetLimit(limit: c_int, value: usize) -> CUresult {
    call!(cuCtxSetLimit, {
        let context = context::current()?;
        let mut limits = context.limits.lock();
        *limits.get_mut(limit as usize).ok_or(CUDA_ERROR_UNSUPPORTED_LIMIT)? = value;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetLimit(value: Out<usize>, limit: c_int) -> CUresult {
    call!(cuCtxGetLimit, {
        let context = context::current()?;
        let limits = context.limits.lock();
        value.put(*limits.get(limit as usize).ok_or(CUDA_ERROR_UNSUPPORTED_LIMIT)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCacheConfig(config: Out<c_int>) -> CUresult {
    call!(cuCtxGetCacheConfig, {
        context::current()?;
        config.put(0)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCacheConfig(_config: c_int) -> CUresult {
    call!(cuCtxSetCacheConfig, { context::current().map(drop) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) -> CUresult {
    call!(cuCtxEnablePeerAccess, {
        let context = context::current()?;
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        context.enable_peer(&*CONTEXTS.lookup(peer, CUDA_ERROR_INVALID_CONTEXT)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDisablePeerAccess(peer: Handle) -> CUresult {
    call!(cuCtxDisablePeerAccess, {
        context::current()?.disable_peer(&*CONTEXTS.lookup(peer, CUDA_ERROR_INVALID_CONTEXT)?)
    })
}
