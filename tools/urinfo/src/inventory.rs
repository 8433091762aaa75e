//! What the loader has: adapters, platforms, devices and their properties, asked once and kept as plain values. A query
//! that an adapter does not know is a fact here, not a failure; other errors are kept beside what could not be asked, so
//! an adapter that fails hides no other one's devices.

use serde_json::Value;
use ur_client::ffi::{
    ur_adapter_handle_t, ur_adapter_info_t, ur_backend_t, ur_device_handle_t, ur_device_info_t, ur_platform_handle_t,
    ur_platform_info_t,
};
use ur_client::{Answer, ClientError, Ur, call};

use crate::value;

/// Everything.
#[derive(Debug, Default)]
pub struct Inventory {
    /// The adapters in the loader's order.
    pub adapters: Vec<Adapter>,
    /// What the loader itself did not do.
    pub error: Option<ClientError>,
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
    /// Why its platforms could not be listed.
    pub error: Option<String>,
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
    /// Why its devices could not be listed, or not given back.
    pub error: Option<String>,
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
    /// Starts the loader, asks for everything and ends it.
    pub fn take(ur: &Ur, verbose: bool) -> Self {
        let mut inventory = Self::default();
        inventory.error = inventory.fill(ur, verbose).err();
        inventory
    }

    fn fill(&mut self, ur: &Ur, verbose: bool) -> Result<(), ClientError> {
        ur.init()?;
        let adapters = ur.adapters()?;
        let held = ur.hold_adapters(&adapters);
        self.adapters = adapters.iter().map(|&adapter| Adapter::take(ur, adapter, verbose)).collect();
        drop(held);
        ur.tear_down()
    }

    /// Whether an adapter did not give a list.
    pub fn lacks_lists(&self) -> bool {
        let failed = |adapter: &Adapter| adapter.error.is_some() || adapter.platforms.iter().any(|p| p.error.is_some());
        self.adapters.iter().any(failed)
    }

    /// The number of devices.
    pub fn devices(&self) -> usize {
        self.adapters.iter().flat_map(|adapter| &adapter.platforms).map(|platform| platform.devices.len()).sum()
    }
}

impl Adapter {
    fn take(ur: &Ur, adapter: ur_adapter_handle_t, verbose: bool) -> Self {
        let (handles, error) = listed(ur.platforms(adapter));
        // Asked at once: the text is that of this thread's last failure.
        let of_adapter = || ur.last_error(adapter).map(|(text, _)| text).filter(|_| handles.is_empty());
        let last_error = error.clone().or_else(of_adapter);
        let ask = |query| ur.adapter_info(adapter, query).ok().and_then(|answer| answer.u32());
        let backend = ask(ur_adapter_info_t::BACKEND).map_or("unknown", short_backend);
        Self {
            backend: backend.to_owned(),
            version: ask(ur_adapter_info_t::VERSION),
            platforms: handles.into_iter().map(|platform| Platform::take(ur, platform, verbose)).collect(),
            last_error,
            error,
        }
    }
}

/// A list, or none and why.
fn listed<T>(list: Result<Vec<T>, ClientError>) -> (Vec<T>, Option<String>) {
    list.map_or_else(|error| (Vec::new(), Some(error.to_string())), |list| (list, None))
}

/// `cuda` for `UR_BACKEND_CUDA`.
fn short_backend(backend: u32) -> &'static str {
    ur_backend_t(backend).name().map_or("unknown", |name| name.trim_start_matches("UR_BACKEND_"))
}

fn text(answer: Result<Answer, ClientError>) -> String {
    answer.map_or_else(|_| "?".to_owned(), |answer| answer.text())
}

impl Platform {
    fn take(ur: &Ur, platform: ur_platform_handle_t, verbose: bool) -> Self {
        let ask = |query| text(ur.platform_info(platform, query));
        let (handles, mut error) = listed(ur.devices(platform));
        let mut devices = Vec::new();
        for device in handles {
            devices.push(Device::take(ur, device, verbose));
            // SAFETY: the reference that `devices` gave; the handle is not used any more.
            let released = unsafe { call!(ur, Device.pfnRelease(device)) };
            error = error.or(released.err().map(|error| error.to_string()));
        }
        Self {
            name: ask(ur_platform_info_t::NAME),
            vendor: ask(ur_platform_info_t::VENDOR_NAME),
            version: ask(ur_platform_info_t::VERSION),
            devices,
            error,
        }
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
