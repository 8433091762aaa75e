//! How many work-groups of a cooperative launch can be resident at once.
//!
//! Asked of the native library a compute unit at a time; nothing is kept.

use ur_ffi::ur_result_t;

use crate::device::Device;
use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;

/// `urKernelSuggestMaxCooperativeGroupCount`.
///
/// # Errors
/// `INVALID_WORK_GROUP_SIZE` for groups that the kernel cannot have, `OUT_OF_RESOURCES` for more work-group memory than the
/// device has, `UNSUPPORTED_FEATURE` on a device without cooperative launches.
pub fn suggest_group_count<D: Driver>(
    kernel: &Object<Kernel<D>>,
    device: &Object<Device<D>>,
    local: &[usize],
    dynamic_shared: usize,
    out: Out<'_, u32>,
) -> Result<()> {
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
            format!("urKernelSuggestMaxCooperativeGroupCount: work-groups of {local:?}; the kernel has groups of 1 to {most} work-items"),
        )
    })?;
    let dynamic_shared = if dynamic_shared > 0 { kernel.local_bytes(dynamic_shared)? } else { 0 };
    let state = &kernel.module.state;
    let blocks = {
        let _scope = state.enter()?;
        state.driver.resident_blocks(kernel.plain.raw, threads, dynamic_shared)?
    };
    out.write(blocks.saturating_mul(device.properties.compute_units));
    Ok(())
}
