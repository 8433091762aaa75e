//! Which way a branch rarely goes.
//!
//! A native call leaves little of ours in the instruction cache, so what counts on a hot path is how many lines of code it
//! touches. The compiler lays the code behind such a branch out of the way. To be used on hot paths alone, and where the
//! rarely way is the longer one anyway.

/// The condition as it is, and the hint that it is rarely true.
#[inline(always)]
#[must_use]
pub fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

/// A branch that calls what is cold is cold.
#[cold]
#[inline(always)]
fn cold() {}
