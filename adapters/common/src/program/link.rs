//! Compiling without linking, and linking of several programs into one.
//!
//! Images are compiled for their errors and linked from what was given, so a link sees exactly what the application
//! handed in. The result is a program of its own: it holds the linked image and its loaded module, and nothing of the
//! programs it came from. Where the native library links nothing, every call here answers `UNSUPPORTED_FEATURE`.

use core::ffi::c_char;
use std::sync::Arc;

use ur_ffi::{ur_context_handle_t, ur_device_handle_t, ur_exp_program_flags_t, ur_program_handle_t, ur_result_t};

use crate::context::Context;
use crate::device::Device;
use crate::driver::{BuildRequest, Driver, text_of};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, borrow_list, null_pointer};
use crate::program::build::{as_failure, check_flags, chosen_targets, split_options};
use crate::program::metadata::Metadata;
use crate::program::{Program, Target, of_context};

fn compile_target<D: Driver>(program: &Program<D>, target: &Target<D>, options: &str) -> Result<()> {
    let state = program.context.state(&target.device)?;
    target.step(&state, options, |driver, request| driver.compile(target.image(), request).map(|()| None))
}

/// `urProgramCompile`: for every device the program has an image for.
///
/// # Safety
/// The C contract: handles live, `options` null or a NUL-terminated string.
///
/// # Errors
/// As `urProgramBuild`; `UNSUPPORTED_FEATURE` where the native library links nothing.
pub unsafe fn compile<D: Driver>(
    context: ur_context_handle_t,
    program: ur_program_handle_t,
    options: *const c_char,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (program, options) = unsafe { (of_context::<D>("urProgramCompile", context, program)?, text_of(options)) };
    program.targets.iter().try_for_each(|target| compile_target(program, target, &options))
}

/// `urProgramCompileExp`: for the devices listed.
///
/// # Safety
/// The C contract: `devices` holds `count` handles, `options` is null or a NUL-terminated string.
///
/// # Errors
/// As [`compile`] and [`chosen_targets`].
pub unsafe fn compile_exp<D: Driver>(
    program: ur_program_handle_t,
    count: u32,
    devices: *mut ur_device_handle_t,
    flags: ur_exp_program_flags_t,
    options: *const c_char,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (program, options) = unsafe { (borrow::<Program<D>>(program)?, text_of(options)) };
    // SAFETY: as above.
    let targets = unsafe { chosen_targets("urProgramCompileExp", program, count, devices, flags) }?;
    targets.into_iter().try_for_each(|target| compile_target(program, target, &options))
}

/// `urProgramLink`: for every device that all programs have an image for.
///
/// # Safety
/// The C contract: `programs` holds `count` handles, `options` is null or a NUL-terminated string, `out` writable.
///
/// # Errors
/// `INVALID_SIZE`, `INVALID_NULL_POINTER`, `INVALID_PROGRAM` for programs of another context or without a device in
/// common, `PROGRAM_LINK_FAILURE` with the linker's text, `UNSUPPORTED_FEATURE` where the library links nothing. The
/// output is null then.
pub unsafe fn link<D: Driver>(
    context: ur_context_handle_t,
    count: u32,
    programs: *const ur_program_handle_t,
    options: *const c_char,
    out: *mut ur_program_handle_t,
) -> Result<()> {
    const NAME: &str = "urProgramLink";
    // SAFETY: the caller's promises are the same.
    let (context, programs) = unsafe {
        begin(out);
        inputs::<D>(NAME, context, count, programs, out)?
    };
    let all_have = |device: &Object<Device<D>>| programs.iter().all(|program| program.target(device).is_ok());
    let devices: Vec<_> = context.devices().filter(|device| all_have(device)).map(|device| &**device).collect();
    // SAFETY: null or NUL-terminated by the caller's promise.
    let made = link_for(NAME, context, &devices, &programs, &unsafe { text_of(options) })?;
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(made)) };
    Ok(())
}

/// `urProgramLinkExp`: for the devices listed.
///
/// # Safety
/// As [`link`]; `devices` holds `device_count` handles.
///
/// # Errors
/// As [`link`]; `INVALID_DEVICE` for a device that a program has no image for.
pub unsafe fn link_exp<D: Driver>(
    context: ur_context_handle_t,
    device_count: u32,
    devices: *mut ur_device_handle_t,
    flags: ur_exp_program_flags_t,
    count: u32,
    programs: *const ur_program_handle_t,
    options: *const c_char,
    out: *mut ur_program_handle_t,
) -> Result<()> {
    const NAME: &str = "urProgramLinkExp";
    // SAFETY: the caller's promises are the same.
    let (context, programs) = unsafe {
        begin(out);
        inputs::<D>(NAME, context, count, programs, out)?
    };
    check_flags(NAME, flags)?;
    if devices.is_null() {
        return Err(null_pointer(NAME));
    }
    if device_count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{NAME}: numDevices is 0")));
    }
    // SAFETY: as above.
    let devices = unsafe { borrow_list::<Device<D>>(device_count, devices) }?;
    for (index, device) in devices.iter().enumerate() {
        if devices[..index].iter().any(|other| core::ptr::eq(*other, *device)) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_DEVICE,
                format!("{NAME}: device {index} is given twice"),
            ));
        }
        programs.iter().try_for_each(|program| program.target(device).map(|_| ()))?;
    }
    // SAFETY: null or NUL-terminated by the caller's promise.
    let made = link_for(NAME, context, &devices, &programs, &unsafe { text_of(options) })?;
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(made)) };
    Ok(())
}

/// Sets the output of a link to null, which it stays unless the link succeeds: programs release what they find there.
///
/// # Safety
/// `out` is null or writable.
unsafe fn begin(out: *mut ur_program_handle_t) {
    if !out.is_null() {
        // SAFETY: not null, so writable by the caller's promise.
        unsafe { out.write(core::ptr::null_mut()) };
    }
}

/// A link's context and programs.
type Inputs<'a, D> = (&'a Object<Context<D>>, Vec<&'a Object<Program<D>>>);

/// What a link is given, checked.
///
/// # Safety
/// As [`link`].
unsafe fn inputs<'a, D: Driver>(
    name: &str,
    context: ur_context_handle_t,
    count: u32,
    programs: *const ur_program_handle_t,
    out: *mut ur_program_handle_t,
) -> Result<Inputs<'a, D>> {
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if programs.is_null() || out.is_null() {
        return Err(null_pointer(name));
    }
    if count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{name}: count is 0")));
    }
    // SAFETY: as above.
    let programs = unsafe { borrow_list::<Program<D>>(count, programs) }?;
    if programs.iter().any(|program| !core::ptr::eq(context, &raw const *program.context)) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_PROGRAM,
            format!("{name}: a program belongs to another context"),
        ));
    }
    Ok((context, programs))
}

/// Links and loads for each device; on failure nothing is left.
fn link_for<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    devices: &[&Object<Device<D>>],
    programs: &[&Object<Program<D>>],
    options: &str,
) -> Result<Arc<Object<Program<D>>>> {
    if devices.is_empty() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_PROGRAM,
            format!("{name}: the programs have no device in common"),
        ));
    }
    let mut metadata = Metadata::default();
    programs.iter().for_each(|program| metadata.join(&program.metadata));
    let words = split_options(options)?;
    let mut targets = Vec::with_capacity(devices.len());
    for device in devices {
        let images: Vec<_> = programs.iter().map(|program| program.target(device)).collect::<Result<_>>()?;
        targets.push(link_one(context, device, &images, options, &words)?);
    }
    Ok(Object::new(Program { context: context.to_arc(), metadata, targets }))
}

fn link_one<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    inputs: &[&Target<D>],
    options: &str,
    words: &[String],
) -> Result<Target<D>> {
    const FAILURE: ur_result_t = ur_result_t::ERROR_PROGRAM_LINK_FAILURE;
    let state = context.state(device)?;
    let images: Vec<&[u8]> = inputs.iter().map(|target| target.image()).collect();
    let mut request = BuildRequest { options: words, log: String::new() };
    let linked = {
        let _scope = state.enter()?;
        state.driver.link(&images, &mut request)
    };
    let image = linked.map_err(|error| as_failure(error, &request.log, FAILURE))?;
    let target = Target::new(device.to_arc(), &image);
    // The options were the linker's; its words stay as the log of the new program.
    target
        .step(&state, "", |driver, loading| driver.load_module(target.image(), loading).map(Some))
        .map_err(|error| as_failure(error, "", FAILURE))?;
    {
        let mut build = target.build.lock();
        options.clone_into(&mut build.options);
        build.log = request.log;
    }
    Ok(target)
}
