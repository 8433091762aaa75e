//! What the application has mapped of a buffer, and the pinned memory that maps use.
//!
//! A map of a buffer that the host cannot reach gets pinned memory ([`crate::device::native_context::staging`]), which goes back once the
//! copy out of it has finished. A map is known to the buffer until it is unmapped. No native call is made while the table of
//! maps is locked.

use core::ops::Range;
use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::buffer::command_bytes::CommandBytes;
use crate::device::deferred;
use crate::device::event_pool::PooledEvent;
use crate::device::native_context::NativeContext;
use crate::device::native_context::staging::Piece;
use crate::driver::Driver;
use crate::object::error::Result;

/// Pinned memory for one map. The copies from and to it are waited for before it serves another.
pub struct Staging<D: Driver> {
    /// Always there until it is dropped.
    piece: Option<Piece<D>>,
    /// How much of it the map uses.
    size: usize,
    /// What the last copy from or to it is waited for by.
    pub last: Option<Arc<PooledEvent<D>>>,
}

impl<D: Driver> Staging<D> {
    /// Memory that no copy uses yet.
    ///
    /// # Errors
    /// As [`Piece::new`].
    pub fn new(native: &Arc<NativeContext<D>>, size: usize) -> Result<Self> {
        Ok(Self { piece: Some(Piece::new(native, size)?), size, last: None })
    }

    /// The bytes, for copies that [`Staging::last`] comes after.
    #[must_use]
    pub fn bytes(&self) -> CommandBytes {
        CommandBytes::of_buffer(self.piece.as_ref().map_or(0, Piece::address), self.size)
    }

    fn is_idle(&self) -> bool {
        let done = |marker: &Arc<PooledEvent<D>>| marker.native_context().driver.event_is_complete(marker.raw());
        // What cannot be asked is waited for when it goes.
        self.last.as_ref().is_none_or(|marker| done(marker).unwrap_or(false))
    }
}

impl<D: Driver> Drop for Staging<D> {
    fn drop(&mut self) {
        let (piece, last) = (self.piece.take(), self.last.take());
        let Some(marker) = last else { return };
        deferred::wait(move || {
            // What cannot be waited for belongs to a lost device.
            let _ = marker.native_context().driver.synchronize_event(marker.raw());
            drop(piece);
        });
    }
}

/// What is mapped, where.
pub struct Map<D: Driver> {
    /// What the application was given.
    pub pointer: usize,
    /// The bytes, counted from the start of the storage.
    pub range: Range<usize>,
    /// Whether the application may write them.
    pub writes: bool,
    /// The memory behind the pointer where it is not the buffer's own.
    pub staging: Option<Staging<D>>,
}

/// A buffer's maps, and memory of former ones that copies still read.
pub struct Maps<D: Driver> {
    /// What is mapped.
    pub open: Vec<Map<D>>,
    /// Memory of former maps.
    pub retired: VecDeque<Staging<D>>,
}

impl<D: Driver> Default for Maps<D> {
    fn default() -> Self {
        Self { open: Vec::new(), retired: VecDeque::new() }
    }
}

impl<D: Driver> Maps<D> {
    /// Takes out the map at an address; of several one that writes, since a map that only reads may stay beside the
    /// device's work.
    pub fn take(&mut self, pointer: usize) -> Option<Map<D>> {
        let of = |writes: bool| move |map: &Map<D>| map.pointer == pointer && (map.writes || !writes);
        let index = self.open.iter().position(of(true)).or_else(|| self.open.iter().position(of(false)))?;
        Some(self.open.swap_remove(index))
    }
}

/// Frees former maps' memory that nothing uses any more. The library is asked about each until one is still used, which is
/// asked about again when all others were: so a map costs the same however many copies are on their way. The table is
/// unlocked while the library is asked and memory is freed.
pub fn release_idle<D: Driver>(maps: &Mutex<Maps<D>>) {
    loop {
        let Some(mut oldest) = maps.lock().retired.pop_front() else { return };
        if !oldest.is_idle() {
            maps.lock().retired.push_back(oldest);
            return;
        }
        // The end of what still used it was seen just now.
        oldest.last = None;
    }
}
