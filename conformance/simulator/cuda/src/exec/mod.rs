//! Runs one grid of a loaded module to its end.
//!
//! Device memory is host memory: a global address is a host pointer, and whoever launches says through
//! [`Memory`] which addresses may be touched. Everything a kernel can do wrong ends the launch with a
//! [`LaunchFault`]; nothing here may panic, hang on a barrier that cannot complete, or touch an address that
//! [`Memory`] did not allow.

pub(crate) mod atomics;
mod block;
mod grid;
pub mod image;
mod image_ops;
pub(crate) mod lanes;
pub(crate) mod math;
mod memory;
pub(crate) mod op;
mod printf;
mod warp;
mod warp_ops;

use crate::ptx::{FunctionId, Module};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A module and the addresses its variables were given.
#[derive(Debug)]
pub struct LinkedModule {
    module: Arc<Module>,
    addresses: Vec<u64>,
}

impl LinkedModule {
    /// `global_addresses` holds one address per [`Module::globals`], in that order. The caller has written the
    /// initial values there.
    ///
    /// # Panics
    /// When the number of addresses is not the number of variables.
    pub fn new(module: Arc<Module>, global_addresses: Vec<u64>) -> Self {
        assert_eq!(module.globals().len(), global_addresses.len(), "one address per module variable");
        LinkedModule { module, addresses: global_addresses }
    }

    /// The module.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// The addresses of [`Module::globals`].
    pub fn global_addresses(&self) -> &[u64] {
        &self.addresses
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Whether all blocks must make progress together (a cooperative launch).
    pub cooperative: bool,
    /// Blocks of a cluster in x, y and z; one block without clusters.
    pub cluster: [u32; 3],
}

impl Grid {
    /// A grid without clusters whose blocks need not make progress together.
    pub const PLAIN: Self =
        Self { grid: [1; 3], block: [1; 3], dynamic_shared: 0, cooperative: false, cluster: [1; 3] };
}

/// How memory is about to be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic read-modify-write.
    Atomic,
}

/// Why an address may not be touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFault {
    /// What is wrong with the address, e.g. "use after stream-ordered free".
    pub message: String,
}

/// Permission to touch addresses; the driver implements it over its allocations.
pub trait Memory: Sync {
    /// `Ok` when the kernel may make this access to all of `[address, address + len)`. The range returned contains
    /// it and may be accessed in the same way for the rest of the launch without asking again, so implementations
    /// return the whole allocation.
    fn check(&self, address: u64, len: usize, access: Access) -> Result<Range<u64>, MemoryFault>;

    /// Told once a launch, of an access that is not allowed and that the hardware lets pass.
    fn stray(&self, _message: &str) {}

    /// The texture object of a handle; where there are no images, no handle is one's.
    fn texture(&self, handle: u64) -> Result<image::Texture, MemoryFault> {
        Err(MemoryFault { message: format!("{handle:#x} is no texture object") })
    }

    /// The surface object of a handle, likewise.
    fn surface(&self, handle: u64) -> Result<image::Surface, MemoryFault> {
        Err(MemoryFault { message: format!("{handle:#x} is no surface object") })
    }
}

/// What a launch needs of the device around it.
pub struct Environment<'a> {
    /// Permission to touch memory.
    pub memory: &'a dyn Memory,
    /// Where `printf` goes, one call a formatted string. Calls may come from several threads, one at a time.
    pub output: &'a (dyn Fn(&str) + Sync),
    /// `%nsmid`.
    pub sm_count: u32,
    /// `%gridid`.
    pub grid_id: u64,
    /// When it becomes true, the launch ends soon with [`LaunchFault::Aborted`].
    pub abort: Option<&'a AtomicBool>,
    /// The most threads to run blocks on, this one included; 0 is as many as there are cores.
    pub workers: usize,
}

/// What sort of memory access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Not a permitted address: `CUDA_ERROR_ILLEGAL_ADDRESS`.
    IllegalAddress,
    /// Not a multiple of the access's size: `CUDA_ERROR_MISALIGNED_ADDRESS`.
    Misaligned,
    /// An instruction on an address of the wrong state space: `CUDA_ERROR_INVALID_ADDRESS_SPACE`.
    AddressSpace,
    /// A program counter that is no function's: `CUDA_ERROR_INVALID_PC`.
    InvalidPc,
    /// The call stack is exhausted: `CUDA_ERROR_HARDWARE_STACK_ERROR`.
    Stack,
}

/// Where in the grid and in the text something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The function's name.
    pub function: String,
    /// The PTX line.
    pub line: u32,
    /// `%ctaid`.
    pub block: [u32; 3],
    /// `%tid`.
    pub thread: [u32; 3],
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { function, line, block: b, thread: t } = self;
        write!(
            f,
            "in {function} (ptx line {line}), block ({}, {}, {}), thread ({}, {}, {})",
            b[0], b[1], b[2], t[0], t[1], t[2]
        )
    }
}

/// Why a launch did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchFault {
    /// A memory access, or a jump, that is not allowed.
    Memory {
        /// Where.
        at: Location,
        /// Which sort.
        kind: FaultKind,
        /// What is wrong with it.
        message: String,
    },
    /// A `trap` instruction: `CUDA_ERROR_LAUNCH_FAILED`.
    Trap {
        /// Where.
        at: Location,
    },
    /// A failed device-side `assert`: `CUDA_ERROR_ASSERT`.
    Assert {
        /// Where.
        at: Location,
        /// File, line, function and expression as the kernel gave them.
        message: String,
    },
    /// Threads wait at barriers that no other thread can complete; hardware hangs here.
    Deadlock {
        /// One of the waiting threads.
        at: Location,
        /// What it waits for.
        message: String,
    },
    /// The arguments of the launch do not fit the kernel: `CUDA_ERROR_INVALID_VALUE`.
    Invalid {
        /// What does not fit.
        message: String,
    },
    /// [`Environment::abort`] became true: `CUDA_ERROR_LAUNCH_TIMEOUT`.
    Aborted,
}

impl fmt::Display for LaunchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchFault::Memory { at, message, .. } => write!(f, "{message}, {at}"),
            LaunchFault::Trap { at } => write!(f, "trap {at}"),
            LaunchFault::Assert { at, message } => write!(f, "assertion failed: {message}, {at}"),
            LaunchFault::Deadlock { at, message } => write!(f, "deadlock: {message}, {at}"),
            LaunchFault::Invalid { message } => f.write_str(message),
            LaunchFault::Aborted => f.write_str("the launch was aborted"),
        }
    }
}

impl std::error::Error for LaunchFault {}

/// Runs `function` over the grid and returns when every thread has ended, or at the first fault.
///
/// `params` is the parameter buffer: each parameter's bytes at its [`Param::offset`](crate::ptx::Param::offset).
pub fn launch(
    module: &LinkedModule,
    function: FunctionId,
    grid: &Grid,
    params: &[u8],
    environment: &Environment<'_>,
) -> Result<(), LaunchFault> {
    grid::launch(module, function, grid, params, environment)
}
