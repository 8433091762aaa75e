//! The adapter object and everything that lives as long as the process: the opened driver, the platform and
//! its devices.
//!
//! The native library is opened by the first `urPlatformGet`, not when the adapter is loaded; a machine
//! without it has an adapter with no platform and a message that says which library was looked for. Nothing
//! here is ever destroyed, so that a call from an exit handler still finds it.

use crate::object::params::ListOut;
use crate::object::params::Out;
use core::ffi::c_char;
use core::ffi::c_void;
use std::sync::{Arc, OnceLock};
use ur_ffi::ur_logger_callback_t;
use ur_ffi::ur_logger_level_t;

use parking_lot::Mutex;
use ur_ffi::{ur_adapter_handle_t, ur_adapter_handle_t_, ur_adapter_info_t, ur_result_t};

use crate::device::Device;
use crate::device::deferred;
use crate::device::platform::Platform;
use crate::driver::Driver;
use crate::object::error::{self, Error, OpenError, Result};
use crate::object::fork;
use crate::object::info::InfoWriter;
use crate::object::keep_loaded::keep_loaded;
use crate::object::log;
use crate::object::{Body, Object, TableAddress};

/// What the adapter's handle names.
pub struct Adapter<D: Driver> {
    marker: core::marker::PhantomData<fn() -> D>,
}

impl<D: Driver> Body for Adapter<D> {
    type Opaque = ur_adapter_handle_t_;
    const TAG: u32 = 0x5552_0001;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_NULL_HANDLE;
    const NAME: &'static str = "adapter";

    fn table() -> TableAddress {
        D::cell().table()
    }

    /// What is kept for as long as the adapter is in use goes: the native contexts above all.
    fn on_last_release(_adapter: &Object<Self>) {
        let Some(native) = native::<D>() else { return };
        // Memory on its way back keeps its native context.
        deferred::wait_until_done();
        for device in &native.devices {
            device.reclaimers.living().iter().for_each(|one| one.release_idle());
            device.home.end();
        }
    }
}

/// What the opened native library has.
pub struct Native<D: Driver> {
    /// The one platform.
    pub platform: Arc<Object<Platform<D>>>,
    /// Every device, by ordinal.
    pub devices: Vec<Arc<Object<Device<D>>>>,
}

/// What a backend's cell keeps of the engine's.
struct Objects<D: Driver> {
    adapter: Arc<Object<Adapter<D>>>,
    native: OnceLock<Native<D>>,
    opening: Mutex<()>,
}

fn objects<D: Driver>() -> &'static Objects<D> {
    D::cell().objects.get_or_make(|| Objects {
        adapter: Object::new(Adapter { marker: core::marker::PhantomData }),
        native: OnceLock::new(),
        opening: Mutex::new(()),
    })
}

/// The adapter's handle, without a new reference.
pub fn handle<D: Driver>() -> ur_adapter_handle_t {
    objects::<D>().adapter.handle()
}

/// Whether the application, or the loader, has the adapter's handle.
pub fn is_in_use<D: Driver>() -> bool {
    D::cell().objects.get::<Objects<D>>().is_some_and(|objects| objects.adapter.references() > 0)
}

/// Platform and devices, if an earlier [`open`] succeeded.
pub fn native<D: Driver>() -> Option<&'static Native<D>> {
    D::cell().objects.get::<Objects<D>>()?.native.get()
}

/// Opens the native library at the first call; a failure is not kept, so that a later call tries again.
///
/// # Errors
/// What is missing, or what the library's initialisation answered.
pub fn open<D: Driver>() -> core::result::Result<&'static Native<D>, OpenError> {
    let objects = objects::<D>();
    if let Some(native) = objects.native.get() {
        return Ok(native);
    }
    // Before the lock, and so dropped behind it: whoever forks while this thread has it gets a child that knows.
    let opening = fork::Opening::begin();
    let _one_at_a_time = objects.opening.lock();
    if let Some(native) = objects.native.get() {
        return Ok(native);
    }
    let driver = D::open()?;
    let devices = Device::enumerate(&driver).map_err(|error| OpenError::Initialise {
        library: D::PLATFORM_NAME.to_owned(),
        call: "device enumeration",
        status: error.native_status(),
        text: error.message().to_owned(),
    })?;
    let platform = Object::new(Platform::default());
    opening.succeed();
    // Before the devices, since whoever has one may ask for the library.
    D::cell().keep_driver(driver);
    Ok(objects.native.get_or_init(|| Native { platform, devices }))
}

/// The opened driver; every object other than the adapter exists only because it was opened.
pub fn driver<D: Driver>() -> Result<&'static D> {
    D::cell().driver().ok_or_else(|| {
        Error::new(ur_result_t::ERROR_UNINITIALIZED, "no native library is open; call urPlatformGet first")
    })
}

/// `urAdapterGet`.
///
/// # Errors
/// As [`enumerate`].
pub fn get<D: Driver>(list: ListOut<'_, ur_adapter_handle_t>) -> Result<()> {
    if list.is_absent() {
        return Ok(());
    }
    let object = &objects::<D>().adapter;
    if list.write(&[object.handle()])? == 1 {
        keep_loaded();
        Object::retain_handle(object);
    }
    Ok(())
}

/// `urAdapterGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    adapter: &Object<Adapter<D>>,
    property: ur_adapter_info_t,
    writer: InfoWriter,
) -> Result<()> {
    match property {
        ur_adapter_info_t::BACKEND => writer.value(D::BACKEND),
        ur_adapter_info_t::REFERENCE_COUNT => writer.value(adapter.references()),
        ur_adapter_info_t::VERSION => writer.value(1u32),
        _ => writer.unknown(property.0),
    }
}

/// `urAdapterGetLastError`.
///
/// # Errors
/// `INVALID_NULL_POINTER` for a missing output.
pub fn get_last_error<D: Driver>(
    _adapter: &Object<Adapter<D>>,
    message: Out<'_, *const c_char>,
    status: Out<'_, i32>,
) -> Result<()> {
    let (text, native) = error::last();
    message.write(text);
    status.write(native);
    Ok(())
}

/// `urAdapterSetLoggerCallback`.
///
/// # Errors
/// As [`borrow`].
pub fn set_logger_callback<D: Driver>(
    _adapter: &Object<Adapter<D>>,
    callback: ur_logger_callback_t,
    user: *mut c_void,
    level: ur_logger_level_t,
) -> Result<()> {
    log::set_callback(callback, user, level);
    Ok(())
}

/// `urAdapterSetLoggerCallbackLevel`.
///
/// # Errors
/// As [`borrow`].
pub fn set_logger_level<D: Driver>(_adapter: &Object<Adapter<D>>, level: ur_logger_level_t) -> Result<()> {
    log::set_level(level);
    Ok(())
}
