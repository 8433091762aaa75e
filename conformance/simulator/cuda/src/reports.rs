//! Misuse that the real driver would let pass or merely answer with a code, kept for the tests to read.
//!
//! A report is never the only effect: the call still answers what the real driver answers. The list is bounded, so
//! a client in a loop cannot exhaust the machine.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use parking_lot::Mutex;

/// What kind of misuse a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call that needs a current context was made without one, or with a destroyed one.
    Context,
    /// A native call was made inside a host function or stream callback.
    HostFunction,
    /// Memory was used after it was freed.
    UseAfterFree,
    /// Stream-ordered memory was used by work that is not ordered after its allocation.
    UseBeforeAlloc,
    /// Memory was freed without being ordered after work that uses it.
    UnorderedFree,
    /// A pool's memory was freed by the call for memory of no pool, which spoils the real driver's accounts.
    PlainFree,
    /// A pool was destroyed before a synchronisation had seen its frees, which crashes the real driver.
    EarlyPoolDestroy,
    /// A stream was to wait for another device's event that processes share, which crashes the real driver.
    FarSharedEvent,
    /// Memory was freed twice.
    DoubleFree,
    /// A pointer that is not what the call needs, or an access outside of its allocation.
    InvalidPointer,
    /// A handle of a destroyed object was used.
    DestroyedHandle,
    /// A handle that is of another kind, or no handle at all.
    InvalidHandle,
    /// An import of another API was destroyed while it was in use, or signalled against its rules.
    External,
    /// A device touched memory it has no access to.
    PeerAccess,
    /// A kernel failed.
    KernelFault,
    /// A context was destroyed with objects of its own still alive.
    Leak,
    /// A defect of this library itself.
    Internal,
}

impl Kind {
    /// The name that the control API and the report file use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Context => "context",
            Kind::HostFunction => "host-function",
            Kind::UseAfterFree => "use-after-free",
            Kind::UseBeforeAlloc => "use-before-alloc",
            Kind::UnorderedFree => "unordered-free",
            Kind::PlainFree => "plain-free",
            Kind::EarlyPoolDestroy => "early-pool-destroy",
            Kind::FarSharedEvent => "far-shared-event",
            Kind::DoubleFree => "double-free",
            Kind::InvalidPointer => "invalid-pointer",
            Kind::DestroyedHandle => "destroyed-handle",
            Kind::InvalidHandle => "invalid-handle",
            Kind::External => "external",
            Kind::PeerAccess => "peer-access",
            Kind::KernelFault => "kernel-fault",
            Kind::Leak => "leak",
            Kind::Internal => "internal",
        }
    }
}

/// One report.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its kind.
    pub kind: Kind,
    /// The call or command it happened in, and what was wrong.
    pub text: String,
}

/// Longest list that is kept; later reports are only counted.
const KEPT: usize = 10_000;

static REPORTS: Mutex<Vec<Report>> = Mutex::new(Vec::new());
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CALL: Cell<&'static str> = const { Cell::new("") };
}

/// Names the native call that this thread is in; reports begin with it.
pub fn enter(call: &'static str) -> &'static str {
    CALL.replace(call)
}

/// Adds a report.
pub fn add(kind: Kind, text: impl AsRef<str>) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let call = CALL.get();
    let text = if call.is_empty() { text.as_ref().to_owned() } else { format!("{call}: {}", text.as_ref()) };
    let mut list = REPORTS.lock();
    if list.len() < KEPT {
        list.push(Report { kind, text });
    }
}

/// Reports since the last clear.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// A copy of the reports, oldest first.
pub fn all() -> Vec<Report> {
    REPORTS.lock().clone()
}

/// Forgets all reports.
pub fn clear() {
    REPORTS.lock().clear();
    COUNT.store(0, Ordering::Relaxed);
}
