//! A mutex that threads wait for by looking at it a while, and then asleep.
//!
//! A stream's lock is mostly held over one native call of a few microseconds. A thread that sleeps meanwhile makes the holder
//! wake it with a system call, and gets the lock late by as long as waking takes; a thread that looks costs a core. So threads
//! look only while the machine has a core for each of them beside the holder's, and no longer than [`LOOK`]; all others
//! sleep. The mutex below hands itself over to a sleeper every half a millisecond, so that looking threads cannot keep it.

use crate::sync::{Mutex, MutexGuard};

/// The mutex.
pub struct Gate {
    mutex: Mutex<()>,
    #[cfg(not(loom))]
    looking: looking::Looking,
}

impl Gate {
    /// An open gate.
    pub fn new() -> Self {
        Self {
            mutex: Mutex::new(()),
            #[cfg(not(loom))]
            looking: looking::Looking::default(),
        }
    }

    /// Takes it if nobody has it, without waiting.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, ()>> {
        self.mutex.try_lock()
    }

    /// Waits for it.
    pub fn lock(&self) -> MutexGuard<'_, ()> {
        if let Some(taken) = self.try_lock() {
            return taken;
        }
        #[cfg(not(loom))]
        if let Some(taken) = self.looking.look(looking::LOOK, || self.try_lock()) {
            return taken;
        }
        self.mutex.lock()
    }
}

#[cfg(not(loom))]
mod looking {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// So long a thread looks: the time of a dozen launches.
    pub const LOOK: Duration = Duration::from_micros(50);
    /// Pauses of the processor before a look, together about a microsecond. A look takes the mutex's line from its holder; and who
    /// looks rarely leaves the mutex to the thread that has just given it back and comes with the next launch, whose core has all
    /// that the native call needs (`urbench`'s row "4 threads launch on one queue").
    const PAUSES: usize = 24;
    /// Looks between two questions for the time.
    const LOOKS: usize = 4;

    /// Threads that look.
    #[derive(Default)]
    pub struct Looking {
        count: AtomicUsize,
    }

    impl Looking {
        /// Tries until there is an answer; `None` when that takes too long, or there are as many lookers as may be.
        pub fn look<T>(&self, limit: Duration, attempt: impl FnMut() -> Option<T>) -> Option<T> {
            let others = self.count.fetch_add(1, Ordering::Relaxed);
            let found = if others < most() { look_until_late(limit, attempt) } else { None };
            self.count.fetch_sub(1, Ordering::Relaxed);
            found
        }
    }

    /// Threads that may look at once: the holder needs a core too.
    fn most() -> usize {
        static CORES: OnceLock<usize> = OnceLock::new();
        *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from)) - 1
    }

    fn look_until_late<T>(limit: Duration, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
        let start = Instant::now();
        loop {
            for _ in 0..LOOKS {
                for _ in 0..PAUSES {
                    std::hint::spin_loop();
                }
                if let Some(found) = attempt() {
                    return Some(found);
                }
            }
            if start.elapsed() >= limit {
                return None;
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_thread_looks_until_there_is_an_answer() {
            let looking = Looking::default();
            let mut left = 1000;
            let attempt = || {
                left -= 1;
                (left == 0).then_some("there")
            };
            let expected = (most() > 0).then_some("there");
            assert_eq!(looking.look(Duration::from_secs(600), attempt), expected);
            assert_eq!(looking.count.load(Ordering::Relaxed), 0);
        }

        #[test]
        fn a_thread_looks_no_longer_than_it_may() {
            let (looking, mut tries) = (Looking::default(), 0);
            let attempt = || {
                tries += 1;
                None::<()>
            };
            assert_eq!(looking.look(Duration::ZERO, attempt), None);
            assert!(tries <= LOOKS, "{tries}");
        }

        #[test]
        fn a_thread_for_which_there_is_no_core_does_not_look() {
            let looking = Looking { count: AtomicUsize::new(most()) };
            assert_eq!(looking.look(Duration::from_secs(600), || -> Option<()> { panic!("it looks") }), None);
            assert_eq!(looking.count.load(Ordering::Relaxed), most());
        }
    }
}
