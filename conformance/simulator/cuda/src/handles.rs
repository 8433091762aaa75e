//! Handles: tagged, generational slab indices.
//!
//! A handle is a number with a tag, the kind of its object, the slot's generation and the slot's index. It is not
//! an address: a client that follows it faults at once, and a handle of a destroyed object is recognised for what
//! it was instead of reaching whatever took its place.

use crate::reports;
use crate::sys::{CUresult, Handle};
use parking_lot::RwLock;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// The kinds of object that have handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `CUcontext`
    Context = 1,
    /// `CUstream`
    Stream,
    /// `CUevent`
    Event,
    /// `CUmodule`
    Module,
    /// `CUfunction`
    Function,
    /// `CUlibrary`
    Library,
    /// `CUkernel`
    Kernel,
    /// `CUmemoryPool`
    Pool,
    /// `CUlinkState`
    Linker,
    /// `CUmemGenericAllocationHandle`
    Physical,
    /// `CUgraph`
    Graph,
    /// `CUgraphNode`
    Node,
    /// `CUgraphExec`
    Exec,
    /// `CUarray`
    Array,
    /// `CUtexObject`
    Texture,
    /// `CUsurfObject`
    Surface,
    /// `CUexternalMemory`
    ExternalMemory,
    /// `CUexternalSemaphore`
    ExternalSemaphore,
}

const NAMES: [&str; 19] = [
    "",
    "context",
    "stream",
    "event",
    "module",
    "function",
    "library",
    "kernel",
    "memory pool",
    "linker",
    "physical memory",
    "graph",
    "graph node",
    "executable graph",
    "array",
    "texture object",
    "surface object",
    "external memory",
    "external semaphore",
];

impl Kind {
    /// The kind in words.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

const TAG: u64 = 0x5c;
const TAG_SHIFT: u32 = 56;
const KIND_SHIFT: u32 = 48;
const GENERATION_SHIFT: u32 = 24;
const FIELD: u64 = 0xff_ffff;

fn encode(kind: Kind, generation: u32, index: usize) -> Handle {
    TAG << TAG_SHIFT
        | (kind as u64) << KIND_SHIFT
        | (u64::from(generation) & FIELD) << GENERATION_SHIFT
        | (index as u64 & FIELD)
}

/// The kind that a number claims to be a handle of.
pub fn kind_of(handle: Handle) -> Option<&'static str> {
    let kind = (handle >> KIND_SHIFT & 0xff) as usize;
    (handle >> TAG_SHIFT == TAG && kind > 0).then(|| NAMES.get(kind).copied()).flatten()
}

/// Whether a number is shaped like a handle of this kind, alive or not.
pub fn is_kind(handle: Handle, kind: Kind) -> bool {
    handle >> KIND_SHIFT == TAG << (TAG_SHIFT - KIND_SHIFT) | kind as u64
}

struct Slot<T> {
    generation: u32,
    object: Option<Arc<T>>,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// Oldest first, so that a destroyed handle's slot is taken again as late as possible.
    free: VecDeque<usize>,
}

/// All objects of one kind.
pub struct Registry<T> {
    kind: Kind,
    slots: RwLock<Slots<T>>,
}

impl<T> Registry<T> {
    /// An empty registry.
    pub const fn new(kind: Kind) -> Self {
        Self { kind, slots: RwLock::new(Slots { slots: Vec::new(), free: VecDeque::new() }) }
    }

    /// Makes an object that knows its own handle.
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> T) -> (Handle, Arc<T>) {
        self.insert_cyclic(|handle, _| make(handle))
    }

    /// Makes an object that knows its own handle and can find itself.
    pub fn insert_cyclic(&self, make: impl FnOnce(Handle, &Weak<T>) -> T) -> (Handle, Arc<T>) {
        let mut slots = self.slots.write();
        let index = match slots.free.pop_front() {
            Some(index) => index,
            None => {
                slots.slots.push(Slot { generation: 1, object: None });
                slots.slots.len() - 1
            }
        };
        let slot = &mut slots.slots[index];
        let handle = encode(self.kind, slot.generation, index);
        let object = Arc::new_cyclic(|me| make(handle, me));
        slot.object = Some(object.clone());
        (handle, object)
    }

    /// The live object of a handle.
    pub fn get(&self, handle: Handle) -> Option<Arc<T>> {
        let slots = self.slots.read();
        let slot = slots.slots.get(self.index(handle)?)?;
        if generation(handle) == slot.generation { slot.object.clone() } else { None }
    }

    /// Takes the object out; its handle is dead from now on.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let mut slots = self.slots.write();
        let index = self.index(handle)?;
        let slot = slots.slots.get_mut(index)?;
        if generation(handle) != slot.generation {
            return None;
        }
        let object = slot.object.take()?;
        slot.generation = (slot.generation + 1) & FIELD as u32;
        slots.free.push_back(index);
        Some(object)
    }

    /// The live object, or `error` and a report that says what the handle really is.
    pub fn lookup(&self, handle: Handle, error: CUresult) -> Result<Arc<T>, CUresult> {
        self.get(handle).ok_or_else(|| {
            self.report(handle);
            error
        })
    }

    /// Takes the object out, or answers `error` and reports.
    pub fn take(&self, handle: Handle, error: CUresult) -> Result<Arc<T>, CUresult> {
        self.remove(handle).ok_or_else(|| {
            self.report(handle);
            error
        })
    }

    /// Every live object.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.slots.read().slots.iter().filter_map(|slot| slot.object.clone()).collect()
    }

    /// Number of live objects.
    pub fn len(&self) -> usize {
        let slots = self.slots.read();
        slots.slots.len() - slots.free.len()
    }

    fn index(&self, handle: Handle) -> Option<usize> {
        is_kind(handle, self.kind).then_some((handle & FIELD) as usize)
    }

    fn report(&self, handle: Handle) {
        let wanted = self.kind.name();
        match kind_of(handle) {
            Some(kind) if kind == wanted => {
                reports::add(reports::Kind::DestroyedHandle, format!("{wanted} {handle:#x} is destroyed"));
            }
            Some(kind) => {
                reports::add(reports::Kind::InvalidHandle, format!("{handle:#x} is a {kind}, not a {wanted}"));
            }
            None => reports::add(reports::Kind::InvalidHandle, format!("{handle:#x} is not a handle of a {wanted}")),
        }
    }
}

fn generation(handle: Handle) -> u32 {
    (handle >> GENERATION_SHIFT & FIELD) as u32
}
