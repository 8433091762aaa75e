//! A device's attributes, and its properties in both of the layouts that HIP libraries write.
//!
//! Every value comes from the CUDA device, the architecture's name included (`sm_90`): a client must see the machine
//! that its kernels run on. What only AMD's hardware has is 0.

use core::ffi::{c_char, c_int, c_uint};

use crate::device::Device;
use crate::sys::attribute::{self, *};
use crate::sys::layout::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipUUID};
use crate::sys::status::*;

/// The 17 features of `hipDeviceArch_t`: all but surfaces (bit 14) and launches from the device (bit 16).
const ARCHITECTURE: u32 = 0x1_ffff & !(1 << 14) & !(1 << 16);
/// CUDA's number of the PCI device and vendor in one attribute.
const GPU_PCI_IDS: c_int = 139;

/// One attribute.
pub fn attribute(device: &Device, wanted: c_int) -> Result<c_int> {
    match attribute::source(wanted).ok_or(hipErrorInvalidValue)? {
        Source::Cuda(number) => device.cuda_attribute(number),
        Source::Fixed(value) => Ok(value),
        Source::TotalMemory => Ok(c_int::try_from(device.total_memory()?).unwrap_or(c_int::MAX)),
        Source::ChipId => Ok(device.cuda_attribute(GPU_PCI_IDS)? >> 16),
    }
}

/// Reads attributes into the types that the structures have. An attribute that an old driver lacks is 0.
struct Reader<'d>(&'d Device);

impl Reader<'_> {
    fn int(&self, wanted: c_int) -> c_int {
        attribute(self.0, wanted).unwrap_or(0)
    }

    fn size(&self, wanted: c_int) -> usize {
        usize::try_from(self.int(wanted)).unwrap_or(0)
    }

    /// Attributes of CUDA with consecutive numbers, from the one behind `first` on.
    fn row<const N: usize>(&self, first: c_int) -> [c_int; N] {
        let Some(Source::Cuda(number)) = attribute::source(first) else { return [0; N] };
        let mut row = [0; N];
        for (value, number) in row.iter_mut().zip(number..) {
            *value = self.0.cuda_attribute(number).unwrap_or(0);
        }
        row
    }

    fn name(&self) -> Result<[c_char; 256]> {
        let mut name = [0; 256];
        cu!(device_name(name.as_mut_ptr(), 256, self.0.cuda))?;
        Ok(name)
    }

    fn architecture(&self) -> [c_char; 256] {
        let name = crate::module::amd_architecture().unwrap_or_else(|| {
            format!(
                "sm_{}{}",
                self.int(hipDeviceAttributeComputeCapabilityMajor),
                self.int(hipDeviceAttributeComputeCapabilityMinor)
            )
        });
        let mut text = [0; 256];
        for (place, byte) in text.iter_mut().zip(name.bytes()) {
            *place = c_char::from_ne_bytes([byte]);
        }
        text
    }
}

/// The device's identifier.
pub fn uuid(device: &Device) -> Result<hipUUID> {
    let mut uuid = hipUUID { bytes: [0; 16] };
    cu!(device_uuid(&raw mut uuid, device.cuda))?;
    Ok(uuid)
}

/// A structure of integers, arrays of them and raw pointers, all zero.
///
/// # Safety
/// All-zero bytes are a value of `T`.
unsafe fn zeroed<T>() -> T {
    // SAFETY: the caller's promise.
    unsafe { core::mem::zeroed() }
}

/// The properties in the layout of ROCm 6 and 7.
pub fn r0600(device: &Device) -> Result<hipDeviceProp_tR0600> {
    let read = Reader(device);
    let handle_types = c_uint::try_from(read.int(hipDeviceAttributeMemoryPoolSupportedHandleTypes)).unwrap_or(0);
    // SAFETY: the structure has integers, arrays of them and raw pointers alone.
    let rest: hipDeviceProp_tR0600 = unsafe { zeroed() };
    Ok(hipDeviceProp_tR0600 {
        name: read.name()?,
        uuid: uuid(device)?,
        totalGlobalMem: device.total_memory()?,
        sharedMemPerBlock: read.size(hipDeviceAttributeMaxSharedMemoryPerBlock),
        regsPerBlock: read.int(hipDeviceAttributeMaxRegistersPerBlock),
        warpSize: read.int(hipDeviceAttributeWarpSize),
        memPitch: read.size(hipDeviceAttributeMaxPitch),
        maxThreadsPerBlock: read.int(hipDeviceAttributeMaxThreadsPerBlock),
        maxThreadsDim: read.row(hipDeviceAttributeMaxBlockDimX),
        maxGridSize: read.row(hipDeviceAttributeMaxGridDimX),
        clockRate: read.int(hipDeviceAttributeClockRate),
        totalConstMem: read.size(hipDeviceAttributeTotalConstantMemory),
        major: read.int(hipDeviceAttributeComputeCapabilityMajor),
        minor: read.int(hipDeviceAttributeComputeCapabilityMinor),
        textureAlignment: read.size(hipDeviceAttributeTextureAlignment),
        texturePitchAlignment: read.size(hipDeviceAttributeTexturePitchAlignment),
        deviceOverlap: read.int(hipDeviceAttributeDeviceOverlap),
        multiProcessorCount: read.int(hipDeviceAttributeMultiprocessorCount),
        kernelExecTimeoutEnabled: read.int(hipDeviceAttributeKernelExecTimeout),
        integrated: read.int(hipDeviceAttributeIntegrated),
        canMapHostMemory: read.int(hipDeviceAttributeCanMapHostMemory),
        computeMode: read.int(hipDeviceAttributeComputeMode),
        maxTexture1D: read.int(hipDeviceAttributeMaxTexture1DWidth),
        maxTexture1DMipmap: read.int(hipDeviceAttributeMaxTexture1DMipmap),
        maxTexture1DLinear: read.int(hipDeviceAttributeMaxTexture1DLinear),
        maxTexture2D: read.row(hipDeviceAttributeMaxTexture2DWidth),
        maxTexture2DMipmap: read.row(hipDeviceAttributeMaxTexture2DMipmap),
        maxTexture2DLinear: read.row(hipDeviceAttributeMaxTexture2DLinear),
        maxTexture2DGather: read.row(hipDeviceAttributeMaxTexture2DGather),
        maxTexture3D: read.row(hipDeviceAttributeMaxTexture3DWidth),
        maxTexture3DAlt: read.row(hipDeviceAttributeMaxTexture3DAlt),
        maxTextureCubemap: read.int(hipDeviceAttributeMaxTextureCubemap),
        maxTexture1DLayered: read.row(hipDeviceAttributeMaxTexture1DLayered),
        maxTexture2DLayered: read.row(hipDeviceAttributeMaxTexture2DLayered),
        maxTextureCubemapLayered: read.row(hipDeviceAttributeMaxTextureCubemapLayered),
        maxSurface1D: read.int(hipDeviceAttributeMaxSurface1D),
        maxSurface2D: read.row(hipDeviceAttributeMaxSurface2D),
        maxSurface3D: read.row(hipDeviceAttributeMaxSurface3D),
        maxSurface1DLayered: read.row(hipDeviceAttributeMaxSurface1DLayered),
        maxSurface2DLayered: read.row(hipDeviceAttributeMaxSurface2DLayered),
        maxSurfaceCubemap: read.int(hipDeviceAttributeMaxSurfaceCubemap),
        maxSurfaceCubemapLayered: read.row(hipDeviceAttributeMaxSurfaceCubemapLayered),
        surfaceAlignment: read.size(hipDeviceAttributeSurfaceAlignment),
        concurrentKernels: read.int(hipDeviceAttributeConcurrentKernels),
        ECCEnabled: read.int(hipDeviceAttributeEccEnabled),
        pciBusID: read.int(hipDeviceAttributePciBusId),
        pciDeviceID: read.int(hipDeviceAttributePciDeviceId),
        pciDomainID: read.int(hipDeviceAttributePciDomainId),
        tccDriver: read.int(hipDeviceAttributeTccDriver),
        asyncEngineCount: read.int(hipDeviceAttributeAsyncEngineCount),
        unifiedAddressing: read.int(hipDeviceAttributeUnifiedAddressing),
        memoryClockRate: read.int(hipDeviceAttributeMemoryClockRate),
        memoryBusWidth: read.int(hipDeviceAttributeMemoryBusWidth),
        l2CacheSize: read.int(hipDeviceAttributeL2CacheSize),
        persistingL2CacheMaxSize: read.int(hipDeviceAttributePersistingL2CacheMaxSize),
        maxThreadsPerMultiProcessor: read.int(hipDeviceAttributeMaxThreadsPerMultiProcessor),
        streamPrioritiesSupported: read.int(hipDeviceAttributeStreamPrioritiesSupported),
        globalL1CacheSupported: read.int(hipDeviceAttributeGlobalL1CacheSupported),
        localL1CacheSupported: read.int(hipDeviceAttributeLocalL1CacheSupported),
        sharedMemPerMultiprocessor: read.size(hipDeviceAttributeSharedMemPerMultiprocessor),
        regsPerMultiprocessor: read.int(hipDeviceAttributeMaxRegistersPerMultiprocessor),
        managedMemory: read.int(hipDeviceAttributeManagedMemory),
        isMultiGpuBoard: read.int(hipDeviceAttributeIsMultiGpuBoard),
        multiGpuBoardGroupID: read.int(hipDeviceAttributeMultiGpuBoardGroupID),
        hostNativeAtomicSupported: read.int(hipDeviceAttributeHostNativeAtomicSupported),
        singleToDoublePrecisionPerfRatio: read.int(hipDeviceAttributeSingleToDoublePrecisionPerfRatio),
        pageableMemoryAccess: read.int(hipDeviceAttributePageableMemoryAccess),
        concurrentManagedAccess: read.int(hipDeviceAttributeConcurrentManagedAccess),
        computePreemptionSupported: read.int(hipDeviceAttributeComputePreemptionSupported),
        canUseHostPointerForRegisteredMem: read.int(hipDeviceAttributeCanUseHostPointerForRegisteredMem),
        cooperativeLaunch: read.int(hipDeviceAttributeCooperativeLaunch),
        sharedMemPerBlockOptin: read.size(hipDeviceAttributeSharedMemPerBlockOptin),
        pageableMemoryAccessUsesHostPageTables: read.int(hipDeviceAttributePageableMemoryAccessUsesHostPageTables),
        directManagedMemAccessFromHost: read.int(hipDeviceAttributeDirectManagedMemAccessFromHost),
        maxBlocksPerMultiProcessor: read.int(hipDeviceAttributeMaxBlocksPerMultiProcessor),
        accessPolicyMaxWindowSize: read.int(hipDeviceAttributeAccessPolicyMaxWindowSize),
        reservedSharedMemPerBlock: read.size(hipDeviceAttributeReservedSharedMemPerBlock),
        hostRegisterSupported: read.int(hipDeviceAttributeHostRegisterSupported),
        memoryPoolsSupported: read.int(hipDeviceAttributeMemoryPoolsSupported),
        memoryPoolSupportedHandleTypes: handle_types,
        gcnArchName: read.architecture(),
        maxSharedMemoryPerMultiProcessor: read.size(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor),
        clockInstructionRate: read.int(hipDeviceAttributeClockInstructionRate),
        arch: ARCHITECTURE,
        ..rest
    })
}

/// The properties in the layout of ROCm 5.
pub fn r0000(device: &Device) -> Result<hipDeviceProp_tR0000> {
    let new = r0600(device)?;
    // SAFETY: the structure has integers, arrays of them and raw pointers alone.
    let rest: hipDeviceProp_tR0000 = unsafe { zeroed() };
    Ok(hipDeviceProp_tR0000 {
        name: new.name,
        totalGlobalMem: new.totalGlobalMem,
        sharedMemPerBlock: new.sharedMemPerBlock,
        regsPerBlock: new.regsPerBlock,
        warpSize: new.warpSize,
        maxThreadsPerBlock: new.maxThreadsPerBlock,
        maxThreadsDim: new.maxThreadsDim,
        maxGridSize: new.maxGridSize,
        clockRate: new.clockRate,
        memoryClockRate: new.memoryClockRate,
        memoryBusWidth: new.memoryBusWidth,
        totalConstMem: new.totalConstMem,
        major: new.major,
        minor: new.minor,
        multiProcessorCount: new.multiProcessorCount,
        l2CacheSize: new.l2CacheSize,
        maxThreadsPerMultiProcessor: new.maxThreadsPerMultiProcessor,
        computeMode: new.computeMode,
        clockInstructionRate: new.clockInstructionRate,
        arch: new.arch,
        concurrentKernels: new.concurrentKernels,
        pciDomainID: new.pciDomainID,
        pciBusID: new.pciBusID,
        pciDeviceID: new.pciDeviceID,
        maxSharedMemoryPerMultiProcessor: new.maxSharedMemoryPerMultiProcessor,
        isMultiGpuBoard: new.isMultiGpuBoard,
        canMapHostMemory: new.canMapHostMemory,
        gcnArchName: new.gcnArchName,
        integrated: new.integrated,
        cooperativeLaunch: new.cooperativeLaunch,
        maxTexture1DLinear: new.maxTexture1DLinear,
        maxTexture1D: new.maxTexture1D,
        maxTexture2D: new.maxTexture2D,
        maxTexture3D: new.maxTexture3D,
        memPitch: new.memPitch,
        textureAlignment: new.textureAlignment,
        texturePitchAlignment: new.texturePitchAlignment,
        kernelExecTimeoutEnabled: new.kernelExecTimeoutEnabled,
        ECCEnabled: new.ECCEnabled,
        tccDriver: new.tccDriver,
        managedMemory: new.managedMemory,
        directManagedMemAccessFromHost: new.directManagedMemAccessFromHost,
        concurrentManagedAccess: new.concurrentManagedAccess,
        pageableMemoryAccess: new.pageableMemoryAccess,
        pageableMemoryAccessUsesHostPageTables: new.pageableMemoryAccessUsesHostPageTables,
        ..rest
    })
}
