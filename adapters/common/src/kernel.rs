//! Kernels: a named entry point, looked up once for every device its program was built for.

use core::ffi::{CStr, c_char, c_void};
use std::ffi::CString;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_dditable_t, ur_device_handle_t, ur_kernel_cache_config_t, ur_kernel_exec_info_properties_t,
    ur_kernel_exec_info_t, ur_kernel_group_info_t, ur_kernel_handle_t, ur_kernel_handle_t_, ur_kernel_info_t,
    ur_kernel_sub_group_info_t, ur_program_handle_t, ur_result_t,
};

use crate::device::Device;
use crate::driver::{Driver, FunctionAttributes};
use crate::error::{Error, Result};
use crate::info::Answer;
use crate::object::{Body, Object, borrow, null_pointer};
use crate::program::{Module, Program};
use crate::work_size::Limits;

/// A native function with what a launch needs to know of it.
pub struct Function<D: Driver> {
    /// The native function.
    pub raw: D::Function,
    /// Sizes of its parameters, where the library can tell.
    pub parameters: Option<Vec<usize>>,
}

/// A kernel on one device.
#[repr(C)]
pub struct DeviceKernel<D: Driver> {
    /// The device.
    pub device: Arc<Object<Device<D>>>,
    /// The module it lives in; keeps the code loaded.
    pub module: Arc<Module<D>>,
    /// The function itself.
    pub plain: Function<D>,
    /// The variant that takes a global offset, `NAME_with_offset`, if the program has one.
    pub with_offset: Option<Function<D>>,
    /// What the device and the plain function allow of a launch's sizes.
    pub limits: Limits,
    /// Limits and resources of the plain function.
    pub attributes: FunctionAttributes,
    /// The block size that fills the device best without dynamic work-group memory.
    pub suggested_block: u32,
}

impl<D: Driver> DeviceKernel<D> {
    fn load(module: Arc<Module<D>>, name: &CStr) -> Result<Self> {
        let scope = module.state.enter()?;
        let plain = Self::function(&module, name)?.ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_KERNEL_NAME,
                format!("urKernelCreate: the program has no kernel named `{}`", name.to_string_lossy()),
            )
        })?;
        let attributes = module.state.driver.function_attributes(plain.raw)?;
        let mut offset_name = name.to_bytes().to_vec();
        offset_name.extend_from_slice(b"_with_offset");
        // A C string has no NUL inside, and neither has the suffix.
        let offset_name = CString::new(offset_name).unwrap_or_default();
        let with_offset = Self::function(&module, &offset_name)?;
        // Asked now, so that no launch has to. A library that cannot say leaves it to the function's own limit.
        let limit = attributes.max_threads_per_block.max(1);
        let suggested = module.state.driver.suggested_block_size(plain.raw, 0, limit);
        drop(scope);
        let device = &module.state.device.properties;
        let limits =
            Limits { threads: attributes.max_threads_per_block, block: device.max_block, grid: device.max_grid };
        Ok(Self {
            device: Arc::clone(&module.state.device),
            limits,
            module,
            plain,
            with_offset,
            attributes,
            suggested_block: suggested.unwrap_or(limit).clamp(1, limit),
        })
    }

    fn function(module: &Module<D>, name: &CStr) -> Result<Option<Function<D>>> {
        let driver = module.state.driver;
        let Some(raw) = driver.function(module.raw, name)? else { return Ok(None) };
        Ok(Some(Function { raw, parameters: driver.function_parameters(raw)? }))
    }
}

/// What the kernel's handle names.
pub struct Kernel<D: Driver> {
    /// The program it comes from.
    pub program: Arc<Object<Program<D>>>,
    name: CString,
    devices: SmallVec<[DeviceKernel<D>; 1]>,
}

impl<D: Driver> Body for Kernel<D> {
    type Opaque = ur_kernel_handle_t_;
    const TAG: u32 = 0x5552_0008;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_KERNEL;
    const NAME: &'static str = "kernel";

    fn table() -> &'static ur_dditable_t {
        &D::cell().table
    }
}

impl<D: Driver> Kernel<D> {
    /// The kernel on one device.
    ///
    /// # Errors
    /// `INVALID_KERNEL` when the program was not built for the device.
    #[inline]
    pub fn on(&self, device: &Object<Device<D>>) -> Result<&DeviceKernel<D>> {
        self.devices.iter().find(|kernel| core::ptr::eq(Arc::as_ptr(&kernel.device), device)).ok_or_else(|| {
            Error::new(ur_result_t::ERROR_INVALID_KERNEL, "the kernel's program has no code for that device")
        })
    }

    /// The kernel's name.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.name.to_string_lossy()
    }
}

/// `urKernelCreate`.
///
/// # Safety
/// The C contract: the handle is live, `name` a NUL-terminated string, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_PROGRAM_EXECUTABLE` for a program that is not built; `INVALID_KERNEL_NAME`.
pub unsafe fn create<D: Driver>(
    program: ur_program_handle_t,
    name: *const c_char,
    out: *mut ur_kernel_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let program = unsafe { borrow::<Program<D>>(program) }?;
    if name.is_null() || out.is_null() {
        return Err(null_pointer("urKernelCreate"));
    }
    // SAFETY: NUL-terminated by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
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
    let devices =
        modules.into_iter().map(|module| DeviceKernel::load(module, name)).collect::<Result<SmallVec<_>>>()?;
    let kernel = Object::new(Kernel { program: program.share(), name: name.to_owned(), devices });
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(kernel)) };
    Ok(())
}

/// `urKernelGetInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_info<D: Driver>(
    kernel: ur_kernel_handle_t,
    property: ur_kernel_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (kernel, answer) =
        unsafe { (borrow::<Kernel<D>>(kernel)?, Answer::new("urKernelGetInfo", size, value, size_out)?) };
    let first = &kernel.devices[0];
    match property {
        ur_kernel_info_t::FUNCTION_NAME => answer.text(&kernel.name()),
        ur_kernel_info_t::NUM_ARGS => match &first.plain.parameters {
            Some(parameters) => answer.value(u32::try_from(parameters.len()).unwrap_or(u32::MAX)),
            None => answer.unsupported(),
        },
        ur_kernel_info_t::REFERENCE_COUNT => answer.value(kernel.references()),
        ur_kernel_info_t::CONTEXT => answer.value(kernel.program.context.handle()),
        ur_kernel_info_t::PROGRAM => answer.value(kernel.program.handle()),
        ur_kernel_info_t::ATTRIBUTES => answer.text(""),
        ur_kernel_info_t::NUM_REGS => answer.value(first.attributes.registers),
        // Registers that spill go to private memory, which the library counts as a whole.
        ur_kernel_info_t::SPILL_MEM_SIZE => answer.array(
            &kernel
                .devices
                .iter()
                .map(|kernel| u32::try_from(kernel.attributes.private_memory).unwrap_or(u32::MAX))
                .collect::<Vec<_>>(),
        ),
        _ => answer.unknown(property.0),
    }
}

/// `urKernelGetGroupInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_group_info<D: Driver>(
    kernel: ur_kernel_handle_t,
    device: ur_device_handle_t,
    property: ur_kernel_group_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (kernel, device, answer) = unsafe {
        (
            borrow::<Kernel<D>>(kernel)?,
            borrow::<Device<D>>(device)?,
            Answer::new("urKernelGetGroupInfo", size, value, size_out)?,
        )
    };
    let limits = &device.properties;
    let attributes = &kernel.on(device)?.attributes;
    match property {
        ur_kernel_group_info_t::GLOBAL_WORK_SIZE => {
            let most = [0, 1, 2].map(|axis| limits.max_block[axis] as usize * limits.max_grid[axis] as usize);
            answer.array(&most)
        }
        ur_kernel_group_info_t::WORK_GROUP_SIZE => answer.value(attributes.max_threads_per_block as usize),
        // The program carries no required size.
        ur_kernel_group_info_t::COMPILE_WORK_GROUP_SIZE | ur_kernel_group_info_t::COMPILE_MAX_WORK_GROUP_SIZE => {
            answer.array(&[0usize; 3])
        }
        ur_kernel_group_info_t::LOCAL_MEM_SIZE => answer.value(attributes.static_shared),
        ur_kernel_group_info_t::PREFERRED_WORK_GROUP_SIZE_MULTIPLE => answer.value(limits.warp_size as usize),
        ur_kernel_group_info_t::PRIVATE_MEM_SIZE => answer.value(attributes.private_memory),
        ur_kernel_group_info_t::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE => answer.value(0usize),
        _ => answer.unknown(property.0),
    }
}

/// `urKernelGetSubGroupInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_sub_group_info<D: Driver>(
    kernel: ur_kernel_handle_t,
    device: ur_device_handle_t,
    property: ur_kernel_sub_group_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (kernel, device, answer) = unsafe {
        (
            borrow::<Kernel<D>>(kernel)?,
            borrow::<Device<D>>(device)?,
            Answer::new("urKernelGetSubGroupInfo", size, value, size_out)?,
        )
    };
    let warp = device.properties.warp_size;
    let attributes = &kernel.on(device)?.attributes;
    match property {
        ur_kernel_sub_group_info_t::MAX_SUB_GROUP_SIZE => answer.value(warp),
        ur_kernel_sub_group_info_t::MAX_NUM_SUB_GROUPS => {
            answer.value(attributes.max_threads_per_block.div_ceil(warp.max(1)))
        }
        // No kernel asks for a number or size of its own.
        ur_kernel_sub_group_info_t::COMPILE_NUM_SUB_GROUPS | ur_kernel_sub_group_info_t::SUB_GROUP_SIZE_INTEL => {
            answer.value(0u32)
        }
        _ => answer.unknown(property.0),
    }
}

/// `urKernelSetExecInfo`: all memory of the context is reachable by every kernel and caches are configured by
/// the driver, so the hints are checked and change nothing.
///
/// # Safety
/// The C contract: `value` is readable for `size` bytes.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`, `INVALID_ENUMERATION`.
pub unsafe fn set_exec_info<D: Driver>(
    kernel: ur_kernel_handle_t,
    property: ur_kernel_exec_info_t,
    size: usize,
    _properties: *const ur_kernel_exec_info_properties_t,
    value: *const c_void,
) -> Result<()> {
    const NAME: &str = "urKernelSetExecInfo";
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Kernel<D>>(kernel) }?;
    if value.is_null() {
        return Err(null_pointer(NAME));
    }
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
    Ok(())
}
