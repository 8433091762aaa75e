//! Native handles of programs, both ways.
//!
//! A program's handle is the module of the first device it is built for. A module that comes in is unloaded with its last
//! user only if the application says so.

use crate::object::params::Out;
use std::sync::Arc;

use ur_ffi::{ur_native_handle_t, ur_program_handle_t, ur_program_native_properties_t};

use crate::context::Context;
use crate::context::native_handle::only_device;
use crate::device::native_handle::null_native;
use crate::driver::{Driver, Handle, NativeName};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::program::metadata::Metadata;
use crate::program::{Module, Program, Target};

/// `urProgramGetNativeHandle`.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `UNSUPPORTED_FEATURE` before it is built.
pub fn get<D: Driver>(program: &Object<Program<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    let native = program.modules().first().map(|module| module.raw.value());
    out.write(native.ok_or_else(|| Error::unsupported("the native handle of a program that is not built yet"))?);
    Ok(())
}

/// `urProgramCreateWithNativeHandle`: a built program over a module, without an image.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_NULL_HANDLE`; `UNSUPPORTED_FEATURE` in a context of several devices.
pub fn create<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    properties: Option<&ur_program_native_properties_t>,
    out: Out<'_, ur_program_handle_t>,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithNativeHandle";
    if native == 0 {
        return Err(null_native(NAME));
    }
    let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
    // SAFETY: by the manual a module of the context's device that is loaded as long as the program.
    let module = unsafe { D::Module::from_value(native) };
    let program = adopt(NAME, context, module, owned)?;
    out.write_object(program);
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
    let module = Arc::new(Module { raw, state, owned, with_offset: None });
    let targets = vec![Target::adopt(device.to_arc(), module)];
    Ok(Object::new(Program { context: context.to_arc(), metadata: Metadata::default(), targets }))
}
