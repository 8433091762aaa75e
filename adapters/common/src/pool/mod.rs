//! USM pools: the object behind a pool's handle, the default pool of a device, and what is allocated from pools.
//!
//! A pool is a set of [`PoolBackend`]s, one for each kind of memory and device that was asked for; each is made at first need.
//! `docs/stream-ordered.md` says what pools promise. Queries are in [`info`], the memory itself in [`crate::memory_pool`].

pub mod create;
pub mod extent;
mod fast;
pub mod info;
pub mod native_handle;
pub mod out_of_memory;
mod reuse;
pub mod stream_ordered;
pub mod stream_ordered_free;
pub mod unused_blocks;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{ur_result_t, ur_usm_pool_handle_t, ur_usm_pool_handle_t_};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::relief::reclaiming;
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::current::AnyPool;
use crate::memory_pool::settings::{Reuse, Settings};
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Body, Held, Object, TableAddress};

/// What keeps the pool's context.
enum Home<D: Driver> {
    /// A pool that the application made keeps its context alive.
    Own(Arc<Object<Context<D>>>),
    /// A default pool is kept by its context.
    Default(Weak<Object<Context<D>>>),
}

/// A pool.
pub struct UsmPool<D: Driver> {
    /// A number that no other pool of the process has.
    pub id: u64,
    home: Home<D>,
    device: Option<Arc<Object<Device<D>>>>,
    settings: Settings<D>,
    this: Weak<Object<Self>>,
    made: Mutex<Made<D>>,
}

/// What a pool has made so far, and the settings for it and for what comes. One lock for both, so that no backend is made
/// with a setting that is changed meanwhile. It is held over native calls that never block.
struct Made<D: Driver> {
    backends: SmallVec<[Arc<PoolBackend<D>>; 3]>,
    threshold: usize,
    reuse: Reuse,
    /// Whether the handle is gone, so that streams open no more dealings with it.
    closed: bool,
}

impl<D: Driver> Body for UsmPool<D> {
    type Opaque = ur_usm_pool_handle_t_;
    const TAG: u32 = 0x5552_000b;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_VALUE;
    const NAME: &'static str = "USM pool";

    fn table() -> TableAddress {
        D::cell().table()
    }

    /// The handle is gone: queues keep nothing more of the pool, and no device takes it for its current one.
    fn on_last_release(pool: &Object<Self>) {
        let Home::Own(context) = &pool.home else { return };
        for state in context.known_states() {
            state.current_pool.forget(pool.id);
        }
        let backends = {
            let mut made = pool.made.lock();
            made.closed = true;
            made.backends.clone()
        };
        backends.iter().for_each(|backend| backend.close());
        context.registry.close(pool.id, || !backends.iter().any(|backend| backend.has_streams()));
        backends.iter().for_each(|backend| context.registry.end_if_unused(backend));
    }
}

impl<D: Driver> Drop for UsmPool<D> {
    fn drop(&mut self) {
        self.backends().iter().for_each(PoolBackend::end_with_pool);
    }
}

impl<D: Driver> UsmPool<D> {
    fn new(home: Home<D>, device: Option<Arc<Object<Device<D>>>>, settings: Settings<D>) -> Arc<Object<Self>> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Object::new_cyclic(|this| Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            home,
            device,
            made: Mutex::new(Made {
                backends: SmallVec::new(),
                threshold: settings.threshold,
                reuse: settings.reuse,
                closed: false,
            }),
            settings,
            this: Weak::clone(this),
        })
    }

    /// A pool that the application makes.
    pub fn own(
        context: &Object<Context<D>>,
        device: Option<&Object<Device<D>>>,
        settings: Settings<D>,
    ) -> Arc<Object<Self>> {
        Self::new(Home::Own(context.to_arc()), device.map(Object::to_arc), settings)
    }

    /// The default pool of a device.
    pub fn default_of(context: &Object<Context<D>>, device: &Object<Device<D>>) -> Arc<Object<Self>> {
        let settings = Settings {
            zeroed: false,
            max_size: 0,
            threshold: 0,
            reuse: Reuse::all(),
            peers: SmallVec::new(),
            others: context.devices().cloned().collect(),
            buffer: None,
            prefill: SmallVec::new(),
        };
        Self::new(Home::Default(Arc::downgrade(&context.to_arc())), Some(device.to_arc()), settings)
    }

    /// The default pool of one of the context's devices, made when it is first asked for.
    pub fn default_on(context: &Object<Context<D>>, state: &DeviceState<D>) -> Arc<Object<Self>> {
        Arc::clone(state.default_pool.get_or_make(|| Self::default_of(context, &state.device)))
    }

    /// What a null pool handle means on one of the context's devices.
    pub fn current_on(context: &Object<Context<D>>, state: &DeviceState<D>) -> Arc<Object<Self>> {
        let pool = state.current_pool.get_or(|| {
            let pool = Self::default_on(context, state);
            (pool.id, pool)
        });
        Self::of_any(pool)
    }

    /// The object behind a pool as lower rooms carry it.
    fn of_any(pool: AnyPool) -> Arc<Object<Self>> {
        let Ok(pool) = pool.downcast() else { unreachable!("what is carried as a pool is one") };
        pool
    }

    /// The pool of a backend, if the application still has it.
    pub fn of_backend(backend: &PoolBackend<D>) -> Option<Arc<Object<Self>>> {
        backend.pool_object().map(Self::of_any)
    }

    /// Whether the context made it.
    pub fn is_default(&self) -> bool {
        matches!(self.home, Home::Default(_))
    }

    /// Whether it belongs to this context.
    pub fn is_of(&self, context: &Object<Context<D>>) -> bool {
        let own: *const Object<Context<D>> = match &self.home {
            Home::Own(own) => Arc::as_ptr(own),
            Home::Default(own) => own.as_ptr(),
        };
        core::ptr::eq(own, context)
    }

    /// The context, while it lives.
    pub fn context(&self) -> Option<Arc<Object<Context<D>>>> {
        match &self.home {
            Home::Own(context) => Some(Arc::clone(context)),
            Home::Default(context) => context.upgrade(),
        }
    }

    /// The one device that it serves; `None` for a pool of all devices of its context.
    pub fn device(&self) -> Option<&Object<Device<D>>> {
        self.device.as_deref()
    }

    /// Refuses a device that the pool does not serve.
    ///
    /// # Errors
    /// `INVALID_DEVICE`.
    pub fn check_device(&self, name: &str, device: &Object<Device<D>>) -> Result<()> {
        match &self.device {
            Some(own) if !core::ptr::eq(&raw const **own, device) => {
                Err(Error::new(ur_result_t::ERROR_INVALID_DEVICE, format!("{name}: the pool is another device's")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a context that is not the pool's.
    ///
    /// # Errors
    /// `INVALID_CONTEXT`.
    pub fn check_context(&self, name: &str, context: &Object<Context<D>>) -> Result<()> {
        if self.is_of(context) {
            return Ok(());
        }
        Err(Error::new(ur_result_t::ERROR_INVALID_CONTEXT, format!("{name}: the pool is another context's")))
    }

    /// Refuses an allocation from the pool for another context, or for a device that the pool does not serve.
    ///
    /// # Errors
    /// `INVALID_CONTEXT`, `INVALID_DEVICE`.
    pub fn check_owners(
        &self,
        name: &str,
        context: &Object<Context<D>>,
        device: Option<&Object<Device<D>>>,
    ) -> Result<()> {
        self.check_context(name, context)?;
        device.map_or(Ok(()), |device| self.check_device(name, device))
    }

    /// Whether its blocks are zeroed.
    pub fn is_zeroed(&self) -> bool {
        self.settings.zeroed
    }

    /// Whether its memory is the application's own.
    pub fn is_over_buffer(&self) -> bool {
        self.settings.buffer.is_some()
    }

    /// Where blocks of a kind come from on a device, made now if nothing needed it before.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a kind that a buffer-backed pool does not have; as [`PoolBackend::new`].
    pub fn backend(&self, kind: MemoryKind, state: &DeviceState<D>) -> Result<Arc<PoolBackend<D>>> {
        if let Some(buffer) = &self.settings.buffer
            && buffer.kind != kind
        {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("the pool is made of {:?} memory and gives no {kind:?} memory", buffer.kind),
            ));
        }
        let mut made = self.made.lock();
        let known = made.backends.iter().find(|one| one.kind == kind && Arc::ptr_eq(&one.device, &state.device));
        if let Some(backend) = known {
            return Ok(Arc::clone(backend));
        }
        let backend = Arc::new(PoolBackend::new(self.id, self.this.clone(), &self.settings, kind, &state.location())?);
        if made.threshold != self.settings.threshold {
            backend.set_threshold(made.threshold)?;
        }
        if made.reuse != self.settings.reuse {
            backend.set_reuse(made.reuse)?;
        }
        // Somebody found the pool as the current one before its handle went.
        if made.closed {
            backend.close();
        }
        state.add_backend(&backend);
        made.backends.push(Arc::clone(&backend));
        Ok(backend)
    }

    /// Makes the memory that the pool is to begin with on a device.
    ///
    /// # Errors
    /// `OUT_OF_DEVICE_MEMORY` if there is not so much, or the pool's maximum is less; as [`UsmPool::backend`].
    fn prefill(&self, state: &DeviceState<D>) -> Result<()> {
        self.settings.prefill.iter().try_for_each(|(kind, bytes)| {
            let backend = self.backend(*kind, state)?;
            reclaiming(&state.device, || backend.prefill(*bytes, &state.native))
        })
    }

    /// Whether the handle is gone.
    pub fn is_closed(&self) -> bool {
        self.made.lock().closed
    }

    /// Every backend made so far.
    pub fn backends(&self) -> SmallVec<[Arc<PoolBackend<D>>; 3]> {
        self.made.lock().backends.clone()
    }

    /// Changes a setting of every backend, and of those to come: all of them, or none if one refuses.
    fn change<T: Copy>(
        &self,
        setting: impl Fn(&mut Made<D>) -> &mut T,
        value: T,
        set: impl Fn(&PoolBackend<D>, T) -> Result<()>,
    ) -> Result<()> {
        let mut made = self.made.lock();
        let before = *setting(&mut made);
        for (at, backend) in made.backends.iter().enumerate() {
            if let Err(error) = set(backend, value) {
                // The first failure is the one that is told.
                made.backends[..=at].iter().for_each(|one| drop(set(one, before)));
                return Err(error);
            }
        }
        *setting(&mut made) = value;
        Ok(())
    }
}

/// Checks the parameters that the functions on a device's pool share.
///
/// # Errors
/// `INVALID_CONTEXT`, `INVALID_DEVICE`.
fn check_owners<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    pool: &Object<UsmPool<D>>,
) -> Result<()> {
    context.check_member(device)?;
    pool.check_owners(name, context, Some(device))
}

/// `urUSMPoolGetDefaultDevicePoolExp`. The handle is the same as long as the context lives.
///
/// # Errors
/// `INVALID_DEVICE`.
pub fn default_pool<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    out: Out<'_, ur_usm_pool_handle_t>,
) -> Result<()> {
    write_pool(context, device, out, UsmPool::default_on)
}

/// `urUSMPoolGetDevicePoolExp`: the pool that was set, or the default pool.
///
/// # Errors
/// As [`default_pool`].
pub fn current_pool<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    out: Out<'_, ur_usm_pool_handle_t>,
) -> Result<()> {
    write_pool(context, device, out, UsmPool::current_on)
}

type PoolOf<D> = fn(&Object<Context<D>>, &DeviceState<D>) -> Arc<Object<UsmPool<D>>>;

fn write_pool<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    out: Out<'_, ur_usm_pool_handle_t>,
    of: PoolOf<D>,
) -> Result<()> {
    context.check_member(device)?;
    let pool = of(context, &*context.state(device)?);
    out.write(pool.handle());
    Ok(())
}

/// `urUSMPoolSetDevicePoolExp`.
///
/// # Errors
/// `INVALID_CONTEXT`, `INVALID_DEVICE` for a pool or a device that is another's.
pub fn set_current_pool<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    pool: &Object<UsmPool<D>>,
) -> Result<()> {
    check_owners("urUSMPoolSetDevicePoolExp", context, device, pool)?;
    let state = context.state(device)?;
    state.current_pool.set(if pool.is_default() { None } else { Some((pool.id, pool.to_arc())) });
    Ok(())
}

/// `urUSMPoolTrimToExp`: empties the free lists of the pool, then gives back what nobody uses beyond `keep` bytes; slabs stay while
/// a queue has work. The default pool's trim does the same for each kind of plain memory that the context keeps on the device,
/// which stays while a queue has work too. A trim waits for no queue.
///
/// # Errors
/// As [`set_current_pool`]; what the native library answers.
pub fn trim_to<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    pool: &Object<UsmPool<D>>,
    keep: usize,
) -> Result<()> {
    check_owners("urUSMPoolTrimToExp", context, device, pool)?;
    let backends = pool.backends();
    context.registry.flush(|kept| backends.iter().any(|backend| core::ptr::eq(kept, Arc::as_ptr(backend))))?;
    backends.iter().try_for_each(|backend| backend.trim(keep))?;
    // What plain memory keeps is nobody's pool's. Its native frees wait for whatever the device has to do.
    if pool.is_default() && context.registry.is_quiet() {
        context.state_of(device)?.known_heaps().try_for_each(|heap| heap.trim(keep).map(|_| ()))?;
    }
    Ok(())
}

/// `urUSMPoolDestroyExp`: gives one reference back, as `urUSMPoolRelease` does.
///
/// # Errors
/// As [`set_current_pool`]; `INVALID_VALUE` for a default pool.
pub fn destroy<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    held: Held<UsmPool<D>>,
) -> Result<()> {
    const NAME: &str = "urUSMPoolDestroyExp";
    let pool = held.object();
    check_owners(NAME, context, device, pool)?;
    if pool.is_default() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: the device's default pool is the context's own and goes with it"),
        ));
    }
    crate::object::release(held)
}
