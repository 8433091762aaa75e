//! Pinned memory that commands copy through, and its way to the next command.
//!
//! A stream's order says when a command may copy into such memory again, without any event: that comes after what earlier
//! commands of the stream did, and the host touches it only when the copy has completed. So memory goes from one command to
//! the next of a stream at once; to other streams, and to commands that copy nothing into it, when its last use is known to be
//! over. Only where memory piles up is the library asked.
//!
//! Must never wait on the caller's thread, nor make a native call while a list is locked.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::device::deferred;
use crate::device::event_pool::PooledEvent;
use crate::device::native_context::staging::{Idle, Piece, ReclaimStaging};
use crate::device::native_context::{NativeContext, staging};
use crate::driver::Driver;
use crate::object::error::Result;
use crate::stream::Stream;

/// Pieces that may lie in a list without the library being asked about them.
const FEW: usize = 4;

/// Pinned memory of one command. What was copied from and to it is over before it serves another stream.
pub struct Staging<D: Driver> {
    /// Always there until it is dropped.
    piece: Option<Piece<D>>,
    /// How much of it is used.
    size: usize,
    last: Option<LastUse<D>>,
    /// The position of its last use as it was when [`Idle::Old`] pieces were asked for the last time.
    seen: Option<u64>,
}

/// The last command that used a piece.
struct LastUse<D: Driver> {
    stream: Arc<Stream<D>>,
    position: u64,
    /// Recorded behind the command once the library has to be asked, with the position that it stands for.
    marker: Option<(u64, PooledEvent<D>)>,
}

impl<D: Driver> LastUse<D> {
    fn is_known_over(&self) -> bool {
        self.stream.is_completed(self.position)
    }

    /// Asks the library; what cannot be asked is not over.
    fn is_over(&mut self) -> bool {
        if self.marker.is_none() {
            // While a native call is on its way, nothing can be recorded.
            self.marker = self.stream.record_marker_unless_calling().unwrap_or(None);
        }
        if let Some((position, marker)) = &self.marker
            && self.stream.driver.event_is_complete(marker.raw()).unwrap_or(false)
        {
            self.stream.note_completed(*position);
        }
        self.is_known_over()
    }
}

impl<D: Driver> Staging<D> {
    fn new(native: &Arc<NativeContext<D>>, size: usize) -> Result<Self> {
        Ok(Self { piece: Some(Piece::new(native, size)?), size, last: None, seen: None })
    }

    /// The first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.piece.as_ref().map_or(0, Piece::address)
    }

    /// How many bytes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Notes that the command of that position uses it.
    pub fn used_by(&mut self, stream: &Arc<Stream<D>>, position: u64) {
        // Most often the stream that used it before.
        if let Some(last) = &mut self.last
            && Arc::ptr_eq(&last.stream, stream)
        {
            (last.position, last.marker) = (position, None);
            return;
        }
        self.last = Some(LastUse { stream: Arc::clone(stream), position, marker: None });
    }

    /// Makes it the memory of the stream's next command, for so many bytes, whatever is still on the stream; `false` if that
    /// cannot be.
    pub fn begin_again(&mut self, stream: &Arc<Stream<D>>, size: usize) -> bool {
        let serves = self.serves(stream, size);
        if serves {
            self.size = size;
        }
        serves
    }

    /// Whether the next command of the stream may use it for so many bytes, whatever is still on the stream.
    fn serves(&self, stream: &Arc<Stream<D>>, size: usize) -> bool {
        let follows = self.last.as_ref().is_some_and(|last| Arc::ptr_eq(&last.stream, stream));
        follows && self.piece.as_ref().is_some_and(|piece| piece.fits(size))
    }

    fn is_known_idle(&self) -> bool {
        self.last.as_ref().is_none_or(LastUse::is_known_over)
    }

    /// Gives the memory itself out if it is of that native context and one of those that are asked for; this is to be dropped then.
    pub fn take_idle(&mut self, native: &NativeContext<D>, which: Idle) -> Option<Piece<D>> {
        if !self.piece.as_ref()?.is_of(native) {
            return None;
        }
        let position = self.last.as_ref().map_or(0, |last| last.position);
        if which == Idle::Old && self.seen.replace(position) != Some(position) {
            return None;
        }
        if !self.is_known_idle() && !self.last.as_mut()?.is_over() {
            return None;
        }
        self.last = None;
        self.piece.take()
    }
}

impl<D: Driver> Drop for Staging<D> {
    fn drop(&mut self) {
        let (piece, last) = (self.piece.take(), self.last.take());
        let Some(last) = last.filter(|last| !last.is_known_over()) else { return };
        // No free: host tasks need not wait for the stream, which may wait for them. What the cache cannot keep becomes one.
        deferred::hand_over_wait(move || {
            // What cannot be waited for belongs to a lost device.
            let _ = last.stream.wait_until_reached();
            drop(piece);
        });
    }
}

/// Memory that commands have used, for the next ones; in the order of its use.
pub struct UsedStaging<D: Driver> {
    list: Mutex<VecDeque<Staging<D>>>,
}

impl<D: Driver> Default for UsedStaging<D> {
    fn default() -> Self {
        Self { list: Mutex::default() }
    }
}

impl<D: Driver> UsedStaging<D> {
    /// Memory for a command. One that copies into it before the host does anything names its stream.
    ///
    /// # Errors
    /// As [`Piece::new`].
    pub fn take(
        &self,
        native: &Arc<NativeContext<D>>,
        stream: Option<&Arc<Stream<D>>>,
        size: usize,
    ) -> Result<Staging<D>> {
        let newest = stream.and_then(|stream| {
            let mut list = self.list.lock();
            if list.back()?.serves(stream, size) { list.pop_back() } else { None }
        });
        if let Some(mut staging) = newest {
            staging.size = size;
            return Ok(staging);
        }
        self.release_idle();
        Staging::new(native, size)
    }

    /// Keeps memory whose last use is on its stream.
    pub fn put(&self, staging: Staging<D>) {
        self.list.lock().push_back(staging);
    }

    /// A list that is asked for what it keeps when that is needed elsewhere.
    #[must_use]
    pub fn listed() -> Arc<Self> {
        let list = Arc::new(Self::default());
        let reclaimer: Arc<dyn ReclaimStaging<D>> = Arc::clone(&list) as _;
        staging::add_reclaimer(&reclaimer);
        list
    }

    /// Lets go of what nothing uses any more, from the oldest on. Where more than a few are left, the library is asked about
    /// the oldest, which goes to the end if it is busy: so a command costs the same however many copies are on their way.
    fn release_idle(&self) {
        loop {
            let (mut oldest, left) = {
                let mut list = self.list.lock();
                let Some(oldest) = list.pop_front() else { return };
                (oldest, list.len())
            };
            if oldest.is_known_idle() {
                continue;
            }
            let asks = left >= FEW;
            if asks && oldest.last.as_mut().is_none_or(LastUse::is_over) {
                continue;
            }
            let mut list = self.list.lock();
            if asks {
                list.push_back(oldest);
            } else {
                list.push_front(oldest);
            }
            return;
        }
    }
}

impl<D: Driver> ReclaimStaging<D> for UsedStaging<D> {
    fn take_idle(&self, native: &NativeContext<D>, which: Idle) -> Vec<Piece<D>> {
        // The library may be asked, so the list is not locked. Who looks for memory meanwhile finds none.
        let mut list = core::mem::take(&mut *self.list.lock());
        let idle = list.iter_mut().filter_map(|staging| staging.take_idle(native, which)).collect();
        list.retain(|staging| staging.piece.is_some());
        let mut later = self.list.lock();
        list.append(&mut later);
        *later = list;
        idle
    }
}
