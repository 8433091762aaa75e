//! Native allocations of the process that are heaps' or slabs of pools, by address.
//!
//! The native library knows a slab as one allocation, and a block of another context is in no table of the caller's. So whoever
//! has an address that its own context's table does not start a block at asks here before it asks the native library. A
//! heap whose context is gone lives on here until its last block is freed. A leaf lock; written where native memory comes and goes.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::RwLock;

/// A heap of whatever backend.
type AnyHeap = dyn Any + Send + Sync;

/// Who keeps the heap.
enum Holder {
    /// Its context does.
    Context(Weak<AnyHeap>),
    /// The allocation alone.
    Allocation(Arc<AnyHeap>),
}

struct Owned {
    bytes: usize,
    holder: Holder,
}

static OWNED: RwLock<BTreeMap<usize, Owned>> = RwLock::new(BTreeMap::new());
/// How many there are, so that whoever has none takes no lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Notes a native allocation of a heap.
pub fn add<H: Any + Send + Sync>(base: usize, bytes: usize, heap: &Weak<H>) {
    let holder = Holder::Context(heap.clone() as Weak<AnyHeap>);
    let mut owned = OWNED.write();
    owned.insert(base, Owned { bytes, holder });
    COUNT.store(owned.len(), Ordering::Release);
}

/// Forgets one, before it goes back to the native library. The heap may end with what comes back.
#[must_use]
pub fn remove(base: usize) -> impl Sized {
    let mut owned = OWNED.write();
    let removed = owned.remove(&base);
    COUNT.store(owned.len(), Ordering::Release);
    removed.map(|owned| owned.holder)
}

/// Forgets allocations that overlap memory which the native library has just given out: it had them back without a word, as it has
/// all memory of a lost device, and of a native context that nobody retains any more. Their heaps may end here.
pub fn forget(address: usize, bytes: usize) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let end = address.saturating_add(bytes.max(1));
    let overlapping = |owned: &BTreeMap<usize, Owned>| {
        let last = owned.range(..end).next_back();
        last.filter(|(base, found)| *base + found.bytes > address).map(|(base, _)| *base)
    };
    if overlapping(&OWNED.read()).is_none() {
        return;
    }
    let mut forgotten = Vec::new();
    {
        let mut owned = OWNED.write();
        while let Some(base) = overlapping(&owned) {
            forgotten.extend(owned.remove(&base));
        }
        COUNT.store(owned.len(), Ordering::Release);
    }
    // Not under the lock: what a heap's end gives back is asked for here.
    drop(forgotten);
}

/// Lets the allocation at `base` keep its heap, whose context is gone. Another heap's, which has the address since, is left alone.
pub fn keep_heap<H: Any + Send + Sync>(base: usize, heap: &Arc<H>) {
    let is_own = |holder: &Holder| match holder {
        Holder::Context(known) => core::ptr::addr_eq(known.as_ptr(), Arc::as_ptr(heap)),
        Holder::Allocation(_) => false,
    };
    if let Some(owned) = OWNED.write().get_mut(&base).filter(|owned| is_own(&owned.holder)) {
        owned.holder = Holder::Allocation(Arc::clone(heap) as Arc<AnyHeap>);
    }
}

/// Whether an address lies in a native allocation of the engine's own, a heap's or a pool's slab: what of it is no live block
/// is nobody's.
#[must_use]
pub fn contains(address: usize) -> bool {
    if COUNT.load(Ordering::Acquire) == 0 {
        return false;
    }
    let owned = OWNED.read();
    owned.range(..=address).next_back().is_some_and(|(base, found)| address - base < found.bytes)
}

/// The heap whose native allocation an address lies in.
#[must_use]
pub fn heap_around<H: Any + Send + Sync>(address: usize) -> Option<Arc<H>> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    let heap = {
        let owned = OWNED.read();
        let (base, found) = owned.range(..=address).next_back()?;
        if address - base >= found.bytes {
            return None;
        }
        match &found.holder {
            Holder::Context(heap) => heap.upgrade(),
            Holder::Allocation(heap) => Some(Arc::clone(heap)),
        }
    };
    heap?.downcast().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_names_its_heap_by_every_address_and_keeps_it_when_told() {
        const BASE: usize = 0x7777_0000_0000;
        let heap = Arc::new(17_u32);
        add(BASE, 100, &Arc::downgrade(&heap));
        let number = |at| heap_around::<u32>(at).map(|heap| *heap);
        assert_eq!([BASE - 1, BASE, BASE + 99, BASE + 100].map(number), [None, Some(17), Some(17), None]);
        assert!(heap_around::<u64>(BASE).is_none());
        assert_eq!([BASE - 1, BASE, BASE + 99, BASE + 100].map(contains), [false, true, true, false]);
        keep_heap(BASE, &heap);
        drop(heap);
        assert_eq!(number(BASE), Some(17));
        drop(remove(BASE));
        assert_eq!(number(BASE), None);
    }

    /// A native context ends with all its memory; its addresses come again.
    #[test]
    fn an_allocation_ends_where_the_native_library_gives_its_bytes_out_anew() {
        const BASE: usize = 0x7777_3000_0000;
        let heap = Arc::new(17_u32);
        for base in [BASE, BASE + 100, BASE + 200, BASE + 300] {
            add(base, 100, &Arc::downgrade(&heap));
            keep_heap(base, &heap);
        }
        let known = || [BASE, BASE + 100, BASE + 200, BASE + 300].map(contains);
        forget(BASE - 100, 100);
        forget(BASE + 400, 100);
        assert_eq!(known(), [true; 4]);
        forget(BASE + 199, 2);
        assert_eq!((known(), Arc::strong_count(&heap)), ([true, false, false, true], 3));
        forget(BASE - 1, 1000);
        assert_eq!((known(), Arc::strong_count(&heap)), ([false; 4], 1));
    }

    /// Between the end of a context and the word for its allocation that went back, another heap may have the address.
    #[test]
    fn an_allocation_keeps_no_other_heap_than_its_own() {
        const BASE: usize = 0x7777_1000_0000;
        let (gone, own) = (Arc::new(17_u32), Arc::new(18_u32));
        add(BASE, 100, &Arc::downgrade(&own));
        keep_heap(BASE, &gone);
        assert_eq!(heap_around::<u32>(BASE).map(|heap| *heap), Some(18));
        drop(remove(BASE));
    }
}
