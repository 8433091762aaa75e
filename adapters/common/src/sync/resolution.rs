//! A result that comes once, and those that wait for it.
//!
//! Whoever waits is handed over exactly once: to the list, which the one who resolves takes as a whole, or back to its caller,
//! who then finds the outcome. Reading the outcome takes no lock. Must never call anything of a waiter: that is done by
//! whoever has got the list, without the lock.

use core::convert::Infallible;

use smallvec::SmallVec;

use crate::sync::Mutex;
use crate::sync::set_once::SetOnce;

/// Those that wait. Most results have one.
pub type Waiters<W> = SmallVec<[W; 1]>;

/// The result, once it is there.
pub struct Resolution<O, W> {
    /// None once it is resolved.
    waiting: Mutex<Option<Waiters<W>>>,
    outcome: SetOnce<O>,
}

impl<O, W> Resolution<O, W> {
    /// No result yet.
    pub fn new() -> Self {
        Self { waiting: Mutex::new(Some(SmallVec::new())), outcome: SetOnce::new() }
    }

    /// A result that is there from the start.
    pub fn with(outcome: O) -> Self {
        Self { waiting: Mutex::new(None), outcome: SetOnce::full(outcome) }
    }

    /// The result.
    pub fn get(&self) -> Option<&O> {
        self.outcome.get()
    }

    /// Lets somebody wait; gives it back if the result is there.
    ///
    /// # Errors
    /// The waiter.
    pub fn add(&self, waiter: W) -> Result<(), W> {
        match &mut *self.waiting.lock() {
            Some(waiting) => {
                waiting.push(waiter);
                Ok(())
            }
            None => Err(waiter),
        }
    }

    /// Sets the result and gives out everybody who waits for it; `None` if there was one before, which stays.
    pub fn resolve(&self, outcome: O) -> Option<Waiters<W>> {
        let mut waiting = self.waiting.lock();
        let waiters = waiting.take()?;
        let Ok(_) = self.outcome.fill(|place| {
            *place = Some(outcome);
            Ok::<_, Infallible>(())
        });
        Some(waiters)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_result_stays_and_takes_those_who_wait() {
        let resolution = Resolution::new();
        assert_eq!((resolution.add('a'), resolution.add('b'), resolution.get()), (Ok(()), Ok(()), None));
        assert_eq!(resolution.resolve(1).map(|waiters| waiters.into_vec()), Some(vec!['a', 'b']));
        assert!(resolution.resolve(2).is_none());
        assert_eq!((resolution.add('c'), resolution.get()), (Err('c'), Some(&1)));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::countdown::Countdown;
    use crate::sync::{Arc, AtomicUsize, Ordering};

    /// What waits for several results, as a deferred command does: it runs when the last of them is there.
    struct Waiting {
        countdown: Countdown<()>,
        runs: AtomicUsize,
    }

    impl Waiting {
        fn resolved(&self) {
            if self.countdown.one_is_there(None) {
                self.runs.fetch_add(1, Ordering::Relaxed);
            }
        }

        fn depend(waiting: &Arc<Self>, on: &Resolution<u64, Arc<Self>>) {
            waiting.countdown.expect_one();
            if let Err(kept) = on.add(Arc::clone(waiting)) {
                assert!(on.get().is_some(), "whoever comes too late finds the result");
                kept.resolved();
            }
        }
    }

    /// A command that is deferred while the two results that it waits for come, one of them twice: it runs once, whatever the order.
    #[test]
    fn a_waiter_of_two_results_runs_exactly_once() {
        loom::model(|| {
            let results = [(); 2].map(|()| Arc::new(Resolution::new()));
            let resolvers = [0, 1].map(|number: usize| {
                let result: Arc<Resolution<u64, Arc<Waiting>>> = Arc::clone(&results[number]);
                loom::thread::spawn(move || {
                    for kept in result.resolve(number as u64).into_iter().flatten() {
                        kept.resolved();
                    }
                    assert!(result.resolve(9).is_none());
                })
            });
            // One is the creator's, so that it does not run half-made.
            let kept = Arc::new(Waiting { countdown: Countdown::new(), runs: AtomicUsize::new(0) });
            results.iter().for_each(|result| Waiting::depend(&kept, result));
            kept.resolved();
            resolvers.into_iter().for_each(|resolver| resolver.join().unwrap());
            assert_eq!(kept.runs.load(Ordering::Relaxed), 1);
        });
    }
}
