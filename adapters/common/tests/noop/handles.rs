//! The handles that the engine's own tests work with, over the engine's driver without a device.

use core::ptr::{null, null_mut};

use parking_lot::{Mutex, MutexGuard};
use ur_adapter::api::generated::*;
use ur_adapter::api::noop::Noop;
use ur_ffi::*;

/// The driver is the process's, and so are its time and its faults; an error anywhere keeps streams from being kept. So every
/// test takes its turn.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}

/// A context with its device.
pub struct Handles {
    adapter: ur_adapter_handle_t,
    device: ur_device_handle_t,
    context: ur_context_handle_t,
}

/// The calls here succeed, or the test has failed.
#[track_caller]
fn expect_success(code: ur_result_t) {
    assert_eq!(code, ur_result_t::SUCCESS);
}

impl Handles {
    /// Opens the driver and makes a context.
    pub fn new() -> Self {
        let (mut adapter, mut found, mut device, mut made) = (null_mut(), null_mut(), null_mut(), null_mut());
        // SAFETY: outputs are writable, handles live.
        unsafe {
            expect_success(urAdapterGet::<Noop>(1, &raw mut adapter, null_mut()));
            expect_success(urPlatformGet::<Noop>(adapter, 1, &raw mut found, null_mut()));
            expect_success(urDeviceGet::<Noop>(found, ur_device_type_t::ALL, 1, &raw mut device, null_mut()));
            expect_success(urContextCreate::<Noop>(1, &raw const device, null(), &raw mut made));
        }
        Self { adapter, device, context: made }
    }

    /// An in-order queue.
    pub fn queue(&self) -> ur_queue_handle_t {
        self.queue_with(ur_queue_flags_t::empty())
    }

    /// A queue with these flags.
    pub fn queue_with(&self, flags: ur_queue_flags_t) -> ur_queue_handle_t {
        let properties = ur_queue_properties_t { flags, ..Default::default() };
        let mut made = null_mut();
        // SAFETY: live handles, valid properties, a writable output.
        let code = unsafe { urQueueCreate::<Noop>(self.context, self.device, &raw const properties, &raw mut made) };
        expect_success(code);
        made
    }

    /// The context.
    pub fn context(&self) -> ur_context_handle_t {
        self.context
    }

    /// A pool of the device.
    pub fn pool(&self) -> ur_usm_pool_handle_t {
        let mut desc = ur_usm_pool_desc_t::default();
        let mut made = null_mut();
        // SAFETY: live handles, a valid descriptor, a writable output.
        expect_success(unsafe { urUSMPoolCreateExp::<Noop>(self.context, self.device, &raw mut desc, &raw mut made) });
        made
    }

    /// The device.
    pub fn device(&self) -> ur_device_handle_t {
        self.device
    }

    /// Plain device memory, and a pool over it.
    pub fn pool_over_memory(&self, bytes: usize) -> (*mut core::ffi::c_void, ur_usm_pool_handle_t) {
        let (mut memory, mut made) = (null_mut(), null_mut());
        // SAFETY: live handles, writable outputs, a valid descriptor chained behind another one.
        unsafe {
            let out = &raw mut memory;
            expect_success(urUSMDeviceAlloc::<Noop>(self.context, self.device, null(), null_mut(), bytes, out));
            let (size, device) = (bytes, self.device);
            let buffer = ur_usm_pool_buffer_desc_t {
                pMem: memory,
                size,
                memType: ur_usm_type_t::DEVICE,
                device,
                ..Default::default()
            };
            let mut desc = ur_usm_pool_desc_t { pNext: (&raw const buffer).cast(), ..Default::default() };
            expect_success(urUSMPoolCreateExp::<Noop>(self.context, self.device, &raw mut desc, &raw mut made));
        }
        (memory, made)
    }

    /// Frees plain memory.
    pub fn free(&self, memory: *mut core::ffi::c_void) {
        // SAFETY: a live context, memory that nothing uses any more.
        expect_success(unsafe { urUSMFree::<Noop>(self.context, memory) });
    }

    /// A pool of the context, which makes its memory at first need.
    pub fn lazy_pool(&self) -> ur_usm_pool_handle_t {
        let mut desc = ur_usm_pool_desc_t::default();
        let mut made = null_mut();
        // SAFETY: live handles, a valid descriptor, a writable output.
        expect_success(unsafe { urUSMPoolCreate::<Noop>(self.context, &raw mut desc, &raw mut made) });
        made
    }

    /// Gives the pool's free memory back.
    pub fn trim(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: live handles.
        expect_success(unsafe { urUSMPoolTrimToExp::<Noop>(self.context, self.device, pool, 0) });
    }

    /// Releases a queue.
    pub fn release_queue(&self, queue: ur_queue_handle_t) {
        // SAFETY: a live queue, released once.
        expect_success(unsafe { urQueueRelease::<Noop>(queue) });
    }

    /// Releases a pool of the context.
    pub fn release_pool_of_context(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: a live pool, released once.
        expect_success(unsafe { urUSMPoolRelease::<Noop>(pool) });
    }

    /// Destroys a pool.
    pub fn release_pool(&self, pool: ur_usm_pool_handle_t) {
        // SAFETY: live handles.
        expect_success(unsafe { urUSMPoolDestroyExp::<Noop>(self.context, self.device, pool) });
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: a live context and the adapter's reference that `new` got, each released once.
        unsafe {
            expect_success(urContextRelease::<Noop>(self.context));
            expect_success(urAdapterRelease::<Noop>(self.adapter));
        }
    }
}
