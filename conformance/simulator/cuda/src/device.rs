//! The simulated devices: their properties, their memory account, their primary contexts and pools.
//!
//! Devices are made once, by `cuInit`, and live as long as the process. Nothing here starts a thread.

use crate::clock;
use crate::config::Config;
use crate::context::Context;
use crate::pool::Pool;
use crate::sys::*;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::sync::{Arc, OnceLock};

/// The primary context's books.
#[derive(Default)]
pub struct Primary {
    /// The context while anybody retains it.
    pub context: Option<Arc<Context>>,
    /// How many times it is retained.
    pub references: u32,
}

/// One device.
pub struct Device {
    /// Its ordinal.
    pub ordinal: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Flags for the primary context.
    pub primary_flags: AtomicU32,
    /// The primary context.
    pub primary: Mutex<Primary>,
    default_pool: OnceLock<Arc<Pool>>,
    /// The pool that `cuMemAllocAsync` takes from, when it is not the default one.
    pub current_pool: Mutex<Option<Arc<Pool>>>,
    used: AtomicU64,
    lost: AtomicBool,
    /// The tick of the last end of a loss.
    usable_since: AtomicU64,
    /// Shared by commands that use memory: nothing of a device runs any more once somebody was told that it is lost.
    at_work: RwLock<()>,
}

struct Machine {
    config: Config,
    process: u32,
    devices: Vec<Device>,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

/// Makes the devices; answers how many there are.
pub fn make(config: Config) -> usize {
    let machine = MACHINE.get_or_init(|| Machine {
        devices: (0..config.devices).map(|ordinal| Device::new(ordinal, &config)).collect(),
        process: std::process::id(),
        config,
    });
    machine.devices.len()
}

/// The configuration, once there is one.
pub fn config() -> Option<&'static Config> {
    MACHINE.get().map(|machine| &machine.config)
}

/// Whether devices have memory pools.
pub fn has_pools() -> bool {
    config().is_none_or(|config| config.pools)
}

/// Whether each device reaches the memory of every other one.
pub fn are_linked() -> bool {
    config().is_none_or(|config| config.links)
}

/// Whether the devices are this process's and not those of one that it was forked from.
pub fn made_by_this_process() -> bool {
    MACHINE.get().is_some_and(|machine| machine.process == std::process::id())
}

/// All devices; none before `cuInit`.
pub fn all() -> &'static [Device] {
    MACHINE.get().map_or(&[], |machine| &machine.devices)
}

/// The device of an ordinal, or the API's error.
pub fn get(ordinal: CUdevice) -> Result<&'static Device> {
    usize::try_from(ordinal).ok().and_then(|ordinal| all().get(ordinal)).ok_or(CUDA_ERROR_INVALID_DEVICE)
}

impl Device {
    fn new(ordinal: usize, config: &Config) -> Self {
        Self {
            ordinal,
            memory: config.memory,
            capability: config.capability,
            primary_flags: AtomicU32::new(0),
            primary: Mutex::default(),
            default_pool: OnceLock::new(),
            current_pool: Mutex::new(None),
            used: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            usable_since: AtomicU64::new(0),
            at_work: RwLock::new(()),
        }
    }

    /// Takes `bytes` out of the device's memory if it has as many.
    pub fn reserve(&self, bytes: u64) -> bool {
        self.used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
                used.checked_add(bytes).filter(|&total| total <= self.memory)
            })
            .is_ok()
    }

    /// Gives `bytes` back.
    pub fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Bytes nobody has taken.
    pub fn free(&self) -> u64 {
        self.memory - self.used.load(Ordering::Acquire)
    }

    /// The pool made with the device, if devices have any.
    pub fn default_pool(&self) -> Result<&Arc<Pool>> {
        if !has_pools() {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        Ok(self.default_pool.get_or_init(|| Pool::default_of(self.ordinal)))
    }

    /// The pool that `cuMemAllocAsync` takes from.
    pub fn pool(&self) -> Result<Arc<Pool>> {
        let current = self.current_pool.lock().clone();
        current.map_or_else(|| self.default_pool().cloned(), Ok)
    }

    /// Makes all further work on the device fail, or ends that. What runs there has ended when this returns: whoever is told of the
    /// loss may free memory that it uses.
    pub fn set_lost(&self, lost: bool) {
        if !lost && self.is_lost() {
            // A stream's thread may come to what was submitted before only now, when the memory that it would use has gone.
            self.usable_since.store(clock::tick(), Ordering::Release);
        }
        self.lost.store(lost, Ordering::Release);
        if lost {
            drop(self.at_work.write());
        }
    }

    /// For a command of the device's that uses memory and was submitted at that tick, as long as it does; `None` if the device is
    /// lost, or was since then.
    pub fn begin_work(&self, submitted: u64) -> Option<RwLockReadGuard<'_, ()>> {
        let at_work = self.at_work.read();
        (!self.is_lost() && submitted >= self.usable_since.load(Ordering::Acquire)).then_some(at_work)
    }

    /// Whether the device is lost.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// The flag behind [`Device::is_lost`], which ends running kernels.
    pub fn lost_flag(&self) -> &AtomicBool {
        &self.lost
    }

    /// Its name.
    pub fn name(&self) -> String {
        format!("simcuda {} (simulated GPU)", self.ordinal)
    }

    /// Its UUID: the same in every process, so that device selectors can name it.
    pub fn uuid(&self) -> CUuuid {
        let mut bytes = *b"simcuda-gpu-0000";
        bytes[14] = b'0' + (self.ordinal / 10) as u8;
        bytes[15] = b'0' + (self.ordinal % 10) as u8;
        CUuuid { bytes }
    }

    /// Its PCI address: every device on a bus of its own.
    pub fn pci_bus_id(&self) -> String {
        format!("0000:{:02X}:00.0", self.pci_bus())
    }

    fn pci_bus(&self) -> i32 {
        0x17 + self.ordinal as i32
    }

    /// A device attribute; `None` if there is no such attribute.
    pub fn attribute(&self, attribute: i32) -> Option<i32> {
        match attribute {
            33 => Some(self.pci_bus()),
            75 => Some(self.capability.0 as i32),
            76 => Some(self.capability.1 as i32),
            85 => Some(self.ordinal as i32),
            // MEMORY_POOLS_SUPPORTED
            115 => Some(i32::from(has_pools())),
            131 => Some(-1),
            _ => ATTRIBUTES.get(attribute as usize).copied().filter(|_| attribute > 0),
        }
    }

    /// Threads of a block.
    pub const MAX_THREADS: u32 = 1024;
    /// Threads of a block in each direction.
    pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
    /// Blocks of a grid in each direction.
    pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
    /// Shared memory a block may have without asking.
    pub const SHARED: usize = 49152;
    /// Shared memory a block may have when its function asked for it.
    pub const SHARED_OPTIN: usize = 232_448;
    /// Shared memory of a multiprocessor.
    pub const SHARED_PER_SM: usize = 233_472;
    /// Shared memory that the system takes of every block.
    pub const SHARED_RESERVED: usize = 1024;
    /// Registers of a multiprocessor, and of a block.
    pub const REGISTERS: u32 = 65536;
    /// Threads of a multiprocessor.
    pub const THREADS_PER_SM: u32 = 2048;
    /// Blocks of a multiprocessor.
    pub const BLOCKS_PER_SM: u32 = 32;
    /// Multiprocessors.
    pub const SMS: u32 = 132;
    /// Threads of a warp.
    pub const WARP: u32 = 32;
}

/// Device attributes by number, of an H200-class card; those that depend on the device are answered above.
#[rustfmt::skip]
static ATTRIBUTES: [i32; 149] = [
    0,
    // 1: threads per block, block x y z, grid x y z, shared per block, constant memory, warp
    1024, 1024, 1024, 64, i32::MAX, 65535, 65535, 49152, 65536, 32,
    // 11: pitch, registers per block, clock kHz, texture alignment, overlap, SMs, timeout, integrated, map host, mode
    i32::MAX, 65536, 1_980_000, 512, 1, 132, 0, 0, 1, 0,
    // 21: texture 1D, 2D w h, 3D w h d, layered w h n, surface alignment
    131_072, 131_072, 65536, 16384, 16384, 16384, 32768, 32768, 2048, 512,
    // 31: concurrent kernels, ECC, bus, PCI device, TCC, memory clock kHz, bus width, L2, threads per SM, copy engines
    1, 1, 0, 0, 0, 3_201_000, 6144, 62_914_560, 2048, 3,
    // 41: unified addressing, 1D layered w n, gather ok w h, 3D alternate w h d, PCI domain
    1, 32768, 2048, 1, 32768, 32768, 8192, 8192, 32768, 0,
    // 51: pitch alignment, cube w, cube layered w n, surface 1D 2D w h 3D w h d
    32, 32768, 32768, 2046, 32768, 131_072, 65536, 16384, 16384, 16384,
    // 61: surface layered 1D w n, 2D w h n, cube w, cube layered w n, 1D linear, 2D linear w
    32768, 2048, 32768, 32768, 2048, 32768, 32768, 2046, 268_435_456, 131_072,
    // 71: 2D linear h pitch, mipmapped w h, capability, 1D mipmapped, priorities, L1 global, L1 local
    65000, 2_097_120, 32768, 32768, 9, 0, 32768, 1, 1, 1,
    // 81: shared per SM, registers per SM, managed, multi board, board group, native atomics, DP ratio, pageable,
    // concurrent managed, preemption
    233_472, 65536, 1, 0, 0, 0, 2, 0, 1, 1,
    // 91: host pointer of registered, mem ops v1, 64-bit v1, NOR v1, cooperative, multi-device, shared opt-in, flush,
    // host register, host page tables
    1, 0, 0, 0, 1, 0, 232_448, 0, 1, 0,
    // 101: direct managed, VMM, POSIX fd, WIN32, KMT, blocks per SM, compression, persisting L2, window, RDMA VMM
    0, 1, 1, 0, 0, 32, 0, 39_321_600, 134_213_632, 0,
    // 111: reserved shared, sparse, read-only register, timeline, pools, RDMA, flush options, write order, pool
    // handle types, clusters
    1024, 0, 0, 1, 1, 0, 0, 0, 0, 1,
    // 121: deferred arrays, 64-bit mem ops, NOR, DMA-BUF, IPC events, sync domains, tensor maps, fabric, unified
    // functions, NUMA config
    0, 1, 1, 0, 1, 1, 0, 0, 0, 0,
    // 131: NUMA id, multicast, MPS, host NUMA id, D3D12, decompress mask, length, Vulkan, GPU PCI ids
    -1, 0, 0, 0, 0, 0, 0, 0, 0x2335_10de, 0x18be_10de,
    // 141: host NUMA VMM, host NUMA pools, multi-node IPC, host pools, host VMM, host DMA-BUF, partial atomics,
    // atomic reduction
    0, 1, 0, 1, 0, 0, 0, 0,
];
