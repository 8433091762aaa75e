//! The order of a queue out of order in a capture: what its next command comes after, and what comes last.
//!
//! All commands of such a queue are captured on its first stream, which is told before each of them what the next node comes
//! after: the queue's last barrier here, and the events of the command's wait list there. So edges are those that the
//! application asked for, and no others.
//!
//! Must not make native calls.

use std::collections::HashSet;
use std::hash::Hash;

/// The nodes that matter for what comes next.
pub struct CaptureOrder<N> {
    /// What every command comes after.
    barrier: Option<N>,
    /// What no other node of the queue comes after.
    last: HashSet<N>,
}

impl<N> Default for CaptureOrder<N> {
    fn default() -> Self {
        Self { barrier: None, last: HashSet::new() }
    }
}

impl<N: Copy + Eq + Hash> CaptureOrder<N> {
    /// What a command comes after whatever it waits for.
    pub fn barrier(&self) -> &[N] {
        self.barrier.as_slice()
    }

    /// What a command comes after that comes after everything.
    pub fn last(&self) -> Vec<N> {
        self.last.iter().copied().collect()
    }

    /// Notes a command that came after some nodes and ends with others, which may be the same.
    pub fn add(&mut self, after: &[N], ends: &[N]) {
        for node in after {
            self.last.remove(node);
        }
        self.last.extend(ends);
    }

    /// Notes that every later command comes after a node.
    pub fn set_barrier(&mut self, node: N) {
        self.barrier = Some(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(order: &CaptureOrder<char>) -> Vec<char> {
        let mut last = order.last();
        last.sort_unstable();
        last
    }

    #[test]
    fn what_comes_last_is_what_nothing_comes_after() {
        let mut order = CaptureOrder::default();
        assert_eq!((order.barrier(), last(&order)), (&[][..], vec![]));
        order.add(&[], &['a']);
        order.add(&[], &['b']);
        assert_eq!(last(&order), ['a', 'b']);
        order.add(&['a'], &['c']);
        assert_eq!(last(&order), ['b', 'c']);
        // A wait that adds no node of its own.
        order.add(&['b', 'x'], &['b', 'x']);
        assert_eq!(last(&order), ['b', 'c', 'x']);
        order.add(&['b', 'c', 'x'], &['j']);
        order.set_barrier('j');
        assert_eq!((order.barrier(), last(&order)), (&['j'][..], vec!['j']));
        order.add(&['j'], &['d']);
        order.add(&['j'], &['e']);
        assert_eq!((order.barrier(), last(&order)), (&['j'][..], vec!['d', 'e']));
    }
}
