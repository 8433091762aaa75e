//! What a command buffer's commands do with the bytes of buffers.
//!
//! A node names an address, which is that of the memory at the command buffer's device and stays the same. Whether the bytes are there is
//! seen to at each launch, as for every command: the launch is given one access for each storage, made of all that the
//! commands do with it. A storage counts its commands, so that one whose last command was changed to another is let go.
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
use crate::object::error::Error;

/// The error of a memory object that a command buffer cannot work with.
#[cold]
pub fn foreign_memory() -> Error {
    Error::new(ur_result_t::ERROR_INVALID_CONTEXT, "the memory object is of another context than the command buffer")
}

/// A storage and what all commands together do with it.
pub struct Used<D: Driver> {
    /// The memory.
    pub storage: Arc<Storage<D>>,
    /// What is done with it.
    pub access: Access,
}

impl<D: Driver> Clone for Used<D> {
    fn clone(&self) -> Self {
        Self { storage: Arc::clone(&self.storage), access: self.access.clone() }
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
        let key = Arc::as_ptr(&used.storage).addr();
        let counted = self.by_address.entry(key);
        counted
            .and_modify(|known| {
                known.commands += 1;
                let (all, own) = (&mut known.used.access, &used.access);
                all.range = all.range.start.min(own.range.start)..all.range.end.max(own.range.end);
                all.reads = true;
                all.writes |= own.writes;
            })
            .or_insert(Counted { used, commands: 1 });
    }

    /// Notes that one command does it no more. The caller keeps the storage meanwhile.
    pub fn remove(&mut self, storage: &Arc<Storage<D>>) {
        let key = Arc::as_ptr(storage).addr();
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
