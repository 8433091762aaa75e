//! Runs what has become ready, on the thread that made it so.
//!
//! What runs can make more ready, without bound: so there is one list a thread, and nothing nests. What could block (a stream
//! that is full) does not hold up the rest: it runs on a worker, with what becomes ready on the same queue behind it. Other
//! threads may enqueue as fast as this one submits, so a thread of the application runs a bounded number ([`MOST`]) and
//! leaves the rest to a worker. Must never run anything on a native thread: nobody resolves anything there.

use core::cell::RefCell;
use core::mem::take;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::device::deferred::WaitingForbidden;
use crate::device::worker;
use crate::sync::thread_local;

/// What a thread of the application runs before a worker goes on: commands that it has made ready by one call. Fewer would
/// send short chains through another thread, more would keep the caller longer from its own work.
const MOST: usize = 256;

/// Something that can run.
pub trait Ready: Send + Sync {
    /// What it could block: the same number for all that would wait for each other anyway.
    fn queue(&self) -> usize;

    /// Whether running it now could block.
    fn may_block(&self) -> bool;

    /// Runs it.
    fn run(self: Arc<Self>);
}

/// What a thread has to run.
#[derive(Default)]
struct Drain {
    /// The queue that this thread may block for.
    home: Option<usize>,
    at_home: VecDeque<Arc<dyn Ready>>,
    elsewhere: VecDeque<Arc<dyn Ready>>,
}

impl Drain {
    fn push(&mut self, ready: Arc<dyn Ready>) {
        let list = if self.is_home(&*ready) { &mut self.at_home } else { &mut self.elsewhere };
        list.push_back(ready);
    }

    /// What could be held up by the thread's own queue comes first.
    fn pop(&mut self) -> Option<(Arc<dyn Ready>, bool)> {
        let elsewhere = self.elsewhere.pop_front().map(|ready| (ready, false));
        elsewhere.or_else(|| self.at_home.pop_front().map(|ready| (ready, true)))
    }

    fn is_home(&self, ready: &dyn Ready) -> bool {
        self.home == Some(ready.queue())
    }
}

thread_local! {
    #[allow(clippy::missing_const_for_thread_local, reason = "loom's macro takes no const block")]
    static DRAIN: RefCell<Option<Drain>> = RefCell::new(None);
}

/// The thread's list, until it is empty.
struct Turn {
    /// What may still run here; a worker has no bound.
    left: Option<usize>,
}

impl Turn {
    /// None if the thread has a list, which whoever made it works off.
    fn begin(home: Option<usize>) -> Option<Self> {
        let begin = |drain: &RefCell<Option<Drain>>| {
            let mut drain = drain.borrow_mut();
            let is_first = drain.is_none();
            drain.get_or_insert_with(|| Drain { home, ..Drain::default() });
            is_first
        };
        let left = if home.is_some() { None } else { Some(MOST) };
        // Not `then_some`: a turn that is dropped takes the list with it.
        DRAIN.try_with(begin).unwrap_or(false).then(|| Self { left })
    }

    fn next() -> Option<(Arc<dyn Ready>, bool)> {
        DRAIN.with(|drain| drain.borrow_mut().as_mut()?.pop())
    }

    fn work_off(mut self) {
        // What goes with a command that has run may wait for the device, which may wait for whoever resolved it.
        let _meanwhile = WaitingForbidden::begin();
        while let Some((ready, is_home)) = Self::next() {
            if is_home || !ready.may_block() {
                ready.run();
                if self.has_run_enough() {
                    Self::leave_rest_to_worker();
                }
                continue;
            }
            let together = Self::take_those_that_go_with(ready);
            if !run_on_worker(&together) {
                together.into_iter().for_each(Ready::run);
            }
        }
    }

    /// Counts what has run here.
    fn has_run_enough(&mut self) -> bool {
        self.left.as_mut().is_some_and(|left| {
            *left = left.saturating_sub(1);
            *left == 0
        })
    }

    /// Leaves the list empty if a worker can be had. The thread blocks for no queue, so all of it is elsewhere.
    fn leave_rest_to_worker() {
        let rest: Vec<_> = Self::elsewhere().into();
        if rest.is_empty() || run_on_worker(&rest) {
            return;
        }
        DRAIN.with(|drain| drain.borrow_mut().as_mut().map(|drain| drain.elsewhere = rest.into()));
    }

    /// Takes what is ready elsewhere, so that nothing is dropped while the list is borrowed.
    fn elsewhere() -> VecDeque<Arc<dyn Ready>> {
        DRAIN.with(|drain| drain.borrow_mut().as_mut().map(|drain| take(&mut drain.elsewhere))).unwrap_or_default()
    }

    /// All that would block where this would: one worker has them, or there would be as many threads as commands.
    fn take_those_that_go_with(first: Arc<dyn Ready>) -> Vec<Arc<dyn Ready>> {
        let queue = first.queue();
        let (mut together, mut others) = (vec![first], VecDeque::new());
        for ready in Self::elsewhere() {
            if ready.queue() == queue && ready.may_block() { together.push(ready) } else { others.push_back(ready) }
        }
        // Nothing has become ready meanwhile: that happens on other threads, or behind what runs.
        DRAIN.with(|drain| drain.borrow_mut().as_mut().map(|drain| drain.elsewhere = others));
        together
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let left = DRAIN.with(|drain| drain.borrow_mut().take());
        let Some(Drain { at_home, elsewhere, .. }) = left else { return };
        // Something panicked; the rest is none of its business.
        for ready in elsewhere.into_iter().chain(at_home) {
            run_on_worker(&[ready]);
        }
    }
}

/// The thread's list as it was, without what was on it.
pub struct SetAside {
    home: Option<usize>,
    has_list: bool,
}

/// Sets the thread's list aside while a function of the application runs, which may wait for what it makes ready: that runs as it
/// would on a thread without a list. What was on the list goes to a worker, since the function may wait for it too.
pub fn set_aside() -> SetAside {
    let list = DRAIN.try_with(|drain| drain.borrow_mut().take()).ok().flatten();
    let has_list = list.is_some();
    let Drain { home, at_home, elsewhere } = list.unwrap_or_default();
    // A worker for each queue: of one whose own function waits it hands the rest over in its turn.
    let mut by_queue = BTreeMap::<usize, Vec<Arc<dyn Ready>>>::new();
    for ready in elsewhere.into_iter().chain(at_home) {
        by_queue.entry(ready.queue()).or_default().push(ready);
    }
    for together in by_queue.into_values() {
        if !run_on_worker(&together) {
            together.into_iter().for_each(Ready::run);
        }
    }
    SetAside { home, has_list }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        if self.has_list {
            let list = Drain { home: self.home, ..Drain::default() };
            // A thread that is being torn down has none.
            let _ = DRAIN.try_with(|drain| *drain.borrow_mut() = Some(list));
        }
    }
}

/// Has a worker run what is of one queue; `false` if none can be had.
fn run_on_worker(ready: &[Arc<dyn Ready>]) -> bool {
    let ready = ready.to_vec();
    let job = move |_| {
        let turn = Turn::begin(ready.first().map(|ready| ready.queue()));
        ready.into_iter().for_each(add);
        turn.into_iter().for_each(Turn::work_off);
    };
    worker::run(Box::new(job)).is_ok()
}

/// Runs what `resolve` makes ready, behind it, or behind what the thread is running already.
pub fn batch(resolve: impl FnOnce()) {
    let turn = Turn::begin(None);
    resolve();
    turn.into_iter().for_each(Turn::work_off);
}

/// Runs something, behind what the thread is running already.
pub fn add(ready: Arc<dyn Ready>) {
    let turn = Turn::begin(None);
    let pushed = DRAIN.try_with(|drain| {
        let mut drain = drain.borrow_mut();
        drain.as_mut().map(|drain| drain.push(Arc::clone(&ready))).is_some()
    });
    if !pushed.unwrap_or(false) {
        return add_without_list(ready);
    }
    turn.into_iter().for_each(Turn::work_off);
}

/// Runs something for a thread that is being torn down and has no list any more: what it makes ready would nest, and it could block.
#[cold]
fn add_without_list(ready: Arc<dyn Ready>) {
    let ready = [ready];
    if !run_on_worker(&ready) {
        ready.into_iter().for_each(Ready::run);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    struct Step {
        queue: usize,
        number: u32,
        blocks: bool,
        left: u32,
        done: Sender<(usize, u32, std::thread::ThreadId)>,
    }

    impl Ready for Step {
        fn queue(&self) -> usize {
            self.queue
        }

        fn may_block(&self) -> bool {
            self.blocks
        }

        fn run(self: Arc<Self>) {
            self.done.send((self.queue, self.number, std::thread::current().id())).unwrap();
            if self.left > 0 {
                let done = self.done.clone();
                add(Arc::new(Self { number: self.number + 1, left: self.left - 1, done, ..*self }));
            }
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_does_not_nest() {
        let (done, steps) = channel();
        add(Arc::new(Step { queue: 1, number: 0, blocks: false, left: 100_000, done }));
        assert!(steps.into_iter().enumerate().all(|(at, step)| (step.0, step.1) == (1, at as u32)));
    }

    #[test]
    fn a_short_chain_runs_on_the_thread_that_made_it_ready() {
        let (done, steps) = channel();
        add(Arc::new(Step { queue: 1, number: 0, blocks: false, left: MOST as u32 - 1, done }));
        let here = std::thread::current().id();
        assert!(steps.into_iter().enumerate().all(|(at, step)| step == (1, at as u32, here)));
    }

    /// A chain that goes on until its caller has returned, as one does to which another thread adds all the time.
    struct UntilReturned {
        has_returned: std::sync::atomic::AtomicBool,
        end: Sender<()>,
    }

    impl Ready for UntilReturned {
        fn queue(&self) -> usize {
            1
        }

        fn may_block(&self) -> bool {
            false
        }

        fn run(self: Arc<Self>) {
            if self.has_returned.load(std::sync::atomic::Ordering::Acquire) {
                return self.end.send(()).unwrap();
            }
            add(self);
        }
    }

    #[test]
    fn a_thread_returns_from_a_chain_to_which_others_add_without_end() {
        let (end, ended) = channel();
        let chain = Arc::new(UntilReturned { has_returned: false.into(), end });
        add(Arc::clone(&chain) as _);
        chain.has_returned.store(true, std::sync::atomic::Ordering::Release);
        ended.recv().expect("the rest of the chain runs on a worker");
    }

    #[test]
    fn what_could_block_goes_to_a_worker_with_what_follows_on_its_queue() {
        let (done, steps) = channel();
        let step = |queue, blocks| Arc::new(Step { queue, number: 0, blocks, left: 3, done: done.clone() });
        batch(|| {
            add(step(1, true));
            add(step(2, false));
        });
        drop(done);
        let (here, steps) = (std::thread::current().id(), steps.into_iter().collect::<Vec<_>>());
        let of = |queue| steps.iter().filter(move |step| step.0 == queue).collect::<Vec<_>>();
        assert!(of(2).iter().all(|step| step.2 == here) && of(2).len() == 4);
        let there = of(1)[0].2;
        assert!(there != here && of(1).iter().enumerate().all(|(at, step)| step.1 == at as u32 && step.2 == there));
    }

    #[test]
    fn those_of_a_queue_that_could_block_have_one_worker_and_the_others_are_not_held_up() {
        let (done, steps) = channel();
        let step = |number, blocks| Arc::new(Step { queue: 1, number, blocks, left: 0, done: done.clone() });
        batch(|| (0..MOST as u32).for_each(|number| add(step(number, number % 2 == 0))));
        drop(done);
        let (here, steps) = (std::thread::current().id(), steps.into_iter().collect::<Vec<_>>());
        let on = |is_here: bool| steps.iter().filter(move |step| (step.2 == here) == is_here).collect::<Vec<_>>();
        let (there, own) = (on(false), on(true));
        assert!(own.iter().map(|step| step.1).eq((0..MOST as u32).filter(|number| number % 2 == 1)));
        assert!(there.iter().map(|step| step.1).eq((0..MOST as u32).filter(|number| number % 2 == 0)));
        assert!(there.iter().all(|step| step.2 == there[0].2));
    }
}
