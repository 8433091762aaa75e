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

/// Pinned memory of a map. A command is lent it; one that is deferred shares it with the map from then on, so only that pays
/// for a lock and a count (`urbench`'s row "objects: map + unmap 4 KiB").
pub enum MapStaging<D: Driver> {
    /// The map's alone.
    Own(Box<Staging<D>>),
    /// A deferred command has it too.
    Shared(Arc<Mutex<Staging<D>>>),
}

impl<D: Driver> MapStaging<D> {
    /// Does something with it.
    pub fn lend<R>(&mut self, work: impl FnOnce(&mut Staging<D>) -> R) -> R {
        match self {
            Self::Own(staging) => work(staging),
            Self::Shared(staging) => work(&mut staging.lock()),
        }
    }

    /// The same memory for a command that is deferred.
    pub fn share(slot: &mut Option<Self>) -> Option<Self> {
        let shared = match slot.take()? {
            Self::Own(staging) => Arc::new(Mutex::new(*staging)),
            Self::Shared(staging) => staging,
        };
        *slot = Some(Self::Shared(Arc::clone(&shared)));
        Some(Self::Shared(shared))
    }

    /// The memory itself, unless a command is still to copy through it.
    fn into_own(self) -> Option<Box<Staging<D>>> {
        match self {
            Self::Own(staging) => Some(staging),
            Self::Shared(staging) => Arc::into_inner(staging).map(|staging| Box::new(staging.into_inner())),
        }
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
    pub staging: Option<MapStaging<D>>,
}

/// A buffer's maps, from the first one on.
pub struct Maps<D: Driver> {
    table: Mutex<Table<D>>,
    /// Memory of maps that are over, but for the latest.
    staging: UsedStaging<D>,
}

/// What changes with every map.
struct Table<D: Driver> {
    open: Vec<Map<D>>,
    /// Memory of the map that was over last: it goes to the next as it is, so that a map allocates nothing
    /// (`urbench`'s row "objects: map + unmap 4 KiB").
    latest: Option<Box<Staging<D>>>,
}

impl<D: Driver> Default for Maps<D> {
    fn default() -> Self {
        Self { table: Mutex::new(Table { open: Vec::new(), latest: None }), staging: UsedStaging::default() }
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
    ) -> Result<Box<Staging<D>>> {
        let latest = self.table.lock().latest.take();
        if let Some(mut latest) = latest {
            if stream.is_some_and(|stream| latest.begin_again(stream, size)) {
                return Ok(latest);
            }
            self.staging.put(*latest);
        }
        self.staging.take(native, stream, size).map(Box::new)
    }

    /// Keeps the memory of a map that is over, unless a command is still to copy through it. What was kept last goes behind the
    /// memory before it.
    pub fn keep(&self, staging: MapStaging<D>) {
        let Some(staging) = staging.into_own() else { return };
        let before = self.table.lock().latest.replace(staging);
        if let Some(before) = before {
            self.staging.put(*before);
        }
    }

    /// Notes what is mapped.
    pub fn add(&self, map: Map<D>) {
        self.table.lock().open.push(map);
    }

    /// Takes out the map at an address; of several one that writes, since a map that only reads may stay beside the
    /// device's work.
    pub fn take(&self, pointer: usize) -> Option<Map<D>> {
        let of = |writes: bool| move |map: &Map<D>| map.pointer == pointer && (map.writes || !writes);
        let open = &mut self.table.lock().open;
        let index = open.iter().position(of(true)).or_else(|| open.iter().position(of(false)))?;
        Some(open.swap_remove(index))
    }
}
