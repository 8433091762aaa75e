//! What a heap gives back when some memory of the process runs out, and what it tells of itself then.

use super::Heap;
use crate::device::Reclaim;
use crate::device::relief::{self, Holdings};
use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;

impl<D: Driver> Reclaim for Heap<D> {
    fn reclaim(&self) -> Result<u64> {
        relief::total(self.free_unused(0))
    }

    fn release_idle(&self) {
        // Nobody is there to tell.
        let _ = self.trim(0);
    }

    fn tell(&self, holdings: &mut Holdings) {
        let what = match self.label.kind() {
            MemoryKind::Device => "plain device memory",
            MemoryKind::Host => "plain host memory",
            MemoryKind::Shared => "plain shared memory",
        };
        let figures = self.figures();
        holdings.add(what, figures.live as u64, figures.kept() as u64);
    }
}
