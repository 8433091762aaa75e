//! Statuses of the driver as UR codes, and the driver's numbers as the engine's words.
//!
//! One function a direction and no call site's special case but those named here: what a status means in one
//! call alone is decided in that call's method.

use ur_adapter::driver::{MemoryKind, adapter_specific};
use ur_adapter::error::{Error, Result};
use ur_ffi::ur_result_t;

use crate::sys::{CUresult, MEMORY_TYPE_DEVICE, MEMORY_TYPE_HOST, Symbols};

/// The UR code of a failed call; `ADAPTER_SPECIFIC` where UR has no word for it.
pub(crate) fn result_of(status: CUresult) -> ur_result_t {
    match status {
        CUresult::SUCCESS => ur_result_t::SUCCESS,
        CUresult::INVALID_VALUE => ur_result_t::ERROR_INVALID_VALUE,
        CUresult::OUT_OF_MEMORY => ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY,
        CUresult::NOT_INITIALIZED | CUresult::DEINITIALIZED => ur_result_t::ERROR_UNINITIALIZED,
        CUresult::DEVICE_UNAVAILABLE | CUresult::SYSTEM_NOT_READY => ur_result_t::ERROR_DEVICE_NOT_AVAILABLE,
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
        | CUresult::STREAM_CAPTURE_INVALIDATED
        | CUresult::STREAM_CAPTURE_IMPLICIT
        | CUresult::CAPTURED_EVENT => ur_result_t::ERROR_INVALID_OPERATION,
        _ if is_sticky(status) => ur_result_t::ERROR_DEVICE_LOST,
        _ => ur_result_t::ERROR_ADAPTER_SPECIFIC,
    }
}

/// Whether the context is lost after that status: every later call on it answers the same.
pub(crate) fn is_sticky(status: CUresult) -> bool {
    matches!(
        status,
        CUresult::ECC_UNCORRECTABLE
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

/// Success, or the error of a native call with the driver's own text.
#[inline]
pub(crate) fn check(symbols: &Symbols, call: &'static str, status: CUresult) -> Result<()> {
    if status == CUresult::SUCCESS { Ok(()) } else { Err(failed(symbols, call, status)) }
}

/// The error of a native call.
#[cold]
pub(crate) fn failed(symbols: &Symbols, call: &'static str, status: CUresult) -> Error {
    match result_of(status) {
        ur_result_t::ERROR_ADAPTER_SPECIFIC => adapter_specific(call, status.0, &symbols.text(status)),
        code => Error::native(code, call, status.0, &symbols.text(status)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_success_maps_to_success() {
        for (status, name) in CUresult::ALL {
            let success = result_of(*status) == ur_result_t::SUCCESS;
            assert_eq!(success, *status == CUresult::SUCCESS, "{name}");
        }
        assert_eq!(result_of(CUresult(123_456)), ur_result_t::ERROR_ADAPTER_SPECIFIC);
        assert_eq!(result_of(CUresult(-1)), ur_result_t::ERROR_ADAPTER_SPECIFIC);
    }

    /// The statuses of `ALL` that a predicate holds for, by number.
    fn those(predicate: impl Fn(CUresult) -> bool) -> Vec<i32> {
        CUresult::ALL.iter().filter(|(status, _)| predicate(*status)).map(|(status, _)| status.0).collect()
    }

    #[test]
    fn exactly_the_failures_that_end_a_context_lose_the_device() {
        let lost = those(|status| result_of(status) == ur_result_t::ERROR_DEVICE_LOST);
        assert_eq!(lost, [214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911]);
        assert_eq!(lost, those(is_sticky));
    }

    #[test]
    fn every_other_status_has_the_code_the_abi_means() {
        let expected: &[(ur_result_t, &[i32])] = &[
            (ur_result_t::ERROR_INVALID_VALUE, &[1]),
            (ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, &[2]),
            (ur_result_t::ERROR_UNINITIALIZED, &[3, 4]),
            (ur_result_t::ERROR_DEVICE_NOT_AVAILABLE, &[46, 802]),
            (ur_result_t::ERROR_DEVICE_NOT_FOUND, &[100]),
            (ur_result_t::ERROR_INVALID_DEVICE, &[101]),
            (ur_result_t::ERROR_INVALID_CONTEXT, &[201, 709]),
            (ur_result_t::ERROR_INVALID_BINARY, &[200, 209]),
            (ur_result_t::ERROR_PROGRAM_BUILD_FAILURE, &[218, 222, 300]),
            (ur_result_t::ERROR_COMPILER_NOT_AVAILABLE, &[221, 223]),
            (ur_result_t::ERROR_PROGRAM_LINK_FAILURE, &[302]),
            (ur_result_t::ERROR_OUT_OF_RESOURCES, &[701, 720]),
            (ur_result_t::ERROR_UNSUPPORTED_FEATURE, &[36, 215, 217, 224, 225, 801, 804, 811]),
            (ur_result_t::ERROR_INVALID_OPERATION, &[900, 901, 906, 907]),
        ];
        for (code, numbers) in expected {
            assert_eq!(&those(|status| result_of(status) == *code), numbers, "{code:?}");
        }
        let named: usize = expected.iter().map(|(_, numbers)| numbers.len()).sum();
        let specific = those(|status| result_of(status) == ur_result_t::ERROR_ADAPTER_SPECIFIC).len();
        let lost = those(is_sticky).len();
        assert_eq!(1 + named + lost + specific, CUresult::ALL.len(), "a status has a code that no list names");
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
