//! The just-in-time linker.

use super::args::{Out, Text};
use super::guard::call;
use crate::context;
use crate::image::{Failure, Image, JitOptions};
use crate::linker::{LINKERS, Linker};
use crate::sys::*;
use core::ffi::{c_char, c_int, c_uint, c_void};

const INPUT_CUBIN: c_int = 0;
const INPUT_PTX: c_int = 1;
const INPUT_FATBINARY: c_int = 2;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
    out: Out<Handle>,
) -> CUresult {
    call!(cuLinkCreate_v2, {
        out.required()?;
        let context = context::current()?;
        // SAFETY: the client gives option arrays of `count` entries, and the log buffers live as long as the linker.
        let options = unsafe { JitOptions::read(count, options, values)? };
        let (major, minor) = context.device.capability;
        out.put(Linker::create(options, major * 10 + minor))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddData_v2(
    state: Handle,
    kind: c_int,
    data: *const c_void,
    size: usize,
    _name: *const c_char,
    _count: c_uint,
    _options: *const c_uint,
    _values: *mut *mut c_void,
) -> CUresult {
    call!(cuLinkAddData_v2, {
        let linker = LINKERS.lookup(state, CUDA_ERROR_INVALID_HANDLE)?;
        if data.is_null() || size == 0 || !matches!(kind, INPUT_CUBIN | INPUT_PTX | INPUT_FATBINARY) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the client gives `size` bytes.
        let bytes = unsafe { core::slice::from_raw_parts(data.cast::<u8>(), size) };
        add(&linker, kind, bytes)
    })
}

fn add(linker: &Linker, kind: c_int, bytes: &[u8]) -> Result {
    let image = Image::from_bytes(bytes).map_err(|failure| match kind {
        INPUT_PTX => Failure { code: CUDA_ERROR_INVALID_PTX, ..failure },
        _ => failure,
    });
    linker.options.write(image.and_then(|image| linker.add(image.text(linker.sm)?)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddFile_v2(
    state: Handle,
    kind: c_int,
    path: Text,
    _count: c_uint,
    _options: *const c_uint,
    _values: *mut *mut c_void,
) -> CUresult {
    call!(cuLinkAddFile_v2, {
        let linker = LINKERS.lookup(state, CUDA_ERROR_INVALID_HANDLE)?;
        let bytes = std::fs::read(path.get()?).map_err(|_| CUDA_ERROR_FILE_NOT_FOUND)?;
        add(&linker, kind, &bytes)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLinkComplete(state: Handle, cubin: Out<u64>, size: Out<usize>) -> CUresult {
    call!(cuLinkComplete, {
        let linker = LINKERS.lookup(state, CUDA_ERROR_INVALID_HANDLE)?;
        let (address, bytes) = linker.options.write(linker.complete())?;
        cubin.put_if(address);
        size.put_if(bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLinkDestroy(state: Handle) -> CUresult {
    call!(cuLinkDestroy, { LINKERS.take(state, CUDA_ERROR_INVALID_HANDLE).map(drop) })
}
