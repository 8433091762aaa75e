//! Plain allocations whose start the application wants aligned to more than the native library promises.
//!
//! Such an allocation is native memory with room to spare, and its start is moved up into it. The library knows nothing of
//! the moved start, so this is the one registry of plain memory that a context keeps; one that has no such allocations pays
//! one load of a number for it. It makes no native call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Alignment that every native allocation has, bytes.
pub const NATIVE_ALIGNMENT: usize = 256;

/// An allocation under its moved start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where the native allocation starts.
    pub native: usize,
    /// Bytes that were asked for.
    pub size: usize,
}

/// The allocations of a context with a moved start.
#[derive(Debug, Default)]
pub struct OverAligned {
    /// How many there are, so that whoever has none takes no lock.
    count: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    /// By the moved start.
    moved: HashMap<usize, Moved>,
    /// Moved starts by the native one.
    starts: HashMap<usize, usize>,
}

impl List {
    fn insert(&mut self, start: usize, one: Moved) {
        self.moved.insert(start, one);
        self.starts.insert(one.native, start);
    }
}

/// Bytes to allocate so that `size` bytes fit behind a start of that alignment; `None` beyond the address space.
#[must_use]
pub fn with_room(size: usize, align: usize) -> Option<usize> {
    size.checked_add(align.saturating_sub(NATIVE_ALIGNMENT))
}

impl OverAligned {
    /// Moves the start of a new native allocation of [`with_room`] bytes, and notes it.
    #[must_use]
    pub fn place(&self, native: usize, size: usize, align: usize) -> usize {
        let start = native.next_multiple_of(align);
        self.put_back(start, Moved { native, size });
        start
    }

    /// Takes the allocation that starts there off the list.
    #[must_use]
    pub fn take(&self, start: usize) -> Option<Moved> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        let taken = list.moved.remove(&start)?;
        list.starts.remove(&taken.native);
        self.count.store(list.moved.len(), Ordering::Release);
        Some(taken)
    }

    /// Puts one back that could not be freed.
    pub fn put_back(&self, start: usize, taken: Moved) {
        let mut list = self.list.lock();
        list.insert(start, taken);
        self.count.store(list.moved.len(), Ordering::Release);
    }

    /// Start and size of what lies in the native allocation that starts there.
    #[must_use]
    pub fn within(&self, native: usize) -> Option<(usize, usize)> {
        if self.is_empty() {
            return None;
        }
        let list = self.list.lock();
        let start = *list.starts.get(&native)?;
        Some((start, list.moved.get(&start)?.size))
    }

    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_start_is_aligned_and_leaves_room_for_all_bytes() {
        let list = OverAligned::default();
        for align in [512, 4096, 1 << 21] {
            for native in [0x1000_0100_usize, 0x2000_0000, 0x3000_0300] {
                let start = list.place(native, 1000, align);
                assert!(start.is_multiple_of(align) && start >= native);
                assert!(start + 1000 <= native + with_room(1000, align).unwrap(), "{native:#x} {align}");
                assert_eq!(list.within(native), Some((start, 1000)));
                assert_eq!(list.take(start), Some(Moved { native, size: 1000 }));
                assert_eq!((list.take(start), list.within(native)), (None, None));
            }
        }
        assert_eq!(with_room(usize::MAX - 10, 512), None);
        assert_eq!(with_room(77, 8), Some(77));
    }

    #[test]
    fn what_is_put_back_is_found_again() {
        let list = OverAligned::default();
        let start = list.place(0x100, 7, 1024);
        let taken = list.take(start).unwrap();
        list.put_back(start, taken);
        assert_eq!(list.take(start), Some(taken));
    }
}
