//! What is done when there is no memory: what is kept goes back, then one more try.
//!
//! Only what can help goes back. A pool with a bound of its own (a maximum, or the application's buffer) gets back what queues
//! keep of that pool, and nobody else loses anything; a full device gets back what every context of the process keeps of it.
//!
//! Called with no lock held, and holds none while the allocation is tried again: that may wait for a queue on which another
//! thread is inside a native call. Allocations that succeed never come here.

use std::sync::Arc;
use std::time::Duration;

use ur_ffi::ur_result_t;

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::Driver;
use crate::memory_pool::backend::PoolBackend;
use crate::object::error::{Error, Result};

/// How long a relief waits for another one on the same device: what that one has taken out of a free list and not yet given
/// back, nobody else would find. Not for ever: it may be inside a native call that ends only after this thread has gone on.
const PATIENCE: Duration = Duration::from_millis(100);

/// What an allocation draws from, and how many bytes.
pub type Draws<D> = (Arc<PoolBackend<D>>, usize);

/// Runs `allocate`; when there is no memory, does what [`retried after a trim`] does.
///
/// # Errors
/// As [`retried after a trim`].
pub fn with_relief<D: Driver, R>(
    context: &Context<D>,
    state: &DeviceState<D>,
    draws: impl FnOnce() -> Option<Draws<D>>,
    allocate: impl Fn() -> Result<R>,
) -> Result<R> {
    allocate().or_else(|first| retried_after_trim(first, context, state, draws, allocate))
}

/// Runs an allocation that draws from no pool; when there is no memory, gives back what is kept of the device and runs it
/// again. Called with no lock held.
///
/// # Errors
/// What `allocate` answers.
#[inline]
pub fn reclaiming<D: Driver, R>(state: &DeviceState<D>, allocate: impl Fn() -> Result<R>) -> Result<R> {
    allocate().or_else(|first| {
        if is_full(&first) { again(first, || relieve_device(&state.device), allocate) } else { Err(first) }
    })
}

/// After an allocation has failed: if that was for want of memory, gives back what may help and runs `allocate` again.
/// `draws` is what it draws from, if that is a pool: this time it may wait for another stream's free.
///
/// # Errors
/// What `allocate` answers; the first failure when nothing could be given back.
#[cold]
pub fn retried_after_trim<D: Driver, R>(
    first: Error,
    context: &Context<D>,
    state: &DeviceState<D>,
    draws: impl FnOnce() -> Option<Draws<D>>,
    allocate: impl Fn() -> Result<R>,
) -> Result<R> {
    if !is_full(&first) {
        return Err(first);
    }
    let Some((backend, size)) = draws() else {
        return again(first, || relieve_device(&state.device), allocate);
    };
    let announced = backend.announce_waits();
    // A stream inside a native call that can block has not seen it, and must not be waited for.
    let waits = announced && context.registry.pass_all(&state.device);
    let let_wait = || if waits { backend.let_wait() } else { Ok(()) };
    let by_device = |error| again(error, || relieve_device(&state.device).and_then(|()| let_wait()), &allocate);
    let second = if backend.is_bounded() {
        let own = again(first, || relieve_pool(context, &backend).and_then(|()| let_wait()), &allocate);
        match own {
            Err(error) if is_full(&error) && backend.could_grow(size, &state.native) => by_device(error),
            other => other,
        }
    } else {
        by_device(first)
    };
    if announced {
        backend.end_waits();
    }
    second
}

/// Whether an allocation failed for want of memory.
pub fn is_full(error: &Error) -> bool {
    matches!(error.code(), ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY | ur_result_t::ERROR_OUT_OF_HOST_MEMORY)
}

/// Runs `allocate` behind `relief`; `before` is the failure that made it necessary.
fn again<R>(before: Error, relief: impl FnOnce() -> Result<()>, allocate: impl FnOnce() -> Result<R>) -> Result<R> {
    match relief() {
        Ok(()) => allocate(),
        // What is lost stays lost; of any other failure the caller's own is the better news.
        Err(error) if error.code() == ur_result_t::ERROR_DEVICE_LOST => Err(error),
        Err(_) => Err(before),
    }
}

/// What queues keep of one backend.
fn relieve_pool<D: Driver>(context: &Context<D>, backend: &Arc<PoolBackend<D>>) -> Result<()> {
    let _one_at_a_time = backend.device.relief.try_lock_for(PATIENCE);
    context.registry.flush(|kept| core::ptr::eq(kept, Arc::as_ptr(backend)))?;
    backend.trim(0)
}

/// What queues and pools keep of a device, in every context of the process. One that cannot give something back does not
/// keep the others from it.
fn relieve_device<D: Driver>(device: &Device<D>) -> Result<()> {
    // Dropped behind the lock: the last reference to the state of a context may go with it.
    let reclaimers = device.reclaimers.living();
    let _one_at_a_time = device.relief.try_lock_for(PATIENCE);
    crate::device::deferred::wait_until_done();
    reclaimers.iter().map(|one| one.reclaim()).fold(Ok(()), Result::and)
}
