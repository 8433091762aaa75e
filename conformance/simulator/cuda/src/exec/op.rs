//! The operations a warp executes: what the decoder makes of PTX instructions and the interpreter runs.
//!
//! An operation works on 32 lanes at once. All its source values, constants and addresses of variables too, are
//! slots of the frame, so that operations need no operand kinds: the slots that hold constants are filled when
//! the frame is made (see [`Source`]).

use super::image::Outside;

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;

/// One register of a whole warp. A value narrower than 64 bits is held zero-extended.
pub(crate) type Lanes = [u64; LANES];

/// Index of a register in a frame.
pub(crate) type Slot = u32;

/// Computes from slots to slots, for the lanes of the mask alone. What the slots mean is the function's matter;
/// by custom the destination comes first.
pub(crate) type AluFn = fn(&mut [Lanes], &[Slot; 6], u32);

/// Compares two slots; one bit a lane.
pub(crate) type CompareFn = fn(&[Lanes], Slot, Slot) -> u32;

/// One read-modify-write: address, operands; returns the old value. The address is valid and aligned.
pub(crate) type AtomicFn = unsafe fn(*mut u8, u64, u64) -> u64;

/// A predicate register, or its negation. Index 0 is always true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pred {
    pub index: u32,
    pub negated: bool,
}

impl Pred {
    pub const TRUE: Pred = Pred { index: 0, negated: false };
    pub const FALSE: Pred = Pred { index: 0, negated: true };

    pub fn mask(self, preds: &[u32]) -> u32 {
        preds[self.index as usize] ^ if self.negated { u32::MAX } else { 0 }
    }
}

/// Where a memory instruction looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    /// Global and constant memory: host addresses.
    Global,
    Shared,
    Local,
    /// A kernel's parameters.
    Param,
}

/// The addresses of one memory instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub space: Space,
    pub base: Slot,
    pub offset: i64,
    /// Index of the instruction's cached range.
    pub site: u32,
}

/// Combines a comparison with a predicate, in `setp` and `set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combine {
    And,
    Or,
    Xor,
}

/// Values that exist only while a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    ClusterId(u8),
    NClusterId(u8),
    ClusterCtaId(u8),
    ClusterNCtaId(u8),
    ClusterCtaRank,
    ClusterNCtaRank,
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    DynamicSharedSize,
    TotalSharedSize,
    Env(u8),
}

/// Values that change while a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Cycles,
    Nanoseconds,
}

/// What a slot is filled with when its frame is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Const(u64),
    Special(Special),
    /// The shared-memory offset of a shared variable of the module.
    Shared(u32),
    /// The address of a variable among the module's globals.
    Global(u32),
    /// The local-memory address of an offset in the frame.
    Local(u64),
}

/// Reduction or vote over a barrier's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    Popc(Slot),
    And(u32),
    Or(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All(u32),
    Any(u32),
    Uni(u32),
    Ballot(Slot),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redux {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
}

/// Functions that the device provides instead of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Printf,
    AssertFail,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callee {
    Function(u32),
    /// The function whose address a slot holds.
    Address(Slot),
    Builtin(Builtin),
}

/// A call. The offsets of the callee's side are filled from the callee's signature.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub callee: Callee,
    /// Offset and size, in the caller's frame, of each argument.
    pub arguments: Vec<(u64, u64)>,
    /// The same of the returned value.
    pub results: Vec<(u64, u64)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub address: Address,
    /// Bytes of one element.
    pub width: u8,
    /// Elements.
    pub count: u8,
    /// For signed elements, how far to shift up and down again to extend the sign.
    pub sign_shift: u8,
    /// Bits of the destination register.
    pub keep: u8,
    pub to: [Slot; 4],
}

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub address: Address,
    pub width: u8,
    pub count: u8,
    pub from: [Slot; 4],
}

#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub run: AtomicFn,
    pub address: Address,
    pub width: u8,
    pub to: Slot,
    pub b: Slot,
    pub c: Slot,
}

/// A texture instruction; the first slots of `at` hold as many coordinates as there are dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub texture: Slot,
    pub at: [Slot; 3],
    /// The layer, of a layered texture.
    pub layer: Option<Slot>,
    pub dimensions: u8,
    /// Whether coordinates are integers.
    pub integer: bool,
    pub to: [Slot; 4],
}

/// A load or store of a surface; x counts bytes, and layers are along z.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceAccess {
    pub store: bool,
    pub surface: Slot,
    pub at: [Slot; 3],
    /// Whether z is a layer.
    pub layered: bool,
    pub outside: Outside,
    /// Bytes of one value.
    pub width: u8,
    /// Values.
    pub count: u8,
    pub values: [Slot; 4],
}

/// The extent of a texture or surface along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub of_surface: bool,
    pub object: Slot,
    pub axis: u8,
    pub to: Slot,
}

#[derive(Clone, Debug)]
pub(crate) struct Compare {
    pub run: CompareFn,
    pub a: Slot,
    pub b: Slot,
    pub combine: Combine,
    pub c: Pred,
    /// Receives the result.
    pub p: u32,
    /// Receives the negated comparison combined likewise; 0 is nowhere.
    pub q: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Alu {
        run: AluFn,
        args: [Slot; 6],
    },
    Compare(Compare),
    Select {
        to: Slot,
        a: Slot,
        b: Slot,
        p: Pred,
    },
    Logic {
        to: u32,
        a: Pred,
        b: Pred,
        logic: Logic,
    },
    Load(Load),
    Store(Store),
    /// A byte copy between two addresses in one lane: asynchronous copies, done at once.
    CopyBytes {
        from: Address,
        to: Address,
        size: u8,
        read: Slot,
    },
    Atomic(Atomic),
    Sample(Box<Sample>),
    Surface(Box<SurfaceAccess>),
    Query(Query),
    /// Whether a generic address lies in a space.
    IsSpace {
        to: u32,
        address: Slot,
        space: Space,
    },
    ReadClock {
        to: Slot,
        clock: Clock,
        keep: u8,
    },
    Branch {
        target: u32,
    },
    BranchIndexed {
        index: Slot,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Return,
    Exit,
    Trap,
    Fence,
    Nop,
    /// Lets other threads run.
    Pause,
    Barrier {
        kind: BarrierKind,
        id: Slot,
        count: Option<Slot>,
        p: Pred,
    },
    WarpSync {
        members: Slot,
    },
    Vote {
        vote: Vote,
        p: Pred,
        members: Option<Slot>,
    },
    Shuffle {
        mode: Shuffle,
        to: Slot,
        ok: u32,
        a: Slot,
        b: Slot,
        c: Slot,
        members: Option<Slot>,
    },
    MatchAny {
        to: Slot,
        a: Slot,
        members: Slot,
    },
    MatchAll {
        to: Slot,
        ok: u32,
        a: Slot,
        members: Slot,
    },
    Redux {
        redux: Redux,
        to: Slot,
        a: Slot,
        members: Slot,
    },
    ActiveMask {
        to: Slot,
    },
    Elect {
        to: Slot,
        ok: u32,
        members: Slot,
    },
}

/// An operation, its guard and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub op: Op,
    pub guard: Pred,
    pub line: u32,
}

/// A function ready to run.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub insts: Vec<Inst>,
    /// Slots of a frame.
    pub slots: u32,
    /// Predicates of a frame.
    pub preds: u32,
    /// Slots to fill when a frame is made.
    pub prologue: Vec<(Slot, Source)>,
    /// Bytes of local memory of a frame.
    pub frame_bytes: u64,
    /// Memory instructions, each with its own cached range.
    pub sites: u32,
    /// Offset and size, in the frame, of each parameter; for kernels, unused.
    pub parameters: Vec<(u64, u64)>,
    /// The same of the returned value.
    pub results: Vec<(u64, u64)>,
    /// Of a kernel: the offset of each of the module's shared variables, for those it can reach.
    pub shared_offsets: Vec<u32>,
    /// Of a kernel: where dynamic shared memory begins.
    pub dynamic_start: u32,
}

/// The top byte of generic addresses into a block's shared memory. No user pointer has it.
pub(crate) const SHARED_WINDOW: u64 = 0x8100_0000_0000_0000;
/// The top byte of generic addresses into a thread's local memory.
pub(crate) const LOCAL_WINDOW: u64 = 0x8200_0000_0000_0000;
/// The top byte of generic addresses into a kernel's parameters.
pub(crate) const PARAM_WINDOW: u64 = 0x8300_0000_0000_0000;
/// The top byte of function addresses; the index of the function follows, times 16.
pub(crate) const CODE_WINDOW: u64 = 0x8400_0000_0000_0000;
/// The bits that tell windows apart.
pub(crate) const WINDOW_MASK: u64 = 0xff00_0000_0000_0000;

/// The address of a function.
pub(crate) fn code_address(function: u32) -> u64 {
    CODE_WINDOW | (u64::from(function) + 1) << 4
}

/// The function at an address, if it is one's.
pub(crate) fn code_index(address: u64) -> Option<u32> {
    let offset = address ^ CODE_WINDOW;
    (offset & WINDOW_MASK == 0 && offset & 15 == 0 && offset != 0).then(|| ((offset >> 4) - 1) as u32)
}
