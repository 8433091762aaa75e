//! The loader configuration: a reference-counted object that an application fills in before `urLoaderInit`. It belongs to
//! no adapter, so it has a tag where an adapter's handle has its table, and only the functions here may look into it.

use crate::info::Answer;
use crate::log::{self, Level};
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use ur_ffi::*;

/// The layers that can be enabled. None is built in yet; each will be one name here.
pub const AVAILABLE_LAYERS: [&str; 0] = [];

/// "urconfig": neither an address nor a count, so that no other object of the API begins like this.
const TAG: u64 = u64::from_be_bytes(*b"urconfig");

/// What a configuration handle points to.
#[derive(Debug)]
#[repr(C)]
pub struct Config {
    tag: AtomicU64,
    references: AtomicU32,
    mocking: AtomicBool,
    settings: Mutex<Settings>,
}

/// What the layers are told.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Names of the enabled layers, each once.
    pub layers: Vec<&'static str>,
    /// Tells a layer which place in the application's source made a call.
    pub code_location: Option<CodeLocation>,
}

/// A registered code location callback.
#[derive(Clone, Copy, Debug)]
pub struct CodeLocation {
    /// The application's function; never null once registered.
    pub callback: ur_code_location_callback_t,
    /// What it is called with.
    pub user_data: *mut c_void,
}

// SAFETY: the pointer is the application's and is only ever handed back to the application's callback.
unsafe impl Send for CodeLocation {}

impl Config {
    fn new() -> Self {
        Config {
            tag: AtomicU64::new(TAG),
            references: AtomicU32::new(1),
            mocking: AtomicBool::new(false),
            settings: Mutex::default(),
        }
    }

    /// Whether the mock adapter is to be loaded instead of real ones.
    pub fn mocking(&self) -> bool {
        self.mocking.load(Ordering::Relaxed)
    }

    /// A copy of what the layers are told.
    pub fn settings(&self) -> Settings {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The configuration behind a handle.
///
/// # Safety
/// A handle that is not null must be readable; one that is no configuration is recognised by its tag.
pub unsafe fn get<'a>(handle: ur_loader_config_handle_t) -> Result<&'a Config, ur_result_t> {
    if handle.is_null() {
        return Err(ur_result_t::ERROR_INVALID_NULL_HANDLE);
    }
    let config = handle.cast::<Config>();
    // SAFETY: readable by the caller's promise; the tag is looked at before anything else is believed.
    if !config.is_aligned() || unsafe { &(*config).tag }.load(Ordering::Acquire) != TAG {
        return Err(ur_result_t::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the tag says that this is a configuration, and the caller keeps it alive.
    Ok(unsafe { &*config })
}

/// `urLoaderConfigCreate`
///
/// # Safety
/// `out` must be null or valid for writing.
pub unsafe fn create(out: *mut ur_loader_config_handle_t) -> Result<(), ur_result_t> {
    if out.is_null() {
        return Err(ur_result_t::ERROR_INVALID_NULL_POINTER);
    }
    let config = Box::into_raw(Box::new(Config::new()));
    // SAFETY: valid by the caller's promise.
    unsafe { out.write(config.cast()) };
    Ok(())
}

/// `urLoaderConfigRetain`
///
/// # Safety
/// As for [`get`].
pub unsafe fn retain(handle: ur_loader_config_handle_t) -> Result<(), ur_result_t> {
    // SAFETY: the caller's promise.
    unsafe { get(handle) }?.references.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// `urLoaderConfigRelease`
///
/// # Safety
/// As for [`get`]; the last reference ends the object.
pub unsafe fn release(handle: ur_loader_config_handle_t) -> Result<(), ur_result_t> {
    // SAFETY: the caller's promise.
    let config = unsafe { get(handle) }?;
    if config.references.fetch_sub(1, Ordering::AcqRel) == 1 {
        // A stale handle is then refused for as long as the memory is not used again.
        config.tag.store(0, Ordering::Release);
        // SAFETY: made by `create` from a box, and this was the last reference.
        drop(unsafe { Box::from_raw(handle.cast::<Config>()) });
    }
    Ok(())
}

/// `urLoaderConfigGetInfo`
///
/// # Safety
/// As for [`get`]; `answer` was made from the caller's pointers.
pub unsafe fn get_info(
    handle: ur_loader_config_handle_t,
    property: ur_loader_config_info_t,
    answer: Answer,
) -> Result<(), ur_result_t> {
    // SAFETY: the caller's promise.
    let config = unsafe { get(handle) }?;
    match property {
        ur_loader_config_info_t::AVAILABLE_LAYERS => answer.string(&AVAILABLE_LAYERS.join(";")),
        ur_loader_config_info_t::REFERENCE_COUNT => {
            answer.bytes(&config.references.load(Ordering::Relaxed).to_ne_bytes())
        }
        _ => Err(ur_result_t::ERROR_INVALID_ENUMERATION),
    }
}

/// The layer of that name, or the sentence that says which there are.
fn find_layer(name: &str) -> Result<&'static &'static str, String> {
    let available = if AVAILABLE_LAYERS.is_empty() { "none".to_owned() } else { AVAILABLE_LAYERS.join(", ") };
    let found = AVAILABLE_LAYERS.iter().find(|layer| **layer == name);
    found.ok_or_else(|| format!("there is no layer `{name}`; available: {available}"))
}

/// The layers that `UR_ENABLE_LAYERS` (names separated by commas) asks for. One that is not there is an error: a program
/// that was to be validated or traced must not run without, unnoticed. Said on stderr whatever the log's settings are, as
/// the stock loader does of a layer that it knows and cannot load.
pub fn layers_of_environment(value: Option<&OsStr>) -> Result<Vec<&'static str>, ur_result_t> {
    let value = value.unwrap_or_default().to_string_lossy();
    let names = value.split(',').map(|name| name.trim_matches(['\'', '"'])).filter(|name| !name.is_empty());
    let found: Result<Vec<_>, _> = names.map(|name| find_layer(name).copied()).collect();
    found.map_err(|reason| {
        log::complain(Level::Error, format_args!("urLoaderInit: UR_ENABLE_LAYERS: {reason}"));
        ur_result_t::ERROR_LAYER_NOT_PRESENT
    })
}

/// `urLoaderConfigEnableLayer`
///
/// # Safety
/// As for [`get`]; `name` must be null or a NUL-terminated string.
pub unsafe fn enable_layer(handle: ur_loader_config_handle_t, name: *const c_char) -> Result<(), ur_result_t> {
    // SAFETY: the caller's promise.
    let config = unsafe { get(handle) }?;
    if name.is_null() {
        return Err(ur_result_t::ERROR_INVALID_NULL_POINTER);
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let layer = find_layer(&name).map_err(|reason| {
        log::error(format_args!("urLoaderConfigEnableLayer: {reason}"));
        ur_result_t::ERROR_LAYER_NOT_PRESENT
    })?;
    let mut settings = config.settings.lock().unwrap_or_else(PoisonError::into_inner);
    if !settings.layers.contains(layer) {
        settings.layers.push(layer);
    }
    Ok(())
}

/// `urLoaderConfigSetCodeLocationCallback`
///
/// # Safety
/// As for [`get`].
pub unsafe fn set_code_location_callback(
    handle: ur_loader_config_handle_t,
    callback: ur_code_location_callback_t,
    user_data: *mut c_void,
) -> Result<(), ur_result_t> {
    // SAFETY: the caller's promise.
    let config = unsafe { get(handle) }?;
    if callback.is_none() {
        return Err(ur_result_t::ERROR_INVALID_NULL_POINTER);
    }
    let mut settings = config.settings.lock().unwrap_or_else(PoisonError::into_inner);
    settings.code_location = Some(CodeLocation { callback, user_data });
    Ok(())
}

/// `urLoaderConfigSetMockingEnabled`
///
/// # Safety
/// As for [`get`].
pub unsafe fn set_mocking_enabled(handle: ur_loader_config_handle_t, enable: bool) -> Result<(), ur_result_t> {
    // SAFETY: the caller's promise.
    unsafe { get(handle) }?.mocking.store(enable, Ordering::Relaxed);
    Ok(())
}
