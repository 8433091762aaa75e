//! A block of memory at one location of a buffer, which is freed the way it was made when it is dropped.
//!
//! Freeing needs no current context. Its errors are dropped, because no call is left that could answer them. Must not know
//! who uses the memory: whoever drops a block has seen the end of that.

use core::alloc::Layout;
use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::context::{Context, DeviceState};
use crate::device::deferred;
use crate::device::native_context::own_memory;
use crate::device::relief::{is_full, reclaiming};
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::plain::{BlockRequest, Heap, Live};
use crate::object::error::{Error, Result};
use crate::sync::unlikely::unlikely;
use crate::usm;

/// Alignment of memory taken from the process's heap: what devices read fastest, and as aligned as native memory.
const HEAP_ALIGNMENT: usize = 256;

enum Owned<D: Driver> {
    Device,
    Pinned,
    /// A block of plain memory, which is the engine's own to the table of live blocks.
    Plain(Arc<Heap<D>>),
    Heap(Layout),
    ByApplication,
}

impl<D: Driver> Owned<D> {
    fn natively(kind: MemoryKind) -> Self {
        if kind == MemoryKind::Host { Self::Pinned } else { Self::Device }
    }
}

/// Memory at one of the locations that a buffer can be at.
pub struct Block<D: Driver> {
    address: usize,
    size: usize,
    /// The device that native memory came from.
    state: Option<Arc<DeviceState<D>>>,
    owned: Owned<D>,
}

impl<D: Driver> Block<D> {
    /// Fresh memory of a device. The caller may hold locks, so nothing that others keep is taken back for it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn on_device(state: &Arc<DeviceState<D>>, size: usize) -> Result<Self> {
        Self::fresh(state, MemoryKind::Device, size)
    }

    /// A block of plain memory; a native allocation where there is no heap, or less memory left than a block takes.
    fn fresh(state: &Arc<DeviceState<D>>, kind: MemoryKind, size: usize) -> Result<Self> {
        let native = |bytes| state.allocate(kind, bytes);
        let request = BlockRequest { size, align: 0, is_internal: true };
        let pooled = state.heap(kind).and_then(|heap| Some((heap.take(request, &native)?, heap)));
        let (address, owned) = match pooled {
            Some((Ok(address), heap)) => {
                if unlikely!(heap.debugs()) {
                    // Nobody looks at what it was filled with: it is not the application's.
                    drop(heap.take_filled(address));
                }
                (address, Owned::Plain(Arc::clone(heap)))
            }
            Some((Err(error), _)) if !is_full(&error) => return Err(error),
            _ => (native(size)?, Owned::natively(kind)),
        };
        if matches!(owned, Owned::Device | Owned::Pinned) {
            own_memory::add(address);
        }
        Ok(Self { address, size, state: Some(Arc::clone(state)), owned })
    }

    /// Fresh pinned memory, which the host and every device reach by the same address.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn pinned(state: &Arc<DeviceState<D>>, size: usize) -> Result<Self> {
        reclaiming(&state.device, || Self::fresh(state, MemoryKind::Host, size)).map_err(|error| match error.code() {
            ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_HOST_MEMORY),
            _ => error,
        })
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
        if given.is_some() {
            own_memory::add(address);
        }
        let owned = given.map_or(Owned::ByApplication, Owned::natively);
        Self { address, size, state: Some(Arc::clone(state)), owned }
    }

    /// A block of plain memory that the application gives away; from now on it is neither its to free nor another buffer's to
    /// own. `None` if it was freed, or given to another buffer, since it was found, and for a block of another context: before that is
    /// given out again its context's queues are asked alone, and not those which the buffer is used on.
    #[must_use]
    pub fn plain(context: &Context<D>, state: &Arc<DeviceState<D>>, heap: Arc<Heap<D>>, live: Live) -> Option<Self> {
        context.heap_of(live.label).filter(|own| Arc::ptr_eq(own, &heap))?;
        // Of several threads that want it one gets it.
        let live = heap.claim(live.start, false)?;
        let entry = context.registry.plain_blocks().entry(live.start)?;
        entry.set_out(live.size, live.label.with_internal(true).owner());
        Some(Self { address: live.start, size: live.size, state: Some(Arc::clone(state)), owned: Owned::Plain(heap) })
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
            own_memory::remove(self.address);
            drop(deferred::free(state.driver, &state.native, kind, self.address, self.size));
        };
        match (&self.owned, &self.state) {
            (Owned::Device, Some(state)) => free(state, MemoryKind::Device),
            (Owned::Pinned, Some(state)) => free(state, MemoryKind::Host),
            (Owned::Plain(heap), _) => {
                if let Some(live) = heap.claim(self.address, true) {
                    drop(usm::give_back(heap, live));
                }
            }
            // SAFETY: `copy_of` allocated it with this layout, and a block is dropped once.
            (Owned::Heap(layout), _) => unsafe {
                std::alloc::dealloc(core::ptr::with_exposed_provenance_mut(self.address), *layout);
            },
            _ => {}
        }
    }
}
