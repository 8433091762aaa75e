//! `pNext` chains: structures that follow a descriptor and are told apart by their `stype`.
//!
//! The thunks make a [`Chained`] of a descriptor whose contract C keeps, so functions of the engine walk the chain without
//! unsafe code. A walk looks at most at [`MOST_STRUCTURES`] structures, so a chain that leads back into itself ends in an
//! error. What an unknown structure means is the function's to decide. The first structure is trusted by the parameter's
//! place, since clients leave its `stype` 0; nothing here looks at that one's tag.

use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use ur_ffi::{Structure, ur_base_desc_t, ur_result_t, ur_structure_type_t};

use crate::object::error::{Error, Result};

/// More structures than any function knows.
pub const MOST_STRUCTURES: usize = 64;

/// A structure and the chain behind its `pNext`, all of them valid during `'a`.
pub struct Chained<'a, T> {
    structure: NonNull<T>,
    marker: PhantomData<&'a T>,
}

impl<T> Clone for Chained<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Chained<'_, T> {}

impl<T> Deref for Chained<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: valid during `'a` by `new`'s contract.
        unsafe { self.structure.as_ref() }
    }
}

impl<'a, T: Structure> Chained<'a, T> {
    /// The structure at an address, with its chain.
    ///
    /// # Safety
    /// The structure is valid and nobody changes it during `'a`; its `pNext` is null or leads to a structure of which the
    /// same is true.
    #[must_use]
    #[inline(always)]
    pub unsafe fn new(structure: NonNull<T>) -> Self {
        Self { structure, marker: PhantomData }
    }

    /// The structures behind this one. Messages name `parameter`.
    #[must_use]
    pub fn chain(self, parameter: &'static str) -> Chain<'a> {
        let this = Link { head: self.structure.cast(), marker: PhantomData };
        Chain { parameter, next: this.next(), left: MOST_STRUCTURES }
    }

    /// The first structure of type `S` behind this one; others are passed over.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a chain without an end.
    pub fn find<S: Structure>(self, parameter: &'static str) -> Result<Option<Chained<'a, S>>> {
        for link in self.chain(parameter) {
            if let Some(found) = link?.downcast() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// One structure of a chain, of a type that its tag tells.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    /// Valid during `'a`, and a structure of the API, each of which starts as this type does.
    head: NonNull<ur_base_desc_t>,
    marker: PhantomData<&'a ur_base_desc_t>,
}

impl<'a> Link<'a> {
    fn head(self) -> ur_base_desc_t {
        // SAFETY: the field's invariant.
        unsafe { self.head.read() }
    }

    fn next(self) -> Option<Self> {
        // `new`'s contract holds for each structure of the chain, so the next one is valid as well.
        NonNull::new(self.head().pNext.cast_mut()).map(|next| Self { head: next.cast(), marker: PhantomData })
    }

    /// The structure's tag.
    #[must_use]
    pub fn stype(self) -> ur_structure_type_t {
        self.head().stype
    }

    /// The structure, if it is an `S`.
    #[must_use]
    pub fn downcast<S: Structure>(self) -> Option<Chained<'a, S>> {
        (self.stype() == S::STYPE).then(|| Chained { structure: self.head.cast(), marker: PhantomData })
    }
}

/// The structures of a chain in their order, until its end or an error.
pub struct Chain<'a> {
    parameter: &'static str,
    next: Option<Link<'a>>,
    left: usize,
}

impl<'a> Iterator for Chain<'a> {
    /// `INVALID_VALUE` for a chain of more than [`MOST_STRUCTURES`].
    type Item = Result<Link<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let link = self.next.take()?;
        let Some(left) = self.left.checked_sub(1) else { return Some(Err(endless(self.parameter))) };
        self.left = left;
        self.next = link.next();
        Some(Ok(link))
    }
}

#[cold]
fn endless(parameter: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_VALUE,
        format!("{parameter}: more than {MOST_STRUCTURES} structures in the pNext chain; end it with a null pNext"),
    )
}

#[cfg(test)]
mod tests {
    use core::ptr::{from_mut, from_ref, null};

    use ur_ffi::{ur_usm_desc_t, ur_usm_device_desc_t, ur_usm_host_desc_t, ur_usm_pool_limits_desc_t};

    use super::*;

    fn chained<T: Structure>(structure: &T) -> Chained<'_, T> {
        // SAFETY: each test chains structures of its own, which outlive what is made here.
        unsafe { Chained::new(NonNull::from(structure)) }
    }

    fn tags<T: Structure>(structure: &T) -> Vec<ur_structure_type_t> {
        chained(structure).chain("test: pDesc").map(|link| link.unwrap().stype()).collect()
    }

    #[test]
    fn a_null_pnext_is_an_empty_chain() {
        let desc = ur_usm_desc_t::default();
        assert!(tags(&desc).is_empty());
        assert!(chained(&desc).find::<ur_usm_host_desc_t>("test: pDesc").unwrap().is_none());
    }

    #[test]
    fn structures_are_told_apart_by_their_tags_and_unknown_ones_are_seen() {
        let limits = ur_usm_pool_limits_desc_t { maxPoolableSize: 7, ..Default::default() };
        let unknown = ur_base_desc_t { stype: ur_structure_type_t(0x7fff_0000), pNext: from_ref(&limits).cast() };
        let host = ur_usm_host_desc_t { pNext: from_ref(&unknown).cast(), ..Default::default() };
        // The first one's tag is not looked at.
        let desc = ur_usm_desc_t { stype: ur_structure_type_t(0), pNext: from_ref(&host).cast(), ..Default::default() };
        assert_eq!(
            tags(&desc),
            [
                ur_structure_type_t::USM_HOST_DESC,
                ur_structure_type_t(0x7fff_0000),
                ur_structure_type_t::USM_POOL_LIMITS_DESC
            ]
        );
        let found = chained(&desc).find::<ur_usm_pool_limits_desc_t>("test: pDesc").unwrap().unwrap();
        assert_eq!(found.maxPoolableSize, 7);
        assert!(chained(&desc).find::<ur_usm_device_desc_t>("test: pDesc").unwrap().is_none());
    }

    #[test]
    fn a_found_structure_leads_on_to_those_behind_it() {
        let host = ur_usm_host_desc_t::default();
        let device = ur_usm_device_desc_t { pNext: from_ref(&host).cast(), ..Default::default() };
        let desc = ur_usm_desc_t { pNext: from_ref(&device).cast(), ..Default::default() };
        let found = chained(&desc).find::<ur_usm_device_desc_t>("test: pDesc").unwrap().unwrap();
        assert_eq!(found.chain("test: pDesc").count(), 1);
    }

    #[test]
    fn the_longest_chain_is_walked_and_one_structure_more_is_an_error() {
        let mut list = vec![ur_usm_host_desc_t::default(); MOST_STRUCTURES + 1];
        let start = list.as_mut_ptr();
        for index in 0..MOST_STRUCTURES {
            // SAFETY: inside of the list.
            unsafe { (*start.add(index)).pNext = start.add(index + 1).cast() };
        }
        let longer = ur_usm_desc_t { pNext: start.cast(), ..Default::default() };
        // SAFETY: as above.
        let longest = ur_usm_desc_t { pNext: unsafe { start.add(1) }.cast(), ..Default::default() };
        assert_eq!(tags(&longest).len(), MOST_STRUCTURES);
        let error = chained(&longer).chain("test: pDesc").last().unwrap().map(|link| link.stype()).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_VALUE);
        drop(list);
    }

    #[test]
    fn a_ring_is_an_error() {
        let mut first = ur_usm_host_desc_t::default();
        let mut second = ur_usm_host_desc_t { pNext: null(), ..Default::default() };
        let (one, other) = (from_mut(&mut first), from_mut(&mut second));
        // SAFETY: both are alive.
        unsafe {
            (*one).pNext = other.cast();
            (*other).pNext = one.cast();
        }
        let desc = ur_usm_desc_t { pNext: one.cast(), ..Default::default() };
        let error = chained(&desc).find::<ur_usm_device_desc_t>("test: pDesc").map(|_| ()).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_VALUE);
        // The message is told once, then the walk is over.
        assert_eq!(chained(&desc).chain("test: pDesc").filter(Result::is_err).count(), 1);
    }
}
