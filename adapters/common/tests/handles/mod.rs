//! The handles that the engine's own tests work with, over the engine's driver without a device.

use core::ptr::{null, null_mut};

use ur_adapter::device::{adapter, platform};
use ur_adapter::driver::noop::Noop;
use ur_adapter::{context, device, object, pool, queue};
use ur_ffi::*;

/// A context with its device.
pub struct Handles {
    adapter: ur_adapter_handle_t,
    device: ur_device_handle_t,
    context: ur_context_handle_t,
}

impl Handles {
    /// Opens the driver and makes a context.
    pub fn new() -> Self {
        let (mut adapter, mut found, mut device, mut made) = (null_mut(), null_mut(), null_mut(), null_mut());
        // SAFETY: outputs are writable, handles live.
        unsafe {
            adapter::get::<Noop>(1, &raw mut adapter, null_mut()).expect("the adapter");
            platform::get::<Noop>(adapter, 1, &raw mut found, null_mut()).expect("its platform");
            device::get::<Noop>(found, ur_device_type_t::ALL, 1, &raw mut device, null_mut()).expect("its device");
            context::create::<Noop>(1, &raw const device, null(), &raw mut made).expect("a context");
        }
        Self { adapter, device, context: made }
    }

    /// An in-order queue.
    pub fn queue(&self) -> ur_queue_handle_t {
        let mut made = null_mut();
        // SAFETY: live handles, a writable output.
        unsafe { queue::create::<Noop>(self.context, self.device, null(), &raw mut made) }.expect("a queue");
        made
    }

    /// A pool of the device.
    pub fn pool(&self) -> ur_usm_pool_handle_t {
        let mut desc = ur_usm_pool_desc_t::default();
        let mut made = null_mut();
        // SAFETY: live handles, a valid descriptor, a writable output.
        unsafe { pool::create::for_device::<Noop>(self.context, self.device, &raw mut desc, &raw mut made) }
            .expect("a pool");
        made
    }

    /// A pool of the context, which makes its memory at first need.
    pub fn lazy_pool(&self) -> ur_usm_pool_handle_t {
        let mut desc = ur_usm_pool_desc_t::default();
        let mut made = null_mut();
        // SAFETY: live handles, a valid descriptor, a writable output.
        unsafe { pool::create::for_context::<Noop>(self.context, &raw mut desc, &raw mut made) }.expect("a pool");
        made
    }

    /// Gives the pool's free memory back.
    pub fn trim(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: live handles.
        unsafe { pool::trim_to::<Noop>(self.context, self.device, pool, 0) }.expect("a trim");
    }

    /// Releases a queue.
    pub fn release_queue(&self, queue: ur_queue_handle_t) {
        // SAFETY: a live queue, released once.
        unsafe { object::release_by_handle::<queue::Queue<Noop>>(queue) }.expect("a live queue");
    }

    /// Releases a pool of the context.
    pub fn release_pool_of_context(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: a live pool, released once.
        unsafe { object::release_by_handle::<pool::UsmPool<Noop>>(pool) }.expect("a live pool");
    }

    /// Destroys a pool.
    pub fn release_pool(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: live handles.
        unsafe { pool::destroy::<Noop>(self.context, self.device, pool) }.expect("a live pool");
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: a live context and the adapter's reference that `new` got, each released once.
        unsafe {
            object::release_by_handle::<context::Context<Noop>>(self.context).expect("a live context");
            object::release_by_handle::<adapter::Adapter<Noop>>(self.adapter).expect("the adapter");
        }
    }
}
