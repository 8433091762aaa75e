//! What a node does. Parameters are taken when a node is added; the client may reuse its own at once.
//!
//! Nothing runs here, and nothing here knows of edges.

use super::Graph;
use super::alloc::Block;
use crate::command::{UserData, Value};
use crate::context::Context;
use crate::copy::{Copy, Fill, Place, Source};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::memory::{self, Kind};
use crate::sys::*;
use std::sync::Arc;

/// A copy or fill, with the context whose device does it.
pub struct Placed<T> {
    /// What is done.
    pub what: T,
    /// Where.
    pub context: Arc<Context>,
    /// The memory types that a copy's destination and source were given with.
    pub kinds: [u32; 2],
}

/// What a node does.
#[derive(Clone)]
pub enum Work {
    /// Nothing; it joins dependencies.
    Empty,
    /// Runs a kernel.
    Kernel(Arc<Kernel>),
    /// Copies.
    Copy(Arc<Placed<Copy>>),
    /// Fills.
    Fill(Arc<Placed<Fill>>),
    /// Calls a host function.
    Host(CUhostFn, UserData),
    /// Runs another graph's nodes: the graph is the node's own.
    Child(Arc<Graph>),
    /// Records an event.
    Record(Arc<Event>),
    /// Waits for an event.
    Wait(Arc<Event>),
    /// Allocates memory.
    Alloc(Arc<Block>),
    /// Frees memory that a node of this or another graph allocates.
    Free(u64),
    /// Waits for a value in memory.
    WaitValue(Value),
    /// Writes a value to memory.
    WriteValue(Value),
}

/// On which side of the machine an address lies, which an executable graph's copies and fills keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On the host.
    Host,
    /// On a device.
    Device(usize),
    /// Wherever it is used.
    Managed,
}

impl Side {
    /// The side of an address.
    pub fn of(address: u64) -> Side {
        if let Some(block) = super::alloc::block_at(address) {
            return Side::Device(block.device);
        }
        let Some(found) = memory::find(address) else { return Side::Host };
        match (found.kind, found.device) {
            (Kind::Managed, _) => Side::Managed,
            (_, Some(device)) => Side::Device(device),
            (_, None) => Side::Host,
        }
    }
}

impl Work {
    /// `CUgraphNodeType`
    pub fn kind(&self) -> i32 {
        match self {
            Work::Kernel(_) => 0,
            Work::Copy(_) => 1,
            Work::Fill(_) => 2,
            Work::Host(..) => 3,
            Work::Child(_) => 4,
            Work::Empty => 5,
            Work::Wait(_) => 6,
            Work::Record(_) => 7,
            Work::Alloc(_) => 10,
            Work::Free(_) => 11,
            Work::WaitValue(_) | Work::WriteValue(_) => 12,
        }
    }

    /// The kind in words, as the dump has it.
    pub fn name(&self) -> &'static str {
        match self {
            Work::Kernel(_) => "KERNEL",
            Work::Copy(_) => "MEMCPY",
            Work::Fill(_) => "MEMSET",
            Work::Host(..) => "HOST",
            Work::Child(_) => "GRAPH",
            Work::Empty => "EMPTY",
            Work::Wait(_) => "WAIT_EVENT",
            Work::Record(_) => "EVENT_RECORD",
            Work::Alloc(_) => "MEM_ALLOC",
            Work::Free(_) => "MEM_FREE",
            Work::WaitValue(_) | Work::WriteValue(_) => "BATCH_MEM_OP",
        }
    }

    /// Whether it allocates or frees.
    pub fn is_memory(&self) -> bool {
        match self {
            Work::Alloc(_) | Work::Free(_) => true,
            Work::Child(child) => child.has_memory(),
            _ => false,
        }
    }

    /// The context that it runs in, where it has one of its own.
    pub fn context(&self) -> Option<&Arc<Context>> {
        match self {
            Work::Kernel(kernel) => Some(kernel.context()),
            Work::Copy(copy) => Some(&copy.context),
            Work::Fill(fill) => Some(&fill.context),
            _ => None,
        }
    }
}

impl<T> Placed<T> {
    /// A copy or fill of that context's device.
    pub fn new(what: T, context: Arc<Context>, kinds: [u32; 2]) -> Arc<Self> {
        Arc::new(Self { what, context, kinds })
    }
}

/// Checks that a place lies inside of one allocation, there or yet to be made by a graph.
fn check_place(place: &Place, extent: [usize; 3]) -> Result {
    let (address, len) = (place.address, place.span(extent));
    if let Some(block) = super::alloc::block_at(address) {
        let inside = (address - block.address) as usize <= block.size - len.min(block.size) && len <= block.size;
        return if inside { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) };
    }
    match memory::find(address) {
        Some(found) if found.kind == Kind::Mapped || found.holds(address, len) => Ok(()),
        None if !place.tracked => Ok(()),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

/// A copy as a node: nothing to copy, and what is not all inside of its allocation, is refused.
pub fn copy_node(copy: Copy, context: Arc<Context>, kinds: [u32; 2]) -> Result<Work> {
    if copy.extent.contains(&0) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    check_place(&copy.dst, copy.extent)?;
    if let Source::At(place) = &copy.src {
        check_place(place, copy.extent)?;
    }
    Ok(Work::Copy(Placed::new(copy, context, kinds)))
}

/// A fill as a node, under the same rules.
pub fn fill_node(fill: Fill, context: Arc<Context>) -> Result<Work> {
    if fill.extent.contains(&0) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    check_place(&fill.dst, fill.bytes())?;
    Ok(Work::Fill(Placed::new(fill, context, [0; 2])))
}

/// Whether a copy is of one run of bytes.
pub fn is_line(copy: &Copy) -> bool {
    copy.extent[1] == 1 && copy.extent[2] == 1
}

/// Where a copy goes to and comes from.
pub fn sides(copy: &Copy) -> (Side, Side) {
    let from = match &copy.src {
        Source::At(place) => Side::of(place.address),
        Source::Staged(_) => Side::Host,
    };
    (Side::of(copy.dst.address), from)
}
