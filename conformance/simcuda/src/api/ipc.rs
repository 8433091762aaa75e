//! Device memory of other processes.

use super::args::Out;
use super::guard::call;
use crate::sys::*;
use crate::{context, ipc};
use core::ffi::c_uint;

#[unsafe(no_mangle)]
pub extern "C" fn cuIpcGetMemHandle(out: Out<CUipcMemHandle>, address: CUdeviceptr) -> CUresult {
    call!(cuIpcGetMemHandle, {
        out.required()?;
        context::current()?;
        out.put(ipc::handle(address)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuIpcOpenMemHandle_v2(out: Out<CUdeviceptr>, handle: CUipcMemHandle, flags: c_uint) -> CUresult {
    call!(cuIpcOpenMemHandle_v2, {
        out.required()?;
        let context = context::current()?;
        if flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(ipc::open(&context, &handle)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuIpcCloseMemHandle(address: CUdeviceptr) -> CUresult {
    call!(cuIpcCloseMemHandle, {
        context::current()?;
        ipc::close(address)
    })
}
