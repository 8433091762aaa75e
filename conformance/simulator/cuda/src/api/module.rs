//! Modules.

use super::args::{Buffer, Out, Text};
use super::guard::call;
use crate::context;
use crate::image::{Failure, Image, JitOptions};
use crate::module::{MODULES, Module};
use crate::sys::*;
use crate::waiting;
use core::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

/// What a `CUmoduleLoadingMode` of "lazy" is called.
const LAZY_LOADING: c_int = 2;

/// # Safety
/// `image` must be a whole image and the options arrays as long as `count` says.
unsafe fn load(
    out: &Out<Handle>,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Result {
    out.required()?;
    let context = context::current()?;
    if image.is_null() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: passed on from the caller.
    let options = unsafe { JitOptions::read(count, options, values)? };
    let (major, minor) = context.device.capability;
    // SAFETY: as above.
    let code = options.write(unsafe { Image::read(image) }.and_then(|image| image.compile(major * 10 + minor)))?;
    waiting::for_device(context.device.ordinal);
    out.put(Module::load(context, code, false)?.handle)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleLoad(out: Out<Handle>, file: Text) -> CUresult {
    call!(cuModuleLoad, {
        let context = context::current()?;
        out.required()?;
        let bytes = std::fs::read(file.get()?).map_err(|_| CUDA_ERROR_FILE_NOT_FOUND)?;
        let (major, minor) = context.device.capability;
        let code = Image::from_bytes(&bytes).and_then(|image| image.compile(major * 10 + minor));
        let code = code.map_err(|failure: Failure| failure.code)?;
        waiting::for_device(context.device.ordinal);
        out.put(Module::load(context, code, false)?.handle)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(out: Out<Handle>, image: *const c_void) -> CUresult {
    call!(cuModuleLoadData, {
        // SAFETY: the client gives a whole image; there are no options.
        unsafe { load(&out, image, 0, core::ptr::null(), core::ptr::null_mut()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    out: Out<Handle>,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> CUresult {
    call!(cuModuleLoadDataEx, {
        // SAFETY: the client gives a whole image and option arrays of `count` entries.
        unsafe { load(&out, image, count, options, values) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadFatBinary(out: Out<Handle>, image: *const c_void) -> CUresult {
    call!(cuModuleLoadFatBinary, {
        // SAFETY: the client gives a whole fat binary; there are no options.
        unsafe { load(&out, image, 0, core::ptr::null(), core::ptr::null_mut()) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(handle: Handle) -> CUresult {
    call!(cuModuleUnload, {
        let module = lookup(handle)?;
        if module.of_library {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        waiting::for_device(module.context.device.ordinal);
        module.unload();
        Ok(())
    })
}

fn lookup(handle: Handle) -> Result<Arc<Module>> {
    MODULES.lookup(handle, CUDA_ERROR_INVALID_HANDLE)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleGetLoadingMode(mode: Out<c_int>) -> CUresult {
    call!(cuModuleGetLoadingMode, { mode.put(LAZY_LOADING) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleGetFunction(out: Out<Handle>, module: Handle, name: Text) -> CUresult {
    call!(cuModuleGetFunction, {
        out.required()?;
        let name = name.get()?;
        if name.is_empty() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(lookup(module)?.function(name)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleGetFunctionCount(count: Out<c_uint>, module: Handle) -> CUresult {
    call!(cuModuleGetFunctionCount, { count.put(lookup(module)?.kernels().len() as c_uint) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleEnumerateFunctions(functions: Buffer<Handle>, count: c_uint, module: Handle) -> CUresult {
    call!(cuModuleEnumerateFunctions, {
        let module = lookup(module)?;
        let handles: Result<Vec<_>> = module.kernels().into_iter().map(|name| module.function(name)).collect();
        functions.write(&handles?, count as usize)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleGetGlobal_v2(
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    module: Handle,
    name: Text,
) -> CUresult {
    call!(cuModuleGetGlobal_v2, {
        let (base, bytes) = lookup(module)?.global(name.get()?)?;
        address.put_if(base);
        size.put_if(bytes);
        Ok(())
    })
}
