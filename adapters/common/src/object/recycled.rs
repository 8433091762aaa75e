//! Objects that the engine keeps to use them again.
//!
//! An object that comes and goes with every command must not cost atomic operations for it: right behind a native call
//! each is dear. A [`Recycled`] object never leaves the engine's hands. A bit beside the application's references says so,
//! and with it the `Arc` count of the application's references stays with the object also while there are none: giving the
//! object out and taking it back moves one number, which decides by itself who ends what. Must never be used for kinds
//! that want to hear of their last release, and never be changed while anybody else can see the object.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::object::{Body, KEPT, Object};

/// The engine's hold on an object that it means to use again. Dropping it leaves the object to the application's
/// references, or ends it if there are none.
pub struct Recycled<T: Body>(Arc<Object<T>>);

impl<T: Body> Recycled<T> {
    /// A new object without references.
    pub fn new(body: T) -> Self {
        let object = Object::with_references(body, KEPT);
        // The count of the application's references together, those to come.
        let _ = Arc::into_raw(Arc::clone(&object));
        Self(object)
    }

    /// Gives the application one more reference and the handle that goes with it.
    pub fn retain_handle(&self) -> *mut T::Opaque {
        Object::retain_handle(&self.0)
    }

    /// Another reference of the engine's own.
    pub fn to_arc(&self) -> Arc<Object<T>> {
        Arc::clone(&self.0)
    }

    /// Whether nobody else holds the object: no reference, and of the `Arc` the two counts that belong to `self`.
    #[inline]
    pub fn is_unused(&self) -> bool {
        self.0.references.load(Ordering::Acquire) == KEPT && Arc::strong_count(&self.0) == 2
    }

    /// The body for changing, if nobody else holds the object.
    #[inline]
    pub fn unused(&mut self) -> Option<&mut T> {
        if !self.is_unused() {
            return None;
        }
        // What others did with the object before they let go of it comes before what is done now.
        fence(Ordering::Acquire);
        // SAFETY: of the `Arc`'s two counts both belong to `self` while there are no references, no kind that is kept
        // has weak ones, and `self` is borrowed mutably: nobody else can reach the object.
        Some(unsafe { &mut (*Arc::as_ptr(&self.0).cast_mut()).body })
    }

    /// The first reference to an object that [`Recycled::unused`] has just shown to be nobody's.
    #[inline]
    pub fn reuse_event(&mut self) -> *mut T::Opaque {
        debug_assert!(self.is_unused(), "somebody holds what is given out anew");
        self.0.references.store(KEPT | 1, Ordering::Relaxed);
        self.0.handle()
    }
}

impl<T: Body> std::ops::Deref for Recycled<T> {
    type Target = Object<T>;

    #[inline]
    fn deref(&self) -> &Object<T> {
        &self.0
    }
}

impl<T: Body> Drop for Recycled<T> {
    fn drop(&mut self) {
        if self.0.references.fetch_and(!KEPT, Ordering::AcqRel) == KEPT {
            // SAFETY: no reference is left, and the one count of them all was this object's while it was kept.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(&self.0)) };
        }
    }
}

/// Objects that are used again in turn, in a ring, so that none of them moves.
pub struct Ring<T: Body> {
    ring: Vec<Recycled<T>>,
    /// Where the oldest one is; the youngest is before it.
    oldest: usize,
}

impl<T: Body> Default for Ring<T> {
    fn default() -> Self {
        Self { ring: Vec::new(), oldest: 0 }
    }
}

impl<T: Body> Ring<T> {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The one that was passed the longest time ago.
    #[inline]
    pub fn oldest(&mut self) -> Option<&mut Recycled<T>> {
        self.ring.get_mut(self.oldest)
    }

    /// Makes the oldest one the youngest.
    #[inline]
    pub fn pass_oldest(&mut self) {
        self.oldest += 1;
        if self.oldest >= self.ring.len() {
            self.oldest = 0;
        }
    }

    /// Adds the youngest; if there are `most` the oldest one goes.
    pub fn add(&mut self, object: Recycled<T>, most: usize) {
        if self.ring.len() < most {
            self.ring.insert(self.oldest, object);
        } else {
            self.ring[self.oldest] = object;
        }
        self.pass_oldest();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Thing;
    use super::super::{release_by_handle, retain_by_handle};
    use super::*;

    fn counts(object: &Arc<Object<Thing>>) -> (u32, usize) {
        (object.references(), Arc::strong_count(object))
    }

    #[test]
    fn an_object_that_was_released_is_given_out_again_and_is_the_same() {
        let mut kept = Recycled::new(Thing);
        let handle = kept.retain_handle();
        for _ in 0..3 {
            assert!(!kept.is_unused() && kept.unused().is_none());
            // SAFETY: `kept` keeps what the handle names alive.
            unsafe { retain_by_handle::<Thing>(handle).and_then(|()| release_by_handle::<Thing>(handle)) }.unwrap();
            assert!(!kept.is_unused());
            // SAFETY: as above.
            unsafe { release_by_handle::<Thing>(handle) }.unwrap();
            assert!(kept.is_unused() && kept.unused().is_some());
            assert_eq!(kept.reuse_event(), handle);
        }
        assert_eq!(counts(&kept.0), (1, 2));
    }

    #[test]
    fn what_the_engine_holds_elsewhere_is_in_use() {
        let mut kept = Recycled::new(Thing);
        let elsewhere = kept.to_arc();
        assert!(!kept.is_unused() && kept.unused().is_none());
        drop(elsewhere);
        assert!(kept.is_unused());
    }

    #[test]
    fn an_object_that_is_kept_no_more_lives_as_long_as_its_last_reference() {
        let kept = Recycled::new(Thing);
        let (handle, watch) = (kept.retain_handle(), kept.to_arc());
        drop(kept);
        assert_eq!(counts(&watch), (1, 2));
        // SAFETY: `watch` keeps what the handle names alive.
        unsafe { release_by_handle::<Thing>(handle) }.unwrap();
        assert_eq!(counts(&watch), (0, 1));
    }

    #[test]
    fn an_unused_object_ends_when_it_is_kept_no_more() {
        let kept = Recycled::new(Thing);
        let (handle, watch) = (kept.retain_handle(), kept.to_arc());
        // SAFETY: `watch` keeps what the handle names alive.
        unsafe { release_by_handle::<Thing>(handle) }.unwrap();
        drop(kept);
        assert_eq!(counts(&watch), (0, 1));
    }

    #[test]
    fn a_release_too_many_is_refused_and_changes_nothing() {
        let kept = Recycled::new(Thing);
        // SAFETY: `kept` keeps what the handle names alive.
        unsafe { release_by_handle::<Thing>(kept.handle()) }.unwrap_err();
        assert!(kept.is_unused());
    }

    /// One thread gives up the last reference, and another the keeping, in no order.
    #[test]
    fn of_the_last_reference_and_the_keeping_the_later_one_ends_the_object() {
        for _ in 0..200 {
            let kept = Recycled::new(Thing);
            let (handle, watch) = (kept.retain_handle().addr(), kept.to_arc());
            let start = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    start.wait();
                    drop(kept);
                });
                start.wait();
                // SAFETY: `watch` keeps what the handle names alive.
                unsafe { release_by_handle::<Thing>(core::ptr::with_exposed_provenance_mut(handle)) }.unwrap();
            });
            assert_eq!(counts(&watch), (0, 1));
        }
    }

    #[test]
    fn a_ring_gives_its_objects_in_turn_and_lets_the_oldest_go_when_it_is_full() {
        let mut ring = Ring::<Thing>::default();
        ring.pass_oldest();
        assert!(ring.is_empty() && ring.oldest().is_none());
        let things = [(); 4].map(|()| Recycled::new(Thing));
        let names = things.each_ref().map(|thing| Arc::as_ptr(&thing.0));
        let given = |ring: &mut Ring<Thing>| {
            let oldest = ring.oldest().map(|thing| Arc::as_ptr(&thing.0));
            ring.pass_oldest();
            oldest
        };
        let mut things = things.into_iter();
        things.by_ref().take(2).for_each(|thing| ring.add(thing, 3));
        assert_eq!([0; 3].map(|_| given(&mut ring)), [0, 1, 0].map(|at: usize| Some(names[at])));
        // Behind the one that was given last.
        things.by_ref().take(1).for_each(|thing| ring.add(thing, 3));
        assert_eq!([0; 4].map(|_| given(&mut ring)), [1, 0, 2, 1].map(|at: usize| Some(names[at])));
        things.for_each(|thing| ring.add(thing, 3));
        assert_eq!([0; 4].map(|_| given(&mut ring)), [2, 1, 3, 2].map(|at: usize| Some(names[at])));
    }
}
