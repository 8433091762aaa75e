//! A list of things that live as long as others hold them.
//!
//! Adding costs the same however many there are: those that are gone are looked for only when the list has grown to twice
//! what was left of it the last time.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

/// So many are kept before the first look.
const FEW: usize = 16;

#[derive(Debug)]
struct Entries<T: ?Sized> {
    list: Vec<Weak<T>>,
    look_at: usize,
}

/// The list.
#[derive(Debug)]
pub struct WeakList<T: ?Sized> {
    entries: Mutex<Entries<T>>,
}

impl<T: ?Sized> Default for WeakList<T> {
    fn default() -> Self {
        Self { entries: Mutex::new(Entries { list: Vec::new(), look_at: FEW }) }
    }
}

impl<T: ?Sized> WeakList<T> {
    /// Adds one.
    pub fn add(&self, one: &Arc<T>) {
        let mut entries = self.entries.lock();
        if entries.list.len() >= entries.look_at {
            entries.list.retain(|known| known.strong_count() > 0);
            entries.look_at = FEW.max(2 * entries.list.len());
        }
        entries.list.push(Arc::downgrade(one));
    }

    /// Those that live. They are the caller's to drop, with no lock held.
    #[must_use]
    pub fn living(&self) -> Vec<Arc<T>> {
        self.entries.lock().list.iter().filter_map(Weak::upgrade).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_gone_are_forgotten_and_those_that_live_are_not() {
        let list = WeakList::default();
        let kept: Vec<_> = (0..3).map(Arc::new).collect();
        kept.iter().for_each(|one| list.add(one));
        (3..1000).for_each(|number| list.add(&Arc::new(number)));
        assert_eq!(list.living(), kept);
        assert!(list.entries.lock().list.len() <= FEW, "dead entries stay");
        drop(kept);
        assert!(list.living().is_empty());
    }
}
