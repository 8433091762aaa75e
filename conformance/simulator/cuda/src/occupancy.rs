//! How many blocks of a function fit on a multiprocessor.
//!
//! The usual calculation over threads, registers and shared memory, with the limits in `device`.

use crate::device::Device;
use crate::module::Function;

/// Resident blocks of `threads` threads with `dynamic` bytes of dynamic shared memory.
pub fn blocks_per_sm(function: &Function, threads: u32, dynamic: usize) -> u32 {
    if threads == 0 || threads > function.max_threads() {
        return 0;
    }
    let warps = threads.div_ceil(Device::WARP);
    let by_threads = Device::THREADS_PER_SM / (warps * Device::WARP);
    let registers_per_warp = (function.code().registers.max(1) * Device::WARP).next_multiple_of(256);
    let by_registers = Device::REGISTERS / (registers_per_warp * warps);
    let shared = function.code().static_shared + dynamic;
    if shared > Device::SHARED_OPTIN {
        return 0;
    }
    let by_shared = Device::SHARED_PER_SM / (shared + Device::SHARED_RESERVED).next_multiple_of(128);
    by_threads.min(by_registers).min(by_shared as u32).min(Device::BLOCKS_PER_SM)
}

/// The block size that keeps most threads resident, and the grid that fills the device with it.
pub fn best_block(function: &Function, shared_of: impl Fn(u32) -> usize, limit: u32) -> (u32, u32) {
    let most = function.max_threads().min(if limit == 0 { u32::MAX } else { limit });
    let mut best = (0, 0, 0);
    let mut threads = most / Device::WARP * Device::WARP;
    if threads == 0 {
        threads = most;
    }
    while threads > 0 {
        let blocks = blocks_per_sm(function, threads, shared_of(threads));
        if blocks * threads > best.0 {
            best = (blocks * threads, threads, blocks);
        }
        threads = threads.saturating_sub(Device::WARP);
    }
    (best.2 * Device::SMS, best.1)
}

/// Dynamic shared memory left to each of `blocks` resident blocks.
pub fn dynamic_shared(function: &Function, blocks: u32) -> usize {
    let share = Device::SHARED_PER_SM / blocks.max(1) as usize / 128 * 128;
    let own = function.code().static_shared + Device::SHARED_RESERVED;
    share.saturating_sub(own).min(Device::SHARED_OPTIN - function.code().static_shared.min(Device::SHARED_OPTIN))
}
