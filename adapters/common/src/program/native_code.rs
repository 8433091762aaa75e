//! Native handles of programs and kernels, both ways.
//!
//! A program gives out the module of the first device it is built for, a kernel its function there. A module that
//! comes in is unloaded with its last user only if the application says so; functions live and die with their module.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_context_handle_t, ur_kernel_handle_t, ur_kernel_native_properties_t, ur_native_handle_t, ur_program_handle_t,
    ur_program_native_properties_t, ur_result_t,
};

use crate::context::Context;
use crate::driver::{Driver, Raw};
use crate::kernel::{DeviceKernel, Kernel};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};
use crate::program::metadata::Metadata;
use crate::program::{Module, Program, Target, not_built, of_context};
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
pub unsafe fn program_get<D: Driver>(program: ur_program_handle_t, out: *mut ur_native_handle_t) -> Result<()> {
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
pub unsafe fn program_create<D: Driver>(
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

fn adopt<D: Driver>(
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

/// `urKernelGetNativeHandle`.
///
/// # Safety
/// The handle is the C contract's; `out` is null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub unsafe fn kernel_get<D: Driver>(kernel: ur_kernel_handle_t, out: *mut ur_native_handle_t) -> Result<()> {
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
pub unsafe fn kernel_create<D: Driver>(
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
