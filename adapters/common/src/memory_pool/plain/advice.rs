//! Advice about shared memory, which stays with pages: a block gives back what it was given when it is freed.

use super::{Heap, PAGE};
use crate::driver::Driver;
use crate::driver::memory::{Advice, MemoryLocation};
use crate::object::error::Result;
use crate::sync::unlikely::unlikely;

use std::sync::atomic::Ordering;

impl<D: Driver> Heap<D> {
    /// Notes that a live block was given advice; `accessed_by` is a device that it was said to be accessed by.
    pub fn note_advice(&self, start: usize, accessed_by: Option<D::Device>) {
        let block = if unlikely!(self.debugs()) { self.advised_block(start) } else { start };
        let mut advised = self.advised.lock();
        let devices = advised.entry(block).or_default();
        let is_new = |device: &D::Device| *device != self.device.raw && !devices.contains(device);
        devices.extend(accessed_by.filter(is_new));
        self.advised_count.store(advised.len(), Ordering::Relaxed);
    }

    /// Takes advice back that a block was given, so that whoever has it next begins without. The native library moves no bytes
    /// for that.
    #[cold]
    pub(super) fn take_advice_back(&self, block: usize) -> Result<()> {
        let others = {
            let mut advised = self.advised.lock();
            let Some(others) = advised.remove(&block) else { return Ok(()) };
            self.advised_count.store(advised.len(), Ordering::Relaxed);
            others
        };
        let Some(slab) = self.native_around(block) else { return Ok(()) };
        let end = block + slab.block;
        let range = if slab.is_whole() { block..end } else { block.next_multiple_of(PAGE)..end / PAGE * PAGE };
        let native = self.native.lock().clone();
        let Some(native) = native.filter(|_| !range.is_empty()) else { return Ok(()) };
        let _scope = native.enter()?;
        let device = MemoryLocation::Device(self.device.raw);
        let advise = |advice| self.driver.advise(range.start, range.len(), advice);
        for other in others {
            // A device that refused the advice refuses this too.
            let _ = advise(Advice::AccessedBy(MemoryLocation::Device(other), false));
        }
        [
            Advice::ReadMostly(false),
            Advice::PreferredLocation(None),
            Advice::AccessedBy(device, false),
            Advice::AccessedBy(MemoryLocation::Host, false),
        ]
        .into_iter()
        .chain(D::ADVISES_COHERENCE.then_some(Advice::CoarseGrain(false)))
        .try_for_each(advise)
    }
}
