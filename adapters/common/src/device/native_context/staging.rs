//! Pinned memory that commands copy through ([`crate::stream::staging`]), kept for the next one.
//!
//! Making pinned memory takes long and freeing it waits for the whole device, so what a command used goes to the device's cache,
//! in sizes that are powers of two (larger ones than it keeps are closer to what was asked for), and back to the native library only when the cache is full or ends: on the thread that
//! may wait ([`crate::device::deferred`]), since commands must not. What lies in the cache is used by nothing any more. In a full
//! one, sizes that nobody has asked for lately make room.
//!
//! Buffers and images keep pieces too, each for its own next command ([`ReclaimStaging`]). What they have is counted: before there
//! is much more than at the last look, whatever nobody has used since then goes to the cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::ur_result_t;

use crate::device::deferred;
use crate::device::native_context::{NativeContext, own_memory};
use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;
use crate::sync::weak_list::WeakList;

/// The least that is made.
const LEAST: usize = 4096;
/// Bytes that a device keeps, and those that may be out before anybody looks which of them are used.
const MOST_KEPT: usize = 64 << 20;
/// Pieces that are taken or put back while a size is not and still makes no room: sizes that take turns would else be made and
/// freed in turn.
const LATELY: u64 = 32;

/// What a device keeps.
#[derive(Default)]
pub struct StagingPages {
    kept: Mutex<Recycled>,
    /// Bytes of pieces that somebody has.
    out: AtomicUsize,
    /// How many of them there may be before the next look, if that is more than [`MOST_KEPT`].
    look_at: AtomicUsize,
}

/// Somebody who keeps pieces for commands to come.
pub trait ReclaimStaging<D: Driver>: Send + Sync {
    /// Gives out pieces of a native context that nothing uses any more. Waits for nobody.
    fn take_idle(&self, native: &NativeContext<D>, which: Idle) -> Vec<Piece<D>>;
}

/// Pieces that nothing uses any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// All of them.
    All,
    /// Those that nothing has used since they were asked for the last time.
    Old,
}

/// Pieces of one size.
#[derive(Default)]
struct Class {
    addresses: Vec<usize>,
    /// The number of the last use: of a piece that was asked for or put back.
    used_at: u64,
}

#[derive(Default)]
struct Recycled {
    /// By the logarithm of their size.
    classes: Vec<Class>,
    bytes: usize,
    /// The number of the last use of any class.
    uses: u64,
}

/// Pieces that go back to the native library, by their addresses; mostly none.
type Superfluous = SmallVec<[usize; 1]>;

impl Recycled {
    /// The class of a size, which is used now.
    fn class(&mut self, size: usize) -> &mut Class {
        let class = size.trailing_zeros() as usize;
        debug_assert!(size.is_power_of_two());
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, Class::default);
        }
        self.uses += 1;
        let class = &mut self.classes[class];
        class.used_at = self.uses;
        class
    }

    fn take(&mut self, size: usize) -> Option<usize> {
        if size > MOST_KEPT {
            return None;
        }
        let address = self.class(size).addresses.pop()?;
        self.bytes -= size;
        Some(address)
    }

    /// Takes a piece back. What there is no room for is the caller's.
    fn put(&mut self, address: usize, size: usize) -> Superfluous {
        let mut superfluous = Superfluous::new();
        if size > MOST_KEPT {
            superfluous.push(address);
            return superfluous;
        }
        self.class(size).addresses.push(address);
        self.bytes += size;
        while self.bytes > MOST_KEPT {
            let class = self.unused_lately().unwrap_or(size.trailing_zeros() as usize);
            superfluous.extend(self.classes[class].addresses.pop());
            self.bytes -= 1 << class;
        }
        superfluous
    }

    /// Of the classes with pieces the one that was used longest ago, unless it was lately.
    fn unused_lately(&self) -> Option<usize> {
        let classes = self.classes.iter().enumerate().filter(|(_, class)| !class.addresses.is_empty());
        let (index, class) = classes.min_by_key(|(_, class)| class.used_at)?;
        (class.used_at + LATELY < self.uses).then_some(index)
    }
}

impl StagingPages {
    fn take(&self, size: usize) -> Option<usize> {
        self.kept.lock().take(size)
    }

    fn put(&self, address: usize, size: usize) -> Superfluous {
        self.kept.lock().put(address, size)
    }

    /// Bytes that are kept.
    pub fn kept_bytes(&self) -> usize {
        self.kept.lock().bytes
    }

    /// Bytes that somebody has, whether a command uses them or not.
    pub fn bytes_out(&self) -> usize {
        self.out.load(Ordering::Relaxed)
    }

    /// Whether so many more bytes are out than at the last look that it is worth another.
    fn is_look_due(&self, more: usize) -> bool {
        self.bytes_out() + more > self.look_at.load(Ordering::Relaxed).max(MOST_KEPT)
    }

    fn note_look(&self) {
        self.look_at.store(2 * self.bytes_out(), Ordering::Relaxed);
    }

    fn note_taken(&self, size: usize) {
        self.out.fetch_add(size, Ordering::Relaxed);
    }

    /// Notes that nobody has a piece any more. The next look is due by what is out now, and not by what once was.
    fn note_given_back(&self, size: usize) {
        let out = self.out.fetch_sub(size, Ordering::Relaxed) - size;
        self.look_at.fetch_min(2 * out, Ordering::Relaxed);
    }

    /// Takes everything out, for the caller to free.
    pub fn take_all(&self) -> Vec<usize> {
        let kept = core::mem::take(&mut *self.kept.lock());
        kept.classes.into_iter().flat_map(|class| class.addresses).collect()
    }
}

/// The size of a piece for so many bytes. Of those that are not kept there are eight to a doubling, so that at most an eighth is
/// pinned for nothing, and whoever keeps one for its own next command still uses it for a little more or less.
fn size_for(bytes: usize) -> Option<usize> {
    if bytes <= MOST_KEPT {
        return Some(bytes.max(LEAST).next_power_of_two());
    }
    let doubling = (bytes - 1).ilog2();
    bytes.checked_next_multiple_of(1 << (doubling - 3))
}

fn reclaimers<D: Driver>() -> &'static WeakList<dyn ReclaimStaging<D>> {
    D::cell().staging_reclaimers.get_or_make(WeakList::default)
}

/// Has somebody asked from now on for what it keeps.
pub fn add_reclaimer<D: Driver>(reclaimer: &Arc<dyn ReclaimStaging<D>>) {
    reclaimers().add(reclaimer);
}

/// Takes pieces from those who keep them. Called with no lock held.
pub fn take_idle<D: Driver>(native: &NativeContext<D>, which: Idle) -> Vec<Piece<D>> {
    reclaimers().living().iter().flat_map(|reclaimer| reclaimer.take_idle(native, which)).collect()
}

/// A kept piece of that size. Where there is none and much is out, old ones come to the cache first.
fn take_kept<D: Driver>(native: &NativeContext<D>, size: usize) -> Option<usize> {
    let kept = native.staging.take(size);
    if kept.is_some() || !native.staging.is_look_due(size) {
        return kept;
    }
    drop(take_idle(native, Idle::Old));
    native.staging.note_look();
    native.staging.take(size)
}

/// A piece of pinned memory of some device. Whoever drops it has seen the end of every copy from and to it.
pub struct Piece<D: Driver> {
    native: Arc<NativeContext<D>>,
    address: usize,
    size: usize,
}

impl<D: Driver> Piece<D> {
    /// A piece of at least so many bytes, kept or new.
    ///
    /// # Errors
    /// `OUT_OF_HOST_MEMORY`; what the native library answers.
    pub fn new(native: &Arc<NativeContext<D>>, bytes: usize) -> Result<Self> {
        let full = || ur_result_t::ERROR_OUT_OF_HOST_MEMORY;
        let size = size_for(bytes).ok_or_else(full)?;
        let native = Arc::clone(native);
        let fresh = || {
            let address = native.allocate(MemoryKind::Host, size).map_err(|error| match error.code() {
                ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(full()),
                _ => error,
            })?;
            own_memory::add(address);
            Result::Ok(address)
        };
        let address = match take_kept(&native, size) {
            Some(address) => address,
            None => fresh()?,
        };
        native.staging.note_taken(size);
        Ok(Self { native, address, size })
    }

    /// Gives it back to the native library, which may wait for the device.
    pub fn free(mut self) {
        // Nobody is left to tell.
        own_memory::free_pinned(self.native.driver, core::mem::take(&mut self.address));
    }

    /// Whether it is of that native context.
    #[must_use]
    pub fn is_of(&self, native: &NativeContext<D>) -> bool {
        core::ptr::eq(&raw const *self.native, native)
    }

    /// How many bytes it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether it is what [`Piece::new`] would make for so many bytes.
    #[must_use]
    pub fn fits(&self, bytes: usize) -> bool {
        size_for(bytes) == Some(self.size)
    }

    /// The first byte.
    #[must_use]
    pub fn address(&self) -> usize {
        self.address
    }
}

impl<D: Driver> Drop for Piece<D> {
    fn drop(&mut self) {
        self.native.staging.note_given_back(self.size);
        if self.address == 0 {
            // It was freed.
            return;
        }
        let superfluous = self.native.staging.put(self.address, self.size);
        if superfluous.is_empty() {
            return;
        }
        let native = Arc::clone(&self.native);
        deferred::hand_over(move || {
            // Nobody is left to tell.
            superfluous.into_iter().for_each(|address| own_memory::free_pinned(native.driver, address));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a size so often; what went back to the native library.
    fn use_often(kept: &mut Recycled, size: usize, times: u64) -> Vec<usize> {
        let once = |number| {
            let address = kept.take(size).unwrap_or(size + number as usize);
            kept.put(address, size)
        };
        (0..times).flat_map(once).collect()
    }

    #[test]
    fn a_size_that_nobody_has_used_lately_makes_room_and_one_that_takes_turns_does_not() {
        let mut kept = Recycled::default();
        assert!(kept.put(7, MOST_KEPT).is_empty());
        for _ in 0..100 {
            assert_eq!(use_often(&mut kept, LEAST, 1), [LEAST], "the large one stays");
            assert!(use_often(&mut kept, MOST_KEPT, 1).is_empty());
        }
        let freed = use_often(&mut kept, LEAST, LATELY);
        assert_eq!(freed.iter().filter(|address| **address == 7).count(), 1, "{freed:?}");
        assert_eq!(kept.bytes, LEAST);
        assert!(use_often(&mut kept, LEAST, 100).is_empty());
    }

    #[test]
    fn a_look_is_due_by_what_is_out_now_and_not_by_what_once_was() {
        let pages = StagingPages::default();
        (0..100).for_each(|_| pages.note_taken(MOST_KEPT));
        pages.note_look();
        assert!(!pages.is_look_due(MOST_KEPT));
        (0..99).for_each(|_| pages.note_given_back(MOST_KEPT));
        assert!(!pages.is_look_due(MOST_KEPT) && pages.is_look_due(MOST_KEPT + 1));
    }

    #[test]
    fn a_piece_has_at_most_an_eighth_more_than_was_asked_for_if_it_is_not_kept() {
        const MIB: usize = 1 << 20;
        let asked = [
            1,
            LEAST,
            LEAST + 1,
            33 * MIB,
            MOST_KEPT,
            MOST_KEPT + 1,
            65 * MIB,
            72 * MIB,
            127 * MIB,
            128 * MIB,
            129 * MIB,
        ];
        let sizes = asked.map(size_for);
        let given = [
            LEAST,
            LEAST,
            2 * LEAST,
            MOST_KEPT,
            MOST_KEPT,
            72 * MIB,
            72 * MIB,
            72 * MIB,
            128 * MIB,
            128 * MIB,
            144 * MIB,
        ];
        assert_eq!(sizes, given.map(Some));
        assert_eq!(size_for(usize::MAX), None);
    }

    #[test]
    fn a_piece_that_is_larger_than_all_that_is_kept_displaces_nothing() {
        let mut kept = Recycled::default();
        assert!(kept.put(7, LEAST).is_empty());
        assert_eq!(use_often(&mut kept, MOST_KEPT + (8 << 20), LATELY + 1).len() as u64, LATELY + 1);
        assert_eq!((kept.take(LEAST), kept.bytes), (Some(7), 0));
    }
}
