//! libnvvm's C API over a folder of PTX: a program gets the text that has all of its kernels, which the real library made before.
//! libamd_comgr's is beside it ([`comgr`]).
//!
//! It compiles nothing, and takes no text that has not the form of NVVM IR. What it is asked is written down in the folder that
//! `SIMNVVM_FOLDER` names, so that a test can count compilations of many processes, read what was compiled, have it refused, and
//! hold it up:
//!
//! | file | is |
//! |---|---|
//! | `*.ptx` | what there is to answer |
//! | `compiled` | one line for each compilation: its options (written here) |
//! | `text` | what was compiled last (written here) |
//! | `refuse` | if it is there, every compilation fails with its text as log |
//! | `entered`, `leave` | if they are there: pipes; a compilation writes a byte to the first and waits for one from the second |
#![allow(non_snake_case, reason = "the API's names")]

pub mod comgr;

use std::env;
use std::ffi::{CStr, c_char, c_int};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const SUCCESS: c_int = 0;
const INVALID_INPUT: c_int = 4;
const INVALID_PROGRAM: c_int = 5;
const INVALID_IR: c_int = 6;
const NO_MODULE_IN_PROGRAM: c_int = 8;
const COMPILATION: c_int = 9;

/// The architectures of the release that this stands for.
const ARCHITECTURES: [u32; 10] = [75, 80, 86, 87, 89, 90, 100, 103, 110, 120];
const FIRST_OPAQUE: u32 = 100;

/// `nvvmProgram`.
#[derive(Default)]
pub struct Program {
    texts: Vec<String>,
    result: Vec<u8>,
    log: Vec<u8>,
}

/// Writes the version of the IR.
///
/// # Safety
/// Both may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        major.write(2);
        minor.write(0);
    }
    SUCCESS
}

/// Writes the version of LLVM for an architecture.
///
/// # Safety
/// `architecture` is a string, `major` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmLLVMVersion(architecture: *const c_char, major: *mut c_int) -> c_int {
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(architecture) }.to_string_lossy();
    let number = name.strip_prefix("compute_").and_then(|number| number.parse().ok());
    let Some(known) = ARCHITECTURES.into_iter().find(|sm| Some(*sm) == number) else { return INVALID_INPUT };
    // SAFETY: the caller's.
    unsafe { major.write(if known >= FIRST_OPAQUE { 22 } else { 7 }) };
    SUCCESS
}

/// The name of a status.
#[unsafe(no_mangle)]
pub extern "C" fn nvvmGetErrorString(status: c_int) -> *const c_char {
    let name = match status {
        SUCCESS => c"NVVM_SUCCESS",
        INVALID_INPUT => c"NVVM_ERROR_INVALID_INPUT",
        INVALID_PROGRAM => c"NVVM_ERROR_INVALID_PROGRAM",
        INVALID_IR => c"NVVM_ERROR_INVALID_IR",
        NO_MODULE_IN_PROGRAM => c"NVVM_ERROR_NO_MODULE_IN_PROGRAM",
        COMPILATION => c"NVVM_ERROR_COMPILATION",
        _ => c"unknown",
    };
    name.as_ptr()
}

/// Makes a program.
///
/// # Safety
/// `program` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmCreateProgram(program: *mut *mut Program) -> c_int {
    // SAFETY: the caller's.
    unsafe { program.write(Box::into_raw(Box::default())) };
    SUCCESS
}

/// Ends a program.
///
/// # Safety
/// `program` is null or one that [`nvvmCreateProgram`] made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmDestroyProgram(program: *mut *mut Program) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        if (*program).is_null() {
            return INVALID_PROGRAM;
        }
        drop(Box::from_raw(*program));
        program.write(std::ptr::null_mut());
    }
    SUCCESS
}

/// Adds text.
///
/// # Safety
/// `program` is a program, `bytes` has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmAddModuleToProgram(
    program: *mut Program,
    bytes: *const c_char,
    size: usize,
    _name: *const c_char,
) -> c_int {
    // SAFETY: the caller's.
    let (program, bytes) = unsafe { (&mut *program, std::slice::from_raw_parts(bytes.cast::<u8>(), size)) };
    program.texts.push(String::from_utf8_lossy(bytes).into_owned());
    SUCCESS
}

/// Adds a library, of which nothing is taken.
#[unsafe(no_mangle)]
pub extern "C" fn nvvmLazyAddModuleToProgram(
    _program: *mut Program,
    _bytes: *const c_char,
    _size: usize,
    _name: *const c_char,
) -> c_int {
    SUCCESS
}

/// Compiles.
///
/// # Safety
/// `program` is a program; there are `count` options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmCompileProgram(
    program: *mut Program,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the caller's.
    let (program, options) = unsafe {
        let list: &[*const c_char] = if count == 0 { &[] } else { std::slice::from_raw_parts(options, count) };
        let text = |&option: &*const c_char| CStr::from_ptr(option).to_string_lossy().into_owned();
        (&mut *program, list.iter().map(text).collect::<Vec<_>>())
    };
    match compiled(&program.texts, &options) {
        Ok(ptx) => {
            program.result = ptx.into_bytes();
            SUCCESS
        }
        Err((status, log)) => {
            program.log = log.into_bytes();
            status
        }
    }
}

fn compiled(texts: &[String], options: &[String]) -> Result<String, (c_int, String)> {
    if texts.is_empty() {
        return Err((NO_MODULE_IN_PROGRAM, "there is no module".to_owned()));
    }
    let refused = |status: c_int, what: &str| Err((status, format!("simnvvm: {what}")));
    if !options.iter().any(|option| option.starts_with("-arch=compute_")) {
        return refused(COMPILATION, "no architecture is named");
    }
    if !texts
        .iter()
        .all(|text| text.contains("target triple = \"nvptx64-nvidia-cuda\"") && text.contains("!nvvmir.version"))
    {
        return refused(INVALID_IR, "the text is no NVVM IR");
    }
    refuse_by_folder(texts, options).map_err(|log| (COMPILATION, log))?;
    let kernels: Vec<&str> = texts.iter().flat_map(|text| kernels(text)).collect();
    match answer_of(&kernels) {
        Some(ptx) => Ok(ptx),
        None => refused(COMPILATION, &format!("no file has the kernels {kernels:?}")),
    }
}

/// Writes down what is compiled, waits where a test wants it, and refuses with the log that one wants.
fn refuse_by_folder(texts: &[String], options: &[String]) -> Result<(), String> {
    let folder = folder().ok_or("simnvvm: SIMNVVM_FOLDER names no folder")?;
    note(&folder, &texts.join("\n"), options);
    hold_up(&folder);
    match fs::read_to_string(folder.join("refuse")) {
        Ok(log) => Err(log),
        Err(_) => Ok(()),
    }
}

fn folder() -> Option<PathBuf> {
    env::var_os("SIMNVVM_FOLDER").map(PathBuf::from)
}

/// Writes down what is compiled.
fn note(folder: &Path, text: &str, options: &[String]) {
    let file = OpenOptions::new().create(true).append(true).open(folder.join("compiled"));
    let line = format!("{}\n", options.join(" "));
    // One write, so that lines of several processes do not mix.
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the folder can be written");
    fs::write(folder.join("text"), text).expect("the folder can be written");
}

/// Waits where a test wants it.
fn hold_up(folder: &Path) {
    let Ok(mut entered) = OpenOptions::new().write(true).open(folder.join("entered")) else { return };
    entered.write_all(b"x").expect("somebody reads");
    drop(entered);
    let mut byte = [0];
    fs::File::open(folder.join("leave")).and_then(|mut leave| leave.read_exact(&mut byte)).expect("a pipe");
}

/// The names of the kernels of a text, by its annotations.
fn kernels(text: &str) -> impl Iterator<Item = &str> {
    let annotated = text.lines().filter_map(|line| line.split_once(", !\"kernel\"")).map(|(before, _)| before);
    annotated.filter_map(|before| before.rsplit_once('@')).map(|(_, name)| name.trim_matches('"'))
}

/// The first file, by name, that has all of these kernels.
fn answer_of(kernels: &[&str]) -> Option<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()?).ok()?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ptx"));
    files.sort();
    let texts = files.into_iter().filter_map(|file| fs::read_to_string(file).ok());
    let mut fitting = texts.filter(|text| kernels.iter().all(|kernel| text.contains(&format!(".entry {kernel}("))));
    fitting.next()
}

/// Writes the size of the result with the zero at its end.
///
/// # Safety
/// `program` is a program, `size` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmGetCompiledResultSize(program: *mut Program, size: *mut usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { size.write((*program).result.len() + 1) };
    SUCCESS
}

/// Writes the result.
///
/// # Safety
/// `program` is a program; the buffer has the size that was told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmGetCompiledResult(program: *mut Program, buffer: *mut c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { put(&(*program).result, buffer) }
}

/// Writes the size of the log with the zero at its end.
///
/// # Safety
/// `program` is a program, `size` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmGetProgramLogSize(program: *mut Program, size: *mut usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { size.write((*program).log.len() + 1) };
    SUCCESS
}

/// Writes the log.
///
/// # Safety
/// `program` is a program; the buffer has the size that was told.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvvmGetProgramLog(program: *mut Program, buffer: *mut c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { put(&(*program).log, buffer) }
}

/// # Safety
/// The buffer has room for the text and a zero.
unsafe fn put(text: &[u8], buffer: *mut c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), text.len());
        buffer.add(text.len()).write(0);
    }
    SUCCESS
}
