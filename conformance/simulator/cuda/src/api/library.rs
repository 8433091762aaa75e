//! Libraries: code that is compiled once for all contexts.

use super::args::{Buffer, Out, Text};
use super::guard::call;
use crate::context;
use crate::device;
use crate::image::{Image, JitOptions};
use crate::module::{KERNELS, LIBRARIES, Library, LibraryKernel, kernel_names};
use crate::sys::*;
use crate::waiting;
use core::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryLoadData(
    out: Out<Handle>,
    code: *const c_void,
    jit_options: *const c_uint,
    jit_values: *mut *mut c_void,
    jit_count: c_uint,
    _options: *const c_uint,
    _values: *mut *mut c_void,
    _count: c_uint,
) -> CUresult {
    call!(cuLibraryLoadData, {
        out.required()?;
        if code.is_null() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the client gives option arrays of `jit_count` entries.
        let options = unsafe { JitOptions::read(jit_count, jit_options, jit_values)? };
        // All devices have one capability, so a library can be compiled before it is known where it runs.
        let (major, minor) = device::get(0)?.capability;
        // SAFETY: the client gives a whole image.
        let image = unsafe { Image::read(code) };
        out.put(Library::create(options.write(image.and_then(|image| image.compile(major * 10 + minor)))?))
    })
}

fn lookup(handle: Handle) -> Result<Arc<Library>> {
    LIBRARIES.lookup(handle, CUDA_ERROR_INVALID_HANDLE)
}

fn kernel(handle: Handle) -> Result<Arc<LibraryKernel>> {
    KERNELS.lookup(handle, CUDA_ERROR_INVALID_HANDLE)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryUnload(handle: Handle) -> CUresult {
    call!(cuLibraryUnload, {
        LIBRARIES.take(handle, CUDA_ERROR_INVALID_HANDLE)?.unload();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryGetKernel(out: Out<Handle>, library: Handle, name: Text) -> CUresult {
    call!(cuLibraryGetKernel, {
        out.required()?;
        out.put(lookup(library)?.kernel(name.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryGetKernelCount(count: Out<c_uint>, library: Handle) -> CUresult {
    call!(cuLibraryGetKernelCount, { count.put(kernel_names(&lookup(library)?.code).len() as c_uint) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryEnumerateKernels(kernels: Buffer<Handle>, count: c_uint, library: Handle) -> CUresult {
    call!(cuLibraryEnumerateKernels, {
        let library = lookup(library)?;
        let handles: Result<Vec<_>> =
            kernel_names(&library.code).into_iter().map(|name| library.kernel(name)).collect();
        kernels.write(&handles?, count as usize)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryGetModule(out: Out<Handle>, library: Handle) -> CUresult {
    call!(cuLibraryGetModule, {
        let context = context::current()?;
        // It loads the code there, as `cuModuleLoadData` does.
        waiting::for_device(context.device.ordinal);
        out.put(lookup(library)?.module(&context)?.handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryGetGlobal(
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    library: Handle,
    name: Text,
) -> CUresult {
    call!(cuLibraryGetGlobal, {
        let context = context::current()?;
        let (base, bytes) = lookup(library)?.module(&context)?.global(name.get()?)?;
        address.put_if(base);
        size.put_if(bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuKernelGetFunction(out: Out<Handle>, handle: Handle) -> CUresult {
    call!(cuKernelGetFunction, {
        let context = context::current()?;
        out.put(kernel(handle)?.function(&context)?.handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuKernelGetLibrary(out: Out<Handle>, handle: Handle) -> CUresult {
    call!(cuKernelGetLibrary, { out.put(kernel(handle)?.library.handle) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuKernelGetName(out: Out<*const c_char>, handle: Handle) -> CUresult {
    call!(cuKernelGetName, { out.put(kernel(handle)?.name.as_ptr()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuKernelGetParamInfo(handle: Handle, index: usize, offset: Out<usize>, size: Out<usize>) -> CUresult {
    call!(cuKernelGetParamInfo, {
        let kernel = kernel(handle)?;
        let name = kernel.name.to_str().map_err(|_| CUDA_ERROR_INVALID_HANDLE)?;
        let id = kernel.library.code.function(name).ok_or(CUDA_ERROR_INVALID_HANDLE)?;
        let param = kernel.library.code.functions()[id.index()].params.get(index).copied();
        let param = param.ok_or(CUDA_ERROR_INVALID_VALUE)?;
        offset.put(param.offset)?;
        size.put_if(param.size);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuKernelGetAttribute(value: Out<c_int>, attribute: c_int, handle: Handle, dev: CUdevice) -> CUresult {
    call!(cuKernelGetAttribute, {
        let kernel = kernel(handle)?;
        let context = device::get(dev)?.primary.lock().context.clone().ok_or(CUDA_ERROR_INVALID_CONTEXT)?;
        value.put(kernel.function(&context)?.attribute(attribute)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuKernelSetAttribute(attribute: c_int, value: c_int, handle: Handle, dev: CUdevice) -> CUresult {
    call!(cuKernelSetAttribute, {
        let kernel = kernel(handle)?;
        let context = device::get(dev)?.primary.lock().context.clone().ok_or(CUDA_ERROR_INVALID_CONTEXT)?;
        kernel.function(&context)?.set_attribute(attribute, value)
    })
}
