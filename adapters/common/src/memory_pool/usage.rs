//! How much of a pool is in use, kept exactly without a counter that queues share.
//!
//! Every queue that uses a pool has a [`LocalCredit`] of *slack*: bytes by which the pool's use is known to lie below its
//! high-water mark. An allocation spends slack and a free earns it, both in the queue's own local credit. Only an allocation
//! that its local credit cannot pay for looks at the others': it collects all slack there is and raises the mark by what is
//! still missing. So `use = mark - slack` holds at every moment, and the mark rises exactly when the use does.
//!
//! A local credit is spent from by one thread at a time (the holder of the queue's lock); anybody may empty it.

use crate::sync::{Arc, AtomicU64, Mutex, Ordering};

/// One queue's slack, on a cache line of its own, and not on the one that is fetched together with another queue's.
#[derive(Debug)]
#[repr(align(128))]
pub struct LocalCredit {
    headroom: AtomicU64,
}

impl LocalCredit {
    /// Takes `bytes` out if there are as many.
    fn pay(&self, bytes: u64) -> bool {
        let mut there = self.headroom.load(Ordering::Relaxed);
        while let Some(rest) = there.checked_sub(bytes) {
            match self.headroom.compare_exchange_weak(there, rest, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => there = now,
            }
        }
        false
    }

    fn empty(&self) -> u64 {
        self.headroom.swap(0, Ordering::AcqRel)
    }
}

/// A local credit as its queue holds it.
pub type CreditRef = Arc<LocalCredit>;

/// The books of one pool.
#[derive(Debug)]
pub struct Usage {
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    mark: u64,
    spare: u64,
    credits: Vec<CreditRef>,
}

impl Shared {
    /// Brings all slack together.
    fn collect(&mut self) {
        self.spare += self.credits.iter().map(|credit| credit.empty()).sum::<u64>();
    }
}

impl Usage {
    /// Books of a pool that nobody uses yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self { shared: Mutex::new(Shared { mark: 0, spare: 0, credits: Vec::new() }) }
    }

    /// A local credit for one more queue.
    pub fn open(&self) -> CreditRef {
        let credit = Arc::new(LocalCredit { headroom: AtomicU64::new(0) });
        self.shared.lock().credits.push(Arc::clone(&credit));
        credit
    }

    /// Takes a queue's local credit back.
    pub fn close(&self, credit: &CreditRef) {
        let mut shared = self.shared.lock();
        shared.credits.retain(|known| !Arc::ptr_eq(known, credit));
        shared.spare += credit.empty();
    }

    /// Notes an allocation.
    pub fn spend(&self, credit: &LocalCredit, bytes: u64) {
        if !credit.pay(bytes) {
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

    /// Notes a free by the local credit's queue.
    pub fn earn(&self, credit: &LocalCredit, bytes: u64) {
        credit.headroom.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Notes a free by somebody who has no local credit.
    pub fn refund(&self, bytes: u64) {
        self.shared.lock().spare += bytes;
    }

    /// Notes that a block is out of which somebody without a local credit said the contrary; undoes [`Account::refund`].
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
        let usage = Usage::new();
        let (one, two) = (usage.open(), usage.open());
        usage.spend(&one, 100);
        usage.earn(&one, 100);
        usage.spend(&two, 60);
        assert_eq!((usage.used(), usage.high()), (60, 100), "slack of one queue serves another");
        usage.spend(&one, 60);
        assert_eq!((usage.used(), usage.high()), (120, 120));
        usage.refund(60);
        usage.reset_high();
        assert_eq!((usage.used(), usage.high()), (60, 60));
        usage.spend(&one, 1);
        assert_eq!((usage.used(), usage.high()), (61, 61));
    }

    #[test]
    fn a_closed_purse_takes_no_slack_with_it() {
        let usage = Usage::new();
        let (one, two) = (usage.open(), usage.open());
        usage.spend(&one, 100);
        usage.earn(&one, 100);
        usage.close(&one);
        usage.spend(&two, 100);
        assert_eq!((usage.used(), usage.high()), (100, 100));
    }

    proptest! {
        /// Against a counter and its maximum.
        #[test]
        fn use_and_mark_are_those_of_a_plain_counter(steps in prop::collection::vec((0usize..3, 0u8..5, 1u64..50), 1..200)) {
            let usage = Usage::new();
            let credits = [usage.open(), usage.open(), usage.open()];
            let (mut live, mut used, mut high) = (Vec::new(), 0u64, 0u64);
            for (queue, what, bytes) in steps {
                match what {
                    0 | 1 => {
                        usage.spend(&credits[queue], bytes);
                        live.push(bytes);
                        used += bytes;
                        high = high.max(used);
                    }
                    2 => if let Some(bytes) = live.pop() {
                        usage.earn(&credits[queue], bytes);
                        used -= bytes;
                    },
                    3 => if !live.is_empty() {
                        let bytes = live.swap_remove(0);
                        usage.refund(bytes);
                        used -= bytes;
                    },
                    _ => {
                        usage.reset_high();
                        high = used;
                    }
                }
                prop_assert_eq!(usage.high(), high);
                prop_assert_eq!(usage.used(), used);
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
            let usage = Arc::new(Usage::new());
            let credits = [usage.open(), usage.open()];
            let threads = credits.clone().map(|credit| {
                let usage = Arc::clone(&usage);
                loom::thread::spawn(move || {
                    usage.spend(&credit, 8);
                    usage.earn(&credit, 8);
                    usage.spend(&credit, 8);
                })
            });
            assert!(usage.used() <= 16);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!((usage.used(), usage.high()), (16, 16));
        });
    }

    /// A mark that is reset while queues work counts from then on, never below the use.
    #[test]
    fn a_reset_mark_is_never_below_the_use() {
        loom::model(|| {
            let usage = Arc::new(Usage::new());
            let credit = usage.open();
            usage.spend(&credit, 8);
            let worker = {
                let (usage, credit) = (Arc::clone(&usage), Arc::clone(&credit));
                loom::thread::spawn(move || {
                    usage.earn(&credit, 8);
                    usage.spend(&credit, 4);
                })
            };
            usage.reset_high();
            worker.join().unwrap();
            assert_eq!(usage.used(), 4);
            assert!(usage.high() >= 4 && usage.high() <= 8);
        });
    }
}
