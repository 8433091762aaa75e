//! A native pool as a pool's settings want it.
//!
//! Which kinds of pools there are is the driver's to say; whoever asks for one that is not there gets slabs instead
//! ([`crate::memory_pool::arena::slabs`]). Shared memory always comes in slabs: on an H200 a trim of a native pool of managed
//! memory waited for another stream's kernel, and perhaps the free of a block does (`docs/native-facts.md`). Frees are made in
//! so many places, under streams' locks too, that no call of such a pool would be safe.

use crate::device::Device;
use crate::device::native_context::Parts;
use crate::device::native_context::deferred_destruction::end_pool;
use crate::driver::{Driver, MemoryKind, PoolAttribute};
use crate::memory_pool::settings::{Settings, native_pools};
use crate::object::error::{Error, Result};

/// A native pool with the settings of its pool.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` for shared memory, where the library has no pools of the kind or none with a maximum, or is not to be
/// asked for any; what it answers else.
pub(super) fn create<D: Driver>(
    settings: &Settings<D>,
    kind: MemoryKind,
    device: &Device<D>,
    native: &Parts<D>,
) -> Result<D::Pool> {
    let driver = native.driver;
    if kind == MemoryKind::Shared || !device.properties.memory_pools || !native_pools() {
        return Err(Error::unsupported("a native pool of the kind on this device"));
    }
    let pool = driver.create_pool(kind, device.raw, settings.max_size)?;
    let configured = configure(driver, &pool, settings, kind, device);
    match configured {
        Ok(()) => Ok(pool),
        Err(error) => {
            // No block ever came from the pool.
            end_pool(driver, pool);
            Err(error)
        }
    }
}

fn configure<D: Driver>(
    driver: &D,
    pool: &D::Pool,
    settings: &Settings<D>,
    kind: MemoryKind,
    device: &Device<D>,
) -> Result<()> {
    // Native pools start with all three on.
    let off = [
        (PoolAttribute::FollowEventDependencies, settings.reuse.events()),
        (PoolAttribute::Opportunistic, settings.reuse.opportunistic()),
        // Waiting is left to the one retry of an allocation that failed, so that no other ever delays an event.
        (PoolAttribute::InternalDependencies, false),
    ];
    off.iter().filter(|(_, on)| !on).try_for_each(|(attribute, _)| driver.set_pool_attribute(pool, *attribute, 0))?;
    if settings.threshold > 0 {
        driver.set_pool_attribute(pool, PoolAttribute::ReleaseThreshold, settings.threshold as u64)?;
    }
    match kind {
        MemoryKind::Device => settings.peers.iter().try_for_each(|peer| driver.allow_pool_access(pool, peer.raw)),
        // Host memory is every device's of the context.
        MemoryKind::Host => driver
            .allow_pool_access(pool, device.raw)
            .and_then(|()| settings.others.iter().try_for_each(|other| driver.allow_pool_access(pool, other.raw))),
        MemoryKind::Shared => Ok(()),
    }
}

/// Gives what nobody uses beyond `keep` bytes back to the device.
///
/// # Errors
/// What the native library answers.
pub(super) fn trim<D: Driver>(driver: &D, pool: &D::Pool, keep: usize) -> Result<()> {
    // CUDA 13.0 gives everything back when it is told to keep more than the pool has.
    if keep > 0 && driver.pool_attribute(pool, PoolAttribute::ReservedCurrent)? <= keep as u64 {
        return Ok(());
    }
    driver.trim_pool(pool, keep)
}
