//! One thread that notices what commands have reached, and has something called then.
//!
//! **Nothing is put on a stream for it.** A stream that waits for an event occupies a hardware channel, which other streams
//! share: whatever they are given later stands behind that wait (`docs/probes/channels.c`), and may be what the event's command
//! waits for. So a thread of its own asks: a worker's would be missing to the very commands that it waits for. It asks only of
//! what comes first on each stream, since commands of one stream end in order; at once and often at first, then at intervals that
//! grow with how long nothing has happened, from [`LEAST`] to [`MOST`]. It sleeps while there is nothing to ask about.
//!
//! Must never ask, nor call anything, under the lock of the list; calls run on the worker's threads, each by itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::device::{deferred, worker};
use crate::object::error::Result;
use crate::object::own_thread;

/// So long the thread asks without a pause.
const BUSY: Duration = Duration::from_micros(50);
/// The shortest pause.
const LEAST: Duration = Duration::from_micros(20);
/// The longest pause.
const MOST: Duration = Duration::from_millis(1);
/// A pause is this part of the time in which nothing has happened.
const SHARE: u32 = 16;

/// In position of a stream's address: nothing comes after it, or before it.
pub const NOWHERE: usize = 0;

/// A position on a stream, before or after a command. Streams are told apart by their address while somebody waits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamPosition {
    /// The stream's address.
    pub stream: usize,
    /// Twice the command's number; one more for its end.
    pub at: u64,
}

/// Whether a position is reached.
pub type Question = Arc<dyn Fn() -> bool + Send + Sync>;

/// Something to call once it is.
pub type Call = Box<dyn FnOnce() + Send>;

struct Watched {
    is_reached: Question,
    call: Call,
}

/// What is watched, in the order of each stream; entries of one position in the order in which they came.
type Key = (StreamPosition, u64);

struct State {
    list: BTreeMap<Key, Watched>,
    /// Entries that there have been.
    count: u64,
    has_thread: bool,
}

static STATE: Mutex<State> = Mutex::new(State { list: BTreeMap::new(), count: 0, has_thread: false });
/// Something was added.
static ADDED: Condvar = Condvar::new();

/// Has something called once a position is reached.
///
/// # Errors
/// `OUT_OF_RESOURCES` when no thread can be started.
pub fn add(position: StreamPosition, is_reached: Question, call: Call) -> Result<()> {
    let mut state = STATE.lock();
    if !state.has_thread {
        own_thread::start("ur-watch", watch).map_err(own_thread::no_thread)?;
        state.has_thread = true;
    }
    let number = state.count;
    state.count += 1;
    state.list.insert((position, number), Watched { is_reached, call });
    drop(state);
    ADDED.notify_one();
    Ok(())
}

impl State {
    /// What to ask: the first entry of each stream, and all that lie on none.
    fn questions(&self, into: &mut Vec<(Key, Question)>) {
        let end_of = |stream| (StreamPosition { stream, at: u64::MAX }, u64::MAX);
        let mut from = (StreamPosition { stream: NOWHERE, at: 0 }, 0);
        into.clear();
        while let Some((key, watched)) = self.list.range(from..).next() {
            into.push((*key, Arc::clone(&watched.is_reached)));
            let (position, number) = *key;
            from = if position.stream == NOWHERE { (position, number + 1) } else { end_of(position.stream) };
        }
    }

    /// Takes an entry out with what is watched of its position.
    fn take(&mut self, (position, number): Key, into: &mut Vec<Watched>) {
        let last = if position.stream == NOWHERE { number } else { u64::MAX };
        while let Some((&key, _)) = self.list.range((position, number)..=(position, last)).next() {
            into.extend(self.list.remove(&key));
        }
    }
}

/// What the thread does.
fn watch() {
    // Streams wait for what is told here.
    deferred::forbid_waiting();
    let (mut questions, mut reached) = (Vec::new(), Vec::new());
    let mut quiet_since = Instant::now();
    let mut state = STATE.lock();
    loop {
        state.questions(&mut questions);
        if questions.is_empty() {
            ADDED.wait(&mut state);
            quiet_since = Instant::now();
            continue;
        }
        drop(state);
        questions.retain(|(_, is_reached)| is_reached());
        if questions.is_empty() {
            state = pause(&mut quiet_since);
            continue;
        }
        state = STATE.lock();
        questions.iter().for_each(|(key, _)| state.take(*key, &mut reached));
        drop(state);
        // What a question holds may be the last of a queue: it goes with the call, on a thread that may wait.
        questions.clear();
        for Watched { is_reached, call } in reached.drain(..) {
            run(Box::new(move || {
                call();
                drop(is_reached);
            }));
        }
        quiet_since = Instant::now();
        state = STATE.lock();
    }
}

/// Waits as long as is worth while. What is added is asked about at once.
fn pause(quiet_since: &mut Instant) -> parking_lot::MutexGuard<'static, State> {
    let quiet = quiet_since.elapsed();
    if quiet < BUSY {
        std::thread::yield_now();
        return STATE.lock();
    }
    let mut state = STATE.lock();
    if !ADDED.wait_for(&mut state, (quiet / SHARE).clamp(LEAST, MOST)).timed_out() {
        *quiet_since = Instant::now();
    }
    state
}

/// Has a call made by another thread; here, if there is none.
pub(super) fn run(call: Call) {
    let call = Arc::new(Mutex::new(Some(call)));
    let job = Arc::clone(&call);
    if worker::run(Box::new(move |_| make(&job))).is_err() {
        make(&call);
    }
}

/// Makes a call that several may make, if nobody has.
pub(super) fn make(call: &Mutex<Option<Call>>) {
    let call = call.lock().take();
    if let Some(call) = call {
        call();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// A position that is reached when the flag is set, how often it was asked about, and its call.
    fn watched(stream: usize, at: u64, is_reached: &Arc<AtomicBool>) -> (Arc<AtomicUsize>, Receiver<()>) {
        let (asked, is_reached) = (Arc::new(AtomicUsize::new(0)), Arc::clone(is_reached));
        let (told, calls) = channel();
        let count = Arc::clone(&asked);
        let question = move || {
            count.fetch_add(1, Ordering::SeqCst);
            is_reached.load(Ordering::SeqCst)
        };
        let call = move || told.send(()).expect("the test waits");
        add(StreamPosition { stream, at }, Arc::new(question), Box::new(call)).expect("a thread");
        (asked, calls)
    }

    #[test]
    fn of_one_stream_only_the_first_is_asked_about_and_others_are_not_held_up() {
        let [closed, open] = [false, true].map(|open| Arc::new(AtomicBool::new(open)));
        let stream = (&raw const closed).addr();
        let first = watched(stream, 1, &closed);
        let (asked, second) = watched(stream, 3, &open);
        let (_, other) = watched(stream + 8, 1, &open);
        other.recv().expect("another stream's is called");
        assert_eq!((asked.load(Ordering::SeqCst), first.1.try_recv().is_err()), (0, true));
        closed.store(true, Ordering::SeqCst);
        first.1.recv().expect("the first is called");
        second.recv().expect("and the second");
    }

    #[test]
    fn what_lies_on_no_stream_is_asked_about_each_by_itself() {
        let [closed, open] = [false, true].map(|open| Arc::new(AtomicBool::new(open)));
        let (_, first) = watched(NOWHERE, 0, &closed);
        let (_, second) = watched(NOWHERE, 0, &open);
        second.recv().expect("the second is called");
        assert!(first.try_recv().is_err());
        closed.store(true, Ordering::SeqCst);
        first.recv().expect("the first is called");
    }

    #[test]
    fn all_entries_of_one_position_are_called() {
        let closed = Arc::new(AtomicBool::new(false));
        let stream = (&raw const closed).addr();
        let calls: Vec<_> = (0..100).map(|_| watched(stream, 7, &closed).1).collect();
        closed.store(true, Ordering::SeqCst);
        calls.iter().for_each(|calls| calls.recv().expect("each is called"));
    }
}
