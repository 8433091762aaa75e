//! Reads a device's properties once, in the units of `DeviceProperties`.
//!
//! Asks `cuDeviceGetAttribute` and its kin, none of which needs or makes a context. What the driver cannot
//! tell and the architecture fixes (cache lines, memory model) is derived from the compute capability here
//! and nowhere else.

use core::ffi::{c_char, c_int};

use ur_adapter::driver::Graphs as _;
use ur_adapter::driver::native::attributes::{Attributes, name_of};
use ur_adapter::driver::native::ptx::version_of_cuda;
use ur_adapter::driver::native::{check, failed};
use ur_adapter::driver::properties::{DeviceProperties, PtxTarget, SpirvTarget};
use ur_adapter::object::error::Result;

use crate::driver::Cuda;
use crate::sys::{CUdevice, CUresult, CUuuid};

/// `CUdevice_attribute` by the words of CUDA's header, without the prefix.
mod attribute {
    pub(super) const MAX_THREADS_PER_BLOCK: i32 = 1;
    pub(super) const MAX_BLOCK_DIM_X: i32 = 2;
    pub(super) const MAX_GRID_DIM_X: i32 = 5;
    pub(super) const SHARED_MEMORY_PER_BLOCK: i32 = 8;
    pub(super) const TOTAL_CONSTANT_MEMORY: i32 = 9;
    pub(super) const WARP_SIZE: i32 = 10;
    pub(super) const REGISTERS_PER_BLOCK: i32 = 12;
    pub(super) const CLOCK_RATE: i32 = 13;
    pub(super) const MULTIPROCESSOR_COUNT: i32 = 16;
    pub(super) const INTEGRATED: i32 = 18;
    pub(super) const CAN_MAP_HOST_MEMORY: i32 = 19;
    pub(super) const TEXTURE1D_WIDTH: i32 = 21;
    pub(super) const TEXTURE2D_WIDTH: i32 = 22;
    pub(super) const TEXTURE3D_WIDTH: i32 = 24;
    pub(super) const TEXTURE2D_LAYERED_WIDTH: i32 = 27;
    pub(super) const ECC_ENABLED: i32 = 32;
    pub(super) const PCI_BUS_ID: i32 = 33;
    pub(super) const PCI_SLOT_ID: i32 = 34;
    pub(super) const MEMORY_CLOCK_RATE: i32 = 36;
    pub(super) const MEMORY_BUS_WIDTH: i32 = 37;
    pub(super) const L2_CACHE_SIZE: i32 = 38;
    pub(super) const UNIFIED_ADDRESSING: i32 = 41;
    pub(super) const PCI_DOMAIN_ID: i32 = 50;
    pub(super) const TEXTURE1D_LAYERED_WIDTH: i32 = 42;
    pub(super) const TEXTURE_PITCH_ALIGNMENT: i32 = 51;
    pub(super) const SURFACE1D_WIDTH: i32 = 55;
    pub(super) const SURFACE2D_WIDTH: i32 = 56;
    pub(super) const SURFACE3D_WIDTH: i32 = 58;
    pub(super) const SURFACE1D_LAYERED_WIDTH: i32 = 61;
    pub(super) const SURFACE2D_LAYERED_WIDTH: i32 = 63;
    pub(super) const TEXTURE2D_LINEAR_WIDTH: i32 = 70;
    pub(super) const COMPUTE_CAPABILITY_MAJOR: i32 = 75;
    pub(super) const COMPUTE_CAPABILITY_MINOR: i32 = 76;
    pub(super) const MANAGED_MEMORY: i32 = 83;
    pub(super) const HOST_NATIVE_ATOMIC_SUPPORTED: i32 = 86;
    pub(super) const PAGEABLE_MEMORY_ACCESS: i32 = 88;
    pub(super) const CONCURRENT_MANAGED_ACCESS: i32 = 89;
    pub(super) const COOPERATIVE_LAUNCH: i32 = 95;
    pub(super) const SHARED_MEMORY_PER_BLOCK_OPTIN: i32 = 97;
    pub(super) const VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: i32 = 102;
    pub(super) const POSIX_FILE_DESCRIPTOR_SUPPORTED: i32 = 103;
    pub(super) const TIMELINE_SEMAPHORE_INTEROP: i32 = 114;
    pub(super) const MEMORY_POOLS_SUPPORTED: i32 = 115;
    pub(super) const CLUSTER_LAUNCH: i32 = 120;
    /// The second version's operations have no other attribute: where those of 64 bits are, those of 32 are.
    pub(super) const CAN_USE_64_BIT_STREAM_MEM_OPS: i32 = 122;
    pub(super) const IPC_EVENT_SUPPORTED: i32 = 125;
    /// PCI device number in the upper, vendor number in the lower half.
    pub(super) const GPU_PCI_DEVICE_ID: i32 = 139;
}

use attribute as of;

/// Bytes of a cache line, the same since compute capability 2.0.
const CACHE_LINE: u32 = 128;
/// Start alignment of sub-buffers in bits: the widest vector type, 16 times 8 bytes, as one access.
const ADDRESS_ALIGN_BITS: u32 = 1024;
/// "Around half a microsecond" in the words of `cuEventElapsedTime`.
const TIMER_RESOLUTION_NS: usize = 500;
/// The default of `CU_LIMIT_PRINTF_FIFO_SIZE`.
const PRINTF_BUFFER: usize = 1 << 20;

/// The questions about one device.
struct Reader<'d> {
    driver: &'d Cuda,
    device: CUdevice,
}

impl Attributes for Reader<'_> {
    fn optional(&self, attribute: i32) -> Result<Option<i32>> {
        let mut value: c_int = 0;
        // SAFETY: the symbol has the API's signature and the output is a live local.
        let status = unsafe { (self.driver.symbols.device_attribute)(&raw mut value, attribute, self.device) };
        match status {
            CUresult::SUCCESS => Ok(Some(value)),
            CUresult::INVALID_VALUE | CUresult::NOT_SUPPORTED => Ok(None),
            _ => Err(failed(&self.driver.symbols, "cuDeviceGetAttribute", status)),
        }
    }
}

impl Reader<'_> {
    /// The extent that both textures and surfaces reach, so that an image can be read and written.
    fn image<const N: usize>(&self, texture: i32, surface: i32) -> Result<[usize; N]> {
        let mut extent = [0; N];
        for (axis, size) in (0_i32..).zip(&mut extent) {
            *size = self.size(texture + axis)?.min(self.size(surface + axis)?);
        }
        Ok(extent)
    }

    fn name(&self) -> Result<String> {
        let mut buffer = [0_u8; 256];
        let length = c_int::try_from(buffer.len()).unwrap_or(c_int::MAX);
        // SAFETY: the symbol has the API's signature and the buffer has the length that is told.
        let status =
            unsafe { (self.driver.symbols.device_name)(buffer.as_mut_ptr().cast::<c_char>(), length, self.device) };
        check(&self.driver.symbols, "cuDeviceGetName", status)?;
        Ok(name_of(&buffer))
    }

    fn global_memory(&self) -> Result<u64> {
        let mut bytes = 0;
        // SAFETY: the symbol has the API's signature and the output is a live local.
        let status = unsafe { (self.driver.symbols.device_total_memory)(&raw mut bytes, self.device) };
        check(&self.driver.symbols, "cuDeviceTotalMem", status)?;
        Ok(bytes as u64)
    }

    /// The identifier of the device, or of the partition of it that the process sees.
    fn uuid(&self) -> Option<[u8; 16]> {
        let ask = self.driver.symbols.device_uuid_v2.or(self.driver.symbols.device_uuid)?;
        let mut uuid = CUuuid::default();
        // SAFETY: the symbol has the API's signature and the output is a live local.
        let status = unsafe { ask(&raw mut uuid, self.device) };
        (status == CUresult::SUCCESS).then_some(uuid.0)
    }
}

/// Everything about a device that does not change.
pub(crate) fn read(driver: &Cuda, device: CUdevice) -> Result<DeviceProperties> {
    use ur_adapter::driver::Driver as _;

    let read = Reader { driver, device };
    let capability = (read.number(of::COMPUTE_CAPABILITY_MAJOR)?, read.number(of::COMPUTE_CAPABILITY_MINOR)?);
    let shared_per_block = read.size(of::SHARED_MEMORY_PER_BLOCK)?;
    let [width_linear, height_linear, pitch_linear] = read.three(of::TEXTURE2D_LINEAR_WIDTH)?;
    Ok(DeviceProperties {
        name: read.name()?,
        driver_version: driver.version()?,
        architecture: format!("sm_{}{}", capability.0, capability.1),
        binary_target: ur_ffi::UR_DEVICE_BINARY_TARGET_NVPTX64,
        spirv: Some(SpirvTarget::Ptx(PtxTarget {
            sm: capability.0 * 10 + capability.1,
            version: version_of_cuda(driver.version / 1000, driver.version % 1000 / 10),
        })),
        program_link: true,
        version: format!("{}.{}", capability.0, capability.1),
        uuid: read.uuid(),
        pci: read.pci(of::PCI_DOMAIN_ID, of::PCI_BUS_ID, of::PCI_SLOT_ID)?,
        device_id: read.some(of::GPU_PCI_DEVICE_ID)?.map(|both| both >> 16),

        global_memory: read.global_memory()?,
        memory_clock_mhz: read.megahertz(of::MEMORY_CLOCK_RATE)?,
        memory_bus_bits: read.some(of::MEMORY_BUS_WIDTH)?,
        l2_cache: read.size(of::L2_CACHE_SIZE)?,
        cache_line: CACHE_LINE,
        constant_memory: read.size(of::TOTAL_CONSTANT_MEMORY)?,
        ecc: read.flag(of::ECC_ENABLED)?,
        integrated: read.flag(of::INTEGRATED)?,
        address_align_bits: ADDRESS_ALIGN_BITS,

        compute_units: read.number(of::MULTIPROCESSOR_COUNT)?,
        clock_mhz: read.megahertz(of::CLOCK_RATE)?,
        max_threads_per_block: read.number(of::MAX_THREADS_PER_BLOCK)?,
        max_block: read.three(of::MAX_BLOCK_DIM_X)?,
        max_grid: read.three(of::MAX_GRID_DIM_X)?,
        warp_size: read.number(of::WARP_SIZE)?,
        shared_per_block,
        shared_per_block_optin: read.size(of::SHARED_MEMORY_PER_BLOCK_OPTIN)?.max(shared_per_block),
        registers_per_block: read.number(of::REGISTERS_PER_BLOCK)?,
        max_parameter_size: parameter_space(capability, driver),
        timer_resolution_ns: TIMER_RESOLUTION_NS,
        printf_buffer: PRINTF_BUFFER,

        unified_addressing: read.flag(of::UNIFIED_ADDRESSING)?,
        host_mapping: read.flag(of::CAN_MAP_HOST_MEMORY)?,
        managed_memory: read.flag(of::MANAGED_MEMORY)?,
        concurrent_managed: read.flag(of::CONCURRENT_MANAGED_ACCESS)?,
        pageable_access: read.flag(of::PAGEABLE_MEMORY_ACCESS)?,
        host_native_atomics: read.flag(of::HOST_NATIVE_ATOMIC_SUPPORTED)?,
        memory_pools: read.flag(of::MEMORY_POOLS_SUPPORTED)?,
        graph_capture: driver.symbols.capture_begin.is_some() && driver.symbols.capture_end.is_some(),
        // Drivers that do not know the question share events where they share memory.
        ipc_events: cfg!(target_os = "linux") && read.optional(of::IPC_EVENT_SUPPORTED)? != Some(0),
        graphs: driver.has_graphs(),
        graph_changes: driver.changes_kernels(),
        graph_events: driver.has_event_nodes(),
        stream_value_waits: driver.symbols.stream_wait_value.is_some()
            && read.flag(of::CAN_USE_64_BIT_STREAM_MEM_OPS)?,
        cooperative_launch: read.flag(of::COOPERATIVE_LAUNCH)?,
        clusters: read.flag(of::CLUSTER_LAUNCH)?,
        virtual_memory: read.flag(of::VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)?,
        posix_handles: read.flag(of::POSIX_FILE_DESCRIPTOR_SUPPORTED)?,
        external_memory: cfg!(unix) && driver.symbols.external_memory_import.is_some(),
        external_semaphores: cfg!(unix) && driver.symbols.external_semaphore_import.is_some(),
        external_timelines: cfg!(unix) && read.optional(of::TIMELINE_SEMAPHORE_INTEROP)? == Some(1),

        half: capability >= (5, 3),
        double: true,
        bfloat16: capability >= (8, 0),
        atomic64: capability >= (6, 0),
        system_atomics: capability >= (6, 0),
        full_memory_model: capability >= (7, 0),
        independent_sub_groups: capability >= (7, 0),
        split_barriers: capability >= (8, 0),
        native_assert: true,

        image1d: read.image::<1>(of::TEXTURE1D_WIDTH, of::SURFACE1D_WIDTH)?[0],
        image2d: read.image(of::TEXTURE2D_WIDTH, of::SURFACE2D_WIDTH)?,
        image3d: read.image(of::TEXTURE3D_WIDTH, of::SURFACE3D_WIDTH)?,
        image2d_linear: [width_linear as usize, height_linear as usize, pitch_linear as usize],
        image_pitch_align: read.number(of::TEXTURE_PITCH_ALIGNMENT)?,
        image1d_array: read.image(of::TEXTURE1D_LAYERED_WIDTH, of::SURFACE1D_LAYERED_WIDTH)?,
        image2d_array: read.image(of::TEXTURE2D_LAYERED_WIDTH, of::SURFACE2D_LAYERED_WIDTH)?,
    })
}

/// Bytes of a kernel's parameters: Volta and newer took more than 4 KiB from CUDA 12.1 on.
fn parameter_space(capability: (u32, u32), driver: &Cuda) -> usize {
    if capability >= (7, 0) && driver.at_least(12, 1) { 32_764 } else { 4096 }
}
