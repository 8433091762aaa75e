//! Kernels: a named entry point, looked up once for every device its program was built for.

pub mod argument_list;
pub mod arguments;
mod careful_launch;
pub mod cooperative;
pub(crate) mod fast;
pub mod launch;
pub mod launch_properties;
pub mod local_size;
pub mod native_handle;
mod object_launch;
pub mod offset_variant;
mod owned_launch;
pub mod permissions;
pub mod work_size;

use crate::object::params::Out;
use core::ffi::{CStr, c_void};
use std::ffi::CString;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_kernel_cache_config_t, ur_kernel_exec_info_properties_t, ur_kernel_exec_info_t, ur_kernel_group_info_t,
    ur_kernel_handle_t, ur_kernel_handle_t_, ur_kernel_info_t, ur_kernel_sub_group_info_t, ur_result_t,
};

use crate::context::DeviceState;
use crate::device::Device;
use crate::driver::properties::DeviceProperties;
use crate::driver::{CachePreference, Driver, FunctionAttributes};
use crate::kernel::offset_variant::OffsetVariant;
use crate::kernel::permissions::Permissions;
use crate::kernel::work_size::{GlobalSize, Limits};
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress};
use crate::program::device_image::fixed::FixedSizes;
use crate::program::metadata::DeclaredSizes;
use crate::program::{Module, Program};
use crate::queue::Queue;
use crate::sync::unlikely::unlikely;

/// A native function with what a launch needs to know of it.
#[repr(C)]
pub struct Function<D: Driver> {
    /// The native function.
    pub raw: D::Function,
    /// Sizes of its parameters, where the library can tell.
    pub parameters: Option<Vec<usize>>,
}

/// A kernel on one device. What every launch reads comes first, in few lines of the cache.
#[repr(C)]
pub struct DeviceKernel<D: Driver> {
    /// Its device, as the program's context has it. Queues of other contexts have another.
    pub home: Arc<DeviceState<D>>,
    /// The function itself.
    pub plain: Function<D>,
    /// What device, plain function and source allow of a launch's sizes.
    pub limits: Limits,
    /// What the kernel's source declares.
    pub declared: DeclaredSizes,
    /// The module it lives in; keeps the code loaded.
    pub module: Arc<Module<D>>,
    /// The variant that takes a global offset.
    pub with_offset: OffsetVariant<D>,
    /// Limits and resources of the plain function.
    pub attributes: FunctionAttributes,
    /// The block size that fills the device best without dynamic work-group memory.
    pub suggested_block: u32,
    /// Which limits of its functions were raised.
    pub permissions: Permissions,
}

impl<D: Driver> DeviceKernel<D> {
    /// Looks a kernel up in a module.
    ///
    /// # Errors
    /// `INVALID_KERNEL_NAME`; what the native library answers.
    pub fn load(program: &Program<D>, module: Arc<Module<D>>, name: &CStr) -> Result<Self> {
        let scope = module.state.enter()?;
        let (text, target) = (name.to_string_lossy(), program.target(&module.state.device)?);
        let found = if target.may_have_kernel(&text) { Self::function(&module, name)? } else { None };
        let mut plain = found.ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_KERNEL_NAME,
                format!("urKernelCreate: the program has no kernel named `{text}`"),
            )
        })?;
        let with_offset = OffsetVariant::of(Some(name));
        // A kernel of the application may have the variant's name.
        let is_own = target.il.as_ref().is_some_and(|il| il.kernel(&with_offset.name().to_string_lossy()).is_some());
        if !is_own && let Some(found) = Self::function(&module, with_offset.name())? {
            with_offset.set(found);
        }
        if plain.parameters.is_none() {
            plain.parameters = target.il.as_ref().and_then(|il| il.parameter_sizes(&text));
        }
        let loaded = Self::of_function(Arc::clone(&module), plain, program.metadata.sizes_of(&text), |binary| {
            target.fixed_sizes(&text, binary)
        });
        drop(scope);
        Ok(Self { with_offset, ..loaded? })
    }

    /// A kernel of a function of a module, whose device's context is current. `fixed` tells what an image of that binary
    /// version fixes.
    ///
    /// # Errors
    /// What the native library answers.
    fn of_function(
        module: Arc<Module<D>>,
        plain: Function<D>,
        declared: DeclaredSizes,
        fixed: impl FnOnce(u32) -> FixedSizes,
    ) -> Result<Self> {
        let driver = module.state.driver;
        let attributes = driver.function_attributes(plain.raw)?;
        let fixed = fixed(attributes.binary_version);
        let (declared, limits) = sizes_of(&module.state.device.properties, &attributes, declared, fixed);
        // Asked now, so that no launch has to. A library that cannot say leaves it to the function's own limit.
        let limit = limits.threads.max(1);
        let suggested = driver.suggested_block_size(plain.raw, 0, limit);
        let suggested_block = suggested.unwrap_or(limit).clamp(1, limit);
        Ok(Self {
            home: Arc::clone(&module.state),
            limits,
            module,
            plain,
            with_offset: OffsetVariant::of(None),
            attributes,
            suggested_block,
            permissions: Permissions::default(),
            declared,
        })
    }

    /// Work-groups and work-items of a launch: of the caller's local size, of the only one that the kernel runs with,
    /// or of one that suits.
    ///
    /// # Errors
    /// `INVALID_WORK_GROUP_SIZE` for a local size that the kernel or the device refuses; as [`GlobalSize::suggest`].
    pub fn divide(&self, global: GlobalSize, local: Option<[usize; 3]>) -> Result<([u32; 3], [u32; 3])> {
        if let (Some(required), Some(local)) = (self.declared.required, local)
            && local != required
        {
            return Err(not_required(local, required));
        }
        match local.or(self.declared.required) {
            Some(local) => global.with_local(local, &self.limits),
            None => global.suggest(self.suggested_block, &self.limits),
        }
    }

    fn function(module: &Module<D>, name: &CStr) -> Result<Option<Function<D>>> {
        let driver = module.state.driver;
        let Some(raw) = driver.function(&module.raw, name)? else { return Ok(None) };
        Ok(Some(Function { raw, parameters: driver.function_parameters(raw)? }))
    }
}

#[cold]
fn not_required(local: [usize; 3], required: [usize; 3]) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE,
        format!("work-groups of {local:?}; the kernel's source requires {required:?}"),
    )
}

/// What a kernel's source declares, by the compiler's metadata or else by the image, and what a launch is held against.
fn sizes_of(
    device: &DeviceProperties,
    attributes: &FunctionAttributes,
    mut declared: DeclaredSizes,
    fixed: FixedSizes,
) -> (DeclaredSizes, Limits) {
    let items = |sizes: [usize; 3]| sizes.into_iter().fold(1, usize::saturating_mul);
    if let Some(most) = fixed.most.map(items) {
        declared.most_items = Some(declared.most_items.map_or(most, |items| items.min(most)));
    }
    declared.required = declared.required.or(fixed.required);
    let mut limits = limits_of(device, attributes, &declared);
    if let Some(only) = fixed.required.map(items) {
        limits.threads = limits.threads.min(u32::try_from(only).unwrap_or(u32::MAX));
    }
    // Told, but no limit of a dimension: an image limits the product.
    declared.most = declared.most.or(fixed.most);
    (declared, limits)
}

/// The smallest of what device, function and source allow.
fn limits_of(device: &DeviceProperties, attributes: &FunctionAttributes, declared: &DeclaredSizes) -> Limits {
    let narrow = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
    let mut limits =
        Limits { threads: attributes.max_threads_per_block, block: device.max_block, grid: device.max_grid };
    if let Some(items) = declared.most_items {
        limits.threads = limits.threads.min(narrow(items));
    }
    for (limit, most) in limits.block.iter_mut().zip(declared.most.unwrap_or([usize::MAX; 3])) {
        *limit = (*limit).min(narrow(most));
    }
    limits
}

/// What the kernel's handle names.
#[repr(C)]
pub struct Kernel<D: Driver> {
    /// On its program's first device, which is the only one of most. In the object itself: a launch reads no length to find it.
    first: DeviceKernel<D>,
    others: Box<[DeviceKernel<D>]>,
    /// The program it comes from.
    pub program: Arc<Object<Program<D>>>,
    name: CString,
    /// What release 2026.1's setters have set.
    pub arguments: parking_lot::Mutex<crate::kernel::arguments::SetArguments>,
}

impl<D: Driver> Body for Kernel<D> {
    type Opaque = ur_kernel_handle_t_;
    const TAG: u32 = 0x5552_0008;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_KERNEL;
    const NAME: &'static str = "kernel";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Kernel<D> {
    /// The kernel on one device.
    ///
    /// # Errors
    /// `INVALID_KERNEL` when the program was not built for the device.
    #[inline]
    pub fn on(&self, device: &Object<Device<D>>) -> Result<&DeviceKernel<D>> {
        self.devices().find(|kernel| core::ptr::eq(Arc::as_ptr(&kernel.home.device), device)).ok_or_else(|| {
            Error::new(ur_result_t::ERROR_INVALID_KERNEL, "the kernel's program has no code for that device")
        })
    }

    /// The kernel on the device of a queue that it may be launched on.
    ///
    /// # Errors
    /// `INVALID_KERNEL` when the program was not built for the queue's device, or is another context's than the queue.
    #[inline]
    pub fn on_queue(&self, queue: &Queue<D>) -> Result<&DeviceKernel<D>> {
        if unlikely!(!Arc::ptr_eq(&self.first.home, &queue.device)) {
            return self.find_on(&queue.device).ok_or_else(|| self.not_on(queue));
        }
        Ok(&self.first)
    }

    /// The kernel on a device as a context has it.
    ///
    /// # Errors
    /// `INVALID_KERNEL` when the program was not built for the device, or in another context.
    #[inline(always)]
    pub fn on_state(&self, state: &Arc<DeviceState<D>>) -> Result<&DeviceKernel<D>> {
        if unlikely!(!Arc::ptr_eq(&self.first.home, state)) {
            return self.find_on_state(state);
        }
        Ok(&self.first)
    }

    #[inline(never)]
    fn find_on(&self, state: &Arc<DeviceState<D>>) -> Option<&DeviceKernel<D>> {
        self.devices().find(|kernel| Arc::ptr_eq(&kernel.home, state))
    }

    #[cold]
    fn find_on_state(&self, state: &Arc<DeviceState<D>>) -> Result<&DeviceKernel<D>> {
        self.find_on(state).ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_KERNEL,
                "the kernel's program was not built for the command buffer's device in its context",
            )
        })
    }

    #[cold]
    fn not_on(&self, queue: &Queue<D>) -> Error {
        let text = match self.on(&queue.target) {
            Ok(_) => "the kernel's program was made in another context than the queue",
            Err(error) => return error,
        };
        Error::new(ur_result_t::ERROR_INVALID_KERNEL, text)
    }

    /// A kernel that was found on its program's devices, at least one.
    pub fn new(program: Arc<Object<Program<D>>>, name: CString, devices: SmallVec<[DeviceKernel<D>; 1]>) -> Self {
        let mut devices = devices.into_iter();
        let first = devices.next().expect("a program has a device");
        Self { first, others: devices.collect(), program, name, arguments: parking_lot::Mutex::default() }
    }

    /// The kernel on each of its devices.
    fn devices(&self) -> impl Iterator<Item = &DeviceKernel<D>> {
        core::iter::once(&self.first).chain(&self.others)
    }

    /// The kernel on the first device of its program.
    pub fn first(&self) -> &DeviceKernel<D> {
        &self.first
    }

    /// Sizes of its parameters, where the library can tell.
    pub fn parameters(&self) -> Option<&[usize]> {
        self.first().plain.parameters.as_deref()
    }

    /// The kernel's name.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.name.to_string_lossy()
    }
}

/// `urKernelCreate`.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_PROGRAM_EXECUTABLE` for a program that is not built; `INVALID_KERNEL_NAME`.
pub fn create<D: Driver>(program: &Object<Program<D>>, name: &CStr, out: Out<'_, ur_kernel_handle_t>) -> Result<()> {
    if name.is_empty() {
        // Native libraries disagree on what is wrong with no name at all.
        return Err(Error::new(ur_result_t::ERROR_INVALID_KERNEL_NAME, "urKernelCreate: the kernel's name is empty"));
    }
    let modules = program.modules();
    if modules.is_empty() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_PROGRAM_EXECUTABLE,
            "urKernelCreate: the program is not built; call urProgramBuild first",
        ));
    }
    let load = |module| DeviceKernel::load(program, module, name);
    let devices = modules.into_iter().map(load).collect::<Result<SmallVec<_>>>()?;
    let kernel = Object::new(Kernel::new(program.to_arc(), name.to_owned(), devices));
    out.write_object(kernel);
    Ok(())
}

/// `urKernelGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(kernel: &Object<Kernel<D>>, property: ur_kernel_info_t, writer: InfoWriter) -> Result<()> {
    let first = kernel.first();
    match property {
        ur_kernel_info_t::FUNCTION_NAME => writer.text(&kernel.name()),
        ur_kernel_info_t::NUM_ARGS => match &first.plain.parameters {
            Some(parameters) => writer.value(u32::try_from(parameters.len()).unwrap_or(u32::MAX)),
            None => writer.unsupported(),
        },
        ur_kernel_info_t::REFERENCE_COUNT => writer.value(kernel.references()),
        ur_kernel_info_t::CONTEXT => writer.value(kernel.program.context.handle()),
        ur_kernel_info_t::PROGRAM => writer.value(kernel.program.handle()),
        ur_kernel_info_t::ATTRIBUTES => writer.text(""),
        ur_kernel_info_t::NUM_REGS => writer.value(first.attributes.registers),
        // Registers that spill go to private memory, which the library counts as a whole.
        ur_kernel_info_t::SPILL_MEM_SIZE => writer.array(
            &kernel
                .devices()
                .map(|kernel| u32::try_from(kernel.attributes.private_memory).unwrap_or(u32::MAX))
                .collect::<Vec<_>>(),
        ),
        _ => writer.unknown(property.0),
    }
}

/// `urKernelGetGroupInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_group_info<D: Driver>(
    kernel: &Object<Kernel<D>>,
    device: &Object<Device<D>>,
    property: ur_kernel_group_info_t,
    writer: InfoWriter,
) -> Result<()> {
    let limits = &device.properties;
    let kernel = kernel.on(device)?;
    let (attributes, declared) = (&kernel.attributes, &kernel.declared);
    match property {
        ur_kernel_group_info_t::GLOBAL_WORK_SIZE => {
            let most = [0, 1, 2].map(|axis| limits.max_block[axis] as usize * limits.max_grid[axis] as usize);
            writer.array(&most)
        }
        ur_kernel_group_info_t::WORK_GROUP_SIZE => writer.value(kernel.limits.threads as usize),
        // Told by the compiler in the program's metadata or in the image; 0 where neither says anything.
        ur_kernel_group_info_t::COMPILE_WORK_GROUP_SIZE => writer.array(&declared.required.unwrap_or_default()),
        ur_kernel_group_info_t::COMPILE_MAX_WORK_GROUP_SIZE => writer.array(&declared.most.unwrap_or_default()),
        ur_kernel_group_info_t::LOCAL_MEM_SIZE => writer.value(attributes.static_shared),
        ur_kernel_group_info_t::PREFERRED_WORK_GROUP_SIZE_MULTIPLE => writer.value(limits.warp_size as usize),
        ur_kernel_group_info_t::PRIVATE_MEM_SIZE => writer.value(attributes.private_memory),
        ur_kernel_group_info_t::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE => writer.value(declared.most_items.unwrap_or(0)),
        _ => writer.unknown(property.0),
    }
}

/// `urKernelGetSubGroupInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_sub_group_info<D: Driver>(
    kernel: &Object<Kernel<D>>,
    device: &Object<Device<D>>,
    property: ur_kernel_sub_group_info_t,
    writer: InfoWriter,
) -> Result<()> {
    let warp = device.properties.warp_size;
    let limits = &kernel.on(device)?.limits;
    let of_source = || kernel.program.target(device).ok()?.il.as_ref()?.kernel(&kernel.name());
    match property {
        ur_kernel_sub_group_info_t::MAX_SUB_GROUP_SIZE => writer.value(warp),
        ur_kernel_sub_group_info_t::MAX_NUM_SUB_GROUPS => writer.value(limits.threads.div_ceil(warp.max(1))),
        // 0 where the source asks for none, and for device code, which does not tell.
        ur_kernel_sub_group_info_t::COMPILE_NUM_SUB_GROUPS => {
            writer.value(of_source().and_then(|kernel| kernel.sub_groups).unwrap_or(0))
        }
        ur_kernel_sub_group_info_t::SUB_GROUP_SIZE_INTEL => {
            writer.value(of_source().and_then(|kernel| kernel.sub_group_size).unwrap_or(0))
        }
        _ => writer.unknown(property.0),
    }
}

/// `urKernelSetExecInfo`: all memory of the context is reachable by every kernel, so what is said of USM is checked and
/// changes nothing; the cache's share is told to the native library.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`, `INVALID_ENUMERATION`; what the native library answers.
pub fn set_exec_info<D: Driver>(
    kernel: &Object<Kernel<D>>,
    property: ur_kernel_exec_info_t,
    _properties: Option<&ur_kernel_exec_info_properties_t>,
    value: &[u8],
) -> Result<()> {
    const NAME: &str = "urKernelSetExecInfo";
    let size = value.len();
    let fits = match property {
        ur_kernel_exec_info_t::USM_INDIRECT_ACCESS => size == size_of::<ur_ffi::ur_bool_t>(),
        ur_kernel_exec_info_t::USM_PTRS => size.is_multiple_of(size_of::<*const c_void>()),
        ur_kernel_exec_info_t::CACHE_CONFIG => size == size_of::<ur_kernel_cache_config_t>(),
        _ => {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_ENUMERATION,
                format!("{NAME}: {:#x} is no property of this release", property.0),
            ));
        }
    };
    if !fits {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{NAME}: {size} bytes are not the size of {property:?}"),
        ));
    }
    if property == ur_kernel_exec_info_t::CACHE_CONFIG {
        let config = value.try_into().map(u32::from_ne_bytes).unwrap_or_default();
        return configure_cache(kernel, ur_kernel_cache_config_t(config));
    }
    Ok(())
}

/// Tells the native library, for every function behind the kernel.
fn configure_cache<D: Driver>(kernel: &Kernel<D>, config: ur_kernel_cache_config_t) -> Result<()> {
    let preference = match config {
        ur_kernel_cache_config_t::DEFAULT => CachePreference::None,
        ur_kernel_cache_config_t::LARGE_SLM => CachePreference::WorkGroupMemory,
        ur_kernel_cache_config_t::LARGE_DATA => CachePreference::DataCache,
        other => {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_ENUMERATION,
                format!("urKernelSetExecInfo: {:#x} is no cache configuration", other.0),
            ));
        }
    };
    for on_device in kernel.devices() {
        let driver = on_device.module.state.driver;
        driver.prefer_cache(on_device.plain.raw, preference)?;
        if let Some(function) = on_device.with_offset.known() {
            driver.prefer_cache(function.raw, preference)?;
        }
    }
    Ok(())
}
