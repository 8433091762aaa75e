//! Programs: device images of a context, and the native modules they become when built.
//!
//! An image is copied when the program is made and checked for being whole before a native loader, which is
//! told no length, sees it. Building loads one module a device; a failed build keeps the native compiler's
//! text as the build log and leaves no module behind.

pub mod device_image;
pub mod globals;
pub mod jit;
pub mod link;
pub mod metadata;
pub mod native_code;
pub mod select_binary;
pub mod symbols;

use core::ffi::{c_char, c_void};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use ur_ffi::{
    ur_context_handle_t, ur_device_handle_t, ur_exp_program_flags_t, ur_program_binary_type_t, ur_program_build_info_t,
    ur_program_build_status_t, ur_program_handle_t, ur_program_handle_t_, ur_program_info_t, ur_program_properties_t,
    ur_result_t,
};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::deferred;
use crate::driver::{BuildRequest, Driver};
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress, borrow, borrow_list, null_pointer};
use crate::program::device_image::fixed::{FixedByKernel, FixedSizes, fixed_sizes};
use crate::program::metadata::Metadata;

/// A loaded native module; unloaded with its last user.
pub struct Module<D: Driver> {
    /// The native module.
    pub raw: D::Module,
    /// The device state it was loaded for.
    pub state: Arc<DeviceState<D>>,
    /// Whether it is this object's to unload; a native handle's may be the application's.
    pub owned: bool,
}

impl<D: Driver> Drop for Module<D> {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        // Nobody is left to tell; a module of a lost device goes with its context.
        let (native, module) = (Arc::clone(&self.state.native), self.raw);
        deferred::run(move || drop(native.driver.unload_module(module)));
    }
}

/// One device's image and what became of it.
pub struct Target<D: Driver> {
    /// The device.
    pub device: Arc<Object<Device<D>>>,
    /// Length of the image as given.
    length: usize,
    /// The image and a NUL byte, which text images need.
    image: Box<[u8]>,
    /// What became of it.
    pub build: Mutex<Build<D>>,
    /// Sizes of work-groups that the image fixes, read for its first kernel.
    fixed: OnceLock<FixedByKernel>,
}

/// The state of one device's image.
pub struct Build<D: Driver> {
    /// Of the latest attempt.
    pub status: ur_program_build_status_t,
    /// What the image is now.
    pub kind: ur_program_binary_type_t,
    /// Of the latest attempt, as given.
    pub options: String,
    /// What the native compiler said to it.
    pub log: String,
    /// The loaded module.
    pub module: Option<Arc<Module<D>>>,
}

impl<D: Driver> Target<D> {
    /// An image that nothing has been done with.
    pub fn new(device: Arc<Object<Device<D>>>, image: &[u8]) -> Self {
        let mut owned = Vec::with_capacity(image.len() + 1);
        owned.extend_from_slice(image);
        owned.push(0);
        Self {
            device,
            length: image.len(),
            image: owned.into_boxed_slice(),
            build: Mutex::new(Build {
                status: ur_program_build_status_t::NONE,
                kind: ur_program_binary_type_t::NONE,
                options: String::new(),
                log: String::new(),
                module: None,
            }),
            fixed: OnceLock::new(),
        }
    }

    /// A module that was not loaded from an image.
    pub fn adopt(device: Arc<Object<Device<D>>>, module: Arc<Module<D>>) -> Self {
        let target = Self::new(device, &[]);
        {
            let mut build = target.build.lock();
            build.status = ur_program_build_status_t::SUCCESS;
            build.kind = ur_program_binary_type_t::EXECUTABLE;
            build.module = Some(module);
        }
        target
    }

    /// What the image fixes of a kernel's work-groups; `binary` is the version of the machine code that it runs as.
    pub fn fixed_sizes(&self, kernel: &str, binary: u32) -> FixedSizes {
        let fixed = self.fixed.get_or_init(|| fixed_sizes(&self.image[..self.length], binary));
        fixed.get(kernel).copied().unwrap_or_default()
    }

    /// The image and the NUL behind it.
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// One step of a build: native work with the options' words, whose log and status are kept whatever comes of it.
    ///
    /// # Errors
    /// `INVALID_OPERATION` once there is a module; `PROGRAM_BUILD_FAILURE` with the compiler's text; what the native
    /// library answers otherwise.
    pub fn step(
        &self,
        state: &Arc<DeviceState<D>>,
        options: &str,
        native: impl FnOnce(&D, &mut BuildRequest<'_>) -> Result<Option<D::Module>>,
    ) -> Result<()> {
        let words = split_options(options)?;
        let mut build = self.build.lock();
        if build.module.is_some() {
            return Err(Error::new(ur_result_t::ERROR_INVALID_OPERATION, "the program is built already"));
        }
        let mut request = BuildRequest { options: &words, log: String::new() };
        let done = {
            let _scope = state.enter()?;
            native(state.driver, &mut request)
        };
        options.clone_into(&mut build.options);
        build.log = request.log;
        match done {
            Ok(module) => {
                build.kind = match module {
                    Some(_) => ur_program_binary_type_t::EXECUTABLE,
                    None => ur_program_binary_type_t::COMPILED_OBJECT,
                };
                build.module = module.map(|raw| Arc::new(Module { raw, state: Arc::clone(state), owned: true }));
                build.status = ur_program_build_status_t::SUCCESS;
                Ok(())
            }
            Err(error) => {
                build.status = ur_program_build_status_t::ERROR;
                if build.log.is_empty() {
                    error.message().clone_into(&mut build.log);
                }
                Err(as_failure(error, &build.log, ur_result_t::ERROR_PROGRAM_BUILD_FAILURE))
            }
        }
    }
}

/// What the program's handle names.
pub struct Program<D: Driver> {
    /// The context it was made in.
    pub context: Arc<Object<Context<D>>>,
    /// What its compiler says of it.
    pub metadata: Metadata,
    /// Its images, at most one a device.
    pub targets: Vec<Target<D>>,
}

impl<D: Driver> Body for Program<D> {
    type Opaque = ur_program_handle_t_;
    const TAG: u32 = 0x5552_0007;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_PROGRAM;
    const NAME: &'static str = "program";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Program<D> {
    /// The modules of the devices it was built for.
    pub fn modules(&self) -> Vec<Arc<Module<D>>> {
        self.targets.iter().filter_map(|target| target.build.lock().module.clone()).collect()
    }

    /// The image for a device.
    ///
    /// # Errors
    /// `INVALID_DEVICE` when there is none.
    pub fn target(&self, device: &Object<Device<D>>) -> Result<&Target<D>> {
        self.targets
            .iter()
            .find(|target| core::ptr::eq(&raw const *target.device, device))
            .ok_or_else(|| Error::new(ur_result_t::ERROR_INVALID_DEVICE, "the program has no image for that device"))
    }

    /// The module of a device.
    ///
    /// # Errors
    /// `INVALID_DEVICE` without an image, `INVALID_PROGRAM_EXECUTABLE` before it is built.
    pub fn module(&self, call: &str, device: &Object<Device<D>>) -> Result<Arc<Module<D>>> {
        self.target(device)?.build.lock().module.clone().ok_or_else(|| not_built(call))
    }

    /// Loads one of the program's images.
    ///
    /// # Errors
    /// As [`Target::step`].
    pub fn build_target(&self, target: &Target<D>, options: &str) -> Result<()> {
        let state = self.context.state(&target.device)?;
        target.step(&state, options, |driver, request| driver.load_module(target.image(), request).map(Some))
    }
}

impl<D: Driver> Program<D> {
    /// Names of its kernels on the first device that it is built for, `None` where the library cannot list them.
    fn kernel_names(&self) -> Result<Option<Vec<String>>> {
        let modules = self.modules();
        let module = modules.first().ok_or_else(|| not_built("urProgramGetInfo"))?;
        let _scope = module.state.enter()?;
        module.state.driver.function_names(module.raw)
    }
}

/// The error of a program whose code is asked for before it is built.
#[cold]
pub fn not_built(call: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_PROGRAM_EXECUTABLE,
        format!("{call}: the program is not built; call urProgramBuild first"),
    )
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

/// `urProgramCreateWithBinary`.
///
/// # Safety
/// The C contract: each list holds `count` entries, each image is readable for its length, `out` writable.
///
/// # Errors
/// `INVALID_SIZE` for no device, `INVALID_NULL_POINTER`, `INVALID_DEVICE` for a device of another context or one
/// given twice, `INVALID_BINARY` for an image that is truncated or of no format the backend takes.
///
/// # Unsupported
/// - note: CUDA takes PTX, cubin and fatbin; HIP takes code objects and offload bundles, and on NVIDIA hardware what
///   CUDA takes
pub unsafe fn create_with_binary<D: Driver>(
    context: ur_context_handle_t,
    count: u32,
    devices: *mut ur_device_handle_t,
    lengths: *mut usize,
    images: *mut *const u8,
    properties: *const ur_program_properties_t,
    out: *mut ur_program_handle_t,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithBinary";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if devices.is_null() || lengths.is_null() || images.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    if count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{NAME}: numDevices is 0")));
    }
    // SAFETY: null or valid by the caller's promise.
    let metadata = unsafe { Metadata::read(NAME, properties) }?;
    // SAFETY: the caller's promise is the same.
    let devices = unsafe { borrow_list::<Device<D>>(count, devices) }?;
    let driver = crate::device::adapter::driver::<D>()?;
    let mut targets: Vec<Target<D>> = Vec::with_capacity(devices.len());
    for (index, device) in devices.into_iter().enumerate() {
        let known = context.devices().any(|member| core::ptr::eq(&raw const **member, device));
        let twice = targets.iter().any(|target| core::ptr::eq(&raw const *target.device, device));
        if !known || twice {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_DEVICE,
                format!("{NAME}: device {index} is not the context's or is given twice"),
            ));
        }
        // SAFETY: the lists hold `count` entries by the caller's promise.
        let (image, length) = unsafe { (*images.add(index), *lengths.add(index)) };
        if image.is_null() {
            return Err(null_pointer(NAME));
        }
        // SAFETY: readable for its length by the caller's promise.
        let image = unsafe { core::slice::from_raw_parts(image, length) };
        driver.check_image(image)?;
        targets.push(Target::new(device.to_arc(), image));
    }
    let program = Object::new(Program { context: context.to_arc(), metadata, targets });
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(program)) };
    Ok(())
}

/// `urProgramBuild`: for every device the program has an image for.
///
/// # Safety
/// The C contract: handles live, `options` null or a NUL-terminated string.
///
/// # Errors
/// `PROGRAM_BUILD_FAILURE` with the native compiler's text as message and build log; `INVALID_OPERATION` for a
/// program that is built already.
pub unsafe fn build<D: Driver>(
    context: ur_context_handle_t,
    program: ur_program_handle_t,
    options: *const c_char,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let program = unsafe { of_context::<D>("urProgramBuild", context, program) }?;
    // SAFETY: null or NUL-terminated by the caller's promise.
    let options = unsafe { crate::driver::text_of(options) };
    program.targets.iter().try_for_each(|target| program.build_target(target, &options))
}

/// A program that must belong to the context given with it.
///
/// # Safety
/// As [`borrow`].
///
/// # Errors
/// As [`borrow`]; `INVALID_CONTEXT`.
pub unsafe fn of_context<'a, D: Driver>(
    call: &str,
    context: ur_context_handle_t,
    program: ur_program_handle_t,
) -> Result<&'a Object<Program<D>>> {
    // SAFETY: the caller's promises are the same.
    let (context, program) = unsafe { (borrow::<Context<D>>(context)?, borrow::<Program<D>>(program)?) };
    if !core::ptr::eq(context, &raw const *program.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            format!("{call}: the program belongs to another context"),
        ));
    }
    Ok(program)
}

/// Some of a program's images, by their devices.
///
/// # Safety
/// The C contract: `devices` holds `count` handles.
///
/// # Errors
/// `INVALID_SIZE` for no device, `INVALID_NULL_POINTER`, `INVALID_DEVICE` for one without an image; unknown flags are
/// `INVALID_ENUMERATION`, and symbols that stay open `UNSUPPORTED_FEATURE`.
pub unsafe fn chosen_targets<'p, D: Driver>(
    call: &str,
    program: &'p Program<D>,
    count: u32,
    devices: *mut ur_device_handle_t,
    flags: ur_exp_program_flags_t,
) -> Result<Vec<&'p Target<D>>> {
    check_flags(call, flags)?;
    if devices.is_null() {
        return Err(null_pointer(call));
    }
    if count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{call}: numDevices is 0")));
    }
    // SAFETY: the caller's promise is the same.
    unsafe { borrow_list::<Device<D>>(count, devices) }?.into_iter().map(|device| program.target(device)).collect()
}

/// Flags of a build for a list of devices.
///
/// # Errors
/// `INVALID_ENUMERATION` for unknown ones; `UNSUPPORTED_FEATURE` for symbols that are to stay open: native modules
/// resolve theirs when they are loaded.
///
/// # Unsupported
/// - `UR_EXP_PROGRAM_FLAG_ALLOW_UNRESOLVED_SYMBOLS`: native modules resolve their symbols when they are loaded
pub fn check_flags(call: &str, flags: ur_exp_program_flags_t) -> Result<()> {
    crate::object::known_flags(call, flags.bits(), ur_ffi::UR_EXP_PROGRAM_FLAGS_MASK)?;
    if flags.contains(ur_exp_program_flags_t::ALLOW_UNRESOLVED_SYMBOLS) {
        return Err(Error::unsupported(&format!("{call} with symbols that stay unresolved")));
    }
    Ok(())
}

/// `urProgramBuildExp`: for the devices listed.
///
/// # Safety
/// The C contract: `devices` holds `count` handles, `options` is null or a NUL-terminated string.
///
/// # Errors
/// As [`build`] and [`chosen_targets`].
pub unsafe fn build_exp<D: Driver>(
    program: ur_program_handle_t,
    count: u32,
    devices: *mut ur_device_handle_t,
    flags: ur_exp_program_flags_t,
    options: *const c_char,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let program = unsafe { borrow::<Program<D>>(program) }?;
    // SAFETY: as above.
    let targets = unsafe { chosen_targets("urProgramBuildExp", program, count, devices, flags) }?;
    // SAFETY: null or NUL-terminated by the caller's promise.
    let options = unsafe { crate::driver::text_of(options) };
    targets.into_iter().try_for_each(|target| program.build_target(target, &options))
}

/// `urProgramGetInfo`.
///
/// # Safety
/// The C contract of an info query; for `BINARIES` the buffer holds pointers to buffers of `BINARY_SIZES`.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
///
/// # Unsupported
/// - HIP: `UR_PROGRAM_INFO_NUM_KERNELS` and `UR_PROGRAM_INFO_KERNEL_NAMES`: no call of the runtime lists a module's
///   kernels
/// - CUDA: needs: a driver with `cuModuleEnumerateFunctions`, for `UR_PROGRAM_INFO_NUM_KERNELS` and
///   `UR_PROGRAM_INFO_KERNEL_NAMES`
pub unsafe fn get_info<D: Driver>(
    program: ur_program_handle_t,
    property: ur_program_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (program, writer) =
        unsafe { (borrow::<Program<D>>(program)?, InfoWriter::new("urProgramGetInfo", size, value, size_out)?) };
    match property {
        ur_program_info_t::REFERENCE_COUNT => writer.value(program.references()),
        ur_program_info_t::CONTEXT => writer.value(program.context.handle()),
        ur_program_info_t::NUM_DEVICES => writer.value(u32::try_from(program.targets.len()).unwrap_or(u32::MAX)),
        ur_program_info_t::DEVICES => {
            writer.array(&program.targets.iter().map(|target| target.device.handle()).collect::<Vec<_>>())
        }
        ur_program_info_t::IL => writer.array::<u8>(&[]),
        ur_program_info_t::BINARY_SIZES => {
            writer.array(&program.targets.iter().map(|target| target.length).collect::<Vec<_>>())
        }
        // SAFETY: the caller's promise for this property.
        ur_program_info_t::BINARIES => unsafe { copy_binaries(program, size, value.cast(), size_out) },
        ur_program_info_t::NUM_KERNELS => match program.kernel_names()? {
            Some(names) => writer.value(names.len()),
            None => writer.unsupported(),
        },
        ur_program_info_t::KERNEL_NAMES => match program.kernel_names()? {
            Some(names) => writer.text(&names.join(";")),
            None => writer.unsupported(),
        },
        _ => writer.unknown(property.0),
    }
}

/// # Safety
/// `buffers` is null or holds `size` bytes of pointers, each null or writable for its image's length; `size_out`
/// is null or writable.
unsafe fn copy_binaries<D: Driver>(
    program: &Program<D>,
    size: usize,
    buffers: *mut *mut u8,
    size_out: *mut usize,
) -> Result<()> {
    let needed = program.targets.len() * size_of::<*mut u8>();
    if !buffers.is_null() {
        if size < needed {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("urProgramGetInfo: the list of buffers takes {needed} bytes, propSize is {size}"),
            ));
        }
        for (index, target) in program.targets.iter().enumerate() {
            // SAFETY: the list holds one pointer a target.
            let buffer = unsafe { *buffers.add(index) };
            if !buffer.is_null() {
                // SAFETY: writable for the image's length by the caller's promise.
                unsafe { core::ptr::copy_nonoverlapping(target.image.as_ptr(), buffer, target.length) };
            }
        }
    }
    if !size_out.is_null() {
        // SAFETY: writable by the caller's promise.
        unsafe { size_out.write(needed) };
    }
    Ok(())
}

/// `urProgramGetBuildInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_DEVICE` for a device without an image; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_build_info<D: Driver>(
    program: ur_program_handle_t,
    device: ur_device_handle_t,
    property: ur_program_build_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (program, device, writer) = unsafe {
        (
            borrow::<Program<D>>(program)?,
            borrow::<Device<D>>(device)?,
            InfoWriter::new("urProgramGetBuildInfo", size, value, size_out)?,
        )
    };
    let build = program.target(device)?.build.lock();
    match property {
        ur_program_build_info_t::STATUS => writer.value(build.status),
        ur_program_build_info_t::OPTIONS => writer.text(&build.options),
        ur_program_build_info_t::LOG => writer.text(&build.log),
        ur_program_build_info_t::BINARY_TYPE => writer.value(build.kind),
        _ => writer.unknown(property.0),
    }
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
