//! What pools do when there is no memory, before and beside what everybody does ([`crate::device::relief`]).
//!
//! Only what can help goes back. A pool with a bound of its own (a maximum, or the application's buffer) gets back what queues
//! keep of that pool, and nobody else loses anything; a full device gets back what every context of the process keeps of it.
//!
//! Called with no lock held, and holds none while the allocation is tried again: that may wait for a queue on which another
//! thread is inside a native call. Allocations that succeed never come here.

use std::sync::Arc;

use crate::context::{Context, DeviceState};
use crate::device::relief::{self, again, is_full};
use crate::driver::Driver;
use crate::memory_pool::backend::PoolBackend;
use crate::object::error::{Error, Result};

/// So often a thread makes room for itself that others take.
const MOST_TRIES: usize = 16;

/// The most reliefs of one pool for one request.
const MOST_RELIEFS: usize = 8;

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
        return relief::retry(&state.device, first, || Ok(()), allocate);
    };
    // First more memory, where it comes in slabs; the same after each relief.
    let first = match in_more_room(first, &backend, size, &allocate) {
        Err(error) if is_full(&error) => error,
        other => return other,
    };
    let allocate = || match allocate() {
        Err(error) if is_full(&error) => in_more_room(error, &backend, size, &allocate),
        other => other,
    };
    let announced = backend.announce_waits();
    // A stream inside a native call that can block has not seen it, and must not be waited for.
    let waits = || announced && context.registry.pass_all(&state.device);
    let let_wait = || if waits() { backend.let_wait() } else { Ok(()) };
    let by_device = |error| relief::retry(&state.device, error, let_wait, allocate);
    let second = if backend.is_bounded() {
        let relief = || relieve_pool(context, &backend).and_then(|()| let_wait());
        match retry_while_kept(first, &backend, size, relief, &allocate) {
            Err(error) if is_full(&error) && backend.could_grow(size, &state.native) => by_device(error),
            other => other,
        }
    } else {
        by_device(first)
    };
    if announced {
        backend.end_waits();
    }
    second.map_err(|error| relief::told(error, &state.device))
}

/// Runs `allocate` behind `relief`, and again as long as it fails while queues keep enough for it: other threads have taken and
/// freed what the relief gave back, before this one came to it.
///
/// # Errors
/// As [`again`].
fn retry_while_kept<D: Driver, R>(
    first: Error,
    backend: &PoolBackend<D>,
    size: usize,
    relief: impl Fn() -> Result<()>,
    allocate: &impl Fn() -> Result<R>,
) -> Result<R> {
    let mut last = first;
    for _ in 1..MOST_RELIEFS {
        match again(last, &relief, allocate) {
            Err(error) if is_full(&error) && backend.kept() >= size as u64 => last = error,
            other => return other,
        }
    }
    again(last, relief, allocate)
}

/// Runs `allocate` as often as the backend gets room for it, which other threads may be quicker to take. `failed` is the failure
/// that made it necessary.
fn in_more_room<D: Driver, R>(
    mut failed: Error,
    backend: &PoolBackend<D>,
    size: usize,
    allocate: &impl Fn() -> Result<R>,
) -> Result<R> {
    for _ in 0..MOST_TRIES {
        if !backend.make_room(size)? {
            return Err(failed);
        }
        match allocate() {
            Err(error) if is_full(&error) => failed = error,
            other => return other,
        }
    }
    Err(failed)
}

/// What queues keep of one backend.
fn relieve_pool<D: Driver>(context: &Context<D>, backend: &Arc<PoolBackend<D>>) -> Result<()> {
    let _one_at_a_time = backend.device.relief.try_lock_for(relief::PATIENCE);
    context.registry.flush(|kept| core::ptr::eq(kept, Arc::as_ptr(backend)))?;
    backend.trim(0)
}
