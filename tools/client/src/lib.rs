//! What a program needs to talk to any Unified Runtime loader: one library opened by path, the table of its functions,
//! and errors that say what failed. It knows no adapter, keeps no handle, and never calls what the program did not ask
//! for, except that an error's text is fetched where the error happens.
//!
//! Functions are looked up **by name**, as the dynamic linker does for an application. The table getters that loaders
//! export too are not used: a loader of another release would write a table of another layout, and the stock loader's
//! answer only after `urLoaderInit`. So one binary measures any loader of any release; what it does not export is an empty
//! slot, and what it exports tells its release.
//!
//! ```no_run
//! use ur_client::{Ur, call};
//! use ur_ffi::ur_device_info_t;
//!
//! let ur = Ur::open("libur_loader.so.0")?;
//! ur.init()?;
//! for adapter in ur.adapters()? {
//!     for platform in ur.platforms(adapter)? {
//!         for device in ur.devices(platform)? {
//!             println!("{}", ur.device_info(device, ur_device_info_t::NAME)?.text());
//!             // SAFETY: `devices` gave this program one reference.
//!             unsafe { call!(ur, Device.pfnRelease(device)) }?;
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The wrappers take handles in safe functions. That a handle is live is the program's word, as everywhere in this API;
//! what is passed on from them is never read here.

#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "handles are passed on, see above")]

mod answer;
mod error;
mod native_calls;
mod output;
mod places;
mod queries;
mod setup;

use std::ffi::{OsStr, OsString, c_void};
use std::mem::offset_of;
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use ur_ffi::releases::Release;
use ur_ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_ffi::value::FunctionInfo;
use ur_ffi::{
    ur_adapter_handle_t, ur_device_init_flags_t, ur_pfnDeviceGetSelected_t, ur_pfnLoaderConfigCreate_t,
    ur_pfnLoaderConfigEnableLayer_t, ur_pfnLoaderConfigGetInfo_t, ur_pfnLoaderConfigRelease_t,
    ur_pfnLoaderConfigRetain_t, ur_pfnLoaderConfigSetCodeLocationCallback_t, ur_pfnLoaderConfigSetMockingEnabled_t,
    ur_pfnLoaderInit_t, ur_pfnLoaderTearDown_t, ur_result_t,
};

pub use answer::Answer;
pub use error::{ClientError, OpenError, Result};
pub use native_calls::{NativeCalls, hip_libraries, native_library};
pub use output::print;
pub use places::{kernel_folder, loader};
pub use setup::{Held, Listed, pointer_argument, value_argument};

/// The loader that the dynamic linker finds.
pub const DEFAULT_LOADER: &str = "libur_loader.so.0";

macro_rules! loader_functions {
    ($($(#[$meta:meta])* $field:ident: $ty:ident = $symbol:literal,)*) => {
        /// The functions that only a loader has; no adapter's table holds them. A missing one is `None`.
        #[derive(Clone, Copy, Debug, Default)]
        #[allow(non_snake_case, reason = "named as in C")]
        pub struct LoaderFunctions {
            $($(#[$meta])* pub $field: $ty,)*
        }

        impl LoaderFunctions {
            fn of(library: &Library) -> Self {
                Self { $($field: {
                    // SAFETY: a loader's symbol of this name has the signature that the API gives it.
                    unsafe { library.get::<$ty>($symbol) }.ok().and_then(|symbol| *symbol)
                },)* }
            }
        }
    };
}

loader_functions! {
    /// `urLoaderConfigCreate`.
    pfnConfigCreate: ur_pfnLoaderConfigCreate_t = b"urLoaderConfigCreate\0",
    /// `urLoaderConfigRetain`.
    pfnConfigRetain: ur_pfnLoaderConfigRetain_t = b"urLoaderConfigRetain\0",
    /// `urLoaderConfigRelease`.
    pfnConfigRelease: ur_pfnLoaderConfigRelease_t = b"urLoaderConfigRelease\0",
    /// `urLoaderConfigGetInfo`.
    pfnConfigGetInfo: ur_pfnLoaderConfigGetInfo_t = b"urLoaderConfigGetInfo\0",
    /// `urLoaderConfigEnableLayer`.
    pfnConfigEnableLayer: ur_pfnLoaderConfigEnableLayer_t = b"urLoaderConfigEnableLayer\0",
    /// `urLoaderConfigSetCodeLocationCallback`.
    pfnConfigSetCodeLocationCallback: ur_pfnLoaderConfigSetCodeLocationCallback_t =
        b"urLoaderConfigSetCodeLocationCallback\0",
    /// `urLoaderConfigSetMockingEnabled`.
    pfnConfigSetMockingEnabled: ur_pfnLoaderConfigSetMockingEnabled_t = b"urLoaderConfigSetMockingEnabled\0",
    /// `urLoaderInit`.
    pfnInit: ur_pfnLoaderInit_t = b"urLoaderInit\0",
    /// `urLoaderTearDown`.
    pfnTearDown: ur_pfnLoaderTearDown_t = b"urLoaderTearDown\0",
    /// `urDeviceGetSelected`.
    pfnDeviceGetSelected: ur_pfnDeviceGetSelected_t = b"urDeviceGetSelected\0",
}

/// An opened loader.
#[derive(Debug)]
pub struct Ur {
    /// The loader's exported functions. No library's table has this layout.
    pub table: AllFunctions,
    /// The functions that only a loader has.
    pub loader: LoaderFunctions,
    release: Release,
    path: OsString,
    /// Addresses of the adapters that were listed: they are asked for the text of an error.
    adapters: Mutex<Vec<usize>>,
}

impl Ur {
    /// Opens a loader by path, or by a name that the dynamic linker searches for. It is never closed again: adapters,
    /// drivers and their threads live behind it.
    ///
    /// # Errors
    /// The dynamic linker's words; or that the library is no loader, when it has no `urLoaderInit`.
    pub fn open(path: impl AsRef<OsStr>) -> std::result::Result<Self, OpenError> {
        let path = path.as_ref();
        let name = path.to_string_lossy().into_owned();
        // SAFETY: opening runs the library's initialisers; the caller names it as the loader to use.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| OpenError::Library { path: name.clone(), message: error.to_string() })?;
        let loader = LoaderFunctions::of(&library);
        if loader.pfnInit.is_none() {
            return Err(OpenError::NotALoader { path: name });
        }
        let table = exported(&library);
        let release = release_of(&library);
        // Gives up the handle without closing.
        let _ = library.into_raw();
        Ok(Self { table, loader, release, path: path.to_owned(), adapters: Mutex::new(Vec::new()) })
    }

    /// The path that was opened.
    #[must_use]
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// The release of the API that the loader is of, by what it exports.
    #[must_use]
    pub fn release(&self) -> Release {
        self.release
    }

    /// The functions of the adapter that made an object, from the table behind its handle.
    ///
    /// # Safety
    /// The handle is alive, and its adapter of the loader's release.
    #[must_use]
    pub unsafe fn adapter_functions<T>(&self, handle: *mut T) -> AllFunctions {
        // SAFETY: by the API's contract the first word behind a handle is the address of its adapter's table.
        let table = unsafe { handle.cast::<*const c_void>().read() };
        let mut functions = AllFunctions::default();
        // SAFETY: the caller's promise: the table is the release's.
        unsafe { copy_functions(self.release.functions(), table, &mut functions) };
        functions
    }

    /// `urLoaderInit` without a configuration.
    ///
    /// # Errors
    /// What the loader answers.
    pub fn init(&self) -> Result<()> {
        let init = self.loader.pfnInit.ok_or_else(|| ClientError::missing("urLoaderInit"))?;
        // SAFETY: no handle is passed.
        self.check(unsafe { init(ur_device_init_flags_t::empty(), std::ptr::null_mut()) }, "urLoaderInit")
    }

    /// `urLoaderTearDown`.
    ///
    /// # Errors
    /// What the loader answers.
    pub fn tear_down(&self) -> Result<()> {
        let tear_down = self.loader.pfnTearDown.ok_or_else(|| ClientError::missing("urLoaderTearDown"))?;
        self.known_adapters().clear();
        // SAFETY: no argument.
        self.check(unsafe { tear_down() }, "urLoaderTearDown")
    }

    /// Turns a result into an error with the call's name and, if an adapter has one, its last error's text.
    ///
    /// # Errors
    /// For everything but success.
    pub fn check(&self, result: ur_result_t, call: &'static str) -> Result<()> {
        if result == ur_result_t::SUCCESS {
            return Ok(());
        }
        Err(self.error(result, call))
    }

    /// As [`check`](Self::check), for the function of a slot of [`AllFunctions`]; what [`call!`] uses.
    ///
    /// # Errors
    /// For everything but success.
    #[inline]
    pub fn check_slot(&self, result: ur_result_t, offset: usize) -> Result<()> {
        if result == ur_result_t::SUCCESS {
            return Ok(());
        }
        Err(self.error(result, slot_name(offset)))
    }

    /// The error of a slot that the loader does not fill.
    #[cold]
    #[must_use]
    pub fn missing_slot(&self, offset: usize) -> ClientError {
        ClientError::missing(slot_name(offset))
    }

    #[cold]
    fn error(&self, result: ur_result_t, call: &'static str) -> ClientError {
        // An unknown query is an everyday answer, and no text of before should be taken for its own.
        let ask = result != ur_result_t::ERROR_UNSUPPORTED_ENUMERATION && call != "urAdapterGetLastError";
        let known = if ask { self.known_adapters().clone() } else { Vec::new() };
        let message = known
            .into_iter()
            .filter_map(|adapter| self.last_error(std::ptr::with_exposed_provenance_mut(adapter)))
            .next_back()
            .map(|(message, _)| message);
        ClientError { call, result, message }
    }

    fn known_adapters(&self) -> std::sync::MutexGuard<'_, Vec<usize>> {
        self.adapters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember_adapters(&self, handles: &[ur_adapter_handle_t]) {
        *self.known_adapters() = handles.iter().map(|handle| handle.expose_provenance()).collect();
    }
}

/// Copies what a table of tables has into the places for it.
///
/// # Safety
/// `table` leads to a table of tables that `list` tells the places of.
pub unsafe fn copy_functions(list: &[FunctionInfo], table: *const c_void, functions: &mut AllFunctions) {
    for function in list {
        let Some(from) = function.slot else { continue };
        let Some(to) = FUNCTIONS.iter().find(|known| known.name == function.name).and_then(|known| known.slot) else {
            continue;
        };
        // SAFETY: both offsets are those of this function's slot, in the given table and in the one to fill, a nullable
        // function pointer of one signature.
        unsafe {
            let address = table.byte_add(from.offset).cast::<*mut c_void>().read();
            core::ptr::from_mut(functions).byte_add(to.offset).cast::<*mut c_void>().write(address);
        }
    }
}

/// Looks up every function that has a slot.
fn exported(library: &Library) -> AllFunctions {
    let mut table = AllFunctions::default();
    for function in FUNCTIONS {
        let Some(slot) = function.slot else { continue };
        // SAFETY: only the address is taken.
        let Ok(symbol) = (unsafe { library.get::<*mut c_void>(function.name.as_bytes()) }) else { continue };
        let address = symbol.into_raw();
        // SAFETY: the offset is that of this function's slot in the table, a nullable function pointer of exactly this
        // function's signature.
        unsafe { (&raw mut table).byte_add(slot.offset).cast::<*mut c_void>().write(address) };
    }
    table
}

/// The newest release of which the library exports every function; the newest of all for a library of another one.
fn release_of(library: &Library) -> Release {
    // SAFETY: only the address is taken.
    let has = |name: &str| unsafe { library.get::<*mut c_void>(name.as_bytes()) }.is_ok();
    let complete = |release: &&Release| release.functions().iter().all(|function| has(function.name));
    Release::ALL.iter().rev().find(complete).copied().unwrap_or(Release::NEWEST)
}

/// The name of the function whose slot lies at an offset of [`AllFunctions`].
#[cold]
fn slot_name(offset: usize) -> &'static str {
    debug_assert!(offset < size_of::<AllFunctions>() && offset_of!(AllFunctions, Adapter) == 0);
    FUNCTIONS
        .iter()
        .find(|function| function.slot.is_some_and(|slot| slot.offset == offset))
        .map_or("a function that no release names", |function| function.name)
}

/// Calls a function of the table and checks its answer: `call!(ur, Context.pfnRetain(context))`.
///
/// # Safety
/// The function's C contract; the macro stands in an `unsafe` block.
#[macro_export]
macro_rules! call {
    ($ur:expr, $table:ident.$slot:ident($($argument:expr),* $(,)?)) => {{
        let ur: &$crate::Ur = &$ur;
        let offset = ::core::mem::offset_of!($crate::ffi::releases::any::AllFunctions, $table.$slot);
        match ur.table.$table.$slot {
            Some(function) => ur.check_slot(function($($argument),*), offset),
            None => Err(ur.missing_slot(offset)),
        }
    }};
}

/// The API's types, for [`call!`] and for programs that need no other access to them.
pub use ur_ffi as ffi;
