//! What the loader has: adapters, platforms, devices and their properties, asked once and kept as plain values. A query
//! that an adapter does not know is a fact here, not a failure; other errors are kept beside the property.

use serde_json::Value;
use ur_client::ffi::{
    ur_adapter_handle_t, ur_adapter_info_t, ur_backend_t, ur_device_handle_t, ur_device_info_t, ur_platform_handle_t,
    ur_platform_info_t,
};
use ur_client::{Answer, ClientError, Ur, call};

use crate::value;

/// Everything.
#[derive(Debug)]
pub struct Inventory {
    /// The adapters in the loader's order.
    pub adapters: Vec<Adapter>,
}

/// One adapter.
#[derive(Debug)]
pub struct Adapter {
    /// Its backend.
    pub backend: String,
    /// Its version.
    pub version: Option<u32>,
    /// Its platforms.
    pub platforms: Vec<Platform>,
    /// Why it has none, if it says so.
    pub last_error: Option<String>,
}

/// One platform.
#[derive(Debug)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// Its version.
    pub version: String,
    /// Its devices.
    pub devices: Vec<Device>,
}

/// One device.
#[derive(Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// `UR_DEVICE_TYPE_GPU` and so on.
    pub ty: String,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Compute units.
    pub compute_units: Option<u32>,
    /// The driver's version.
    pub driver: String,
    /// Every property, if they were asked for.
    pub properties: Option<Properties>,
}

/// Every property of a device.
#[derive(Debug, Default)]
pub struct Properties {
    /// The known ones, in the order of the API's values: name, text, JSON.
    pub known: Vec<(&'static str, String, Value)>,
    /// Names of those that the adapter does not support.
    pub unsupported: Vec<&'static str>,
    /// Names of those that failed, and how.
    pub failed: Vec<(&'static str, String)>,
}

impl Inventory {
    /// Asks for everything.
    ///
    /// # Errors
    /// The first list that an adapter does not give.
    pub fn take(ur: &Ur, adapters: &[ur_adapter_handle_t], verbose: bool) -> Result<Self, ClientError> {
        let adapters = adapters.iter().map(|&adapter| Adapter::take(ur, adapter, verbose)).collect::<Result<_, _>>()?;
        Ok(Self { adapters })
    }

    /// The number of devices.
    pub fn devices(&self) -> usize {
        self.adapters.iter().flat_map(|adapter| &adapter.platforms).map(|platform| platform.devices.len()).sum()
    }
}

impl Adapter {
    fn take(ur: &Ur, adapter: ur_adapter_handle_t, verbose: bool) -> Result<Self, ClientError> {
        let handles = ur.platforms(adapter)?;
        // Asked at once: the text is that of this thread's last failure.
        let last_error = if handles.is_empty() { ur.last_error(adapter).map(|(text, _)| text) } else { None };
        let ask = |query| ur.adapter_info(adapter, query).ok().and_then(|answer| answer.u32());
        let backend = ask(ur_adapter_info_t::BACKEND).map_or("unknown", short_backend);
        Ok(Self {
            backend: backend.to_owned(),
            version: ask(ur_adapter_info_t::VERSION),
            platforms: handles
                .into_iter()
                .map(|platform| Platform::take(ur, platform, verbose))
                .collect::<Result<_, _>>()?,
            last_error,
        })
    }
}

/// `cuda` for `UR_BACKEND_CUDA`.
fn short_backend(backend: u32) -> &'static str {
    ur_backend_t(backend).name().map_or("unknown", |name| name.trim_start_matches("UR_BACKEND_"))
}

fn text(answer: Result<Answer, ClientError>) -> String {
    answer.map_or_else(|_| "?".to_owned(), |answer| answer.text())
}

impl Platform {
    fn take(ur: &Ur, platform: ur_platform_handle_t, verbose: bool) -> Result<Self, ClientError> {
        let ask = |query| text(ur.platform_info(platform, query));
        let mut devices = Vec::new();
        for device in ur.devices(platform)? {
            devices.push(Device::take(ur, device, verbose));
            // SAFETY: the reference that `devices` gave; the handle is not used any more.
            unsafe { call!(ur, Device.pfnRelease(device)) }?;
        }
        Ok(Self {
            name: ask(ur_platform_info_t::NAME),
            vendor: ask(ur_platform_info_t::VENDOR_NAME),
            version: ask(ur_platform_info_t::VERSION),
            devices,
        })
    }
}

impl Device {
    fn take(ur: &Ur, device: ur_device_handle_t, verbose: bool) -> Self {
        let ask = |query| ur.device_info(device, query);
        let ty = ask(ur_device_info_t::TYPE).ok().and_then(|answer| answer.u32());
        Self {
            name: text(ask(ur_device_info_t::NAME)),
            ty: ty
                .and_then(|ty| ur_client::ffi::ur_device_type_t(ty).name())
                .map_or("unknown", |name| name.trim_start_matches("UR_DEVICE_TYPE_"))
                .to_owned(),
            memory: ask(ur_device_info_t::GLOBAL_MEM_SIZE).ok().and_then(|answer| answer.u64()),
            compute_units: ask(ur_device_info_t::MAX_COMPUTE_UNITS).ok().and_then(|answer| answer.u32()),
            driver: text(ask(ur_device_info_t::DRIVER_VERSION)),
            properties: verbose.then(|| Properties::take(ur, device)),
        }
    }
}

impl Properties {
    fn take(ur: &Ur, device: ur_device_handle_t) -> Self {
        let mut properties = Self::default();
        for &query in ur_device_info_t::VALUES {
            let (Some(name), Some(ty)) = (query.name(), query.value_type()) else { continue };
            let name = name.trim_start_matches("UR_DEVICE_INFO_");
            match ur.device_info(device, query) {
                Ok(answer) => properties.known.push((name, value::text(&ty, &answer), value::json(&ty, &answer))),
                Err(error) if error.is_unsupported() => properties.unsupported.push(name),
                Err(error) => properties.failed.push((name, error.to_string())),
            }
        }
        properties
    }
}
