//! A step: one call with real operands, and what the contract says of its answer.

use core::fmt;

use crate::order::{Command, QueueId};
use crate::state::{BlockId, Content, EventId, Flavour, Kind, PoolId};

/// A wrong call, which must be refused and change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Frees a block that is freed: `INVALID_MEM_OBJECT`. Left out while somebody else has the address.
    FreeAgain(BlockId),
    /// `urUSMFree` of a block that is freed: the same.
    HostFreeAgain(BlockId),
    /// Frees the inside of a block: `INVALID_MEM_OBJECT`.
    FreeInside(BlockId, usize),
    /// Frees a live block and names another pool: `INVALID_VALUE`.
    FreeToPool(BlockId, PoolId),
    /// Frees memory of the test's own: `INVALID_MEM_OBJECT`.
    FreeUnknown,
    /// Frees null: `INVALID_NULL_POINTER`.
    FreeNull,
    /// Allocates nothing: `INVALID_USM_SIZE`.
    AllocNothing,
    /// Allocates from another device's pool: `INVALID_DEVICE`.
    AllocElsewhere(PoolId),
    /// Allocates more than the pool's maximum: `OUT_OF_DEVICE_MEMORY`.
    AllocTooMuch(PoolId, usize),
    /// Sets a figure: `UNSUPPORTED_ENUMERATION`.
    SetFigure(PoolId),
    /// Sets the release threshold in 4 bytes: `INVALID_SIZE`.
    SetInFourBytes(PoolId),
    /// Destroys a default pool: `INVALID_VALUE`.
    DestroyDefault(PoolId),
}

/// One step. `waits` are wait lists, `event` is where the command's event goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named after what they are")]
pub enum Step {
    NewQueue {
        queue: QueueId,
        device: usize,
        in_order: bool,
        profiling: bool,
    },
    ReleaseQueue {
        queue: QueueId,
    },
    NewPool {
        pool: PoolId,
        device: Option<usize>,
        flavour: Flavour,
    },
    DestroyPool {
        pool: PoolId,
    },
    SetDevicePool {
        device: usize,
        pool: PoolId,
    },
    Alloc {
        queue: QueueId,
        block: BlockId,
        kind: Kind,
        size: usize,
        pool: Option<PoolId>,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    Free {
        queue: QueueId,
        block: BlockId,
        pool: Option<PoolId>,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    /// `urUSMFree`, when nothing uses the block any more.
    HostFree {
        block: BlockId,
    },
    /// A fill of `words` words with `pattern` repeated; `small` says it is one byte wide.
    Fill {
        queue: QueueId,
        block: BlockId,
        pattern: u32,
        small: bool,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    /// A copy of the first `words` words.
    Copy {
        queue: QueueId,
        from: BlockId,
        to: BlockId,
        words: u32,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    /// A kernel that checks the block for `is` and, with `becomes`, overwrites all of it.
    Kernel {
        queue: QueueId,
        command: Command,
        block: BlockId,
        is: Content,
        becomes: Option<Content>,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    /// A blocking copy to the host, which must find `is`.
    Read {
        queue: QueueId,
        block: BlockId,
        is: Content,
        waits: Vec<EventId>,
        done: Vec<Command>,
    },
    /// `urEnqueueEventsWait`, or the barrier.
    Wait {
        queue: QueueId,
        barrier: bool,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    /// A kernel that runs until [`Step::Open`].
    Close {
        queue: QueueId,
        command: Command,
        gate: usize,
        waits: Vec<EventId>,
        event: Option<EventId>,
    },
    Open {
        gate: usize,
    },
    /// `urEventWait`; `done` are kernels that have run then.
    WaitHere {
        events: Vec<EventId>,
        done: Vec<Command>,
    },
    /// Asks until the event is complete; `done` as above.
    Poll {
        event: EventId,
        done: Vec<Command>,
    },
    /// Asks once; behind a closed gate the event must not be complete.
    Look {
        event: EventId,
        behind_gate: bool,
    },
    ReleaseEvent {
        event: EventId,
    },
    Finish {
        queue: QueueId,
        done: Vec<Command>,
    },
    Trim {
        pool: PoolId,
        device: usize,
        keep: usize,
    },
    Figures {
        pool: PoolId,
        used: u64,
        high: u64,
        threshold: Option<u64>,
        flavour: Flavour,
        /// Kinds of memory and devices that it gave memory of: each has a maximum of its own.
        parts: u64,
    },
    ResetHigh {
        pool: PoolId,
    },
    Threshold {
        pool: PoolId,
        bytes: u64,
    },
    /// With nothing in use and nothing in flight the pool's memory can be trimmed away.
    Drain {
        pool: PoolId,
        device: usize,
    },
    /// `urUSMGetMemAllocInfo` at an offset; `pool` is asked if it lives.
    Inspect {
        block: BlockId,
        offset: usize,
        kind: Kind,
        size: usize,
        device: usize,
        pool: Option<PoolId>,
    },
    /// The same of a block that is freed.
    InspectFreed {
        block: BlockId,
    },
    Wrong {
        queue: QueueId,
        mistake: Mistake,
    },
}

struct List<'a>(&'a [EventId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, event) in self.0.iter().enumerate() {
            write!(f, "{}e{event}", if index == 0 { ", after " } else { " " })?;
        }
        Ok(())
    }
}

struct Out<'a>(&'a Option<EventId>);

impl fmt::Display for Out<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |event| write!(f, " -> e{event}"))
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} words of {:#x} + i * {:#x}", self.known, self.base, self.step)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewQueue { queue, device, in_order, profiling } => {
                let (order, timed) =
                    (if *in_order { "" } else { " out of order" }, if *profiling { " timed" } else { "" });
                write!(f, "q{queue} = queue of device {device}{order}{timed}")
            }
            Self::Alloc { queue, block, kind, size, pool, waits, event } => {
                let pool = pool.map_or_else(String::new, |pool| format!(" from p{pool}"));
                write!(f, "q{queue}: b{block} = {size} bytes, {kind:?}{pool}{}{}", List(waits), Out(event))
            }
            Self::Free { queue, block, pool, waits, event } => {
                let pool = pool.map_or_else(String::new, |pool| format!(" to p{pool}"));
                write!(f, "q{queue}: free b{block}{pool}{}{}", List(waits), Out(event))
            }
            Self::Fill { queue, block, pattern, small, waits, event } => {
                let width = if *small { 1 } else { 4 };
                write!(f, "q{queue}: fill b{block} with {pattern:#x}, {width} wide{}{}", List(waits), Out(event))
            }
            Self::Copy { queue, from, to, words, waits, event } => {
                write!(f, "q{queue}: copy {words} words b{from} to b{to}{}{}", List(waits), Out(event))
            }
            Self::Kernel { queue, command, block, is, becomes, waits, event } => {
                write!(f, "q{queue}: kernel #{command}: b{block} is {is}")?;
                if let Some(becomes) = becomes {
                    write!(f, ", becomes {becomes}")?;
                }
                write!(f, "{}{}", List(waits), Out(event))
            }
            Self::Read { queue, block, is, waits, .. } => write!(f, "q{queue}: read b{block}: {is}{}", List(waits)),
            Self::Wait { queue, barrier, waits, event } => {
                write!(f, "q{queue}: {}{}{}", if *barrier { "barrier" } else { "wait" }, List(waits), Out(event))
            }
            Self::Close { queue, command, waits, event, .. } => {
                write!(f, "q{queue}: kernel #{command} stands at a closed gate{}{}", List(waits), Out(event))
            }
            Self::Open { .. } => write!(f, "open the gate"),
            Self::WaitHere { events, .. } => write!(f, "urEventWait{}", List(events)),
            Self::Poll { event, .. } => write!(f, "ask e{event} until it is complete"),
            Self::Look { event, behind_gate: true } => write!(f, "ask e{event}, which is behind the gate"),
            Self::Look { event, .. } => write!(f, "ask e{event}"),
            Self::Finish { queue, .. } => write!(f, "q{queue}: finish"),
            Self::Trim { pool, keep, device } => write!(f, "trim p{pool} to {keep} bytes, device {device}"),
            Self::ReleaseEvent { event } => write!(f, "release e{event}"),
            Self::ReleaseQueue { queue } => write!(f, "release q{queue}"),
            Self::HostFree { block } => write!(f, "urUSMFree b{block}"),
            Self::NewPool { pool, device, flavour } => match device {
                Some(device) => write!(f, "p{pool} = {flavour:?} pool of device {device}"),
                None => write!(f, "p{pool} = {flavour:?} pool"),
            },
            Self::DestroyPool { pool } => write!(f, "destroy p{pool}"),
            Self::SetDevicePool { device, pool } => write!(f, "device {device} allocates from p{pool}"),
            Self::ResetHigh { pool } => write!(f, "reset the marks of p{pool}"),
            Self::Threshold { pool, bytes } => write!(f, "p{pool} keeps {bytes} bytes"),
            Self::Figures { pool, used, high, .. } => write!(f, "p{pool}: {used} bytes are used, {high} were"),
            Self::InspectFreed { block } => write!(f, "ask what b{block} is, which is freed"),
            Self::Wrong { queue, mistake } => write!(f, "q{queue}: mistake: {mistake:?}"),
            other => write!(f, "{other:?}"),
        }
    }
}
