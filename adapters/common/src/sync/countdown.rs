//! What something counts that comes after several results: it is ready once the last of them is there, and knows whether one of
//! them was a failure.

use core::convert::Infallible;

use crate::sync::set_once::SetOnce;
use crate::sync::{AtomicUsize, Ordering};

/// The count.
pub struct Countdown<E> {
    missing: AtomicUsize,
    failure: SetOnce<E>,
}

impl<E> Countdown<E> {
    /// One is missing: its maker's own, so that nothing is ready while it is made.
    pub fn new() -> Self {
        Self { missing: AtomicUsize::new(1), failure: SetOnce::new() }
    }

    /// One more is missing. For its maker, before its own one is there.
    pub fn expect_one(&self) {
        self.missing.fetch_add(1, Ordering::Relaxed);
    }

    /// One is there, or has failed; `true` for the last one. Of several failures one stays, which the last one finds.
    #[must_use]
    pub fn one_is_there(&self, failure: Option<E>) -> bool {
        if let Some(failure) = failure {
            // Somebody else's may be on its way into the place: whoever writes it counts down after that.
            let Ok(_) = self.failure.fill(|place| {
                *place = Some(failure);
                Ok::<_, Infallible>(())
            });
        }
        self.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The failure, if there was one.
    pub fn failure(&self) -> Option<&E> {
        self.failure.get()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_is_told_so_and_the_first_failure_stays() {
        let countdown = Countdown::new();
        countdown.expect_one();
        countdown.expect_one();
        assert_eq!((countdown.one_is_there(Some('a')), countdown.one_is_there(Some('b'))), (false, false));
        assert_eq!((countdown.one_is_there(None), countdown.failure()), (true, Some(&'a')));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    /// Two results fail while their dependent is made: whoever finds it ready finds a failure, whole.
    #[test]
    fn the_last_one_finds_a_failure_if_there_was_any() {
        loom::model(|| {
            let countdown = Arc::new(Countdown::new());
            countdown.expect_one();
            countdown.expect_one();
            let look = |countdown: &Countdown<[u64; 2]>, failure| {
                let is_last = countdown.one_is_there(failure);
                if is_last {
                    assert!(countdown.failure().is_some_and(|[one, other]| one == other));
                }
                is_last
            };
            let failing = [1, 2].map(|cause| {
                let countdown = Arc::clone(&countdown);
                loom::thread::spawn(move || look(&countdown, Some([cause, cause])))
            });
            let own = look(&countdown, None);
            let last = failing.into_iter().map(|one| one.join().unwrap()).chain([own]).filter(|last| *last).count();
            assert_eq!(last, 1);
        });
    }
}
