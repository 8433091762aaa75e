//! Kernels of compiled host code, as far as a test registers some: by the address of their host function.
//!
//! HIP's compiler registers its kernels when a program starts, and the runtime loads them on a device at first use. Here the
//! control interface registers them, and the image is loaded on a device when the symbol is first asked for there.

use std::collections::BTreeMap;
use std::ffi::CString;

use parking_lot::Mutex;

use crate::current::Scope;
use crate::sys::status::{Result, hipErrorInvalidDeviceFunction};
use crate::{device, module};

struct HostFunction {
    image: CString,
    name: CString,
    /// Module and function by device.
    loaded: BTreeMap<i32, (usize, usize)>,
}

static REGISTERED: Mutex<BTreeMap<usize, HostFunction>> = Mutex::new(BTreeMap::new());

/// Registers a kernel.
pub fn register(symbol: usize, image: CString, name: CString) {
    REGISTERED.lock().insert(symbol, HostFunction { image, name, loaded: BTreeMap::new() });
}

/// The function of a kernel on the current device.
pub fn find(symbol: usize) -> Result<usize> {
    device::all()?;
    let mut registered = REGISTERED.lock();
    let found = registered.get_mut(&symbol).ok_or(hipErrorInvalidDeviceFunction)?;
    let ordinal = crate::current::device()?.ordinal;
    if let Some((_, function)) = found.loaded.get(&ordinal) {
        return Ok(*function);
    }
    let module = module::load(found.image.as_ptr().cast(), &[], &mut [])?;
    let _scope = Scope::here()?;
    let mut function = 0;
    if let Err(error) = cu!(module_function(&raw mut function, module, found.name.as_ptr())) {
        let _ = cu!(module_unload(module));
        return Err(error);
    }
    found.loaded.insert(ordinal, (module, function));
    Ok(function)
}

/// Forgets all kernels and unloads what was loaded of them.
pub fn forget_all() {
    let registered = core::mem::take(&mut *REGISTERED.lock());
    for (module, _) in registered.into_values().flat_map(|function| function.loaded.into_values()) {
        let _ = cu!(module_unload(module));
    }
}
