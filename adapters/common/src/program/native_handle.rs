//! Native handles of programs, both ways.
//!
//! A program's handle is the module of the first device it is built for. A module that comes in is unloaded with its last
//! user only if the application says so.

use std::sync::Arc;

use ur_ffi::{ur_context_handle_t, ur_native_handle_t, ur_program_handle_t, ur_program_native_properties_t};

use crate::context::Context;
use crate::driver::{Driver, Raw};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};
use crate::program::metadata::Metadata;
use crate::program::{Module, Program, Target};
use crate::queue::native_handles::{give, null_native, only_device};

/// `urProgramGetNativeHandle`.
///
/// # Safety
/// The handle is the C contract's; `out` is null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `UNSUPPORTED_FEATURE` before it is built.
///
/// # Unsupported
/// - of a program that is not built yet: a module is what its image becomes when it is built
pub unsafe fn get<D: Driver>(program: ur_program_handle_t, out: *mut ur_native_handle_t) -> Result<()> {
    const NAME: &str = "urProgramGetNativeHandle";
    // SAFETY: the caller's promises are the same.
    unsafe {
        let program = borrow::<Program<D>>(program)?;
        give(NAME, out, || {
            let native = program.modules().first().map(|module| module.raw.number());
            native.ok_or_else(|| Error::unsupported("the native handle of a program that is not built yet"))
        })
    }
}

/// `urProgramCreateWithNativeHandle`: a built program over a module, without an image.
///
/// # Safety
/// The C contract: `properties` is null or valid, `out` writable, the native handle a module of the context's device
/// that is loaded as long as the program and its kernels are.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_NULL_HANDLE`; `UNSUPPORTED_FEATURE` in a context of several devices.
pub unsafe fn create<D: Driver>(
    native: ur_native_handle_t,
    context: ur_context_handle_t,
    properties: *const ur_program_native_properties_t,
    out: *mut ur_program_handle_t,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithNativeHandle";
    // SAFETY: the caller's promises are the same.
    let (context, properties) = unsafe { (borrow::<Context<D>>(context)?, properties.as_ref()) };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    if native == 0 {
        return Err(null_native(NAME));
    }
    let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
    let program = adopt(NAME, context, D::Module::of_number(native), owned)?;
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(program)) };
    Ok(())
}

/// A built program over a module of a context's only device. `owned` modules go with their last user.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` in a context of several devices.
pub fn adopt<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    raw: D::Module,
    owned: bool,
) -> Result<Arc<Object<Program<D>>>> {
    let device = only_device(name, context)?;
    let state = context.state(device)?;
    let module = Arc::new(Module { raw, state, owned });
    let targets = vec![Target::adopt(device.to_arc(), module)];
    Ok(Object::new(Program { context: context.to_arc(), metadata: Metadata::default(), targets }))
}
