//! Streams of released queues, kept for the next queues of their context.
//!
//! A new stream costs an aligned allocation, an entry in the registry and a native stream; a queue that takes a kept one pays
//! for none of them. A stream is kept only while nothing of its queue is left in it ([`Stream::clean`]). Its position goes on
//! counting, so what others remember of it stays true. The context owns the kept streams, and they end with it. So it does those
//! that must stay for a while because no event tells when their work has finished ([`Unfinished`]).
//!
//! Must never drop a stream while the list is locked, nor keep a stream whose lock a thread still owns: the next queue's
//! thread would have to take the ownership away for good.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::context::{Context, DeviceState};
use crate::device::{Device, Reclaim};
use crate::driver::{Driver, StreamKind};
use crate::object::Object;
use crate::object::error::{self, Result};
use crate::stream::memory::Unfinished;
use crate::stream::{Owned, Stream};

/// Streams that a context keeps of a device; the device keeps native streams beside them.
const MOST_KEPT: usize = 8;

/// What a context keeps of one device.
struct IdleStreams<D: Driver> {
    /// In the order in which they came.
    kept: Mutex<Vec<Arc<Stream<D>>>>,
    /// Streams that stay until their work has finished, for those who wait for it.
    unfinished: Mutex<Vec<Unfinished<D>>>,
}

impl<D: Driver> IdleStreams<D> {
    /// The place of a device in a context.
    fn of<'c>(context: &'c Context<D>, device: &Object<Device<D>>) -> Result<&'c Arc<Self>> {
        Ok(context.idle_streams(device)?.get_or_make::<Arc<Self>>(|| {
            let idle = Arc::new(Self { kept: Mutex::default(), unfinished: Mutex::default() });
            let reclaim: Arc<dyn Reclaim> = Arc::clone(&idle) as _;
            device.reclaimers.add(&reclaim);
            idle
        }))
    }

    /// Keeps a stream until its work has finished.
    fn put_unfinished(&self, unfinished: Unfinished<D>) {
        self.drop_finished();
        self.unfinished.lock().push(unfinished);
    }

    /// Lets the streams go whose work has finished.
    fn drop_finished(&self) {
        let over: Vec<_> = self.unfinished.lock().extract_if(.., |stream| stream.is_over()).collect();
        drop(over);
    }

    fn take(&self, kind: StreamKind) -> Option<Arc<Stream<D>>> {
        loop {
            let stream = {
                let mut kept = self.kept.lock();
                let at = kept.iter().rposition(|stream| stream.made_as() == Some(kind))?;
                kept.remove(at)
            };
            if stream.state.has_no_owner() {
                return Some(stream);
            }
            // Somebody looked through the context's streams meanwhile, and its lock is everybody's now.
        }
    }

    /// Keeps a stream if there is room, which the oldest of another kind makes: it would stay for ever if its kind is never asked
    /// for again.
    fn put(&self, stream: &Arc<Stream<D>>) -> bool {
        let mut kept = self.kept.lock();
        let mut oldest = None;
        if kept.len() >= MOST_KEPT {
            let Some(at) = kept.iter().position(|known| known.made_as() != stream.made_as()) else { return false };
            oldest = Some(kept.remove(at));
        }
        kept.push(Arc::clone(stream));
        // Dropped behind the lock, with the native stream.
        drop(kept);
        drop(oldest);
        true
    }
}

impl<D: Driver> Reclaim for IdleStreams<D> {
    /// Streams keep no memory of the device, but what was freed there may be waited for.
    fn reclaim(&self) -> Result<u64> {
        self.drop_finished();
        Ok(0)
    }

    fn release_idle(&self) {
        self.drop_finished();
        let kept = core::mem::take(&mut *self.kept.lock());
        drop(kept);
    }
}

/// A stream for a queue of the context: one that is kept, or a new one.
///
/// # Errors
/// What the native library answers to a new stream.
pub fn take_or_make<D: Driver>(
    context: &Context<D>,
    device: &Arc<DeviceState<D>>,
    kind: StreamKind,
) -> Result<Arc<Stream<D>>> {
    let kept = context.idle_streams(&device.device)?.get::<Arc<IdleStreams<D>>>().and_then(|idle| idle.take(kind));
    match kept {
        Some(stream) => {
            device.native.end_idle_streams();
            Ok(stream)
        }
        None => Stream::new(Arc::clone(device), &context.registry, kind),
    }
}

/// Keeps the stream of a queue that ends, or ends the stream's dealings with memory.
pub fn keep_or_retire<D: Driver>(context: &Context<D>, device: &Object<Device<D>>, stream: &Arc<Stream<D>>) {
    let is_kept = stream.clean() && IdleStreams::of(context, device).is_ok_and(|idle| idle.put(stream));
    if !is_kept
        && let Some(unfinished) = stream.retire()
        && let Ok(idle) = IdleStreams::of(context, device)
    {
        idle.put_unfinished(unfinished);
    }
}

impl<D: Driver> Stream<D> {
    /// Whether nobody has had its lock since it was made, or was cleaned: all that [`Stream::clean`] looks at behind the lock is
    /// as it was then.
    pub(super) fn is_untouched(&self) -> bool {
        self.state.has_no_owner()
    }

    /// The kind that its native stream was made as; `None` for a stream that the application gave.
    fn made_as(&self) -> Option<StreamKind> {
        match self.owned {
            Some(Owned::Made(kind)) => Some(kind),
            Some(Owned::Given) | None => None,
        }
    }

    /// Makes the stream of a queue that ends as good as new for another one; `false` if something of the old one is left:
    /// an event, work that may still run, a pool cache, a native handle outside, the wait of a command that failed, or a
    /// lock that several threads have used.
    fn clean(self: &Arc<Self>) -> bool {
        // An event, a job or a capture that knows the stream holds it.
        let is_free = Arc::strong_count(self) == 1
            && self.made_as().is_some()
            && !self.is_shared()
            && !self.is_capturing()
            && self.words.is_empty()
            && self.failures == error::failures();
        if !is_free {
            return false;
        }
        if self.is_untouched() {
            return true;
        }
        {
            let mut state = self.lock();
            let is_over = self.reached.completed() >= state.position;
            if !is_over || !state.cache.is_unused() || state.cache.has_ended() || !state.has_no_events() {
                return false;
            }
            // The number is of the old queue's barriers.
            state.barrier = 0;
        }
        self.state.disown()
    }
}
