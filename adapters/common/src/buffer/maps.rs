//! What the application has mapped of a buffer.
//!
//! A map of a buffer that the host cannot reach gets pinned memory ([`crate::stream::staging`]), which goes to the next map once
//! the buffer is unmapped. A map is known to the buffer until then. Most often a buffer has one map at a time: that has a slot
//! of its own ([`Single`]), which a map and its unmap each hold while they work. Whoever comes meanwhile uses the table, which
//! is locked over no native call.

use core::ops::Range;
use std::sync::{Arc, Once};

use parking_lot::Mutex;

use crate::device::native_context::NativeContext;
use crate::device::native_context::staging::{self, Idle, Piece, ReclaimStaging};
use crate::driver::Driver;
use crate::object::error::Result;
use crate::stream::Stream;
use crate::stream::staging::{Staging, UsedStaging};
use crate::sync::keyed_slot::{KeyedSlot, Taken};

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

/// The key of [`Maps::single`] while no map is in it. No memory of a map is at this address.
const FREE: usize = 0;

/// The one map of a buffer that has no other, or the memory of the one that was over last: it goes to the next as it is, so that
/// a map allocates nothing and locks nothing (`urbench`'s row "objects: map + unmap 4 KiB").
pub struct Single<D: Driver> {
    /// The memory.
    pub staging: Option<MapStaging<D>>,
    /// The bytes that are mapped, counted from the start of the storage.
    pub range: Range<usize>,
    /// Whether the application may write them.
    pub writes: bool,
}

impl<D: Driver> Single<D> {
    /// Whether the memory that is there can be that of a map of so many bytes, whose bytes the stream's next command copies.
    #[inline]
    pub fn begin_again(&mut self, stream: &Arc<Stream<D>>, size: usize) -> bool {
        match &mut self.staging {
            Some(MapStaging::Own(staging)) => staging.begin_again(stream, size),
            _ => false,
        }
    }

    /// Gives memory out that no map and no command uses, as [`Staging::take_idle`].
    fn take_idle(&mut self, native: &NativeContext<D>, which: Idle) -> Option<Piece<D>> {
        let staging = match self.staging.as_mut()? {
            MapStaging::Own(staging) => &mut **staging,
            MapStaging::Shared(staging) => Arc::get_mut(staging)?.get_mut(),
        };
        let piece = staging.take_idle(native, which)?;
        self.staging = None;
        Some(piece)
    }

    /// Takes the map out.
    pub fn take_out(&mut self, pointer: usize) -> Map<D> {
        Map { pointer, range: self.range.clone(), writes: self.writes, staging: self.staging.take() }
    }
}

/// The slot of a buffer's one map, held.
pub struct HeldSingle<'m, D: Driver>(Taken<'m, Single<D>>);

impl<D: Driver> HeldSingle<'_, D> {
    /// Does something with it.
    #[inline(always)]
    pub fn with<R>(&mut self, work: impl FnOnce(&mut Single<D>) -> R) -> R {
        self.0.with(work)
    }

    /// Notes that the map is open, at the address of its memory.
    #[inline]
    pub fn open_at(self, pointer: usize) {
        self.0.put_under(pointer);
    }

    /// Notes that the map is over.
    #[inline]
    pub fn close(self) {
        self.0.put_under(FREE);
    }
}

/// A buffer's maps, from the first one on.
pub struct Maps<D: Driver> {
    single: KeyedSlot<Single<D>>,
    /// All others.
    open: Mutex<Vec<Map<D>>>,
    /// Memory of maps that are over, but for the latest.
    staging: UsedStaging<D>,
    /// Has it asked for what it keeps, before it keeps anything.
    listed: Once,
}

impl<D: Driver> Default for Maps<D> {
    fn default() -> Self {
        let single = Single { staging: None, range: 0..0, writes: false };
        let (open, staging) = (Mutex::default(), UsedStaging::default());
        Self { single: KeyedSlot::new(FREE, single), open, staging, listed: Once::new() }
    }
}

impl<D: Driver> Maps<D> {
    /// The slot for a map with memory of its own, unless there is another. Who drops it leaves it free.
    #[inline]
    pub fn free_single(&self) -> Option<HeldSingle<'_, D>> {
        self.single.take(FREE).map(HeldSingle)
    }

    /// The slot, if the map in it is the one at an address. Who drops it leaves the map there.
    #[inline]
    pub fn single_at(&self, pointer: usize) -> Option<HeldSingle<'_, D>> {
        if pointer == FREE { None } else { self.single.take(pointer).map(HeldSingle) }
    }

    /// Memory for a map, as [`UsedStaging::take`].
    ///
    /// # Errors
    /// As [`UsedStaging::take`].
    pub fn take_staging(
        self: &Arc<Self>,
        native: &Arc<NativeContext<D>>,
        stream: Option<&Arc<Stream<D>>>,
        size: usize,
    ) -> Result<MapStaging<D>> {
        self.listed.call_once(|| {
            let reclaimer: Arc<dyn ReclaimStaging<D>> = Arc::clone(self) as _;
            staging::add_reclaimer(&reclaimer);
        });
        self.staging.take(native, stream, size).map(Box::new).map(MapStaging::Own)
    }

    /// Keeps the memory of a map that is over, unless a command is still to copy through it.
    pub fn keep(&self, staging: MapStaging<D>) {
        if let Some(staging) = staging.into_own() {
            self.staging.put(*staging);
        }
    }

    /// Notes what is mapped.
    pub fn add(&self, map: Map<D>) {
        self.open.lock().push(map);
    }

    /// Takes out the map at an address; of several one that writes, since a map that only reads may stay beside the
    /// device's work.
    pub fn take(&self, pointer: usize) -> Option<Map<D>> {
        if let Some(mut single) = self.single_at(pointer) {
            let map = single.with(|single| single.take_out(pointer));
            single.close();
            return Some(map);
        }
        let of = |writes: bool| move |map: &Map<D>| map.pointer == pointer && (map.writes || !writes);
        let open = &mut self.open.lock();
        let index = open.iter().position(of(true)).or_else(|| open.iter().position(of(false)))?;
        Some(open.swap_remove(index))
    }
}

impl<D: Driver> ReclaimStaging<D> for Maps<D> {
    fn take_idle(&self, native: &NativeContext<D>, which: Idle) -> Vec<Piece<D>> {
        let mut idle = self.staging.take_idle(native, which);
        if let Some(mut single) = self.free_single() {
            idle.extend(single.with(|single| single.take_idle(native, which)));
        }
        idle
    }
}
