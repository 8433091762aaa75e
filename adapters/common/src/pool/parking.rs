//! Native pools that wait for their end.
//!
//! CUDA 13.0 crashes some later calls when a pool of host memory is destroyed before a synchronisation has seen its last
//! frees. Whoever destroys a pool must not be made to wait for the device, so such pools are parked here, empty, until the
//! device's state ends and everything is waited for.

use parking_lot::Mutex;

use crate::driver::{Driver, PoolAttribute};

/// The parked pools of one device of one context.
pub struct Parking<D: Driver> {
    pools: Mutex<Vec<D::Pool>>,
}

impl<D: Driver> Parking<D> {
    /// An empty place.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self { pools: Mutex::new(Vec::new()) }
    }

    /// Takes a pool over. It gives its memory back at the next synchronisation.
    pub fn park(&self, driver: &D, pool: D::Pool) {
        // A refusal leaves the memory with the pool a little longer.
        let _ = driver.set_pool_attribute(pool, PoolAttribute::ReleaseThreshold, 0);
        self.pools.lock().push(pool);
    }

    /// Hands all of them out.
    #[must_use]
    pub fn take(&self) -> Vec<D::Pool> {
        std::mem::take(&mut *self.pools.lock())
    }
}
