//! What threads write now and then, kept off the cache lines of what others read with every call.
//!
//! A line that one thread writes is taken from all others, which fetch it anew for whatever else lies there. Where a structure
//! is read by every allocation and a few of its fields are written once in many, those fields are padded.

use core::ops::{Deref, DerefMut};

/// A value that shares no cache line with its neighbours, nor the line that processors fetch together with its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// The value on lines of its own.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Whether two sets of fields, by their offsets in a structure that is as aligned as a [`CachePadded`], have no line in common.
#[cfg(all(test, not(loom)))]
pub(crate) fn are_apart(read: &[usize], written: &[usize]) -> bool {
    let pair = |offset: &usize| offset / 128;
    read.iter().all(|one| written.iter().all(|other| pair(one) != pair(other)))
}
