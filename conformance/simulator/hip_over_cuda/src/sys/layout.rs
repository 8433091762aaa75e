//! Layouts of the structures that cross the API.
//!
//! Field names and order are the C headers'. Nothing here has behaviour; each structure tells its size and offsets so
//! that the tests can compare them with the headers.

#![allow(non_camel_case_types, non_snake_case, reason = "the C API's own spelling")]
#![allow(missing_docs, reason = "the fields are the C API's, which documents them")]

use core::ffi::{c_char, c_int, c_uint, c_void};

/// One field: name, offset, size.
pub type Field = (&'static str, usize, usize);

/// A structure's name and layout.
pub trait Layout: Sized {
    /// The name that C uses.
    const NAME: &'static str;
    /// Every field in order.
    const FIELDS: &'static [Field];
}

macro_rules! layout {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(pub $field: $type,)*
        }

        impl Layout for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [Field] =
                &[$((stringify!($field), core::mem::offset_of!($name, $field), size_of::<$type>()),)*];
        }
    };
}
pub(crate) use layout;

layout! {
    /// 16 bytes that name a device.
    hipUUID {
        bytes: [u8; 16],
    }
}

/// The 17 one-bit features of an architecture, the first in the lowest bit.
pub type hipDeviceArch_t = u32;

layout! {
    /// What `hipPointerGetAttributes` answers; ROCm 5 calls `type` by another name.
    hipPointerAttribute_t {
        r#type: c_uint,
        device: c_int,
        devicePointer: *mut c_void,
        hostPointer: *mut c_void,
        isManaged: c_int,
        allocationFlags: c_uint,
    }
}

layout! {
    /// A place where memory can be.
    hipMemLocation {
        r#type: c_int,
        id: c_int,
    }
}

layout! {
    /// Who may do what with memory.
    hipMemAccessDesc {
        location: hipMemLocation,
        flags: c_int,
    }
}

layout! {
    /// What a pool is made from.
    hipMemPoolProps {
        allocType: c_int,
        handleTypes: c_int,
        location: hipMemLocation,
        win32SecurityAttributes: *mut c_void,
        maxSize: usize,
        reserved: [u8; 56],
    }
}

layout! {
    /// A pool's pointer on its way to another process.
    hipMemPoolPtrExportData {
        reserved: [u8; 64],
    }
}

layout! {
    /// An allocation on its way to another process.
    hipIpcMemHandle_t {
        reserved: [u8; 64],
    }
}

layout! {
    /// An event on its way to another process.
    hipIpcEventHandle_t {
        reserved: [u8; 64],
    }
}

layout! {
    /// A copy of rows.
    hip_Memcpy2D {
        srcXInBytes: usize,
        srcY: usize,
        srcMemoryType: c_uint,
        srcHost: usize,
        srcDevice: usize,
        srcArray: usize,
        srcPitch: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstMemoryType: c_uint,
        dstHost: usize,
        dstDevice: usize,
        dstArray: usize,
        dstPitch: usize,
        WidthInBytes: usize,
        Height: usize,
    }
}

layout! {
    /// A copy of a box.
    HIP_MEMCPY3D {
        srcXInBytes: usize,
        srcY: usize,
        srcZ: usize,
        srcLOD: usize,
        srcMemoryType: c_uint,
        srcHost: usize,
        srcDevice: usize,
        srcArray: usize,
        srcPitch: usize,
        srcHeight: usize,
        dstXInBytes: usize,
        dstY: usize,
        dstZ: usize,
        dstLOD: usize,
        dstMemoryType: c_uint,
        dstHost: usize,
        dstDevice: usize,
        dstArray: usize,
        dstPitch: usize,
        dstHeight: usize,
        WidthInBytes: usize,
        Height: usize,
        Depth: usize,
    }
}

layout! {
    /// What an array is to be.
    HIP_ARRAY3D_DESCRIPTOR {
        Width: usize,
        Height: usize,
        Depth: usize,
        Format: c_uint,
        NumChannels: c_uint,
        Flags: c_uint,
    }
}

layout! {
    /// What a texture is made of: the union's member for arrays, and the rest of it.
    HIP_RESOURCE_DESC {
        resType: c_uint,
        res: [usize; 16],
        flags: c_uint,
    }
}

layout! {
    /// What a surface is made of, likewise.
    hipResourceDesc {
        resType: c_uint,
        res: [usize; 7],
    }
}

layout! {
    /// How a texture reads.
    HIP_TEXTURE_DESC {
        addressMode: [c_uint; 3],
        filterMode: c_uint,
        flags: c_uint,
        maxAnisotropy: c_uint,
        mipmapFilterMode: c_uint,
        mipmapLevelBias: f32,
        minMipmapLevelClamp: f32,
        maxMipmapLevelClamp: f32,
        borderColor: [f32; 4],
        reserved: [c_int; 12],
    }
}

/// The last part of [`hipMemAllocationProp`], a nested structure in C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AllocFlags {
    pub compressionType: u8,
    pub gpuDirectRDMACapable: u8,
    pub usage: u16,
}

layout! {
    /// What physical memory is made from.
    hipMemAllocationProp {
        r#type: c_int,
        requestedHandleType: c_int,
        location: hipMemLocation,
        win32HandleMetaData: *mut c_void,
        allocFlags: AllocFlags,
    }
}

layout! {
    /// `hipDeviceProp_t` of ROCm 6 and 7.
    hipDeviceProp_tR0600 {
        name: [c_char; 256],
        uuid: hipUUID,
        luid: [c_char; 8],
        luidDeviceNodeMask: c_uint,
        totalGlobalMem: usize,
        sharedMemPerBlock: usize,
        regsPerBlock: c_int,
        warpSize: c_int,
        memPitch: usize,
        maxThreadsPerBlock: c_int,
        maxThreadsDim: [c_int; 3],
        maxGridSize: [c_int; 3],
        clockRate: c_int,
        totalConstMem: usize,
        major: c_int,
        minor: c_int,
        textureAlignment: usize,
        texturePitchAlignment: usize,
        deviceOverlap: c_int,
        multiProcessorCount: c_int,
        kernelExecTimeoutEnabled: c_int,
        integrated: c_int,
        canMapHostMemory: c_int,
        computeMode: c_int,
        maxTexture1D: c_int,
        maxTexture1DMipmap: c_int,
        maxTexture1DLinear: c_int,
        maxTexture2D: [c_int; 2],
        maxTexture2DMipmap: [c_int; 2],
        maxTexture2DLinear: [c_int; 3],
        maxTexture2DGather: [c_int; 2],
        maxTexture3D: [c_int; 3],
        maxTexture3DAlt: [c_int; 3],
        maxTextureCubemap: c_int,
        maxTexture1DLayered: [c_int; 2],
        maxTexture2DLayered: [c_int; 3],
        maxTextureCubemapLayered: [c_int; 2],
        maxSurface1D: c_int,
        maxSurface2D: [c_int; 2],
        maxSurface3D: [c_int; 3],
        maxSurface1DLayered: [c_int; 2],
        maxSurface2DLayered: [c_int; 3],
        maxSurfaceCubemap: c_int,
        maxSurfaceCubemapLayered: [c_int; 2],
        surfaceAlignment: usize,
        concurrentKernels: c_int,
        ECCEnabled: c_int,
        pciBusID: c_int,
        pciDeviceID: c_int,
        pciDomainID: c_int,
        tccDriver: c_int,
        asyncEngineCount: c_int,
        unifiedAddressing: c_int,
        memoryClockRate: c_int,
        memoryBusWidth: c_int,
        l2CacheSize: c_int,
        persistingL2CacheMaxSize: c_int,
        maxThreadsPerMultiProcessor: c_int,
        streamPrioritiesSupported: c_int,
        globalL1CacheSupported: c_int,
        localL1CacheSupported: c_int,
        sharedMemPerMultiprocessor: usize,
        regsPerMultiprocessor: c_int,
        managedMemory: c_int,
        isMultiGpuBoard: c_int,
        multiGpuBoardGroupID: c_int,
        hostNativeAtomicSupported: c_int,
        singleToDoublePrecisionPerfRatio: c_int,
        pageableMemoryAccess: c_int,
        concurrentManagedAccess: c_int,
        computePreemptionSupported: c_int,
        canUseHostPointerForRegisteredMem: c_int,
        cooperativeLaunch: c_int,
        cooperativeMultiDeviceLaunch: c_int,
        sharedMemPerBlockOptin: usize,
        pageableMemoryAccessUsesHostPageTables: c_int,
        directManagedMemAccessFromHost: c_int,
        maxBlocksPerMultiProcessor: c_int,
        accessPolicyMaxWindowSize: c_int,
        reservedSharedMemPerBlock: usize,
        hostRegisterSupported: c_int,
        sparseHipArraySupported: c_int,
        hostRegisterReadOnlySupported: c_int,
        timelineSemaphoreInteropSupported: c_int,
        memoryPoolsSupported: c_int,
        gpuDirectRDMASupported: c_int,
        gpuDirectRDMAFlushWritesOptions: c_uint,
        gpuDirectRDMAWritesOrdering: c_int,
        memoryPoolSupportedHandleTypes: c_uint,
        deferredMappingHipArraySupported: c_int,
        ipcEventSupported: c_int,
        clusterLaunch: c_int,
        unifiedFunctionPointers: c_int,
        reserved: [c_int; 63],
        hipReserved: [c_int; 32],
        gcnArchName: [c_char; 256],
        maxSharedMemoryPerMultiProcessor: usize,
        clockInstructionRate: c_int,
        arch: hipDeviceArch_t,
        hdpMemFlushCntl: *mut c_uint,
        hdpRegFlushCntl: *mut c_uint,
        cooperativeMultiDeviceUnmatchedFunc: c_int,
        cooperativeMultiDeviceUnmatchedGridDim: c_int,
        cooperativeMultiDeviceUnmatchedBlockDim: c_int,
        cooperativeMultiDeviceUnmatchedSharedMem: c_int,
        isLargeBar: c_int,
        asicRevision: c_int,
    }
}

layout! {
    /// `hipDeviceProp_t` of ROCm 5, which the unversioned `hipGetDeviceProperties` still writes.
    hipDeviceProp_tR0000 {
        name: [c_char; 256],
        totalGlobalMem: usize,
        sharedMemPerBlock: usize,
        regsPerBlock: c_int,
        warpSize: c_int,
        maxThreadsPerBlock: c_int,
        maxThreadsDim: [c_int; 3],
        maxGridSize: [c_int; 3],
        clockRate: c_int,
        memoryClockRate: c_int,
        memoryBusWidth: c_int,
        totalConstMem: usize,
        major: c_int,
        minor: c_int,
        multiProcessorCount: c_int,
        l2CacheSize: c_int,
        maxThreadsPerMultiProcessor: c_int,
        computeMode: c_int,
        clockInstructionRate: c_int,
        arch: hipDeviceArch_t,
        concurrentKernels: c_int,
        pciDomainID: c_int,
        pciBusID: c_int,
        pciDeviceID: c_int,
        maxSharedMemoryPerMultiProcessor: usize,
        isMultiGpuBoard: c_int,
        canMapHostMemory: c_int,
        gcnArch: c_int,
        gcnArchName: [c_char; 256],
        integrated: c_int,
        cooperativeLaunch: c_int,
        cooperativeMultiDeviceLaunch: c_int,
        maxTexture1DLinear: c_int,
        maxTexture1D: c_int,
        maxTexture2D: [c_int; 2],
        maxTexture3D: [c_int; 3],
        hdpMemFlushCntl: *mut c_uint,
        hdpRegFlushCntl: *mut c_uint,
        memPitch: usize,
        textureAlignment: usize,
        texturePitchAlignment: usize,
        kernelExecTimeoutEnabled: c_int,
        ECCEnabled: c_int,
        tccDriver: c_int,
        cooperativeMultiDeviceUnmatchedFunc: c_int,
        cooperativeMultiDeviceUnmatchedGridDim: c_int,
        cooperativeMultiDeviceUnmatchedBlockDim: c_int,
        cooperativeMultiDeviceUnmatchedSharedMem: c_int,
        isLargeBar: c_int,
        asicRevision: c_int,
        managedMemory: c_int,
        directManagedMemAccessFromHost: c_int,
        concurrentManagedAccess: c_int,
        pageableMemoryAccess: c_int,
        pageableMemoryAccessUsesHostPageTables: c_int,
    }
}
