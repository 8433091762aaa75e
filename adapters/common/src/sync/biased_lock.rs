//! The lock of a stream, which costs the one thread that uses a queue next to nothing. A timeline, a recording and a shard of plain memory
//! have one too.
//!
//! Most queues are used by one thread. The first thread to lock becomes the *owner*; as long as nobody else comes, locking
//! and unlocking are a store each, without an atomic exchange, and an exchange right after a native call is dear. Another
//! thread takes the ownership away once, for good: it withdraws it, makes every running thread pass a memory barrier
//! (`membarrier`, a system call), waits until the owner is outside, and from then on the lock is a usual mutex. A [visitor](BiasedLock::visit)
//! does the same and leaves the owner its ownership.
//!
//! The owner stores `busy` and then reads `owner`; the other thread stores `owner` and then reads `busy`. With a barrier
//! between the two on both sides one of them sees the other's store. The owner's barrier is the one that `membarrier` puts
//! there. Where the system has no `membarrier` there are no owners.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use crate::sync::gate::Gate;
use crate::sync::unlikely::unlikely;
use crate::sync::{AtomicBool, AtomicUsize, MutexGuard, Ordering, UnsafeCell, barrier, fence};

#[cfg(all(test, loom))]
mod model;

/// Nobody has locked yet.
const NOBODY: usize = 0;
/// Several threads have, or there can be no owners.
const EVERYBODY: usize = usize::MAX;

/// The lock around a stream's state. The owner's words come first, beside what the stream has before them. The gate, at
/// which other threads write while they wait, shares no cache line with anything that the holder uses.
#[repr(C)]
pub struct BiasedLock<T> {
    owner: AtomicUsize,
    busy: AtomicBool,
    value: UnsafeCell<T>,
    _before: CacheLine,
    gate: Gate,
    _behind: CacheLine,
}

/// As much as makes neighbours of what is before and behind lie in other cache lines, without an alignment that would move
/// the owner's words into a line of their own.
struct CacheLine {
    _bytes: [u8; 64],
}

impl CacheLine {
    const fn new() -> Self {
        Self { _bytes: [0; 64] }
    }
}

// SAFETY: the value moves with the lock.
unsafe impl<T: Send> Send for BiasedLock<T> {}
// SAFETY: a guard is the only way to the value, and there is one at a time: the owner's while `owner` names it, or the
// one that holds the gate once `owner` is `EVERYBODY`; the change between the two waits for the owner to be outside.
unsafe impl<T: Send> Sync for BiasedLock<T> {}

/// What a guard reaches the value through. There is one at a time.
struct Way<'l, T> {
    lock: &'l BiasedLock<T>,
    /// As a pointer it is neither sent nor shared: a shared guard would share a value that need not be `Sync`.
    value: PhantomData<*mut T>,
}

/// Whoever has it has the lock; unlocks when it goes. It stays on its thread, and so does what it lends.
pub struct Guard<'l, T> {
    way: Way<'l, T>,
    gate: Option<MutexGuard<'l, ()>>,
}

/// The guard of an owner that came in without the gate, so that unlocking has no gate to look at.
pub struct OwnersGuard<'l, T> {
    way: Way<'l, T>,
}

/// A guard of either kind. Unlocks when it is dropped.
pub trait Holding: DerefMut {
    /// Unlocks; answers whether somebody else may have come meanwhile and gone away without the lock.
    fn unlock(self) -> bool;
}

impl<T> BiasedLock<T> {
    /// An unlocked lock without an owner.
    pub fn new(value: T) -> Self {
        Self {
            owner: AtomicUsize::new(NOBODY),
            busy: AtomicBool::new(false),
            value: UnsafeCell::new(value),
            _before: CacheLine::new(),
            gate: Gate::new(),
            _behind: CacheLine::new(),
        }
    }

    /// Waits for the lock.
    #[inline(always)]
    pub fn lock(&self) -> Guard<'_, T> {
        let me = barrier::thread();
        if unlikely!(self.owner.load(Ordering::Relaxed) != me) || !self.enter(me) {
            return self.lock_slowly(me);
        }
        self.owners_guard()
    }

    /// Takes the lock if the calling thread alone has used it so far; never waits. Its caller takes the lock as usual, in a function of its own,
    /// where this answers `None`.
    #[inline(always)]
    pub fn lock_as_owner(&self) -> Option<OwnersGuard<'_, T>> {
        let me = barrier::thread();
        if unlikely!(self.owner.load(Ordering::Relaxed) != me) || !self.enter(me) {
            return None;
        }
        Some(OwnersGuard { way: self.way() })
    }

    /// Called by whoever has just taken the lock.
    #[inline(always)]
    fn way(&self) -> Way<'_, T> {
        Way { lock: self, value: PhantomData }
    }

    #[inline(always)]
    fn owners_guard(&self) -> Guard<'_, T> {
        Guard { way: self.way(), gate: None }
    }

    /// The lock if nobody has it, without waiting. It ends the ownership of another thread, whose unlocking then answers
    /// that somebody came ([`Holding::unlock`]); so whoever leaves word before a try that fails can count on its being read.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        let me = barrier::thread();
        let is_inside = self.busy.load(Ordering::Acquire);
        if self.owner.load(Ordering::Relaxed) == me && !is_inside && self.enter(me) {
            return Some(self.owners_guard());
        }
        self.try_lock_at_gate()
    }

    /// As [`BiasedLock::try_lock`] for a thread that is not the owner, or is inside.
    #[cold]
    #[inline(never)]
    fn try_lock_at_gate(&self) -> Option<Guard<'_, T>> {
        fence(Ordering::SeqCst);
        loop {
            let gate = self.gate.try_lock()?;
            self.withdraw_ownership();
            if !self.busy.load(Ordering::Acquire) {
                return Some(self.gate_guard(gate));
            }
            // A thread that came meanwhile failed at the gate and counts on its holder, who has no lock to give back. So the owner is
            // looked for once more without it: one that is still inside leaves behind this barrier, and then finds all word.
            drop(gate);
            barrier::heavy();
            if self.busy.load(Ordering::Acquire) {
                return None;
            }
        }
    }

    /// As [`BiasedLock::try_lock`], and leaves another thread its ownership: there is no guard then.
    #[cold]
    pub fn try_lock_unless_owned(&self) -> Option<Guard<'_, T>> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner == EVERYBODY || owner == barrier::thread() { self.try_lock() } else { None }
    }

    /// Gives the ownership up, so that the next thread to lock is the owner. For the thread that is, outside; `false` if
    /// another thread took the ownership away, or is the owner.
    pub fn disown(&self) -> bool {
        // Whoever becomes the owner by an exchange sees what this thread did inside.
        let before = self.owner.compare_exchange(barrier::thread(), NOBODY, Ordering::AcqRel, Ordering::Relaxed);
        before.is_ok() || before == Err(NOBODY)
    }

    /// Has every thread come through the gate from now on, so that each unlocking answers that somebody may have come. Called
    /// outside; does not wait.
    #[cold]
    pub fn end_ownership(&self) {
        // Whoever has the gate ends it, and its own unlocking answers so.
        if let Some(_gate) = self.gate.try_lock() {
            self.withdraw_ownership();
        }
    }

    /// Whether the next thread to lock becomes the owner.
    pub fn has_no_owner(&self) -> bool {
        self.owner.load(Ordering::Acquire) == NOBODY
    }

    /// Whether this thread is the owner, or nobody is yet: no other thread has used the lock.
    pub fn is_of_no_other_thread(&self) -> bool {
        let owner = self.owner.load(Ordering::Relaxed);
        owner == NOBODY || owner == barrier::thread()
    }

    /// Has the value once without taking the lock from its owner: behind the visit the owner gets in as before. Every visit is a barrier of all
    /// threads, so it is for what comes rarely.
    pub fn visit<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        if self.owner.load(Ordering::Relaxed) == barrier::thread() {
            return act(&mut self.lock());
        }
        let gate = self.gate.lock();
        let before = self.withdraw_ownership();
        while self.busy.load(Ordering::Acquire) {
            barrier::relax();
        }
        let mut guard = self.gate_guard(gate);
        let answer = act(&mut guard);
        // What was done is before the owner's next way in, which reads this.
        self.owner.store(before, Ordering::Release);
        answer
    }

    fn gate_guard<'l>(&'l self, gate: MutexGuard<'l, ()>) -> Guard<'l, T> {
        Guard { way: self.way(), gate: Some(gate) }
    }

    /// Sees to it that no thread gets in as the owner any more; one that is inside still is. Gives who was the owner. The caller holds
    /// the gate.
    fn withdraw_ownership(&self) -> usize {
        // Only who holds the gate changes this again, and the gate orders it.
        if self.owner.load(Ordering::Relaxed) == EVERYBODY {
            return EVERYBODY;
        }
        let before = self.owner.swap(EVERYBODY, Ordering::AcqRel);
        if before != EVERYBODY {
            barrier::heavy();
        }
        before
    }

    /// The owner's way in; `false` if it is the owner no more.
    #[inline(always)]
    fn enter(&self, me: usize) -> bool {
        // A thread that ended and whose number another thread got has left its writes behind this.
        assert!(!self.busy.load(Ordering::Acquire), "one thread locks twice what only one thread has used");
        self.busy.store(true, Ordering::Relaxed);
        barrier::light();
        // Behind what a visitor did who gave the ownership back.
        if unlikely!(self.owner.load(Ordering::Acquire) != me) {
            self.busy.store(false, Ordering::Release);
            return false;
        }
        true
    }

    /// The owner's way out; whether it is the owner no more.
    #[inline(always)]
    fn leave(&self) -> bool {
        self.busy.store(false, Ordering::Release);
        barrier::light();
        // The owner that is none any more was told so while it was inside.
        unlikely!(self.owner.load(Ordering::Relaxed) == EVERYBODY)
    }

    #[cold]
    fn lock_slowly(&self, me: usize) -> Guard<'_, T> {
        if self.owner.load(Ordering::Relaxed) == NOBODY && barrier::is_there() {
            let first = self.owner.compare_exchange(NOBODY, me, Ordering::AcqRel, Ordering::Relaxed);
            if first.is_ok() && self.enter(me) {
                return self.owners_guard();
            }
        }
        let gate = self.gate.lock();
        // The owner that only a visitor kept out. Nobody takes the ownership away without the gate.
        if self.owner.load(Ordering::Relaxed) == me && self.enter(me) {
            return self.owners_guard();
        }
        self.withdraw_ownership();
        while self.busy.load(Ordering::Acquire) {
            barrier::relax();
        }
        self.gate_guard(gate)
    }
}

impl<T> Deref for Way<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the way is the only one, so nobody writes.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Way<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the way is the only one, and is borrowed mutably.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.way
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.way
    }
}

impl<T> Guard<'_, T> {
    #[inline(always)]
    fn give_up(&mut self) -> bool {
        if unlikely!(self.gate.is_some()) {
            drop(self.gate.take());
            // What is asked next is asked behind the unlocking, as whoever failed to lock asked behind what they left.
            fence(Ordering::SeqCst);
            return true;
        }
        self.way.lock.leave()
    }
}

impl<T> Holding for Guard<'_, T> {
    #[inline(always)]
    fn unlock(self) -> bool {
        let mut this = core::mem::ManuallyDrop::new(self);
        this.give_up()
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.give_up();
    }
}

impl<T> Deref for OwnersGuard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.way
    }
}

impl<T> DerefMut for OwnersGuard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.way
    }
}

impl<T> Holding for OwnersGuard<'_, T> {
    #[inline(always)]
    fn unlock(self) -> bool {
        core::mem::ManuallyDrop::new(self).way.lock.leave()
    }
}

impl<T> Drop for OwnersGuard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.way.lock.leave();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_thread_after_another_and_all_at_once_count_right() {
        let lock = BiasedLock::new(0u64);
        for _ in 0..100 {
            *lock.lock() += 1;
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *lock.lock() += 1));
            }
            (0..1000).for_each(|_| *lock.lock() += 1);
        });
        assert_eq!(*lock.lock(), 5100);
    }

    /// The owner is inside when another thread comes.
    #[test]
    fn a_thread_that_takes_the_lock_over_waits_for_the_owner() {
        let lock = BiasedLock::new(Vec::new());
        let guard = lock.lock();
        let (came, comes) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                came.send(()).unwrap();
                lock.lock().push(2);
            });
            comes.recv().unwrap();
            let mut guard = guard;
            guard.push(1);
            drop(guard);
        });
        assert_eq!(*lock.lock(), [1, 2]);
    }

    #[test]
    fn a_lock_that_somebody_has_is_not_waited_for_and_the_holder_is_told() {
        let lock = BiasedLock::new(0);
        for _ in 0..3 {
            let guard = lock.lock();
            std::thread::scope(|scope| scope.spawn(|| assert!(lock.try_lock().is_none())).join().unwrap());
            assert!(guard.unlock(), "the holder is told that somebody came");
            std::thread::scope(|scope| scope.spawn(|| assert!(lock.try_lock().is_some())).join().unwrap());
        }
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn the_owner_that_tries_again_inside_does_not_get_in() {
        let lock = BiasedLock::new(0);
        let guard = lock.lock();
        assert!(lock.try_lock().is_none());
        assert!(guard.unlock(), "it is told that it came");
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn who_asks_as_owner_gets_only_what_it_alone_has_used_and_ends_nobody_s_ownership() {
        let lock = BiasedLock::new(0);
        assert!(lock.lock_as_owner().is_none(), "it is nobody's yet");
        drop(lock.lock());
        let elsewhere = || std::thread::scope(|scope| scope.spawn(|| lock.lock_as_owner().is_some()).join().unwrap());
        for _ in 0..2 {
            assert!(!elsewhere());
            *lock.lock_as_owner().expect("the owner asks") += 1;
        }
        std::thread::scope(|scope| scope.spawn(|| *lock.lock() += 1).join().unwrap());
        assert!(lock.lock_as_owner().is_none() && !elsewhere(), "two threads have used it");
        assert_eq!(*lock.lock(), 3);
    }

    #[test]
    fn a_lock_that_its_owner_gives_up_is_the_next_thread_s() {
        let lock = BiasedLock::new(0);
        for number in 1..4 {
            let own = || {
                *lock.lock() += 1;
                assert!(!lock.has_no_owner() && lock.disown() && lock.has_no_owner());
                // Nobody else came, so its unlocking tells of nobody.
                assert!(!lock.lock().unlock());
                assert!(lock.disown());
            };
            std::thread::scope(|scope| scope.spawn(own).join().unwrap());
            assert_eq!(*lock.lock(), number);
            assert!(lock.disown());
        }
    }

    #[test]
    fn a_lock_whose_ownership_was_ended_tells_at_each_unlocking_that_somebody_may_have_come() {
        let lock = BiasedLock::new(0);
        assert!(!lock.lock().unlock());
        lock.end_ownership();
        assert!(lock.lock().unlock() && lock.lock().unlock());
        assert!(lock.try_lock().is_some_and(Guard::unlock) && !lock.has_no_owner() && !lock.disown());
    }

    #[test]
    fn a_lock_that_another_thread_owns_or_took_is_not_given_up() {
        let lock = BiasedLock::new(0);
        drop(lock.lock());
        std::thread::scope(|scope| scope.spawn(|| assert!(!lock.disown())).join().unwrap());
        std::thread::scope(|scope| scope.spawn(|| drop(lock.lock())).join().unwrap());
        assert!(!lock.disown() && !lock.has_no_owner());
    }

    #[test]
    fn a_visitor_leaves_the_owner_its_lock() {
        let lock = BiasedLock::new(Vec::new());
        let visit = |number: u32| {
            std::thread::scope(|scope| scope.spawn(|| lock.visit(|numbers| numbers.push(number))).join().unwrap());
        };
        visit(1);
        assert!(lock.has_no_owner());
        lock.lock().push(2);
        visit(3);
        assert!(lock.is_of_no_other_thread() && !lock.has_no_owner());
        // Nobody else has come for good, so its unlocking tells of nobody.
        assert!(!lock.lock().unlock());
        lock.visit(|numbers| numbers.push(4));
        assert_eq!(*lock.lock(), [1, 2, 3, 4]);
        assert!(lock.is_of_no_other_thread());
    }

    #[test]
    fn owner_and_visitors_count_right_and_the_owner_stays() {
        let lock = BiasedLock::new(0u64);
        drop(lock.lock());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..1000).for_each(|_| lock.visit(|count| *count += 1)));
            }
            (0..100_000).for_each(|_| *lock.lock() += 1);
        });
        assert!(lock.is_of_no_other_thread());
        assert_eq!(*lock.lock(), 102_000);
    }

    /// The inherent constant wins where its bound holds.
    #[test]
    fn a_guard_is_not_sync_where_its_value_is_not() {
        struct Shared<T>(PhantomData<T>);
        trait Otherwise {
            const IS_SYNC: bool = false;
        }
        impl<T> Otherwise for Shared<T> {}
        impl<T: Sync> Shared<T> {
            const IS_SYNC: bool = true;
        }
        type OfCell = core::cell::Cell<u8>;
        let lock_and_guard = [Shared::<BiasedLock<OfCell>>::IS_SYNC, Shared::<Guard<'_, OfCell>>::IS_SYNC];
        assert_eq!(lock_and_guard, [true, false], "the lock orders its users, and a shared guard would not");
    }

    #[test]
    fn a_panic_inside_unlocks() {
        let lock = BiasedLock::new(());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = lock.lock();
            panic!("inside");
        }));
        assert!(panicked.is_err());
        drop(lock.lock());
    }
}
