//! The mapped memory of other APIs that a context has, by address.
//!
//! Such memory is freed by a function of its own, once, before the import that it shows ([`crate::ipc::external_memory`]), so
//! the context knows each mapping. A context that has none pays one load of a number for it. It makes no native call.

use core::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// One mapping.
pub struct Mapping<D> {
    /// Bytes.
    pub size: usize,
    /// The device that has it.
    pub device: D,
    /// The import that it shows, which lives as long.
    pub import: Arc<dyn Any + Send + Sync>,
}

/// The mappings of a context, by their starts. `D` names devices.
pub struct ExternalMappings<D> {
    /// How many there are, so that whoever has none takes no lock.
    count: AtomicUsize,
    /// A leaf lock.
    list: Mutex<BTreeMap<usize, Mapping<D>>>,
}

impl<D> Default for ExternalMappings<D> {
    fn default() -> Self {
        Self { count: AtomicUsize::new(0), list: Mutex::default() }
    }
}

impl<D: Copy> ExternalMappings<D> {
    /// Notes a mapping.
    pub fn insert(&self, start: usize, mapping: Mapping<D>) {
        let mut list = self.list.lock();
        list.insert(start, mapping);
        self.count.store(list.len(), Ordering::Release);
    }

    /// Takes the mapping that starts there off the list.
    #[must_use]
    pub fn take(&self, start: usize) -> Option<Mapping<D>> {
        let mut list = self.list.lock();
        let taken = list.remove(&start);
        self.count.store(list.len(), Ordering::Release);
        taken
    }

    /// Start, size and device of the mapping that an address lies in.
    #[inline]
    #[must_use]
    pub fn around(&self, address: usize) -> Option<(usize, usize, D)> {
        if self.count.load(Ordering::Acquire) == 0 { None } else { self.look_around(address) }
    }

    #[cold]
    fn look_around(&self, address: usize) -> Option<(usize, usize, D)> {
        let list = self.list.lock();
        let (start, mapping) = list.range(..=address).next_back()?;
        (address - start < mapping.size).then_some((*start, mapping.size, mapping.device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(size: usize) -> Mapping<u8> {
        Mapping { size, device: 3, import: Arc::new(()) }
    }

    #[test]
    fn a_mapping_is_found_by_each_of_its_addresses_and_taken_by_its_start_once() {
        let mappings = ExternalMappings::default();
        assert_eq!(mappings.around(0x1000), None);
        mappings.insert(0x1000, mapping(0x100));
        mappings.insert(0x3000, mapping(1));
        assert_eq!(mappings.around(0x1000), Some((0x1000, 0x100, 3)));
        assert_eq!(mappings.around(0x10ff), Some((0x1000, 0x100, 3)));
        assert_eq!((mappings.around(0xfff), mappings.around(0x1100)), (None, None));
        assert!(mappings.take(0x1001).is_none());
        assert_eq!(mappings.take(0x1000).map(|taken| taken.size), Some(0x100));
        assert!(mappings.take(0x1000).is_none());
        assert_eq!((mappings.around(0x1000), mappings.around(0x3000)), (None, Some((0x3000, 1, 3))));
    }
}
