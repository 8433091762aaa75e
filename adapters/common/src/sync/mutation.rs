//! Mutations: bugs on purpose, so that it can be shown that the model of `conformance/model` finds them.
//!
//! Compiled in by the feature `mutation` alone, which no installation has; `UR_MUTATION` (once `UR_PLANTED`) then names one. Without the
//! feature every question here is answered "no" while compiling.

#[cfg_attr(not(feature = "mutation"), allow(dead_code, reason = "no question is asked about some without the feature"))]
/// A bug that can be compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Blocks that one queue freed are handed to another without any order between them.
    FreeListIgnoresQueue,
    /// A block that another queue keeps is taken by whoever waits for any event of that queue, before the free or not.
    ReuseIgnoresOrder,
    /// A tail event is recorded behind the command that follows it.
    LateEvent,
    /// A free on another queue is left out of the statistics.
    StatisticsLeak,
    /// A recycled block of a zero-initialising pool keeps its content.
    MissingZeroFill,
    /// A command of a command buffer does not come after the last of its sync points.
    GraphMissingEdge,
    /// A change of a recorded launch is made to the node of another launch that the same call changes.
    GraphWrongNode,
    /// A launch of a command buffer does not wait for its list.
    GraphLaunchWithoutWaits,
    /// A plain block is used again although work that was enqueued before its free still runs.
    PlainBlockTooEarly,
    /// Blocks of a slab overlap: each begins before the end of the one before.
    PlainBlocksOverlap,
    /// What is live of plain memory is one class too little at each free.
    PlainAccountOff,
    /// A block of a slab serves whoever asks from the moment of its free on.
    SlabBlockTooEarly,
    /// A block of a slab ends behind the start of the next one.
    SlabBlocksOverlap,
    /// What slabs hold falls by too little when one goes back.
    SlabAccountOff,
    /// What waits for a timeline's value does not hear of a queue's signal.
    TimelineSignalLost,
    /// A deferred command does not come after the one before it on its queue.
    DeferredOutOfOrder,
    /// A failure reaches all that is deferred after it on a queue, which need not come after it.
    FailureTooFar,
    /// A deferred command runs although what it comes after has failed.
    FailureTooShort,
    /// What a deferred command writes to a buffer leaves the bytes elsewhere as if they were current.
    DeferredWriteUnseen,
}

/// Whether this process has the bug.
#[cfg(not(feature = "mutation"))]
#[inline(always)]
pub const fn is(_bug: Bug) -> bool {
    false
}

/// Whether this process has the bug.
#[cfg(feature = "mutation")]
pub fn is(bug: Bug) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<Bug>> = std::sync::OnceLock::new();
    let name = || std::env::var("UR_MUTATION").or_else(|_| std::env::var("UR_PLANTED")).ok();
    let chosen = CHOSEN.get_or_init(|| match name()?.as_str() {
        "free-list-ignores-queue" => Some(Bug::FreeListIgnoresQueue),
        "reuse-ignores-order" => Some(Bug::ReuseIgnoresOrder),
        "late-event" => Some(Bug::LateEvent),
        "statistics-leak" => Some(Bug::StatisticsLeak),
        "missing-zero-fill" => Some(Bug::MissingZeroFill),
        "graph-missing-edge" => Some(Bug::GraphMissingEdge),
        "graph-wrong-node" => Some(Bug::GraphWrongNode),
        "graph-launch-without-waits" => Some(Bug::GraphLaunchWithoutWaits),
        "plain-block-too-early" => Some(Bug::PlainBlockTooEarly),
        "plain-blocks-overlap" => Some(Bug::PlainBlocksOverlap),
        "plain-account-off" => Some(Bug::PlainAccountOff),
        "slab-block-too-early" => Some(Bug::SlabBlockTooEarly),
        "slab-blocks-overlap" => Some(Bug::SlabBlocksOverlap),
        "slab-account-off" => Some(Bug::SlabAccountOff),
        "timeline-signal-lost" => Some(Bug::TimelineSignalLost),
        "deferred-out-of-order" => Some(Bug::DeferredOutOfOrder),
        "failure-too-far" => Some(Bug::FailureTooFar),
        "failure-too-short" => Some(Bug::FailureTooShort),
        "deferred-write-unseen" => Some(Bug::DeferredWriteUnseen),
        other => panic!("UR_MUTATION={other} names no mutation"),
    });
    *chosen == Some(bug)
}

/// Blocks that every queue takes from and puts to, by backend and size.
#[cfg(feature = "mutation")]
static COMMON: parking_lot::Mutex<Vec<(usize, usize, usize)>> = parking_lot::Mutex::new(Vec::new());

/// Puts a block where every queue finds it.
#[cfg(feature = "mutation")]
pub fn put(backend: usize, size: usize, pointer: usize) {
    COMMON.lock().push((backend, size, pointer));
}

/// Takes what some queue put there; a size of 0 takes any.
#[cfg(feature = "mutation")]
pub fn take(backend: usize, size: usize) -> Option<(usize, usize)> {
    let mut common = COMMON.lock();
    let at = common.iter().rposition(|one| one.0 == backend && (size == 0 || one.1 == size))?;
    let (_, size, pointer) = common.swap_remove(at);
    Some((pointer, size))
}
