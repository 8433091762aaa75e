//! What a queue knows of its deferred commands: how many there are, which of them the next one comes after, and why one was
//! not submitted.
//!
//! A command begins before anybody can come after it and ends before whoever waits for it hears of it. So a thread that finds
//! no deferred commands finds all that they did, and one that finds some comes after them. Between a command's end and the moment
//! at which its promise is told, its event still says that it is kept: whoever waits for the queue waits for that too. Nothing is
//! dropped or called while the lock is held, but what the caller notes with a change.

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
    /// What has ended and is not told yet.
    ending: Before<P>,
    /// How many there may be before those that are through are left out.
    most: usize,
    /// Why a deferred command was not submitted, until somebody has told it.
    failure: Option<E>,
}

impl<P, E> State<P, E> {
    fn is_clear(&self) -> bool {
        self.open == 0 && self.ending.is_empty() && self.failure.is_none()
    }
}

impl<P: Clone, E> DeferredCommands<P, E> {
    /// None yet.
    pub fn new() -> Self {
        let state = State { open: 0, last: SmallVec::new(), ending: SmallVec::new(), most: FEW, failure: None };
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

    /// Notes that one is on its stream, or never will be.
    pub fn end(&self, promise: P, failure: Option<E>) {
        let mut state = self.state.lock();
        state.open -= 1;
        state.ending.push(promise);
        if state.failure.is_none() {
            state.failure = failure;
        }
        let through = if state.open == 0 { take(&mut state.last) } else { Before::<P>::new() };
        if state.open == 0 {
            self.are_there.store(false, Ordering::Release);
        }
        drop(state);
        drop(through);
    }

    /// Notes that the promise of one that has ended is told. `note` is told whether nothing is left of them, under the lock.
    pub fn have_told(&self, is_it: impl FnMut(&P) -> bool, note: impl FnOnce(bool)) {
        let mut state = self.state.lock();
        let told = state.ending.iter().position(is_it).map(|place| state.ending.swap_remove(place));
        note(state.is_clear());
        drop(state);
        drop(told);
    }

    /// Whether all have ended and are told, which their promises are before [`DeferredCommands::have_told`].
    pub fn are_told(&self, is_open: impl Fn(&P) -> bool) -> bool {
        let state = self.state.lock();
        state.open == 0 && !state.ending.iter().any(is_open)
    }

    /// As [`DeferredCommands::are_there`], for who has given something up before: either this finds none, or the end of the last one
    /// finds it given up. Without the lock each could look before it sees what the other has written.
    pub fn are_left(&self) -> bool {
        self.state.lock().open > 0
    }

    /// What whoever waits for all of them waits for.
    pub fn last(&self) -> Before<P> {
        let state = self.state.lock();
        state.last.iter().chain(&state.ending).cloned().collect()
    }

    /// The first failure that nobody has told yet. `note` is told as by [`DeferredCommands::have_told`].
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
    fn whoever_waits_for_all_waits_for_what_has_ended_and_is_not_told() {
        let commands = DeferredCommands::new();
        begin(&commands, 1, true);
        commands.end(1, None);
        let are_told = |by: u32| commands.are_told(|promise| *promise != by);
        assert!(!commands.are_there() && !are_told(0) && are_told(1));
        assert_eq!(commands.last().into_vec(), [1]);
        let mut clear = Vec::new();
        commands.have_told(|told| *told == 1, |is_clear| clear.push(is_clear));
        assert_eq!((are_told(0), commands.last().into_vec(), clear), (true, vec![], vec![true]));
    }

    #[test]
    fn the_first_failure_is_told_once_after_the_last_one_has_ended() {
        let commands = DeferredCommands::new();
        begin(&commands, 1, true);
        begin(&commands, 2, true);
        let mut clear = Vec::new();
        for (promise, failure) in [(1, "first"), (2, "second")] {
            commands.end(promise, Some(failure));
            commands.have_told(|told| *told == promise, |is_clear| clear.push(is_clear));
        }
        assert!(!commands.are_there() && commands.last().is_empty());
        let failures = [(); 2].map(|()| commands.take_failure(|is_clear| clear.push(is_clear)));
        assert_eq!((failures, clear), ([Some("first"), None], vec![false, false, true, true]));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::countdown::Countdown;
    use crate::sync::resolution::Resolution;
    use crate::sync::{Arc, AtomicUsize};

    /// Why a command was not submitted.
    type Cause = u32;
    type Promise = Resolution<Option<Cause>, Arc<Command>>;

    /// An in-order queue, and what [`crate::queue::Queue`] has of these.
    struct Queue {
        deferred: DeferredCommands<Arc<Promise>, Cause>,
        plain: AtomicBool,
        /// The application's.
        references: AtomicUsize,
        stream: Mutex<Stream>,
    }

    #[derive(Default)]
    struct Stream {
        submitted: Vec<u64>,
        /// What it has for commands to come, which holds the queue.
        keeps: bool,
    }

    /// A command as [`crate::command::deferral`] keeps it.
    struct Command {
        queue: Arc<Queue>,
        number: u64,
        countdown: Countdown<Cause>,
        promise: Arc<Promise>,
    }

    impl Queue {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                deferred: DeferredCommands::new(),
                plain: AtomicBool::new(true),
                references: AtomicUsize::new(1),
                stream: Mutex::new(Stream::default()),
            })
        }

        fn submit(&self, number: u64) {
            let mut stream = self.stream.lock();
            stream.submitted.push(number);
            stream.keeps = true;
        }

        fn restore_plain(&self, is_clear: bool) {
            self.plain.store(is_clear, Ordering::Relaxed);
        }

        fn enqueue(queue: &Arc<Self>, number: u64) -> Option<Arc<Promise>> {
            if queue.plain.load(Ordering::Relaxed) || !queue.deferred.are_there() {
                queue.submit(number);
                return None;
            }
            Some(Self::defer(queue, number, None))
        }

        fn defer(queue: &Arc<Self>, number: u64, wait: Option<&Arc<Promise>>) -> Arc<Promise> {
            let promise = Arc::new(Resolution::new());
            let (owner, countdown) = (Arc::clone(queue), Countdown::new());
            let command = Arc::new(Command { queue: owner, number, countdown, promise: Arc::clone(&promise) });
            let is_open = |promise: &Arc<Promise>| promise.get().is_none();
            let note = || queue.plain.store(false, Ordering::Relaxed);
            let before = queue.deferred.begin(Arc::clone(&promise), true, is_open, note);
            for before in before.iter().chain(wait) {
                command.countdown.expect_one();
                if let Err(late) = before.add(Arc::clone(&command)) {
                    late.one_is_there(before.get().copied().flatten());
                }
            }
            command.one_is_there(None);
            promise
        }

        fn release(&self) {
            if self.references.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.let_go();
            }
        }

        fn let_go(&self) {
            if !self.deferred.are_left() {
                self.stream.lock().keeps = false;
            }
        }
    }

    impl Command {
        fn one_is_there(&self, failure: Option<Cause>) {
            if self.countdown.one_is_there(failure) {
                self.run();
            }
        }

        /// As `DeferredCommand::run`.
        fn run(&self) {
            let failure = self.countdown.failure().copied();
            if failure.is_none() {
                self.queue.submit(self.number);
            }
            // What the turn does, it has done before anybody finds the queue without it.
            self.queue.deferred.end(Arc::clone(&self.promise), failure);
            resolve(&self.promise, failure);
            let is_it = |told: &Arc<Promise>| Arc::ptr_eq(told, &self.promise);
            self.queue.deferred.have_told(is_it, |is_clear| self.queue.restore_plain(is_clear));
            if self.queue.references.load(Ordering::Acquire) == 0 && !self.queue.deferred.are_there() {
                self.queue.let_go();
            }
        }
    }

    fn resolve(promise: &Promise, failure: Option<Cause>) {
        promise.resolve(failure).into_iter().flatten().for_each(|command| command.one_is_there(failure));
    }

    /// One thread signals what the first command waits for, while another enqueues a second one.
    #[test]
    fn a_command_comes_after_a_deferred_one_whether_it_is_deferred_itself_or_not() {
        loom::model(|| {
            let (queue, point) = (Queue::new(), Arc::new(Resolution::new()));
            Queue::defer(&queue, 4, Some(&point));
            let signaller = loom::thread::spawn(move || resolve(&point, None));
            Queue::enqueue(&queue, 5);
            signaller.join().unwrap();
            assert_eq!(queue.stream.lock().submitted, [4, 5]);
            assert!(!queue.deferred.are_there() && queue.plain.load(Ordering::Relaxed));
        });
    }

    /// One thread makes the timeline fail, or gives its last reference back, while another enqueues a second command: that fails with
    /// the first one or comes too late for it, the queue tells the failure once, and is not plain before it has.
    #[test]
    fn a_failure_reaches_what_was_deferred_before_the_queue_has_heard_of_it() {
        loom::model(|| {
            let (queue, point) = (Queue::new(), Arc::new(Resolution::new()));
            let first = Queue::defer(&queue, 4, Some(&point));
            let breaker = loom::thread::spawn(move || resolve(&point, Some(1)));
            let second = Queue::enqueue(&queue, 5);
            breaker.join().unwrap();
            let failed = second.is_some_and(|second| second.get() == Some(&Some(1)));
            let submitted = queue.stream.lock().submitted.clone();
            assert_eq!((first.get(), submitted.len()), (Some(&Some(1)), usize::from(!failed)));
            assert!(submitted.iter().all(|number| *number == 5));
            assert!(!queue.deferred.are_there() && !queue.plain.load(Ordering::Relaxed));
            let told = [(); 2].map(|()| queue.deferred.take_failure(|is_clear| queue.restore_plain(is_clear)));
            assert_eq!((told, queue.plain.load(Ordering::Relaxed)), ([Some(1), None], true));
        });
    }

    /// Two threads signal what one command each of two waits for; the second comes after the first too.
    #[test]
    fn commands_whose_waits_end_on_two_threads_go_in_their_order() {
        loom::model(|| {
            let (queue, points) = (Queue::new(), [(); 2].map(|()| Arc::new(Resolution::new())));
            Queue::defer(&queue, 4, Some(&points[0]));
            Queue::defer(&queue, 5, Some(&points[1]));
            let signallers = points.map(|point| loom::thread::spawn(move || resolve(&point, None)));
            signallers.into_iter().for_each(|signaller| signaller.join().unwrap());
            assert_eq!(queue.stream.lock().submitted, [4, 5]);
            assert!(!queue.deferred.are_there() && queue.plain.load(Ordering::Relaxed));
        });
    }

    /// The application gives its last reference back while the last deferred command runs.
    #[test]
    fn a_queue_that_was_released_keeps_nothing_once_its_last_deferred_command_has_run() {
        loom::model(|| {
            let (queue, point) = (Queue::new(), Arc::new(Resolution::new()));
            Queue::defer(&queue, 4, Some(&point));
            let signaller = loom::thread::spawn(move || resolve(&point, None));
            queue.release();
            signaller.join().unwrap();
            let stream = queue.stream.lock();
            assert_eq!((&*stream.submitted, stream.keeps), (&[4][..], false));
        });
    }
}
