//! What a queue knows of its deferred commands: how many there are, which of them the next one comes after, and why one was
//! not submitted.
//!
//! A command begins before anybody can come after it and ends before whoever waits for it hears of it. So a thread that finds
//! no deferred commands finds all that they did, and one that finds some comes after them. Nothing is dropped or called while
//! the lock is held, but what the caller notes with a change.

use core::mem::take;

use smallvec::SmallVec;

use crate::sync::{AtomicBool, Mutex, Ordering};

/// Promises of commands that another one comes after.
pub type Before<P> = SmallVec<[P; 1]>;

/// So many are not worth looking through.
const FEW: usize = 16;

/// The deferred commands of one queue, by their promises.
pub struct DeferredCommands<P, E> {
    are_there: AtomicBool,
    state: Mutex<State<P, E>>,
}

struct State<P, E> {
    /// Deferred commands.
    open: usize,
    /// What comes before a command that comes after everything: the last one in order, else all since the last that came after
    /// everything.
    last: Before<P>,
    /// How many there may be before those that are through are left out.
    most: usize,
    /// Why a deferred command was not submitted, until somebody has told it.
    failure: Option<E>,
}

impl<P, E> State<P, E> {
    fn is_clear(&self) -> bool {
        self.open == 0 && self.failure.is_none()
    }
}

impl<P: Clone, E> DeferredCommands<P, E> {
    /// None yet.
    pub fn new() -> Self {
        let state = State { open: 0, last: SmallVec::new(), most: FEW, failure: None };
        Self { are_there: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// Whether there are any.
    #[inline]
    pub fn are_there(&self) -> bool {
        self.are_there.load(Ordering::Acquire)
    }

    /// Adds one; answers what it comes after if it `joins` those before it. `note` is told that there are some, under the lock.
    pub fn begin(&self, promise: P, joins: bool, is_open: impl Fn(&P) -> bool, note: impl FnOnce()) -> Before<P> {
        let mut through = Before::<P>::new();
        let mut state = self.state.lock();
        state.open += 1;
        self.are_there.store(true, Ordering::Release);
        note();
        let before = if joins { take(&mut state.last) } else { Before::<P>::new() };
        if state.last.len() >= state.most {
            let (open, done) = take(&mut state.last).into_iter().partition(is_open);
            (state.last, through) = (open, done);
            state.most = FEW.max(2 * state.last.len());
        }
        state.last.push(promise);
        drop(state);
        drop(through);
        before
    }

    /// Notes that one is on its stream, or never will be. `note` is told whether nothing is left of them, under the lock.
    pub fn end(&self, failure: Option<E>, note: impl FnOnce(bool)) {
        let mut state = self.state.lock();
        state.open -= 1;
        if state.failure.is_none() {
            state.failure = failure;
        }
        let through = if state.open == 0 { take(&mut state.last) } else { Before::<P>::new() };
        if state.open == 0 {
            self.are_there.store(false, Ordering::Release);
        }
        note(state.is_clear());
        drop(state);
        drop(through);
    }

    /// What a command that comes after all of them comes after.
    pub fn last(&self) -> Before<P> {
        self.state.lock().last.clone()
    }

    /// The first failure that nobody has told yet. `note` is told as by [`DeferredCommands::end`].
    pub fn take_failure(&self, note: impl FnOnce(bool)) -> Option<E> {
        let mut state = self.state.lock();
        let failure = state.failure.take();
        note(state.is_clear());
        failure
    }

    /// Tells `note` whether nothing is left of them, under the lock.
    pub fn ask(&self, note: impl FnOnce(bool)) {
        note(self.state.lock().is_clear());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn begin(commands: &DeferredCommands<u32, &'static str>, promise: u32, joins: bool) -> Vec<u32> {
        commands.begin(promise, joins, |promise| promise % 2 == 0, || ()).into_vec()
    }

    #[test]
    fn one_that_joins_comes_after_all_since_the_last_that_joined() {
        let commands = DeferredCommands::new();
        assert_eq!([begin(&commands, 1, true), begin(&commands, 2, false)], [vec![], vec![]]);
        assert_eq!(begin(&commands, 3, true), [1, 2]);
        assert_eq!((begin(&commands, 4, true), commands.last().into_vec()), (vec![3], vec![4]));
    }

    #[test]
    fn those_that_are_through_are_left_out_when_there_are_many() {
        let commands = DeferredCommands::new();
        for promise in 0..40 {
            begin(&commands, promise, false);
        }
        assert!(commands.last().len() < 40 && (0..40).step_by(2).all(|open| commands.last().contains(&open)));
    }

    #[test]
    fn the_first_failure_is_told_once_after_the_last_one_has_ended() {
        let commands = DeferredCommands::new();
        begin(&commands, 1, true);
        begin(&commands, 2, true);
        let mut clear = Vec::new();
        commands.end(Some("first"), |is_clear| clear.push(is_clear));
        commands.end(Some("second"), |is_clear| clear.push(is_clear));
        assert!(!commands.are_there() && commands.last().is_empty());
        let failures = [(); 2].map(|()| commands.take_failure(|is_clear| clear.push(is_clear)));
        assert_eq!((failures, clear), ([Some("first"), None], vec![false, false, true, true]));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::resolution::Resolution;
    use crate::sync::{Arc, AtomicU64, AtomicUsize};

    /// An in-order queue whose commands signal a timeline.
    struct Queue {
        deferred: DeferredCommands<Arc<Promise>, ()>,
        /// The last value that was signalled; a smaller one behind it makes the timeline fail.
        signalled: AtomicU64,
        fails: AtomicBool,
    }

    type Promise = Resolution<(), Arc<Command>>;

    /// The signal of a value, as [`crate::command::deferral`] keeps it.
    struct Command {
        queue: Arc<Queue>,
        value: u64,
        missing: AtomicUsize,
        promise: Arc<Promise>,
    }

    impl Queue {
        fn submit(&self, value: u64) {
            if self.signalled.swap(value, Ordering::AcqRel) >= value {
                self.fails.store(true, Ordering::Relaxed);
            }
        }

        fn defer(queue: &Arc<Self>, value: u64, wait: Option<&Arc<Promise>>) {
            let promise = Arc::new(Resolution::new());
            let missing = AtomicUsize::new(1);
            let command = Arc::new(Command { queue: Arc::clone(queue), value, missing, promise: Arc::clone(&promise) });
            let before = queue.deferred.begin(promise, true, |promise| promise.get().is_none(), || ());
            for before in before.iter().chain(wait) {
                command.missing.fetch_add(1, Ordering::Relaxed);
                if let Err(late) = before.add(Arc::clone(&command)) {
                    late.one_is_there();
                }
            }
            command.one_is_there();
        }
    }

    impl Command {
        fn one_is_there(&self) {
            if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
                // What the turn does, it has done before anybody finds the queue without it.
                self.queue.submit(self.value);
                self.queue.deferred.end(None, |_| ());
                resolve(&self.promise);
            }
        }
    }

    fn resolve(promise: &Promise) {
        promise.resolve(()).into_iter().flatten().for_each(|command| command.one_is_there());
    }

    /// One thread signals what the first command waits for, while another gives the queue a second one.
    #[test]
    fn a_command_comes_after_a_deferred_one_whether_it_is_deferred_itself_or_not() {
        loom::model(|| {
            let queue = Arc::new(Queue {
                deferred: DeferredCommands::new(),
                signalled: AtomicU64::new(0),
                fails: AtomicBool::new(false),
            });
            let point = Arc::new(Resolution::new());
            Queue::defer(&queue, 4, Some(&point));
            let signaller = loom::thread::spawn(move || resolve(&point));
            if queue.deferred.are_there() {
                Queue::defer(&queue, 5, None)
            } else {
                queue.submit(5)
            }
            signaller.join().unwrap();
            assert!(!queue.fails.load(Ordering::Relaxed), "the values did not grow");
            assert_eq!((queue.signalled.load(Ordering::Relaxed), queue.deferred.are_there()), (5, false));
        });
    }
}
