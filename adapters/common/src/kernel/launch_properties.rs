//! Properties of a launch: all groups at once, groups in clusters, work-group memory of the launch's own.
//!
//! A launch without properties never comes here; whatever a property needs is checked here, before
//! anything is enqueued. Hints that change no result are accepted and change nothing.

use core::ffi::c_void;

use ur_ffi::{
    ur_kernel_launch_cluster_property_t, ur_kernel_launch_ext_properties_t, ur_kernel_launch_flags_t,
    ur_kernel_launch_workgroup_property_t, ur_result_t,
};

use crate::context::DeviceState;
use crate::driver::properties::DeviceProperties;
use crate::driver::{Driver, LaunchShape};
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::known_flags;

/// What a launch asks for beyond its sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchProperties {
    /// All work-groups are resident at once.
    pub cooperative: bool,
    /// Work-groups of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of work-group memory before those of the arguments.
    pub work_group_memory: usize,
}

impl LaunchProperties {
    /// Reads the list and what is chained to it.
    ///
    /// # Errors
    /// `INVALID_ENUMERATION` for unknown flags, `INVALID_VALUE` for an empty cluster, `UNSUPPORTED_FEATURE` for an
    /// extension structure that is not one of a launch's.
    pub fn read(list: Chained<'_, ur_kernel_launch_ext_properties_t>) -> Result<Self> {
        const LIST: &str = "launchPropList";
        known_flags(LIST, list.flags.bits(), ur_ffi::UR_KERNEL_LAUNCH_FLAGS_MASK)?;
        let cooperative = list.flags.contains(ur_kernel_launch_flags_t::COOPERATIVE);
        let mut properties = Self { cooperative, ..Self::default() };
        for link in list.chain(LIST) {
            let link = link?;
            if let Some(property) = link.downcast::<ur_kernel_launch_cluster_property_t>() {
                let cluster = property.clusterDim;
                if cluster.contains(&0) {
                    return Err(Error::new(
                        ur_result_t::ERROR_INVALID_VALUE,
                        format!("clusters of {cluster:?} work-groups have a dimension of 0"),
                    ));
                }
                properties.cluster = Some(cluster);
            } else if let Some(property) = link.downcast::<ur_kernel_launch_workgroup_property_t>() {
                properties.work_group_memory = property.workgroup_mem_size;
            } else {
                let stype = link.stype();
                return Err(Error::unsupported(&format!("an extension structure of type {stype:?} behind {LIST}")));
            }
        }
        Ok(properties)
    }

    /// Whether an ordinary launch does what is asked for.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.cooperative && self.cluster.is_none()
    }

    /// Whether the device can do it with that grid.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for what the device lacks, `INVALID_WORK_GROUP_SIZE` for a grid that is not made of whole
    /// clusters.
    #[cold]
    pub fn check(&self, name: &str, device: &DeviceProperties, grid: [u32; 3]) -> Result<()> {
        if self.cooperative && !device.cooperative_launch {
            return Err(Error::unsupported("a cooperative launch on this device"));
        }
        let Some(cluster) = self.cluster else { return Ok(()) };
        if !device.clusters {
            return Err(Error::unsupported("a launch in clusters on this device"));
        }
        if (0..3).any(|axis| !grid[axis].is_multiple_of(cluster[axis])) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE,
                format!("{name}: {grid:?} work-groups are not made of whole clusters of {cluster:?}"),
            ));
        }
        Ok(())
    }

    /// The native launch for these properties.
    ///
    /// # Safety
    /// As [`Driver::launch`].
    ///
    /// # Errors
    /// What the native library answers; `OUT_OF_RESOURCES` for more work-groups than can be resident at once.
    #[cold]
    pub unsafe fn launch<D: Driver>(
        &self,
        driver: &D,
        device: &DeviceState<D>,
        function: D::Function,
        shape: LaunchShape,
        stream: &D::Stream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let _scope = device.enter()?;
        // SAFETY: the caller's promise is the same.
        unsafe {
            match self.cluster {
                Some(cluster) => driver.launch_clusters(function, shape, cluster, self.cooperative, stream, arguments),
                None => driver.launch_cooperative(function, shape, stream, arguments),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::{NonNull, from_mut, null_mut};

    use ur_ffi::ur_structure_type_t;

    use super::*;

    fn read(list: &ur_kernel_launch_ext_properties_t) -> Result<LaunchProperties> {
        // SAFETY: each test chains structures of its own, which outlive this call.
        LaunchProperties::read(unsafe { Chained::new(NonNull::from(list)) })
    }

    #[test]
    fn an_empty_list_is_plain() {
        let read = read(&ur_kernel_launch_ext_properties_t::default());
        assert_eq!(read.unwrap(), LaunchProperties::default());
        assert!(LaunchProperties::default().is_plain());
    }

    #[test]
    fn a_chain_is_read_to_its_end() {
        let mut memory = ur_kernel_launch_workgroup_property_t {
            stype: ur_structure_type_t::KERNEL_LAUNCH_WORKGROUP_PROPERTY,
            pNext: null_mut(),
            workgroup_mem_size: 96,
        };
        let mut cluster = ur_kernel_launch_cluster_property_t {
            stype: ur_structure_type_t::KERNEL_LAUNCH_CLUSTER_PROPERTY,
            pNext: from_mut(&mut memory).cast(),
            clusterDim: [2, 1, 1],
        };
        let list = ur_kernel_launch_ext_properties_t {
            pNext: from_mut(&mut cluster).cast(),
            flags: ur_kernel_launch_flags_t::COOPERATIVE,
            ..Default::default()
        };
        let read = read(&list).unwrap();
        assert_eq!(read, LaunchProperties { cooperative: true, cluster: Some([2, 1, 1]), work_group_memory: 96 });
        assert!(!read.is_plain());
    }

    #[test]
    fn a_grid_that_is_not_made_of_whole_clusters_is_refused() {
        let device = DeviceProperties { clusters: true, ..DeviceProperties::default() };
        let asked = LaunchProperties { cluster: Some([2, 1, 1]), ..LaunchProperties::default() };
        asked.check("launch", &device, [4, 3, 1]).unwrap();
        let error = asked.check("launch", &device, [3, 4, 1]).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE);
        let error = asked.check("launch", &DeviceProperties::default(), [4, 3, 1]).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    }
}
