//! What a native function must be allowed before some launches: more work-group memory than every device gives, and
//! clusters of more work-groups than every device has.
//!
//! Both are limits that the native library keeps for the function, not for a launch. A limit that followed the launches
//! would be wrong for another thread's launch between setting and launching, so each is raised once, at first need, to
//! the most that the function may have, and never lowered. Threads that come here together raise it to the same value.
//! A launch that needs neither never comes here.

use core::sync::atomic::{AtomicBool, Ordering};

use ur_ffi::ur_result_t;

use crate::driver::Driver;
use crate::kernel::DeviceKernel;
use crate::object::error::{Error, Result};

/// Work-groups of a cluster on every device that has clusters.
const PORTABLE_CLUSTER: u64 = 8;

/// Which limits of a kernel's functions were raised.
#[derive(Debug, Default)]
pub struct Permissions {
    local: AtomicBool,
    clusters: AtomicBool,
}

/// So many bytes behind their work-group memory may kernels that came as SPIR-V read.
///
/// dpnp's boolean indexing does (65 elements of 8 bytes where 7 were asked for), and uses nothing of it. On other devices that meets
/// memory; on an H200 it faults at the next multiple of 128 bytes (`docs/probes/shared_bounds.c`), and the device is lost.
const BEHIND: usize = 1024;

impl<D: Driver> DeviceKernel<D> {
    /// The bytes of dynamic work-group memory that a launch is given which asks for some.
    ///
    /// # Errors
    /// As [`DeviceKernel::allow_local`].
    pub fn local_bytes(&self, asked: usize) -> Result<usize> {
        self.allow_local(asked)?;
        let is_il = self.module.with_offset.is_some();
        let most = self.module.state.device.properties.shared_per_block;
        let given = asked + BEHIND;
        Ok(if is_il && given + self.attributes.static_shared <= most { given } else { asked })
    }

    /// Lets launches use so much dynamic work-group memory.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` beyond the device's limit; what the native library answers.
    pub fn allow_local(&self, bytes: usize) -> Result<()> {
        let properties = &self.module.state.device.properties;
        let total = bytes.saturating_add(self.attributes.static_shared);
        if total <= properties.shared_per_block {
            return Ok(());
        }
        let most = properties.shared_per_block_optin;
        if total > most {
            return Err(Error::new(
                ur_result_t::ERROR_OUT_OF_RESOURCES,
                format!("{total} bytes of work-group memory; the device has {most}"),
            ));
        }
        if self.permissions.local.load(Ordering::Acquire) {
            return Ok(());
        }
        let state = &self.module.state;
        let _scope = state.enter()?;
        state.driver.allow_dynamic_shared(self.plain.raw, most - self.attributes.static_shared)?;
        if let Some(variant) = self.with_offset.known() {
            let own = state.driver.function_attributes(variant.raw)?.static_shared;
            state.driver.allow_dynamic_shared(variant.raw, most.saturating_sub(own))?;
        }
        self.permissions.local.store(true, Ordering::Release);
        Ok(())
    }

    /// Lets launches have clusters of that many work-groups, where the device can.
    ///
    /// # Errors
    /// What the native library answers. Whether the device can is for the launch to tell.
    pub fn allow_cluster(&self, cluster: [u32; 3]) -> Result<()> {
        let groups = cluster.iter().fold(1_u64, |groups, &side| groups.saturating_mul(side.into()));
        if groups <= PORTABLE_CLUSTER || self.permissions.clusters.load(Ordering::Acquire) {
            return Ok(());
        }
        let state = &self.module.state;
        let _scope = state.enter()?;
        state.driver.allow_large_clusters(self.plain.raw)?;
        if let Some(variant) = self.with_offset.known() {
            state.driver.allow_large_clusters(variant.raw)?;
        }
        self.permissions.clusters.store(true, Ordering::Release);
        Ok(())
    }
}
