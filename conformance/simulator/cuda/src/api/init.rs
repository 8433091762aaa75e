//! Initialisation, versions, error texts, and finding functions by name.

use super::args::{Out, Text};
use super::exports;
use super::guard::{Rules, call};
use crate::config::Config;
use crate::sys::*;
use crate::{device, faults, pool};
use core::ffi::{c_char, c_int, c_uint, c_void};

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: c_uint) -> CUresult {
    call!(cuInit, Rules::Init, {
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if device::config().is_none() {
            let config = Config::from_env()
                .and_then(|config| faults::inject_text(config.faults.as_deref().unwrap_or("")).map(|()| config));
            match config {
                Ok(config) if config.devices == 0 => return Err(CUDA_ERROR_NO_DEVICE),
                Ok(config) => {
                    pool::set_thresholds(config.thresholds);
                    device::make(config);
                }
                Err(message) => {
                    eprintln!("simcuda: {message}");
                    return Err(CUDA_ERROR_INVALID_VALUE);
                }
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDriverGetVersion(version: Out<c_int>) -> CUresult {
    call!(cuDriverGetVersion, Rules::Free, { version.put(DRIVER_VERSION) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorName(error: CUresult, text: Out<*const c_char>) -> CUresult {
    call!(cuGetErrorName, Rules::Free, { put_text(&text, describe(error).map(|(name, _)| name)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorString(error: CUresult, text: Out<*const c_char>) -> CUresult {
    call!(cuGetErrorString, Rules::Free, { put_text(&text, describe(error).map(|(_, meaning)| meaning)) })
}

fn put_text(out: &Out<*const c_char>, text: Option<&'static str>) -> Result {
    out.put(text.map_or(core::ptr::null(), |text| text.as_ptr().cast()))?;
    text.map(drop).ok_or(CUDA_ERROR_INVALID_VALUE)
}

const FOUND: c_int = 0;
const NOT_FOUND: c_int = 1;

#[unsafe(no_mangle)]
pub extern "C" fn cuGetProcAddress_v2(
    symbol: Text,
    function: Out<*const c_void>,
    version: c_int,
    _flags: u64,
    status: Out<c_int>,
) -> CUresult {
    call!(cuGetProcAddress_v2, Rules::Free, {
        let found = find(symbol.get()?, version);
        status.put_if(if found.is_some() { FOUND } else { NOT_FOUND });
        function.put(found.unwrap_or(core::ptr::null()))?;
        found.map(drop).ok_or(CUDA_ERROR_NOT_FOUND)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetProcAddress(
    symbol: Text,
    function: Out<*const c_void>,
    version: c_int,
    _flags: u64,
) -> CUresult {
    call!(cuGetProcAddress, Rules::Free, {
        let found = find(symbol.get()?, version);
        function.put(found.unwrap_or(core::ptr::null()))?;
        found.map(drop).ok_or(CUDA_ERROR_NOT_FOUND)
    })
}

/// The variant of a function that a client built for `version` of the API means by its plain name.
fn find(symbol: &str, version: c_int) -> Option<*const c_void> {
    const SINCE_13: [&str; 9] = [
        "cuGraphAddDependencies",
        "cuGraphAddNode",
        "cuGraphGetEdges",
        "cuGraphNodeGetDependencies",
        "cuGraphNodeGetDependentNodes",
        "cuGraphRemoveDependencies",
        "cuMemAdvise",
        "cuMemPrefetchAsync",
        "cuStreamUpdateCaptureDependencies",
    ];
    let variant = match symbol {
        "cuCtxCreate" if version >= 12050 => "_v4",
        "cuGraphInstantiate" if version >= 12000 => "WithFlags",
        "cuGetProcAddress" if version < 12000 => "",
        "cuStreamGetCaptureInfo" if version >= 13000 => "_v3",
        _ if SINCE_13.contains(&symbol) && version < 13000 => "",
        _ => "_v2",
    };
    exports::address(&format!("{symbol}{variant}")).or_else(|| exports::address(symbol))
}
