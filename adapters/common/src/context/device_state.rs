//! What a context keeps of one of its devices, made at first need.
//!
//! It holds the native context, which is shared with other contexts over the device, and what is this context's alone: the
//! pools that a null handle means and where blocks come from. Whoever puts work on a stream keeps it alive; it keeps no
//! stream and no context alive.

use core::ops::Deref;
use std::sync::{Arc, OnceLock, Weak};

use crate::device::native_context::NativeContext;
use crate::device::relief::{self, Holdings};
use crate::device::{Device, Reclaim, adapter};
use crate::driver::{Driver, MemoryKind, PoolAttribute};
use crate::memory_pool::backend::{Location, PoolBackend};
use crate::memory_pool::current::{AnyPool, Current};
use crate::memory_pool::plain::Heap;
use crate::memory_pool::plain::label::{Label, MOST_DEVICES};
use crate::memory_pool::plain::settings::PlainSettings;
use crate::memory_pool::registry::Registry;
use crate::object::Object;
use crate::object::attachment::Attachment;
use crate::object::error::Result;
use crate::sync::weak_list::WeakList;

/// What the engine keeps for one device of one context.
pub struct DeviceState<D: Driver> {
    /// The opened library.
    pub driver: &'static D,
    /// The device.
    pub device: Arc<Object<Device<D>>>,
    /// The native context, with what every context over the device shares.
    pub native: Arc<NativeContext<D>>,
    /// The device's default pool, kept by [`crate::pool`].
    pub default_pool: Attachment,
    /// The pool that a null handle means.
    pub current_pool: Current<AnyPool>,
    /// The device's index in the context.
    index: usize,
    /// Plain memory by kind.
    heaps: [OnceLock<Arc<Heap<D>>>; 3],
    backends: WeakList<PoolBackend<D>>,
    /// The streams of the state's context. Weakly: the blocks whose stream is gone must go before the state.
    registry: Weak<Registry<D>>,
}

impl<D: Driver> DeviceState<D> {
    /// The state of a device that a context has none of yet.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(
        driver: &'static D,
        device: Arc<Object<Device<D>>>,
        index: usize,
        registry: &Arc<Registry<D>>,
    ) -> Result<Arc<Self>> {
        let native = device.home.get_or_make(driver, device.raw, adapter::is_in_use::<D>)?;
        let made = Arc::new(Self {
            driver,
            device,
            native,
            default_pool: Attachment::new(),
            current_pool: Current::new(),
            index,
            heaps: [const { OnceLock::new() }; 3],
            backends: WeakList::default(),
            registry: Arc::downgrade(registry),
        });
        let reclaim: Arc<dyn Reclaim> = Arc::clone(&made) as _;
        made.device.reclaimers.add(&reclaim);
        Ok(made)
    }

    /// The device's index in the context.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Plain memory of a kind, if it is pooled.
    #[inline]
    pub fn heap(&self, kind: MemoryKind) -> Option<&Arc<Heap<D>>> {
        let place = &self.heaps[place_of(kind)];
        place.get().or_else(|| self.make_heap(kind, place))
    }

    #[cold]
    fn make_heap<'s>(&self, kind: MemoryKind, place: &'s OnceLock<Arc<Heap<D>>>) -> Option<&'s Arc<Heap<D>>> {
        let settings = PlainSettings::get();
        let device_index = u16::try_from(self.index).ok().filter(|index| usize::from(*index) < MOST_DEVICES)?;
        let registry = self.registry.upgrade().filter(|_| settings.is_on)?;
        let label = Label::new(device_index, kind);
        Some(place.get_or_init(|| {
            let heap = Heap::new(label, *settings, &registry, &self.device, &self.native);
            let reclaim: Arc<dyn Reclaim> = Arc::clone(&heap) as _;
            self.device.reclaimers.add(&reclaim);
            heap
        }))
    }

    /// Plain memory of a kind, if there ever was any.
    #[inline]
    pub fn known_heap(&self, kind: MemoryKind) -> Option<&Arc<Heap<D>>> {
        self.heaps[place_of(kind)].get()
    }

    /// Every heap that there is.
    pub fn known_heaps(&self) -> impl Iterator<Item = &Arc<Heap<D>>> {
        self.heaps.iter().filter_map(OnceLock::get)
    }

    /// The number of the pool that a null handle means; 0 while nobody asked for one.
    #[inline]
    pub fn current_pool_id(&self) -> u64 {
        self.current_pool.id()
    }

    /// The device with its native context and the context's streams.
    pub fn location(&self) -> Location<'_, D> {
        Location { device: &self.device, native: &self.native, registry: &self.registry }
    }

    /// Notes where blocks of the device come from, for when it is out of memory.
    pub fn add_backend(&self, backend: &Arc<PoolBackend<D>>) {
        self.backends.add(backend);
    }
}

/// Where a kind's heap is.
#[inline]
fn place_of(kind: MemoryKind) -> usize {
    match kind {
        MemoryKind::Host => 0,
        MemoryKind::Device => 1,
        MemoryKind::Shared => 2,
    }
}

/// The native context, of which everything is asked that needs no more than that.
impl<D: Driver> Deref for DeviceState<D> {
    type Target = Arc<NativeContext<D>>;

    #[inline]
    fn deref(&self) -> &Arc<NativeContext<D>> {
        &self.native
    }
}

impl<D: Driver> Reclaim for DeviceState<D> {
    fn reclaim(&self) -> Result<u64> {
        let backends = self.backends.living();
        // A native pool that cannot be asked has given nothing back.
        let held = || backends.iter().filter_map(|one| one.reserved(PoolAttribute::ReservedCurrent).ok()).sum::<u64>();
        let before = held();
        // First what is nobody's any more.
        let ended = self.native.deferred_pools.trim(self.driver) + self.native.free_parked_memory();
        let on_device = |backend: &PoolBackend<D>| Arc::ptr_eq(&backend.device, &self.device);
        let flushed = self.registry.upgrade().map_or(Ok(()), |registry| registry.flush(on_device));
        let trimmed = backends.iter().map(|backend| backend.trim(0)).fold(flushed, Result::and);
        relief::total([trimmed.map(|()| 0), Ok(ended + before.saturating_sub(held()))])
    }

    fn tell(&self, holdings: &mut Holdings) {
        for backend in self.backends.living() {
            let what = match backend.kind {
                MemoryKind::Device => "pools of device memory",
                MemoryKind::Host => "pools of host memory",
                MemoryKind::Shared => "pools of shared memory",
            };
            // A native pool that cannot be asked tells nothing.
            let (Ok(held), Ok(used)) = (backend.reserved(PoolAttribute::ReservedCurrent), backend.used()) else {
                continue;
            };
            holdings.add(what, used, held.saturating_sub(used));
        }
    }

    fn release_idle(&self) {
        // Nobody is there to tell. Native pools get the synchronisation that they look at when the native context is trimmed.
        self.backends.living().iter().for_each(|backend| drop(backend.keep_threshold()));
    }
}

impl<D: Driver> Drop for DeviceState<D> {
    fn drop(&mut self) {
        self.known_heaps().for_each(Heap::close);
        // Pools first: their native memory goes before the native context does.
        self.default_pool = Attachment::new();
        self.current_pool.set(None);
        self.device.home.forget_if_lost(&self.native);
    }
}
