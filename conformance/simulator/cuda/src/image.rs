//! Telling apart the images that a client may load, and reading the options of the just-in-time compiler.
//!
//! An image comes as a bare pointer, so its length is found from its own headers. Only what those say is read.

use crate::ptx;
use crate::ptx::fatbin::{self, EntryKind};
use crate::sys::*;
use core::ffi::{CStr, c_char, c_uint, c_void};
use parking_lot::Mutex;
use std::sync::Arc;

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// An image that was recognised, copied out of the client's memory.
pub enum Image {
    /// PTX text.
    Text(Vec<u8>),
    /// A fat binary: PTX and native code for several targets.
    Fat(Vec<u8>),
    /// Native code, which no simulated device runs.
    Native,
}

/// Why an image was not loaded.
pub struct Failure {
    /// The API's code.
    pub code: CUresult,
    /// The compiler's words.
    pub log: String,
}

impl Failure {
    /// A failure with its explanation.
    pub fn new(code: CUresult, log: impl Into<String>) -> Self {
        Self { code, log: log.into() }
    }
}

impl Image {
    /// Copies an image of unknown length.
    ///
    /// # Safety
    /// `image` must point to a whole image: NUL-terminated text, an ELF file or a fat binary.
    pub unsafe fn read(image: *const c_void) -> Result<Image, Failure> {
        let start = image.cast::<u8>();
        // SAFETY: every kind of image has four bytes at least, or is text that ends before.
        let magic = unsafe { first_bytes(start) };
        match magic {
            Some(ELF_MAGIC) => Ok(Image::Native),
            Some(bytes) if matches!(u32::from_le_bytes(bytes), fatbin::MAGIC | fatbin::WRAPPER_MAGIC) => {
                // SAFETY: the client gives a whole fat binary, or the wrapper of one.
                let bytes = unsafe { fatbin::from_pointer(start) }.map_err(unreadable)?;
                Ok(Image::Fat(bytes.to_vec()))
            }
            _ => {
                // SAFETY: what is neither of the above is NUL-terminated text.
                Image::from_bytes(unsafe { CStr::from_ptr(image.cast::<c_char>()) }.to_bytes())
            }
        }
    }

    /// Recognises an image of known length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Image, Failure> {
        match bytes.first_chunk::<4>() {
            Some(&ELF_MAGIC) => Ok(Image::Native),
            Some(&magic) if u32::from_le_bytes(magic) == fatbin::MAGIC => Ok(Image::Fat(bytes.to_vec())),
            _ if contains(bytes, b".version") => Ok(Image::Text(bytes.to_vec())),
            _ => Err(Failure::new(CUDA_ERROR_INVALID_IMAGE, "neither PTX nor a binary image")),
        }
    }

    /// Compiles it for a device of capability `sm`.
    pub fn compile(&self, sm: u32) -> Result<Arc<ptx::Module>, Failure> {
        match self {
            Image::Native => Err(Failure::new(
                CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the image holds native code alone; this device runs PTX",
            )),
            Image::Text(text) => compile_text(text, sm),
            Image::Fat(bytes) => compile_text(&text_of_fatbin(bytes, sm)?, sm),
        }
    }

    /// Its PTX, for linking.
    pub fn text(&self, sm: u32) -> Result<Vec<u8>, Failure> {
        match self {
            Image::Text(text) => Ok(text.clone()),
            Image::Fat(bytes) => text_of_fatbin(bytes, sm),
            Image::Native => Err(Failure::new(CUDA_ERROR_NO_BINARY_FOR_GPU, "native code cannot be linked here")),
        }
    }
}

/// # Safety
/// `start` must point to four bytes or to a shorter NUL-terminated string.
unsafe fn first_bytes(start: *const u8) -> Option<[u8; 4]> {
    let mut bytes = [0; 4];
    for (i, byte) in bytes.iter_mut().enumerate() {
        // SAFETY: all bytes before were not NUL, so this one exists.
        *byte = unsafe { start.add(i).read() };
        if *byte == 0 {
            return None;
        }
    }
    Some(bytes)
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Texts that were compiled last, the last one at the end. A module does not change once it is compiled, and a client makes the
/// same program again and again; drivers keep what they have compiled, too.
static COMPILED: Mutex<Vec<Compiled>> = Mutex::new(Vec::new());
const MOST_COMPILED: usize = 16;

struct Compiled {
    text: Box<[u8]>,
    sm: u32,
    module: Arc<ptx::Module>,
}

fn compile_text(text: &[u8], sm: u32) -> Result<Arc<ptx::Module>, Failure> {
    let is_it = |compiled: &Compiled| compiled.sm == sm && *compiled.text == *text;
    if let Some(compiled) = COMPILED.lock().iter().find(|compiled| is_it(compiled)) {
        return Ok(Arc::clone(&compiled.module));
    }
    let module = Arc::new(parse_text(text, sm)?);
    let mut compiled = COMPILED.lock();
    if compiled.len() == MOST_COMPILED {
        compiled.remove(0);
    }
    compiled.push(Compiled { text: text.into(), sm, module: Arc::clone(&module) });
    Ok(module)
}

fn parse_text(text: &[u8], sm: u32) -> Result<ptx::Module, Failure> {
    ptx::Module::parse(text, sm).map_err(|error| {
        let code = match error.kind {
            ptx::LoadErrorKind::TargetTooNew => CUDA_ERROR_NO_BINARY_FOR_GPU,
            ptx::LoadErrorKind::VersionTooNew => CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
            _ => CUDA_ERROR_INVALID_PTX,
        };
        Failure::new(code, format!("ptxas application ptx input, {error}"))
    })
}

/// The PTX of the newest architecture that the device can run.
fn text_of_fatbin(bytes: &[u8], sm: u32) -> Result<Vec<u8>, Failure> {
    let mut entries = fatbin::entries(bytes).map_err(unreadable)?;
    entries.retain(|entry| entry.kind == EntryKind::Ptx && entry.arch <= sm);
    let newest = entries.into_iter().max_by_key(|entry| entry.arch);
    let none = || Failure::new(CUDA_ERROR_NO_BINARY_FOR_GPU, "the fat binary has no PTX for this device");
    newest.map(|entry| entry.data).ok_or_else(none)
}

fn unreadable(error: fatbin::FatbinError) -> Failure {
    Failure::new(CUDA_ERROR_INVALID_IMAGE, error.to_string())
}

/// The options that this compiler knows: its logs. Others are accepted and change nothing.
pub struct JitOptions {
    info: Log,
    error: Log,
}

#[derive(Clone, Copy)]
struct Log {
    buffer: *mut c_char,
    size: usize,
    /// Where the number of bytes written goes.
    written: Option<*mut *mut c_void>,
}

// SAFETY: the client keeps its buffers while the options are in use, and writes to them happen in its own calls.
unsafe impl Send for Log {}
// SAFETY: as above.
unsafe impl Sync for Log {}

const CU_JIT_INFO_LOG_BUFFER: c_uint = 3;
const CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_uint = 4;
const CU_JIT_ERROR_LOG_BUFFER: c_uint = 5;
const CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;
const CU_JIT_NUM_OPTIONS: c_uint = 64;

impl JitOptions {
    /// Reads the option arrays.
    ///
    /// # Safety
    /// Both arrays must have `count` entries, and log buffers the sizes given with them.
    pub unsafe fn read(count: c_uint, options: *const c_uint, values: *mut *mut c_void) -> Result<Self, CUresult> {
        let none = Log { buffer: core::ptr::null_mut(), size: 0, written: None };
        let mut read = Self { info: none, error: none };
        if count > 0 && (options.is_null() || values.is_null()) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        for i in 0..count as usize {
            // SAFETY: both arrays have `count` entries.
            let (option, slot) = unsafe { (options.add(i).read(), values.add(i)) };
            // SAFETY: as above.
            let value = unsafe { slot.read() };
            match option {
                CU_JIT_INFO_LOG_BUFFER => read.info.buffer = value.cast(),
                CU_JIT_ERROR_LOG_BUFFER => read.error.buffer = value.cast(),
                CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => {
                    (read.info.size, read.info.written) = (value as u32 as usize, Some(slot));
                }
                CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => {
                    (read.error.size, read.error.written) = (value as u32 as usize, Some(slot));
                }
                0..CU_JIT_NUM_OPTIONS => {}
                _ => return Err(CUDA_ERROR_INVALID_VALUE),
            }
        }
        Ok(read)
    }

    /// Fills the logs: the failure's words into the error log, nothing into the other.
    pub fn write<T>(&self, result: Result<T, Failure>) -> Result<T, CUresult> {
        self.info.write("");
        match result {
            Ok(value) => {
                self.error.write("");
                Ok(value)
            }
            Err(failure) => {
                self.error.write(&failure.log);
                Err(failure.code)
            }
        }
    }
}

impl Log {
    fn write(&self, text: &str) {
        let kept = text.len().min(self.size.saturating_sub(1));
        if !self.buffer.is_null() && self.size > 0 {
            // SAFETY: the client's buffer has `size` bytes; the text and its NUL fit.
            unsafe {
                self.buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), kept);
                self.buffer.add(kept).write(0);
            }
        }
        if let Some(slot) = self.written {
            let bytes = if kept == 0 { 0 } else { kept + 1 };
            // SAFETY: the slot is an entry of the client's array of values.
            unsafe { slot.write(bytes as *mut c_void) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret; }\n";

    #[test]
    fn a_text_is_compiled_once_for_each_kind_of_device_as_long_as_it_is_one_of_the_last() {
        let image = Image::from_bytes(TEXT.as_bytes()).ok().expect("it is PTX");
        let [one, again, other] = [80, 80, 90].map(|sm| image.compile(sm).ok().expect("it compiles"));
        assert!(Arc::ptr_eq(&one, &again) && !Arc::ptr_eq(&one, &other));
        let bad = Image::Text(TEXT.replace("ret", "retire").into_bytes());
        let log = || bad.compile(80).expect_err("no such instruction").log;
        assert_eq!(log(), log());
        for number in 0..MOST_COMPILED {
            let next = Image::Text(format!("{TEXT}// {number}\n").into_bytes());
            assert!(next.compile(80).is_ok());
        }
        assert_eq!(COMPILED.lock().len(), MOST_COMPILED);
        assert!(!Arc::ptr_eq(&one, &image.compile(80).ok().expect("it compiles")));
    }
}
