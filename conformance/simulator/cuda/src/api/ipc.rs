//! Device memory and events of other processes.

use super::args::Out;
use super::guard::call;
use crate::event::{EVENTS, Event};
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

#[unsafe(no_mangle)]
pub extern "C" fn cuIpcGetEventHandle(out: Out<CUipcEventHandle>, event: Handle) -> CUresult {
    call!(cuIpcGetEventHandle, {
        out.required()?;
        out.put(EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?.ipc_handle()?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuIpcOpenEventHandle(out: Out<Handle>, handle: CUipcEventHandle) -> CUresult {
    call!(cuIpcOpenEventHandle, {
        out.required()?;
        let context = context::current()?;
        out.put(Event::open(context, &handle)?)
    })
}
