//! The library's functions, and one compilation at a time.

use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use libloading::os::unix;

use super::{CodeObject, CompileError, Flags, Isa, find};
use crate::linker;

/// `amd_comgr_status_t`.
type Status = u32;
const SUCCESS: Status = 0;

/// The interface whose numbers stand below. Others have other numbers for the same actions.
const MAJOR: usize = 2;

/// `amd_comgr_data_kind_t`.
const LOG: u32 = 5;
const BITCODE: u32 = 6;
const EXECUTABLE: u32 = 8;

/// `amd_comgr_language_t`: the one whose device libraries are wanted.
const OPENCL_2_0: u32 = 2;

/// `amd_comgr_action_kind_t`.
const ADD_DEVICE_LIBRARIES: Action = (3, "the device libraries");
const LINK_BITCODE: Action = (4, "linking modules");
const GENERATE_CODE: Action = (6, "generating code");
const LINK_EXECUTABLE: Action = (9, "linking the code object");

/// An action's number, and what it is for.
type Action = (u32, &'static str);

/// `amd_comgr_data_t`, `amd_comgr_data_set_t` and `amd_comgr_action_info_t`: each is a structure of one number.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Handle {
    number: u64,
}

/// A function that makes an object, and one that works on or ends it.
type Create = unsafe extern "C" fn(*mut Handle) -> Status;
type OnHandle = unsafe extern "C" fn(Handle) -> Status;

/// The functions, with the library that they are in.
struct Symbols {
    version: unsafe extern "C" fn(*mut usize, *mut usize),
    create_data: unsafe extern "C" fn(u32, *mut Handle) -> Status,
    release_data: OnHandle,
    set_data: unsafe extern "C" fn(Handle, usize, *const c_char) -> Status,
    set_name: unsafe extern "C" fn(Handle, *const c_char) -> Status,
    get_data: unsafe extern "C" fn(Handle, *mut usize, *mut c_char) -> Status,
    create_set: Create,
    destroy_set: OnHandle,
    add: unsafe extern "C" fn(Handle, Handle) -> Status,
    count: unsafe extern "C" fn(Handle, u32, *mut usize) -> Status,
    member: unsafe extern "C" fn(Handle, u32, usize, *mut Handle) -> Status,
    create_info: Create,
    destroy_info: OnHandle,
    set_isa: unsafe extern "C" fn(Handle, *const c_char) -> Status,
    set_language: unsafe extern "C" fn(Handle, u32) -> Status,
    set_options: unsafe extern "C" fn(Handle, *const *const c_char, usize) -> Status,
    set_logging: unsafe extern "C" fn(Handle, bool) -> Status,
    act: unsafe extern "C" fn(u32, Handle, Handle, Handle) -> Status,
    /// The functions live as long as this.
    _library: Library,
}

impl Symbols {
    fn load(library: Library) -> Result<Self, String> {
        /// # Safety
        /// `T` is the C type of the function `name`.
        unsafe fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
            // SAFETY: the caller's.
            let symbol = unsafe { library.get::<T>(name.as_bytes()) };
            symbol.map(|symbol| *symbol).map_err(|error| error.to_string())
        }
        // SAFETY: the types are those of amd_comgr.h, interfaces 2.0 to 2.9.
        unsafe {
            Ok(Self {
                version: get(&library, "amd_comgr_get_version")?,
                create_data: get(&library, "amd_comgr_create_data")?,
                release_data: get(&library, "amd_comgr_release_data")?,
                set_data: get(&library, "amd_comgr_set_data")?,
                set_name: get(&library, "amd_comgr_set_data_name")?,
                get_data: get(&library, "amd_comgr_get_data")?,
                create_set: get(&library, "amd_comgr_create_data_set")?,
                destroy_set: get(&library, "amd_comgr_destroy_data_set")?,
                add: get(&library, "amd_comgr_data_set_add")?,
                count: get(&library, "amd_comgr_action_data_count")?,
                member: get(&library, "amd_comgr_action_data_get_data")?,
                create_info: get(&library, "amd_comgr_create_action_info")?,
                destroy_info: get(&library, "amd_comgr_destroy_action_info")?,
                set_isa: get(&library, "amd_comgr_action_info_set_isa_name")?,
                set_language: get(&library, "amd_comgr_action_info_set_language")?,
                set_options: get(&library, "amd_comgr_action_info_set_option_list")?,
                set_logging: get(&library, "amd_comgr_action_info_set_logging")?,
                act: get(&library, "amd_comgr_do_action")?,
                _library: library,
            })
        }
    }
}

/// `RTLD_NODELETE`: what closes the library leaves it where it is. Loaded a second time it would register its options a second time with
/// the LLVM that it shares, which ends the process over that.
const STAYS_LOADED: i32 = 0x1000;

/// Held while a library compiles, by nobody else. LLVM's options are the process's, so two that were opened exclude each other too.
static COMPILING: Mutex<()> = Mutex::new(());

/// An opened libamd_comgr. Threads may ask it to compile at the same time; it works for one after the other.
pub struct Comgr {
    symbols: Symbols,
    path: PathBuf,
    version: (usize, usize),
}

impl Comgr {
    /// Opens the best library that [`find::candidates`] names.
    ///
    /// # Errors
    /// None can be opened; the message names the package to install.
    pub fn open() -> Result<Self, CompileError> {
        let mut reasons = Vec::new();
        for candidate in find::candidates() {
            match Self::open_at(&candidate) {
                Ok(comgr) => return Ok(comgr),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(CompileError::Missing(format!(
            "SPIR-V kernels need libamd_comgr.so.2 on AMD's devices, which was not found ({}): install ROCm 5 or 6, or your \
             distribution's `libamd-comgr2` and `rocm-device-libs`, or name its file in {}",
            reasons.join("; "),
            find::LIBRARY_VARIABLE
        )))
    }

    /// Opens this library.
    ///
    /// # Errors
    /// It is none, or has another interface than 2.
    pub fn open_at(path: &Path) -> Result<Self, CompileError> {
        let missing = |error: String| CompileError::Missing(format!("{}: {error}", path.display()));
        // SAFETY: libamd_comgr's initialisers have no preconditions.
        let library = unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | STAYS_LOADED) };
        let library = Library::from(library.map_err(|error| missing(error.to_string()))?);
        let (library, own) = linker::loaded_from(library);
        let symbols = Symbols::load(library).map_err(missing)?;
        let mut version = (0, 0);
        // SAFETY: both are written.
        unsafe { (symbols.version)(&mut version.0, &mut version.1) };
        if version.0 != MAJOR {
            return Err(missing(format!(
                "its interface is {}.{}; {MAJOR} is the one that is known",
                version.0, version.1
            )));
        }
        Ok(Self { symbols, path: own.unwrap_or_else(|| path.to_path_buf()), version })
    }

    /// The library's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Version of the interface, for messages.
    #[must_use]
    pub fn version(&self) -> String {
        format!("comgr {}.{} {}", self.version.0, self.version.1, self.path.display())
    }

    /// Compiles and links modules, each with a name for messages, to an executable code object.
    ///
    /// # Errors
    /// The library does not know the architecture, or a module is wrong; the error has the compiler's log.
    pub fn compile(&self, modules: &[(&str, &str)], isa: &Isa, flags: Flags) -> Result<CodeObject, CompileError> {
        let _turn = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = String::new();
        let mut set = self.set()?;
        for (name, text) in modules {
            set.add(name, text.as_bytes())?;
        }
        let own_wave = isa.has_both_wave_sizes() && isa.wave_size == 64;
        if flags.uses_library {
            let mut words = vec!["correctly_rounded_sqrt"];
            words.extend((isa.wave_size == 64).then_some("wavefrontsize64"));
            words.extend(flags.flush_denormals.then_some("daz_opt"));
            words.extend(flags.fast_math.then_some("unsafe_math"));
            set = self.act(ADD_DEVICE_LIBRARIES, &set, isa, &words, &mut log)?;
        }
        set = self.act(LINK_BITCODE, &set, isa, &[], &mut log)?;
        let mut words = vec![if flags.unoptimised { "-O0" } else { "-O3" }];
        words.extend(own_wave.then_some("-mwavefrontsize64"));
        set = self.act(GENERATE_CODE, &set, isa, &words, &mut log)?;
        set = self.act(LINK_EXECUTABLE, &set, isa, &[], &mut log)?;
        let bytes = set.contents(EXECUTABLE).into_iter().next();
        let bytes = bytes
            .ok_or_else(|| CompileError::Refused { what: "no code object was made".to_owned(), log: log.clone() })?;
        Ok(CodeObject { bytes, log })
    }

    /// Works on a set: what becomes of it. The words that were said are added to `log`.
    fn act(
        &self,
        (number, what): Action,
        input: &Set<'_>,
        isa: &Isa,
        words: &[&str],
        log: &mut String,
    ) -> Result<Set<'_>, CompileError> {
        let refused = |log: &str| CompileError::Refused {
            what: format!("comgr failed at {what} for {}", isa.architecture),
            log: log.to_owned(),
        };
        let info = Info::new(self)?;
        let name = CString::new(isa.name()).map_err(|_| refused(log))?;
        let words: Vec<CString> = words.iter().filter_map(|word| CString::new(*word).ok()).collect();
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        let symbols = &self.symbols;
        // SAFETY: the object is alive, and so are the strings, which are copied; there are as many as is said.
        let known = unsafe { (symbols.set_isa)(info.handle, name.as_ptr()) };
        if known != SUCCESS {
            let what = format!("{} does not know {}", self.version(), isa.architecture);
            return Err(CompileError::Refused { what, log: log.clone() });
        }
        // SAFETY: as above.
        let prepared = unsafe {
            [
                (symbols.set_language)(info.handle, if number == ADD_DEVICE_LIBRARIES.0 { OPENCL_2_0 } else { 0 }),
                (symbols.set_options)(info.handle, pointers.as_ptr(), pointers.len()),
                (symbols.set_logging)(info.handle, true),
            ]
        };
        if prepared != [SUCCESS; 3] {
            return Err(refused(log));
        }
        let output = self.set()?;
        // SAFETY: all objects are alive; the output was made for this.
        let status = unsafe { (symbols.act)(number, info.handle, input.handle, output.handle) };
        for said in output.contents(LOG) {
            let said = String::from_utf8_lossy(&said);
            let said = said.trim_matches(['\0', '\n']);
            if !said.is_empty() {
                log.push_str(said);
                log.push('\n');
            }
        }
        if status == SUCCESS { Ok(output) } else { Err(refused(log)) }
    }

    fn set(&self) -> Result<Set<'_>, CompileError> {
        let mut handle = Handle::default();
        // SAFETY: `handle` is written.
        check(unsafe { (self.symbols.create_set)(&mut handle) }, "amd_comgr_create_data_set")?;
        Ok(Set { comgr: self, handle })
    }
}

fn check(status: Status, call: &str) -> Result<(), CompileError> {
    match status {
        SUCCESS => Ok(()),
        _ => Err(CompileError::Refused { what: format!("{call}: status {status}"), log: String::new() }),
    }
}

/// A set of data, which is destroyed.
struct Set<'c> {
    comgr: &'c Comgr,
    handle: Handle,
}

impl Set<'_> {
    /// Adds a module.
    fn add(&self, name: &str, text: &[u8]) -> Result<(), CompileError> {
        let symbols = &self.comgr.symbols;
        let mut handle = Handle::default();
        // SAFETY: `handle` is written.
        check(unsafe { (symbols.create_data)(BITCODE, &mut handle) }, "amd_comgr_create_data")?;
        let data = Data { comgr: self.comgr, handle };
        // The file's name says what is in it; text and bitcode are both called so.
        let name = CString::new(format!("{}.bc", name.replace(['\0', '/', ' '], "_"))).unwrap_or_default();
        // SAFETY: the data is alive; bytes and name are copied.
        check(unsafe { (symbols.set_data)(data.handle, text.len(), text.as_ptr().cast()) }, "amd_comgr_set_data")?;
        // SAFETY: as above.
        check(unsafe { (symbols.set_name)(data.handle, name.as_ptr()) }, "amd_comgr_set_data_name")?;
        // SAFETY: both are alive; the set keeps a reference of its own.
        check(unsafe { (symbols.add)(self.handle, data.handle) }, "amd_comgr_data_set_add")
    }

    /// The bytes of all data of a kind.
    fn contents(&self, kind: u32) -> Vec<Vec<u8>> {
        let symbols = &self.comgr.symbols;
        let mut count = 0;
        // SAFETY: the set is alive; `count` is written.
        if unsafe { (symbols.count)(self.handle, kind, &mut count) } != SUCCESS {
            return Vec::new();
        }
        (0..count).filter_map(|at| self.bytes_of(kind, at)).collect()
    }

    fn bytes_of(&self, kind: u32, at: usize) -> Option<Vec<u8>> {
        let symbols = &self.comgr.symbols;
        let mut handle = Handle::default();
        // SAFETY: the set is alive and has so many data of the kind; `handle` is written.
        if unsafe { (symbols.member)(self.handle, kind, at, &mut handle) } != SUCCESS {
            return None;
        }
        let data = Data { comgr: self.comgr, handle };
        let mut size = 0;
        // SAFETY: the data is alive; its size is written, since there is no buffer.
        if unsafe { (symbols.get_data)(data.handle, &mut size, null_mut()) } != SUCCESS {
            return None;
        }
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has the size that it is said to have.
        let status = unsafe { (symbols.get_data)(data.handle, &mut size, bytes.as_mut_ptr().cast()) };
        (status == SUCCESS).then_some(bytes)
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        // SAFETY: the set came from this library and is destroyed once.
        let _ = unsafe { (self.comgr.symbols.destroy_set)(self.handle) };
    }
}

/// A reference to data, which is given back.
struct Data<'c> {
    comgr: &'c Comgr,
    handle: Handle,
}

impl Drop for Data<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference came from this library and is given back once.
        let _ = unsafe { (self.comgr.symbols.release_data)(self.handle) };
    }
}

/// What an action is told, which is destroyed.
struct Info<'c> {
    comgr: &'c Comgr,
    handle: Handle,
}

impl<'c> Info<'c> {
    fn new(comgr: &'c Comgr) -> Result<Self, CompileError> {
        let mut handle = Handle::default();
        // SAFETY: `handle` is written.
        check(unsafe { (comgr.symbols.create_info)(&mut handle) }, "amd_comgr_create_action_info")?;
        Ok(Self { comgr, handle })
    }
}

impl Drop for Info<'_> {
    fn drop(&mut self) {
        // SAFETY: the object came from this library and is destroyed once.
        let _ = unsafe { (self.comgr.symbols.destroy_info)(self.handle) };
    }
}
