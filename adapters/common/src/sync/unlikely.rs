//! Which way a branch rarely goes.
//!
//! A native call leaves little of ours in the instruction cache, so what counts on a hot path is how many lines of code it
//! touches. The compiler lays the code behind such a branch out of the way. To be used on hot paths alone, and where the
//! rarely way is the longer one anyway.
//!
//! A macro and no function: a hint is of a branch, and a function's own branch is folded to its answer before the caller's is
//! looked at.

/// The condition as it is, and the hint that it is rarely true.
macro_rules! unlikely {
    ($condition:expr) => {
        if $condition {
            core::hint::cold_path();
            true
        } else {
            false
        }
    };
}

/// What a result holds. Its error is returned, as by `?`, with the hint that there rarely is one.
macro_rules! likely_ok {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => {
                core::hint::cold_path();
                return Err(error);
            }
        }
    };
}

/// What an option holds. `None` is returned if it holds nothing, as by `?`, with the hint that this is rare.
macro_rules! likely_some {
    ($option:expr) => {
        match $option {
            Some(value) => value,
            None => {
                core::hint::cold_path();
                return None;
            }
        }
    };
}

pub(crate) use likely_ok;
pub(crate) use likely_some;
pub(crate) use unlikely;
