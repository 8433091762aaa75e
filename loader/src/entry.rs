//! The entry points that the loader itself implements. The generated exports call these and nothing else of the loader's;
//! each checks its parameters, keeps panics in, and leaves outputs alone when it answers an error.

#![allow(non_snake_case, reason = "entry points keep their C names")]

use crate::config;
use crate::environment;
use crate::guard::guard;
use crate::info::Answer;
use crate::registry::{self, Finding, Registry};
use crate::selected::{self, Request};
use std::ffi::{c_char, c_void};
use ur_ffi::releases::Release;
use ur_ffi::*;

static REGISTRY: Registry = Registry::new();

/// What the last initialisation found and refused.
pub fn findings() -> Vec<Finding> {
    REGISTRY.findings()
}

/// The project's own tables of the adapter that made `handle`.
///
/// # Errors
/// The code to answer: a null handle, an adapter without them, or no loader that is initialised.
///
/// # Safety
/// A handle that is not null must be a live one that an adapter made.
#[inline]
pub unsafe fn extensions<H>(handle: *mut H) -> Result<&'static ExtensionTables, ur_result_t> {
    // SAFETY: the caller's promise.
    unsafe { REGISTRY.extensions().of(handle) }
}

/// `urLoaderInit` of a release's loader. The device flags are checked but select nothing, as in the stock loader: which devices there are is
/// known only to adapters.
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderInit(
    release: Release,
    flags: ur_device_init_flags_t,
    config: ur_loader_config_handle_t,
) -> ur_result_t {
    guard("urLoaderInit", || {
        if flags.bits() & UR_DEVICE_INIT_FLAGS_MASK != 0 {
            return Err(ur_result_t::ERROR_INVALID_ENUMERATION);
        }
        let mocking = if config.is_null() {
            false
        } else {
            // SAFETY: the caller's promise.
            unsafe { config::get(config) }?.mocking()
        };
        REGISTRY.init(|| {
            let layers = environment::variable("UR_ENABLE_LAYERS");
            config::layers_of_environment(layers.as_deref())?;
            Ok(registry::current_plan(release, mocking))
        })
    })
}

/// `urLoaderTearDown`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderTearDown() -> ur_result_t {
    guard("urLoaderTearDown", || REGISTRY.tear_down())
}

/// `urAdapterGet`
///
/// # Safety
/// As the API says.
pub unsafe fn urAdapterGet(capacity: u32, adapters: *mut ur_adapter_handle_t, count: *mut u32) -> ur_result_t {
    guard("urAdapterGet", || {
        if capacity == 0 && !adapters.is_null() {
            return Err(ur_result_t::ERROR_INVALID_SIZE);
        }
        REGISTRY.adapters(|all| {
            let wanted = if adapters.is_null() { 0 } else { all.len().min(capacity as usize) };
            retain_all(&all[..wanted])?;
            for (i, &handle) in all[..wanted].iter().enumerate() {
                // SAFETY: at most `capacity` elements, for which the caller's array is valid.
                unsafe { adapters.add(i).write(handle) };
            }
            if !count.is_null() {
                // SAFETY: valid by the caller's promise.
                unsafe { count.write(all.len() as u32) };
            }
            Ok(())
        })
    })
}

/// Takes a reference to each, or to none.
fn retain_all(handles: &[ur_adapter_handle_t]) -> Result<(), ur_result_t> {
    for (taken, &handle) in handles.iter().enumerate() {
        // SAFETY: the registry's handles are live, and their tables were checked.
        let retain = unsafe { crate::dispatch::adapter_table(handle) }.and_then(|table| table.pfnRetain);
        let result = match retain {
            // SAFETY: as above.
            Some(retain) => unsafe { retain(handle) },
            None => ur_result_t::ERROR_UNINITIALIZED,
        };
        if result != ur_result_t::SUCCESS {
            for &handle in &handles[..taken] {
                // SAFETY: the reference was taken in this loop.
                unsafe { crate::library::release(handle) };
            }
            return Err(result);
        }
    }
    Ok(())
}

/// `urDeviceGetSelected` of a release's loader.
///
/// # Safety
/// As the API says.
pub unsafe fn urDeviceGetSelected(
    release: Release,
    platform: ur_platform_handle_t,
    device_type: ur_device_type_t,
    capacity: u32,
    devices: *mut ur_device_handle_t,
    count: *mut u32,
) -> ur_result_t {
    guard("urDeviceGetSelected", || {
        let value = std::env::var_os("ONEAPI_DEVICE_SELECTOR");
        let value = value.as_ref().map(|value| value.to_string_lossy());
        let request = Request { release, platform, device_type, capacity, devices, count };
        // SAFETY: the caller's promise.
        unsafe { selected::devices(&request, value.as_deref()) }
    })
}

/// `urLoaderConfigCreate`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigCreate(out: *mut ur_loader_config_handle_t) -> ur_result_t {
    // SAFETY: the caller's promise.
    guard("urLoaderConfigCreate", || unsafe { config::create(out) })
}

/// `urLoaderConfigRetain`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigRetain(config: ur_loader_config_handle_t) -> ur_result_t {
    // SAFETY: the caller's promise.
    guard("urLoaderConfigRetain", || unsafe { config::retain(config) })
}

/// `urLoaderConfigRelease`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigRelease(config: ur_loader_config_handle_t) -> ur_result_t {
    // SAFETY: the caller's promise.
    guard("urLoaderConfigRelease", || unsafe { config::release(config) })
}

/// `urLoaderConfigGetInfo`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigGetInfo(
    config: ur_loader_config_handle_t,
    property: ur_loader_config_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> ur_result_t {
    guard("urLoaderConfigGetInfo", || {
        // The handle's own fault comes before those of the other parameters.
        // SAFETY: the caller's promise, for all three.
        unsafe {
            config::get(config)?;
            config::get_info(config, property, Answer::new(size, value, size_out)?)
        }
    })
}

/// `urLoaderConfigEnableLayer`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigEnableLayer(config: ur_loader_config_handle_t, name: *const c_char) -> ur_result_t {
    // SAFETY: the caller's promise.
    guard("urLoaderConfigEnableLayer", || unsafe { config::enable_layer(config, name) })
}

/// `urLoaderConfigSetCodeLocationCallback`
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigSetCodeLocationCallback(
    config: ur_loader_config_handle_t,
    callback: ur_code_location_callback_t,
    user_data: *mut c_void,
) -> ur_result_t {
    // SAFETY: the caller's promise.
    guard("urLoaderConfigSetCodeLocationCallback", || unsafe {
        config::set_code_location_callback(config, callback, user_data)
    })
}

/// `urLoaderConfigSetMockingEnabled`. With it, `urLoaderInit` loads the mock adapter that lies beside the loader, and
/// nothing else; where there is none, no adapter is found.
///
/// # Safety
/// As the API says.
pub unsafe fn urLoaderConfigSetMockingEnabled(config: ur_loader_config_handle_t, enable: ur_bool_t) -> ur_result_t {
    // SAFETY: the caller's promise.
    guard("urLoaderConfigSetMockingEnabled", || unsafe { config::set_mocking_enabled(config, enable != 0) })
}
