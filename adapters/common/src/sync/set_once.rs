//! A place that is filled once and then read without a lock, as `OnceLock` without its waiting: whoever comes second is
//! told so at once. Filling costs one atomic exchange, reading one load. A value can be laid by: readers see none then, and
//! whoever fills the place next gets it to make the new one of.

use core::mem::MaybeUninit;

use crate::sync::{AtomicU8, Ordering, UnsafeCell};

const EMPTY: u8 = 0;
const FILLING: u8 = 1;
const FULL: u8 = 2;
const LAID_BY: u8 = 3;

/// The place.
pub struct SetOnce<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value moves with the place, and is dropped where the place is.
unsafe impl<T: Send> Send for SetOnce<T> {}
// SAFETY: the value is written, or what was laid by taken, by the one thread that won the exchange, before `FULL` is
// published; after that it is only read, by shared reference.
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

    /// Fills it with what `make` makes, of what was laid by if there is such a thing; `false` if it is full or somebody is
    /// filling it.
    ///
    /// # Errors
    /// Those of `make`; the place is empty then.
    #[inline]
    pub fn fill<E>(&self, make: impl FnOnce(Option<T>) -> Result<T, E>) -> Result<bool, E> {
        let before = self.state.load(Ordering::Relaxed);
        if before == FULL
            || before == FILLING
            || self.state.compare_exchange(before, FILLING, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return Ok(false);
        }
        // SAFETY: only the winner of the exchange gets here, and readers wait for `FULL`. What was laid by was written
        // and is taken once, for the place is not laid by any more.
        let laid_by = (before == LAID_BY).then(|| self.value.with_mut(|place| unsafe { (*place).assume_init_read() }));
        let made = make(laid_by).inspect_err(|_| self.state.store(EMPTY, Ordering::Release))?;
        // SAFETY: as above.
        self.value.with_mut(|place| unsafe { (*place).write(made) });
        self.state.store(FULL, Ordering::Release);
        Ok(true)
    }

    /// Lays what it holds by.
    #[inline]
    pub fn lay_by(&mut self) {
        if self.is_set() {
            self.state.store(LAID_BY, Ordering::Relaxed);
        }
    }

    /// Empties it; answers what it held, or what was laid by.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        if !matches!(self.state.load(Ordering::Acquire), FULL | LAID_BY) {
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

    /// Fills a place that should have nothing laid by.
    fn set<T>(place: &SetOnce<T>, value: T) -> bool {
        let fresh = |laid_by: Option<T>| if laid_by.is_none() { Ok(value) } else { Err("a value was laid by") };
        place.fill(fresh).unwrap()
    }

    #[test]
    fn the_first_value_stays_until_it_is_taken() {
        let mut place = SetOnce::new();
        assert_eq!((place.get(), place.is_set()), (None, false));
        assert!(set(&place, 1));
        assert_eq!((set(&place, 2), place.get()), (false, Some(&1)));
        assert_eq!((place.take(), place.take(), place.get()), (Some(1), None, None));
        assert!(set(&place, 3));
        assert_eq!(SetOnce::full(4).get(), Some(&4));
    }

    #[test]
    fn what_is_laid_by_is_seen_by_nobody_but_the_next_to_fill_the_place() {
        let mut place = SetOnce::full(1);
        place.lay_by();
        assert_eq!((place.get(), place.is_set()), (None, false));
        assert_eq!(place.fill(|laid_by| laid_by.map(|value| value + 1).ok_or("nothing was laid by")), Ok(true));
        assert_eq!(place.get(), Some(&2));
        place.lay_by();
        assert_eq!(place.take(), Some(2));
        place.lay_by();
        assert!(set(&place, 5));
    }

    #[test]
    fn a_place_that_could_not_be_filled_is_empty() {
        for mut place in [SetOnce::new(), SetOnce::full(1)] {
            place.lay_by();
            assert_eq!(place.fill(|_| Err("no value")), Err("no value"));
            assert_eq!((place.get(), set(&place, 2), place.get()), (None, true, Some(&2)));
        }
    }

    #[test]
    fn a_value_is_dropped_once() {
        let value = Rc::new(());
        let mut place = SetOnce::full(Rc::clone(&value));
        drop(place.take());
        assert_eq!(Rc::strong_count(&value), 1);
        assert!(set(&place, Rc::clone(&value)));
        place.lay_by();
        assert_eq!(Rc::strong_count(&value), 2);
        assert_eq!(place.fill(|laid_by| laid_by.ok_or(())), Ok(true));
        assert_eq!(Rc::strong_count(&value), 2);
        place.lay_by();
        drop(place);
        assert_eq!(Rc::strong_count(&value), 1);
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    /// One of two fillers wins, and a reader sees nothing or all of it; of an empty place and of one with a value laid by.
    #[test]
    fn a_place_is_filled_once_and_read_whole() {
        fill(|| SetOnce::new());
        fill(|| {
            let mut place = SetOnce::full([1, 2]);
            place.lay_by();
            place
        });
    }

    fn fill(place: impl Fn() -> SetOnce<[u64; 2]> + Sync + Send + 'static) {
        loom::model(move || {
            let place = Arc::new(place());
            let fillers = [1u64, 2].map(|number| {
                let place = Arc::clone(&place);
                loom::thread::spawn(move || place.fill(|_| Ok::<_, ()>([number, number])).unwrap())
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
