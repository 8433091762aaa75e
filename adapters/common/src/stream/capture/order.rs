//! The order of a queue out of order in a capture: what its next command comes after, and what comes last.
//!
//! All commands of such a queue are captured on its first stream, which is told before each of them what the next node comes
//! after: the queue's last barrier here, and the events of the command's wait list there. So edges are those that the
//! application asked for, and no others.
//!
//! The function of a native command is inside of its command meanwhile: what the stream comes after is its work's, and every other
//! command puts that back.
//!
//! Must not make native calls.

use std::collections::HashSet;
use std::hash::Hash;
use std::thread::{self, ThreadId};

/// The nodes that matter for what comes next.
pub struct CaptureOrder<N> {
    /// What every command comes after.
    barrier: Option<N>,
    /// What no other node of the queue comes after.
    last: HashSet<N>,
    /// Threads inside of functions of native commands.
    inside: Vec<ThreadId>,
}

/// Which thread is inside of a native command's function.
#[derive(Debug, PartialEq, Eq)]
pub enum Inside {
    Nobody,
    /// This one, and no other.
    This,
    Another,
}

impl<N> Default for CaptureOrder<N> {
    fn default() -> Self {
        Self { barrier: None, last: HashSet::new(), inside: Vec::new() }
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

    /// Which thread is inside of a native command's function.
    pub fn inside(&self) -> Inside {
        let this = thread::current().id();
        match self.inside.first() {
            None => Inside::Nobody,
            Some(_) if self.inside.iter().all(|thread| *thread == this) => Inside::This,
            Some(_) => Inside::Another,
        }
    }

    /// Notes that this thread calls a native command's function.
    pub fn enter(&mut self) {
        self.inside.push(thread::current().id());
    }

    /// Notes that this thread's innermost function has returned.
    pub fn leave(&mut self) {
        let this = thread::current().id();
        if let Some(innermost) = self.inside.iter().rposition(|thread| *thread == this) {
            self.inside.remove(innermost);
        }
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
    fn a_function_is_its_own_thread_s_until_the_outermost_has_returned() {
        let mut order = CaptureOrder::<char>::default();
        assert_eq!(order.inside(), Inside::Nobody);
        order.enter();
        order.enter();
        thread::scope(|scope| {
            let other = || (order.inside(), order.leave(), order.inside());
            let seen = scope.spawn(other).join().expect("it looks");
            assert_eq!(seen, (Inside::Another, (), Inside::Another));
        });
        order.leave();
        assert_eq!(order.inside(), Inside::This);
        order.leave();
        assert_eq!(order.inside(), Inside::Nobody);
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
