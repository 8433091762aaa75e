//! What a command buffer's commands do with the bytes of buffers and with images.
//!
//! A node names an address, which is that of the memory at the command buffer's device and stays the same, or the object by
//! which kernels there read and write an image, which lives as long as the image. Whether the contents are there is seen to at
//! each launch, as for every command: the launch is given one access for each storage and image, made of all that the
//! commands do with it. Commands are counted, so that memory whose last command was changed to another is let go.
//! Recording and changes count; launches read the list that was made last ([`MemoryUses::list`]).
//!
//! A range that is only written need not be current before, but several commands may write parts of it: what is made of
//! more than one access counts as read too.

use std::collections::HashMap;
use std::sync::Arc;

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

/// The uses of one command buffer.
pub struct MemoryUses<D: Driver> {
    by_address: HashMap<usize, Counted<D>>,
}

impl<D: Driver> Default for MemoryUses<D> {
    fn default() -> Self {
        Self { by_address: HashMap::new() }
    }
}

impl<D: Driver> MemoryUses<D> {
    /// Notes what one more command does.
    pub fn add(&mut self, used: Used<D>) {
        let counted = self.by_address.entry(used.key());
        counted
            .and_modify(|known| {
                known.commands += 1;
                known.used.join(&used);
            })
            .or_insert(Counted { used, commands: 1 });
    }

    /// Notes that one command does it no more. The caller keeps the memory meanwhile.
    pub fn remove(&mut self, used: &Used<D>) {
        let key = used.key();
        let Some(known) = self.by_address.get_mut(&key) else { return };
        known.commands -= 1;
        if known.commands == 0 {
            self.by_address.remove(&key);
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Used<D>> {
        self.by_address.values().map(|counted| &counted.used)
    }

    /// All of them, for launches.
    pub fn list(&self) -> Box<[Used<D>]> {
        self.iter().cloned().collect()
    }
}
