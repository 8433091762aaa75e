//! A timeline's file: what all processes know of it, in memory that they share.
//!
//! Its first words are the value, what was submitted and the failure. Behind them are *places*, one for each process that has
//! the timeline: what that process owes (the largest value whose signal it has submitted and that is not reached), and a
//! lock of the kernel's that says that the process lives. A place that is taken and not locked is a dead process's: if it owed
//! something, the timeline fails.
//!
//! Whoever has the file may write anything into it. So nothing here trusts a word further than this: values only grow here,
//! whatever the file says, and who lives the kernel says. A process that writes nonsense spoils the timeline and nothing else.

use core::any::Any;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::timeline::shared::system::{self, Atomics, Holder, Identity, Map};

/// Tells the layout below from any other.
const MAGIC: u64 = u64::from_ne_bytes(*b"URTIME\x00\x01");
/// Processes that can have one timeline at a time.
const PLACES: usize = 240;

#[repr(C, align(4096))]
struct Layout {
    magic: AtomicU64,
    /// The space in which processes that have it find each other.
    process_space: AtomicU64,
    /// The largest value that is reached.
    reached: AtomicU64,
    /// The largest value whose signal was submitted.
    signalled: AtomicU64,
    /// The code of the failure; 0 for none.
    failure: AtomicU32,
    /// Counts changes; who waits sleeps on it.
    changes: AtomicU32,
    /// Threads that sleep. One that is killed stays counted, which costs its wake-up.
    sleeping: AtomicU32,
    /// Places that were ever taken.
    used: AtomicU32,
    places: [Place; PLACES],
}

// SAFETY: atomics alone, aligned to the smallest page.
unsafe impl Atomics for Layout {}

#[repr(C)]
struct Place {
    /// A random number while it is taken, else 0.
    claim: AtomicU64,
    /// The largest value that its process has submitted and not reached; 0 for none.
    owed: AtomicU64,
}

/// Files that this process has, and the claims of its places. A leaf lock: it is held over calls of the system that never block.
static OPEN: Mutex<Open> = Mutex::new(Open { files: BTreeMap::new(), claims: BTreeSet::new() });

struct Open {
    files: BTreeMap<Identity, Weak<TimelineFile>>,
    claims: BTreeSet<u64>,
}

/// A timeline's file. A process has one descriptor of it, however often it has the timeline.
pub struct TimelineFile {
    identity: Identity,
    map: Map<Layout>,
    /// None once it is closed.
    descriptor: Option<OwnedFd>,
    /// What this process has made of it.
    values: Mutex<Option<Weak<dyn Any + Send + Sync>>>,
    /// Handle data that are out.
    lent: AtomicUsize,
}

/// Handle data of a file that are out, with which another process may yet open it.
pub struct Lent(Arc<TimelineFile>);

impl Lent {
    /// Of a file.
    pub fn of(file: &Arc<TimelineFile>) -> Self {
        file.lent.fetch_add(1, SeqCst);
        Self(Arc::clone(file))
    }

    /// The file's descriptor.
    ///
    /// # Errors
    /// None while it lives.
    pub fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        self.0.descriptor()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.lent.fetch_sub(1, SeqCst);
        self.0.tell();
    }
}

/// A process's place in a file.
#[derive(Debug)]
pub struct Claim {
    at: usize,
    number: u64,
}

/// Another process's place, as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    at: usize,
    claim: u64,
}

impl TimelineFile {
    /// Bytes of such a file.
    pub const SIZE: usize = size_of::<Layout>();

    /// A new file.
    ///
    /// # Errors
    /// The system's.
    pub fn create(initial: u64) -> io::Result<Arc<Self>> {
        let descriptor = system::create(Self::SIZE)?;
        let (identity, map) = Self::map(descriptor.as_fd())?;
        let layout = map.get();
        layout.process_space.store(system::process_space(), SeqCst);
        layout.reached.store(initial, SeqCst);
        layout.signalled.store(initial, SeqCst);
        layout.magic.store(MAGIC, SeqCst);
        Ok(Self::enter(&mut OPEN.lock(), identity, map, descriptor))
    }

    /// The file that has that identity in another process or this one. `duplicate` makes a descriptor of this process's own if it
    /// has none.
    ///
    /// # Errors
    /// `InvalidData` for what is no timeline's file; `Unsupported` for one of processes that this one cannot see; the system's.
    pub fn open(identity: Identity, duplicate: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<Arc<Self>> {
        let mut open = OPEN.lock();
        if let Some(file) = open.files.get(&identity).and_then(Weak::upgrade) {
            return Ok(file);
        }
        let descriptor = duplicate()?;
        let (found, map) = Self::map(descriptor.as_fd())?;
        if found != identity || map.get().magic.load(SeqCst) != MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no timeline's"));
        }
        if map.get().process_space.load(SeqCst) != system::process_space() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "its processes have another space of numbers"));
        }
        Ok(Self::enter(&mut open, identity, map, descriptor))
    }

    fn map(descriptor: BorrowedFd<'_>) -> io::Result<(Identity, Map<Layout>)> {
        let map = Map::new(descriptor)?;
        Ok((system::identity(descriptor)?, map))
    }

    fn enter(open: &mut Open, identity: Identity, map: Map<Layout>, descriptor: OwnedFd) -> Arc<Self> {
        let file = Arc::new(Self {
            identity,
            map,
            descriptor: Some(descriptor),
            values: Mutex::default(),
            lent: AtomicUsize::new(0),
        });
        open.files.insert(identity, Arc::downgrade(&file));
        file
    }

    /// Its descriptor.
    ///
    /// # Errors
    /// None while it lives.
    pub fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// What this process has made of it, if that lives.
    pub fn values<V: Send + Sync + 'static>(&self) -> Option<Arc<V>> {
        let made = self.values.lock().as_ref().and_then(Weak::upgrade);
        made.and_then(|made| made.downcast().ok())
    }

    /// Notes what this process has made of it.
    pub fn set_values(&self, values: Weak<dyn Any + Send + Sync>) {
        *self.values.lock() = Some(values);
    }

    /// Takes a place for this process.
    ///
    /// # Errors
    /// `QuotaExceeded` if there is none; the system's.
    pub fn claim(&self) -> io::Result<Claim> {
        let layout = self.map.get();
        let number = system::random()?;
        let mut open = OPEN.lock();
        for (at, place) in layout.places.iter().enumerate() {
            let before = place.claim.load(SeqCst);
            // A process may lock its own places again.
            if open.claims.contains(&before) || !system::lock(self.descriptor()?, at)? {
                continue;
            }
            if before != 0 {
                self.bury(Taken { at, claim: before });
            }
            place.owed.store(0, SeqCst);
            place.claim.store(number, SeqCst);
            layout.used.fetch_max(at as u32 + 1, SeqCst);
            open.claims.insert(number);
            drop(open);
            self.tell();
            return Ok(Claim { at, number });
        }
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, format!("{PLACES} processes have the timeline already")))
    }

    /// Gives a place back.
    pub fn leave(&self, claim: &Claim) {
        let mut open = OPEN.lock();
        if let Some(place) = self.map.get().places.get(claim.at) {
            place.owed.store(0, SeqCst);
            place.claim.store(0, SeqCst);
        }
        self.descriptor().into_iter().for_each(|file| system::unlock(file, claim.at));
        open.claims.remove(&claim.number);
        drop(open);
        self.tell();
    }

    /// Notes what a place's process owes; 0 for nothing.
    pub fn owe(&self, claim: &Claim, value: u64) {
        self.map.get().places.get(claim.at).into_iter().for_each(|place| place.owed.store(value, SeqCst));
    }

    /// The largest value that any process owes.
    pub fn most_owed(&self) -> u64 {
        self.taken().filter_map(|taken| self.place(taken)).map(|place| place.owed.load(SeqCst)).max().unwrap_or(0)
    }

    /// The places that are taken.
    fn taken(&self) -> impl Iterator<Item = Taken> + '_ {
        let layout = self.map.get();
        let used = (layout.used.load(SeqCst) as usize).min(PLACES);
        let claims = layout.places[..used].iter().map(|place| place.claim.load(SeqCst));
        claims.enumerate().filter(|(_, claim)| *claim != 0).map(|(at, claim)| Taken { at, claim })
    }

    /// The places of other processes.
    pub fn others(&self) -> Vec<Taken> {
        let open = OPEN.lock();
        self.taken().filter(|taken| !open.claims.contains(&taken.claim)).collect()
    }

    /// Whether nobody but this process has it, or could open it.
    pub fn is_alone(&self) -> bool {
        self.lent.load(SeqCst) == 0 && self.others().is_empty()
    }

    fn place(&self, taken: Taken) -> Option<&Place> {
        self.map.get().places.get(taken.at).filter(|place| place.claim.load(SeqCst) == taken.claim)
    }

    /// Whose a place is.
    ///
    /// # Errors
    /// The system's.
    pub fn holder(&self, taken: Taken) -> io::Result<Holder> {
        system::holder(self.descriptor()?, taken.at)
    }

    /// Frees the place of a process that has ended; if that owed something, the timeline fails.
    pub fn bury(&self, taken: Taken) {
        let Some(place) = self.place(taken) else { return };
        let owed = place.owed.load(SeqCst);
        if place.claim.load(SeqCst) != taken.claim {
            return;
        }
        // First the failure: a second one who finds the place does the same, and nothing is lost if this process ends in between.
        if owed > self.reached() {
            self.fail(ur_result_t::ERROR_PROCESS_LOST_EXT);
        }
        if place.claim.compare_exchange(taken.claim, 0, SeqCst, SeqCst).is_ok() {
            self.tell();
        }
    }

    /// The largest value that is reached.
    pub fn reached(&self) -> u64 {
        self.map.get().reached.load(SeqCst)
    }

    /// Notes that a value is reached, and tells everybody.
    pub fn reach(&self, value: u64) {
        if self.map.get().reached.fetch_max(value, SeqCst) < value {
            self.tell();
        }
    }

    /// The largest value that was submitted or reached.
    pub fn signalled(&self) -> u64 {
        self.map.get().signalled.load(SeqCst).max(self.reached())
    }

    /// Notes a signal that is about to be submitted; answers the one before.
    ///
    /// # Errors
    /// The last one, if the value is not above it.
    pub fn signal(&self, value: u64) -> Result<u64, u64> {
        let grown = |last: u64| (value > last.max(self.reached())).then_some(value);
        self.map.get().signalled.fetch_update(SeqCst, SeqCst, grown).map_err(|last| last.max(self.reached()))
    }

    /// Takes back what [`TimelineFile::signal`] noted, unless there was a signal since.
    pub fn take_back(&self, value: u64, before: u64) {
        // Somebody else's signal stays.
        let _ = self.map.get().signalled.compare_exchange(value, before, SeqCst, SeqCst);
    }

    /// Why the timeline has failed.
    pub fn failure(&self) -> Option<ur_result_t> {
        match self.map.get().failure.load(SeqCst) {
            0 => None,
            code => Some(ur_result_t(code)),
        }
    }

    /// Makes the timeline fail; `false` if it had failed before.
    pub fn fail(&self, code: ur_result_t) -> bool {
        let is_first = self.map.get().failure.compare_exchange(0, code.0, SeqCst, SeqCst).is_ok();
        self.tell();
        is_first
    }

    /// How many changes there were.
    pub fn changes(&self) -> u32 {
        self.map.get().changes.load(SeqCst)
    }

    /// Has everybody look who sleeps.
    pub fn tell(&self) {
        let layout = self.map.get();
        layout.changes.fetch_add(1, SeqCst);
        // Whoever counts itself after this sees the change before it sleeps.
        if layout.sleeping.load(SeqCst) != 0 {
            system::wake(&layout.changes);
        }
    }

    /// Sleeps until there are more changes than these, or as long as `timeout` says, or less.
    pub fn sleep(&self, changes: u32, timeout: Option<Duration>) {
        let layout = self.map.get();
        layout.sleeping.fetch_add(1, SeqCst);
        system::sleep(&layout.changes, changes, timeout);
        layout.sleeping.fetch_sub(1, SeqCst);
    }
}

impl Drop for TimelineFile {
    /// Closes the descriptor under the lock: the kernel takes the process's locks on the file back, and another opener of the same
    /// file must not have got its own before.
    fn drop(&mut self) {
        let mut open = OPEN.lock();
        drop(self.descriptor.take());
        if open.files.get(&self.identity).is_some_and(|file| file.strong_count() == 0) {
            open.files.remove(&self.identity);
        }
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};

    use super::*;

    const SIZE: u64 = TimelineFile::SIZE as u64;
    const SEALED: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

    fn file(size: u64, seals: SealFlags) -> OwnedFd {
        let file = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&file, size).unwrap();
        fcntl_add_seals(&file, seals).unwrap();
        file
    }

    fn open(file: OwnedFd) -> io::Result<Arc<TimelineFile>> {
        let identity = system::identity(file.as_fd())?;
        TimelineFile::open(identity, || Ok(file))
    }

    /// A copy of a file that has another identity, without its seals.
    fn copy_of(original: &TimelineFile, seals: SealFlags) -> OwnedFd {
        let mut bytes = vec![0; TimelineFile::SIZE];
        assert_eq!(rustix::io::pread(original.descriptor().unwrap(), &mut *bytes, 0).unwrap(), bytes.len());
        let copy = file(SIZE, SealFlags::empty());
        assert_eq!(rustix::io::pwrite(&copy, &bytes, 0).unwrap(), bytes.len());
        fcntl_add_seals(&copy, seals).unwrap();
        copy
    }

    #[test]
    fn a_file_that_could_change_its_size_or_has_another_or_is_no_timeline_s_is_refused() {
        let right = TimelineFile::create(7).unwrap();
        assert_eq!(open(copy_of(&right, SEALED)).unwrap().reached(), 7, "a copy is a timeline too");
        let (one, other) = (SealFlags::SHRINK, SealFlags::GROW);
        let unsealed = [SealFlags::empty(), one, other].map(|seals| copy_of(&right, seals));
        let sizes = [0, 1, SIZE - 1, SIZE + 1, 2 * SIZE].map(|size| file(size, SEALED));
        let others = [file(SIZE, SEALED), copy_of(&right, SEALED | SealFlags::WRITE)];
        let unnamed = OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
        for (at, wrong) in unsealed.into_iter().chain(sizes).chain(others).chain([unnamed]).enumerate() {
            let answer = open(wrong).err().map(|error| error.kind());
            assert_eq!(answer, Some(io::ErrorKind::InvalidData), "file {at}");
        }
    }

    #[test]
    fn what_another_space_of_processes_shares_is_refused() {
        let right = TimelineFile::create(7).unwrap();
        right.map.get().process_space.fetch_add(1, SeqCst);
        let answer = open(copy_of(&right, SEALED)).err().map(|error| error.kind());
        assert_eq!(answer, Some(io::ErrorKind::Unsupported));
    }

    #[test]
    fn a_file_is_open_once_and_its_places_last_as_long_as_it() {
        let first = TimelineFile::create(0).unwrap();
        let again = TimelineFile::open(first.identity, || panic!("a second descriptor")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let claims = [first.claim().unwrap(), again.claim().unwrap()];
        assert_ne!(claims[0].at, claims[1].at);
        assert!(first.is_alone(), "both places are this process's");
        claims.iter().for_each(|claim| first.leave(claim));
        assert_eq!(first.taken().count(), 0);
    }

    #[test]
    fn there_are_as_many_places_as_promised_and_then_none() {
        let file = TimelineFile::create(0).unwrap();
        let claims: Vec<_> = (0..PLACES).map(|_| file.claim().unwrap()).collect();
        assert_eq!(file.claim().err().map(|error| error.kind()), Some(io::ErrorKind::QuotaExceeded));
        file.leave(&claims[100]);
        assert_eq!(file.claim().unwrap().at, 100);
    }

    /// A place as a process leaves it that is killed: taken and not locked.
    fn dead(file: &TimelineFile, at: usize, owed: u64) -> Taken {
        let claim = (1 << 40) | (at as u64 + 1);
        let place = &file.map.get().places[at];
        place.owed.store(owed, SeqCst);
        place.claim.store(claim, SeqCst);
        file.map.get().used.fetch_max(at as u32 + 1, SeqCst);
        Taken { at, claim }
    }

    #[test]
    fn a_dead_process_fails_the_timeline_if_it_owed_something_and_else_not() {
        for (owed, failure) in [(0, None), (5, None), (6, Some(ur_result_t::ERROR_PROCESS_LOST_EXT))] {
            let file = TimelineFile::create(5).unwrap();
            let taken = dead(&file, 3, owed);
            assert_eq!(file.holder(taken).unwrap(), Holder::Nobody);
            assert!(!file.is_alone());
            file.bury(taken);
            assert_eq!((file.failure(), file.is_alone()), (failure, true), "{owed} owed");
            // The place is another's by now.
            let later = dead(&file, 3, 9);
            file.bury(Taken { claim: taken.claim + 1, ..later });
            assert!(!file.is_alone() && file.failure() == failure);
        }
    }

    #[test]
    fn whoever_takes_a_dead_process_s_place_buries_it() {
        let file = TimelineFile::create(5).unwrap();
        dead(&file, 0, 6);
        let claim = file.claim().unwrap();
        assert_eq!((claim.at, file.failure()), (0, Some(ur_result_t::ERROR_PROCESS_LOST_EXT)));
        assert_eq!(file.most_owed(), 0);
    }

    #[test]
    fn a_signal_grows_above_what_is_signalled_and_what_is_reached() {
        let file = TimelineFile::create(5).unwrap();
        assert_eq!((file.signal(5), file.signal(7), file.signal(7)), (Err(5), Ok(5), Err(7)));
        file.take_back(7, 5);
        // A process that writes nonsense, or nothing about its signals.
        file.reach(9);
        assert_eq!((file.signal(9), file.signal(10), file.signalled()), (Err(9), Ok(5), 10));
        file.take_back(11, 3);
        assert_eq!(file.signalled(), 10);
    }

    #[test]
    fn whoever_sleeps_wakes_at_a_change_and_who_comes_late_does_not_sleep() {
        let file = TimelineFile::create(0).unwrap();
        let changes = file.changes();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while file.changes() == changes {
                    file.sleep(changes, None);
                }
            });
            file.reach(1);
            sleeper.join().unwrap();
        });
        file.sleep(changes, None);
        file.reach(1);
        assert_eq!(file.changes(), changes + 1, "nothing has changed");
    }
}
