//! How much of a pool is in use, kept exactly without a counter that queues share.
//!
//! Every queue that uses a pool has a [`LocalCredit`] of *slack*: bytes by which the pool's use is known to lie below its
//! high-water mark. An allocation spends slack and a free earns it, both in the queue's own local credit. Only an allocation
//! that its local credit cannot pay for looks at the others': it collects all slack there is and raises the mark by what is
//! still missing. So `use = mark - slack` holds at every moment, and the mark rises exactly when the use does.
//!
//! A local credit is spent from by one thread at a time (the holder of the queue's lock); anybody may empty it. A pool may have
//! thousands of queues, so who collects must look at no credit that nobody has filled since: those that may hold something are
//! listed, by the free that finds its credit not listed, and one that is met empty is listed no more.

use crate::sync::unlikely::unlikely;
use crate::sync::{Arc, AtomicBool, AtomicU64, Mutex, Ordering};

/// One queue's slack, on a cache line of its own, and not on the one that is fetched together with another queue's.
#[derive(Debug)]
#[repr(align(128))]
pub struct LocalCredit {
    headroom: AtomicU64,
    /// Whether the books know that there may be something in it. Written with the books locked.
    is_listed: AtomicBool,
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

/// So many closed credits may be listed in any case.
const FEW: usize = 16;

/// The books of one pool.
#[derive(Debug)]
pub struct Usage {
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    mark: u64,
    spare: u64,
    /// Local credits in which there may be something, and closed ones that were listed.
    listed: Vec<CreditRef>,
    /// Local credits that are not closed.
    open: usize,
}

impl Shared {
    /// Brings all slack together. A credit in which there is none is listed no more: its last free has been met before, so each look
    /// is paid for by a free.
    fn collect(&mut self) {
        let Self { spare, listed, .. } = self;
        listed.retain(|credit| {
            let mut found = credit.empty();
            let stays = found > 0;
            if !stays {
                // What is earned between the two is found here. Who earns later has read what this exchange wrote, so it sees that
                // the credit is not listed.
                credit.is_listed.store(false, Ordering::Relaxed);
                found = credit.empty();
            }
            *spare += found;
            stays
        });
    }
}

impl Usage {
    /// Books of a pool that nobody uses yet.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self { shared: Mutex::new(Shared { mark: 0, spare: 0, listed: Vec::new(), open: 0 }) }
    }

    /// A local credit for one more queue.
    pub fn open(&self) -> CreditRef {
        self.shared.lock().open += 1;
        Arc::new(LocalCredit { headroom: AtomicU64::new(0), is_listed: AtomicBool::new(false) })
    }

    /// Takes a queue's local credit back.
    pub fn close(&self, credit: &CreditRef) {
        let mut shared = self.shared.lock();
        shared.open -= 1;
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
    #[inline]
    pub fn earn(&self, credit: &CreditRef, bytes: u64) {
        credit.headroom.fetch_add(bytes, Ordering::AcqRel);
        if unlikely!(!credit.is_listed.load(Ordering::Relaxed)) {
            self.list(credit);
        }
    }

    #[cold]
    #[inline(never)]
    fn list(&self, credit: &CreditRef) {
        let mut shared = self.shared.lock();
        // Strikes off the closed credits, which are empty. At least as many frees as are looked at have come since the last time.
        if shared.listed.len() > 2 * shared.open + FEW {
            shared.collect();
        }
        if !credit.is_listed.swap(true, Ordering::Relaxed) {
            shared.listed.push(Arc::clone(credit));
        }
    }

    /// Notes a free by somebody who has no local credit.
    pub fn refund(&self, bytes: u64) {
        self.shared.lock().spare += bytes;
    }

    /// Notes that a block is out of which somebody without a local credit said the contrary; undoes [`Usage::refund`].
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

    fn listed(usage: &Usage) -> usize {
        usage.shared.lock().listed.len()
    }

    #[test]
    fn a_credit_that_nobody_has_filled_since_is_not_looked_at() {
        let usage = Usage::new();
        let credits: Vec<_> = (0..1000).map(|_| usage.open()).collect();
        assert_eq!(listed(&usage), 0, "nothing was earned");
        for credit in &credits {
            usage.spend(credit, 8);
            usage.earn(credit, 8);
        }
        usage.spend(&credits[0], 1 << 20);
        usage.spend(&credits[0], 1 << 20);
        assert_eq!(listed(&usage), 0, "each was met full once and empty once");
        usage.earn(&credits[7], 1 << 20);
        usage.earn(&credits[7], 1);
        assert_eq!((listed(&usage), usage.used(), usage.high()), (1, (1 << 20) - 1, 2 << 20));
        usage.spend(&credits[0], 1 << 20);
        assert_eq!(usage.high(), 2 << 20, "what was earned there serves here");
    }

    #[test]
    fn closed_credits_do_not_gather() {
        let usage = Usage::new();
        let stays = usage.open();
        for _ in 0..1000 {
            let credit = usage.open();
            usage.spend(&credit, 8);
            usage.earn(&credit, 8);
            usage.close(&credit);
            assert!(listed(&usage) <= FEW + 6);
        }
        usage.spend(&stays, 8);
        assert_eq!((usage.used(), usage.high()), (8, 8));
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

    /// A credit that is met empty is struck off the list while its queue earns.
    #[test]
    fn what_is_earned_as_a_credit_leaves_the_list_is_found() {
        loom::model(|| {
            let usage = Arc::new(Usage::new());
            let credit = usage.open();
            usage.spend(&credit, 24);
            usage.earn(&credit, 8);
            assert_eq!(usage.used(), 16);
            let worker = {
                let (usage, credit) = (Arc::clone(&usage), Arc::clone(&credit));
                loom::thread::spawn(move || {
                    usage.earn(&credit, 8);
                    usage.earn(&credit, 4);
                })
            };
            assert!(usage.used() <= 16);
            worker.join().unwrap();
            assert_eq!(usage.used(), 4);
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
