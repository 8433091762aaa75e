//! Opens one candidate and decides whether it is an adapter of this loader's release. Free of global state: tools judge a
//! candidate with the same code.
//!
//! A library whose `urAdapterGet` may have run is never closed: it may have started threads or registered exit handlers,
//! the drivers below it certainly have, and an application may still hold its handles. One that is refused before that is
//! closed again, or the dynamic linker would answer a later search for the same soname with it.

use crate::extension::{self, Extensions};
use crate::release::{self, LAYOUTS, Layout, ROOM, Reported};
use libloading::os::unix::{Library as Dynamic, RTLD_LAZY, RTLD_LOCAL};
use std::ffi::c_void;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use ur_ffi::releases::Release;
use ur_ffi::*;

/// Why a candidate is not used. The text names what was found and, where there is one, the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no such file.
    NotFound,
    /// The file is no shared library at all.
    NotALibrary(String),
    /// A shared library for another machine.
    OtherMachine(String),
    /// The dynamic linker refused it, most often for a library that it needs; its message.
    CannotOpen(String),
    /// A library without `urGetAdapterProcAddrTable`.
    NotAnAdapter,
    /// A getter answered an error, for example that it does not know the version.
    GetterFailed {
        /// The getter's name.
        getter: String,
        /// Its answer.
        result: ur_result_t,
        /// The release that an adapter must be of.
        wanted: Release,
    },
    /// An adapter of another release: its tables are laid out differently.
    OtherRelease {
        /// The release it is of, if it is a known one.
        found: Option<&'static str>,
        /// The release that an adapter must be of.
        wanted: Release,
        /// What gave it away.
        evidence: String,
    },
    /// `urAdapterGet` is missing or answered an error.
    AdapterGetFailed(ur_result_t),
    /// `urAdapterGet` reports no adapter: its native driver or its devices are not there, or another one takes its place.
    NoAdapter,
    /// The same library was opened already under this path.
    Duplicate(PathBuf),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotFound => f.write_str("not found"),
            Fault::NotALibrary(what) => write!(f, "it is not a shared library: {what}"),
            Fault::OtherMachine(what) => write!(f, "it is built for another machine: {what}"),
            Fault::CannotOpen(message) => write!(f, "the dynamic linker cannot open it: {message}"),
            Fault::NotAnAdapter => {
                f.write_str("it is a library but not an adapter: it does not export urGetAdapterProcAddrTable")
            }
            Fault::GetterFailed { getter, result, wanted } if *result == ur_result_t::ERROR_UNSUPPORTED_VERSION => {
                write!(f, "its {getter} refuses version 0.12 of the API; use an adapter of oneAPI {}", wanted.name())
            }
            Fault::GetterFailed { getter, result, .. } => write!(f, "its {getter} answers {result:?}"),
            Fault::OtherRelease { found, wanted, evidence } => write!(
                f,
                "it is an adapter of oneAPI {}, this loader is of oneAPI {} ({evidence}); use the adapter of {1} or the \
                 loader of the adapter's release",
                found.unwrap_or("of another release"),
                wanted.name()
            ),
            Fault::AdapterGetFailed(result) => write!(f, "its urAdapterGet answers {result:?}"),
            Fault::NoAdapter => f.write_str("it reports no adapter"),
            Fault::Duplicate(path) => write!(f, "it is the library that was opened before as {}", path.display()),
        }
    }
}

impl std::error::Error for Fault {}

/// An adapter's library, open for the rest of the process, whose getters have answered.
#[derive(Debug)]
pub struct Library {
    path: PathBuf,
    layout: &'static Layout,
    identity: usize,
    reported: Reported,
    adapter: ur_adapter_dditable_t,
    extensions: Option<ExtensionTables>,
}

type Getter = unsafe extern "C" fn(ur_api_version_t, *mut c_void) -> ur_result_t;

impl Library {
    /// Opens `path`, which without a `/` is looked for as the system does, and asks every getter for its table. An adapter
    /// must be of the given release.
    pub fn open(path: &Path, release: Release, deep_bind: bool) -> Result<Self, Fault> {
        let layout = Layout::of(release);
        let mut flags = RTLD_LAZY | RTLD_LOCAL;
        if deep_bind {
            flags |= libc::RTLD_DEEPBIND;
        }
        // SAFETY: opening runs the library's initialisers, which is what the user asked for by installing or naming it.
        let library = unsafe { Dynamic::open(Some(path), flags) }.map_err(|e| explain(path, &e.to_string()))?;
        let reported = ask_getters(&library, release)?;
        let Some((_, words)) = reported.iter().find(|(table, _)| *table == "Adapter") else {
            return Err(Fault::NotAnAdapter);
        };
        // SAFETY: the words are what the getter wrote, `ROOM` of them are more than the table has, every slot is a
        // nullable function pointer and the table has the same layout in all releases.
        let adapter = unsafe { words.as_ptr().cast::<ur_adapter_dditable_t>().read() };
        if let Some(evidence) = layout.contradicted_by_getters(&reported) {
            return Err(other_release(layout, &reported, evidence, None));
        }
        let extensions = extension::ask(&library, release);
        // Never closed from here on.
        let identity = library.into_raw().addr();
        Ok(Library { path: path.to_owned(), layout, identity, reported, adapter, extensions })
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Enters what the library offers of the project's own, under the table of each of its handles.
    pub fn enter_extensions(&self, handles: &[ur_adapter_handle_t], list: &Extensions) {
        let Some(tables) = &self.extensions else { return };
        for &handle in handles {
            // SAFETY: handles that the library gave, each of which begins with its table's address.
            let address = unsafe { handle.cast::<*const c_void>().read() }.addr();
            list.enter(address, tables);
        }
    }

    /// Whether both are the same library in memory: the dynamic linker knows, by device and inode.
    pub fn is_same(&self, other: &Library) -> bool {
        self.identity == other.identity
    }

    /// Asks the library for its adapters and checks the table behind each. Every handle returned carries one reference,
    /// which the caller gives back with [`release`](crate::library::release).
    pub fn adapters(&self) -> Result<Vec<ur_adapter_handle_t>, Fault> {
        let get = self.adapter.pfnGet.ok_or(Fault::AdapterGetFailed(ur_result_t::ERROR_UNINITIALIZED))?;
        let failed =
            |result| if result == ur_result_t::SUCCESS { Ok(()) } else { Err(Fault::AdapterGetFailed(result)) };
        let mut count = 0;
        // SAFETY: counting: no array, and a valid place for the count.
        failed(unsafe { get(0, std::ptr::null_mut(), &mut count) })?;
        if count == 0 {
            return Err(Fault::NoAdapter);
        }
        let mut handles: Vec<ur_adapter_handle_t> = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: the array has `count` elements.
        failed(unsafe { get(count, handles.as_mut_ptr(), &mut count) })?;
        handles.truncate(count as usize);
        handles.retain(|handle| !handle.is_null());
        if handles.is_empty() {
            return Err(Fault::NoAdapter);
        }
        for &handle in &handles {
            if let Err(fault) = self.check_table(handle) {
                for &handle in &handles {
                    if let Some(release) = self.adapter.pfnRelease {
                        // SAFETY: the library's own function on the library's own handle, once per reference taken.
                        unsafe { release(handle) };
                    }
                }
                return Err(fault);
            }
        }
        Ok(handles)
    }

    /// The table behind the handle must be laid out as this release lays it out: dispatch goes through it unchecked.
    fn check_table(&self, handle: ur_adapter_handle_t) -> Result<(), Fault> {
        // SAFETY: a live handle of the library; by the contract its first word is the pointer to the table. Should an
        // adapter older than the contract keep something else there, the plausibility test below comes first.
        let table = unsafe { handle.cast::<*const usize>().read() };
        if table.addr() < 0x1000 || !table.is_aligned() {
            let evidence = "its handles do not begin with a pointer to the function table".to_owned();
            return Err(Fault::OtherRelease { found: None, wanted: self.layout.release, evidence });
        }
        // SAFETY: the words are read in order and not beyond the first difference, see `contradicted_by_table`; up to
        // there the adapter's table has matched what its own getters said.
        let slot = |index: usize| unsafe { table.add(index).read_volatile() };
        match self.layout.contradicted_by_table(&self.reported, slot) {
            None => Ok(()),
            Some(evidence) => Err(other_release(self.layout, &self.reported, evidence, Some(&slot))),
        }
    }
}

/// Names the release that the adapter does agree with.
fn other_release(own: &Layout, reported: &Reported, evidence: String, slot: Option<&dyn Fn(usize) -> usize>) -> Fault {
    let found = LAYOUTS
        .iter()
        .filter(|other| other.release != own.release && other.contradicted_by_getters(reported).is_none())
        .find(|other| slot.is_none_or(|slot| other.contradicted_by_table(reported, slot).is_none()))
        .map(|other| other.release.name());
    Fault::OtherRelease { found, wanted: own.release, evidence }
}

/// Gives back a reference to an adapter through its own table.
///
/// # Safety
/// The handle came from [`Library::adapters`], and the caller owns a reference.
pub unsafe fn release(handle: ur_adapter_handle_t) {
    // SAFETY: the caller's promise; `Library::adapters` checked the table.
    if let Some(table) = unsafe { crate::dispatch::adapter_table(handle) }
        && let Some(release) = table.pfnRelease
    {
        // SAFETY: as above.
        unsafe { release(handle) };
    }
}

/// Calls every getter of every release that the library exports.
fn ask_getters(library: &Dynamic, wanted: Release) -> Result<Reported, Fault> {
    let mut reported = Reported::new();
    for table in release::table_names() {
        let name = format!("urGet{table}ProcAddrTable");
        // SAFETY: a symbol of this name is, by the adapter contract, a getter; the type is that of all getters with the
        // table's type erased.
        let Ok(getter) = (unsafe { library.get::<Getter>(name.as_bytes()) }) else { continue };
        let mut words = vec![0_usize; ROOM];
        // SAFETY: the buffer has room for far more slots than any release has, so a getter of a foreign release cannot
        // write past it either; zeroed words are null entries.
        let result = unsafe { getter(ur_api_version_t::CURRENT, words.as_mut_ptr().cast()) };
        if result != ur_result_t::SUCCESS {
            return Err(Fault::GetterFailed { getter: name, result, wanted });
        }
        reported.push((table, words));
    }
    Ok(reported)
}

/// Sorts out why the linker failed: its own message does not tell a text file from a wrong machine in words for users.
fn explain(path: &Path, message: &str) -> Fault {
    let bare = !path.to_string_lossy().contains('/');
    if bare {
        let own = message.starts_with(&*path.to_string_lossy()) && message.contains("No such file");
        return if own { Fault::NotFound } else { Fault::CannotOpen(message.to_owned()) };
    }
    let mut header = [0; 20];
    let mut file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Fault::NotFound,
        Err(error) => return Fault::CannotOpen(error.to_string()),
    };
    if path.is_dir() {
        return Fault::NotALibrary("it is a directory".into());
    }
    if file.read_exact(&mut header).is_err() || !header.starts_with(b"\x7fELF") {
        return Fault::NotALibrary("it does not begin as an ELF file does".into());
    }
    match own_header() {
        Some(own) if own[4..6] != header[4..6] || own[18..20] != header[18..20] => Fault::OtherMachine(format!(
            "ELF class {} and machine {}, this process has {} and {}",
            header[4],
            u16::from_le_bytes([header[18], header[19]]),
            own[4],
            u16::from_le_bytes([own[18], own[19]])
        )),
        _ => Fault::CannotOpen(message.to_owned()),
    }
}

fn own_header() -> Option<[u8; 20]> {
    let mut header = [0; 20];
    std::fs::File::open("/proc/self/exe").ok()?.read_exact(&mut header).ok()?;
    Some(header)
}
