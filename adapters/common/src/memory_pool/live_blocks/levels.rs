//! What the table of live blocks consists of: memory of zeros, and levels of pointers to the level below.
//!
//! The first block of a context makes a table of 240 KiB. Clearing it for every context, searching it for children at the end and freeing it
//! took a quarter of a short-lived context's time (H200). So a level lists the children that it has, and a table that ends is emptied and
//! serves the next context ([`Recycle`]); each level keeps one child then. Must never: leave an entry of one context in the table of
//! another, or touch places that have no child.

use core::marker::PhantomData;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::Mutex;

/// Types for which memory of zeros is a value.
///
/// # Safety
/// All bytes zero is a valid value, and the type has a size.
pub unsafe trait Zeroed {}

// SAFETY: null pointers.
unsafe impl<C, const COUNT: usize> Zeroed for [AtomicPtr<C>; COUNT] {}

/// A value of zeros, of which the system backs a page with memory when it is first touched.
pub fn zeroed_box<T: Zeroed>() -> Box<T> {
    const { assert!(core::mem::size_of::<T>() > 0) };
    let layout = Layout::new::<T>();
    // SAFETY: the layout has a size.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the global allocator gave the memory for this layout, and its zeros are a `T`.
    unsafe { Box::from_raw(memory.cast()) }
}

/// What another context can use after this one.
pub trait Recycle {
    /// Empties it. It may keep memory.
    fn recycle(&mut self);
}

/// A level of the table: pointers to the next, null until somebody needs one.
pub struct Level<C, const COUNT: usize> {
    /// As many as the level tells apart. Each is null or came from a `Box` that belongs to the level.
    children: Box<[AtomicPtr<C>; COUNT]>,
    /// The indexes of all children, each once. A thread that makes a child locks it.
    made: Mutex<Vec<usize>>,
    owned: PhantomData<C>,
}

impl<C, const COUNT: usize> Level<C, COUNT> {
    /// The child at a place. What is above the level's bits is not looked at.
    pub fn get(&self, index: usize) -> Option<&C> {
        // SAFETY: null, or a child that was made for this place and lives as long as the level.
        unsafe { self.children[index % COUNT].load(Ordering::Acquire).as_ref() }
    }

    /// Ends the child at a place.
    fn end(&mut self, index: usize) {
        let child = core::mem::take(self.children[index].get_mut());
        // SAFETY: `make` made it with `Box` for this place alone, the place has it no more, and nobody borrows a level that is borrowed
        // mutably.
        drop(unsafe { Box::from_raw(child) });
    }
}

impl<C: Default, const COUNT: usize> Level<C, COUNT> {
    /// The child at a place, made if there is none.
    pub fn get_or_make(&self, index: usize) -> &C {
        self.get(index).unwrap_or_else(|| self.make(index % COUNT))
    }

    #[cold]
    fn make(&self, index: usize) -> &C {
        let mut made = self.made.lock();
        if self.get(index).is_none() {
            made.push(index);
            self.children[index].store(Box::into_raw(Box::<C>::default()), Ordering::Release);
        }
        self.get(index).expect("a child was just made, here or by another thread")
    }
}

impl<C: Recycle, const COUNT: usize> Recycle for Level<C, COUNT> {
    /// Keeps the youngest child, because the next context's blocks probably lie there.
    fn recycle(&mut self) {
        let mut made = core::mem::take(self.made.get_mut());
        let Some(last) = made.pop() else { return };
        made.into_iter().for_each(|index| self.end(index));
        self.made.get_mut().push(last);
        // SAFETY: `make` made it for this place, and nobody borrows a level that is borrowed mutably.
        unsafe { &mut **self.children[last].get_mut() }.recycle();
    }
}

impl<C, const COUNT: usize> Default for Level<C, COUNT> {
    fn default() -> Self {
        Self { children: zeroed_box(), made: Mutex::default(), owned: PhantomData }
    }
}

impl<C, const COUNT: usize> Drop for Level<C, COUNT> {
    fn drop(&mut self) {
        core::mem::take(self.made.get_mut()).into_iter().for_each(|index| self.end(index));
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;
    use core::ptr;
    use std::sync::atomic::AtomicBool;

    use super::*;

    thread_local! {
        static ENDED: Cell<usize> = const { Cell::new(0) };
    }

    #[derive(Default)]
    struct Child {
        used: AtomicBool,
    }

    impl Recycle for Child {
        fn recycle(&mut self) {
            *self.used.get_mut() = false;
        }
    }

    impl Drop for Child {
        fn drop(&mut self) {
            ENDED.set(ENDED.get() + 1);
        }
    }

    #[test]
    fn a_recycled_level_keeps_its_youngest_child_emptied_and_every_child_ends_once() {
        let mut level = Level::<Child, 4>::default();
        for index in [3, 1, 2, 3] {
            level.get_or_make(index).used.store(true, Ordering::Relaxed);
        }
        let youngest = ptr::from_ref(level.get(2).unwrap());
        level.recycle();
        assert_eq!(ENDED.get(), 2);
        assert!(level.get(3).is_none() && level.get(1).is_none());
        let kept = level.get_or_make(2);
        assert!(ptr::eq(kept, youngest) && !kept.used.load(Ordering::Relaxed));
        assert!(!level.get_or_make(3).used.load(Ordering::Relaxed));
        drop(level);
        assert_eq!(ENDED.get(), 4);
    }
}
