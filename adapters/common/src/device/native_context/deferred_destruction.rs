//! Native pools whose last block is freed.
//!
//! CUDA 13.0 crashes in later calls (`cuStreamSynchronize`, `cuMemPoolDestroy`) when a pool is destroyed before a
//! synchronisation has seen its last frees, and whoever destroys a pool must not be made to wait for the device. So a pool
//! ends when the native library holds no memory for it any more, which says that the frees were seen. Until then it is parked
//! here, told to keep nothing; each pool that ends gives the oldest ones another chance, a full device all of them, and the
//! end of the native context, which waits for everything, ends all. A pool with memory must never be destroyed anywhere else.
//!
//! Pools are trimmed and destroyed under the lock, which whoever ends another pool needs: no such call waits for work, of device and
//! of host memory (`docs/native-facts.md`). Those of managed memory do, and none is ever made.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::driver::{Driver, PoolAttribute};

/// So many parked pools are looked at when another one comes: more than one, so that they become fewer.
const LOOKED_AT: usize = 4;

struct Parked<D: Driver> {
    pools: VecDeque<D::Pool>,
    /// Whether everything was waited for, for good.
    over: bool,
}

/// Trims pools of a list, destroys those that hold nothing then and puts the others back.
fn end_or_keep<D: Driver>(driver: &D, list: &mut VecDeque<D::Pool>, count: usize) {
    for _ in 0..count.min(list.len()) {
        let Some(pool) = list.pop_front() else { return };
        let reserved =
            driver.trim_pool(&pool, 0).and_then(|()| driver.pool_attribute(&pool, PoolAttribute::ReservedCurrent));
        if matches!(reserved, Ok(0)) {
            end_pool(driver, pool);
        } else {
            list.push_back(pool);
        }
    }
}

/// Bytes that the pools of a list hold. One that cannot be asked counts as nothing.
fn held<D: Driver>(driver: &D, pools: &VecDeque<D::Pool>) -> u64 {
    pools.iter().filter_map(|pool| driver.pool_attribute(pool, PoolAttribute::ReservedCurrent).ok()).sum()
}

/// The parked pools of one device.
pub struct DeferredDestruction<D: Driver> {
    parked: Mutex<Parked<D>>,
}

impl<D: Driver> DeferredDestruction<D> {
    /// An empty place.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self { parked: Mutex::new(Parked { pools: VecDeque::new(), over: false }) }
    }

    /// Takes a pool over that has no block out. It gives its memory back now, or at the next synchronisation.
    pub fn end(&self, driver: &D, pool: D::Pool) {
        let mut parked = self.parked.lock();
        if parked.over {
            end_pool(driver, pool);
            return;
        }
        // A refusal leaves the memory with the pool until the native context's end.
        let _ = driver.set_pool_attribute(&pool, PoolAttribute::ReleaseThreshold, 0);
        parked.pools.push_front(pool);
        end_or_keep(driver, &mut parked.pools, 1 + LOOKED_AT);
    }

    /// Takes the memory of the pools that are parked, as far as their frees were reached: the device is full. Answers how many
    /// bytes that were.
    pub fn trim(&self, driver: &D) -> u64 {
        let mut parked = self.parked.lock();
        let before = held(driver, &parked.pools);
        end_or_keep(driver, &mut parked.pools, usize::MAX);
        before.saturating_sub(held(driver, &parked.pools))
    }

    /// Destroys the pools that are parked now, as [`DeferredDestruction::close`] does.
    pub fn clear(&self, driver: &D, wait: impl FnOnce()) {
        let pools = std::mem::take(&mut self.parked.lock().pools);
        if pools.is_empty() {
            return;
        }
        wait();
        for pool in pools {
            end_pool(driver, pool);
        }
    }

    /// Destroys all of them after `wait`, which is called if there are any and waits for all work of the device. Pools that
    /// come later end at once.
    pub fn close(&self, driver: &D, wait: impl FnOnce()) {
        self.parked.lock().over = true;
        self.clear(driver, wait);
    }
}

/// Ends a pool that holds no memory, or after all work of the device was waited for.
pub fn end_pool<D: Driver>(driver: &D, pool: D::Pool) {
    // SAFETY: its owner is gone, and no block was out then; either its memory has gone, so every free was seen, or the
    // device was waited for. Nobody is left to tell of a failure.
    let _ = unsafe { driver.destroy_pool(pool) };
}
