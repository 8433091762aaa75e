//! What a few threads keep of a heap: freed blocks by class, behind a lock that is nearly always theirs alone.
//!
//! A class has two stacks. Blocks are taken from the *ready* one; freed ones come onto the *recent* one, until all of it is
//! sealed and known to be past ([`super::progress`]). Plain data: nothing here makes a native call or waits. Its lock costs the
//! thread that has the shard to itself no atomic exchange ([`crate::sync::biased_lock`]); whoever gathers what all shards keep is a
//! visitor.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::size_class;
use crate::memory_pool::position::{Changes, KnownStreams};
use crate::sync::biased_lock::BiasedLock;
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

/// How many there are in a heap: as many threads have one to themselves.
pub const SHARDS: usize = 32;

/// So much more kept memory than at the last time makes the heap look at its bound. As much in every shard may be kept beyond it:
/// together half of the 64 MiB that may be kept anyway.
const LOOK_EVERY: usize = 1 << 20;
const _: () = assert!(SHARDS * LOOK_EVERY <= 32 << 20);

/// So many recent blocks, or a full stack of fewer, are worth a look at the streams.
const ENOUGH: usize = 8;

/// Short bundles that are used again one after the other before a class gets more blocks.
const MOST_SHORT: u8 = 4;

/// Bytes that one stack holds, if they are not too few or too many blocks.
const STACK_BYTES: usize = 4 << 20;

/// Blocks of each class that one stack holds.
static CAPACITIES: [u8; size_class::COUNT] = {
    let mut capacities = [0; size_class::COUNT];
    let mut class = 0;
    while class < size_class::COUNT {
        let blocks = STACK_BYTES / size_class::size_of(class);
        capacities[class] = if blocks < ENOUGH {
            ENOUGH as u8
        } else if blocks > 64 {
            64
        } else {
            blocks as u8
        };
        class += 1;
    }
    capacities
};

/// Blocks of a class that one stack holds.
#[inline]
#[must_use]
pub fn capacity(class: usize) -> usize {
    usize::from(CAPACITIES[class])
}

/// The blocks of one class.
#[derive(Debug, Default)]
struct Stacks {
    ready: Vec<usize>,
    recent: Vec<usize>,
    /// Bundles in a row that were used again before they were full.
    short: u8,
}

impl Stacks {
    /// Has the recent blocks taken next.
    fn make_ready(&mut self, class: usize) {
        if self.ready.is_empty() {
            core::mem::swap(&mut self.ready, &mut self.recent);
            // The next blocks that are freed need a stack as deep.
            if self.recent.capacity() == 0 {
                self.recent.reserve_exact(capacity(class));
            }
        } else {
            self.ready.append(&mut self.recent);
        }
    }
}

/// What changes with every block.
struct State {
    classes: Box<[Stacks]>,
    /// What was kept when the heap last looked at its bound.
    looked_at: usize,
    /// The context's streams, as they were when all their work was last found to be over.
    streams: Option<Arc<KnownStreams>>,
}

/// The shard.
#[repr(align(128))]
pub struct Shard {
    state: BiasedLock<State>,
    /// Bytes in all stacks; written behind the lock alone.
    kept: AtomicUsize,
    /// Bytes of blocks taken here less bytes freed here; written behind the lock alone.
    live: AtomicIsize,
}

/// What a free asks the heap to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Freed {
    /// Nothing.
    Stays,
    /// To look whether too much is kept.
    Grown,
    /// To seal these blocks and put them where every shard finds them.
    Full(Vec<usize>),
}

/// The recent blocks of a class, taken out to be used again.
#[derive(Debug, PartialEq, Eq)]
pub enum Recent {
    /// There are too few.
    None,
    /// All work from before their frees is known to be over: one of them; the others are ready.
    Ready(usize),
    /// Those, of which the heap is to find out.
    Unknown(Vec<usize>),
}

impl Default for Shard {
    fn default() -> Self {
        let classes = (0..size_class::COUNT).map(|_| Stacks::default()).collect();
        let state = BiasedLock::new(State { classes, looked_at: 0, streams: None });
        Self { state, kept: AtomicUsize::new(0), live: AtomicIsize::new(0) }
    }
}

impl Shard {
    /// A ready block.
    #[inline(always)]
    pub fn take(&self, class: usize) -> Option<usize> {
        self.take_ready(&mut self.state.lock(), class)
    }

    #[inline(always)]
    fn take_ready(&self, state: &mut State, class: usize) -> Option<usize> {
        let block = state.classes[class].ready.pop()?;
        let size = size_class::size_of(class);
        let next = self.set_kept(self.kept() - size) + LOOK_EVERY;
        if unlikely!(state.looked_at > next) {
            state.looked_at = next;
        }
        self.count_live(size.cast_signed());
        Some(block)
    }

    /// Keeps a freed block.
    #[inline(always)]
    pub fn keep(&self, class: usize, block: usize) -> Freed {
        let size = size_class::size_of(class);
        let mut state = self.state.lock();
        let state = &mut *state;
        let off = if mutation::is(mutation::Bug::PlainAccountOff) { 256 } else { 0 };
        self.count_live(off - size.cast_signed());
        let recent = &mut state.classes[class].recent;
        if recent.len() >= capacity(class) {
            let full = core::mem::replace(recent, Vec::with_capacity(capacity(class)));
            recent.push(block);
            state.looked_at = self.set_kept(self.kept() + size - full.len() * size);
            return Freed::Full(full);
        }
        recent.push(block);
        let kept = self.set_kept(self.kept() + size);
        if kept > state.looked_at + LOOK_EVERY {
            state.looked_at = kept;
            return Freed::Grown;
        }
        Freed::Stays
    }

    /// Takes the recent blocks out, to be used again if they are past: enough of them, or fewer if the class does not use so
    /// few again and again, which would be better served by more blocks. `changes` are those of the context's streams.
    pub fn take_recent(&self, class: usize, may_be_short: bool, changes: &Changes) -> Recent {
        let mut state = self.state.lock();
        let state = &mut *state;
        let stacks = &mut state.classes[class];
        let is_enough = stacks.recent.len() >= capacity(class).min(ENOUGH);
        if !is_enough && (!may_be_short || stacks.recent.is_empty() || stacks.short >= MOST_SHORT) {
            stacks.short = if may_be_short { 0 } else { stacks.short };
            return Recent::None;
        }
        stacks.short = if is_enough { 0 } else { stacks.short + 1 };
        if state.streams.as_ref().is_some_and(|streams| streams.are_idle(changes)) {
            stacks.make_ready(class);
            return self.take_ready(state, class).map_or(Recent::None, Recent::Ready);
        }
        let recent = core::mem::take(&mut stacks.recent);
        let kept = self.set_kept(self.kept() - recent.len() * size_class::size_of(class));
        state.looked_at = state.looked_at.min(kept + LOOK_EVERY);
        Recent::Unknown(recent)
    }

    /// Whether the shard has the list of the context's streams.
    pub fn knows_streams(&self, changes: &Changes) -> bool {
        self.state.lock().streams.as_ref().is_some_and(|streams| streams.are_all(changes))
    }

    /// Takes such a list. All that these streams, and those before them, were given when it was made has been found to be over.
    pub fn know_streams(&self, streams: Arc<KnownStreams>) {
        let old = self.state.lock().streams.replace(streams);
        drop(old);
    }

    /// Puts blocks that are past where the next requests find them, but for one, which is the caller's.
    pub fn put_ready(&self, class: usize, mut blocks: Vec<usize>) -> Option<usize> {
        let own = blocks.pop()?;
        let size = size_class::size_of(class);
        let mut state = self.state.lock();
        let state = &mut *state;
        let Stacks { ready, recent, .. } = &mut state.classes[class];
        self.set_kept(self.kept() + blocks.len() * size);
        if ready.is_empty() {
            let mut old = core::mem::replace(ready, blocks);
            // The next blocks that are freed need a stack as deep.
            if recent.capacity() == 0 {
                old.reserve_exact(capacity(class));
                *recent = old;
            }
        } else {
            ready.append(&mut blocks);
        }
        self.count_live(size.cast_signed());
        Some(own)
    }

    /// Takes everything out, by class: what is ready, and what is not sealed yet.
    pub fn take_all(&self) -> Vec<(usize, Vec<usize>, Vec<usize>)> {
        // A visit costs all threads a barrier.
        if self.kept() == 0 {
            return Vec::new();
        }
        self.state.visit(|state| {
            self.set_kept(0);
            state.looked_at = 0;
            let used = state.classes.iter_mut().enumerate();
            let used = used.filter(|(_, stacks)| !stacks.ready.is_empty() || !stacks.recent.is_empty());
            used.map(|(class, stacks)| (class, core::mem::take(&mut stacks.ready), core::mem::take(&mut stacks.recent)))
                .collect()
        })
    }

    #[inline]
    fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    /// As [`Shard::count_live`].
    #[inline]
    fn set_kept(&self, bytes: usize) -> usize {
        self.kept.store(bytes, Ordering::Relaxed);
        bytes
    }

    /// Bytes taken here less bytes freed here.
    pub fn live(&self) -> isize {
        self.live.load(Ordering::Relaxed)
    }

    /// The lock is held, so nobody else writes.
    #[inline]
    fn count_live(&self, bytes: isize) {
        self.live.store(self.live.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
    static LEASE: Lease = Lease::new();
}

/// How many threads have each shard.
static USERS: Mutex<[u32; SHARDS]> = Mutex::new([0; SHARDS]);

/// A thread's shard, which the next thread gets when it ends.
struct Lease(usize);

impl Lease {
    /// The first of those that the fewest threads have: what a thread that ended has kept is used again soon.
    fn new() -> Self {
        let mut users = USERS.lock();
        let fewest = users.iter().copied().min().unwrap_or(0);
        let index = users.iter().position(|count| *count == fewest).unwrap_or(0);
        users[index] += 1;
        Self(index)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        USERS.lock()[self.0] -= 1;
    }
}

/// The index of the calling thread's shard.
#[inline]
pub fn own_index() -> usize {
    let own = OWN.get();
    if own != usize::MAX { own } else { lease() }
}

#[cold]
fn lease() -> usize {
    // A thread that is being torn down has the first.
    let index = LEASE.try_with(|lease| lease.0).unwrap_or(0);
    OWN.set(index);
    index
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Blocks that are taken out while nothing is known of the streams.
    fn recent(shard: &Shard, class: usize) -> Vec<usize> {
        match shard.take_recent(class, false, &Changes::default()) {
            Recent::Unknown(blocks) => blocks,
            known => panic!("{known:?}"),
        }
    }

    /// Nothing is known at first, and no more once a stream has come.
    #[test]
    fn recent_blocks_are_ready_at_once_where_the_streams_are_known_to_be_idle() {
        let (shard, changes, class) = (Shard::default(), Changes::default(), 0);
        let keep =
            |blocks: &[usize]| blocks.iter().for_each(|block| assert_eq!(shard.keep(class, *block), Freed::Stays));
        let blocks: Vec<_> = (1..=ENOUGH).collect();
        keep(&blocks);
        assert_eq!(shard.take_recent(class, false, &changes), Recent::Unknown(blocks.clone()));
        shard.know_streams(Arc::new(KnownStreams::of(&changes, [].iter()).expect("none are few")));
        keep(&blocks);
        assert_eq!(shard.take_recent(class, false, &changes), Recent::Ready(ENOUGH));
        assert_eq!((shard.kept(), shard.live()), (7 * 256, 256 - 16 * 256));
        let others: Vec<_> = core::iter::from_fn(|| shard.take(class)).collect();
        assert_eq!(others, (1..ENOUGH).rev().collect::<Vec<_>>());
        keep(&blocks);
        changes.note();
        assert_eq!(shard.take_recent(class, false, &changes), Recent::Unknown(blocks));
    }

    /// What is kept falls as blocks are taken, and must be looked at when it comes back.
    #[test]
    fn blocks_that_were_taken_again_and_freed_make_the_heap_look() {
        let shard = Shard::default();
        let class = size_class::COUNT - 1;
        assert!(size_class::size_of(class) >= LOOK_EVERY);
        let looks = |blocks: &[usize]| blocks.iter().filter(|block| shard.keep(class, **block) == Freed::Grown).count();
        let blocks: Vec<_> = (1..=ENOUGH).map(|block| block << 20).collect();
        assert!(looks(&blocks) > 0);
        let own = shard.put_ready(class, recent(&shard, class)).expect("there were some");
        assert!(looks(&[own]) > 0);
        let taken: Vec<_> = core::iter::from_fn(|| shard.take(class)).collect();
        assert_eq!(taken.len(), ENOUGH - 1);
        assert!(looks(&taken) > 0, "{} bytes are kept, and nobody looked", shard.kept());
    }
}
