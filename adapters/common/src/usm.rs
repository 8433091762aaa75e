//! Unified shared memory: plain allocation, release, and what a pointer names.
//!
//! The native library knows every allocation, so the engine keeps no registry: a pointer's kind, base, size
//! and device are asked of the library when somebody wants to know.

use core::ffi::c_void;

use ur_ffi::{
    UR_USM_ADVICE_FLAGS_MASK, ur_context_handle_t, ur_device_handle_t, ur_result_t, ur_usm_alloc_info_t, ur_usm_desc_t,
    ur_usm_pool_handle_t, ur_usm_type_t,
};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::{Driver, MemoryKind};
use crate::error::{Error, Result};
use crate::info::Answer;
use crate::object::{borrow, known_flags, null_pointer};

/// Alignment that every native allocation has, bytes.
const NATIVE_ALIGNMENT: u32 = 256;

/// The parameters that the three allocations share, checked.
struct Plain {
    name: &'static str,
    size: usize,
    out: *mut *mut c_void,
}

impl Plain {
    /// # Safety
    /// `desc` is null or valid, `out` null or writable.
    unsafe fn new(
        name: &'static str,
        desc: *const ur_usm_desc_t,
        pool: ur_usm_pool_handle_t,
        size: usize,
        out: *mut *mut c_void,
    ) -> Result<Self> {
        if out.is_null() {
            return Err(null_pointer(name));
        }
        if !pool.is_null() {
            return Err(Error::unsupported("allocation from a USM pool"));
        }
        if size == 0 {
            return Err(Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{name}: size is 0")));
        }
        // The descriptor's place says what it is; clients leave its `stype` 0.
        // SAFETY: null or valid by the caller's promise.
        if let Some(desc) = unsafe { desc.as_ref() } {
            known_flags(name, desc.hints.bits(), UR_USM_ADVICE_FLAGS_MASK)?;
            check_alignment(name, desc.align)?;
        }
        Ok(Self { name, size, out })
    }

    fn check_fits<D: Driver>(&self, device: &Device<D>) -> Result<()> {
        if self.size as u64 > device.properties.global_memory {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_USM_SIZE,
                format!("{}: {} bytes are more than the device has", self.name, self.size),
            ));
        }
        Ok(())
    }

    fn allocate<D: Driver>(&self, state: &DeviceState<D>, call: impl FnOnce(&D) -> Result<usize>) -> Result<()> {
        let _scope = state.enter()?;
        let pointer = call(state.driver)?;
        // SAFETY: `new` was promised a writable pointer.
        unsafe { self.out.write(core::ptr::with_exposed_provenance_mut(pointer)) };
        Ok(())
    }
}

fn check_alignment(name: &str, align: u32) -> Result<()> {
    if align != 0 && !align.is_power_of_two() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: an alignment of {align} is no power of two"),
        ));
    }
    if align > NATIVE_ALIGNMENT {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ALIGNMENT,
            format!("{name}: alignments above {NATIVE_ALIGNMENT} are not supported"),
        ));
    }
    Ok(())
}

/// `urUSMHostAlloc`.
///
/// # Safety
/// The C contract: handles live, `desc` null or valid, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_USM_SIZE`, `INVALID_VALUE` or `UNSUPPORTED_ALIGNMENT` for the alignment,
/// `OUT_OF_HOST_MEMORY`; what the native library answers.
pub unsafe fn host_alloc<D: Driver>(
    context: ur_context_handle_t,
    desc: *const ur_usm_desc_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    out: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (context, plain) =
        unsafe { (borrow::<Context<D>>(context)?, Plain::new("urUSMHostAlloc", desc, pool, size, out)?) };
    plain.allocate(&*context.first_state()?, |driver| driver.allocate_host(size)).map_err(|error| match error.code() {
        ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_HOST_MEMORY),
        _ => error,
    })
}

/// `urUSMDeviceAlloc`.
///
/// # Safety
/// As [`host_alloc`].
///
/// # Errors
/// As [`host_alloc`]; `OUT_OF_DEVICE_MEMORY`.
pub unsafe fn device_alloc<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    desc: *const ur_usm_desc_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    out: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (context, device, plain) = unsafe {
        (
            borrow::<Context<D>>(context)?,
            borrow::<Device<D>>(device)?,
            Plain::new("urUSMDeviceAlloc", desc, pool, size, out)?,
        )
    };
    plain.check_fits(device)?;
    plain.allocate(&*context.state(device)?, |driver| driver.allocate_device(size))
}

/// `urUSMSharedAlloc`; without a device the memory belongs to the context's first.
///
/// # Safety
/// As [`host_alloc`].
///
/// # Errors
/// As [`device_alloc`]; `UNSUPPORTED_FEATURE` on a device without managed memory.
pub unsafe fn shared_alloc<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    desc: *const ur_usm_desc_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    out: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (context, device, plain) = unsafe {
        (
            borrow::<Context<D>>(context)?,
            borrow::<Device<D>>(device)?,
            Plain::new("urUSMSharedAlloc", desc, pool, size, out)?,
        )
    };
    plain.check_fits(device)?;
    if !device.properties.managed_memory {
        return Err(Error::unsupported("managed memory on this device"));
    }
    plain.allocate(&*context.state(device)?, |driver| driver.allocate_shared(size))
}

/// `urUSMFree`, for plain and stream-ordered pointers alike. As with every native library, memory must not be
/// in use any more.
///
/// # Safety
/// The C contract: nothing uses the memory any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_MEM_OBJECT` for a pointer that is not the start of a live allocation.
pub unsafe fn free<D: Driver>(context: ur_context_handle_t, memory: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if memory.is_null() {
        return Err(null_pointer("urUSMFree"));
    }
    let state = context.first_state()?;
    let info =
        state.driver.pointer_info(memory.addr())?.filter(|info| info.base == memory.addr()).ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_MEM_OBJECT,
                format!("urUSMFree: {memory:p} is not the start of a live USM allocation"),
            )
        })?;
    match info.kind {
        MemoryKind::Host => state.driver.free_host(memory.addr()),
        MemoryKind::Device | MemoryKind::Shared => state.driver.free_device(memory.addr()),
    }
}

/// `urUSMGetMemAllocInfo`; a pointer no allocation contains is of type `UR_USM_TYPE_UNKNOWN`.
///
/// # Safety
/// The C contract of an info query; `memory` may be any pointer.
///
/// # Errors
/// As [`Answer`]; `INVALID_VALUE` for base, size or device of an unknown pointer.
pub unsafe fn get_alloc_info<D: Driver>(
    context: ur_context_handle_t,
    memory: *const c_void,
    property: ur_usm_alloc_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (context, answer) =
        unsafe { (borrow::<Context<D>>(context)?, Answer::new("urUSMGetMemAllocInfo", size, value, size_out)?) };
    if memory.is_null() {
        return Err(null_pointer("urUSMGetMemAllocInfo"));
    }
    let driver = crate::adapter::driver::<D>()?;
    let info = driver.pointer_info(memory.addr())?;
    let known = || {
        info.as_ref().ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("urUSMGetMemAllocInfo: {memory:p} lies in no USM allocation"),
            )
        })
    };
    match property {
        ur_usm_alloc_info_t::TYPE => answer.value(match info.as_ref().map(|info| info.kind) {
            None => ur_usm_type_t::UNKNOWN,
            Some(MemoryKind::Host) => ur_usm_type_t::HOST,
            Some(MemoryKind::Device) => ur_usm_type_t::DEVICE,
            Some(MemoryKind::Shared) => ur_usm_type_t::SHARED,
        }),
        ur_usm_alloc_info_t::BASE_PTR => answer.value(known()?.base),
        ur_usm_alloc_info_t::SIZE => answer.value(known()?.size),
        ur_usm_alloc_info_t::DEVICE => {
            let info = known()?;
            let owner = context.devices().find(|device| device.raw == info.device).or_else(|| context.devices().next());
            answer.value(owner.map_or(core::ptr::null_mut(), |device| device.handle()))
        }
        // Pools have no handles yet.
        ur_usm_alloc_info_t::POOL => answer.unsupported(),
        _ => answer.unknown(property.0),
    }
}
