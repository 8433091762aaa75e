//! Flags and enumerators of the HIP API, other than statuses and device attributes.
//!
//! Facts only. `ALL` lists them for the comparison with the headers.

#![allow(non_upper_case_globals, reason = "the C API's own spelling")]
#![allow(missing_docs, reason = "the names are the C API's, which documents them")]

use core::ffi::{c_int, c_uint};

macro_rules! values {
    ($type:ty: $($name:ident = $value:literal,)*) => {
        $(pub const $name: $type = $value;)*
        /// Every value with its C name.
        #[allow(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "compared as C's `long long`")]
        pub const ALL: &[(&str, i64)] = &[$((stringify!($name), $value as i64),)*];
    };
}

/// `hipMemoryType` of ROCm 6 and 7; ROCm 5 counted from 0 without `Unregistered`.
pub mod memory_type {
    use super::c_uint;
    values! { c_uint:
        hipMemoryTypeUnregistered = 0,
        hipMemoryTypeHost = 1,
        hipMemoryTypeDevice = 2,
        hipMemoryTypeManaged = 3,
        hipMemoryTypeArray = 10,
        hipMemoryTypeUnified = 11,
    }
}

/// Flags.
pub mod flag {
    use super::c_uint;
    values! { c_uint:
        hipStreamDefault = 0,
        hipStreamNonBlocking = 1,
        hipEventDefault = 0,
        hipEventBlockingSync = 1,
        hipEventDisableTiming = 2,
        hipEventInterprocess = 4,
        hipEventReleaseToDevice = 0x4000_0000,
        hipEventReleaseToSystem = 0x8000_0000,
        hipHostMallocPortable = 1,
        hipHostMallocMapped = 2,
        hipHostMallocWriteCombined = 4,
        hipHostMallocNumaUser = 0x2000_0000,
        hipHostMallocCoherent = 0x4000_0000,
        hipHostMallocNonCoherent = 0x8000_0000,
        hipMemAttachGlobal = 1,
        hipMemAttachHost = 2,
        hipMemAttachSingle = 4,
        hipDeviceMallocDefault = 0,
        hipDeviceMallocFinegrained = 1,
        hipMallocSignalMemory = 2,
        hipHostRegisterDefault = 0,
        hipHostRegisterPortable = 1,
        hipHostRegisterMapped = 2,
        hipHostRegisterIoMemory = 4,
        hipExtHostRegisterCoarseGrained = 8,
        hipStreamWaitValueGte = 0,
        hipStreamWaitValueEq = 1,
        hipStreamWaitValueAnd = 2,
        hipStreamWaitValueNor = 3,
    }
}

/// Flags that ROCm 5's headers lack.
pub mod flag7 {
    use super::c_uint;
    values! { c_uint:
        hipEventDisableSystemFence = 0x2000_0000,
        hipHostMallocUncached = 0x1000_0000,
        hipExtHostRegisterUncached = 0x8000_0000,
        hipDeviceMallocUncached = 3,
        hipDeviceMallocContiguous = 4,
        hipEventRecordExternal = 1,
        hipEventWaitExternal = 1,
    }
}

/// Enumerators that ROCm 5 has too.
pub mod enumerator {
    use super::c_int;
    values! { c_int:
        hipMemcpyHostToHost = 0,
        hipMemcpyHostToDevice = 1,
        hipMemcpyDeviceToHost = 2,
        hipMemcpyDeviceToDevice = 3,
        hipMemcpyDefault = 4,
        hipMemAdviseSetReadMostly = 1,
        hipMemAdviseUnsetReadMostly = 2,
        hipMemAdviseSetPreferredLocation = 3,
        hipMemAdviseUnsetPreferredLocation = 4,
        hipMemAdviseSetAccessedBy = 5,
        hipMemAdviseUnsetAccessedBy = 6,
        hipMemAdviseSetCoarseGrain = 100,
        hipMemAdviseUnsetCoarseGrain = 101,
        hipMemRangeAttributeReadMostly = 1,
        hipMemRangeAttributePreferredLocation = 2,
        hipMemRangeAttributeAccessedBy = 3,
        hipMemRangeAttributeLastPrefetchLocation = 4,
        hipMemRangeAttributeCoherencyMode = 100,
        hipMemRangeCoherencyModeFineGrain = 0,
        hipMemPoolReuseFollowEventDependencies = 1,
        hipMemPoolAttrReleaseThreshold = 4,
        hipMemPoolAttrUsedMemHigh = 8,
        hipMemAllocationTypePinned = 1,
        hipMemLocationTypeDevice = 1,
        hipMemAccessFlagsProtNone = 0,
        hipMemAccessFlagsProtRead = 1,
        hipMemAccessFlagsProtReadWrite = 3,
        hipFuncAttributeMaxDynamicSharedMemorySize = 8,
        hipFuncAttributePreferredSharedMemoryCarveout = 9,
        HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
        HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
        HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
        HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
        HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
        HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
        HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
        HIP_POINTER_ATTRIBUTE_CONTEXT = 1,
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
        HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8,
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
        HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
        hipCpuDeviceId = -1,
        hipInvalidDeviceId = -2,
        hipDevP2PAttrPerformanceRank = 0,
        hipDevP2PAttrHipArrayAccessSupported = 3,
        hipLimitPrintfFifoSize = 1,
        hipLimitMallocHeapSize = 2,
        hipStreamCaptureModeGlobal = 0,
        hipStreamCaptureModeThreadLocal = 1,
        hipStreamCaptureModeRelaxed = 2,
        hipStreamCaptureStatusNone = 0,
        hipStreamCaptureStatusActive = 1,
        hipStreamCaptureStatusInvalidated = 2,
        hipStreamAddCaptureDependencies = 0,
        hipStreamSetCaptureDependencies = 1,
        hipGraphExecUpdateSuccess = 0,
        hipGraphExecUpdateError = 1,
        hipGraphExecUpdateErrorTopologyChanged = 2,
        hipGraphExecUpdateErrorNodeTypeChanged = 3,
        hipGraphExecUpdateErrorFunctionChanged = 4,
        hipGraphExecUpdateErrorParametersChanged = 5,
        hipGraphExecUpdateErrorNotSupported = 6,
        hipGraphExecUpdateErrorUnsupportedFunctionChange = 7,
        hipKernelNodeAttributeAccessPolicyWindow = 1,
        hipKernelNodeAttributeCooperative = 2,
        hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
    }
}

/// Enumerators that ROCm 5's headers lack.
pub mod enumerator7 {
    use super::c_int;
    values! { c_int:
        hipMemcpyDeviceToDeviceNoCU = 1024,
        hipMemLocationTypeHost = 2,
        hipMemLocationTypeHostNuma = 3,
        hipMemLocationTypeHostNumaCurrent = 4,
        hipJitOptionFastCompile = 16,
        hipGraphNodeTypeKernel = 0,
        hipGraphNodeTypeMemcpy = 1,
        hipGraphNodeTypeMemset = 2,
        hipGraphNodeTypeHost = 3,
        hipGraphNodeTypeGraph = 4,
        hipGraphNodeTypeEmpty = 5,
        hipGraphNodeTypeWaitEvent = 6,
        hipGraphNodeTypeEventRecord = 7,
        hipGraphNodeTypeMemAlloc = 10,
        hipGraphNodeTypeMemFree = 11,
        hipGraphNodeTypeBatchMemOp = 14,
        hipLaunchAttributePriority = 8,
        hipGraphInstantiateFlagUpload = 2,
        hipGraphInstantiateFlagDeviceLaunch = 4,
        hipGraphInstantiateFlagUseNodePriority = 8,
        hipGraphMemAttrUsedMemCurrent = 0,
        hipGraphMemAttrUsedMemHigh = 1,
        hipGraphMemAttrReservedMemCurrent = 2,
        hipGraphMemAttrReservedMemHigh = 3,
    }
}

/// Entries of a launch's `extra` list, and the handles of the two default streams that have one.
pub mod handle {
    values! { usize:
        HIP_LAUNCH_PARAM_BUFFER_POINTER = 1,
        HIP_LAUNCH_PARAM_BUFFER_SIZE = 2,
        HIP_LAUNCH_PARAM_END = 3,
        hipStreamPerThread = 2,
    }

    /// `hipStreamLegacy`, which ROCm 5's headers lack.
    pub const hipStreamLegacy: usize = 1;
}
