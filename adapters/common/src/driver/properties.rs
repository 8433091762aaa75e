//! What a backend reads of a device once, in units that the UR queries use.
//!
//! Plain data: no native handle, no call. A field that a library cannot tell is `None`, and the query that
//! needs it answers `UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION` rather than a guess.

/// The PTX that a device's loader takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PtxTarget {
    /// The architecture, as in `sm_90`.
    pub sm: u32,
    /// The highest version of the language.
    pub version: (u32, u32),
}

/// The machine code of AMD's that a device's loader takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AmdgcnTarget {
    /// The architecture with its features, as in `gfx90a:sramecc+:xnack-`.
    pub architecture: String,
    /// Threads of a wave.
    pub wave_size: u32,
}

/// What SPIR-V becomes for a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SpirvTarget {
    /// PTX, by libnvvm.
    Ptx(PtxTarget),
    /// A code object, by libamd_comgr.
    Amdgcn(AmdgcnTarget),
}

/// Properties of one device that stay the same for the life of the process.
#[derive(Clone, Debug, Default)]
pub struct DeviceProperties {
    /// Marketing name.
    pub name: String,
    /// Version text of the driver that runs the device.
    pub driver_version: String,
    /// Architecture as the device compiler names it, e.g. `sm_90` or `gfx90a`.
    pub architecture: String,
    /// The target string of images for the device, `UR_DEVICE_BINARY_TARGET_*`.
    pub binary_target: &'static str,
    /// What SPIR-V is compiled to for the native loader; `None` where nothing compiles it.
    pub spirv: Option<SpirvTarget>,
    /// Whether the native library links images.
    pub program_link: bool,
    /// What `UR_DEVICE_INFO_VERSION` answers: `9.0` or `gfx90a`. SYCL derives the architecture from it.
    pub version: String,
    /// 16 bytes that name the physical device across processes.
    pub uuid: Option<[u8; 16]>,
    /// PCI domain, bus and device.
    pub pci: Option<(u32, u32, u32)>,
    /// PCI device number of the vendor.
    pub device_id: Option<u32>,
    /// Bytes of global memory.
    pub global_memory: u64,
    /// Multiprocessors / compute units.
    pub compute_units: u32,
    /// Most threads of a block.
    pub max_threads_per_block: u32,
    /// Most threads of a block in each dimension.
    pub max_block: [u32; 3],
    /// Most blocks of a grid in each dimension.
    pub max_grid: [u32; 3],
    /// Threads of a warp / wavefront.
    pub warp_size: u32,
    /// Work-group memory of a block without asking for more, bytes.
    pub shared_per_block: usize,
    /// The most work-group memory a function can be allowed, bytes.
    pub shared_per_block_optin: usize,
    /// Registers of a block.
    pub registers_per_block: u32,
    /// Constant memory, bytes.
    pub constant_memory: usize,
    /// Core clock, MHz.
    pub clock_mhz: Option<u32>,
    /// Memory clock, MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Memory bus, bits.
    pub memory_bus_bits: Option<u32>,
    /// Second-level cache, bytes.
    pub l2_cache: usize,
    /// Line of the global memory cache, bytes.
    pub cache_line: u32,
    /// Whether memory corrects errors.
    pub ecc: bool,
    /// Whether the device shares memory with the host.
    pub integrated: bool,
    /// Whether host memory has one address on host and device.
    pub unified_addressing: bool,
    /// Whether pinned host memory can be mapped.
    pub host_mapping: bool,
    /// Whether managed memory exists.
    pub managed_memory: bool,
    /// Whether host and device may touch managed memory at once.
    pub concurrent_managed: bool,
    /// Whether the device reaches pageable host memory.
    pub pageable_access: bool,
    /// Whether atomics of the device on host memory are native.
    pub host_native_atomics: bool,
    /// Whether stream-ordered pools exist.
    pub memory_pools: bool,
    /// Whether events can be shared with other processes.
    pub ipc_events: bool,
    /// Whether streams can record what they are given into graphs.
    pub graph_capture: bool,
    /// Whether streams can wait for a word of memory to change.
    pub stream_value_waits: bool,
    /// Whether there are graphs ([`super::Graphs::has_graphs`]).
    pub graphs: bool,
    /// Whether kernels of a graph can be changed in place ([`super::Graphs::changes_kernels`]).
    pub graph_changes: bool,
    /// Whether commands in graphs can wait for events and signal them ([`super::Graphs::has_event_nodes`]).
    pub graph_events: bool,
    /// Whether cooperative launches work.
    pub cooperative_launch: bool,
    /// Whether thread-block clusters exist.
    pub clusters: bool,
    /// Whether virtual memory management works.
    pub virtual_memory: bool,
    /// Step of the clock behind event timestamps, nanoseconds.
    pub timer_resolution_ns: usize,
    /// Bytes of kernels' `printf` output that are kept until the next synchronisation.
    pub printf_buffer: usize,
    /// Whether half precision arithmetic is native.
    pub half: bool,
    /// Whether double precision arithmetic is native.
    pub double: bool,
    /// Whether bfloat16 conversions are native.
    pub bfloat16: bool,
    /// Whether 64-bit atomics exist.
    pub atomic64: bool,
    /// Whether atomics may be atomic with respect to other devices and the host.
    pub system_atomics: bool,
    /// Whether acquire, release and sequentially consistent operations and fences exist, not relaxed ones alone.
    pub full_memory_model: bool,
    /// Whether the warps of a block make progress independently of each other.
    pub independent_sub_groups: bool,
    /// Whether barriers with separate arrival and wait are native.
    pub split_barriers: bool,
    /// Whether a failed `assert` in a kernel is reported by the native library itself.
    pub native_assert: bool,
    /// Base address alignment of memory, bits.
    pub address_align_bits: u32,
    /// Largest 1-D image, elements.
    pub image1d: usize,
    /// Largest 2-D image: width, height.
    pub image2d: [usize; 2],
    /// Largest 3-D image: width, height, depth.
    pub image3d: [usize; 3],
    /// Largest linear 2-D image: width, height, pitch in bytes.
    pub image2d_linear: [usize; 3],
    /// Alignment of an image's pitch, bytes.
    pub image_pitch_align: u32,
    /// Largest array of 1-D images: width, layers.
    pub image1d_array: [usize; 2],
    /// Largest array of 2-D images: width, height, layers.
    pub image2d_array: [usize; 3],
    /// Bytes that all parameters of one kernel may take together.
    pub max_parameter_size: usize,
    /// Whether POSIX file descriptors of memory can be exported.
    pub posix_handles: bool,
    /// Whether memory of another API can be imported.
    pub external_memory: bool,
    /// Whether semaphores of another API can be imported.
    pub external_semaphores: bool,
    /// Whether those may be timelines, which have values.
    pub external_timelines: bool,
}

impl DeviceProperties {
    /// Whether the device has images: some have no texture hardware, and tell extents of 0.
    #[must_use]
    pub fn has_images(&self) -> bool {
        self.image1d > 0 && self.image2d[0] > 0 && self.image3d[0] > 0
    }
}
