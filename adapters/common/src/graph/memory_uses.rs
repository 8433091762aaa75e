//! What a command buffer's commands do with the bytes of buffers and with images.
//!
//! A node names an address, which is that of the memory at the command buffer's device and stays the same, or the object by
//! which kernels there read and write an image, which lives as long as the image. Whether the contents are there is seen to at
//! each launch, as for every command: the launch is given one access for each storage and image, made of all that the
//! commands do with it. Commands are counted, so that memory whose last command was changed to another is let go.
//!
//! A range that is only written need not be current before, but several commands may write parts of it: what is made of
//! more than one access counts as read too.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::buffer::moving::Access;
use crate::buffer::storage::Storage;
use crate::driver::Driver;
use crate::image::object::Image;
use crate::memory_object::Mem;
use crate::object::Object;
use crate::object::error::{Error, Result};

/// The error of a memory object that a command buffer cannot work with.
#[cold]
pub fn foreign_memory() -> Error {
    Error::new(ur_result_t::ERROR_INVALID_CONTEXT, "the memory object is of another context than the command buffer")
}

/// Memory and what all commands together do with it.
pub enum Used<D: Driver> {
    /// A buffer's.
    Bytes {
        /// The memory.
        storage: Arc<Storage<D>>,
        /// What is done with which bytes.
        access: Access,
    },
    /// An image.
    Image {
        /// The memory object.
        memory: Arc<Object<Mem<D>>>,
        /// Whether it is written.
        is_written: bool,
    },
}

impl<D: Driver> Clone for Used<D> {
    fn clone(&self) -> Self {
        match self {
            Self::Bytes { storage, access } => Self::Bytes { storage: Arc::clone(storage), access: access.clone() },
            Self::Image { memory, is_written } => Self::Image { memory: Arc::clone(memory), is_written: *is_written },
        }
    }
}

impl<D: Driver> Used<D> {
    /// What tells the memory from all other that is used: where its object is.
    fn key(&self) -> usize {
        match self {
            Self::Bytes { storage, .. } => Arc::as_ptr(storage).addr(),
            Self::Image { memory, .. } => Arc::as_ptr(memory).addr(),
        }
    }

    /// The image that it is, and whether it is written.
    ///
    /// # Errors
    /// None for a use of an image.
    pub fn image(&self) -> Option<Result<(&Image<D>, bool)>> {
        match self {
            Self::Bytes { .. } => None,
            Self::Image { memory, is_written } => Some(memory.image().map(|image| (image, *is_written))),
        }
    }

    /// Notes what one more command does with the same memory.
    fn join(&mut self, other: &Self) {
        match (self, other) {
            (Self::Bytes { access: all, .. }, Self::Bytes { access: own, .. }) => {
                all.range = all.range.start.min(own.range.start)..all.range.end.max(own.range.end);
                all.reads = true;
                all.writes |= own.writes;
            }
            (Self::Image { is_written: all, .. }, Self::Image { is_written: own, .. }) => *all |= own,
            _ => unreachable!("memory is a buffer's or an image's"),
        }
    }
}

struct Counted<D: Driver> {
    used: Used<D>,
    commands: usize,
}

struct Uses<D: Driver> {
    by_address: HashMap<usize, Counted<D>>,
    /// What launches read; none after a change.
    list: Option<Arc<[Used<D>]>>,
}

/// The uses of one command buffer.
pub struct MemoryUses<D: Driver> {
    /// Whether there ever was one: most buffers have none, and their launches look no further.
    any: AtomicBool,
    uses: Mutex<Uses<D>>,
}

impl<D: Driver> Default for MemoryUses<D> {
    fn default() -> Self {
        Self { any: AtomicBool::new(false), uses: Mutex::new(Uses { by_address: HashMap::new(), list: None }) }
    }
}

impl<D: Driver> MemoryUses<D> {
    /// Notes what one more command does.
    pub fn add(&self, used: Used<D>) {
        let mut uses = self.uses.lock();
        uses.list = None;
        let counted = uses.by_address.entry(used.key());
        counted
            .and_modify(|known| {
                known.commands += 1;
                known.used.join(&used);
            })
            .or_insert(Counted { used, commands: 1 });
        self.any.store(true, Ordering::Release);
    }

    /// Notes that one command does it no more.
    pub fn remove(&self, used: &Used<D>) {
        let key = used.key();
        let gone = {
            let mut uses = self.uses.lock();
            uses.list = None;
            let Some(known) = uses.by_address.get_mut(&key) else { return };
            known.commands -= 1;
            if known.commands == 0 { uses.by_address.remove(&key) } else { None }
        };
        // Memory that goes with it is not given back under the lock.
        drop(gone);
    }

    /// Lets launches ask for the uses, and for what else a launch with memory has to see to, though there may be none.
    pub fn look_always(&self) {
        self.any.store(true, Ordering::Release);
    }

    /// All of them, none if there never was one.
    #[inline]
    pub fn list(&self) -> Option<Arc<[Used<D>]>> {
        if self.any.load(Ordering::Acquire) { Some(self.collect()) } else { None }
    }

    fn collect(&self) -> Arc<[Used<D>]> {
        let mut uses = self.uses.lock();
        if let Some(list) = &uses.list {
            return Arc::clone(list);
        }
        let list: Arc<[_]> = uses.by_address.values().map(|counted| counted.used.clone()).collect();
        Arc::clone(uses.list.insert(list))
    }
}
