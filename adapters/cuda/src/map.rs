//! Statuses of the driver as UR codes, and the driver's numbers as the engine's words.
//!
//! One function a direction and no call site's special case but those named here: what a status means in one
//! call alone is decided in that call's method.

use core::ffi::c_int;

use ur_adapter::driver::memory::{Advice, MemoryLocation};
use ur_adapter::driver::{Access, MemoryKind};
use ur_ffi::ur_result_t;

use crate::sys::{
    self, ALLOCATION_MANAGED, ALLOCATION_PINNED, CUdevice, CUmemAllocationProp, CUmemLocation, CUmemPoolProps,
    CUresult, LOCATION_DEVICE, LOCATION_HOST, MEMORY_TYPE_DEVICE, MEMORY_TYPE_HOST,
};

/// The UR code of a failed call; `ADAPTER_SPECIFIC` where UR has no word for it.
pub(crate) fn result_of(status: CUresult) -> ur_result_t {
    match status {
        CUresult::SUCCESS => ur_result_t::SUCCESS,
        CUresult::INVALID_VALUE | CUresult::HOST_MEMORY_ALREADY_REGISTERED | CUresult::HOST_MEMORY_NOT_REGISTERED => {
            ur_result_t::ERROR_INVALID_VALUE
        }
        CUresult::OUT_OF_MEMORY => ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY,
        CUresult::NOT_INITIALIZED | CUresult::DEINITIALIZED => ur_result_t::ERROR_UNINITIALIZED,
        CUresult::SYSTEM_NOT_READY => ur_result_t::ERROR_DEVICE_NOT_AVAILABLE,
        CUresult::NO_DEVICE => ur_result_t::ERROR_DEVICE_NOT_FOUND,
        CUresult::INVALID_DEVICE => ur_result_t::ERROR_INVALID_DEVICE,
        CUresult::INVALID_CONTEXT | CUresult::CONTEXT_IS_DESTROYED => ur_result_t::ERROR_INVALID_CONTEXT,
        CUresult::INVALID_IMAGE | CUresult::NO_BINARY_FOR_GPU => ur_result_t::ERROR_INVALID_BINARY,
        CUresult::INVALID_PTX | CUresult::UNSUPPORTED_PTX_VERSION | CUresult::INVALID_SOURCE => {
            ur_result_t::ERROR_PROGRAM_BUILD_FAILURE
        }
        CUresult::JIT_COMPILER_NOT_FOUND | CUresult::JIT_COMPILATION_DISABLED => {
            ur_result_t::ERROR_COMPILER_NOT_AVAILABLE
        }
        CUresult::SHARED_OBJECT_SYMBOL_NOT_FOUND => ur_result_t::ERROR_PROGRAM_LINK_FAILURE,
        // Of blocks a cluster has too many; they are work-groups here.
        CUresult::INVALID_CLUSTER_SIZE => ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE,
        CUresult::LAUNCH_OUT_OF_RESOURCES | CUresult::COOPERATIVE_LAUNCH_TOO_LARGE => {
            ur_result_t::ERROR_OUT_OF_RESOURCES
        }
        CUresult::CALL_REQUIRES_NEWER_DRIVER
        | CUresult::NOT_SUPPORTED
        | CUresult::PEER_ACCESS_UNSUPPORTED
        | CUresult::UNSUPPORTED_LIMIT
        | CUresult::UNSUPPORTED_EXEC_AFFINITY
        | CUresult::UNSUPPORTED_DEVSIDE_SYNC
        | CUresult::COMPAT_NOT_SUPPORTED_ON_DEVICE
        | CUresult::CDP_NOT_SUPPORTED => ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        CUresult::STREAM_CAPTURE_UNSUPPORTED
        | CUresult::STREAM_CAPTURE_ISOLATION
        | CUresult::STREAM_CAPTURE_IMPLICIT => ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        CUresult::STREAM_CAPTURE_INVALIDATED => ur_result_t::ERROR_GRAPH_CAPTURE_INVALIDATED,
        CUresult::STREAM_CAPTURE_MERGE => ur_result_t::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
        CUresult::STREAM_CAPTURE_UNMATCHED => ur_result_t::ERROR_COMMAND_LIST_NOT_CAPTURING,
        CUresult::STREAM_CAPTURE_UNJOINED => ur_result_t::ERROR_GRAPH_UNJOINED_FORKS,
        CUresult::CAPTURED_EVENT => ur_result_t::ERROR_GRAPH_INTERNAL_EVENT,
        CUresult::STREAM_CAPTURE_WRONG_THREAD => ur_result_t::ERROR_INVALID_OPERATION,
        _ if is_sticky(status) => ur_result_t::ERROR_DEVICE_LOST,
        _ => ur_result_t::ERROR_ADAPTER_SPECIFIC,
    }
}

/// Whether the context is lost after that status: every later call on it answers the same.
pub(crate) fn is_sticky(status: CUresult) -> bool {
    matches!(
        status,
        // Of a context that exists: the device has gone. Making the context is told apart at that call.
        CUresult::DEVICE_UNAVAILABLE
            | CUresult::ECC_UNCORRECTABLE
            | CUresult::NVLINK_UNCORRECTABLE
            | CUresult::CONTAINED
            | CUresult::ILLEGAL_ADDRESS
            | CUresult::LAUNCH_TIMEOUT
            | CUresult::ASSERT
            | CUresult::HARDWARE_STACK_ERROR
            | CUresult::ILLEGAL_INSTRUCTION
            | CUresult::MISALIGNED_ADDRESS
            | CUresult::INVALID_ADDRESS_SPACE
            | CUresult::INVALID_PC
            | CUresult::LAUNCH_FAILED
            | CUresult::TENSOR_MEMORY_LEAK
            | CUresult::MPS_CLIENT_TERMINATED
            | CUresult::EXTERNAL_DEVICE
    )
}

/// The kind of memory behind a pointer; `None` when the driver does not know the pointer.
pub(crate) fn memory_kind(memory_type: u64, managed: bool) -> Option<MemoryKind> {
    match memory_type {
        _ if managed => Some(MemoryKind::Shared),
        MEMORY_TYPE_HOST => Some(MemoryKind::Host),
        MEMORY_TYPE_DEVICE => Some(MemoryKind::Device),
        _ => None,
    }
}

/// What the driver calls a pool of that kind of memory.
pub(crate) fn pool_properties(kind: MemoryKind, device: CUdevice, max_size: usize) -> CUmemPoolProps {
    let on_device = CUmemLocation { kind: LOCATION_DEVICE, id: device.0 };
    let (allocation_type, location) = match kind {
        MemoryKind::Device => (ALLOCATION_PINNED, on_device),
        MemoryKind::Host => (ALLOCATION_PINNED, CUmemLocation { kind: LOCATION_HOST, id: 0 }),
        MemoryKind::Shared => (ALLOCATION_MANAGED, on_device),
    };
    CUmemPoolProps {
        allocation_type,
        handle_types: 0,
        location,
        security_attributes: core::ptr::null_mut(),
        max_size,
        reserved: [0; 56],
    }
}

/// The device that stands for a location, the host's included.
pub(crate) fn location_device(location: MemoryLocation<CUdevice>) -> CUdevice {
    match location {
        MemoryLocation::Host => sys::DEVICE_CPU,
        MemoryLocation::Device(device) => device,
    }
}

/// The driver's number of advice, and the device it is about; `None` for what the driver has no word for.
pub(crate) fn native_advice(advice: Advice<CUdevice>) -> Option<(c_int, CUdevice)> {
    use sys::advice as of;
    // Where advice is about no device, the driver looks at none.
    let nowhere = sys::DEVICE_CPU;
    Some(match advice {
        Advice::ReadMostly(true) => (of::SET_READ_MOSTLY, nowhere),
        Advice::ReadMostly(false) => (of::UNSET_READ_MOSTLY, nowhere),
        Advice::PreferredLocation(Some(location)) => (of::SET_PREFERRED_LOCATION, location_device(location)),
        Advice::PreferredLocation(None) => (of::UNSET_PREFERRED_LOCATION, nowhere),
        Advice::AccessedBy(spot, true) => (of::SET_ACCESSED_BY, location_device(spot)),
        Advice::AccessedBy(spot, false) => (of::UNSET_ACCESSED_BY, location_device(spot)),
        Advice::CoarseGrain(_) => return None,
    })
}

/// The driver's flags of access.
pub(crate) fn native_access(access: Access) -> c_int {
    match access {
        Access::None => sys::ACCESS_NONE,
        Access::ReadOnly => sys::ACCESS_READ,
        Access::ReadWrite => sys::ACCESS_READ_WRITE,
    }
}

/// What physical memory of a device is made with.
pub(crate) fn physical_properties(device: CUdevice, shareable: bool) -> CUmemAllocationProp {
    CUmemAllocationProp {
        allocation_type: sys::ALLOCATION_PINNED,
        handle_types: if shareable { sys::HANDLE_POSIX } else { 0 },
        location: CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 },
        security_attributes: core::ptr::null_mut(),
        flags: [0; 8],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_the_code_the_abi_means() {
        ur_adapter::testing::check_codes(
            CUresult::ALL,
            CUresult,
            &[
                (ur_result_t::ERROR_INVALID_VALUE, &[1, 712, 713]),
                (ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, &[2]),
                (ur_result_t::ERROR_UNINITIALIZED, &[3, 4]),
                (ur_result_t::ERROR_DEVICE_NOT_AVAILABLE, &[802]),
                (ur_result_t::ERROR_DEVICE_NOT_FOUND, &[100]),
                (ur_result_t::ERROR_INVALID_DEVICE, &[101]),
                (ur_result_t::ERROR_INVALID_CONTEXT, &[201, 709]),
                (ur_result_t::ERROR_INVALID_BINARY, &[200, 209]),
                (ur_result_t::ERROR_PROGRAM_BUILD_FAILURE, &[218, 222, 300]),
                (ur_result_t::ERROR_COMPILER_NOT_AVAILABLE, &[221, 223]),
                (ur_result_t::ERROR_PROGRAM_LINK_FAILURE, &[302]),
                (ur_result_t::ERROR_OUT_OF_RESOURCES, &[701, 720]),
                (ur_result_t::ERROR_INVALID_WORK_GROUP_SIZE, &[912]),
                (ur_result_t::ERROR_UNSUPPORTED_FEATURE, &[36, 215, 217, 224, 225, 801, 804, 811]),
                (ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED, &[900, 905, 906]),
                (ur_result_t::ERROR_GRAPH_CAPTURE_INVALIDATED, &[901]),
                (ur_result_t::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT, &[902]),
                (ur_result_t::ERROR_COMMAND_LIST_NOT_CAPTURING, &[903]),
                (ur_result_t::ERROR_GRAPH_UNJOINED_FORKS, &[904]),
                (ur_result_t::ERROR_GRAPH_INTERNAL_EVENT, &[907]),
                (ur_result_t::ERROR_INVALID_OPERATION, &[908]),
                // Exactly the failures that end a context.
                (
                    ur_result_t::ERROR_DEVICE_LOST,
                    &[46, 214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911],
                ),
            ],
        );
    }

    #[test]
    fn a_pool_is_named_by_type_and_location_of_its_memory() {
        let named = |kind| {
            let properties = pool_properties(kind, CUdevice(3), 64);
            assert_eq!((properties.handle_types, properties.max_size), (0, 64));
            (properties.allocation_type, properties.location.kind, properties.location.id)
        };
        assert_eq!(named(MemoryKind::Device), (1, 1, 3));
        assert_eq!(named(MemoryKind::Host), (1, 2, 0));
        assert_eq!(named(MemoryKind::Shared), (2, 1, 3));
    }

    #[test]
    fn a_pointer_nobody_knows_has_no_kind() {
        assert_eq!(memory_kind(0, false), None);
        assert_eq!(memory_kind(3, false), None);
        assert_eq!(memory_kind(1, false), Some(MemoryKind::Host));
        assert_eq!(memory_kind(2, false), Some(MemoryKind::Device));
        assert_eq!(memory_kind(2, true), Some(MemoryKind::Shared));
        assert_eq!(memory_kind(1, true), Some(MemoryKind::Shared));
    }
}
