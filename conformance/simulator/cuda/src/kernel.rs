//! Launches: checking the shape, copying the arguments, running the interpreter.
//!
//! Arguments are copied when the launch is submitted; the client may reuse its own at once. A fault makes the
//! context fail and is reported with its place in the PTX.

use crate::array;
use crate::clock::Point;
use crate::command;
use crate::context::Context;
use crate::device::Device;
use crate::exec::{self, Access, Environment, FaultKind, Grid, LaunchFault, MemoryFault};
use crate::memory;
use crate::module::{Function, MODULES};
use crate::reports::{self, Kind};
use crate::stream::{self, Reach, Stream};
use crate::sys::*;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicU64, Ordering};
use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A launch as the API describes it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory.
    pub shared: u32,
    /// Whether all blocks must be resident together.
    pub cooperative: bool,
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
}

/// A checked launch.
#[derive(Clone)]
pub struct Kernel {
    function: Arc<Function>,
    grid: Grid,
    params: Vec<u8>,
}

static GRIDS: AtomicU64 = AtomicU64::new(1);

impl Kernel {
    /// Checks a launch and takes its arguments from one of the two ways to give them.
    ///
    /// # Safety
    /// `params` must hold one pointer an argument, or `extra` the API's list of a buffer and its size.
    pub unsafe fn prepare(
        function: Arc<Function>,
        shape: Shape,
        params: *const *const c_void,
        extra: *const *const c_void,
    ) -> Result<Kernel> {
        check_shape(&function, &shape)?;
        // SAFETY: passed on from the caller.
        let params = unsafe { arguments(&function, params, extra)? };
        let Shape { grid, block, shared, cooperative, cluster } = shape;
        Ok(Kernel { function, grid: Grid { grid, block, dynamic_shared: shared, cooperative, cluster }, params })
    }

    /// Submits it.
    pub fn submit(self, stream: &Arc<Stream>) -> Result {
        if self.function.context.id != stream.context.id {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        stream.submit_to_device(command::Command::Kernel(Box::new(self)));
        Ok(())
    }

    /// The context that it runs in.
    pub fn context(&self) -> &Arc<Context> {
        &self.function.context
    }

    /// Its function's name.
    pub fn name(&self) -> std::borrow::Cow<'_, str> {
        self.function.name.to_string_lossy()
    }

    /// The shape that it was given.
    pub fn shape(&self) -> Shape {
        let Grid { grid, block, dynamic_shared, cooperative, cluster } = self.grid;
        Shape { grid, block, shared: dynamic_shared, cooperative, cluster }
    }

    /// The same with another shape, which is not checked before [`Kernel::check`] is asked.
    pub fn shaped(&self, shape: Shape) -> Kernel {
        let Shape { grid, block, shared, cooperative, cluster } = shape;
        let grid = Grid { grid, block, dynamic_shared: shared, cooperative, cluster };
        Kernel { function: self.function.clone(), grid, params: self.params.clone() }
    }

    /// Fails and reports if its module is unloaded.
    pub fn check_loaded(&self) -> Result {
        MODULES.lookup(self.function.module, CUDA_ERROR_INVALID_HANDLE).map(drop)
    }

    /// Checks its shape once more.
    pub fn check(&self) -> Result {
        check_shape(&self.function, &self.shape())
    }

    /// Runs it to its end on this thread.
    pub fn run(&self, point: &Point) -> Result {
        let context = &self.function.context;
        let view = View { point, reach: stream::reach_of(context), context, name: &self.function.name };
        let environment = Environment {
            memory: &view,
            // A closed standard output is no reason to fail the kernel.
            output: &|text| drop(std::io::stdout().write_all(text.as_bytes())),
            sm_count: Device::SMS,
            grid_id: GRIDS.fetch_add(1, Ordering::Relaxed),
            abort: Some(self.function.context.device.lost_flag()),
            workers: cores(),
        };
        let result = exec::launch(&self.function.linked, self.function.id, &self.grid, &self.params, &environment);
        result.map_err(|fault| {
            let name = self.function.name.to_string_lossy();
            command::kernel_fault(format!("kernel {name}: {fault}"));
            code_of(&fault)
        })
    }
}

/// Cores of this machine. Asking the system takes longer than a small kernel, so it is asked once.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |cores| cores.get()))
}

/// A kernel's view of memory.
struct View<'a> {
    point: &'a Point,
    reach: Reach,
    context: &'a Context,
    name: &'a CStr,
}

impl exec::Memory for View<'_> {
    fn check(&self, address: u64, len: usize, _: Access) -> Result<Range<u64>, MemoryFault> {
        match memory::check(address, len, self.point, Some(&self.reach)) {
            Ok(allocation) => Ok(allocation.range()),
            Err(denied) => {
                reports::add(denied.kind, format!("kernel: {}", denied.message));
                Err(MemoryFault { message: denied.message })
            }
        }
    }

    fn stray(&self, message: &str) {
        let name = self.name.to_string_lossy();
        reports::add(Kind::InvalidPointer, format!("kernel {name}: {message}, which the hardware lets pass"));
    }

    fn texture(&self, handle: u64) -> Result<exec::image::Texture, MemoryFault> {
        array::reached(&array::TEXTURES, handle, self.context).map_err(|message| MemoryFault { message })
    }

    fn surface(&self, handle: u64) -> Result<exec::image::Surface, MemoryFault> {
        array::reached(&array::SURFACES, handle, self.context).map_err(|message| MemoryFault { message })
    }
}

fn code_of(fault: &LaunchFault) -> CUresult {
    match fault {
        LaunchFault::Memory { kind, .. } => match kind {
            FaultKind::IllegalAddress => CUDA_ERROR_ILLEGAL_ADDRESS,
            FaultKind::Misaligned => CUDA_ERROR_MISALIGNED_ADDRESS,
            FaultKind::AddressSpace => CUDA_ERROR_INVALID_ADDRESS_SPACE,
            FaultKind::InvalidPc => CUDA_ERROR_INVALID_PC,
            FaultKind::Stack => CUDA_ERROR_HARDWARE_STACK_ERROR,
        },
        LaunchFault::Assert { .. } => CUDA_ERROR_ASSERT,
        LaunchFault::Deadlock { .. } => CUDA_ERROR_LAUNCH_TIMEOUT,
        _ => CUDA_ERROR_LAUNCH_FAILED,
    }
}

/// Most blocks of a cluster on every device that has clusters.
const PORTABLE_CLUSTER: u64 = 8;
/// Most blocks of a cluster on this device, for functions that may have so many.
const MOST_CLUSTER: u64 = 16;

fn check_shape(function: &Function, shape: &Shape) -> Result {
    if (0..3).any(|i| shape.cluster[i] == 0 || !shape.grid[i].is_multiple_of(shape.cluster[i])) {
        return Err(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    }
    let most = if function.large_clusters.load(Ordering::Relaxed) { MOST_CLUSTER } else { PORTABLE_CLUSTER };
    if shape.cluster.iter().fold(1, |blocks: u64, &side| blocks.saturating_mul(side.into())) > most {
        return Err(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    }
    let bad_grid = (0..3).any(|i| shape.grid[i] == 0 || shape.grid[i] > Device::MAX_GRID[i]);
    let bad_block = (0..3).any(|i| shape.block[i] == 0 || shape.block[i] > Device::MAX_BLOCK[i]);
    let threads: u64 = shape.block.iter().map(|&n| u64::from(n)).product();
    if bad_grid || bad_block || threads > u64::from(Device::MAX_THREADS) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if shape.shared as i64 > i64::from(function.max_dynamic_shared.load(Ordering::Relaxed)) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if function.code().required_block.is_some_and(|required| required != shape.block) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if function.code().max_threads_per_block.is_some_and(|most| threads > u64::from(most)) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    // Its registers.
    if threads > u64::from(function.max_threads()) {
        return Err(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    let blocks: u64 = shape.grid.iter().map(|&n| u64::from(n)).product();
    let resident = crate::occupancy::blocks_per_sm(function, threads as u32, shape.shared as usize) * Device::SMS;
    if shape.cooperative && blocks > u64::from(resident) {
        return Err(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    }
    Ok(())
}

/// # Safety
/// As for [`Kernel::prepare`].
unsafe fn arguments(function: &Function, params: *const *const c_void, extra: *const *const c_void) -> Result<Vec<u8>> {
    let size = function.params_size();
    let mut bytes = vec![0; size];
    if !params.is_null() {
        if !extra.is_null() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        for (i, param) in function.code().params.iter().enumerate() {
            // SAFETY: the client gives one pointer a parameter, each to as many bytes as the parameter has.
            unsafe {
                let argument = params.add(i).read();
                if argument.is_null() {
                    return Err(CUDA_ERROR_INVALID_VALUE);
                }
                let field = &mut bytes[param.offset..param.offset + param.size];
                field.copy_from_slice(core::slice::from_raw_parts(argument.cast(), param.size));
            }
        }
    } else if !extra.is_null() {
        // SAFETY: passed on from the caller.
        let given = unsafe { extra_buffer(extra)? };
        if given.len() < size {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        bytes.copy_from_slice(&given[..size]);
    } else if size > 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(bytes)
}

/// Reads the list of names and values that ends with `CU_LAUNCH_PARAM_END`.
///
/// # Safety
/// `extra` must be such a list, and its buffer as long as it says.
unsafe fn extra_buffer<'a>(extra: *const *const c_void) -> Result<&'a [u8]> {
    let (mut buffer, mut size) = (core::ptr::null::<u8>(), 0);
    let mut at = extra;
    loop {
        // SAFETY: the list goes on until its end marker; every name but that has a value after it.
        let (name, value) = unsafe {
            let name = at.read() as usize;
            (name, if name == CU_LAUNCH_PARAM_END { core::ptr::null() } else { at.add(1).read() })
        };
        match name {
            CU_LAUNCH_PARAM_END => break,
            CU_LAUNCH_PARAM_BUFFER_POINTER => buffer = value.cast(),
            // SAFETY: the value is the address of the size.
            CU_LAUNCH_PARAM_BUFFER_SIZE => size = unsafe { value.cast::<usize>().read() },
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        }
        // SAFETY: as above.
        at = unsafe { at.add(2) };
    }
    if buffer.is_null() {
        return if size == 0 { Ok(&[]) } else { Err(CUDA_ERROR_INVALID_VALUE) };
    }
    // SAFETY: the client's buffer has `size` bytes.
    Ok(unsafe { core::slice::from_raw_parts(buffer, size) })
}
