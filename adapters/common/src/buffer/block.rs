//! A block of memory at one location of a buffer, which is freed the way it was made when it is dropped.
//!
//! Freeing needs no current context. Its errors are dropped, because no call is left that could answer them. Must not know
//! who uses the memory: whoever drops a block has seen the end of that.

use core::alloc::Layout;
use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::context::DeviceState;
use crate::device::deferred;
use crate::driver::{Driver, MemoryKind};
use crate::object::error::{Error, Result};

/// Alignment of memory taken from the process's heap: what devices read fastest, and as aligned as native memory.
const HEAP_ALIGNMENT: usize = 256;

enum Owned {
    Device,
    Pinned,
    Heap(Layout),
    ByApplication,
}

/// Memory at one of the locations that a buffer can be at.
pub struct Block<D: Driver> {
    address: usize,
    size: usize,
    /// The device that native memory came from.
    state: Option<Arc<DeviceState<D>>>,
    owned: Owned,
}

impl<D: Driver> Block<D> {
    /// Fresh memory of a device.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn on_device(state: &Arc<DeviceState<D>>, size: usize) -> Result<Self> {
        let _scope = state.enter()?;
        let address = state.driver.allocate_device(size)?;
        Ok(Self { address, size, state: Some(Arc::clone(state)), owned: Owned::Device })
    }

    /// Fresh pinned memory, which the host and every device reach by the same address.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn pinned(state: &Arc<DeviceState<D>>, size: usize) -> Result<Self> {
        let _scope = state.enter()?;
        let address = state.driver.allocate_host(size).map_err(|error| match error.code() {
            ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_HOST_MEMORY),
            _ => error,
        })?;
        Ok(Self { address, size, state: Some(Arc::clone(state)), owned: Owned::Pinned })
    }

    /// Fresh pinned memory that begins with the application's bytes.
    ///
    /// # Errors
    /// As [`Block::pinned`].
    pub fn pinned_copy_of(state: &Arc<DeviceState<D>>, bytes: &[u8]) -> Result<Self> {
        let block = Self::pinned(state, bytes.len())?;
        let to = core::ptr::with_exposed_provenance_mut::<u8>(block.address);
        // SAFETY: fresh memory of that size, which the host reaches and nobody else knows.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(block)
    }

    /// A copy of the application's bytes on the heap.
    ///
    /// # Errors
    /// `OUT_OF_HOST_MEMORY`.
    pub fn copy_of(bytes: &[u8]) -> Result<Self> {
        let size = bytes.len();
        let full = || Error::new(ur_result_t::ERROR_OUT_OF_HOST_MEMORY, format!("no {size} bytes for a buffer's copy"));
        let layout = Layout::from_size_align(size.max(1), HEAP_ALIGNMENT).map_err(|_| full())?;
        // SAFETY: the layout's size is not 0; what was allocated is fresh and as long as what is copied.
        let memory = unsafe {
            let memory = std::alloc::alloc(layout);
            if memory.is_null() {
                return Err(full());
            }
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, size);
            memory
        };
        Ok(Self { address: memory.expose_provenance(), size, state: None, owned: Owned::Heap(layout) })
    }

    /// Host memory that stays the application's.
    #[must_use]
    pub fn of_application(address: usize) -> Self {
        Self { address, size: 0, state: None, owned: Owned::ByApplication }
    }

    /// Native memory that the application made: `kind` says of what sort when it gives it away, `None` when it keeps it.
    #[must_use]
    pub fn native(state: &Arc<DeviceState<D>>, address: usize, size: usize, given: Option<MemoryKind>) -> Self {
        let owned = match given {
            Some(MemoryKind::Host) => Owned::Pinned,
            Some(MemoryKind::Device | MemoryKind::Shared) => Owned::Device,
            None => Owned::ByApplication,
        };
        Self { address, size, state: Some(Arc::clone(state)), owned }
    }

    /// The first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }

    /// The device that native memory came from; `None` for memory of the process.
    #[must_use]
    pub fn state(&self) -> Option<&Arc<DeviceState<D>>> {
        self.state.as_ref()
    }

    /// Whether this is a heap copy, which serves nobody once its bytes are elsewhere.
    #[must_use]
    pub fn is_heap(&self) -> bool {
        matches!(self.owned, Owned::Heap(_))
    }
}

impl<D: Driver> Drop for Block<D> {
    fn drop(&mut self) {
        // Nobody is left to tell of a failure; memory of a lost device went with it.
        let free = |state: &DeviceState<D>, kind| {
            drop(deferred::free(state.driver, &state.native, kind, self.address, self.size))
        };
        match (&self.owned, &self.state) {
            (Owned::Device, Some(state)) => free(state, MemoryKind::Device),
            (Owned::Pinned, Some(state)) => free(state, MemoryKind::Host),
            // SAFETY: `copy_of` allocated it with this layout, and a block is dropped once.
            (Owned::Heap(layout), _) => unsafe {
                std::alloc::dealloc(core::ptr::with_exposed_provenance_mut(self.address), *layout);
            },
            _ => {}
        }
    }
}
