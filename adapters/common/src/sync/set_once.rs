//! A place that is filled once and then read without a lock, as `OnceLock` without its waiting: whoever comes second is
//! told so at once. Filling costs one atomic exchange, reading one load. A value can be laid by: readers see none then, and
//! whoever fills the place next finds it there and may use it again where it lies.

use crate::sync::{AtomicU8, Ordering, UnsafeCell};

const EMPTY: u8 = 0;
const FILLING: u8 = 1;
const FULL: u8 = 2;
const LAID_BY: u8 = 3;

/// The place.
pub struct SetOnce<T> {
    state: AtomicU8,
    /// There while the state is `FULL` or `LAID_BY`.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value moves with the place, and is dropped where the place is.
unsafe impl<T: Send> Send for SetOnce<T> {}
// SAFETY: the value is written, or what was laid by used again, by the one thread that won the exchange, before `FULL` is
// published; after that it is only read, by shared reference.
unsafe impl<T: Send + Sync> Sync for SetOnce<T> {}

impl<T> SetOnce<T> {
    /// An empty place.
    pub fn new() -> Self {
        Self { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }

    /// A full one.
    pub fn full(value: T) -> Self {
        Self { state: AtomicU8::new(FULL), value: UnsafeCell::new(Some(value)) }
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
        self.value.with(|value| unsafe { (*value).as_ref() })
    }

    /// Fills it; `false` if it is full or somebody is filling it. `fill` finds what was laid by, if there is such a thing, and
    /// leaves what the place is to hold.
    ///
    /// # Errors
    /// Those of `fill`; what it leaves is laid by then.
    #[inline(always)]
    pub fn fill<E>(&self, fill: impl FnOnce(&mut Option<T>) -> Result<(), E>) -> Result<bool, E> {
        let before = self.state.load(Ordering::Relaxed);
        if before == FULL
            || before == FILLING
            || self.state.compare_exchange(before, FILLING, Ordering::Acquire, Ordering::Relaxed).is_err()
        {
            return Ok(false);
        }
        let (filled, is_there) = self.value.with_mut(|place| {
            // SAFETY: only the winner of the exchange gets here, and readers wait for `FULL`.
            let place = unsafe { &mut *place };
            (fill(place), place.is_some())
        });
        let state = match (&filled, is_there) {
            (Ok(()), true) => FULL,
            (Err(_), true) => LAID_BY,
            (_, false) => EMPTY,
        };
        self.state.store(state, Ordering::Release);
        filled.map(|()| true)
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
        // SAFETY: it was full, so the value was written; it is borrowed mutably, so nobody reads it.
        self.value.with_mut(|value| unsafe { (*value).take() })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::rc::Rc;

    use super::*;

    /// Fills a place that should have nothing laid by.
    fn set<T>(place: &SetOnce<T>, value: T) -> bool {
        let fresh = |place: &mut Option<T>| {
            assert!(place.is_none(), "a value was laid by");
            *place = Some(value);
            Ok::<_, ()>(())
        };
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
        assert_eq!(place.fill(|place| place.as_mut().map(|value| *value += 1).ok_or("nothing was laid by")), Ok(true));
        assert_eq!(place.get(), Some(&2));
        place.lay_by();
        assert_eq!(place.take(), Some(2));
        place.lay_by();
        assert!(set(&place, 5));
    }

    #[test]
    fn a_place_that_could_not_be_filled_is_empty_for_readers() {
        for (mut place, there) in [(SetOnce::new(), None), (SetOnce::full(1), Some(1))] {
            place.lay_by();
            assert_eq!(place.fill(|_| Err("no value")), Err("no value"));
            assert_eq!((place.get(), place.is_set()), (None, false));
            let again = |place: &mut Option<i32>| {
                assert_eq!(place.replace(2), there);
                Ok::<_, ()>(())
            };
            assert_eq!((place.fill(again), place.get()), (Ok(true), Some(&2)));
        }
    }

    #[test]
    fn a_place_that_is_left_empty_is_not_full() {
        let mut place = SetOnce::full(1);
        place.lay_by();
        assert_eq!(place.fill(|place| place.take().map(drop).ok_or(())), Ok(true));
        assert_eq!((place.get(), place.is_set(), set(&place, 2)), (None, false, true));
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
        assert_eq!(place.fill(|place| place.as_ref().map(drop).ok_or(())), Ok(true));
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
                loom::thread::spawn(move || {
                    let pair = |place: &mut Option<_>| {
                        *place = Some([number, number]);
                        Ok::<_, ()>(())
                    };
                    place.fill(pair).unwrap()
                })
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
