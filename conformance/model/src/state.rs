//! What exists in a program: blocks with what lies in them, pools with their figures, events.

use crate::order::Command;
use crate::set::Set;

/// A block's number.
pub type BlockId = usize;
/// A pool's number; the first are the devices' default pools.
pub type PoolId = usize;
/// An event's number.
pub type EventId = usize;

/// What the implementation under test can do; the rest is left out of programs.
#[derive(Clone, Debug, Default)]
pub struct Abilities {
    /// Devices of the context.
    pub devices: usize,
    /// Pools can be made, named, asked and trimmed at all.
    pub pools: bool,
    /// Pools of a whole context (`urUSMPoolCreate`).
    pub context_pools: bool,
    /// `urEnqueueUSMHostAllocExp`.
    pub host: bool,
    /// `urEnqueueUSMSharedAllocExp`.
    pub shared: bool,
    /// Pools with a maximum size.
    pub limits: bool,
    /// Pools with zeroed blocks.
    pub zero: bool,
    /// Pools with reuse policies.
    pub policies: bool,
    /// Pools over the application's memory.
    pub buffers: bool,
    /// `urUSMPoolSetDevicePoolExp`.
    pub device_pool: bool,
    /// Copies between two devices without further ado.
    pub cross_copies: bool,
}

/// A rule that the planner breaks on purpose, to show that this is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// Orders are not made where they are missing.
    MissingWaits,
    /// Kernels use blocks that are freed.
    UseAfterFree,
    /// Blocks are freed, and the books do not say so.
    WrongBooks,
    /// Waits for what cannot have finished.
    WaitBehindGate,
}

/// Kinds of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On a device.
    Device,
    /// On the host.
    Host,
    /// Managed.
    Shared,
}

/// What lies in a block: word `i` of the first `known` is `base + i * step`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Words that are known.
    pub known: u32,
    /// The first.
    pub base: u32,
    /// From one to the next.
    pub step: u32,
}

impl Content {
    /// A word that is known.
    #[must_use]
    pub fn word(&self, index: u32) -> u32 {
        self.base.wrapping_add(index.wrapping_mul(self.step))
    }
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// What memory it is.
    pub kind: Kind,
    /// Device of the queue that allocated it.
    pub device: usize,
    /// Its pool.
    pub pool: PoolId,
    /// Bytes asked for.
    pub size: usize,
    /// What lies in it, once all commands given so far have run.
    pub content: Content,
    /// Whether it has not been freed.
    pub live: bool,
    /// The allocation and all uses.
    pub uses: Set,
    /// The allocation and the last write.
    pub written: Set,
}

impl Block {
    /// Whole words in it.
    #[must_use]
    pub fn words(&self) -> u32 {
        u32::try_from(self.size / 4).unwrap_or(u32::MAX)
    }

    /// Whether commands of a device's queues may use it.
    #[must_use]
    pub fn is_reached_from(&self, device: usize) -> bool {
        self.kind == Kind::Host || self.device == device
    }
}

/// What sort of pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A device's own.
    Default,
    /// Without anything.
    Plain,
    /// With zeroed blocks.
    Zero,
    /// With a maximum size, bytes.
    Limited(usize),
    /// With a first release threshold, bytes.
    Threshold(usize),
    /// Of the whole context.
    Context,
    /// With these reuse policies alone (`ur_exp_usm_pool_reuse_flags_t`).
    Reuse(u32),
    /// Over this many bytes of the application's.
    Buffer(usize),
}

/// Bytes handed out and not freed, and the most of them since the mark was reset.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    used: u64,
    high: u64,
}

/// A pool.
#[derive(Clone, Debug)]
pub struct Pool {
    /// What sort.
    pub flavour: Flavour,
    /// Its device; `None` serves all.
    pub device: Option<usize>,
    /// Whether its handle lives.
    pub alive: bool,
    /// What is handed out of each kind on each device: a native pool each, whose figures add up.
    books: Vec<(Kind, usize, Level)>,
    /// The release threshold, where the program set it.
    pub threshold: Option<u64>,
}

impl Pool {
    /// A pool that nobody has used.
    #[must_use]
    pub fn new(flavour: Flavour, device: Option<usize>) -> Self {
        let threshold = match flavour {
            Flavour::Threshold(bytes) => Some(bytes as u64),
            _ => None,
        };
        Self { flavour, device, alive: true, books: Vec::new(), threshold }
    }

    /// Whether it serves queues of a device.
    #[must_use]
    pub fn serves(&self, device: usize) -> bool {
        self.alive && self.device.is_none_or(|own| own == device)
    }

    fn level(&mut self, kind: Kind, device: usize) -> &mut Level {
        let found = self.books.iter().position(|(of, on, _)| (*of, *on) == (kind, device));
        let at = found.unwrap_or_else(|| {
            self.books.push((kind, device, Level::default()));
            self.books.len() - 1
        });
        &mut self.books[at].2
    }

    /// Books an allocation.
    pub fn hand_out(&mut self, kind: Kind, device: usize, bytes: usize) {
        let level = self.level(kind, device);
        level.used += bytes as u64;
        level.high = level.high.max(level.used);
    }

    /// Books a free.
    pub fn take_back(&mut self, kind: Kind, device: usize, bytes: usize) {
        self.level(kind, device).used -= bytes as u64;
    }

    /// Bytes handed out and not freed.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.books.iter().map(|(_, _, level)| level.used).sum()
    }

    /// The marks of all native pools together.
    #[must_use]
    pub fn high(&self) -> u64 {
        self.books.iter().map(|(_, _, level)| level.high).sum()
    }

    /// Kinds of memory and devices that it gave memory of, at least one.
    #[must_use]
    pub fn parts(&self) -> u64 {
        self.books.len().max(1) as u64
    }

    /// Whether all it ever gave is device memory.
    #[must_use]
    pub fn is_of_devices(&self) -> bool {
        self.books.iter().all(|(kind, _, _)| *kind == Kind::Device)
    }

    /// Resets the marks.
    pub fn reset_high(&mut self) {
        self.books.iter_mut().for_each(|(_, _, level)| level.high = level.used);
    }
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its command.
    pub command: Command,
    /// Whether it has not been released.
    pub alive: bool,
    /// Stands for all of a released queue's work.
    pub pinned: bool,
}
