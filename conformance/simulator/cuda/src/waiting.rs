//! Which calls wait for work that runs, as the real driver's do (`docs/native-facts.md`, `docs/probes/blocking.c`).
//!
//! Only the decision and the waiting are here; nothing in this module changes what a call does. A call that waits holds
//! no lock meanwhile, so that other threads' calls go on, but for those that the driver holds up too ([`inside`]). While work
//! is held (`simcudaHoldWork`) nothing waits: whoever holds it calls from the same thread.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::context::{CONTEXTS, Context};
use crate::copy::{Copy, Place, Source};
use crate::memory::{self, Allocation, Kind};
use crate::stream::{self, Stream};
use crate::sys::Handle;

/// Places of a stream for launches, copies, fills and written values, each of which takes one before the next one waits for the oldest to
/// end. A graph's launch takes one, whatever it holds; a copy can take more ([`places_of`]).
pub const LAUNCH_QUEUE: u64 = 1020;

/// Places of a copy that needs another device.
const FAR_COPY: u64 = 3;

thread_local! {
    static WAITS: Cell<u64> = const { Cell::new(0) };
}

/// Counts a wait of this thread's for work that has not ended.
pub fn note() {
    WAITS.set(WAITS.get() + 1);
}

/// How often calls of this thread found work unfinished that they waited for.
pub fn of_thread() -> u64 {
    WAITS.get()
}

/// How many threads are inside, by their context's handle.
static INSIDE: Mutex<BTreeMap<Handle, usize>> = Mutex::new(BTreeMap::new());
static LEFT: Condvar = Condvar::new();

/// Waits as a thread that is in a copy or at a full stream: what takes memory, events, streams and host functions of the context
/// meanwhile waits for it ([`for_those_inside`]).
pub fn inside(context: &Context, wait: impl FnOnce()) {
    *INSIDE.lock().entry(context.handle).or_default() += 1;
    wait();
    let mut inside = INSIDE.lock();
    if let Some(threads) = inside.get_mut(&context.handle) {
        *threads -= 1;
        if *threads == 0 {
            inside.remove(&context.handle);
        }
    }
    LEFT.notify_all();
}

/// Waits until no thread is [`inside`] of the context.
pub fn for_those_inside(context: &Context) {
    let mut inside = INSIDE.lock();
    while inside.contains_key(&context.handle) {
        LEFT.wait(&mut inside);
    }
}

/// Waits for all that was submitted to a device by now, whichever context it is in.
pub fn for_device(ordinal: usize) {
    for context in CONTEXTS.all().iter().filter(|context| context.device.ordinal == ordinal) {
        for stream in context.streams().iter().chain(&context.legacy_if_used()) {
            for_stream(stream);
        }
    }
}

/// Waits for all that was submitted to any device by now, as what changes managed memory does.
pub fn for_every_device() {
    crate::device::all().iter().for_each(|device| for_device(device.ordinal));
}

/// Waits for the device that an allocation lies on, or, of host memory, for the device of its context.
pub fn for_device_of(allocation: &Allocation) {
    match allocation.device.or_else(|| Some(CONTEXTS.get(allocation.context)?.device.ordinal)) {
        Some(ordinal) => for_device(ordinal),
        None => for_every_device(),
    }
}

/// Waits for all that was submitted to a stream by now.
pub fn for_stream(stream: &Stream) {
    if !stream::is_held() {
        stream.wait_submitted();
    }
}

/// Bytes from which on a copy out of memory that the driver does not know waits. 2 MiB were seen not to.
const LARGE_FROM_HEAP: usize = 4 << 20;

/// Whether a copy that was submitted waits for its stream to get there: one that writes memory which the driver does not
/// know, one from host memory to host memory, and a large one from the heap to the device.
pub fn copy_waits(copy: &Copy) -> bool {
    if copy.extent.contains(&0) {
        return false;
    }
    let from_host = match &copy.src {
        Source::At(place) => is_host(place),
        Source::Staged(_) => true,
    };
    writes_heap(copy) || (from_host && is_host(&copy.dst)) || is_large_from_heap(copy)
}

/// Whether a copy writes memory that the driver does not know.
pub fn writes_heap(copy: &Copy) -> bool {
    !copy.extent.contains(&0) && !copy.dst.tracked
}

/// Whether a copy brings so many bytes of memory that the driver does not know to the device that the driver waits.
pub fn is_large_from_heap(copy: &Copy) -> bool {
    let from_heap = matches!(&copy.src, Source::At(place) if !place.tracked);
    let bytes = copy.extent.iter().fold(1, |bytes: usize, part| bytes.saturating_mul(*part));
    from_heap && bytes >= LARGE_FROM_HEAP && copy.dst.tracked && !is_host(&copy.dst)
}

/// The places of a stream that a copy takes: more where it needs another device, but for what it sends to a peer.
pub fn places_of(copy: &Copy, stream: &Stream) -> u64 {
    let context = &stream.context;
    let afar = |place: &Place| {
        allocation_at(place).and_then(|found| found.device).filter(|&device| device != context.device.ordinal)
    };
    let comes_from_afar = matches!(&copy.src, Source::At(place) if afar(place).is_some());
    let goes_to_a_stranger = afar(&copy.dst).is_some_and(|device| !context.reaches(device));
    if comes_from_afar || goes_to_a_stranger { FAR_COPY } else { 1 }
}

fn allocation_at(place: &Place) -> Option<Arc<Allocation>> {
    if place.tracked { memory::find(place.address) } else { None }
}

fn is_host(place: &Place) -> bool {
    // A host pool's memory counts as the device's.
    allocation_at(place).is_none_or(|found| matches!(found.kind, Kind::Host | Kind::Registered))
}
