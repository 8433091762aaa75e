//! Reads a device's properties once, in the units of `DeviceProperties`.
//!
//! Asks `hipDeviceGetAttribute`, which has the same numbers in every release, and the properties structure only
//! for what it alone tells: name, architecture and its feature bits. What HIP cannot tell and AMD's architecture
//! fixes (cache lines, arithmetic) is derived from the architecture's name here and nowhere else.

use core::ffi::c_int;

use ur_adapter::driver::native::attributes::{Attributes, name_of};
use ur_adapter::driver::native::ptx::version_of_architecture;
use ur_adapter::driver::native::{Texts as _, check, failed};
use ur_adapter::driver::properties::{AmdgcnTarget, DeviceProperties, PtxTarget, SpirvTarget};
use ur_adapter::driver::{Driver as _, Graphs as _};
use ur_adapter::object::error::Result;

use crate::driver::Hip;
use crate::sys::{HipError, Ordinal, Properties0000, Properties0600, Uuid, arch, attribute as of};

/// Start alignment of sub-buffers in bits: the widest vector type, 16 times 8 bytes, as one access.
const ADDRESS_ALIGN_BITS: u32 = 1024;
/// "Approximately 1 us" in the words of `hipEventElapsedTime`.
const TIMER_RESOLUTION_NS: usize = 1000;
/// The default of `hipLimitPrintfFifoSize`.
const PRINTF_BUFFER: usize = 1 << 20;
/// Bytes of a kernel's parameters that every compiler for HIP takes.
const PARAMETER_SPACE: usize = 4096;

/// What the properties structure alone tells.
pub(crate) struct Identity {
    name: String,
    /// `gfx90a:sramecc+:xnack-` on AMD's devices; where HIP runs on NVIDIA's driver, `sm_90`.
    pub(crate) architecture: String,
    /// `hipDeviceArch_t`.
    features: u32,
}

/// Reads the properties structure, in the layout of ROCm 6 where the library has it.
pub(crate) fn identity(driver: &Hip, device: Ordinal) -> Result<Identity> {
    let symbols = &driver.symbols;
    if let Some(ask) = symbols.device_properties_0600 {
        let mut told = Properties0600::new();
        // SAFETY: the symbol has the API's signature and the output is a live local of that layout's size.
        let status = unsafe { ask(&raw mut told, device) };
        check(symbols, "hipGetDevicePropertiesR0600", status)?;
        return Ok(Identity::of(&told.name, &told.gcn_arch_name, told.arch));
    }
    let mut told = Properties0000::new();
    // SAFETY: the symbol without a version in its name fills the layout of before ROCm 6, in every release.
    let status = unsafe { (symbols.device_properties)(&raw mut told, device) };
    check(symbols, "hipGetDeviceProperties", status)?;
    Ok(Identity::of(&told.name, &told.gcn_arch_name, told.arch))
}

impl Identity {
    fn of(name: &[u8], architecture: &[u8], features: u32) -> Self {
        Self { name: name_of(name), architecture: name_of(architecture), features }
    }

    fn has(&self, feature: u32) -> bool {
        self.features & feature != 0
    }

    /// Whether the name is AMD's; then it is the version too, and there is no compute capability.
    fn is_amd(&self) -> bool {
        self.architecture.starts_with("gfx")
    }

    /// What SPIR-V is compiled to for the device's loader.
    fn spirv_target(&self, version: [u32; 2], wave_size: u32) -> SpirvTarget {
        if self.is_amd() {
            return SpirvTarget::Amdgcn(AmdgcnTarget { architecture: self.architecture.clone(), wave_size });
        }
        // The library is a layer over a driver whose release no call tells: what the device came with is what is sure.
        let sm = version[0] * 10 + version[1];
        SpirvTarget::Ptx(PtxTarget { sm, version: version_of_architecture(sm) })
    }

    /// Bytes of a line of the last cache that all of the device shares.
    fn cache_line(&self) -> u32 {
        let is = |family: &str| self.architecture.starts_with(family);
        // GCN and the first CDNA have 64; CDNA 2, RDNA and what came after have 128.
        if is("gfx90a") || is("gfx94") || is("gfx95") || !(is("gfx8") || is("gfx9")) { 128 } else { 64 }
    }
}

/// Layers of an array of images: no attribute tells them. The least that OpenCL asks for, and what NVIDIA's devices and
/// ROCm's OpenCL tell.
const LAYERS: usize = 2048;

/// The questions about one device.
struct Reader<'d> {
    driver: &'d Hip,
    device: Ordinal,
}

impl Attributes for Reader<'_> {
    fn optional(&self, attribute: i32) -> Result<Option<i32>> {
        let symbols = &self.driver.symbols;
        let mut value: c_int = 0;
        // SAFETY: the symbol has the API's signature and the output is a live local.
        match unsafe { (symbols.device_attribute)(&raw mut value, attribute, self.device) } {
            HipError::hipSuccess => Ok(Some(value)),
            // How releases that do not know the number, or do not tell it, answer.
            HipError::hipErrorInvalidValue | HipError::hipErrorNotSupported => {
                symbols.forget_failure();
                Ok(None)
            }
            status => Err(failed(symbols, "hipDeviceGetAttribute", status)),
        }
    }
}

impl Reader<'_> {
    fn total_memory(&self) -> Result<u64> {
        let (symbols, mut total) = (&self.driver.symbols, 0);
        // SAFETY: the symbol has the API's signature and the output is a live local.
        let status = unsafe { (symbols.device_total_memory)(&raw mut total, self.device) };
        check(symbols, "hipDeviceTotalMem", status).map(|()| total as u64)
    }

    /// 16 bytes that name the device; libraries that cannot tell answer an error or zeros.
    fn uuid(&self) -> Option<[u8; 16]> {
        let mut told = Uuid::default();
        // SAFETY: the symbol has the API's signature and the output is a live local.
        let status = unsafe { (self.driver.symbols.device_uuid)(&raw mut told, self.device) };
        if status != HipError::hipSuccess {
            self.driver.symbols.forget_failure();
        }
        (status == HipError::hipSuccess && told.0 != [0; 16]).then_some(told.0)
    }

    fn image<const N: usize>(&self, axes: [i32; N]) -> Result<[usize; N]> {
        let mut extent = [0; N];
        for (size, axis) in extent.iter_mut().zip(axes) {
            *size = self.size(axis)?;
        }
        Ok(extent)
    }
}

/// Everything about a device that does not change.
pub(crate) fn read(driver: &Hip, device: Ordinal) -> Result<DeviceProperties> {
    let identity = identity(driver, device)?;
    let read = Reader { driver, device };
    let amd = identity.is_amd();
    let version = [
        read.number(of::hipDeviceAttributeComputeCapabilityMajor)?,
        read.number(of::hipDeviceAttributeComputeCapabilityMinor)?,
    ];
    let wave_size = read.number(of::hipDeviceAttributeWarpSize)?;
    let block_memory = read.size(of::hipDeviceAttributeMaxSharedMemoryPerBlock)?;
    let plane = read.image([of::hipDeviceAttributeMaxTexture2DWidth, of::hipDeviceAttributeMaxTexture2DHeight])?;
    let line = read.size(of::hipDeviceAttributeMaxTexture1DWidth)?;
    // Told on NVIDIA's devices alone; AMD's arrays of images reach as far as their images.
    let layered = |plain: usize, attribute| -> Result<usize> {
        if amd {
            return Ok(plain);
        }
        Ok(read.some(attribute)?.and_then(|most| usize::try_from(most).ok()).map_or(plain, |most| plain.min(most)))
    };
    let virtual_memory = read.flag(of::hipDeviceAttributeVirtualMemoryManagementSupported)?;
    Ok(DeviceProperties {
        // Who it is. SYCL takes AMD's architecture from the version, with all that follows the colon.
        version: if amd { identity.architecture.clone() } else { format!("{}.{}", version[0], version[1]) },
        driver_version: driver.version()?,
        uuid: read.uuid(),
        device_id: read.some(of::hipDeviceAttributePciChipId)?,
        pci: read.pci(
            of::hipDeviceAttributePciDomainID,
            of::hipDeviceAttributePciBusId,
            of::hipDeviceAttributePciDeviceId,
        )?,

        // Shape of a launch.
        max_threads_per_block: read.number(of::hipDeviceAttributeMaxThreadsPerBlock)?,
        max_block: read.three(of::hipDeviceAttributeMaxBlockDimX)?,
        max_grid: read.three(of::hipDeviceAttributeMaxGridDimX)?,
        warp_size: wave_size,
        compute_units: read.number(of::hipDeviceAttributeMultiprocessorCount)?,
        registers_per_block: read.number(of::hipDeviceAttributeMaxRegistersPerBlock)?,
        shared_per_block: block_memory,
        shared_per_block_optin: read.size(of::hipDeviceAttributeSharedMemPerBlockOptin)?.max(block_memory),
        max_parameter_size: PARAMETER_SPACE,
        cooperative_launch: read.flag(of::hipDeviceAttributeCooperativeLaunch)?,
        clusters: false,
        printf_buffer: PRINTF_BUFFER,
        timer_resolution_ns: TIMER_RESOLUTION_NS,
        clock_mhz: read.megahertz(of::hipDeviceAttributeClockRate)?,

        // Memory.
        global_memory: read.total_memory()?,
        constant_memory: read.size(of::hipDeviceAttributeTotalConstantMemory)?,
        memory_clock_mhz: read.megahertz(of::hipDeviceAttributeMemoryClockRate)?,
        memory_bus_bits: read.some(of::hipDeviceAttributeMemoryBusWidth)?,
        l2_cache: read.size(of::hipDeviceAttributeL2CacheSize)?,
        cache_line: identity.cache_line(),
        address_align_bits: ADDRESS_ALIGN_BITS,
        ecc: read.flag(of::hipDeviceAttributeEccEnabled)?,
        integrated: read.flag(of::hipDeviceAttributeIntegrated)?,
        // One address space is how HIP works; releases that do not know the question still have it.
        unified_addressing: read.optional(of::hipDeviceAttributeUnifiedAddressing)? != Some(0),
        host_mapping: read.flag(of::hipDeviceAttributeCanMapHostMemory)?,
        host_native_atomics: read.flag(of::hipDeviceAttributeHostNativeAtomicSupported)?,
        managed_memory: read.flag(of::hipDeviceAttributeManagedMemory)?,
        concurrent_managed: read.flag(of::hipDeviceAttributeConcurrentManagedAccess)?,
        pageable_access: read.flag(of::hipDeviceAttributePageableMemoryAccess)?,
        memory_pools: read.flag(of::hipDeviceAttributeMemoryPoolsSupported)?,
        graph_capture: driver.has_graphs(),
        // It is how HIP works where it has shared memory to do it by; there is no question to ask.
        ipc_events: cfg!(target_os = "linux"),
        graphs: driver.has_graphs(),
        graph_changes: driver.changes_kernels(),
        graph_events: driver.has_event_nodes(),
        stream_value_waits: driver.symbols.launch_host_function.is_some()
            && driver.symbols.stream_wait_value.is_some()
            && read.flag(of::hipDeviceAttributeCanUseStreamWaitValue)?,
        virtual_memory,
        // What virtual memory is made of is exported by descriptor or not at all.
        posix_handles: cfg!(unix) && virtual_memory,
        // No question tells which of them a runtime imports; one that imports none refuses each.
        external_memory: cfg!(unix) && driver.symbols.external_memory_import.is_some(),
        external_semaphores: cfg!(unix) && driver.symbols.external_semaphore_import.is_some(),
        external_timelines: cfg!(unix) && driver.symbols.external_semaphore_import.is_some(),

        // Arithmetic and order. Every AMD GPU that ROCm 5 runs has what is said of it without a question.
        half: amd || version >= [5, 3],
        double: identity.has(arch::DOUBLES),
        atomic64: identity.has(arch::GLOBAL_INT64_ATOMICS),
        bfloat16: identity.architecture.starts_with("gfx95") || (!amd && version >= [8, 0]),
        system_atomics: amd || version >= [6, 0],
        full_memory_model: amd || version >= [7, 0],
        independent_sub_groups: amd || version >= [7, 0],
        split_barriers: !amd && version >= [8, 0],
        native_assert: !amd,

        // Images.
        image1d: line,
        image2d: plane,
        image3d: read.image([
            of::hipDeviceAttributeMaxTexture3DWidth,
            of::hipDeviceAttributeMaxTexture3DHeight,
            of::hipDeviceAttributeMaxTexture3DDepth,
        ])?,
        image2d_linear: [plane[0], plane[1], read.size(of::hipDeviceAttributeMaxPitch)?],
        image_pitch_align: read.number(of::hipDeviceAttributeTexturePitchAlignment)?,
        image1d_array: [layered(line, of::hipDeviceAttributeMaxTexture1DLayered)?, LAYERS],
        image2d_array: [
            layered(plane[0], of::hipDeviceAttributeMaxTexture2DLayered)?,
            layered(plane[1], of::hipDeviceAttributeMaxTexture2DLayered)?,
            LAYERS,
        ],

        spirv: Some(identity.spirv_target(version, wave_size)),
        name: identity.name,
        architecture: identity.architecture,
        binary_target: if amd {
            ur_ffi::UR_DEVICE_BINARY_TARGET_AMDGCN
        } else {
            ur_ffi::UR_DEVICE_BINARY_TARGET_NVPTX64
        },
        program_link: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(architecture: &str) -> Identity {
        Identity::of(b"AMD Instinct\0", architecture.as_bytes(), arch::DOUBLES)
    }

    #[test]
    fn the_architectures_name_tells_vendor_and_cache_line() {
        let lines = [
            ("gfx803", true, 64),
            ("gfx906:sramecc+:xnack-", true, 64),
            ("gfx908", true, 64),
            ("gfx90a:sramecc+:xnack-", true, 128),
            ("gfx942", true, 128),
            ("gfx950", true, 128),
            ("gfx1030", true, 128),
            ("gfx1201", true, 128),
            ("sm_90", false, 128),
        ];
        for (architecture, amd, line) in lines {
            let identity = named(architecture);
            assert_eq!((identity.is_amd(), identity.cache_line()), (amd, line), "{architecture}");
        }
    }

    #[test]
    fn spirv_becomes_what_the_devices_loader_takes() {
        let amd = AmdgcnTarget { architecture: "gfx90a:sramecc+:xnack-".to_owned(), wave_size: 64 };
        assert_eq!(named("gfx90a:sramecc+:xnack-").spirv_target([9, 0], 64), SpirvTarget::Amdgcn(amd));
        let SpirvTarget::Ptx(ptx) = named("sm_90").spirv_target([9, 0], 32) else {
            panic!("NVIDIA's loader takes PTX")
        };
        assert_eq!(ptx.sm, 90);
    }

    #[test]
    fn feature_bits_are_those_of_the_header() {
        let identity = named("gfx90a");
        assert!(identity.has(arch::DOUBLES) && !identity.has(arch::GLOBAL_INT64_ATOMICS));
        assert_eq!(identity.name, "AMD Instinct");
    }
}
