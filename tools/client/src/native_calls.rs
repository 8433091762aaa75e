//! The number of calls that reached the native library, read from the library itself: callcount
//! (`conformance/simulator/callcount`), which counts for any CUDA driver, or simcuda and hip-on-cuda, which count their
//! own. The library must be loaded by somebody else; this opens none, so that measuring does not change what is measured.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// glibc's and musl's `RTLD_NOLOAD`: open only what is loaded already.
const RTLD_NOLOAD: c_int = 4;

type Each = unsafe extern "C" fn(Option<unsafe extern "C" fn(*const c_char, u64, *mut c_void)>, *mut c_void);

/// The library that the CUDA adapter of this environment opens.
#[must_use]
pub fn native_library() -> OsString {
    std::env::var_os("UR_CUDA_LIBRARY").filter(|name| !name.is_empty()).unwrap_or_else(|| "libcuda.so.1".into())
}

/// The libraries that the HIP adapter of this environment tries to open, in its order.
#[must_use]
pub fn hip_libraries() -> Vec<OsString> {
    match std::env::var_os("UR_HIP_LIBRARY").filter(|name| !name.is_empty()) {
        Some(name) => vec![name],
        None => ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"].map(Into::into).into(),
    }
}

/// Counters of a loaded native library.
#[derive(Debug)]
pub struct NativeCalls {
    /// Not every library adds up itself.
    total: Option<unsafe extern "C" fn() -> u64>,
    of: unsafe extern "C" fn(*const c_char) -> u64,
    each: Each,
    /// Keeps the functions above in memory.
    _library: Library,
}

impl NativeCalls {
    /// The counters of a library that this process has loaded under this path or name; `None` if it has not, or if the
    /// library does not count.
    #[must_use]
    pub fn of_loaded(library: &OsStr) -> Option<Self> {
        // SAFETY: nothing is loaded and no initialiser runs, by the flag.
        let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) }.ok()?;
        [
            ["callcountOf", "callcountEach", "callcountTotal"],
            ["simcudaCallCount", "simcudaCallCounts", "simcudaCallCountTotal"],
            ["hiponcudaCallCount", "hiponcudaCallCounts", "hiponcudaCallCountTotal"],
        ]
        .into_iter()
        .find_map(|[of, each, total]| {
            // SAFETY: the libraries' headers give these names these signatures.
            unsafe {
                Some((
                    library.get(total.as_bytes()).ok().map(|symbol| *symbol),
                    *library.get(of.as_bytes()).ok()?,
                    *library.get::<Each>(each.as_bytes()).ok()?,
                ))
            }
        })
        .map(|(total, of, each)| Self { total, of, each, _library: library })
    }

    /// Calls of all functions together.
    #[must_use]
    pub fn total(&self) -> u64 {
        match self.total {
            // SAFETY: the library is loaded as long as `self` lives.
            Some(total) => unsafe { total() },
            None => self.each().iter().map(|(_, count)| count).sum(),
        }
    }

    /// Calls of one function, by its exported name.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        let Ok(name) = CString::new(name) else { return 0 };
        // SAFETY: as above; the name is a C string.
        unsafe { (self.of)(name.as_ptr()) }
    }

    /// Every function that was called, with its count.
    #[must_use]
    pub fn each(&self) -> Vec<(String, u64)> {
        unsafe extern "C" fn add(name: *const c_char, count: u64, list: *mut c_void) {
            // SAFETY: `list` is the vector below, `name` a C string; both only during the call.
            unsafe {
                let list = &mut *list.cast::<Vec<(String, u64)>>();
                list.push((CStr::from_ptr(name).to_string_lossy().into_owned(), count));
            }
        }
        let mut list: Vec<(String, u64)> = Vec::new();
        // SAFETY: the callback runs on this thread before the function returns, with a vector that nobody else uses.
        unsafe { (self.each)(Some(add), (&raw mut list).cast()) };
        list.retain(|(_, count)| *count > 0);
        list
    }
}
