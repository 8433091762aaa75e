//! The platform: all devices that one native driver serves. There is one, or none when no driver is there.

use core::ffi::{c_char, c_void};
use core::marker::PhantomData;

use ur_ffi::{
    ur_adapter_handle_t, ur_api_version_t, ur_logger_level_t, ur_platform_handle_t, ur_platform_handle_t_,
    ur_platform_info_t, ur_result_t,
};

use crate::device::adapter::{self, Adapter};
use crate::driver::{Driver, library};
use crate::object::error::{self, Error, Result};
use crate::object::info::{InfoWriter, enumerate};
use crate::object::log;
use crate::object::{Body, Object, TableAddress, borrow, null_pointer};

/// What the platform's handle names.
pub struct Platform<D: Driver> {
    marker: PhantomData<fn() -> D>,
}

impl<D: Driver> Default for Platform<D> {
    fn default() -> Self {
        Self { marker: PhantomData }
    }
}

impl<D: Driver> Body for Platform<D> {
    type Opaque = ur_platform_handle_t_;
    const TAG: u32 = 0x5552_0002;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_PLATFORM;
    const NAME: &'static str = "platform";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

/// `urPlatformGet`: opens the native library. A machine without it, or without a device, has no platform: that
/// is success with a count of 0, so that one missing driver never stops a program that has other devices; the
/// reason goes to the log and to `urAdapterGetLastError`.
///
/// # Safety
/// The C contract: `platforms` is null or has room for `capacity` handles, `count` is null or writable.
///
/// # Errors
/// As [`enumerate`]; `INVALID_VALUE` for no output at all.
pub unsafe fn get<D: Driver>(
    adapter: ur_adapter_handle_t,
    capacity: u32,
    platforms: *mut ur_platform_handle_t,
    count: *mut u32,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Adapter<D>>(adapter) }?;
    if platforms.is_null() && count.is_null() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            "urPlatformGet: give an array of platforms or a pointer for their count",
        ));
    }
    let found: Option<&Object<Platform<D>>> = match adapter::open::<D>() {
        Ok(native) if !native.devices.is_empty() => Some(&native.platform),
        Ok(_) => {
            let text = format!("{}: the native library is there and has no device", D::PLATFORM_NAME);
            error::remember_text(&text, 0);
            log::write(ur_logger_level_t::INFO, || text);
            None
        }
        Err(reason) => {
            let text = format!("{}: {reason}", D::PLATFORM_NAME);
            error::remember_text(&text, 0);
            // Who has adapters for several kinds of GPU lacks most of the libraries, and SYCL's runtime prints warnings.
            let level = if library::is_expected(&reason) { ur_logger_level_t::INFO } else { ur_logger_level_t::WARN };
            log::write(level, || text);
            None
        }
    };
    let handles: Vec<_> = found.iter().map(|platform| platform.handle()).collect();
    // SAFETY: the caller's promise is the same.
    if unsafe { enumerate("urPlatformGet", &handles, capacity, platforms, count) }? == 1
        && let Some(platform) = found
    {
        Object::retain_handle(&platform.to_arc());
    }
    Ok(())
}

/// `urPlatformGetInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_info<D: Driver>(
    platform: ur_platform_handle_t,
    property: ur_platform_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let writer = unsafe {
        borrow::<Platform<D>>(platform)?;
        InfoWriter::new("urPlatformGetInfo", size, value, size_out)?
    };
    match property {
        ur_platform_info_t::NAME => writer.text(D::PLATFORM_NAME),
        ur_platform_info_t::VENDOR_NAME => writer.text(D::VENDOR),
        ur_platform_info_t::VERSION => writer.text(&adapter::driver::<D>()?.version()?),
        ur_platform_info_t::EXTENSIONS => writer.text(""),
        ur_platform_info_t::PROFILE => writer.text("FULL_PROFILE"),
        ur_platform_info_t::BACKEND => writer.value(D::BACKEND),
        ur_platform_info_t::ADAPTER => writer.value(adapter::handle::<D>()),
        _ => writer.unknown(property.0),
    }
}

/// `urPlatformGetApiVersion`.
///
/// # Safety
/// The C contract: `version` is null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub unsafe fn get_api_version<D: Driver>(platform: ur_platform_handle_t, version: *mut ur_api_version_t) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Platform<D>>(platform) }?;
    if version.is_null() {
        return Err(null_pointer("urPlatformGetApiVersion"));
    }
    // SAFETY: not null, so writable.
    unsafe { version.write(ur_api_version_t::CURRENT) };
    Ok(())
}

/// `urPlatformGetBackendOption`: the native compiler knows `-O` levels only; everything else a front end may
/// ask for has no counterpart here and maps to nothing.
///
/// # Safety
/// The C contract: `option` is a NUL-terminated string, `backend_option` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for an option that no SYCL front end has.
pub unsafe fn get_backend_option<D: Driver>(
    platform: ur_platform_handle_t,
    option: *const c_char,
    backend_option: *mut *const c_char,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Platform<D>>(platform) }?;
    if option.is_null() || backend_option.is_null() {
        return Err(null_pointer("urPlatformGetBackendOption"));
    }
    // SAFETY: a NUL-terminated string by the caller's promise.
    let option = unsafe { core::ffi::CStr::from_ptr(option) };
    let writer: &'static core::ffi::CStr = match option.to_bytes() {
        b"-O0"
        | b"-O1"
        | b"-O2"
        | b"-O3"
        | b""
        | b"-ftarget-compile-fast"
        | b"-foffload-fp32-prec-div"
        | b"-foffload-fp32-prec-sqrt" => c"",
        other => {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("urPlatformGetBackendOption: `{}` is no front-end option", String::from_utf8_lossy(other)),
            ));
        }
    };
    // SAFETY: not null, so writable.
    unsafe { backend_option.write(writer.as_ptr()) };
    Ok(())
}
