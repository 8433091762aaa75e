//! What a command buffer's commands do with the bytes of buffers.
//!
//! A node names an address, which is that of the memory at the command buffer's device and stays the same. Whether the bytes are there is
//! seen to at each launch, as for every command: the launch is given one access for each storage, made of all that the
//! commands do with it. A storage counts its commands, so that one whose last command was changed to another is let go.
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
        let key = Arc::as_ptr(&used.storage).addr();
        let counted = uses.by_address.entry(key);
        counted
            .and_modify(|known| {
                known.commands += 1;
                let (all, own) = (&mut known.used.access, &used.access);
                all.range = all.range.start.min(own.range.start)..all.range.end.max(own.range.end);
                all.reads = true;
                all.writes |= own.writes;
            })
            .or_insert(Counted { used, commands: 1 });
        self.any.store(true, Ordering::Release);
    }

    /// Notes that one command does it no more.
    pub fn remove(&self, storage: &Arc<Storage<D>>) {
        let key = Arc::as_ptr(storage).addr();
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
