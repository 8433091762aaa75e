//! Numbers of `hipDeviceAttribute_t` as ROCm 6 and 7 count them, and where their values come from.
//!
//! Facts only. ROCm 5 counts some of them differently, none that the adapter asks for; this library speaks for 6 and 7.

#![allow(non_upper_case_globals, reason = "the C API's own spelling")]
#![allow(missing_docs, reason = "the names are the C API's, which documents them")]

use core::ffi::c_int;

/// Where the value of an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The CUDA device attribute of that number.
    Cuda(c_int),
    /// A property of this library or of every device that it can run on.
    Fixed(c_int),
    /// Bytes of device memory, as far as they fit.
    TotalMemory,
    /// The PCI device number.
    ChipId,
}

use Source::{ChipId, Cuda, Fixed, TotalMemory};

macro_rules! attributes {
    ($($name:ident = $value:literal => $source:expr,)*) => {
        $(pub const $name: c_int = $value;)*
        /// Every attribute with its C name.
        pub const ALL: &[(&str, c_int)] = &[$((stringify!($name), $value),)*];
        /// Where the value of an attribute comes from; `None` when HIP has no such attribute, or one without a value
        /// here.
        pub fn source(attribute: c_int) -> Option<Source> {
            match attribute {
                $($value => Some($source),)*
                _ => None,
            }
        }
    };
}

attributes! {
    hipDeviceAttributeEccEnabled = 0 => Cuda(32),
    hipDeviceAttributeAccessPolicyMaxWindowSize = 1 => Cuda(109),
    hipDeviceAttributeAsyncEngineCount = 2 => Cuda(40),
    hipDeviceAttributeCanMapHostMemory = 3 => Cuda(19),
    hipDeviceAttributeCanUseHostPointerForRegisteredMem = 4 => Cuda(91),
    hipDeviceAttributeClockRate = 5 => Cuda(13),
    hipDeviceAttributeComputeMode = 6 => Cuda(20),
    hipDeviceAttributeComputePreemptionSupported = 7 => Cuda(90),
    hipDeviceAttributeConcurrentKernels = 8 => Cuda(31),
    hipDeviceAttributeConcurrentManagedAccess = 9 => Cuda(89),
    hipDeviceAttributeCooperativeLaunch = 10 => Cuda(95),
    hipDeviceAttributeCooperativeMultiDeviceLaunch = 11 => Fixed(0),
    hipDeviceAttributeDeviceOverlap = 12 => Cuda(15),
    hipDeviceAttributeDirectManagedMemAccessFromHost = 13 => Cuda(101),
    hipDeviceAttributeGlobalL1CacheSupported = 14 => Cuda(79),
    hipDeviceAttributeHostNativeAtomicSupported = 15 => Cuda(86),
    hipDeviceAttributeIntegrated = 16 => Cuda(18),
    hipDeviceAttributeIsMultiGpuBoard = 17 => Cuda(84),
    hipDeviceAttributeKernelExecTimeout = 18 => Cuda(17),
    hipDeviceAttributeL2CacheSize = 19 => Cuda(38),
    hipDeviceAttributeLocalL1CacheSupported = 20 => Cuda(80),
    hipDeviceAttributeLuidDeviceNodeMask = 22 => Fixed(0),
    hipDeviceAttributeComputeCapabilityMajor = 23 => Cuda(75),
    hipDeviceAttributeManagedMemory = 24 => Cuda(83),
    hipDeviceAttributeMaxBlocksPerMultiProcessor = 25 => Cuda(106),
    hipDeviceAttributeMaxBlockDimX = 26 => Cuda(2),
    hipDeviceAttributeMaxBlockDimY = 27 => Cuda(3),
    hipDeviceAttributeMaxBlockDimZ = 28 => Cuda(4),
    hipDeviceAttributeMaxGridDimX = 29 => Cuda(5),
    hipDeviceAttributeMaxGridDimY = 30 => Cuda(6),
    hipDeviceAttributeMaxGridDimZ = 31 => Cuda(7),
    hipDeviceAttributeMaxSurface1D = 32 => Cuda(55),
    hipDeviceAttributeMaxSurface1DLayered = 33 => Cuda(61),
    hipDeviceAttributeMaxSurface2D = 34 => Cuda(56),
    hipDeviceAttributeMaxSurface2DLayered = 35 => Cuda(63),
    hipDeviceAttributeMaxSurface3D = 36 => Cuda(58),
    hipDeviceAttributeMaxSurfaceCubemap = 37 => Cuda(66),
    hipDeviceAttributeMaxSurfaceCubemapLayered = 38 => Cuda(67),
    hipDeviceAttributeMaxTexture1DWidth = 39 => Cuda(21),
    hipDeviceAttributeMaxTexture1DLayered = 40 => Cuda(42),
    hipDeviceAttributeMaxTexture1DLinear = 41 => Cuda(69),
    hipDeviceAttributeMaxTexture1DMipmap = 42 => Cuda(77),
    hipDeviceAttributeMaxTexture2DWidth = 43 => Cuda(22),
    hipDeviceAttributeMaxTexture2DHeight = 44 => Cuda(23),
    hipDeviceAttributeMaxTexture2DGather = 45 => Cuda(45),
    hipDeviceAttributeMaxTexture2DLayered = 46 => Cuda(27),
    hipDeviceAttributeMaxTexture2DLinear = 47 => Cuda(70),
    hipDeviceAttributeMaxTexture2DMipmap = 48 => Cuda(73),
    hipDeviceAttributeMaxTexture3DWidth = 49 => Cuda(24),
    hipDeviceAttributeMaxTexture3DHeight = 50 => Cuda(25),
    hipDeviceAttributeMaxTexture3DDepth = 51 => Cuda(26),
    hipDeviceAttributeMaxTexture3DAlt = 52 => Cuda(47),
    hipDeviceAttributeMaxTextureCubemap = 53 => Cuda(52),
    hipDeviceAttributeMaxTextureCubemapLayered = 54 => Cuda(53),
    hipDeviceAttributeMaxThreadsDim = 55 => Cuda(2),
    hipDeviceAttributeMaxThreadsPerBlock = 56 => Cuda(1),
    hipDeviceAttributeMaxThreadsPerMultiProcessor = 57 => Cuda(39),
    hipDeviceAttributeMaxPitch = 58 => Cuda(11),
    hipDeviceAttributeMemoryBusWidth = 59 => Cuda(37),
    hipDeviceAttributeMemoryClockRate = 60 => Cuda(36),
    hipDeviceAttributeComputeCapabilityMinor = 61 => Cuda(76),
    hipDeviceAttributeMultiGpuBoardGroupID = 62 => Cuda(85),
    hipDeviceAttributeMultiprocessorCount = 63 => Cuda(16),
    hipDeviceAttributePageableMemoryAccess = 65 => Cuda(88),
    hipDeviceAttributePageableMemoryAccessUsesHostPageTables = 66 => Cuda(100),
    hipDeviceAttributePciBusId = 67 => Cuda(33),
    hipDeviceAttributePciDeviceId = 68 => Cuda(34),
    hipDeviceAttributePciDomainId = 69 => Cuda(50),
    hipDeviceAttributePersistingL2CacheMaxSize = 70 => Cuda(108),
    hipDeviceAttributeMaxRegistersPerBlock = 71 => Cuda(12),
    hipDeviceAttributeMaxRegistersPerMultiprocessor = 72 => Cuda(82),
    hipDeviceAttributeReservedSharedMemPerBlock = 73 => Cuda(111),
    hipDeviceAttributeMaxSharedMemoryPerBlock = 74 => Cuda(8),
    hipDeviceAttributeSharedMemPerBlockOptin = 75 => Cuda(97),
    hipDeviceAttributeSharedMemPerMultiprocessor = 76 => Cuda(81),
    hipDeviceAttributeSingleToDoublePrecisionPerfRatio = 77 => Cuda(87),
    hipDeviceAttributeStreamPrioritiesSupported = 78 => Cuda(78),
    hipDeviceAttributeSurfaceAlignment = 79 => Cuda(30),
    hipDeviceAttributeTccDriver = 80 => Cuda(35),
    hipDeviceAttributeTextureAlignment = 81 => Cuda(14),
    hipDeviceAttributeTexturePitchAlignment = 82 => Cuda(51),
    hipDeviceAttributeTotalConstantMemory = 83 => Cuda(9),
    hipDeviceAttributeTotalGlobalMem = 84 => TotalMemory,
    hipDeviceAttributeUnifiedAddressing = 85 => Cuda(41),
    hipDeviceAttributeWarpSize = 87 => Cuda(10),
    hipDeviceAttributeMemoryPoolsSupported = 88 => Cuda(115),
    hipDeviceAttributeVirtualMemoryManagementSupported = 89 => Cuda(102),
    hipDeviceAttributeHostRegisterSupported = 90 => Cuda(99),
    hipDeviceAttributeMemoryPoolSupportedHandleTypes = 91 => Cuda(119),
    hipDeviceAttributeClockInstructionRate = 10000 => Cuda(13),
    hipDeviceAttributeMaxSharedMemoryPerMultiprocessor = 10002 => Cuda(81),
    hipDeviceAttributeHdpMemFlushCntl = 10005 => Fixed(0),
    hipDeviceAttributeHdpRegFlushCntl = 10006 => Fixed(0),
    hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc = 10007 => Fixed(0),
    hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim = 10008 => Fixed(0),
    hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim = 10009 => Fixed(0),
    hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem = 10010 => Fixed(0),
    hipDeviceAttributeIsLargeBar = 10011 => Fixed(0),
    hipDeviceAttributeAsicRevision = 10012 => Fixed(0),
    hipDeviceAttributeCanUseStreamWaitValue = 10013 => Cuda(122),
    hipDeviceAttributeImageSupport = 10014 => Fixed(0),
    hipDeviceAttributePhysicalMultiProcessorCount = 10015 => Cuda(16),
    hipDeviceAttributeFineGrainSupport = 10016 => Fixed(1),
    hipDeviceAttributeWallClockRate = 10017 => Fixed(1_000_000),
    hipDeviceAttributeNumberOfXccs = 10018 => Fixed(1),
    hipDeviceAttributeMaxAvailableVgprsPerThread = 10019 => Fixed(255),
    hipDeviceAttributePciChipId = 10020 => ChipId,
}
