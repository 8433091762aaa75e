//! Programs: device images of a context, and the native modules they become when built.
//!
//! An image is copied when the program is made and checked for being whole before a native loader, which is
//! told no length, sees it. [`build`] makes one module a device of them. A program of SPIR-V has its image once it is built
//! ([`il`]).

pub mod build;
pub mod device_image;
pub mod globals;
pub mod il;
pub mod info;
pub mod jit;
pub mod link;
pub mod metadata;
pub mod native_handle;
pub mod offset_image;
pub mod select_binary;
pub mod spirv;
pub mod symbols;

use crate::object::params::Handles;
use crate::object::params::Out;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use ur_ffi::{
    ur_program_binary_type_t, ur_program_build_status_t, ur_program_handle_t, ur_program_handle_t_,
    ur_program_properties_t, ur_result_t,
};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::deferred;
use crate::driver::{CheckedImage, Driver};
use crate::object::error::{Error, Result};
use crate::object::{Body, Object, TableAddress, null_pointer};
use crate::program::build::Build;
use crate::program::device_image::fixed::{FixedByKernel, FixedSizes, fixed_sizes};
use crate::program::il::Il;
use crate::program::metadata::Metadata;
use crate::program::offset_image::OffsetImage;

/// A loaded native module; unloaded with its last user.
pub struct Module<D: Driver> {
    /// The native module.
    pub raw: D::Module,
    /// The device state it was loaded for.
    pub state: Arc<DeviceState<D>>,
    /// Whether it is this object's to unload; a native handle's may be the application's.
    pub owned: bool,
    /// Where kernels that take a global offset come from, if they are not of this module.
    pub with_offset: Option<OffsetImage<D>>,
}

impl<D: Driver> Drop for Module<D> {
    fn drop(&mut self) {
        if !self.owned {
            return;
        }
        // Nobody is left to tell; a module of a lost device goes with its context.
        let (native, module) = (Arc::clone(&self.state.native), core::mem::take(&mut self.raw));
        // SAFETY: kernels and variables keep the module, so nobody uses anything of it any more.
        deferred::run(move || drop(unsafe { native.driver.unload_module(module) }));
    }
}

/// One device's image and what became of it.
pub struct Target<D: Driver> {
    /// The device.
    pub device: Arc<Object<Device<D>>>,
    /// The code for the native loader; none before the first build of SPIR-V. A leaf.
    image: Mutex<Option<Arc<CheckedImage<D>>>>,
    /// What the image is made of, where that is SPIR-V.
    pub il: Option<Il>,
    /// What became of it. A leaf.
    pub build: Mutex<Build<D>>,
    /// Held while the image is compiled and loaded, over native calls that block; nobody takes it but who builds.
    pub building: Mutex<()>,
    /// Sizes of work-groups that the image fixes, read for its first kernel.
    fixed: OnceLock<FixedByKernel>,
}

impl<D: Driver> Target<D> {
    /// An image that nothing has been done with.
    pub fn new(device: Arc<Object<Device<D>>>, image: CheckedImage<D>) -> Self {
        Self { image: Mutex::new(Some(Arc::new(image))), ..Self::unmade(device, None) }
    }

    /// A device for which there is SPIR-V and no image yet.
    pub fn of_il(device: Arc<Object<Device<D>>>, il: Il) -> Self {
        Self::unmade(device, Some(il))
    }

    fn unmade(device: Arc<Object<Device<D>>>, il: Option<Il>) -> Self {
        Self {
            device,
            image: Mutex::new(None),
            il,
            build: Mutex::new(Build::default()),
            building: Mutex::new(()),
            fixed: OnceLock::new(),
        }
    }

    /// A module that was not loaded from an image.
    pub fn adopt(device: Arc<Object<Device<D>>>, module: Arc<Module<D>>) -> Self {
        let target = Self::unmade(device, None);
        {
            let mut build = target.build.lock();
            build.told.status = ur_program_build_status_t::SUCCESS;
            build.told.kind = ur_program_binary_type_t::EXECUTABLE;
            build.module = Some(module);
        }
        target
    }

    /// What the image fixes of a kernel's work-groups; `binary` is the version of the machine code that it runs as.
    pub fn fixed_sizes(&self, kernel: &str, binary: u32) -> FixedSizes {
        let read = || self.image().map_or_else(FixedByKernel::new, |image| fixed_sizes(image.bytes(), binary));
        self.fixed.get_or_init(read).get(kernel).copied().unwrap_or_default()
    }

    /// The image; none for a module that came without one, and before a build of SPIR-V.
    pub fn image(&self) -> Option<Arc<CheckedImage<D>>> {
        self.image.lock().clone()
    }

    fn set_image(&self, image: Arc<CheckedImage<D>>) {
        *self.image.lock() = Some(image);
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

    /// Names of its kernels on the first device that it is built for, `None` where the library cannot list them.
    fn kernel_names(&self) -> Result<Option<Vec<String>>> {
        let modules = self.modules();
        let module = modules.first().ok_or_else(|| not_built("urProgramGetInfo"))?;
        if let Some(il) = self.targets.iter().find_map(|target| target.il.as_ref()) {
            return Ok(Some(il.kernels()?.iter().map(|kernel| kernel.name.clone()).collect()));
        }
        let _scope = module.state.enter()?;
        module.state.driver.function_names(&module.raw)
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

/// `urProgramCreateWithBinary`.
///
/// # Errors
/// `INVALID_SIZE` for no device, `INVALID_NULL_POINTER`, `INVALID_DEVICE` for a device of another context or one
/// given twice, `INVALID_BINARY` for an image that is truncated or of no format the backend takes.
pub fn create_with_binary<D: Driver>(
    context: &Object<Context<D>>,
    devices: Handles<'_, Device<D>>,
    lengths: &[usize],
    images: &[*const u8],
    properties: Option<&ur_program_properties_t>,
    out: Out<'_, ur_program_handle_t>,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithBinary";
    let metadata = metadata_of(NAME, properties)?;
    let driver = crate::device::adapter::driver::<D>()?;
    let mut targets: Vec<Target<D>> = Vec::with_capacity(devices.len());
    for (index, ((device, &image), &length)) in devices.iter().zip(images).zip(lengths).enumerate() {
        let known = context.devices().any(|member| core::ptr::eq(&raw const **member, device));
        let twice = targets.iter().any(|target| core::ptr::eq(&raw const *target.device, device));
        if !known || twice {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_DEVICE,
                format!("{NAME}: device {index} is not the context's or is given twice"),
            ));
        }
        if image.is_null() {
            return Err(null_pointer(NAME));
        }
        // SAFETY: the specification lets each image be readable for its length.
        let image = unsafe { core::slice::from_raw_parts(image, length) };
        targets.push(match spirv::is_spirv(image) {
            true => Target::of_il(device.to_arc(), Il::shared(NAME, device, image, &targets)?),
            false => Target::new(device.to_arc(), CheckedImage::new(driver, image)?),
        });
    }
    let program = Object::new(Program { context: context.to_arc(), metadata, targets });
    out.write_object(program);
    Ok(())
}

/// What the compiler says of a program that is made.
///
/// # Errors
/// As [`Metadata::read`].
fn metadata_of(call: &'static str, properties: Option<&ur_program_properties_t>) -> Result<Metadata> {
    // SAFETY: the specification lets the list of metadata be valid, as its counts and tags say.
    unsafe { Metadata::read(call, properties) }
}

/// Refuses a program that does not belong to the context given with it.
///
/// # Errors
/// `INVALID_CONTEXT`.
pub(crate) fn check_context<D: Driver>(call: &str, context: &Object<Context<D>>, program: &Program<D>) -> Result<()> {
    if core::ptr::eq(context, &raw const *program.context) {
        return Ok(());
    }
    Err(Error::new(ur_result_t::ERROR_INVALID_CONTEXT, format!("{call}: the program belongs to another context")))
}
