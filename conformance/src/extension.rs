//! The project's own functions as the adapter under test has them: its library is opened once more, and asked for its
//! extension tables as a loader asks, and for each function by its name as a program on another loader does.
//!
//! An adapter need not have any. What it lacks is null here, and its tests are skipped.

use core::ffi::{CStr, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use ur_ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_ffi::{
    EXTENSION_FUNCTIONS, EXTENSION_TABLES, ExtensionTables, ur_api_version_t, ur_pfnGetExtensionProcAddrTableExt_t,
    ur_result_t,
};

use crate::{Environment, loader};

/// The adapter's library; none where a list of several is under test.
fn library() -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let open = || {
        // The loader has it open: its initialisers have run.
        loader();
        // SAFETY: opening the library that is under test, as the loader did.
        unsafe { Library::open(Some(&Environment::get().adapter), RTLD_LAZY | RTLD_LOCAL) }.ok()
    };
    LIBRARY.get_or_init(open).as_ref()
}

/// The address of what the adapter exports under a name.
pub fn by_name(name: &str) -> Option<*mut c_void> {
    // SAFETY: only the address is taken.
    let symbol = unsafe { library()?.get::<*mut c_void>(name.as_bytes()) }.ok()?;
    Some(symbol.into_raw())
}

/// The adapter's getter of extension tables.
pub fn getter() -> ur_pfnGetExtensionProcAddrTableExt_t {
    let address = by_name("urGetExtensionProcAddrTableExt")?;
    // SAFETY: a symbol of this name is the getter; a function pointer is as wide as an address.
    unsafe { core::mem::transmute::<*mut c_void, ur_pfnGetExtensionProcAddrTableExt_t>(address) }
}

/// The adapter's extension tables; what it does not have is null.
pub fn tables() -> &'static ExtensionTables {
    static TABLES: OnceLock<ExtensionTables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut tables = ExtensionTables::default();
        for &(name, offset, size) in EXTENSION_TABLES {
            // SAFETY: the table lies there, and a getter that refuses leaves its nulls alone.
            unsafe { fill(name, size, (&raw mut tables).byte_add(offset).cast()) };
        }
        tables
    })
}

/// Has the adapter fill the extension table of that name, and gives its answer; none without the getter.
///
/// # Safety
/// `table` leads to `size` bytes for function pointers.
pub unsafe fn fill(name: &CStr, size: usize, table: *mut c_void) -> Option<ur_result_t> {
    // SAFETY: the caller's promise.
    getter().map(|getter| unsafe { getter(ur_api_version_t::CURRENT, name.as_ptr(), size, table) })
}

/// Whether a name is that of a function of an extension table that both the loader and the adapter have.
#[must_use]
pub fn has(name: &str) -> bool {
    let own = EXTENSION_FUNCTIONS.iter().find(|function| function.name == name);
    let all = FUNCTIONS.iter().find(|function| function.name == name);
    let (Some(own), Some(all)) = (own.and_then(|f| f.slot), all.and_then(|f| f.slot)) else { return false };
    let exported: &AllFunctions = &loader().table;
    // SAFETY: both places are those of nullable function pointers.
    unsafe {
        let offered = core::ptr::from_ref(tables()).byte_add(own.offset).cast::<usize>().read();
        let exported = core::ptr::from_ref(exported).byte_add(all.offset).cast::<usize>().read();
        offered != 0 && exported != 0
    }
}
