//! Reuse over streams: a block that another stream keeps, for an allocation that is ordered behind its last use.
//!
//! Native pools have this rule for what they hold (`CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES`, CUDA Driver API, Stream
//! Ordered Memory Allocator); blocks that streams keep are not theirs to give, so it is applied here, under the same policy of
//! the pool. An allocation comes here when its own stream keeps nothing that fits. It looks at the streams of the events that it
//! waits for, then at a few that its stream is known to have waited for: so the cost has a bound, whatever queues there are.
//!
//! Called with the own stream's lock held, so another stream's is only tried, and nothing here blocks or makes a native call.
//! Last come the streams that the backend names as possible keepers, for blocks whose last use is known to have ended
//! (`CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC`). A pool that is full gets back what all streams keep
//! ([`crate::pool::out_of_memory`]), and the native library's own rules apply to that.

use std::sync::Arc;

use crate::command::submission::Submission;
use crate::driver::Driver;
use crate::memory_pool::backend::PoolBackend;
use crate::object::Object;
use crate::stream::event::{Event, WaitList};
use crate::stream::{Stream, StreamState};

/// Streams waited for earlier that are looked at, the last ones first.
const REMEMBERED: usize = 4;

/// A block of at least `size` bytes from the backend of the stream's pool cache `at`, whose last use comes before whatever the
/// stream is given next. It is in use, and not written down yet. The stream has been made to wait for `waits`.
pub(super) fn take_freed_elsewhere<D: Driver>(
    submission: &mut Submission<'_, D>,
    waits: Option<&WaitList<'_, D>>,
    at: usize,
    size: usize,
) -> Option<usize> {
    let (stream, state) = (submission.stream(), submission.state());
    let backend = &**state.cache.backend(at)?;
    let has_waited = || !waits.is_none_or(WaitList::is_empty) || !state.waited.is_empty();
    let behind_waits = || look_behind_waits(stream, state, waits, backend, size);
    if backend.follows_events() && has_waited() { behind_waits() } else { None }
        .or_else(|| if backend.is_opportunistic() { look_at_keepers(stream, backend, size) } else { None })
}

#[inline]
fn look_behind_waits<D: Driver>(
    stream: &Arc<Stream<D>>,
    state: &StreamState<D>,
    waits: Option<&WaitList<'_, D>>,
    backend: &PoolBackend<D>,
    size: usize,
) -> Option<usize> {
    if let Some(waits) = waits {
        // A loop: an iterator over the list that may be none costs as much as the question itself.
        for event in waits.iter().filter(|event| is_of_other(stream, event)) {
            if let Some(pointer) = event.stream.take_freed_before(backend, size, event.position) {
                return Some(pointer);
            }
        }
    }
    look_behind_remembered_waits(stream, state, backend, size)
}

#[cold]
#[inline(never)]
fn look_behind_remembered_waits<D: Driver>(
    stream: &Arc<Stream<D>>,
    state: &StreamState<D>,
    backend: &PoolBackend<D>,
    size: usize,
) -> Option<usize> {
    let mut remembered = state.waited.iter().rev().take(REMEMBERED);
    remembered.find_map(|(key, position)| from_other(stream, *key, backend, size, Some(*position)))
}

/// The events of a wait list that are of other streams.
fn of_other_streams<'w, D: Driver>(
    stream: &'w Arc<Stream<D>>,
    waits: Option<&'w WaitList<'w, D>>,
) -> impl Iterator<Item = &'w Object<Event<D>>> {
    let listed = waits.into_iter().flat_map(WaitList::iter);
    listed.filter(move |event| is_of_other(stream, event))
}

/// Whether an event is of another stream.
#[inline]
fn is_of_other<D: Driver>(stream: &Arc<Stream<D>>, event: &Event<D>) -> bool {
    !event.is_off_stream() && !Arc::ptr_eq(&event.stream, stream)
}

#[cold]
fn look_at_keepers<D: Driver>(stream: &Arc<Stream<D>>, backend: &PoolBackend<D>, size: usize) -> Option<usize> {
    let mut others = backend.keepers.keys().filter(|key| *key != stream.key());
    others.find_map(|key| from_other(stream, key, backend, size, None))
}

/// A block of an arena for the stream's next command, which the wait list or an earlier wait puts behind the block's free; written
/// down as fresh. Called where no stream keeps one.
#[cold]
pub(super) fn take_behind_waits<D: Driver>(
    submission: &mut Submission<'_, D>,
    waits: Option<&WaitList<'_, D>>,
    at: usize,
    size: usize,
) -> Option<usize> {
    let (stream, state) = (submission.stream(), submission.state());
    let backend = Arc::clone(state.cache.backend(at)?);
    let listed = of_other_streams(stream, waits).map(|event| (event.stream.key(), event.position));
    let mut known = listed.chain(state.waited.iter().rev().take(REMEMBERED).copied());
    let pointer = known.find_map(|(key, position)| {
        stream.registry().stream(key).filter(|other| other.is_exact())?;
        backend.take_behind(key, size, position)
    })?;
    submission.count();
    submission.state().cache.note_fresh(at, pointer, size);
    Some(pointer)
}

fn from_other<D: Driver>(
    stream: &Arc<Stream<D>>,
    key: u64,
    backend: &PoolBackend<D>,
    size: usize,
    position: Option<u64>,
) -> Option<usize> {
    stream.registry().stream(key)?.take_freed_before(backend, size, position)
}
