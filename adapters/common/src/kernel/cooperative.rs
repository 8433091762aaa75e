//! How many work-groups of a cooperative launch can be resident at once.
//!
//! Asked of the native library a compute unit at a time; nothing is kept.

use ur_ffi::{ur_device_handle_t, ur_kernel_handle_t, ur_result_t};

use crate::device::Device;
use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::kernel::work_size::read_sizes;
use crate::object::error::{Error, Result};
use crate::object::{borrow, null_pointer};

/// `urKernelSuggestMaxCooperativeGroupCount`.
///
/// # Safety
/// The C contract: `local` holds `dimensions` values, `out` is writable.
///
/// # Errors
/// `INVALID_WORK_DIMENSION`, `INVALID_WORK_GROUP_SIZE` for groups that the kernel cannot have, `OUT_OF_RESOURCES` for
/// more work-group memory than the device has, `UNSUPPORTED_FEATURE` on a device without cooperative launches.
///
/// # Unsupported
/// - needs: a device with cooperative launches
pub unsafe fn suggest_group_count<D: Driver>(
    kernel: ur_kernel_handle_t,
    device: ur_device_handle_t,
    dimensions: u32,
    local: *const usize,
    dynamic_shared: usize,
    out: *mut u32,
) -> Result<()> {
    const NAME: &str = "urKernelSuggestMaxCooperativeGroupCount";
    // SAFETY: the caller's promises are the same.
    let (kernel, device) = unsafe { (borrow::<Kernel<D>>(kernel)?, borrow::<Device<D>>(device)?) };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    // SAFETY: holds `dimensions` values by the caller's promise.
    let local = unsafe { read_sizes(dimensions, local, 1) }?.ok_or_else(|| null_pointer(NAME))?;
    let kernel = kernel.on(device)?;
    if !device.properties.cooperative_launch {
        return Err(Error::unsupported("a cooperative launch on this device"));
    }
    let threads = local.iter().try_fold(1_usize, |all, size| all.checked_mul(*size)).unwrap_or(usize::MAX);
    let most = kernel.limits.threads;
    // Their shape is not looked at: SYCL gives sizes in its own order of dimensions here, the last one fastest.
    let threads = u32::try_from(threads).ok().filter(|threads| (1..=most).contains(threads));
    let threads = threads.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE,
            format!("{NAME}: work-groups of {local:?}; the kernel has groups of 1 to {most} work-items"),
        )
    })?;
    if dynamic_shared > 0 {
        kernel.allow_local(dynamic_shared)?;
    }
    let state = &kernel.module.state;
    let blocks = {
        let _scope = state.enter()?;
        state.driver.resident_blocks(kernel.plain.raw, threads, dynamic_shared)?
    };
    // SAFETY: not null, so writable.
    unsafe { out.write(blocks.saturating_mul(device.properties.compute_units)) };
    Ok(())
}
