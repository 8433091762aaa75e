//! Stream-ordered allocation and free for commands that come alone: no pool is named, nothing is waited for, nobody asks for
//! an event.
//!
//! The row of `urbench` that pays for it is `work: alloc + free 1 MiB`. A stream that keeps a block of the size makes no native
//! call, and no parameter is decoded but the queue. It needs none of the rules of [`crate::command::submission`], since
//! nothing is put on the stream. What is not so plain is left to [`crate::pool::stream_ordered`].

use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;
use crate::queue::Queue;
use crate::stream::{Stream, StreamState};
use crate::sync::unlikely::likely_some;

/// Puts a block of the device's current pool into `out`. `None` where the usual way has to look.
#[inline(always)]
pub(super) fn take_block<D: Driver>(
    queue: &Queue<D>,
    kind: MemoryKind,
    size: usize,
    out: &mut usize,
) -> Option<Result<()>> {
    let stream = likely_some!(queue.stream_alone());
    match stream.lock_as_owner() {
        Some(mut state) => take(stream, &mut state, kind, size, out),
        None => take_of_many(stream, kind, size, out),
    }
}

/// As [`take_block`], of a stream that several threads use.
#[cold]
#[inline(never)]
fn take_of_many<D: Driver>(stream: &Stream<D>, kind: MemoryKind, size: usize, out: &mut usize) -> Option<Result<()>> {
    take(stream, &mut stream.lock(), kind, size, out)
}

#[inline(always)]
fn take<D: Driver>(
    stream: &Stream<D>,
    state: &mut StreamState<D>,
    kind: MemoryKind,
    size: usize,
    out: &mut usize,
) -> Option<Result<()>> {
    let pool = stream.device.current_pool_id();
    let has_waited = || !state.waited.is_empty();
    state.cache.quick_take(stream, &mut state.position, pool, kind, size, has_waited, out)
}

/// Gives a block back to the stream's cache, if that gave it out. `None` where the usual way has to look.
#[inline(always)]
pub(super) fn give_back_block<D: Driver>(queue: &Queue<D>, address: usize) -> Option<Result<()>> {
    let stream = likely_some!(queue.stream_alone());
    match stream.lock_as_owner() {
        Some(mut state) => give_back(stream, &mut state, address),
        None => give_back_of_many(stream, address),
    }
}

/// As [`give_back_block`], to a stream that several threads use.
#[cold]
#[inline(never)]
fn give_back_of_many<D: Driver>(stream: &Stream<D>, address: usize) -> Option<Result<()>> {
    give_back(stream, &mut stream.lock(), address)
}

#[inline(always)]
fn give_back<D: Driver>(stream: &Stream<D>, state: &mut StreamState<D>, address: usize) -> Option<Result<()>> {
    state.cache.quick_give(stream, &mut state.position, address)
}
