//! Launches: HIP's checks and their codes, and its packed arguments as CUDA's.

use core::ffi::{c_uint, c_void};

use crate::args::In;
use crate::current::{self, Scope};
use crate::sys::status::*;
use crate::sys::value::handle::*;

/// Blocks and threads of a launch, with its dynamic shared memory and its stream.
#[derive(Clone, Copy)]
pub struct Launch {
    /// The function.
    pub function: usize,
    /// Blocks in each direction.
    pub grid: [c_uint; 3],
    /// Threads of a block in each direction.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory.
    pub shared: c_uint,
    /// The stream.
    pub stream: usize,
}

impl Launch {
    fn check(&self) -> Result {
        if self.function == 0 {
            return Err(hipErrorInvalidResourceHandle);
        }
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Err(hipErrorInvalidValue);
        }
        let threads = self.block.iter().fold(1_u64, |all, side| all.saturating_mul(u64::from(*side)));
        if threads > current::device()?.max_threads { Err(hipErrorInvalidConfiguration) } else { Ok(()) }
    }

    /// Launches, with the arguments either as a list of their addresses or packed.
    pub fn run(&self, arguments: &In<*mut c_void>, extra: &In<usize>) -> Result {
        self.check()?;
        let Self { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, stream } = *self;
        let packed = match (arguments.raw().is_null(), extra.raw().is_null()) {
            (false, false) => return Err(hipErrorInvalidValue),
            (_, true) => None,
            (true, false) => Some(Packed::read(extra)?),
        };
        let entries = packed.as_ref().map(Packed::entries);
        let list = entries.as_ref().map_or(core::ptr::null(), |entries| entries.as_ptr());
        let _scope = Scope::for_stream(stream)?;
        cu!(launch(function, gx, gy, gz, bx, by, bz, shared, stream, arguments.raw(), list))
    }

    /// Launches so that all blocks run at once.
    pub fn run_cooperative(&self, arguments: &In<*mut c_void>) -> Result {
        self.check()?;
        let Self { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, stream } = *self;
        let _scope = Scope::here()?;
        cu!(launch_cooperative(function, gx, gy, gz, bx, by, bz, shared, stream, arguments.raw()))
    }
}

/// Arguments packed in one buffer: its address and the address of its size.
struct Packed {
    buffer: usize,
    size: usize,
}

impl Packed {
    /// Reads HIP's list of pairs, which an entry of its own ends.
    fn read(extra: &In<usize>) -> Result<Self> {
        const LONGEST: usize = 5;
        let list = extra.until(|entry| entry == HIP_LAUNCH_PARAM_END, LONGEST)?;
        let value = |key| list.chunks_exact(2).find(|pair| pair[0] == key).map(|pair| pair[1]);
        let buffer = value(HIP_LAUNCH_PARAM_BUFFER_POINTER).ok_or(hipErrorInvalidValue)?;
        let size = value(HIP_LAUNCH_PARAM_BUFFER_SIZE).ok_or(hipErrorInvalidValue)?;
        Ok(Self { buffer, size })
    }

    /// The same list as CUDA ends it.
    fn entries(&self) -> [usize; 5] {
        const CUDA_END: usize = 0;
        [HIP_LAUNCH_PARAM_BUFFER_POINTER, self.buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, self.size, CUDA_END]
    }
}
