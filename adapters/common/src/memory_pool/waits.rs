//! Whether an allocation of a pool may make its stream wait for another stream's free.
//!
//! Such a wait delays what is on the stream, so events of earlier commands must be recorded before it. Allocations of the
//! common way record none: they may wait only while a full pool is asked once more. That goes in steps: it is *announced*,
//! so that allocations from now on record first; every stream is passed once; it is turned *on*; the allocation is tried; it
//! *ends*. So it is on only while it is announced, whoever changes the pool's policy meanwhile, and whatever the native
//! library refuses. Several threads may be at it at one time.

use crate::object::error::Result;
use crate::sync::{AtomicBool, Mutex, Ordering};

/// The state of one pool's memory. What every allocation reads comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Waits {
    announced: AtomicBool,
    on: AtomicBool,
    steps: Mutex<Steps>,
}

#[derive(Debug)]
struct Steps {
    /// Whether the pool's policy has it at all.
    allowed: bool,
    /// Threads that have announced it and have not ended.
    tries: usize,
}

impl Waits {
    /// Off, of a pool whose policy has it or not.
    #[must_use]
    pub fn new(allowed: bool) -> Self {
        Self {
            announced: AtomicBool::new(false),
            on: AtomicBool::new(false),
            steps: Mutex::new(Steps { allowed, tries: 0 }),
        }
    }

    /// Whether an allocation must record what comes before it.
    #[inline]
    pub fn is_announced(&self) -> bool {
        self.announced.load(Ordering::Acquire)
    }

    /// Whether an allocation may come with a wait.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Acquire)
    }

    /// The first step. False where the policy does not have it; then there is no other step, and no end.
    pub fn announce(&self) -> bool {
        let mut steps = self.steps.lock();
        if steps.allowed {
            steps.tries += 1;
            self.announced.store(true, Ordering::Release);
        }
        steps.allowed
    }

    /// Turns it on once every stream has seen the announcement, unless the policy was changed since. `set` tells the native
    /// library.
    ///
    /// # Errors
    /// Those of `set`; it is off then.
    pub fn turn_on(&self, set: impl FnOnce(bool) -> Result<()>) -> Result<()> {
        let steps = self.steps.lock();
        if steps.allowed && !self.is_on() {
            set(true)?;
            self.on.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// The last step of whoever has announced it.
    ///
    /// # Errors
    /// Those of `set`; then it is on still, and allocations go on recording until a later step turns it off.
    pub fn end(&self, set: impl FnOnce(bool) -> Result<()>) -> Result<()> {
        let mut steps = self.steps.lock();
        steps.tries -= 1;
        if steps.tries > 0 { Ok(()) } else { self.turn_off(set) }
    }

    /// Changes the policy. It is off at once if the new one has it not, even for somebody who is at it.
    ///
    /// # Errors
    /// Those of `set`; the policy is the old one then.
    pub fn allow(&self, allowed: bool, set: impl FnOnce(bool) -> Result<()>) -> Result<()> {
        let mut steps = self.steps.lock();
        if !allowed && self.is_on() {
            set(false)?;
            self.on.store(false, Ordering::Release);
            // Whoever is at it may have found it on already.
            if steps.tries == 0 {
                self.announced.store(false, Ordering::Release);
            }
        }
        steps.allowed = allowed;
        Ok(())
    }

    /// The caller holds the lock of the steps, and nobody is at it any more.
    fn turn_off(&self, set: impl FnOnce(bool) -> Result<()>) -> Result<()> {
        if self.is_on() {
            set(false)?;
            self.on.store(false, Ordering::Release);
        }
        self.announced.store(false, Ordering::Release);
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::object::error::Error;

    fn refused() -> Result<()> {
        Err(Error::code_only(ur_ffi::ur_result_t::ERROR_UNKNOWN))
    }

    /// A native attribute, checked against what the engine believes.
    #[derive(Default)]
    struct Native(Cell<bool>);

    impl Native {
        fn set(&self, on: bool) -> Result<()> {
            assert_ne!(self.0.replace(on), on, "set to what it was");
            Ok(())
        }
    }

    #[test]
    fn waits_are_off_behind_the_last_of_several_tries() {
        let (waits, native) = (Waits::new(true), Native::default());
        let set = |on| native.set(on);
        assert!(waits.announce() && waits.announce());
        assert!(waits.is_announced() && !waits.is_on(), "announced, and on for nobody yet");
        waits.turn_on(set).unwrap();
        waits.turn_on(set).unwrap();
        waits.end(set).unwrap();
        assert!(waits.is_on() && native.0.get());
        waits.end(set).unwrap();
        assert!(!waits.is_announced() && !waits.is_on() && !native.0.get());
    }

    /// The policy gets it between the announcement, which found none, and the moment when it would be turned on.
    #[test]
    fn a_policy_that_comes_too_late_for_the_announcement_turns_nothing_on() {
        let (waits, native) = (Waits::new(false), Native::default());
        let announced = waits.announce();
        waits.allow(true, |on| native.set(on)).unwrap();
        assert!(!announced && !waits.is_announced() && !waits.is_on());
    }

    /// The policy loses it while an allocation is being retried.
    #[test]
    fn a_policy_that_goes_during_a_try_leaves_nothing_on() {
        let (waits, native) = (Waits::new(true), Native::default());
        let set = |on| native.set(on);
        assert!(waits.announce());
        waits.turn_on(set).unwrap();
        waits.allow(false, set).unwrap();
        assert!(!waits.is_on() && !native.0.get());
        waits.end(set).unwrap();
        assert!(!waits.is_announced() && !waits.is_on() && !native.0.get());
        // And before it is turned on.
        waits.allow(true, set).unwrap();
        assert!(waits.announce());
        waits.allow(false, set).unwrap();
        waits.turn_on(set).unwrap();
        assert!(!waits.is_on() && !native.0.get());
        waits.end(set).unwrap();
        assert!(!waits.is_announced());
    }

    /// As long as the library may make an allocation wait, allocations record what comes before them.
    #[test]
    fn what_the_library_refuses_to_turn_off_stays_announced_until_it_is_off() {
        let (waits, native) = (Waits::new(true), Native::default());
        let set = |on| native.set(on);
        assert!(waits.announce());
        assert!(waits.turn_on(|_| refused()).is_err() && !waits.is_on());
        waits.turn_on(set).unwrap();
        assert!(waits.end(|_| refused()).is_err());
        assert!(waits.is_on() && waits.is_announced() && native.0.get());
        assert!(waits.allow(false, |_| refused()).is_err() && waits.is_on(), "a refused change changes nothing");
        assert!(waits.announce());
        waits.end(set).unwrap();
        assert!(!waits.is_on() && !waits.is_announced() && !native.0.get());
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    /// A native attribute that allocations are subject to.
    #[derive(Debug)]
    struct Pool {
        waits: Waits,
        native: AtomicBool,
        /// A stream's lock.
        stream: Mutex<()>,
    }

    impl Pool {
        fn set(&self, on: bool) -> Result<()> {
            self.native.store(on, Ordering::SeqCst);
            Ok(())
        }

        /// An allocation: what it read when it decided whether to record must fit what the library may do then.
        fn allocate(&self) {
            let _stream = self.stream.lock();
            let records = self.waits.is_announced();
            assert!(records || !self.native.load(Ordering::SeqCst), "a wait without a record before it");
            assert!(records || !self.waits.is_on());
        }

        fn try_once_more(&self) {
            if self.waits.announce() {
                drop(self.stream.lock());
                self.waits.turn_on(|on| self.set(on)).unwrap();
                self.allocate();
                self.waits.end(|on| self.set(on)).unwrap();
            }
        }
    }

    fn run(policy: bool, meanwhile: fn(&Pool)) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let (native, stream) = (AtomicBool::new(false), Mutex::new(()));
            let pool = Arc::new(Pool { waits: Waits::new(policy), native, stream });
            let trying = {
                let pool = Arc::clone(&pool);
                loom::thread::spawn(move || pool.try_once_more())
            };
            meanwhile(&pool);
            pool.allocate();
            trying.join().unwrap();
            assert!(!pool.native.load(Ordering::SeqCst) && !pool.waits.is_on() && !pool.waits.is_announced());
        });
    }

    #[test]
    fn no_allocation_waits_without_a_record_while_the_policy_goes() {
        run(true, |pool| pool.waits.allow(false, |on| pool.set(on)).unwrap());
    }

    #[test]
    fn no_allocation_waits_without_a_record_while_the_policy_comes() {
        run(false, |pool| pool.waits.allow(true, |on| pool.set(on)).unwrap());
    }

    #[test]
    fn no_allocation_waits_without_a_record_while_two_try() {
        run(true, Pool::try_once_more);
    }
}
