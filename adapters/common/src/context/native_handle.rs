//! Native handles of contexts, both ways: the primary context of a device, where the native library has contexts.
//!
//! Only primary contexts are taken. A UR context holds a reference of its own to each primary context that it uses, so an
//! owned handle's reference is given back at once.

use std::sync::Arc;

use ur_ffi::{ur_context_handle_t, ur_context_native_properties_t, ur_native_handle_t, ur_result_t};

use crate::context::Context;
use crate::device::Device;
use crate::device::adapter::{self, Adapter};
use crate::device::native_handle::null_native;
use crate::device::scope::Held;
use crate::driver::{Driver, NativeName};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Handles, Out};

/// A device of a context that the application need not name where there is only one.
pub(crate) fn only_device<'c, D: Driver>(name: &str, context: &'c Context<D>) -> Result<&'c Object<Device<D>>> {
    let mut devices = context.devices();
    match (devices.next(), devices.next()) {
        (Some(device), None) => Ok(device),
        _ => Err(Error::unsupported(&format!(
            "{name} in a context of several devices, of which the native handle names none; make a context of one \
             device for it: this"
        ))),
    }
}

#[cold]
fn no_contexts() -> Error {
    Error::unsupported("a native context (this library's contexts are its devices: take a device's handle)")
}

/// `urContextGetNativeHandle`: the primary context of the first device, kept alive by the UR context.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` where the library has no contexts; what it answers.
pub fn get_handle<D: Driver>(context: &Object<Context<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    if !D::CONTEXTS_HAVE_HANDLES {
        return Err(no_contexts());
    }
    out.write(context.first_state()?.primary_context.value());
    Ok(())
}

/// `urContextCreateWithNativeHandle`: over the device whose primary context it is. If owned, the application's
/// reference to the primary context goes with the UR context.
///
/// # Errors
/// `INVALID_NULL_HANDLE`; `INVALID_CONTEXT` for a handle that is not the primary context of one
/// of the devices; `UNSUPPORTED_FEATURE` where the library has no contexts; what it answers.
pub fn create<D: Driver>(
    native: ur_native_handle_t,
    _adapter: &Object<Adapter<D>>,
    devices: Handles<'_, Device<D>>,
    properties: Option<&ur_context_native_properties_t>,
    out: Out<'_, ur_context_handle_t>,
) -> Result<()> {
    const NAME: &str = "urContextCreateWithNativeHandle";
    if !D::CONTEXTS_HAVE_HANDLES {
        return Err(no_contexts());
    }
    if native == 0 {
        return Err(null_native(NAME));
    }
    let opened = adapter::open::<D>()
        .map_err(|reason| Error::new(ur_result_t::ERROR_UNINITIALIZED, format!("{NAME}: {reason}")))?;
    let driver = adapter::driver::<D>()?;
    let candidates: Vec<&Object<Device<D>>> = if devices.is_empty() {
        opened.devices.iter().map(|device| &**device).collect()
    } else {
        devices.iter().collect()
    };
    let mut failed = None;
    for device in candidates {
        match is_primary_context(driver, device, native) {
            Ok(true) => {
                let is_owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
                out.write_object(adopt(driver, device, is_owned)?);
                return Ok(());
            }
            Ok(false) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.unwrap_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            format!(
                "{NAME}: {native:#x} is the primary context of none of the devices; only primary contexts are taken"
            ),
        )
    }))
}

/// Whether a device has that primary context. Nothing of the device is kept for the question.
fn is_primary_context<D: Driver>(
    driver: &'static D,
    device: &Object<Device<D>>,
    native: ur_native_handle_t,
) -> Result<bool> {
    // A device whose primary context does not exist cannot be the one, and must not get one for this question.
    Ok(driver.context_is_active(device.raw)? && Held::new(driver, device.raw)?.primary_context.value() == native)
}

/// A context over the device, whose primary context exists.
fn adopt<D: Driver>(driver: &D, device: &Object<Device<D>>, is_owned: bool) -> Result<Arc<Object<Context<D>>>> {
    let context = Object::new(Context::over([device.to_arc()]));
    context.state(device)?;
    if is_owned {
        // The context holds a reference of its own, which takes the place of the application's.
        // SAFETY: it is the application's reference, which it gave up; the context's own is left.
        unsafe { driver.release_context(device.raw) }?;
    }
    Ok(context)
}
