//! Native handles of kernels, both ways.
//!
//! A kernel's handle is its function on the first device it was found on. A function that comes in is found again by its
//! name, so that the kernel has one on each device of the program; it lives and dies with its module. A kernel of compiled host
//! code is found by its host function, on each device of the context, and has a program without images.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_ext_kernel_host_symbol_t, ur_kernel_handle_t, ur_kernel_native_properties_t, ur_native_handle_t, ur_result_t,
};

use crate::context::{Context, DeviceState};
use crate::device::native_handle::null_native;
use crate::driver::{Driver, Handle, NativeName};
use crate::kernel::{DeviceKernel, Function, Kernel};
use crate::object::Object;
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::program::device_image::fixed::FixedSizes;
use crate::program::metadata::{DeclaredSizes, Metadata};
use crate::program::native_handle::adopt;
use crate::program::{Module, Program, check_context, not_built};

/// `urKernelGetNativeHandle`.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub fn get<D: Driver>(kernel: &Object<Kernel<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(kernel.first().plain.raw.value());
    Ok(())
}

/// `urKernelCreateWithNativeHandle`: found again by its name in the program's module, or in the function's own; or by the host
/// function that a chained structure names.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_NULL_HANDLE`; `INVALID_KERNEL` for a function that is not the program's, or a host
/// function of no kernel; `INVALID_PROGRAM_EXECUTABLE`; `INVALID_VALUE` for a host function beside a native one or a program;
/// `UNSUPPORTED_FEATURE` where the library tells no function's name, no module of one that comes without a program, or
/// nothing of host functions.
pub fn create<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    program: Option<&Object<Program<D>>>,
    properties: Option<Chained<'_, ur_kernel_native_properties_t>>,
    out: Out<'_, ur_kernel_handle_t>,
) -> Result<()> {
    const NAME: &str = "urKernelCreateWithNativeHandle";
    if let Some(properties) = properties
        && let Some(named) =
            properties.find::<ur_ext_kernel_host_symbol_t>("urKernelCreateWithNativeHandle: pProperties")?
    {
        if native != 0 || program.is_some() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("{NAME}: a host symbol names the kernel; give no native kernel and no program with it"),
            ));
        }
        out.write_object(of_host_symbol(NAME, context, named.pSymbol.addr())?);
        return Ok(());
    }
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
    let not_of_it = || {
        let text = format!("{NAME}: the function `{}` is not of that program", name.to_string_lossy());
        Error::new(ur_result_t::ERROR_INVALID_KERNEL, text)
    };
    let load = |module| DeviceKernel::load(&program, module, &name);
    let devices: SmallVec<[DeviceKernel<D>; 1]> =
        modules.into_iter().map(load).collect::<Result<_>>().map_err(|error| match error.code() {
            ur_result_t::ERROR_INVALID_KERNEL_NAME => not_of_it(),
            _ => error,
        })?;
    if !devices.iter().any(|kernel| kernel.plain.raw == raw) {
        return Err(not_of_it());
    }
    out.write_object(Object::new(Kernel::new(program, name, devices)));
    Ok(())
}

/// The kernel of a host function, on each device of the context.
fn of_host_symbol<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    symbol: usize,
) -> Result<Arc<Object<Kernel<D>>>> {
    if symbol == 0 {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_NULL_POINTER,
            format!("{name}: pSymbol is null; give the address of the kernel's host function"),
        ));
    }
    let states = context.devices().map(|device| context.state(device)).collect::<Result<Vec<_>>>()?;
    let devices = states.into_iter().map(|state| on_device(name, state, symbol)).collect::<Result<SmallVec<_>>>()?;
    let program =
        Object::new(Program { context: context.to_arc(), metadata: Metadata::default(), targets: Vec::new() });
    let driver = crate::device::adapter::driver::<D>()?;
    let first: Option<&DeviceKernel<D>> = devices.first();
    let told = first.map(|kernel| driver.function_name(kernel.plain.raw)).transpose()?.flatten();
    Ok(Object::new(Kernel::new(program, told.unwrap_or_default(), devices)))
}

/// The kernel of a host function on one device. Its code is loaded with the application's, which unloads it after all else.
fn on_device<D: Driver>(name: &str, state: Arc<DeviceState<D>>, symbol: usize) -> Result<DeviceKernel<D>> {
    let driver = state.driver;
    let _scope = state.enter()?;
    let raw = driver.function_by_symbol(symbol).map_err(|error| unknown_symbol(name, symbol, error))?;
    let plain = Function { raw, parameters: driver.function_parameters(raw)? };
    let module =
        Arc::new(Module { raw: D::Module::default(), state: Arc::clone(&state), owned: false, with_offset: None });
    DeviceKernel::of_function(module, plain, DeclaredSizes::default(), |_| FixedSizes::default())
}

/// What native libraries say of an address that is no kernel's, for which each has other words.
fn unknown_symbol(name: &str, symbol: usize, error: Error) -> Error {
    let passed = [
        ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        ur_result_t::ERROR_DEVICE_LOST,
        ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY,
        ur_result_t::ERROR_OUT_OF_HOST_MEMORY,
        ur_result_t::ERROR_OUT_OF_RESOURCES,
    ];
    if passed.contains(&error.code()) {
        return error;
    }
    Error::native(
        ur_result_t::ERROR_INVALID_KERNEL,
        name,
        error.native_status(),
        &format!("{symbol:#x} is not the host function of a kernel for the context's devices; {}", error.message()),
    )
}
