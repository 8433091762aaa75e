//! `Driver` over the CUDA driver API: one native call a method.
//!
//! The files are named after the groups of the engine's trait. Every symbol has the API's signature, since the table was
//! opened on the native library; a `SAFETY` line says what holds beyond that. Borrowed handles are alive: the engine ends
//! an object by giving its handle away. Nothing here decides anything: no caching, no retry, no switching of contexts. The
//! few branches translate what one status means in one call alone.

mod contexts;
mod devices;
mod events;
mod external;
mod graphs;
mod images;
mod interprocess;
mod kernels;
mod memory;
mod modules;
mod pools;
mod streams;
mod transfers;
mod virtual_memory;

use core::ffi::c_int;
use std::sync::OnceLock;

use ur_adapter::driver::Driver;
use ur_adapter::driver::native::cell::AdapterCell;
use ur_adapter::driver::native::{self, cannot_start};
use ur_adapter::object::error::{Error, OpenError, Result};
use ur_ffi::ur_backend_t;

use crate::nvml::Nvml;
use crate::sys::{self, CUresult, Symbols};

/// The one adapter of this library.
pub(crate) static CELL: AdapterCell<Cuda> = AdapterCell::new();

/// The opened driver.
pub(crate) struct Cuda {
    pub(crate) symbols: Symbols,
    /// `cuDriverGetVersion`: major * 1000 + minor * 10.
    pub(crate) version: u32,
    /// Opened when somebody first asks it.
    management: OnceLock<core::result::Result<Nvml, OpenError>>,
    /// Whether the driver found a device at all; without one it refuses to be initialised.
    has_devices: bool,
}

impl Cuda {
    /// Takes an opened library into use.
    fn start(symbols: Symbols, library: &str) -> core::result::Result<Self, OpenError> {
        // SAFETY: the symbol has the API's signature; flags must be 0.
        let status = unsafe { (symbols.init)(0) };
        if status != CUresult::SUCCESS && status != CUresult::NO_DEVICE {
            return Err(cannot_start(&symbols, library, "cuInit", status));
        }
        let has_devices = status == CUresult::SUCCESS;
        let mut version: c_int = 0;
        // SAFETY: as above, and `version` is a live local.
        let status = unsafe { (symbols.driver_version)(&raw mut version) };
        if status != CUresult::SUCCESS {
            return Err(cannot_start(&symbols, library, "cuDriverGetVersion", status));
        }
        Ok(Self { version: version.unsigned_abs(), has_devices, management: OnceLock::new(), symbols })
    }

    /// Whether the driver implements that version of CUDA.
    pub(crate) fn at_least(&self, major: u32, minor: u32) -> bool {
        self.version >= major * 1000 + minor * 10
    }

    /// Success, or the error of a native call; the name in messages is the API's.
    #[inline(always)]
    fn check(&self, call: &'static str, status: CUresult) -> Result<()> {
        native::check(&self.symbols, call, status)
    }

    /// The answer of a query that has a status of its own for "not yet".
    #[inline(always)]
    fn done(&self, call: &'static str, status: CUresult) -> Result<bool> {
        native::done(&self.symbols, call, status)
    }

    /// The error of a native call.
    #[cold]
    fn failed(&self, call: &'static str, status: CUresult) -> Error {
        native::failed(&self.symbols, call, status)
    }
}

impl Driver for Cuda {
    const BACKEND: ur_backend_t = ur_backend_t::CUDA;
    const PLATFORM_NAME: &'static str = "NVIDIA CUDA BACKEND";
    const VENDOR: &'static str = "NVIDIA Corporation";
    const VENDOR_ID: u32 = 0x10de;
    const LIBRARY_VARIABLE: &'static str = sys::LIBRARY_VARIABLE;
    const TRANSFERS_NEED_CONTEXT: bool = false;
    const LAUNCHES_NEED_CONTEXT: bool = false;
    const STREAM_ENDS_WAIT: bool = false;
    const TELLS_REGISTRATIONS: bool = true;
    const TELLS_POOLS: bool = true;
    const REGISTERS_IN_PLACE: bool = true;
    const POOL_STEP: usize = 32 << 20;
    const CONTEXTS_HAVE_HANDLES: bool = true;
    const STRIDED_WIDTHS: &'static [usize] = &[4, 2, 1];
    const ADVISES_COHERENCE: bool = false;

    fn cell() -> &'static AdapterCell<Self> {
        &CELL
    }

    fn open() -> core::result::Result<Self, OpenError> {
        let (symbols, library) = sys::open()?;
        Self::start(symbols, &library)
    }

    fn version(&self) -> Result<String> {
        Ok(format!("CUDA {}.{}", self.version / 1000, self.version % 1000 / 10))
    }
}
