//! Plain native memory of a context: the one call for each kind, and what a device's cache of staging memory gives back.

use std::sync::Arc;

use super::staging::{self, Idle, Piece};
use super::{Home, NativeContext, Parts, free_claim, imported, own_memory, owned, registrations};
use crate::device::deferred;
use crate::device::relief::Holdings;
use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;

impl<D: Driver> Parts<D> {
    /// A native allocation.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<usize> {
        let address = {
            let _scope = self.enter()?;
            match kind {
                MemoryKind::Device => self.driver.allocate_device(bytes),
                MemoryKind::Host => self.driver.allocate_host(bytes),
                MemoryKind::Shared => self.driver.allocate_shared(bytes),
            }?
        };
        note_allocated(address, bytes);
        Ok(address)
    }
}

/// Says that the native library has given memory out: what is noted of other memory at its addresses is over.
pub fn note_allocated(address: usize, bytes: usize) {
    deferred::note_allocated(address, bytes);
    free_claim::note_allocated(address);
    registrations::forget(address, bytes);
    imported::forget(address, bytes);
    // Memory of a lost device goes without a free.
    own_memory::remove(address);
    owned::forget(address, bytes);
}

impl<D: Driver> Home<D> {
    /// Gives staging memory back that is kept for the next command, by buffers and images too: how many bytes. It may wait for the
    /// device.
    pub fn give_staging_back(&self) -> u64 {
        let Some(native) = self.get() else { return 0 };
        let pieces = staging::take_idle(&native, Idle::All);
        let bytes = native.staging.kept_bytes() + pieces.iter().map(Piece::size).sum::<usize>();
        let pages = native.staging.take_all();
        if bytes > 0 {
            deferred::run(move || {
                pieces.into_iter().for_each(Piece::free);
                free_pages(&native, pages);
            });
        }
        bytes as u64
    }

    /// Tells what is kept beside what contexts have.
    pub fn tell(&self, holdings: &mut Holdings) {
        if let Some(native) = self.get() {
            holdings.add("staging memory", native.staging.bytes_out() as u64, native.staging.kept_bytes() as u64);
        }
    }
}

fn free_pages<D: Driver>(native: &Arc<NativeContext<D>>, pages: Vec<usize>) {
    for page in pages {
        own_memory::free_pinned(native.driver, page);
    }
}
