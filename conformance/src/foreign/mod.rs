//! Another API on the same device, which shares memory and semaphores with the adapter by file descriptors: Vulkan on
//! hardware, and the simulated driver's own where that is what the adapter runs on.
//!
//! A [`Peer`] has one piece of memory, some semaphores, and one queue that does [`Step`]s in their order, beside the calling
//! thread. Nothing here knows of the UR.

mod simulated;
mod vulkan;

use std::os::fd::OwnedFd;

pub use simulated::Simulated;
pub use vulkan::Vulkan;

/// What a semaphore is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreKind {
    /// Signalled or not.
    Binary,
    /// A value that grows.
    Timeline,
}

/// What a peer is asked to have.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Bytes of memory, a multiple of 4.
    pub bytes: usize,
    /// Its semaphores.
    pub semaphores: &'a [SemaphoreKind],
    /// Steps that read, at most.
    pub reads: usize,
}

/// One thing that a peer's queue does: waits, reads the whole memory, fills it, signals, each if it is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// A semaphore by its place in the list, and the value of a timeline.
    pub wait: Option<(usize, u64)>,
    /// Whether the memory's words are kept for [`Peer::finish`].
    pub read: bool,
    /// What every word of the memory becomes.
    pub fill: Option<u32>,
    /// A semaphore by its place in the list, and the value of a timeline.
    pub signal: Option<(usize, u64)>,
}

/// The other API.
pub trait Peer {
    /// A new descriptor of the memory.
    fn memory(&self) -> OwnedFd;
    /// Bytes that an import of the memory is told, which are its own or more.
    fn import_size(&self) -> usize;
    /// A new descriptor of a semaphore.
    fn semaphore(&self, index: usize) -> OwnedFd;
    /// Gives the queue a step. Blocks at most until earlier steps are done.
    fn submit(&mut self, step: Step);
    /// Waits for all steps; answers what those that read have read, in their order.
    fn finish(&mut self) -> Vec<Vec<u32>>;
}
