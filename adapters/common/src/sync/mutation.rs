//! Bugs planted on purpose, so that it can be shown that the model of `conformance/model` finds them.
//!
//! Compiled in by the feature `planted` alone, which no installation has; `UR_PLANTED` then names one. Without the
//! feature every question here is answered "no" while compiling.

#[cfg_attr(not(feature = "planted"), allow(dead_code, reason = "no question is asked about some without the feature"))]
/// A bug that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Blocks that one queue freed are handed to another without any order between them.
    MagazineIgnoresQueue,
    /// A tail event is recorded behind the command that follows it.
    LateEvent,
    /// A free on another queue is left out of the statistics.
    StatisticsLeak,
    /// A recycled block of a zero-initialising pool keeps its content.
    MissingZeroFill,
}

/// Whether a bug is planted in this process.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub const fn is(_bug: Bug) -> bool {
    false
}

/// Whether a bug is planted in this process.
#[cfg(feature = "planted")]
pub fn is(bug: Bug) -> bool {
    static PLANTED: std::sync::OnceLock<Option<Bug>> = std::sync::OnceLock::new();
    let planted = PLANTED.get_or_init(|| match std::env::var("UR_PLANTED").ok()?.as_str() {
        "magazine-ignores-queue" => Some(Bug::MagazineIgnoresQueue),
        "late-event" => Some(Bug::LateEvent),
        "statistics-leak" => Some(Bug::StatisticsLeak),
        "missing-zero-fill" => Some(Bug::MissingZeroFill),
        other => panic!("UR_PLANTED={other} is no planted bug"),
    });
    *planted == Some(bug)
}

/// Blocks that every queue takes from and puts to, by source and size.
#[cfg(feature = "planted")]
static COMMON: parking_lot::Mutex<Vec<(usize, usize, usize)>> = parking_lot::Mutex::new(Vec::new());

/// Puts a block where every queue finds it.
#[cfg(feature = "planted")]
pub fn put(source: usize, size: usize, pointer: usize) {
    COMMON.lock().push((source, size, pointer));
}

/// Takes what some queue put there; a size of 0 takes any.
#[cfg(feature = "planted")]
pub fn take(source: usize, size: usize) -> Option<(usize, usize)> {
    let mut common = COMMON.lock();
    let at = common.iter().rposition(|one| one.0 == source && (size == 0 || one.1 == size))?;
    let (_, size, pointer) = common.swap_remove(at);
    Some((pointer, size))
}
