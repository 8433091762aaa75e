//! Building a program: one native module of each device's image, and what the native compiler said.
//!
//! A failed build keeps the compiler's text as the build log and leaves no module behind.

use crate::context::Context;
use crate::object::Object;
use crate::object::params::Handles;
use core::ffi::CStr;
use std::sync::Arc;

use parking_lot::MutexGuard;
use ur_ffi::{ur_exp_program_flags_t, ur_program_binary_type_t, ur_program_build_status_t, ur_result_t};

use crate::context::DeviceState;
use crate::device::relief::reclaiming;
use crate::device::{Device, deferred};
use crate::driver::{BuildRequest, CheckedImage, Driver};
use crate::object::error::{Error, Result};
use crate::program::offset_image::OffsetImage;
use crate::program::{Module, Program, Target, check_context, il};

/// What is told of one device's image.
#[derive(Clone)]
pub struct Told {
    /// Of the latest attempt.
    pub status: ur_program_build_status_t,
    /// What the image is now.
    pub kind: ur_program_binary_type_t,
    /// Of the latest attempt, as given.
    pub options: String,
    /// What the native compiler said to it.
    pub log: String,
}

impl Default for Told {
    /// Of an image that nothing has been done with.
    fn default() -> Self {
        Self {
            status: ur_program_build_status_t::NONE,
            kind: ur_program_binary_type_t::NONE,
            options: String::new(),
            log: String::new(),
        }
    }
}

/// The state of one device's image.
pub struct Build<D: Driver> {
    /// What is told of it.
    pub told: Told,
    /// The same as it was before the latest attempt began.
    before: Told,
    /// The loaded module.
    pub module: Option<Arc<Module<D>>>,
}

impl<D: Driver> Default for Build<D> {
    fn default() -> Self {
        Self { told: Told::default(), before: Told::default(), module: None }
    }
}

/// What loads code, as errors call it.
pub(super) const LOADING: &str = "loading a program's code";

/// Loads an image for the current device. The native library waits for all that it was given, and holds up whoever gives it more.
///
/// # Errors
/// What the native library answers; `INVALID_OPERATION` in the function of a host task.
pub(super) fn load_native<D: Driver>(
    driver: &D,
    image: &CheckedImage<D>,
    request: &mut BuildRequest<'_>,
) -> Result<D::Module> {
    deferred::without_tasks(LOADING, || driver.load_module(image, request))
}

impl<D: Driver> Target<D> {
    /// The turn of a build that loads code. In a host task's function it is refused here, since another thread's may wait for that.
    ///
    /// # Errors
    /// `INVALID_OPERATION` in the function of a host task.
    pub(super) fn begin_loading(&self) -> Result<MutexGuard<'_, ()>> {
        deferred::refuse_in_task(LOADING)?;
        Ok(self.building.lock())
    }

    /// The turn of a build that loads nothing. In a host task's function it is not waited for: whoever has it may wait for the task.
    ///
    /// # Errors
    /// `INVALID_OPERATION` in the function of a host task while another thread builds.
    pub(super) fn begin_compiling(&self) -> Result<MutexGuard<'_, ()>> {
        self.building.try_lock().map_or_else(|| self.begin_loading(), Ok)
    }

    /// One step of a build that was begun ([`Target::begin`]), or the same step once more, for whoever has the target's
    /// [`building`](Self::building): native work with the options' words, whose log and status are kept whatever comes of it. Answers
    /// the module, if it made one. The native library waits for the whole device before it loads code, so nothing is locked over it
    /// that others need.
    ///
    /// # Errors
    /// `PROGRAM_BUILD_FAILURE` with the compiler's text; what the native library answers otherwise.
    pub fn step(
        &self,
        _building: &MutexGuard<'_, ()>,
        state: &Arc<DeviceState<D>>,
        options: &str,
        native: impl FnOnce(&D, &mut BuildRequest<'_>) -> Result<Option<D::Module>>,
    ) -> Result<Option<Arc<Module<D>>>> {
        let words = split_options(options)?;
        self.build.lock().told.status = ur_program_build_status_t::IN_PROGRESS;
        let mut request = BuildRequest { options: &words, log: String::new() };
        let done = state.enter().and_then(|_scope| native(state.driver, &mut request));
        let mut build = self.build.lock();
        options.clone_into(&mut build.told.options);
        build.told.log = request.log;
        match done {
            Ok(module) => {
                build.told.kind = match module {
                    Some(_) => ur_program_binary_type_t::EXECUTABLE,
                    None => ur_program_binary_type_t::COMPILED_OBJECT,
                };
                let with_offset = || self.il.as_ref().map(|il| OffsetImage::new(il, &words));
                build.module = module.map(|raw| {
                    Arc::new(Module { raw, state: Arc::clone(state), owned: true, with_offset: with_offset() })
                });
                build.told.status = ur_program_build_status_t::SUCCESS;
                Ok(build.module.clone())
            }
            Err(error) => {
                build.told.status = ur_program_build_status_t::ERROR;
                if build.told.log.is_empty() {
                    error.message().clone_into(&mut build.told.log);
                }
                Err(as_failure(error, &build.told.log, ur_result_t::ERROR_PROGRAM_BUILD_FAILURE))
            }
        }
    }

    /// Says that a build is in progress, once, before its first step: what was told until now is what is told again if it is taken
    /// back. For whoever has [`building`](Self::building).
    ///
    /// # Errors
    /// `INVALID_VALUE` for options that do not end; `INVALID_OPERATION` once there is a module.
    pub(super) fn begin(&self, _building: &MutexGuard<'_, ()>, options: &str) -> Result<()> {
        split_options(options)?;
        let mut build = self.build.lock();
        if build.module.is_some() {
            return Err(already_built());
        }
        build.before = build.told.clone();
        build.told.status = ur_program_build_status_t::IN_PROGRESS;
        Ok(())
    }

    /// Takes back what a build made which failed for another device; not what somebody else has built meanwhile.
    fn take_back(&self, made: &Arc<Module<D>>) {
        let mut build = self.build.lock();
        if build.module.as_ref().is_some_and(|module| Arc::ptr_eq(module, made)) {
            build.module = None;
            build.told = build.before.clone();
        }
    }
}

/// What the build of one device made.
pub(super) type Made<D> = Result<Option<Arc<Module<D>>>>;

/// The first failure of a build for several devices, if there is one; then what the others made is taken back, so that the program
/// can be built again.
///
/// # Errors
/// That failure.
pub(super) fn all_or_none<'t, D: Driver>(built: impl IntoIterator<Item = (&'t Target<D>, Made<D>)>) -> Result<()> {
    let (mut made, mut failure) = (Vec::new(), None);
    for (target, one) in built {
        match one {
            Ok(module) => made.extend(module.map(|module| (target, module))),
            Err(error) if failure.is_none() => failure = Some(error),
            Err(_) => {}
        }
    }
    let Some(error) = failure else { return Ok(()) };
    made.iter().for_each(|(target, module)| target.take_back(module));
    Err(error)
}

impl<D: Driver> Program<D> {
    /// Builds for some of the program's devices.
    ///
    /// # Errors
    /// As [`Program::load_image`]; as [`il::build`].
    fn build_targets(&self, targets: &[&Target<D>], options: &str) -> Result<()> {
        if targets.iter().any(|target| target.il.is_some()) {
            return il::build(self, targets, options);
        }
        let mut has_failed = false;
        all_or_none(targets.iter().map_while(|target| {
            // What comes behind a failure would be taken back.
            let made = (!has_failed).then(|| (*target, self.load_image(target, options)));
            has_failed = made.as_ref().is_some_and(|(_, made)| made.is_err());
            made
        }))
    }

    /// Loads one of the program's images.
    ///
    /// # Errors
    /// As [`Target::begin`] and [`Target::step`].
    pub(super) fn load_image(&self, target: &Target<D>, options: &str) -> Made<D> {
        let building = target.begin_loading()?;
        let image = target.image().ok_or_else(already_built)?;
        // What plain memory keeps may be what a module lacks.
        let state = self.context.state(&target.device)?;
        target.begin(&building, options)?;
        reclaiming(&state.device, || {
            target.step(&building, &state, options, |driver, request| load_native(driver, &image, request).map(Some))
        })
    }
}

#[cold]
pub(super) fn already_built() -> Error {
    Error::new(ur_result_t::ERROR_INVALID_OPERATION, "the program is built already")
}

/// Out of memory, a lost device and what cannot be done are themselves; everything else a loader or linker says is a
/// failed build or link.
pub fn as_failure(error: Error, log: &str, code: ur_result_t) -> Error {
    match error.code() {
        ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY
        | ur_result_t::ERROR_OUT_OF_HOST_MEMORY
        | ur_result_t::ERROR_OUT_OF_RESOURCES
        | ur_result_t::ERROR_DEVICE_LOST
        | ur_result_t::ERROR_UNSUPPORTED_FEATURE
        | ur_result_t::ERROR_INVALID_CONTEXT => error,
        _ => Error::new(code, format!("{}\n{log}", error.message())),
    }
}

/// Splits build options at white space; quotes hold words together.
///
/// # Errors
/// `INVALID_VALUE` for a quote that never closes.
pub fn split_options(options: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for character in options.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if let Some(open) = quote {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("the build options open a {open} and never close it: {options}"),
        ));
    }
    words.extend(word);
    Ok(words)
}

/// `urProgramBuild`: for every device the program has an image for.
///
/// # Errors
/// For SPIR-V as [`crate::program::spirv::compile`];
/// `PROGRAM_BUILD_FAILURE` with the native compiler's text as message and build log; `INVALID_OPERATION` for a
/// program that is built already.
pub fn build<D: Driver>(
    context: &Object<Context<D>>,
    program: &Object<Program<D>>,
    options: Option<&CStr>,
) -> Result<()> {
    check_context("urProgramBuild", context, program)?;
    let options = options_of(options);
    program.build_targets(&program.targets.iter().collect::<Vec<_>>(), &options)
}

/// The options as text; none where they are null.
pub(crate) fn options_of(options: Option<&CStr>) -> String {
    options.map(|options| options.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Refuses a list of no devices.
///
/// # Errors
/// `INVALID_SIZE`.
pub(crate) fn check_some<D: Driver>(call: &str, devices: &Handles<'_, Device<D>>) -> Result<()> {
    if devices.is_empty() {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{call}: numDevices is 0")));
    }
    Ok(())
}

/// Some of a program's images, by their devices.
///
/// # Errors
/// `INVALID_SIZE` for no device, `INVALID_DEVICE` for one without an image; unknown flags are `INVALID_ENUMERATION`, and
/// symbols that stay open `UNSUPPORTED_FEATURE`.
pub(crate) fn chosen_targets<'p, D: Driver>(
    call: &str,
    program: &'p Program<D>,
    devices: &Handles<'_, Device<D>>,
    flags: ur_exp_program_flags_t,
) -> Result<Vec<&'p Target<D>>> {
    check_flags(call, flags)?;
    check_some(call, devices)?;
    devices.iter().map(|device| program.target(device)).collect()
}

/// Flags of a build for a list of devices.
///
/// # Errors
/// `INVALID_ENUMERATION` for unknown ones; `UNSUPPORTED_FEATURE` for symbols that are to stay open: native modules
/// resolve theirs when they are loaded.
pub fn check_flags(call: &str, flags: ur_exp_program_flags_t) -> Result<()> {
    crate::object::known_flags(call, flags.bits(), ur_ffi::UR_EXP_PROGRAM_FLAGS_MASK)?;
    if flags.contains(ur_exp_program_flags_t::ALLOW_UNRESOLVED_SYMBOLS) {
        return Err(Error::unsupported(&format!("{call} with symbols that stay unresolved")));
    }
    Ok(())
}

/// `urProgramBuildExp`: for the devices listed.
///
/// # Errors
/// As [`build`] and [`chosen_targets`].
pub fn build_exp<D: Driver>(
    program: &Object<Program<D>>,
    devices: Handles<'_, Device<D>>,
    flags: ur_exp_program_flags_t,
    options: Option<&CStr>,
) -> Result<()> {
    let targets = chosen_targets("urProgramBuildExp", program, &devices, flags)?;
    program.build_targets(&targets, &options_of(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_split_at_white_space_and_quotes_hold_together() {
        assert_eq!(split_options("").unwrap(), Vec::<String>::new());
        assert_eq!(split_options("  -O3\t-g ").unwrap(), ["-O3", "-g"]);
        assert_eq!(split_options(r#"-I "a b" -D'x y'"#).unwrap(), ["-I", "a b", "-Dx y"]);
        assert_eq!(split_options(r#""""#).unwrap(), [""]);
    }

    #[test]
    fn an_open_quote_is_an_error_that_shows_the_options() {
        let error = split_options("-I 'a").unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_VALUE);
        assert!(error.message().contains("-I 'a"));
    }
}
