//! Where a context finds stream-ordered memory: which block lies at an address, the backends of blocks, and its streams.
//!
//! A query or a free of any pointer looks into the table of live blocks and takes no stream's lock. Streams are locked only
//! where kept blocks have to move (a trim, a full device, the end of a pool), one after the other, never two at a time
//! and never with the registry's own locks held; a stream that is inside a native call which can block is not waited for.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;
use ur_ffi::ur_result_t;

use crate::device::Device;
use crate::driver::Driver;
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::live_blocks::{Found, LiveBlocks, Owner};
use crate::memory_pool::plain::progress::Progress;
use crate::memory_pool::position::{Changes, KnownStreams, PaddedPosition};
use crate::memory_pool::stream::PoolStream;
use crate::object::error::{Error, Result};
use crate::sync::cache_padded::CachePadded;
use crate::sync::mutation;

/// Streams' keys are counted up from 1, so all that is left to do is to spread them over the bits that a table looks at.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

/// A stream that may have ended, and how far it is.
struct KnownStream<D: Driver> {
    stream: Weak<dyn PoolStream<D>>,
    position: Arc<PaddedPosition>,
}

/// Streams by their keys.
struct Streams<D: Driver> {
    by_key: HashMap<u64, KnownStream<D>, BuildHasherDefault<KeyHasher>>,
    /// The list of all of them, once it was asked for and until one comes or goes.
    list: Option<Arc<KnownStreams>>,
}

/// The streams, backends and live blocks of a context. Every allocation and free of plain memory reads the tables, of several
/// threads at once, and one in many writes the rest: that is padded (`urbench`'s rows "threads: 8, plain device memory").
pub struct Registry<D: Driver> {
    streams: CachePadded<Mutex<Streams<D>>>,
    /// Counted behind the streams' lock.
    changes: Arc<Changes>,
    blocks: Arc<LiveBlocks>,
    /// Plain blocks have a table of their own: one may be the memory of a pool, whose blocks lie in it.
    plain_blocks: Arc<LiveBlocks>,
    /// Whether blocks of pools may lie in plain blocks.
    has_arenas: AtomicBool,
    progress: CachePadded<Progress<D>>,
    backends: CachePadded<RwLock<PoolBackends<D>>>,
}

/// Backends by the number that entries of blocks name them with.
struct PoolBackends<D: Driver> {
    known: Vec<Option<Arc<PoolBackend<D>>>>,
    free: Vec<u32>,
}

/// A block that was taken from the application, to be given back.
pub struct Claimed<D: Driver> {
    /// Where it came from.
    pub backend: Arc<PoolBackend<D>>,
    /// Bytes that were asked for.
    pub size: usize,
    owner: Owner,
}

impl<D: Driver> Claimed<D> {
    /// The same claim, for whoever has to undo it.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { backend: Arc::clone(&self.backend), size: self.size, owner: self.owner }
    }

    /// The key of the stream whose command allocated it.
    pub fn stream(&self) -> u64 {
        self.owner.stream()
    }
}

/// What is known of the block that an address lies in.
pub enum Block<D: Driver> {
    /// It is out.
    Out {
        /// Its start.
        base: usize,
        /// Bytes that were asked for.
        size: usize,
        /// Where it came from.
        backend: Arc<PoolBackend<D>>,
    },
    /// It was freed and a free list keeps it.
    Recycled,
}

impl<D: Driver> Default for Registry<D> {
    fn default() -> Self {
        let backends = PoolBackends { known: Vec::new(), free: Vec::new() };
        Self {
            streams: CachePadded::new(Mutex::new(Streams { by_key: HashMap::default(), list: None })),
            changes: Arc::default(),
            blocks: Arc::default(),
            plain_blocks: Arc::default(),
            has_arenas: AtomicBool::new(false),
            progress: CachePadded::default(),
            backends: CachePadded::new(RwLock::new(backends)),
        }
    }
}

impl<D: Driver> Registry<D> {
    /// Notes a new stream by its key.
    pub fn add(&self, key: u64, stream: Weak<dyn PoolStream<D>>, position: &Arc<PaddedPosition>) {
        let stream = KnownStream { stream, position: Arc::clone(position) };
        self.change_streams(|streams| streams.by_key.insert(key, stream));
    }

    /// Forgets a stream that ends.
    pub fn remove(&self, key: u64) {
        self.change_streams(|streams| streams.by_key.remove(&key));
    }

    fn change_streams<R>(&self, change: impl FnOnce(&mut Streams<D>) -> R) -> R {
        let mut streams = self.streams.lock();
        self.changes.note();
        streams.list = None;
        change(&mut streams)
    }

    /// Counts the streams that come and go.
    pub fn changes(&self) -> &Arc<Changes> {
        &self.changes
    }

    /// The streams that there are now, for whoever reads how far they are; `None` where they are too many for that.
    pub fn known_streams(&self) -> Option<Arc<KnownStreams>> {
        let mut streams = self.streams.lock();
        let Streams { by_key, list } = &mut *streams;
        if list.is_none() {
            let positions = by_key.values().map(|stream| &stream.position);
            *list = KnownStreams::of(&self.changes, positions).map(Arc::new);
        }
        list.clone()
    }

    /// The stream of a key, while it lives.
    pub fn stream(&self, key: u64) -> Option<Arc<dyn PoolStream<D>>> {
        self.streams.lock().by_key.get(&key)?.stream.upgrade()
    }

    /// Every stream that lives.
    pub fn streams(&self) -> Vec<Arc<dyn PoolStream<D>>> {
        self.streams.lock().by_key.values().filter_map(|stream| stream.stream.upgrade()).collect()
    }

    /// As [`Registry::streams`], for whoever asks often.
    pub fn living_streams(&self) -> SmallVec<[Arc<dyn PoolStream<D>>; 8]> {
        // Dropped behind the lock: the last reference to a stream may be among them.
        self.streams.lock().by_key.values().filter_map(|stream| stream.stream.upgrade()).collect()
    }

    /// Whether no stream of the context runs anything, so that a native call that waits for the device returns at once.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.living_streams().iter().all(|stream| stream.runs_nothing().unwrap_or(false))
    }

    /// The table of plain blocks.
    #[inline]
    pub fn plain_blocks(&self) -> &Arc<LiveBlocks> {
        &self.plain_blocks
    }

    /// Whether blocks of pools may lie in plain blocks, so that an address can be the start of both.
    #[inline]
    pub fn has_arenas(&self) -> bool {
        self.has_arenas.load(Ordering::Acquire)
    }

    /// How far the context's queues are.
    pub fn progress(&self) -> &Progress<D> {
        &self.progress
    }

    /// The table of live blocks.
    pub fn blocks(&self) -> &Arc<LiveBlocks> {
        &self.blocks
    }

    /// The number of a backend, given to it now if it has none.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` when all numbers are taken.
    pub fn register(self: &Arc<Self>, backend: &Arc<PoolBackend<D>>) -> Result<u32> {
        if backend.is_over_buffer() {
            self.has_arenas.store(true, Ordering::Release);
        }
        backend.number_in(self, || {
            let mut backends = self.backends.write();
            let number = match backends.free.pop() {
                Some(number) => number,
                None => {
                    let next = u32::try_from(backends.known.len()).ok().filter(|one| *one <= Owner::LAST_SOURCE);
                    let next = next.ok_or_else(|| {
                        Error::new(ur_result_t::ERROR_OUT_OF_RESOURCES, "the context has too many pools; release some")
                    })?;
                    backends.known.push(None);
                    next
                }
            };
            backends.known[number as usize] = Some(Arc::clone(backend));
            Ok(number)
        })
    }

    fn backend(&self, number: u32) -> Option<Arc<PoolBackend<D>>> {
        self.backends.read().known.get(number as usize)?.clone()
    }

    /// Lets a backend go whose pool is gone and that nobody deals with any more. Called without any stream's lock.
    pub fn end_if_unused(&self, backend: &Arc<PoolBackend<D>>) {
        let Some(number) = backend.number().filter(|_| backend.is_over()) else { return };
        let ended = {
            let mut backends = self.backends.write();
            let place = &mut backends.known[number as usize];
            let ended = place.take_if(|known| Arc::ptr_eq(known, backend));
            if ended.is_some() {
                backends.free.push(number);
            }
            ended
        };
        // The native pool goes with the last hold on its backend, which may be this one.
        drop(ended);
    }

    /// Takes a block from the application, wherever it was allocated. Of several threads that try, one gets it. The block counts
    /// as one that is out until it is given back, so its backend stays for a claim that has to be undone.
    pub fn claim(&self, pointer: usize) -> Option<Claimed<D>> {
        let entry = self.blocks.entry(pointer)?;
        let (size, owner) = entry.take()?;
        let Some(backend) = self.backend(owner.backend()) else {
            debug_assert!(false, "a live block without a backend");
            return None;
        };
        if !mutation::is(mutation::Bug::StatisticsLeak)
            && let Some(usage) = backend.usage()
        {
            usage.refund(size as u64);
        }
        Some(Claimed { backend, size, owner })
    }

    /// Puts a claimed block back that could not be freed.
    pub fn unclaim(&self, pointer: usize, claimed: &Claimed<D>) {
        if let Some(usage) = claimed.backend.usage() {
            usage.charge(claimed.size as u64);
        }
        if let Some(entry) = self.blocks.entry(pointer) {
            entry.set_out(claimed.size, claimed.owner);
        }
    }

    /// What is known of the block that starts at an address.
    pub fn find_start(&self, address: usize) -> Option<Block<D>> {
        match self.blocks.find(address)? {
            Found::Out { size, owner } => {
                self.backend(owner.backend()).map(|backend| Block::Out { base: address, size, backend })
            }
            Found::Recycled { .. } => Some(Block::Recycled),
        }
    }

    /// What is known of the block that an address lies in, as far as the native library need not be asked: blocks that
    /// start there, and those whose start it does not know.
    pub fn find(&self, address: usize) -> Option<Block<D>> {
        self.find_start(address).or_else(|| self.find_from(self.blocks.unnamed_before(address)?, address))
    }

    /// What is known of the block that starts at `base`, if `address` lies in it.
    pub fn find_from(&self, base: usize, address: usize) -> Option<Block<D>> {
        let (Found::Out { size, .. } | Found::Recycled { size, .. }) = self.blocks.find(base)?;
        if (base..base.saturating_add(size)).contains(&address) { self.find_start(base) } else { None }
    }

    /// Empties the free lists of the backends that `which` names into the native pools. Where a stream had nothing to do,
    /// what it gave back is the pool's when this returns. Streams inside a native call that can block keep what they have.
    ///
    /// # Errors
    /// What the native library answers; what could not be given back stays kept.
    pub fn flush(&self, which: impl Fn(&PoolBackend<D>) -> bool) -> Result<()> {
        let mut result = Ok(());
        for stream in self.streams() {
            let flushed = stream.flush(&which);
            if result.is_ok() {
                result = flushed;
            }
        }
        result
    }

    /// Empties every free lists of a pool and keeps nothing more of it; streams inside a native call that can block do so
    /// when they come out of it. The pool is closed, so when `is_left` says that no stream deals with it, none will again: those
    /// that never did are left alone, since to take a stream's lock costs the one thread that uses it.
    pub fn close(&self, pool: u64, is_left: impl Fn() -> bool) {
        if is_left() {
            return;
        }
        for stream in self.streams() {
            stream.close_pool(pool);
            if is_left() {
                break;
            }
        }
    }

    /// Takes the lock of every stream on the device once: what was published before is seen by all allocations after.
    /// `false` if a stream is inside a native call that can block, and was not waited for.
    pub fn pass_all(&self, device: &Device<D>) -> bool {
        let streams = self.streams();
        streams.iter().filter(|stream| core::ptr::eq(&raw const ***stream.device(), device)).all(|stream| stream.pass())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::mem::offset_of;

    use super::*;
    use crate::api::noop::Noop;
    use crate::sync::cache_padded::are_apart;

    #[test]
    fn a_look_at_the_streams_writes_no_line_that_every_free_reads() {
        type Known = Registry<Noop>;
        let read = [offset_of!(Known, plain_blocks), offset_of!(Known, has_arenas), offset_of!(Known, changes)];
        let written = [offset_of!(Known, streams), offset_of!(Known, progress), offset_of!(Known, backends)];
        assert!(are_apart(&read, &written));
    }
}
