//! A slot that one thread has at a time, and that is taken by the key it is under: one atomic exchange takes it, and a plain
//! store puts it back. Nobody waits for it. Whoever finds it under another key, or taken, goes elsewhere; so it may be held
//! over anything, and is no lock.
//!
//! The key is the word that is exchanged. A flag beside it would let a thread that only looks for another key have the slot
//! for a moment, and the one with the right key would go elsewhere in vain.

use crate::sync::{AtomicUsize, Ordering, UnsafeCell};

/// What no key is: the key while somebody has the slot.
const TAKEN: usize = usize::MAX;

/// The slot.
pub struct KeyedSlot<T> {
    key: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: there is one way to the value at a time, [`Taken`], and it moves between threads with an exchange that acquires
// what the store before it released; so nothing of the value is shared.
unsafe impl<T: Send> Sync for KeyedSlot<T> {}
// SAFETY: the value moves with the slot.
unsafe impl<T: Send> Send for KeyedSlot<T> {}

impl<T> KeyedSlot<T> {
    /// A slot under a key.
    pub fn new(key: usize, value: T) -> Self {
        Self { key: AtomicUsize::new(key), value: UnsafeCell::new(value) }
    }

    /// Takes the slot if it is under that key.
    #[inline]
    pub fn take(&self, key: usize) -> Option<Taken<'_, T>> {
        // The look first: an exchange that fails costs as much as one that succeeds.
        if key == TAKEN
            || self.key.load(Ordering::Relaxed) != key
            || self.key.compare_exchange(key, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return None;
        }
        Some(Taken { slot: self, key })
    }
}

/// The slot, taken. It goes back under the key that it was found under, or the one that was given meanwhile.
pub struct Taken<'s, T> {
    slot: &'s KeyedSlot<T>,
    key: usize,
}

impl<T> Taken<'_, T> {
    /// Puts the slot back under another key.
    ///
    /// # Panics
    /// For the one number that is no key.
    #[inline]
    pub fn put_under(mut self, key: usize) {
        assert_ne!(key, TAKEN, "a key that a slot can be under");
        self.key = key;
    }

    /// Does something with the value.
    #[inline(always)]
    pub fn with<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this won the exchange, and until its drop nobody else can; `self` is borrowed mutably.
        self.slot.value.with_mut(|value| work(unsafe { &mut *value }))
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.slot.key.store(self.key, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_taken_by_its_key_alone_and_by_one_at_a_time() {
        let slot = KeyedSlot::new(0, "free");
        assert!(slot.take(7).is_none() && slot.take(TAKEN).is_none());
        let mut taken = slot.take(0).unwrap();
        assert!(slot.take(0).is_none() && slot.take(7).is_none() && slot.take(TAKEN).is_none());
        taken.with(|value| *value = "seven");
        taken.put_under(7);
        assert!(slot.take(0).is_none());
        assert_eq!(slot.take(7).unwrap().with(|value| *value), "seven");
    }

    #[test]
    fn what_is_dropped_lies_under_its_key_again() {
        let slot = KeyedSlot::new(3, 0);
        for count in 0..3 {
            slot.take(3).unwrap().with(|value| {
                assert_eq!(*value, count);
                *value += 1;
            });
        }
    }

    #[test]
    #[should_panic(expected = "a key that a slot can be under")]
    fn the_number_of_a_taken_slot_is_no_key() {
        KeyedSlot::new(0, ()).take(0).unwrap().put_under(TAKEN);
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    /// Of two threads one has the slot at a time, and the later one sees all that the other did; one that looks for another
    /// key stands in nobody's way.
    #[test]
    fn one_thread_has_the_slot_and_sees_what_was_done_before() {
        loom::model(|| {
            let slot = Arc::new(KeyedSlot::new(0, [0_u64; 2]));
            let workers = [0, 0, 9].map(|key| {
                let slot = Arc::clone(&slot);
                loom::thread::spawn(move || {
                    let Some(mut taken) = slot.take(key) else { return 0 };
                    taken.with(|[one, other]| {
                        assert_eq!(one, other);
                        (*one, *other) = (*one + 1, *other + 1);
                    });
                    1
                })
            });
            let done: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
            assert!(done >= 1);
            assert_eq!(slot.take(0).unwrap().with(|value| *value), [done; 2]);
        });
    }
}
