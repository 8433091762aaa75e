//! The library's functions, and one program at a time.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;
use rustix::fs::{MemfdFlags, memfd_create};

use super::{CompileError, Compiled, Compiler, find};
use crate::emit::Dialect;
use crate::linker;

type Status = c_int;
/// `nvvmProgram`: a pointer that the library owns.
type Program = *mut std::ffi::c_void;

const SUCCESS: Status = 0;
/// The LLVM whose text has opaque pointers.
const FIRST_OPAQUE: c_int = 15;

/// What a library before 13.1 is told besides. Its pass that finds out which memory a generic address is in ("Memory Space
/// Optimization") does not end over some addresses that were cast in sight of it and whose source it cannot see, as a loaded one or
/// an assembly's result, once a loop steps them. This is its other algorithm, which ends.
const BEFORE_13_1: [&str; 2] = ["-Xopt", "-mem-space-alg=1"];
/// A text that asks which memory an address is in needs the usual algorithm: the other one computes with 0 in place of the address
/// of work-group memory there (13.0.88, `tests/kernels/address`). Libraries of 12.9 and 13.0 keep the setting that they are first used
/// with for the whole process, whatever they are told later. So the library, which others of the process may use, is told nothing, and
/// texts of the other kind go to a copy.
const ASKS_FOR_SPACE: &str = "@llvm.nvvm.isspacep.";

/// Whether a text asks which memory an address is in.
fn asks_for_space(texts: &[(&str, &str)]) -> bool {
    texts.iter().any(|(_, text)| text.contains(ASKS_FOR_SPACE))
}

/// The functions, with the library that they are in.
struct Symbols {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status,
    /// Since 13.1.
    llvm_version: Option<unsafe extern "C" fn(*const c_char, *mut c_int) -> Status>,
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    create: unsafe extern "C" fn(*mut Program) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    add: unsafe extern "C" fn(Program, *const c_char, usize, *const c_char) -> Status,
    add_lazily: unsafe extern "C" fn(Program, *const c_char, usize, *const c_char) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    result_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    result: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    log: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    /// The functions live as long as this.
    _library: Library,
}

/// An opened libnvvm with its libdevice. Threads may compile with it at the same time.
pub struct Nvvm {
    symbols: Symbols,
    /// The copy of a library before 13.1 that is told [`BEFORE_13_1`], from the first text on that wants it.
    told: OnceLock<Result<Symbols, String>>,
    path: PathBuf,
    libdevice: Vec<u8>,
}

impl Nvvm {
    /// Opens the best library that [`find::candidates`] names.
    ///
    /// # Errors
    /// None can be opened; the message names the package to install.
    pub fn open() -> Result<Self, CompileError> {
        let mut reasons = Vec::new();
        for candidate in find::candidates() {
            match Self::open_at(&candidate) {
                Ok(nvvm) => return Ok(nvvm),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        let folders: Vec<String> = find::folders().iter().map(|folder| folder.display().to_string()).collect();
        if !folders.is_empty() {
            reasons.push(format!("packages and toolkits were looked for in {}", folders.join(", ")));
        }
        Err(CompileError::Missing(format!(
            "SPIR-V kernels need libnvvm, which was not found ({}): install it with `pip install nvidia-nvvm` or the CUDA toolkit, \
             or name its file in {}",
            reasons.join("; "),
            find::LIBRARY_VARIABLE
        )))
    }

    /// Opens this library.
    ///
    /// # Errors
    /// It is none, or its libdevice is not beside it.
    pub fn open_at(path: &Path) -> Result<Self, CompileError> {
        let missing = |error: String| CompileError::Missing(format!("{}: {error}", path.display()));
        // SAFETY: libnvvm's initialisers have no preconditions.
        let library = unsafe { Library::new(path) }.map_err(|error| missing(error.to_string()))?;
        let (library, own) = linker::loaded_from(library);
        let symbols = Symbols::load(library).map_err(missing)?;
        let own = own.unwrap_or_else(|| path.to_path_buf());
        // The process may have the library by another path, beside which nothing lies. A bare name is beside nothing.
        let given = path.is_absolute().then(|| path.to_path_buf());
        let mut places = given.into_iter().chain([own.clone()]).chain(fs::canonicalize(&own).ok());
        let file = places.find_map(|place| find::libdevice(&place));
        let file = file.ok_or_else(|| missing("libdevice.10.bc is not beside it".to_owned()))?;
        let path = own;
        let libdevice = fs::read(&file).map_err(|error| missing(format!("{}: {error}", file.display())))?;
        Ok(Self { symbols, told: OnceLock::new(), path, libdevice })
    }

    /// The library's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The functions that compile these texts right, and what those are told besides.
    fn symbols_for(&self, texts: &[(&str, &str)]) -> Result<(&Symbols, &'static [&'static str]), CompileError> {
        if self.symbols.llvm_version.is_some() || asks_for_space(texts) {
            return Ok((&self.symbols, &[]));
        }
        match self.told.get_or_init(|| open_copy(&self.path)) {
            Ok(symbols) => Ok((symbols, &BEFORE_13_1)),
            Err(error) => Err(CompileError::Missing(format!(
                "{}: this kernel needs a copy of the library, which cannot be opened ({error}): a libnvvm of CUDA 13.1 or newer does \
                 without (`pip install nvidia-nvvm`)",
                self.path.display()
            ))),
        }
    }
}

/// Opens the library's bytes from memory: another file to the dynamic linker, so with variables of its own.
fn open_copy(path: &Path) -> Result<Symbols, String> {
    let mut bytes = fs::File::open(path).map_err(|error| format!("reading it: {error}"))?;
    let memory = memfd_create("libnvvm", MemfdFlags::CLOEXEC).map_err(|error| format!("memory for it: {error}"))?;
    let mut file = fs::File::from(memory);
    // Between files, so that the bytes do not come to this process first.
    io::copy(&mut bytes, &mut file).map_err(|error| format!("copying it: {error}"))?;
    // The linker takes two libraries of one name for the same, so the name holds more than the descriptor, which comes again.
    let name = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    // SAFETY: libnvvm's initialisers have no preconditions.
    let library = unsafe { Library::new(name) }.map_err(|error| error.to_string())?;
    Symbols::load(library)
}

impl Symbols {
    fn status_name(&self, status: Status) -> String {
        // SAFETY: any status may be asked for; the answer is null or a string that is never freed.
        let text = unsafe {
            let text = (self.error_string)(status);
            if text.is_null() { None } else { Some(CStr::from_ptr(text)) }
        };
        text.map_or_else(|| format!("status {status}"), |text| text.to_string_lossy().into_owned())
    }

    fn load(library: Library) -> Result<Self, String> {
        /// # Safety
        /// `T` is the C type of the function `name`.
        unsafe fn get<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
            // SAFETY: the caller's.
            let symbol = unsafe { library.get::<T>(name.as_bytes()) };
            symbol.map(|symbol| *symbol).map_err(|error| error.to_string())
        }
        // SAFETY: the types are those of nvvm.h, which have not changed since its first version.
        unsafe {
            Ok(Self {
                version: get(&library, "nvvmVersion")?,
                llvm_version: get(&library, "nvvmLLVMVersion").ok(),
                error_string: get(&library, "nvvmGetErrorString")?,
                create: get(&library, "nvvmCreateProgram")?,
                destroy: get(&library, "nvvmDestroyProgram")?,
                add: get(&library, "nvvmAddModuleToProgram")?,
                add_lazily: get(&library, "nvvmLazyAddModuleToProgram")?,
                compile: get(&library, "nvvmCompileProgram")?,
                result_size: get(&library, "nvvmGetCompiledResultSize")?,
                result: get(&library, "nvvmGetCompiledResult")?,
                log_size: get(&library, "nvvmGetProgramLogSize")?,
                log: get(&library, "nvvmGetProgramLog")?,
                _library: library,
            })
        }
    }
}

/// One program of the library, which it frees.
struct Session<'n> {
    symbols: &'n Symbols,
    program: Program,
}

impl<'n> Session<'n> {
    fn begin(symbols: &'n Symbols) -> Result<Self, CompileError> {
        let mut program = std::ptr::null_mut();
        // SAFETY: `program` is written.
        let status = unsafe { (symbols.create)(&mut program) };
        let session = Self { symbols, program };
        session.check("nvvmCreateProgram", status)?;
        Ok(session)
    }

    fn check(&self, what: &str, status: Status) -> Result<(), CompileError> {
        if status == SUCCESS {
            return Ok(());
        }
        let symbols = self.symbols;
        let log = if self.program.is_null() { Vec::new() } else { self.text(symbols.log_size, symbols.log) };
        Err(CompileError::Refused {
            what: format!("{what}: {}", symbols.status_name(status)),
            log: String::from_utf8_lossy(&log).into_owned(),
        })
    }

    fn add(&self, name: &str, bytes: &[u8], lazily: bool) -> Result<(), CompileError> {
        let name = CString::new(name.replace('\0', "")).unwrap_or_default();
        let add = if lazily { self.symbols.add_lazily } else { self.symbols.add };
        // SAFETY: the program is alive; the library copies or parses the bytes, whose length it is given, before it returns, and
        // those of libdevice outlive the program.
        let status = unsafe { add(self.program, bytes.as_ptr().cast(), bytes.len(), name.as_ptr()) };
        self.check("nvvmAddModuleToProgram", status)
    }

    fn compile(&self, options: &[String], besides: &[&str]) -> Result<(), CompileError> {
        let all = options.iter().map(String::as_str).chain(besides.iter().copied());
        let options: Vec<CString> = all.filter_map(|option| CString::new(option).ok()).collect();
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is alive, and so are the strings; there are as many as is said.
        let status = unsafe { (self.symbols.compile)(self.program, pointers.len() as c_int, pointers.as_ptr()) };
        self.check("nvvmCompileProgram", status)
    }

    /// The bytes that a pair of functions gives, without the zero at their end.
    fn text(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> Status,
        get: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    ) -> Vec<u8> {
        let mut length = 0;
        // SAFETY: the program is alive; `length` is written.
        if unsafe { size(self.program, &mut length) } != SUCCESS || length == 0 {
            return Vec::new();
        }
        let mut bytes = vec![0; length];
        // SAFETY: the buffer has the size that the library has just asked for.
        if unsafe { get(self.program, bytes.as_mut_ptr().cast()) } != SUCCESS {
            return Vec::new();
        }
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        bytes
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if !self.program.is_null() {
            // SAFETY: the program came from this library and is destroyed once.
            let _ = unsafe { (self.symbols.destroy)(&mut self.program) };
        }
    }
}

impl Compiler for Nvvm {
    fn dialect(&self, sm: u32) -> Result<Dialect, CompileError> {
        let Some(ask) = self.symbols.llvm_version else {
            // Libraries before 13.1, which added the question, know one dialect.
            return Ok(Dialect::Typed);
        };
        let architecture = CString::new(format!("compute_{sm}")).unwrap_or_default();
        let mut major = 0;
        // SAFETY: the string ends; `major` is written.
        let status = unsafe { ask(architecture.as_ptr(), &mut major) };
        if status != SUCCESS {
            let what = format!("this libnvvm knows no compute_{sm}: {}", self.symbols.status_name(status));
            return Err(CompileError::Refused { what, log: String::new() });
        }
        Ok(if major >= FIRST_OPAQUE { Dialect::Opaque } else { Dialect::Typed })
    }

    fn version(&self) -> String {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both are written.
        let _ = unsafe { (self.symbols.version)(&mut major, &mut minor) };
        format!("nvvm {major}.{minor} libdevice {} {}", self.libdevice.len(), self.path.display())
    }

    fn compile(&self, modules: &[(&str, &str)], options: &[String], libdevice: bool) -> Result<Compiled, CompileError> {
        let (symbols, besides) = self.symbols_for(modules)?;
        let session = Session::begin(symbols)?;
        for (name, text) in modules {
            session.add(name, text.as_bytes(), false)?;
        }
        if libdevice {
            session.add("libdevice", &self.libdevice, true)?;
        }
        session.compile(options, besides)?;
        let ptx = session.text(symbols.result_size, symbols.result);
        let log = session.text(symbols.log_size, symbols.log);
        Ok(Compiled {
            ptx: String::from_utf8_lossy(&ptx).into_owned(),
            log: String::from_utf8_lossy(&log).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_asks_for_a_space_is_told_from_others() {
        let (plain, asks) = (("a", "define void @k()"), ("b", "declare i1 @llvm.nvvm.isspacep.shared(i8*)"));
        assert!(!asks_for_space(&[plain]));
        assert!(asks_for_space(&[plain, asks]));
    }
}
