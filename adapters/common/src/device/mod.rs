//! A device: its native number and the properties that were read of it once.
//!
//! Queries are answered from memory but for the few that change (free memory, timestamps). A device never
//! dies, and no device here is a part of another one, so nobody counts references to it: the count is always 1.

pub mod adapter;
pub mod clock;
pub mod deferred;
pub mod drain;
pub mod event_pool;
pub mod info;
pub mod native_context;
pub mod native_handle;
pub mod peer;
pub mod platform;
pub mod relief;
pub mod scope;
pub mod timestamps;
pub mod wait;
pub mod worker;

use crate::object::Held;
use crate::object::params::ListOut;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{ur_device_handle_t, ur_device_handle_t_, ur_device_info_t, ur_device_type_t, ur_result_t};

use crate::device::peer::Peers;
use crate::device::platform::Platform;
use crate::device::relief::Holdings;
use crate::device::wait::Publisher;
use crate::driver::Driver;
use crate::driver::properties::DeviceProperties;
use crate::object::attachment::Attachment;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress};
use crate::sync::weak_list::WeakList;

/// Somebody who keeps something of a device for its next use.
pub trait Reclaim: Send + Sync {
    /// Gives back to the device the memory that is kept: how many bytes.
    ///
    /// # Errors
    /// The first failure; what could not be given back stays kept.
    fn reclaim(&self) -> Result<u64>;

    /// Lets go of kept objects that nobody uses; the adapter is not in use any more.
    fn release_idle(&self) {}

    /// Tells what there is of the device's memory, live and kept.
    fn tell(&self, _holdings: &mut Holdings) {}
}

/// One GPU.
pub struct Device<D: Driver> {
    /// The native device.
    pub raw: D::Device,
    /// Its number in native order.
    pub ordinal: u32,
    /// What was read of it when the library was opened.
    pub properties: DeviceProperties,
    /// The devices whose memory its kernels were let at.
    pub peers: Peers<D>,
    /// Allocations that can be shared with other APIs, kept by [`crate::ipc`].
    pub exports: Attachment,
    /// Events that other processes may have opened, kept by [`crate::stream`].
    pub shared_events: Attachment,
    /// Its native context.
    pub home: native_context::Home<D>,
    /// What contexts keep of its memory, for when it is full.
    pub reclaimers: WeakList<dyn Reclaim>,
    /// Streams that tell other processes of what they reach.
    pub publishers: WeakList<dyn Publisher>,
    /// Held while a thread gives back what is kept of its memory; a leaf, and nobody waits for it for ever.
    pub relief: Mutex<()>,
}

impl<D: Driver> Body for Device<D> {
    type Opaque = ur_device_handle_t_;
    const TAG: u32 = 0x5552_0003;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_DEVICE;
    const NAME: &'static str = "device";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Device<D> {
    /// Every device of an opened library.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enumerate(driver: &D) -> Result<Vec<Arc<Object<Self>>>> {
        (0..driver.device_count()?)
            .map(|ordinal| {
                let raw = driver.device(ordinal)?;
                let properties = driver.properties(raw)?;
                Ok(Object::new(Self {
                    raw,
                    ordinal,
                    properties,
                    peers: Peers::new(),
                    exports: Attachment::new(),
                    shared_events: Attachment::new(),
                    home: native_context::Home::default(),
                    reclaimers: WeakList::default(),
                    publishers: WeakList::default(),
                    relief: Mutex::new(()),
                }))
            })
            .collect()
    }

    /// The device object of a native device.
    pub fn of_raw(raw: D::Device) -> Option<&'static Arc<Object<Self>>> {
        adapter::native::<D>()?.devices.iter().find(|device| device.raw == raw)
    }
}

/// `urDeviceGet`.
///
/// # Errors
/// `INVALID_ENUMERATION` for an unknown type; as [`enumerate`].
pub fn get<D: Driver>(
    _platform: &Object<Platform<D>>,
    kind: ur_device_type_t,
    list: ListOut<'_, ur_device_handle_t>,
) -> Result<()> {
    let of_kind: &[Arc<Object<Device<D>>>] = match kind {
        // GPUs are the platform's default kind.
        ur_device_type_t::ALL | ur_device_type_t::DEFAULT | ur_device_type_t::GPU => {
            adapter::native::<D>().map_or(&[], |native| &native.devices)
        }
        ur_device_type_t::CPU
        | ur_device_type_t::FPGA
        | ur_device_type_t::MCA
        | ur_device_type_t::CUSTOM
        | ur_device_type_t::VPU => &[],
        _ => {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_ENUMERATION,
                format!("urDeviceGet: {:#x} is no device type", kind.0),
            ));
        }
    };
    let handles: Vec<ur_device_handle_t> = of_kind.iter().map(|device| device.handle()).collect();
    list.write(&handles)?;
    Ok(())
}

/// `urDeviceGetInfo`.
///
/// # Errors
/// As [`info::writer`].
pub fn get_info<D: Driver>(device: &Object<Device<D>>, property: ur_device_info_t, writer: InfoWriter) -> Result<()> {
    info::writer(device, property, &writer)
}

/// `urDeviceRelease`: as [`retain`].
///
/// # Errors
/// None.
pub fn release<D: Driver>(_device: Held<Device<D>>) -> Result<()> {
    Ok(())
}

/// `urDeviceRetain`: it changes nothing of a device that is not a part of another one.
///
/// # Errors
/// As [`borrow`].
pub fn retain<D: Driver>(_device: &Object<Device<D>>) -> Result<()> {
    Ok(())
}

/// The opened driver behind a device.
///
/// # Errors
/// Never for a device handle that exists.
pub fn driver<D: Driver>() -> Result<&'static D> {
    adapter::driver::<D>()
}
