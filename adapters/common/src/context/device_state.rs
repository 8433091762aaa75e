//! What a context keeps of one of its devices, made at first need.
//!
//! It holds the native context, which is shared with other contexts over the device, and what is this context's alone: the
//! pools that a null handle means and where blocks come from. Whoever puts work on a stream keeps it alive; it keeps no
//! stream and no context alive.

use core::ops::Deref;
use std::sync::{Arc, Weak};

use crate::device::native_context::NativeContext;
use crate::device::{Device, Reclaim, adapter};
use crate::driver::Driver;
use crate::memory_pool::backend::{Location, PoolBackend};
use crate::memory_pool::current::{AnyPool, Current};
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
    backends: WeakList<PoolBackend<D>>,
    /// The streams of the state's context. Weakly: the blocks whose stream is gone must go before the state.
    registry: Weak<Registry<D>>,
}

impl<D: Driver> DeviceState<D> {
    /// The state of a device that a context has none of yet.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(driver: &'static D, device: Arc<Object<Device<D>>>, registry: &Arc<Registry<D>>) -> Result<Arc<Self>> {
        let native = device.home.get_or_make(driver, device.raw, adapter::is_in_use::<D>())?;
        let made = Arc::new(Self {
            driver,
            device,
            native,
            default_pool: Attachment::new(),
            current_pool: Current::new(),
            backends: WeakList::default(),
            registry: Arc::downgrade(registry),
        });
        let reclaim: Arc<dyn Reclaim> = Arc::clone(&made) as _;
        made.device.reclaimers.add(&reclaim);
        Ok(made)
    }

    /// The number of the pool that a null handle means; 0 while nobody asked for one.
    #[inline]
    pub fn current_pool_id(&self) -> u64 {
        self.current_pool.id()
    }

    /// The device with its native context.
    pub fn location(&self) -> Location<'_, D> {
        (&self.device, &self.native)
    }

    /// Notes where blocks of the device come from, for when it is out of memory.
    pub fn add_backend(&self, backend: &Arc<PoolBackend<D>>) {
        self.backends.add(backend);
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
    fn reclaim(&self) -> Result<()> {
        // First what is nobody's any more.
        self.native.deferred_pools.trim(self.driver);
        let on_device = |backend: &PoolBackend<D>| Arc::ptr_eq(&backend.device, &self.device);
        let flushed = self.registry.upgrade().map_or(Ok(()), |registry| registry.flush(on_device));
        self.backends.living().iter().map(|backend| backend.trim(0)).fold(flushed, Result::and)
    }
}

impl<D: Driver> Drop for DeviceState<D> {
    fn drop(&mut self) {
        // Pools first: their native memory goes before the native context does.
        self.default_pool = Attachment::new();
        self.current_pool.set(None);
        self.device.home.forget_if_lost(&self.native);
    }
}
