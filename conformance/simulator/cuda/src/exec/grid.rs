//! A whole grid: its blocks over the threads of the host.

use super::block::{Resident, Stop};
use super::op::Code;
use super::{Environment, Grid, LaunchFault, LinkedModule};
use crate::ptx::{Function, FunctionId};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The most shared memory of a block, that of the largest hardware.
const MAX_SHARED: u64 = 256 << 10;
/// Accesses behind the shared memory that a launch asked for do not fault up to a multiple of this (`docs/probes/shared_bounds.c`).
const SHARED_PIECE: u64 = 128;
/// A grid that runs longer than this gets helper threads.
const ALONE: Duration = Duration::from_micros(150);
/// Rounds of turns after which a worker takes another block beside the ones it has: they may wait for it.
const PATIENCE: u32 = 64;
/// The most blocks a worker runs side by side, unless the launch is cooperative.
const SIDE_BY_SIDE: usize = 16;

/// A launch in progress.
pub(super) struct Launch<'a> {
    pub functions: &'a [Function],
    /// Addresses of the module's globals.
    pub globals: &'a [u64],
    pub entry: u32,
    pub code: &'a Code,
    pub grid: Grid,
    pub environment: &'a Environment<'a>,
    pub threads: u32,
    pub warps: u32,
    pub local_bytes: usize,
    pub shared_size: u64,
    /// Bytes of shared memory that do not fault.
    pub shared_reach: u64,
    /// Whether an access that does not fault was reported.
    pub strayed: AtomicBool,
    /// The parameter buffer, aligned.
    pub params: Vec<u128>,
    pub params_size: u64,
    /// Memory of the launch itself, for grid-wide barriers.
    pub workspace: Range<u64>,
    /// The first site of each function.
    pub site_base: Vec<u32>,
    pub sites: u32,
    pub started: Instant,
    stop: AtomicBool,
    /// Whether a worker left blocks unfinished.
    cut_short: AtomicBool,
    next: AtomicU64,
    blocks: u64,
    output: Mutex<()>,
    fault: Mutex<Option<LaunchFault>>,
}

impl Launch<'_> {
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.environment.abort.is_some_and(|a| a.load(Ordering::Relaxed))
    }

    /// Writes text, one call at a time.
    pub fn output(&self) -> impl Fn(&str) + '_ {
        |text| {
            let _one_at_a_time = self.output.lock();
            (self.environment.output)(text);
        }
    }

    /// The next block to run.
    fn claim(&self) -> Option<u64> {
        let block = self.next.fetch_add(1, Ordering::Relaxed);
        (block < self.blocks).then_some(block)
    }

    fn left(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.blocks
    }
}

fn invalid(message: impl Into<String>) -> LaunchFault {
    LaunchFault::Invalid { message: message.into() }
}

fn validate(function: &Function, grid: &Grid, params: &[u8]) -> Result<(), LaunchFault> {
    let threads = grid.block.iter().map(|&n| u64::from(n)).try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX);
    if threads == 0 || threads > 1024 {
        return Err(invalid(format!("a block of {threads} threads; 1 to 1024 are possible")));
    }
    if grid.grid.contains(&0) {
        return Err(invalid("a grid without blocks"));
    }
    if function.required_block.is_some_and(|r| r != grid.block) {
        return Err(invalid(format!("'{}' requires another block size", function.name)));
    }
    if function.max_threads_per_block.is_some_and(|m| threads > u64::from(m)) {
        return Err(invalid(format!("'{}' allows fewer threads a block than {threads}", function.name)));
    }
    let wanted = function.params.last().map_or(0, |p| p.offset + p.size);
    if params.len() < wanted {
        return Err(invalid(format!("'{}' takes {wanted} bytes of parameters, not {}", function.name, params.len())));
    }
    let shared = function.static_shared as u64 + u64::from(grid.dynamic_shared);
    if shared > MAX_SHARED {
        return Err(invalid(format!("{shared} bytes of shared memory a block; {MAX_SHARED} are possible")));
    }
    Ok(())
}

/// Runs a grid to its end.
pub(super) fn launch(
    linked: &LinkedModule,
    function: FunctionId,
    grid: &Grid,
    params: &[u8],
    environment: &Environment<'_>,
) -> Result<(), LaunchFault> {
    let functions = linked.module().functions();
    let chosen = functions.get(function.index()).filter(|f| f.entry);
    let Some((kernel, code)) = chosen.and_then(|f| Some((f, f.code.as_ref()?))) else {
        return Err(invalid("not a kernel of the module"));
    };
    validate(kernel, grid, params)?;
    let mut buffer = vec![0u128; params.len().div_ceil(16)];
    for (to, from) in buffer.iter_mut().zip(params.chunks(16)) {
        let mut bytes = [0; 16];
        bytes[..from.len()].copy_from_slice(from);
        *to = u128::from_ne_bytes(bytes);
    }
    // What a grid-wide barrier counts in; atomics, for blocks on several threads use it.
    let workspace: [AtomicU64; 8] = Default::default();
    let workspace_start = workspace.as_ptr() as u64;
    let mut sites = 0;
    let site_base = functions
        .iter()
        .map(|f| {
            let base = sites;
            sites += f.code.as_ref().map_or(0, |c| c.sites);
            base
        })
        .collect();
    let threads = grid.block.iter().product::<u32>();
    let shared_size = match grid.dynamic_shared {
        0 => kernel.static_shared as u64,
        dynamic => u64::from(code.dynamic_start) + u64::from(dynamic),
    };
    let launch = Launch {
        functions,
        globals: linked.global_addresses(),
        entry: function.0,
        code,
        grid: *grid,
        environment,
        threads,
        warps: threads.div_ceil(32),
        local_bytes: kernel.local_bytes,
        shared_size,
        shared_reach: shared_size.next_multiple_of(SHARED_PIECE),
        strayed: AtomicBool::new(false),
        params: buffer,
        params_size: params.len() as u64,
        workspace: workspace_start..workspace_start + 64,
        site_base,
        sites,
        started: Instant::now(),
        stop: AtomicBool::new(false),
        cut_short: AtomicBool::new(false),
        next: AtomicU64::new(0),
        blocks: grid.grid.iter().map(|&n| u64::from(n)).product(),
        output: Mutex::new(()),
        fault: Mutex::new(None),
    };
    run(&launch);
    // The first fault explains more than the abort that may have followed it.
    if let Some(fault) = launch.fault.into_inner() {
        return Err(fault);
    }
    if launch.cut_short.into_inner() { Err(LaunchFault::Aborted) } else { Ok(()) }
}

fn run(launch: &Launch<'_>) {
    let cores = match launch.environment.workers {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    };
    let mut helpers = if launch.grid.cooperative { 0 } else { cores.saturating_sub(1) };
    std::thread::scope(|scope| {
        work(launch, &mut || {
            if helpers > 0 && launch.left() && launch.started.elapsed() > ALONE {
                for _ in 0..std::mem::take(&mut helpers) {
                    // Without another thread this one does all the work.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, || work(launch, &mut || {}));
                }
            }
        });
    });
}

/// Runs blocks until none is left.
fn work(launch: &Launch<'_>, tick: &mut dyn FnMut()) {
    let mut residents: Vec<Resident<'_>> = Vec::new();
    let most = if launch.grid.cooperative { usize::MAX } else { SIDE_BY_SIDE };
    let mut rounds = 0;
    loop {
        let wanted = if launch.grid.cooperative { usize::MAX } else { 1 };
        while residents.len() < wanted.max(usize::from(rounds > PATIENCE) * (residents.len() + 1)).min(most) {
            rounds = 0;
            match launch.claim() {
                Some(block) => residents.push(Resident::new(launch, block)),
                None => break,
            }
        }
        if residents.is_empty() {
            return;
        }
        rounds += 1;
        let mut i = 0;
        while i < residents.len() {
            if launch.stopped() {
                launch.cut_short.store(true, Ordering::Relaxed);
                return;
            }
            match residents[i].step() {
                Ok(false) => i += 1,
                Ok(true) => {
                    rounds = 0;
                    match launch.claim() {
                        Some(block) => residents[i].restart(block),
                        None => drop(residents.swap_remove(i)),
                    }
                }
                Err(stop) => {
                    if let Stop::Fault(fault) = stop {
                        launch.fault.lock().get_or_insert(*fault);
                    }
                    launch.stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
        tick();
        // Whoever only waits leaves the core to those it waits for.
        if rounds > 1 {
            std::thread::yield_now();
        }
    }
}
