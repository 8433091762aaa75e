//! Pinned memory that commands copy through ([`crate::stream::staging`]), kept for the next one.
//!
//! Making pinned memory takes long and freeing it waits for the whole device, so what a command used goes to the device's cache,
//! in sizes that are powers of two, and back to the native library only when the cache is full or ends: on the thread that
//! may wait ([`crate::device::deferred`]), since commands must not. What lies in the cache is used by nothing any more.

use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::device::deferred;
use crate::device::native_context::{NativeContext, own_memory};
use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;

/// The least that is made.
const LEAST: usize = 4096;
/// Bytes that a device keeps.
const MOST_KEPT: usize = 64 << 20;

/// What a device keeps.
#[derive(Default)]
pub struct StagingPages {
    kept: Mutex<Recycled>,
}

#[derive(Default)]
struct Recycled {
    /// Addresses by the logarithm of their size.
    classes: Vec<Vec<usize>>,
    bytes: usize,
}

impl Recycled {
    fn class(&mut self, size: usize) -> &mut Vec<usize> {
        let class = size.trailing_zeros() as usize;
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Vec::new);
        }
        &mut self.classes[class]
    }
}

impl StagingPages {
    fn take(&self, size: usize) -> Option<usize> {
        let mut kept = self.kept.lock();
        let address = kept.class(size).pop()?;
        kept.bytes -= size;
        Some(address)
    }

    /// Takes a piece back; `false` if there is no room for it.
    fn put(&self, address: usize, size: usize) -> bool {
        let mut kept = self.kept.lock();
        if kept.bytes + size > MOST_KEPT {
            return false;
        }
        kept.class(size).push(address);
        kept.bytes += size;
        true
    }

    /// Bytes that are kept.
    pub fn kept_bytes(&self) -> usize {
        self.kept.lock().bytes
    }

    /// Takes everything out, for the caller to free.
    pub fn take_all(&self) -> Vec<usize> {
        let kept = core::mem::take(&mut *self.kept.lock());
        kept.classes.into_iter().flatten().collect()
    }
}

/// The size of a piece for so many bytes.
fn size_for(bytes: usize) -> Option<usize> {
    bytes.max(LEAST).checked_next_power_of_two()
}

/// A piece of pinned memory of some device. Whoever drops it has seen the end of every copy from and to it.
pub struct Piece<D: Driver> {
    native: Arc<NativeContext<D>>,
    address: usize,
    size: usize,
}

impl<D: Driver> Piece<D> {
    /// A piece of at least so many bytes, kept or new.
    ///
    /// # Errors
    /// `OUT_OF_HOST_MEMORY`; what the native library answers.
    pub fn new(native: &Arc<NativeContext<D>>, bytes: usize) -> Result<Self> {
        let full = || ur_result_t::ERROR_OUT_OF_HOST_MEMORY;
        let size = size_for(bytes).ok_or_else(full)?;
        let native = Arc::clone(native);
        let fresh = || {
            let address = native.allocate(MemoryKind::Host, size).map_err(|error| match error.code() {
                ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(full()),
                _ => error,
            })?;
            own_memory::add(address);
            Result::Ok(address)
        };
        let address = match native.staging.take(size) {
            Some(address) => address,
            None => fresh()?,
        };
        Ok(Self { native, address, size })
    }

    /// Whether it is what [`Piece::new`] would make for so many bytes.
    #[must_use]
    pub fn fits(&self, bytes: usize) -> bool {
        size_for(bytes) == Some(self.size)
    }

    /// The first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }
}

impl<D: Driver> Drop for Piece<D> {
    fn drop(&mut self) {
        if self.native.staging.put(self.address, self.size) {
            return;
        }
        let (native, address) = (Arc::clone(&self.native), self.address);
        // Nobody is left to tell.
        deferred::hand_over(move || own_memory::free_pinned(native.driver, address));
    }
}
