//! Native handles of kernels, both ways.
//!
//! A kernel's handle is its function on the first device it was found on. A function that comes in is found again by its
//! name, so that the kernel has one on each device of the program; it lives and dies with its module.

use smallvec::SmallVec;
use ur_ffi::{
    ur_context_handle_t, ur_kernel_handle_t, ur_kernel_native_properties_t, ur_native_handle_t, ur_program_handle_t,
    ur_result_t,
};

use crate::context::Context;
use crate::driver::{Driver, Raw};
use crate::kernel::{DeviceKernel, Kernel};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};
use crate::program::native_handle::adopt;
use crate::program::{not_built, of_context};
use crate::queue::native_handles::{give, null_native};

/// `urKernelGetNativeHandle`.
///
/// # Safety
/// The handle is the C contract's; `out` is null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub unsafe fn get<D: Driver>(kernel: ur_kernel_handle_t, out: *mut ur_native_handle_t) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    unsafe {
        let kernel = borrow::<Kernel<D>>(kernel)?;
        give("urKernelGetNativeHandle", out, || Ok(kernel.first().plain.raw.number()))
    }
}

/// `urKernelCreateWithNativeHandle`: found again by its name in the program's module, or in the function's own.
///
/// # Safety
/// The C contract: `program` is null or live, `properties` null or valid, `out` writable, the native handle a function
/// whose module is loaded as long as the kernel lives.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_NULL_HANDLE`; `INVALID_KERNEL` for a function that is not the program's;
/// `INVALID_PROGRAM_EXECUTABLE`; `UNSUPPORTED_FEATURE` where the library tells no function's name, or no module of one
/// that comes without a program.
///
/// # Unsupported
/// - HIP: a function without its program: no call of the runtime tells a function's module
/// - CUDA: needs: a driver with `cuFuncGetName`, and `cuFuncGetModule` where no program is given
pub unsafe fn create<D: Driver>(
    native: ur_native_handle_t,
    context: ur_context_handle_t,
    program: ur_program_handle_t,
    _properties: *const ur_kernel_native_properties_t,
    out: *mut ur_kernel_handle_t,
) -> Result<()> {
    const NAME: &str = "urKernelCreateWithNativeHandle";
    // SAFETY: the caller's promises are the same.
    let of = unsafe { borrow::<Context<D>>(context) }?;
    let given = if program.is_null() {
        None
    } else {
        // SAFETY: as above.
        Some(unsafe { of_context::<D>(NAME, context, program) }?)
    };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    if native == 0 {
        return Err(null_native(NAME));
    }
    let driver = crate::device::adapter::driver::<D>()?;
    let raw = D::Function::of_number(native);
    let name = driver
        .function_name(raw)?
        .ok_or_else(|| Error::unsupported("a kernel of a native function by this library"))?;
    let program = match given {
        Some(program) => program.to_arc(),
        None => {
            let module = driver.function_module(raw)?.ok_or_else(|| {
                Error::unsupported("a kernel of a native function without its program by this library")
            })?;
            adopt(NAME, of, module, false)?
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
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(Object::new(Kernel::new(program, name, devices)))) };
    Ok(())
}
