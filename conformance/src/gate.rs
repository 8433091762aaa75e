//! Work that is certainly running, on any driver: a kernel that waits until the host opens its gate. What a test
//! claims "while that runs" then does not depend on timing.

use core::ffi::c_void;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::memory::{Kind, Memory};
use crate::{Context, Event, Fixture, Kernel, Launch, Queue};

/// So long a gate stays closed at most: an adapter that makes the test wait for its own gate fails then, and does not
/// hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// A closed gate. The kernel's result, [`Gate::OPEN`], lies at [`Gate::result`] once it ran.
pub struct Gate<'f> {
    flag: Memory<'f>,
    kernel: Kernel,
    keeper: Option<(Sender<()>, JoinHandle<bool>)>,
}

impl<'f> Gate<'f> {
    /// What the kernel writes when it has seen the gate open.
    pub const OPEN: u32 = 0x6f70_656e;

    /// A closed gate.
    #[track_caller]
    #[must_use]
    pub fn new(fixture: &'f Fixture) -> Self {
        Self::with(fixture, fixture.basic(c"wait_for_change"))
    }

    /// A closed gate for queues of that context, which must have the fixture's first device.
    #[track_caller]
    #[must_use]
    pub fn in_context(fixture: &'f Fixture, context: &Context) -> Self {
        Self::with(fixture, fixture.kernel(&fixture.program_in(context.handle(), "basic.ptx"), c"wait_for_change"))
    }

    fn with(fixture: &'f Fixture, kernel: Kernel) -> Self {
        let flag = fixture.memory(Kind::Host, 8);
        flag.store(0, 0);
        flag.store(1, 0);
        let address = flag.pointer().expose_provenance();
        let (stop, stopped) = channel();
        let keeper = std::thread::spawn(move || {
            let late = stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
            if late {
                let flag = core::ptr::with_exposed_provenance_mut::<u32>(address);
                // SAFETY: the gate frees the flag only after this thread has ended.
                unsafe { flag.write_volatile(Self::OPEN) };
            }
            late
        });
        Self { flag, kernel, keeper: Some((stop, keeper)) }
    }

    #[track_caller]
    fn launch(&self) -> Launch<'_> {
        assert!(self.keeper.is_some(), "the gate is open; it holds up nothing any more");
        Launch::new(&self.kernel, &[1]).local(&[1]).pointer(self.flag.pointer()).value(0u32).pointer(self.result())
    }

    /// Puts the waiting kernel on a queue.
    #[track_caller]
    pub fn block(&self, queue: &Queue) {
        self.launch().on(queue);
    }

    /// As [`Gate::block`], with the kernel's event.
    #[track_caller]
    #[must_use]
    pub fn block_event(&self, queue: &Queue) -> Event {
        self.launch().event_on(queue)
    }

    /// Where the kernel writes, in memory that the host may touch.
    #[must_use]
    pub fn result(&self) -> *mut c_void {
        self.flag.at(4)
    }

    /// Whether the kernel has run through.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.flag.load(1) == Self::OPEN
    }

    /// Opens the gate; the test had it closed until now, or fails.
    #[track_caller]
    pub fn open(&mut self) {
        let late = self.end_keeper();
        self.flag.store(0, Self::OPEN);
        assert!(!late, "something waited for work that was to come after it");
    }

    fn end_keeper(&mut self) -> bool {
        let Some((stop, keeper)) = self.keeper.take() else { return false };
        // The keeper is gone already when it was late.
        let _ = stop.send(());
        keeper.join().unwrap_or(true)
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.end_keeper();
        self.flag.store(0, Self::OPEN);
    }
}
