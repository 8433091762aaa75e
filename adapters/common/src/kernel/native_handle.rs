//! Native handles of kernels, both ways.
//!
//! A kernel's handle is its function on the first device it was found on. A function that comes in is found again by its
//! name, so that the kernel has one on each device of the program; it lives and dies with its module.

use crate::object::params::Out;
use crate::program::Program;
use smallvec::SmallVec;
use ur_ffi::{ur_kernel_handle_t, ur_kernel_native_properties_t, ur_native_handle_t, ur_result_t};

use crate::context::Context;
use crate::device::native_handle::null_native;
use crate::driver::{Driver, Handle, NativeName};
use crate::kernel::{DeviceKernel, Kernel};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::program::native_handle::adopt;
use crate::program::{check_context, not_built};

/// `urKernelGetNativeHandle`.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub fn get<D: Driver>(kernel: &Object<Kernel<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(kernel.first().plain.raw.value());
    Ok(())
}

/// `urKernelCreateWithNativeHandle`: found again by its name in the program's module, or in the function's own.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_NULL_HANDLE`; `INVALID_KERNEL` for a function that is not the program's;
/// `INVALID_PROGRAM_EXECUTABLE`; `UNSUPPORTED_FEATURE` where the library tells no function's name, or no module of one
/// that comes without a program.
pub fn create<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    program: Option<&Object<Program<D>>>,
    _properties: Option<&ur_kernel_native_properties_t>,
    out: Out<'_, ur_kernel_handle_t>,
) -> Result<()> {
    const NAME: &str = "urKernelCreateWithNativeHandle";
    if let Some(program) = program {
        check_context(NAME, context, program)?;
    }
    if native == 0 {
        return Err(null_native(NAME));
    }
    let driver = crate::device::adapter::driver::<D>()?;
    // SAFETY: by the manual a function whose module is loaded as long as the kernel lives.
    let raw = unsafe { D::Function::from_value(native) };
    let name = driver
        .function_name(raw)?
        .ok_or_else(|| Error::unsupported("a kernel of a native function by this library"))?;
    let program = match program {
        Some(program) => program.to_arc(),
        None => {
            let module = driver.function_module(raw)?.ok_or_else(|| {
                Error::unsupported("a kernel of a native function without its program by this library")
            })?;
            // SAFETY: the library's own handle of the function's module, which is loaded like the function.
            adopt(NAME, context, unsafe { D::Module::from_value(module) }, false)?
        }
    };
    let modules = program.modules();
    if modules.is_empty() {
        return Err(not_built(NAME));
    }
    let devices = modules
        .into_iter()
        .map(|module| DeviceKernel::load(&program, module, &name))
        .collect::<Result<SmallVec<_>>>()
        .ok()
        .filter(|devices: &SmallVec<[DeviceKernel<D>; 1]>| devices.iter().any(|kernel| kernel.plain.raw == raw))
        .ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_KERNEL,
                format!("{NAME}: the function `{}` is not of that program", name.to_string_lossy()),
            )
        })?;
    out.write_object(Object::new(Kernel::new(program, name, devices)));
    Ok(())
}
