//! Compiling without linking, and linking of several programs into one.
//!
//! Images are compiled for their errors and linked from what was given, so a link sees exactly what the application
//! handed in; programs that are all of SPIR-V are linked before there is an image ([`crate::program::il`]). The result is a program of its own: it holds the linked image and its loaded module, and nothing of the
//! programs it came from. Where the native library links nothing, every call here answers `UNSUPPORTED_FEATURE`.

use crate::object::params::Handles;
use crate::object::params::Out;
use core::ffi::CStr;
use std::sync::Arc;

use ur_ffi::{ur_exp_program_flags_t, ur_program_handle_t, ur_result_t};

use crate::context::Context;
use crate::device::Device;
use crate::driver::{BuildRequest, Driver};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::program::build::{
    already_built, as_failure, check_flags, check_some, chosen_targets, load_native, options_of, split_options,
};
use crate::program::metadata::Metadata;
use crate::program::spirv::BuildOptions;
use crate::program::{Program, Target, check_context, il};

fn compile_target<D: Driver>(program: &Program<D>, target: &Target<D>, options: &str) -> Result<()> {
    if let Some(il) = &target.il {
        return il::check(program, target, il, options);
    }
    let image = target.image().ok_or_else(already_built)?;
    let state = program.context.state(&target.device)?;
    let building = target.begin_compiling()?;
    target.begin(&building, options)?;
    let step =
        target.step(&building, &state, options, |driver, request| driver.compile(&image, request).map(|()| None));
    step.map(drop)
}

/// `urProgramCompile`: for every device the program has an image for.
///
/// # Errors
/// As `urProgramBuild`; `UNSUPPORTED_FEATURE` where the native library links nothing.
pub fn compile<D: Driver>(
    context: &Object<Context<D>>,
    program: &Object<Program<D>>,
    options: Option<&CStr>,
) -> Result<()> {
    check_context("urProgramCompile", context, program)?;
    let options = options_of(options);
    program.targets.iter().try_for_each(|target| compile_target(program, target, &options))
}

/// `urProgramCompileExp`: for the devices listed.
///
/// # Errors
/// As [`compile`] and [`chosen_targets`].
pub fn compile_exp<D: Driver>(
    program: &Object<Program<D>>,
    devices: Handles<'_, Device<D>>,
    flags: ur_exp_program_flags_t,
    options: Option<&CStr>,
) -> Result<()> {
    let targets = chosen_targets("urProgramCompileExp", program, &devices, flags)?;
    let options = options_of(options);
    targets.into_iter().try_for_each(|target| compile_target(program, target, &options))
}

/// `urProgramLink`: for every device that all programs have an image for.
///
/// # Errors
/// `INVALID_SIZE`, `INVALID_NULL_POINTER`, `INVALID_PROGRAM` for programs of another context or without a device in
/// common, `PROGRAM_LINK_FAILURE` with the linker's text, `UNSUPPORTED_FEATURE` where the library links nothing. The
/// output is null then.
pub fn link<D: Driver>(
    context: &Object<Context<D>>,
    programs: Handles<'_, Program<D>>,
    options: Option<&CStr>,
    out: Out<'_, ur_program_handle_t>,
) -> Result<()> {
    const NAME: &str = "urProgramLink";
    check_inputs(NAME, context, &programs)?;
    let all_have = |device: &Object<Device<D>>| programs.iter().all(|program| program.target(device).is_ok());
    let devices: Vec<_> = context.devices().filter(|device| all_have(device)).map(|device| &**device).collect();
    let made = link_for(NAME, context, &devices, &programs, &options_of(options))?;
    out.write_object(made);
    Ok(())
}

/// `urProgramLinkExp`: for the devices listed.
///
/// # Errors
/// As [`link`]; `INVALID_DEVICE` for a device that a program has no image for.
pub fn link_exp<D: Driver>(
    context: &Object<Context<D>>,
    devices: Handles<'_, Device<D>>,
    flags: ur_exp_program_flags_t,
    programs: Handles<'_, Program<D>>,
    options: Option<&CStr>,
    out: Out<'_, ur_program_handle_t>,
) -> Result<()> {
    const NAME: &str = "urProgramLinkExp";
    check_inputs(NAME, context, &programs)?;
    check_flags(NAME, flags)?;
    check_some(NAME, &devices)?;
    let devices: Vec<&Object<Device<D>>> = devices.iter().collect();
    for (index, device) in devices.iter().enumerate() {
        if devices[..index].iter().any(|other| core::ptr::eq(*other, *device)) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_DEVICE,
                format!("{NAME}: device {index} is given twice"),
            ));
        }
        programs.iter().try_for_each(|program| program.target(device).map(|_| ()))?;
    }
    let made = link_for(NAME, context, &devices, &programs, &options_of(options))?;
    out.write_object(made);
    Ok(())
}

/// Refuses programs of other contexts.
fn check_inputs<D: Driver>(name: &str, context: &Object<Context<D>>, programs: &Handles<'_, Program<D>>) -> Result<()> {
    if programs.iter().all(|program| core::ptr::eq(context, &raw const *program.context)) {
        return Ok(());
    }
    Err(Error::new(ur_result_t::ERROR_INVALID_PROGRAM, format!("{name}: a program belongs to another context")))
}

/// Links and loads for each device; on failure nothing is left.
fn link_for<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    devices: &[&Object<Device<D>>],
    programs: &Handles<'_, Program<D>>,
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
    if let Some(linked) = il::link(context, device, inputs, options)? {
        return Ok(linked);
    }
    let state = context.state(device)?;
    let parsed = BuildOptions::parse(words);
    let images =
        inputs.iter().map(|target| il::image_for_link(state.driver, target, &parsed)).collect::<Result<Vec<_>>>()?;
    let images: Vec<_> = images.iter().map(|image| &**image).collect();
    let mut request = BuildRequest { options: words, log: String::new() };
    let linked = {
        let _scope = state.enter()?;
        state.driver.link(&images, &mut request)
    };
    let image = linked.map_err(|error| as_failure(error, &request.log, FAILURE))?;
    let target = Target::new(device.to_arc(), image);
    let image = target.image().ok_or_else(already_built)?;
    {
        let building = target.begin_loading()?;
        // The options were the linker's; its words stay as the log of the new program.
        target.begin(&building, "")?;
        target
            .step(&building, &state, "", |driver, loading| load_native(driver, &image, loading).map(Some))
            .map_err(|error| as_failure(error, "", FAILURE))?;
    }
    {
        let mut build = target.build.lock();
        options.clone_into(&mut build.told.options);
        build.told.log = request.log;
    }
    Ok(target)
}
