//! The platform: all devices that one native driver serves. There is one, or none when no driver is there.

use crate::object::params::ListOut;
use crate::object::params::Out;
use core::ffi::CStr;
use core::ffi::c_char;
use core::marker::PhantomData;

use ur_ffi::{
    ur_api_version_t, ur_logger_level_t, ur_platform_handle_t, ur_platform_handle_t_, ur_platform_info_t, ur_result_t,
};

use crate::device::adapter::{self, Adapter};
use crate::driver::Driver;
use crate::driver::native::{library, sycl_images};
use crate::object::error::{self, Error, Result};
use crate::object::info::InfoWriter;
use crate::object::log;
use crate::object::{Body, Object, TableAddress};

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
/// reason goes to the log and to `urAdapterGetLastError`. Devices that take SPIR-V are announced to `libur_sycl_images.so`.
///
/// # Errors
/// As [`enumerate`]; `INVALID_VALUE` for no output at all.
pub fn get<D: Driver>(_adapter: &Object<Adapter<D>>, list: ListOut<'_, ur_platform_handle_t>) -> Result<()> {
    if list.is_absent() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            "urPlatformGet: give an array of platforms or a pointer for their count",
        ));
    }
    let found: Option<&Object<Platform<D>>> = match adapter::open::<D>() {
        Ok(native) if !native.devices.is_empty() => {
            if native.devices.iter().any(|device| device.properties.spirv.is_some()) {
                sycl_images::ask_for(D::BACKEND);
            }
            Some(&native.platform)
        }
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
    if list.write(&handles)? == 1
        && let Some(platform) = found
    {
        Object::retain_handle(&platform.to_arc());
    }
    Ok(())
}

/// `urPlatformGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    _platform: &Object<Platform<D>>,
    property: ur_platform_info_t,
    writer: InfoWriter,
) -> Result<()> {
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
/// # Errors
/// `INVALID_NULL_POINTER`.
pub fn get_api_version<D: Driver>(_platform: &Object<Platform<D>>, version: Out<'_, ur_api_version_t>) -> Result<()> {
    version.write(ur_api_version_t::CURRENT);
    Ok(())
}

/// `urPlatformGetBackendOption`: the native compiler knows `-O` levels only; everything else a front end may
/// ask for has no counterpart here and maps to nothing.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for an option that no SYCL front end has.
pub fn get_backend_option<D: Driver>(
    _platform: &Object<Platform<D>>,
    option: &CStr,
    backend_option: Out<'_, *const c_char>,
) -> Result<()> {
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
    backend_option.write(writer.as_ptr());
    Ok(())
}
