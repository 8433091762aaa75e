//! Launches: HIP's checks and their codes, and its packed arguments as CUDA's.

use core::ffi::{c_uint, c_void};

use crate::args::In;
use crate::current::{self, Scope};
use crate::stream;
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

/// Fails on a grid or a block that no launch can have.
pub fn check_shape(grid: [c_uint; 3], block: [c_uint; 3]) -> Result {
    if grid.contains(&0) || block.contains(&0) {
        return Err(hipErrorInvalidValue);
    }
    let threads = block.iter().fold(1_u64, |all, side| all.saturating_mul(u64::from(*side)));
    if threads > current::device()?.max_threads { Err(hipErrorInvalidConfiguration) } else { Ok(()) }
}

impl Launch {
    fn check(&self) -> Result {
        if self.function == 0 {
            return Err(hipErrorInvalidResourceHandle);
        }
        check_shape(self.grid, self.block)
    }

    /// Launches, with the arguments either as a list of their addresses or packed.
    pub fn run(&self, arguments: &In<*mut c_void>, extra: &In<usize>) -> Result {
        self.check()?;
        let Self { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, stream } = *self;
        let arguments = Arguments::read(arguments, extra)?;
        stream::check_launches(stream)?;
        let _scope = Scope::for_stream(stream)?;
        let (list, extra) = (arguments.list(), arguments.extra());
        cu!(launch(function, gx, gy, gz, bx, by, bz, shared, stream, list, extra))
    }

    /// Launches so that all blocks run at once.
    pub fn run_cooperative(&self, arguments: &In<*mut c_void>) -> Result {
        self.check()?;
        let Self { function, grid: [gx, gy, gz], block: [bx, by, bz], shared, stream } = *self;
        let _scope = Scope::here()?;
        cu!(launch_cooperative(function, gx, gy, gz, bx, by, bz, shared, stream, arguments.raw()))
    }
}

/// The arguments of a launch as CUDA takes them: a list of their addresses, or a list that names one buffer.
pub struct Arguments {
    list: *const *mut c_void,
    packed: Option<[usize; 5]>,
}

impl Arguments {
    /// Reads HIP's two ways of giving them, of which one at most may be used.
    pub fn read(list: &In<*mut c_void>, extra: &In<usize>) -> Result<Self> {
        let packed = match (list.raw().is_null(), extra.raw().is_null()) {
            (false, false) => return Err(hipErrorInvalidValue),
            (_, true) => None,
            (true, false) => Some(packed(extra)?),
        };
        Ok(Self { list: list.raw(), packed })
    }

    /// The addresses, or null.
    pub fn list(&self) -> *const *mut c_void {
        self.list
    }

    /// The list that names the buffer, or null; it lives as long as this.
    pub fn extra(&self) -> *const usize {
        self.packed.as_ref().map_or(core::ptr::null(), |entries| entries.as_ptr())
    }
}

/// HIP's list of pairs, which an entry of its own ends, as CUDA ends it.
fn packed(extra: &In<usize>) -> Result<[usize; 5]> {
    const LONGEST: usize = 5;
    const CUDA_END: usize = 0;
    let list = extra.until(|entry| entry == HIP_LAUNCH_PARAM_END, LONGEST)?;
    let value = |key| list.chunks_exact(2).find(|pair| pair[0] == key).map(|pair| pair[1]);
    let buffer = value(HIP_LAUNCH_PARAM_BUFFER_POINTER).ok_or(hipErrorInvalidValue)?;
    let size = value(HIP_LAUNCH_PARAM_BUFFER_SIZE).ok_or(hipErrorInvalidValue)?;
    Ok([HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, size, CUDA_END])
}
