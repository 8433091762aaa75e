//! Finding libsycl's own functions behind ours, and saying so where they are not to be found.

use std::ffi::{CStr, c_void};
use std::io::Write;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::descriptor::Binaries;
use crate::owner::{Loads, Owner};

/// libsycl's function of the same signature as ours.
pub type Function = unsafe extern "C" fn(*mut Binaries);

/// The releases of libsycl.
const NAMES: [&CStr; 2] = [c"libsycl.so.9", c"libsycl.so.8"];

/// The function that would have been called without ours: the next in the search for symbols; where libsycl was loaded for some
/// libraries alone (Python does so), that of the library with this descriptor; and where that knows none, the one that is loaded.
pub fn function(name: &CStr, own: *const (), binaries: *const Binaries) -> Option<Function> {
    let own: *const c_void = own.cast();
    let (address, loads) = (binaries as u64, Loads::now());
    let knows = |known: &&Known| known.own == own as usize && known.loads == loads && known.segments.contains(&address);
    // A library has a descriptor for each of its objects: dpnp's 30 libraries have 1,865.
    if let Some(known) = known().iter().flatten().find(knows) {
        return Some(known.function);
    }
    let owner = Owner::of(binaries.cast());
    let of_owner = || of_library(&owner.as_ref()?.file, name, own);
    let found = symbol(libc::RTLD_NEXT, name, own).or_else(of_owner).or_else(|| of_only_loaded(name, own))?;
    // SAFETY: libsycl exports both functions with this signature, in every version that has them.
    let function = unsafe { std::mem::transmute::<*const c_void, Function>(found) };
    if let Some(Owner { segments, .. }) = owner {
        let mut known = known();
        known.swap(0, 1);
        known[0] = Some(Known { own: own as usize, loads, segments, function });
    }
    Some(function)
}

/// The last two answers: one for registrations, one for what is taken back.
static KNOWN: Mutex<[Option<Known>; 2]> = Mutex::new([None, None]);

fn known() -> MutexGuard<'static, [Option<Known>; 2]> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An answer, for whoever asks from the same library while none is loaded or unloaded.
struct Known {
    /// Which of our functions was called.
    own: usize,
    loads: Loads,
    segments: Range<u64>,
    function: Function,
}

/// It takes longest: the dynamic linker looks through folders for a library that is not loaded.
fn of_only_loaded(name: &CStr, own: *const c_void) -> Option<*const c_void> {
    let mut found = NAMES.iter().filter_map(|library| of_library(library, name, own));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The function that a library that is loaded has or depends on.
fn of_library(library: &CStr, name: &CStr, own: *const c_void) -> Option<*const c_void> {
    // SAFETY: with RTLD_NOLOAD no library is loaded and no code of one is run.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return None;
    }
    let found = symbol(handle, name, own);
    // SAFETY: the handle is the one from above; the library stays loaded by whoever loaded it.
    unsafe { libc::dlclose(handle) };
    found
}

fn symbol(handle: *mut c_void, name: &CStr, own: *const c_void) -> Option<*const c_void> {
    // SAFETY: a handle of the dynamic linker's and a string.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) }.cast_const();
    (!found.is_null() && found != own).then_some(found)
}

/// Says that a function is missing: the library's kernels will not be found.
pub fn complain(name: &str) {
    warn(&format!("no libsycl with `{name}` is loaded; nothing was done"));
}

/// A line on standard error, if there is one.
pub fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "libur_sycl_images: {text}");
}
