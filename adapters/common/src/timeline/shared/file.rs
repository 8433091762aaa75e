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
    files: BTreeMap<Identity, Opened>,
    claims: BTreeSet<u64>,
}

/// A file that this process has, or that its last user is about to close.
struct Opened {
    file: Weak<TimelineFile>,
    /// The one descriptor of it. Whoever opens the file while its last user leaves takes this over: the locks of a second one would go
    /// with the first.
    descriptor: Arc<OwnedFd>,
}

/// A timeline's file. A process has one descriptor of it, however often it has the timeline.
pub struct TimelineFile {
    identity: Identity,
    map: Map<Layout>,
    /// None once it is given back.
    descriptor: Option<Arc<OwnedFd>>,
    /// What this process has made of it.
    values: Mutex<Option<Weak<dyn Any + Send + Sync>>>,
    /// Handle data that are out.
    lent: AtomicUsize,
    /// Threads of this process that sleep: others may write what they like where the file counts them.
    asleep: AtomicUsize,
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
        Ok(Self::enter(&mut OPEN.lock(), identity, map, Arc::new(descriptor)))
    }

    /// The file that has that identity in another process or this one. `duplicate` makes a descriptor of this process's own if it
    /// has none.
    ///
    /// # Errors
    /// `InvalidData` for what is no timeline's file; `Unsupported` for one of processes that this one cannot see; the system's.
    pub fn open(identity: Identity, duplicate: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<Arc<Self>> {
        Self::open_in(&mut OPEN.lock(), identity, duplicate)
    }

    /// As [`TimelineFile::open`], for a file of another process, which another copy of this library in this process may have
    /// opened too. The locks are the process's: each copy would take the other's place for a dead process's, and give its lock back.
    /// Two that open it at the same moment do not see each other.
    ///
    /// # Errors
    /// `Unsupported` if another copy has it; as [`TimelineFile::open`].
    pub fn open_others(identity: Identity, duplicate: impl FnOnce() -> io::Result<OwnedFd>) -> io::Result<Arc<Self>> {
        Self::open(identity, || {
            if system::is_open_here(identity) {
                let text =
                    "another copy of this adapter's library in this process has the timeline; open it through one";
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
            duplicate()
        })
    }

    fn open_in(
        open: &mut Open,
        identity: Identity,
        duplicate: impl FnOnce() -> io::Result<OwnedFd>,
    ) -> io::Result<Arc<Self>> {
        let descriptor = match open.files.get(&identity) {
            None => Arc::new(duplicate()?),
            Some(opened) => match opened.file.upgrade() {
                Some(file) => return Ok(file),
                None => Arc::clone(&opened.descriptor),
            },
        };
        let (found, map) = Self::map(descriptor.as_fd())?;
        if found != identity || map.get().magic.load(SeqCst) != MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no timeline's"));
        }
        if map.get().process_space.load(SeqCst) != system::process_space() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "its processes have another space of numbers"));
        }
        Ok(Self::enter(open, identity, map, descriptor))
    }

    fn map(descriptor: BorrowedFd<'_>) -> io::Result<(Identity, Map<Layout>)> {
        let map = Map::new(descriptor)?;
        Ok((system::identity(descriptor)?, map))
    }

    fn enter(open: &mut Open, identity: Identity, map: Map<Layout>, descriptor: Arc<OwnedFd>) -> Arc<Self> {
        let file = Arc::new(Self {
            identity,
            map,
            descriptor: Some(Arc::clone(&descriptor)),
            values: Mutex::default(),
            lent: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
        });
        open.files.insert(identity, Opened { file: Arc::downgrade(&file), descriptor });
        file
    }

    /// Its descriptor.
    ///
    /// # Errors
    /// None while it lives.
    pub fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        self.descriptor.as_deref().map(AsFd::as_fd).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// What this process has made of it, if that lives.
    pub fn values<V: Send + Sync + 'static>(&self) -> Option<Arc<V>> {
        let made = self.values.lock().as_ref().and_then(Weak::upgrade);
        made.and_then(|made| made.downcast().ok())
    }

    /// Notes what this process has made of it; answers what another thread has made of it before, which stays.
    pub fn set_values<V: Send + Sync + 'static>(&self, made: &Arc<V>) -> Option<Arc<V>> {
        let mut values = self.values.lock();
        let before = values.as_ref().and_then(Weak::upgrade).and_then(|before| before.downcast().ok());
        if before.is_none() {
            let made: Weak<V> = Arc::downgrade(made);
            *values = Some(made);
        }
        before
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

    /// Frees the places of processes that have ended and owe something. Where nobody but the caller owes anything, that is a look at
    /// memory; the system is asked about those that do.
    pub fn bury_dead(&self, own: &Claim) {
        let owes = |taken: &Taken| self.place(*taken).is_some_and(|place| place.owed.load(SeqCst) > self.reached());
        if !self.taken().any(|taken| taken.claim != own.number && owes(&taken)) {
            return;
        }
        for taken in self.others().into_iter().filter(owes) {
            if matches!(self.holder(taken), Ok(Holder::Nobody)) {
                self.bury(taken);
            }
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
        if self.has_sleepers() {
            system::wake(&layout.changes);
        }
    }

    fn has_sleepers(&self) -> bool {
        self.map.get().sleeping.load(SeqCst) != 0 || self.asleep.load(SeqCst) != 0
    }

    /// Sleeps until there are more changes than these, or as long as `timeout` says, or less.
    pub fn sleep(&self, changes: u32, timeout: Option<Duration>) {
        let layout = self.map.get();
        self.asleep.fetch_add(1, SeqCst);
        layout.sleeping.fetch_add(1, SeqCst);
        system::sleep(&layout.changes, changes, timeout);
        layout.sleeping.fetch_sub(1, SeqCst);
        self.asleep.fetch_sub(1, SeqCst);
    }
}

impl Drop for TimelineFile {
    /// Gives the descriptor back under the lock. If that closes it, the kernel takes all the process's locks on the file back, so another
    /// opener either finds it here and takes it over, or comes after it is closed.
    fn drop(&mut self) {
        let mut open = OPEN.lock();
        if open.files.get(&self.identity).is_some_and(|opened| core::ptr::eq(opened.file.as_ptr(), self)) {
            open.files.remove(&self.identity);
        }
        drop(self.descriptor.take());
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests;
