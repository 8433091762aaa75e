//! A pool's memory when the application gave it: blocks cut from one range.
//!
//! A freed block is reused at once by the lane that freed it, and by others when that lane is known to have got past
//! the free, or behind an event that says so. The range's owner keeps it alive. Must never be called with another
//! lane's lock held than the one it is given.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::driver::Driver;
use crate::error::Result;
use crate::event_pool::Marker;
use crate::lane::Lane;

/// Alignment of blocks, bytes, as native pools give it.
const ALIGNMENT: usize = 512;

/// A range of memory and what of it is out.
pub struct Arena<D: Driver> {
    /// First byte.
    pub base: usize,
    /// Bytes.
    pub size: usize,
    state: Mutex<State<D>>,
}

struct State<D: Driver> {
    free: BTreeMap<usize, usize>,
    pending: Vec<Pending<D>>,
    out: HashMap<usize, usize>,
}

/// A freed range that a lane may still be using.
struct Pending<D: Driver> {
    start: usize,
    size: usize,
    lane: Weak<Lane<D>>,
    sequence: u64,
    behind: Option<Arc<Marker<D>>>,
}

impl<D: Driver> Pending<D> {
    fn is_of(&self, lane: &Lane<D>) -> bool {
        core::ptr::eq(self.lane.as_ptr(), lane)
    }

    fn has_ended(&self) -> bool {
        self.lane.upgrade().is_some_and(|lane| lane.has_finished(self.sequence))
    }
}

/// A block, and the event that the lane must wait for before it uses it.
pub struct Cut<D: Driver> {
    /// Its address.
    pub pointer: usize,
    /// What it comes after.
    pub behind: Option<Arc<Marker<D>>>,
}

impl<D: Driver> Arena<D> {
    /// An arena over `size` bytes at `base`; both ends are moved inwards to the alignment.
    #[must_use]
    pub fn new(base: usize, size: usize) -> Self {
        let start = base.next_multiple_of(ALIGNMENT);
        let usable = (size.saturating_sub(start - base) / ALIGNMENT) * ALIGNMENT;
        let free = if usable > 0 { BTreeMap::from([(start, usable)]) } else { BTreeMap::new() };
        Self { base, size, state: Mutex::new(State { free, pending: Vec::new(), out: HashMap::new() }) }
    }

    /// Cuts a block of at least `size` bytes for a lane, or `None` when there is none that order or completion
    /// gives it. `behind_events` allows one that comes with an event to wait for.
    pub fn cut(&self, lane: &Lane<D>, size: usize, behind_events: bool) -> Option<Cut<D>> {
        let size = size.checked_next_multiple_of(ALIGNMENT)?;
        let mut state = self.state.lock();
        let found = state.take_pending(size, |pending| pending.is_of(lane));
        let found = found.or_else(|| state.take_free(size).map(|pointer| Cut { pointer, behind: None }));
        let found = found.or_else(|| {
            state.collect();
            state.take_free(size).map(|pointer| Cut { pointer, behind: None })
        });
        let found = found.or_else(|| {
            if behind_events { state.take_pending(size, |pending| pending.behind.is_some()) } else { None }
        })?;
        state.out.insert(found.pointer, size);
        Some(found)
    }

    /// Takes a block back that the lane's command `sequence` is the last to use.
    pub fn give_back(&self, pointer: usize, lane: &Lane<D>, sequence: u64) {
        let mut state = self.state.lock();
        let Some(size) = state.out.remove(&pointer) else { return };
        state.pending.push(Pending { start: pointer, size, lane: lane.weak(), sequence, behind: None });
    }

    /// Takes a block back that nobody uses any more.
    pub fn give_back_now(&self, pointer: usize) {
        let mut state = self.state.lock();
        if let Some(size) = state.out.remove(&pointer) {
            state.put(pointer, size);
        }
    }

    /// Finds out what lanes have got past, and records on the others what a reuse has to wait for. Called without any
    /// lane's lock.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn ask_lanes(&self) -> Result<()> {
        let lanes: Vec<Arc<Lane<D>>> = self.state.lock().pending.iter().filter_map(|one| one.lane.upgrade()).collect();
        for lane in lanes {
            if !lane.is_idle()?
                && let Some((_, marker)) = lane.mark_unless_calling()?
            {
                self.mark(&lane, &Arc::new(marker));
            }
        }
        let mut state = self.state.lock();
        let mut at = 0;
        while at < state.pending.len() {
            let ended = match &state.pending[at].behind {
                Some(marker) => marker.state().driver.event_is_complete(marker.raw())?,
                None => false,
            };
            if ended {
                let free = state.pending.swap_remove(at);
                state.put(free.start, free.size);
            } else {
                at += 1;
            }
        }
        Ok(())
    }

    /// Says that an event covers all that a lane has freed.
    pub fn mark(&self, lane: &Lane<D>, marker: &Arc<Marker<D>>) {
        for pending in self.state.lock().pending.iter_mut().filter(|pending| pending.is_of(lane)) {
            pending.behind = Some(Arc::clone(marker));
        }
    }
}

impl<D: Driver> State<D> {
    fn take_free(&mut self, size: usize) -> Option<usize> {
        let (&start, &length) =
            self.free.iter().filter(|(_, length)| **length >= size).min_by_key(|(_, length)| **length)?;
        self.free.remove(&start);
        if length > size {
            self.free.insert(start + size, length - size);
        }
        Some(start)
    }

    fn take_pending(&mut self, size: usize, may: impl Fn(&Pending<D>) -> bool) -> Option<Cut<D>> {
        let fits = |pending: &Pending<D>| pending.size >= size && may(pending);
        let at =
            (0..self.pending.len()).filter(|at| fits(&self.pending[*at])).min_by_key(|at| self.pending[*at].size)?;
        let pending = &mut self.pending[at];
        let cut = Cut { pointer: pending.start, behind: pending.behind.clone() };
        pending.start += size;
        pending.size -= size;
        if pending.size == 0 {
            self.pending.swap_remove(at);
        }
        Some(cut)
    }

    /// Makes free what lanes are known to have got past.
    fn collect(&mut self) {
        let mut at = 0;
        while at < self.pending.len() {
            if self.pending[at].has_ended() {
                let ended = self.pending.swap_remove(at);
                self.put(ended.start, ended.size);
            } else {
                at += 1;
            }
        }
    }

    /// Joins a range with its free neighbours.
    fn put(&mut self, mut start: usize, mut size: usize) {
        if let Some(more) = self.free.remove(&(start + size)) {
            size += more;
        }
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            self.free.remove(&before);
            start = before;
            size += length;
        }
        self.free.insert(start, size);
    }
}
