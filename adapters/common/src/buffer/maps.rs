//! What the application has mapped of a buffer.
//!
//! A map of a buffer that the host cannot reach gets pinned memory ([`crate::stream::staging`]), which goes to the next map once
//! the buffer is unmapped. A map is known to the buffer until then. No native call is made while the table of maps is locked.

use core::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::device::native_context::NativeContext;
use crate::driver::Driver;
use crate::object::error::Result;
use crate::stream::Stream;
use crate::stream::staging::{Staging, UsedStaging};

/// Pinned memory of a map, which a command that copies through it shares: that may be deferred.
pub type SharedStaging<D> = Arc<Mutex<Staging<D>>>;

/// What is mapped, where.
pub struct Map<D: Driver> {
    /// What the application was given.
    pub pointer: usize,
    /// The bytes, counted from the start of the storage.
    pub range: Range<usize>,
    /// Whether the application may write them.
    pub writes: bool,
    /// The memory behind the pointer where it is not the buffer's own.
    pub staging: Option<SharedStaging<D>>,
}

/// A buffer's maps, from the first one on.
pub struct Maps<D: Driver> {
    open: Mutex<Vec<Map<D>>>,
    /// Memory of the map that was over last: it goes to the next as it is, so that a map allocates nothing
    /// (`urbench`'s row "objects: map + unmap 4 KiB").
    latest: Mutex<Option<SharedStaging<D>>>,
    /// Memory of those before.
    staging: UsedStaging<D>,
}

impl<D: Driver> Default for Maps<D> {
    fn default() -> Self {
        Self { open: Mutex::default(), latest: Mutex::default(), staging: UsedStaging::default() }
    }
}

impl<D: Driver> Maps<D> {
    /// Memory for a map, as [`UsedStaging::take`].
    ///
    /// # Errors
    /// As [`UsedStaging::take`].
    pub fn take_staging(
        &self,
        native: &Arc<NativeContext<D>>,
        stream: Option<&Arc<Stream<D>>>,
        size: usize,
    ) -> Result<SharedStaging<D>> {
        if let Some(latest) = stream.and_then(|stream| self.take_latest(stream, size)) {
            return Ok(latest);
        }
        self.lay_by(None);
        Ok(Arc::new(Mutex::new(self.staging.take(native, stream, size)?)))
    }

    fn take_latest(&self, stream: &Arc<Stream<D>>, size: usize) -> Option<SharedStaging<D>> {
        let mut latest = self.latest.lock();
        let staging = Arc::get_mut(latest.as_mut()?)?;
        if staging.get_mut().begin_again(stream, size) { latest.take() } else { None }
    }

    /// Keeps the memory of a map that is over, unless a command is still to copy through it.
    pub fn keep(&self, mut staging: SharedStaging<D>) {
        if Arc::get_mut(&mut staging).is_some() {
            self.lay_by(Some(staging));
        }
    }

    /// Exchanges the latest memory; what was that goes behind the memory before it.
    fn lay_by(&self, latest: Option<SharedStaging<D>>) {
        let before = core::mem::replace(&mut *self.latest.lock(), latest);
        if let Some(staging) = before.and_then(Arc::into_inner) {
            self.staging.put(staging.into_inner());
        }
    }

    /// Notes what is mapped.
    pub fn add(&self, map: Map<D>) {
        self.open.lock().push(map);
    }

    /// Takes out the map at an address; of several one that writes, since a map that only reads may stay beside the
    /// device's work.
    pub fn take(&self, pointer: usize) -> Option<Map<D>> {
        let of = |writes: bool| move |map: &Map<D>| map.pointer == pointer && (map.writes || !writes);
        let mut open = self.open.lock();
        let index = open.iter().position(of(true)).or_else(|| open.iter().position(of(false)))?;
        Some(open.swap_remove(index))
    }
}
