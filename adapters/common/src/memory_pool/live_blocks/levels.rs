//! What the table of live blocks is made of: memory of zeros, and levels of pointers to what lies below.
//!
//! A context's table is 240 KiB before its second block, and clearing so much anew, looking through it at the end and giving it back to the
//! system takes a quarter as long as a context that comes and goes may. So a level knows which places have a child, and a table that ends
//! becomes an empty one for the next context ([`Recycle`]), of which the levels keep one child each. Must never: leave anything of a context
//! in what another one gets, or touch the places that nobody used.

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

/// What can serve again.
pub trait Recycle {
    /// Makes it as it was at first, but for memory that it may keep.
    fn recycle(&mut self);
}

/// A level of the table: pointers to the next, null until somebody needs one.
pub struct Level<C, const COUNT: usize> {
    /// As many as the level tells apart. Each is null or came from a `Box` that belongs to the level.
    children: Box<[AtomicPtr<C>; COUNT]>,
    /// The places that have one, each once. Locked by whoever makes one.
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
    /// Keeps the child that was made last: the next context's blocks probably lie there.
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
