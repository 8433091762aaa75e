//! A place that is filled once and then read without a lock, as `OnceLock` without its waiting: whoever comes second is
//! told so at once. Filling costs one atomic exchange, reading one load.

use core::mem::MaybeUninit;

use crate::sync::{AtomicU8, Ordering, UnsafeCell};

const EMPTY: u8 = 0;
const FILLING: u8 = 1;
const FULL: u8 = 2;

/// The place.
pub struct SetOnce<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value moves with the place, and is dropped where the place is.
unsafe impl<T: Send> Send for SetOnce<T> {}
// SAFETY: the value is written by the one thread that won the exchange, before `FULL` is published; after that it is only
// read, by shared reference.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}

impl<T> SetOnce<T> {
    /// An empty place.
    pub fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// A full one.
    pub fn full(value: T) -> Self {
        Self { state: AtomicU8::new(FULL), value: UnsafeCell::new(MaybeUninit::new(value)) }
    }

    /// Whether it is full.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.state.load(Ordering::Acquire) == FULL
    }

    /// What it holds.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if !self.is_set() {
            return None;
        }
        // SAFETY: `FULL` is published after the value was written, and nothing writes it again while `self` is shared.
        Some(self.value.with(|value| unsafe { (*value).assume_init_ref() }))
    }

    /// Fills it.
    ///
    /// # Errors
    /// The value, if it is full or somebody is filling it.
    #[inline]
    pub fn set(&self, value: T) -> Result<(), T> {
        if self.state.compare_exchange(EMPTY, FILLING, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Err(value);
        }
        // SAFETY: only the winner of the exchange gets here, and readers wait for `FULL`.
        self.value.with_mut(|place| unsafe { (*place).write(value) });
        self.state.store(FULL, Ordering::Release);
        Ok(())
    }

    /// Empties it.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        if !self.is_set() {
            return None;
        }
        self.state.store(EMPTY, Ordering::Relaxed);
        // SAFETY: it was full, so the value was written; it is empty now, so nobody reads it again.
        Some(self.value.with_mut(|value| unsafe { (*value).assume_init_read() }))
    }
}

impl<T> Drop for SetOnce<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn the_first_value_stays_until_it_is_taken() {
        let mut place = SetOnce::new();
        assert_eq!((place.get(), place.is_set()), (None, false));
        assert_eq!(place.set(1), Ok(()));
        assert_eq!((place.set(2), place.get()), (Err(2), Some(&1)));
        assert_eq!((place.take(), place.take(), place.get()), (Some(1), None, None));
        assert_eq!(place.set(3), Ok(()));
        assert_eq!(SetOnce::full(4).get(), Some(&4));
    }

    #[test]
    fn a_value_is_dropped_once() {
        let value = Rc::new(());
        let mut place = SetOnce::full(Rc::clone(&value));
        drop(place.take());
        assert_eq!(Rc::strong_count(&value), 1);
        assert!(place.set(Rc::clone(&value)).is_ok());
        drop(place);
        assert_eq!(Rc::strong_count(&value), 1);
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    /// One of two fillers wins, the other gets its value back, and a reader sees nothing or all of it.
    #[test]
    fn a_place_is_filled_once_and_read_whole() {
        loom::model(|| {
            let place = Arc::new(SetOnce::new());
            let fillers = [1u64, 2].map(|number| {
                let place = Arc::clone(&place);
                loom::thread::spawn(move || place.set([number, number]).is_ok())
            });
            if let Some([one, other]) = place.get() {
                assert_eq!(one, other);
            }
            let won = fillers.into_iter().map(|filler| filler.join().unwrap()).filter(|won| *won).count();
            assert_eq!(won, 1);
            assert!(place.get().is_some_and(|[one, other]| one == other));
        });
    }
}
