//! Device memory and events of other processes.

use core::ffi::c_uint;

use crate::args::{Out, Raw};
use crate::current::Scope;
use crate::event;
use crate::guard::call;
use crate::sys::layout::{hipIpcEventHandle_t, hipIpcMemHandle_t};
use crate::sys::status::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipIpcGetMemHandle(out: Out<hipIpcMemHandle_t>, pointer: Raw) -> hipError_t {
    call!(hipIpcGetMemHandle, {
        out.required().and(pointer.required())?;
        let _scope = Scope::here()?;
        cu!(ipc_get(out.raw(), pointer.address()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipIpcOpenMemHandle(out: Out<usize>, handle: hipIpcMemHandle_t, flags: c_uint) -> hipError_t {
    call!(hipIpcOpenMemHandle, {
        out.required()?;
        let _scope = Scope::here()?;
        cu!(ipc_open(out.raw(), handle, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipIpcCloseMemHandle(pointer: Raw) -> hipError_t {
    call!(hipIpcCloseMemHandle, {
        pointer.required()?;
        let _scope = Scope::here()?;
        cu!(ipc_close(pointer.address()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipIpcGetEventHandle(out: Out<hipIpcEventHandle_t>, event: usize) -> hipError_t {
    call!(hipIpcGetEventHandle, {
        out.required().and(event::required(event))?;
        let _scope = Scope::here()?;
        cu!(ipc_event_get(out.raw(), event))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipIpcOpenEventHandle(out: Out<usize>, handle: hipIpcEventHandle_t) -> hipError_t {
    call!(hipIpcOpenEventHandle, {
        out.required()?;
        let _scope = Scope::here()?;
        cu!(ipc_event_open(out.raw(), handle))
    })
}
