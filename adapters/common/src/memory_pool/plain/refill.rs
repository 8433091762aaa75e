//! Where a shard that has no block ready gets the next ones: what it has freed itself, what the depot has, native memory.
//!
//! A thread comes here once for a bundle of blocks, so what is read here may be the context's, but what is written is the
//! shard's own as long as the context's streams are known to be idle.

use super::depot::{Bundle, SMALL, Slab};
use super::shard::{self, Recent, Shard};
use super::{Heap, Make, SLAB_ALIGNMENT, size_class};
use crate::driver::Driver;
use crate::object::error::Result;
use crate::sync::mutation;

impl<D: Driver> Heap<D> {
    /// A block of a class of which the shard has none ready: what the shard has freed, what the depot has, a new part of a slab,
    /// a new slab, in this order.
    #[cold]
    #[inline(never)]
    pub(super) fn refill(&self, shard: &Shard, class: usize, make: Make<'_>) -> Result<usize> {
        let recycled = self
            .recycle(shard, class, false)
            .or_else(|| self.take_shelved(shard, class))
            .or_else(|| self.cut(shard, class))
            .or_else(|| self.recycle(shard, class, true));
        match recycled {
            Some(block) => Ok(block),
            None => self.grow(shard, class, make),
        }
    }

    /// A block of those that the shard has freed, if all work from before has finished; if not, the depot has them from now on.
    fn recycle(&self, shard: &Shard, class: usize, may_be_short: bool) -> Option<usize> {
        let blocks = match shard.take_recent(class, may_be_short, &self.changes) {
            Recent::None => return None,
            Recent::Ready(block) => return Some(block),
            Recent::Unknown(blocks) => blocks,
        };
        let registry = self.registry.upgrade()?;
        // The list first: what ended before it has left an event for the look.
        let streams = if shard.knows_streams(&self.changes) { None } else { registry.known_streams() };
        let progress = registry.progress();
        let stamp = progress.seal();
        progress.look(&registry);
        if progress.is_past(stamp) {
            streams.into_iter().for_each(|streams| shard.know_streams(streams));
            return shard.put_ready(class, blocks);
        }
        self.depot.lock().put(class, Bundle { stamp, blocks });
        None
    }

    fn take_shelved(&self, shard: &Shard, class: usize) -> Option<usize> {
        if !self.depot.lock().has(class) {
            return None;
        }
        let registry = self.registry.upgrade()?;
        let progress = registry.progress();
        let take = || self.depot.lock().take(class, |stamp| progress.is_past(stamp));
        let blocks = take().or_else(|| {
            progress.look(&registry);
            take()
        })?;
        shard.put_ready(class, blocks)
    }

    fn cut(&self, shard: &Shard, class: usize) -> Option<usize> {
        if size_class::size_of(class) >= SMALL {
            return None;
        }
        let blocks = self.depot.lock().cut(class, shard::capacity(class));
        shard.put_ready(class, blocks)
    }

    fn grow(&self, shard: &Shard, class: usize, make: Make<'_>) -> Result<usize> {
        let size = size_class::size_of(class);
        let none = || ur_ffi::ur_result_t::ERROR_UNKNOWN.into();
        if size >= SMALL {
            let block = self.make_whole(size, make)?;
            return shard.put_ready(class, vec![block]).ok_or_else(none);
        }
        let bytes = self.depot.lock().next_slab(class);
        let base = make(bytes)?;
        // The classes from the second on have room for the mutation.
        let overlap = if mutation::is(mutation::Bug::PlainBlocksOverlap) && class > 0 { 256 } else { 0 };
        let slab = Slab::new(base, bytes, base.next_multiple_of(SLAB_ALIGNMENT), size - overlap);
        self.note(&slab);
        let blocks = {
            let mut depot = self.depot.lock();
            depot.add(Some(class), slab, self.settings.slab_bytes);
            depot.cut(class, shard::capacity(class))
        };
        shard.put_ready(class, blocks).ok_or_else(none)
    }
}
