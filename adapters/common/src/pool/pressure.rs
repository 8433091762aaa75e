//! What is done when a device is out of memory: everything that is kept goes back, then one more try.
//!
//! Called with no lock held. One relief at a time on a device, so that two of them do not empty each other's magazines
//! for nothing; allocations that succeed never come here.

use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::context::{Context, DeviceState};
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::pool::source::Source;

/// Runs `allocate`; when the device is out of memory, does what [`relieved`] does.
///
/// # Errors
/// As [`relieved`].
pub fn with_relief<D: Driver, R>(
    context: &Context<D>,
    state: &DeviceState<D>,
    source: impl FnOnce() -> Option<Arc<Source<D>>>,
    allocate: impl Fn() -> Result<R>,
) -> Result<R> {
    allocate().or_else(|first| relieved(first, context, state, source, allocate))
}

/// After an allocation has failed: if the device is out of memory, gives back what pools and magazines keep of it and runs
/// `allocate` once. `source` is the pool source it draws from, if any: this time it may wait for another stream's free.
///
/// # Errors
/// What `allocate` answers; the first failure when nothing could be given back.
#[cold]
pub fn relieved<D: Driver, R>(
    first: Error,
    context: &Context<D>,
    state: &DeviceState<D>,
    source: impl FnOnce() -> Option<Arc<Source<D>>>,
    allocate: impl Fn() -> Result<R>,
) -> Result<R> {
    if first.code() != ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY {
        return Err(first);
    }
    let _one_at_a_time = state.relief();
    let source = source();
    let may_wait = source.as_ref().filter(|source| {
        source.announce_waits();
        // A lane inside a native call that can block has not seen it, and must not be waited for.
        context.registry.pass_all(state)
    });
    let relieved = relieve(context, state).and_then(|()| may_wait.map_or(Ok(()), |one| one.let_wait(true)));
    let second = match relieved {
        Ok(()) => allocate(),
        // What is lost stays lost; of any other failure the caller's own is the better news.
        Err(error) if error.code() == ur_result_t::ERROR_DEVICE_LOST => Err(error),
        Err(_) => Err(first),
    };
    if let Some(source) = &source {
        // The policy's own state; a library that cannot set it back has refused the pool before.
        let _ = source.let_wait(false);
    }
    second
}

fn relieve<D: Driver>(context: &Context<D>, state: &DeviceState<D>) -> Result<()> {
    crate::deferred::settle();
    context.registry.flush(|source| Arc::ptr_eq(&source.device, &state.device))?;
    state.sources().iter().try_for_each(|source| source.trim(0))
}
