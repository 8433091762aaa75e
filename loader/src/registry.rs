//! The set of loaded adapters: which were found, which were refused and why, and how often the loader was initialised.
//! It never unloads an adapter and never lets one adapter's failure hide another. One lock, held while adapters load, so
//! that every thread that initialises returns to a loader that is ready; API calls on handles never come here.

use crate::extension::Extensions;
use crate::fork;
use crate::library::{self, Fault, Library};
use crate::log;
use crate::search::{self, Candidate, Environment, Group, Origin, Plan};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use ur_ffi::releases::Release;
use ur_ffi::*;

/// What became of one candidate, or of an adapter that was not looked for.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The adapter's library or path.
    pub adapter: String,
    /// The path that was tried and the rule that named it; none if it was not looked for.
    pub candidate: Option<(PathBuf, Origin)>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a candidate.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is loaded and its tables are those of this release as far as its getters tell.
    Loaded,
    /// It is not used.
    Refused(Fault),
    /// It was not looked for, and why.
    Skipped(String),
}

/// The loader's one mutable state.
#[derive(Debug)]
pub struct Registry {
    state: Mutex<State>,
    /// The thread inside the lock: an adapter that calls the loader while it is being loaded gets an error, not a deadlock.
    owner: AtomicU64,
    extensions: Extensions,
}

#[derive(Debug)]
struct State {
    /// Successful `urLoaderInit` calls that have no `urLoaderTearDown` yet.
    references: usize,
    /// While there are such calls.
    in_use: Option<fork::Use>,
    /// The adapters that may be used, in their order; the rest of their candidates in case they turn out not to be.
    slots: Vec<Slot>,
    findings: Vec<Finding>,
    /// The release that adapters must be of.
    release: Release,
    deep_bind: bool,
}

#[derive(Debug)]
struct Slot {
    name: String,
    remaining: std::vec::IntoIter<Candidate>,
    library: Library,
    /// The adapters of the library, one reference each; none before somebody asks for adapters.
    handles: Option<Handles>,
}

#[derive(Debug)]
struct Handles(Vec<ur_adapter_handle_t>);

// SAFETY: adapter handles may be used from every thread by the API's own rules.
unsafe impl Send for Handles {}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A loader that nobody has initialised.
    pub const fn new() -> Self {
        Registry {
            state: Mutex::new(State::empty(Release::NEWEST, false)),
            owner: AtomicU64::new(0),
            extensions: Extensions::new(),
        }
    }

    /// The project's own tables of the adapters, which no lock is needed for.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Counts one initialisation; the first loads what `plan` lists, and counts nothing if there is no plan. Finding no
    /// adapter is no error.
    pub fn init(&self, plan: impl FnOnce() -> Result<Plan, ur_result_t>) -> Result<(), ur_result_t> {
        self.exclusively(|state| {
            if state.references == 0 {
                *state = State::load(plan()?);
            }
            state.references += 1;
            self.extensions.set_ready(true);
            state.in_use.get_or_insert_with(fork::Use::begin);
            Ok(())
        })
    }

    /// Takes one initialisation back; the last gives the adapters back, whose libraries stay in memory.
    pub fn tear_down(&self) -> Result<(), ur_result_t> {
        self.exclusively(|state| {
            if state.references == 0 {
                return Err(ur_result_t::ERROR_UNINITIALIZED);
            }
            state.references -= 1;
            if state.references == 0 {
                self.extensions.set_ready(false);
                for slot in std::mem::take(&mut state.slots) {
                    slot.give_back();
                }
                state.in_use = None;
            }
            Ok(())
        })
    }

    /// Calls `f` with the handles of all adapters; they stay valid during the call.
    pub fn adapters<R>(
        &self,
        f: impl FnOnce(&[ur_adapter_handle_t]) -> Result<R, ur_result_t>,
    ) -> Result<R, ur_result_t> {
        self.exclusively(|state| {
            if state.references == 0 {
                return Err(ur_result_t::ERROR_UNINITIALIZED);
            }
            state.ask_for_handles(&self.extensions);
            let all: Vec<_> = state.slots.iter().flat_map(|s| &s.handles).flat_map(|h| h.0.iter().copied()).collect();
            f(&all)
        })
    }

    /// What the last initialisation found, in the order of the search; it outlives the teardown.
    pub fn findings(&self) -> Vec<Finding> {
        self.exclusively(|state| Ok(state.findings.clone())).unwrap_or_default()
    }

    fn exclusively<R>(&self, f: impl FnOnce(&mut State) -> Result<R, ur_result_t>) -> Result<R, ur_result_t> {
        // SAFETY: no precondition; the value is never zero for a running thread. The standard library's thread identity
        // is not asked for, because it is gone when exit handlers run.
        let me = unsafe { libc::pthread_self() };
        if self.owner.load(Ordering::Relaxed) == me {
            log::error(format_args!("an adapter called the loader while the loader was calling it; refused"));
            return Err(ur_result_t::ERROR_UNINITIALIZED);
        }
        // Before the lock: whoever forks while this thread holds it leaves the child a lock that nobody opens.
        let _in_use = fork::Use::begin();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let _owned = Owned::new(&self.owner, me);
        f(&mut state)
    }
}

/// Says who is inside the lock for as long as it lives, panics included. Dropped before the lock's guard.
struct Owned<'a>(&'a AtomicU64);

impl<'a> Owned<'a> {
    fn new(owner: &'a AtomicU64, me: u64) -> Self {
        owner.store(me, Ordering::Relaxed);
        Owned(owner)
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl State {
    const fn empty(release: Release, deep_bind: bool) -> Self {
        State { references: 0, in_use: None, slots: Vec::new(), findings: Vec::new(), release, deep_bind }
    }

    fn load(plan: Plan) -> Self {
        let mut state = State::empty(plan.release, plan.deep_bind);
        for problem in &plan.problems {
            log::error(format_args!("{problem}"));
        }
        for warning in &plan.warnings {
            log::warning(format_args!("{warning}"));
        }
        for skipped in plan.skipped {
            log::info(format_args!("{} is not loaded: {}", skipped.name, skipped.reason));
            let outcome = Outcome::Skipped(skipped.reason);
            state.findings.push(Finding { adapter: skipped.name, candidate: None, outcome });
        }
        for Group { name, candidates } in plan.groups {
            let mut remaining = candidates.into_iter();
            if let Some(library) = state.open_next(&name, &mut remaining) {
                state.slots.push(Slot { name, remaining, library, handles: None });
            }
        }
        state
    }

    /// Opens the first of the remaining candidates that is an adapter.
    fn open_next(&mut self, name: &str, remaining: &mut std::vec::IntoIter<Candidate>) -> Option<Library> {
        for candidate in remaining {
            let opened = Library::open(&candidate.path, self.release, self.deep_bind).and_then(|library| {
                match self.slots.iter().find(|slot| slot.library.is_same(&library)) {
                    Some(slot) => Err(Fault::Duplicate(slot.library.path().to_owned())),
                    None => Ok(library),
                }
            });
            match opened {
                Ok(library) => {
                    log::info(format_args!("loaded {} ({})", candidate.path.display(), candidate.origin));
                    self.record(name, &candidate.path, candidate.origin, Outcome::Loaded);
                    return Some(library);
                }
                Err(fault) => self.refuse(name, &candidate.path, candidate.origin, fault),
            }
        }
        None
    }

    /// Asks the libraries that were not asked yet. One that has no adapter, or one of another release, makes way for the
    /// next candidate of the same adapter. What one offers of the project's own is known before anybody has its handles.
    fn ask_for_handles(&mut self, extensions: &Extensions) {
        let mut index = 0;
        while let Some(slot) = self.slots.get_mut(index) {
            if slot.handles.is_some() {
                index += 1;
                continue;
            }
            match slot.library.adapters() {
                Ok(handles) => {
                    slot.library.enter_extensions(&handles, extensions);
                    slot.handles = Some(Handles(handles));
                }
                Err(fault) => {
                    let path = slot.library.path().to_owned();
                    let name = slot.name.clone();
                    let mut remaining = std::mem::take(&mut slot.remaining);
                    self.withdraw(&path, fault);
                    match self.open_next(&name, &mut remaining) {
                        Some(library) => self.slots[index] = Slot { name, remaining, library, handles: None },
                        None => drop(self.slots.remove(index)),
                    }
                }
            }
        }
    }

    fn record(&mut self, name: &str, path: &Path, origin: Origin, outcome: Outcome) {
        let candidate = Some((path.to_owned(), origin));
        self.findings.push(Finding { adapter: name.to_owned(), candidate, outcome });
    }

    fn refuse(&mut self, name: &str, path: &Path, origin: Origin, fault: Fault) {
        // Not having every adapter is normal, unless the user asked for it by its path.
        let normal = matches!(fault, Fault::NotFound | Fault::Duplicate(_));
        if normal && origin != Origin::ForceLoad {
            log::info(format_args!("{} ({origin}): {fault}", path.display()));
        } else {
            log::warning(format_args!("{} ({origin}): {fault}", path.display()));
        }
        self.record(name, path, origin, Outcome::Refused(fault));
    }

    /// Turns the finding of a library that had been loaded into a refusal.
    fn withdraw(&mut self, path: &Path, fault: Fault) {
        if fault == Fault::NoAdapter {
            log::info(format_args!("{}: {fault}", path.display()));
        } else {
            log::warning(format_args!("{}: {fault}", path.display()));
        }
        // Listed again, the same path has a refusal of its own.
        let is_its = |finding: &&mut Finding| {
            matches!(finding.outcome, Outcome::Loaded)
                && finding.candidate.as_ref().is_some_and(|(tried, _)| tried == path)
        };
        if let Some(finding) = self.findings.iter_mut().find(is_its) {
            finding.outcome = Outcome::Refused(fault);
        }
    }
}

impl Slot {
    fn give_back(self) {
        for handle in self.handles.into_iter().flat_map(|handles| handles.0) {
            // SAFETY: the slot's own reference to a handle that its library gave.
            unsafe { library::release(handle) };
        }
    }
}

/// The directory of a file, through symbolic links: what lies beside the file itself and not beside a link to it. A file
/// that is gone is taken by its name.
pub fn directory_of(file: &Path) -> Option<PathBuf> {
    let file = std::fs::canonicalize(file).or_else(|_| std::path::absolute(file)).ok()?;
    file.parent().map(Path::to_owned)
}

/// The directory of the file that holds this code: the shared object's, once it is linked into one.
pub fn loader_directory() -> Option<PathBuf> {
    // SAFETY: all fields are integers or pointers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let here: fn() -> Option<PathBuf> = loader_directory;
    // SAFETY: any address may be asked about.
    let found = unsafe { libc::dladdr(here as *const libc::c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name belongs to the linker and stays for as long as this object is loaded.
    let name = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    directory_of(Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(name.to_bytes())))
}

/// What the environment asks a loader of a release to load, now.
pub fn current_plan(release: Release, mocking: bool) -> Plan {
    let environment = Environment::from_process();
    let directory = loader_directory();
    if mocking {
        search::mock_plan(release, &environment, directory.as_deref())
    } else {
        search::plan(release, &environment, directory.as_deref())
    }
}
