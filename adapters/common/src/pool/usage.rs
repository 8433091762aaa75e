//! How much of a pool is in use, kept exactly without a counter that queues share.
//!
//! Every queue that uses a pool has a [`Purse`] of *slack*: bytes by which the pool's use is known to lie below its
//! high-water mark. An allocation spends slack and a free earns it, both in the queue's own purse. Only an allocation
//! that its purse cannot pay for looks at the others': it collects all slack there is and raises the mark by what is
//! still missing. So `use = mark - slack` holds at every moment, and the mark rises exactly when the use does.
//!
//! A purse is spent from by one thread at a time (the holder of the queue's lock); anybody may empty it.

use crate::sync::{Arc, AtomicU64, Mutex, Ordering};

/// One queue's slack, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub struct Purse {
    slack: AtomicU64,
}

impl Purse {
    /// Takes `bytes` out if there are as many.
    fn pay(&self, bytes: u64) -> bool {
        let mut there = self.slack.load(Ordering::Relaxed);
        while let Some(rest) = there.checked_sub(bytes) {
            match self.slack.compare_exchange_weak(there, rest, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => there = now,
            }
        }
        false
    }

    fn empty(&self) -> u64 {
        self.slack.swap(0, Ordering::AcqRel)
    }
}

/// A purse as its queue holds it.
pub type PurseRef = Arc<Purse>;

/// The books of one pool.
#[derive(Debug)]
pub struct Account {
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    mark: u64,
    spare: u64,
    purses: Vec<PurseRef>,
}

impl Shared {
    /// Brings all slack together.
    fn collect(&mut self) {
        self.spare += self.purses.iter().map(|purse| purse.empty()).sum::<u64>();
    }
}

impl Account {
    /// Books of a pool that nobody uses yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self { shared: Mutex::new(Shared { mark: 0, spare: 0, purses: Vec::new() }) }
    }

    /// A purse for one more queue.
    pub fn open(&self) -> PurseRef {
        let purse = Arc::new(Purse { slack: AtomicU64::new(0) });
        self.shared.lock().purses.push(Arc::clone(&purse));
        purse
    }

    /// Takes a queue's purse back.
    pub fn close(&self, purse: &PurseRef) {
        let mut shared = self.shared.lock();
        shared.purses.retain(|known| !Arc::ptr_eq(known, purse));
        shared.spare += purse.empty();
    }

    /// Notes an allocation.
    pub fn spend(&self, purse: &Purse, bytes: u64) {
        if !purse.pay(bytes) {
            self.draw(bytes);
        }
    }

    #[cold]
    fn draw(&self, bytes: u64) {
        let mut shared = self.shared.lock();
        if shared.spare < bytes {
            shared.collect();
        }
        let missing = bytes.saturating_sub(shared.spare);
        shared.mark += missing;
        shared.spare = shared.spare + missing - bytes;
    }

    /// Notes a free by the purse's queue.
    pub fn earn(&self, purse: &Purse, bytes: u64) {
        purse.slack.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Notes a free by somebody who has no purse.
    pub fn refund(&self, bytes: u64) {
        self.shared.lock().spare += bytes;
    }

    /// Notes that a block is out of which somebody without a purse said the contrary; undoes [`Account::refund`].
    pub fn charge(&self, bytes: u64) {
        self.draw(bytes);
    }

    /// Bytes in use.
    pub fn used(&self) -> u64 {
        let mut shared = self.shared.lock();
        shared.collect();
        shared.mark - shared.spare
    }

    /// The most bytes in use since the mark was reset.
    pub fn high(&self) -> u64 {
        self.shared.lock().mark
    }

    /// Makes what is in use the mark.
    pub fn reset_high(&self) {
        let mut shared = self.shared.lock();
        shared.collect();
        shared.mark -= shared.spare;
        shared.spare = 0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_mark_is_the_most_that_was_in_use_at_one_time() {
        let account = Account::new();
        let (one, two) = (account.open(), account.open());
        account.spend(&one, 100);
        account.earn(&one, 100);
        account.spend(&two, 60);
        assert_eq!((account.used(), account.high()), (60, 100), "slack of one queue serves another");
        account.spend(&one, 60);
        assert_eq!((account.used(), account.high()), (120, 120));
        account.refund(60);
        account.reset_high();
        assert_eq!((account.used(), account.high()), (60, 60));
        account.spend(&one, 1);
        assert_eq!((account.used(), account.high()), (61, 61));
    }

    #[test]
    fn a_closed_purse_takes_no_slack_with_it() {
        let account = Account::new();
        let (one, two) = (account.open(), account.open());
        account.spend(&one, 100);
        account.earn(&one, 100);
        account.close(&one);
        account.spend(&two, 100);
        assert_eq!((account.used(), account.high()), (100, 100));
    }

    proptest! {
        /// Against a counter and its maximum.
        #[test]
        fn use_and_mark_are_those_of_a_plain_counter(steps in prop::collection::vec((0usize..3, 0u8..5, 1u64..50), 1..200)) {
            let account = Account::new();
            let purses = [account.open(), account.open(), account.open()];
            let (mut live, mut used, mut high) = (Vec::new(), 0u64, 0u64);
            for (queue, what, bytes) in steps {
                match what {
                    0 | 1 => {
                        account.spend(&purses[queue], bytes);
                        live.push(bytes);
                        used += bytes;
                        high = high.max(used);
                    }
                    2 => if let Some(bytes) = live.pop() {
                        account.earn(&purses[queue], bytes);
                        used -= bytes;
                    },
                    3 => if !live.is_empty() {
                        let bytes = live.swap_remove(0);
                        account.refund(bytes);
                        used -= bytes;
                    },
                    _ => {
                        account.reset_high();
                        high = used;
                    }
                }
                prop_assert_eq!(account.high(), high);
                prop_assert_eq!(account.used(), used);
            }
        }
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;

    /// Two queues and a reader, with as many switches between them as find such faults in practice: the use never exceeds
    /// the mark, and the end is exact.
    #[test]
    fn slack_is_never_lost_or_made() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let account = Arc::new(Account::new());
            let purses = [account.open(), account.open()];
            let threads = purses.clone().map(|purse| {
                let account = Arc::clone(&account);
                loom::thread::spawn(move || {
                    account.spend(&purse, 8);
                    account.earn(&purse, 8);
                    account.spend(&purse, 8);
                })
            });
            assert!(account.used() <= 16);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!((account.used(), account.high()), (16, 16));
        });
    }

    /// A mark that is reset while queues work counts from then on, never below the use.
    #[test]
    fn a_reset_mark_is_never_below_the_use() {
        loom::model(|| {
            let account = Arc::new(Account::new());
            let purse = account.open();
            account.spend(&purse, 8);
            let worker = {
                let (account, purse) = (Arc::clone(&account), Arc::clone(&purse));
                loom::thread::spawn(move || {
                    account.earn(&purse, 8);
                    account.spend(&purse, 4);
                })
            };
            account.reset_high();
            worker.join().unwrap();
            assert_eq!(account.used(), 4);
            assert!(account.high() >= 4 && account.high() <= 8);
        });
    }
}
