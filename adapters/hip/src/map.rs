//! Statuses of the runtime as UR codes, and the runtime's numbers as the engine's words.
//!
//! Where releases give a number two meanings, the version decides here. What a status means in one call alone is not
//! known here but in that call's method.

use ur_adapter::driver::memory::{Advice, MemoryLocation};
use ur_adapter::driver::{Access, MemoryKind};
use ur_ffi::ur_result_t;

use crate::sys::{
    HOST, HipError, MemLocation, Ordinal, PhysicalProperties, PointerAttributes, PoolProperties, flag, memory_type_5,
    memory_type_6,
};

/// The UR code of a failed call; `ADAPTER_SPECIFIC` where UR has no word for it.
pub(crate) fn result_of(status: HipError) -> ur_result_t {
    use ur_result_t as ur;
    match status {
        HipError::hipSuccess => ur::SUCCESS,
        HipError::hipErrorInvalidValue
        | HipError::hipErrorInvalidConfiguration
        | HipError::hipErrorInvalidPitchValue
        | HipError::hipErrorInvalidDevicePointer
        | HipError::hipErrorInvalidMemcpyDirection
        | HipError::hipErrorHostMemoryAlreadyRegistered
        | HipError::hipErrorHostMemoryNotRegistered => ur::ERROR_INVALID_VALUE,
        HipError::hipErrorOutOfMemory => ur::ERROR_OUT_OF_DEVICE_MEMORY,
        HipError::hipErrorNotInitialized | HipError::hipErrorDeinitialized => ur::ERROR_UNINITIALIZED,
        HipError::hipErrorNoDevice => ur::ERROR_DEVICE_NOT_FOUND,
        HipError::hipErrorInvalidDevice => ur::ERROR_INVALID_DEVICE,
        HipError::hipErrorInvalidContext | HipError::hipErrorContextIsDestroyed => ur::ERROR_INVALID_CONTEXT,
        HipError::hipErrorInvalidImage | HipError::hipErrorNoBinaryForGpu => ur::ERROR_INVALID_BINARY,
        HipError::hipErrorInvalidKernelFile | HipError::hipErrorInvalidSource => ur::ERROR_PROGRAM_BUILD_FAILURE,
        HipError::hipErrorSharedObjectSymbolNotFound => ur::ERROR_PROGRAM_LINK_FAILURE,
        HipError::hipErrorInvalidDeviceFunction => ur::ERROR_INVALID_KERNEL,
        HipError::hipErrorLaunchOutOfResources | HipError::hipErrorCooperativeLaunchTooLarge => {
            ur::ERROR_OUT_OF_RESOURCES
        }
        HipError::hipErrorInsufficientDriver
        | HipError::hipErrorNotSupported
        | HipError::hipErrorPeerAccessUnsupported
        | HipError::hipErrorUnsupportedLimit => ur::ERROR_UNSUPPORTED_FEATURE,
        HipError::hipErrorStreamCaptureUnsupported
        | HipError::hipErrorStreamCaptureIsolation
        | HipError::hipErrorStreamCaptureImplicit => ur::ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        HipError::hipErrorStreamCaptureInvalidated => ur::ERROR_GRAPH_CAPTURE_INVALIDATED,
        HipError::hipErrorStreamCaptureMerge => ur::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
        HipError::hipErrorStreamCaptureUnmatched => ur::ERROR_COMMAND_LIST_NOT_CAPTURING,
        HipError::hipErrorStreamCaptureUnjoined => ur::ERROR_GRAPH_UNJOINED_FORKS,
        HipError::hipErrorCapturedEvent => ur::ERROR_GRAPH_INTERNAL_EVENT,
        HipError::hipErrorStreamCaptureWrongThread => ur::ERROR_INVALID_OPERATION,
        // After these the device answers no call of the process any more.
        HipError::hipErrorECCNotCorrectable
        | HipError::hipErrorIllegalAddress
        | HipError::hipErrorLaunchTimeOut
        | HipError::hipErrorAssert
        | HipError::hipErrorLaunchFailure
        | HipError::hipErrorPriorLaunchFailure => ur::ERROR_DEVICE_LOST,
        _ => ur::ERROR_ADAPTER_SPECIFIC,
    }
}

/// The kind of memory behind a pointer; `None` when the runtime does not know the pointer. What the numbers mean
/// depends on the library's major version.
pub(crate) fn memory_kind(pointer: &PointerAttributes, rocm_6: bool) -> Option<MemoryKind> {
    let (host, device) = if rocm_6 {
        (memory_type_6::HOST, memory_type_6::DEVICE)
    } else {
        (memory_type_5::HOST, memory_type_5::DEVICE)
    };
    let managed = pointer.is_managed != 0 || (rocm_6 && pointer.memory_type == memory_type_6::MANAGED);
    match pointer.memory_type {
        _ if managed => Some(MemoryKind::Shared),
        kind if kind == host => Some(MemoryKind::Host),
        kind if kind == device => Some(MemoryKind::Device),
        _ => None,
    }
}

/// The device that stands for a location, the host's included.
pub(crate) fn location_device(location: MemoryLocation<Ordinal>) -> Ordinal {
    match location {
        MemoryLocation::Host => HOST,
        MemoryLocation::Device(device) => device,
    }
}

/// The runtime's number of advice, and the device it is about.
pub(crate) fn native_advice(advice: Advice<Ordinal>) -> (u32, Ordinal) {
    // Where advice is about no device, the runtime looks at none.
    let nowhere = HOST;
    match advice {
        Advice::ReadMostly(true) => (flag::hipMemAdviseSetReadMostly, nowhere),
        Advice::ReadMostly(false) => (flag::hipMemAdviseUnsetReadMostly, nowhere),
        Advice::PreferredLocation(Some(spot)) => (flag::hipMemAdviseSetPreferredLocation, location_device(spot)),
        Advice::PreferredLocation(None) => (flag::hipMemAdviseUnsetPreferredLocation, nowhere),
        Advice::AccessedBy(spot, true) => (flag::hipMemAdviseSetAccessedBy, location_device(spot)),
        Advice::AccessedBy(spot, false) => (flag::hipMemAdviseUnsetAccessedBy, location_device(spot)),
        Advice::CoarseGrain(true) => (flag::hipMemAdviseSetCoarseGrain, nowhere),
        Advice::CoarseGrain(false) => (flag::hipMemAdviseUnsetCoarseGrain, nowhere),
    }
}

/// The runtime's flags of access.
pub(crate) fn native_access(access: Access) -> u32 {
    match access {
        Access::None => flag::hipMemAccessFlagsProtNone,
        Access::ReadOnly => flag::hipMemAccessFlagsProtRead,
        Access::ReadWrite => flag::hipMemAccessFlagsProtReadWrite,
    }
}

/// What a pool of a device's memory is made with; a `max_size` of 0 is no limit.
pub(crate) fn pool_properties(device: Ordinal, max_size: usize) -> PoolProperties {
    PoolProperties {
        allocation_type: flag::hipMemAllocationTypePinned,
        handle_types: 0,
        location: MemLocation { kind: flag::hipMemLocationTypeDevice, device },
        security_attributes: 0,
        max_size,
        reserved: [0; 56],
    }
}

/// What physical memory of a device is made with.
pub(crate) fn physical_properties(device: Ordinal, shareable: bool) -> PhysicalProperties {
    PhysicalProperties {
        allocation_type: flag::hipMemAllocationTypePinned,
        handle_types: if shareable { flag::hipMemHandleTypePosixFileDescriptor } else { 0 },
        location: MemLocation { kind: flag::hipMemLocationTypeDevice, device },
        security_attributes: 0,
        flags: [0; 8],
    }
}

#[cfg(test)]
mod tests {
    use ur_adapter::driver::MemoryKind;
    use ur_ffi::ur_result_t;

    use super::{HipError, PointerAttributes, memory_kind};

    fn pointer(memory_type: i32, is_managed: i32) -> PointerAttributes {
        PointerAttributes { memory_type, is_managed, ..PointerAttributes::default() }
    }

    #[test]
    fn the_numbers_of_memory_types_are_those_of_the_librarys_version() {
        let kinds = |rocm_6| [0, 1, 2, 3, 10].map(|number| memory_kind(&pointer(number, 0), rocm_6));
        let (host, device, shared) = (Some(MemoryKind::Host), Some(MemoryKind::Device), Some(MemoryKind::Shared));
        assert_eq!(kinds(false), [host, device, None, None, None]);
        assert_eq!(kinds(true), [None, host, device, shared, None]);
    }

    #[test]
    fn managed_memory_is_shared_whatever_its_type_says() {
        for rocm_6 in [false, true] {
            assert_eq!(memory_kind(&pointer(1, 1), rocm_6), Some(MemoryKind::Shared));
        }
    }

    #[test]
    fn every_status_has_the_code_the_abi_means() {
        let expected: &[(ur_result_t, &[i32])] = &[
            (ur_result_t::ERROR_INVALID_VALUE, &[1, 9, 12, 17, 21, 712, 713]),
            (ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, &[2]),
            (ur_result_t::ERROR_UNINITIALIZED, &[3, 4]),
            (ur_result_t::ERROR_DEVICE_LOST, &[53, 214, 700, 702, 710, 719]),
            (ur_result_t::ERROR_INVALID_KERNEL, &[98]),
            (ur_result_t::ERROR_DEVICE_NOT_FOUND, &[100]),
            (ur_result_t::ERROR_INVALID_DEVICE, &[101]),
            (ur_result_t::ERROR_INVALID_BINARY, &[200, 209]),
            (ur_result_t::ERROR_INVALID_CONTEXT, &[201, 709]),
            (ur_result_t::ERROR_UNSUPPORTED_FEATURE, &[35, 215, 217, 801]),
            (ur_result_t::ERROR_PROGRAM_BUILD_FAILURE, &[218, 300]),
            (ur_result_t::ERROR_PROGRAM_LINK_FAILURE, &[302]),
            (ur_result_t::ERROR_OUT_OF_RESOURCES, &[701, 720]),
            (ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED, &[900, 905, 906]),
            (ur_result_t::ERROR_GRAPH_CAPTURE_INVALIDATED, &[901]),
            (ur_result_t::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT, &[902]),
            (ur_result_t::ERROR_COMMAND_LIST_NOT_CAPTURING, &[903]),
            (ur_result_t::ERROR_GRAPH_UNJOINED_FORKS, &[904]),
            (ur_result_t::ERROR_GRAPH_INTERNAL_EVENT, &[907]),
            (ur_result_t::ERROR_INVALID_OPERATION, &[908]),
        ];
        ur_adapter::testing::check_codes(HipError::ALL, HipError, expected);
    }
}
