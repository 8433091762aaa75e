//! A context: devices that share memory and programs, and what the engine keeps for each of them.
//!
//! Creating a context makes no native call. A device's native context, with its event pools and its clock, comes
//! into being when the first queue, allocation or program needs it and stays for the next context
//! ([`crate::device::native_context`]). Stream-ordered memory finds its streams through the context's registry.

pub mod device_state;
pub mod over_aligned;
pub mod reservations;

use core::ffi::c_void;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{
    ur_context_extended_deleter_t, ur_context_handle_t, ur_context_handle_t_, ur_context_info_t,
    ur_context_properties_t, ur_device_handle_t, ur_result_t,
};

pub use crate::context::device_state::DeviceState;
use crate::context::over_aligned::OverAligned;
use crate::context::reservations::Reservations;
use crate::device::Device;
use crate::device::adapter;
use crate::driver::Driver;
use crate::memory_pool::registry::Registry;
use crate::object::attachment::Attachment;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress, borrow, borrow_list, null_pointer};

/// A device's place in a context: its state is made at first need.
struct Member<D: Driver> {
    device: Arc<Object<Device<D>>>,
    /// The stream for memory that comes and goes without a queue, kept by [`crate::stream`].
    service: Attachment,
    state: Mutex<Option<Arc<DeviceState<D>>>>,
}

/// What the context's handle names.
pub struct Context<D: Driver> {
    /// The streams of the context's queues.
    pub registry: Arc<Registry<D>>,
    /// Plain memory that starts elsewhere than the native library knows.
    pub over_aligned: OverAligned,
    /// Ranges of addresses for virtual memory.
    pub reservations: Mutex<Reservations<D::Device>>,
    members: Vec<Member<D>>,
    deleters: Mutex<Vec<Deleter>>,
}

/// What the application wants called when the context dies.
struct Deleter {
    call: unsafe extern "C" fn(*mut c_void),
    /// Its argument, an address that only the application looks behind.
    data: usize,
}

impl<D: Driver> Body for Context<D> {
    type Opaque = ur_context_handle_t_;
    const TAG: u32 = 0x5552_0004;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_CONTEXT;
    const NAME: &'static str = "context";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for Context<D> {
    fn drop(&mut self) {
        for deleter in self.deleters.get_mut().drain(..) {
            // SAFETY: the application gave the function for its data, to be called once, now.
            unsafe { (deleter.call)(core::ptr::with_exposed_provenance_mut(deleter.data)) };
        }
    }
}

impl<D: Driver> Context<D> {
    /// A context over devices, each once.
    pub fn over(devices: impl IntoIterator<Item = Arc<Object<Device<D>>>>) -> Self {
        let member = |device| Member { device, service: Attachment::new(), state: Mutex::new(None) };
        let members = devices.into_iter().map(member).collect();
        Self {
            registry: Arc::default(),
            over_aligned: OverAligned::default(),
            reservations: Mutex::default(),
            members,
            deleters: Mutex::default(),
        }
    }

    /// The devices, in the order they were given.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<Object<Device<D>>>> {
        self.members.iter().map(|member| &member.device)
    }

    /// The state of one of the context's devices, made now if nothing needed it before.
    ///
    /// # Errors
    /// `INVALID_DEVICE` for a device of another context; what the native library answers.
    pub fn state(&self, device: &Object<Device<D>>) -> Result<Arc<DeviceState<D>>> {
        let member = self.member(device)?;
        let mut state = member.state.lock();
        if let Some(state) = &*state {
            return Ok(Arc::clone(state));
        }
        let made = DeviceState::new(adapter::driver::<D>()?, Arc::clone(&member.device), &self.registry)?;
        Ok(Arc::clone(state.insert(made)))
    }

    /// The states that were needed so far.
    pub fn known_states(&self) -> impl Iterator<Item = Arc<DeviceState<D>>> {
        self.members.iter().filter_map(|member| member.state.lock().clone())
    }

    /// Refuses a device of another context.
    ///
    /// # Errors
    /// `INVALID_DEVICE`.
    pub fn check_member(&self, device: &Object<Device<D>>) -> Result<()> {
        self.member(device).map(|_| ())
    }

    fn member(&self, device: &Object<Device<D>>) -> Result<&Member<D>> {
        let found = self.members.iter().find(|member| core::ptr::eq(&raw const *member.device, device));
        found.ok_or_else(|| {
            Error::new(ur_result_t::ERROR_INVALID_DEVICE, "the device is not one of the context's; give one that is")
        })
    }

    /// Where the stream for memory of a device that comes and goes without a queue is kept. It goes with the context.
    ///
    /// # Errors
    /// `INVALID_DEVICE` for a device of another context.
    pub fn service(&self, device: &Object<Device<D>>) -> Result<&Attachment> {
        self.member(device).map(|member| &member.service)
    }

    /// The state of the context's first device, for memory that belongs to no device.
    ///
    /// # Errors
    /// As [`Context::state`].
    pub fn first_state(&self) -> Result<Arc<DeviceState<D>>> {
        self.state(&self.members[0].device)
    }
}

/// `urContextCreate`.
///
/// # Safety
/// The C contract: `devices` holds `count` handles, `properties` is null or valid, `out` writable.
///
/// # Errors
/// `INVALID_SIZE` for no device, `INVALID_NULL_POINTER`, `INVALID_ENUMERATION` for unknown flags,
/// `INVALID_VALUE` for a device given twice.
pub unsafe fn create<D: Driver>(
    count: u32,
    devices: *const ur_device_handle_t,
    properties: *const ur_context_properties_t,
    out: *mut ur_context_handle_t,
) -> Result<()> {
    if devices.is_null() || out.is_null() {
        return Err(null_pointer("urContextCreate"));
    }
    if count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, "urContextCreate: DeviceCount is 0"));
    }
    // SAFETY: null or valid by the caller's promise.
    if let Some(properties) = unsafe { properties.as_ref() } {
        crate::object::known_flags("urContextCreate", properties.flags.bits(), ur_ffi::UR_CONTEXT_FLAGS_MASK)?;
    }
    // SAFETY: the caller's promise is the same.
    let devices = unsafe { borrow_list::<Device<D>>(count, devices) }?;
    let twice =
        |(at, device): (usize, &&Object<Device<D>>)| devices[..at].iter().any(|one| core::ptr::eq(*one, *device));
    if devices.iter().enumerate().any(twice) {
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, "urContextCreate: a device is given twice"));
    }
    let context = Context::over(devices.into_iter().map(Object::to_arc));
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(Object::new(context))) };
    Ok(())
}

/// `urContextSetExtendedDeleter`: one more function to call when the context dies, after those given before.
///
/// # Safety
/// The C contract: the function may be called with the data on any thread.
///
/// # Errors
/// As [`borrow`]; `INVALID_NULL_POINTER` without a function.
pub unsafe fn set_extended_deleter<D: Driver>(
    context: ur_context_handle_t,
    deleter: ur_context_extended_deleter_t,
    data: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    let call = deleter.ok_or_else(|| null_pointer("urContextSetExtendedDeleter: pfnDeleter"))?;
    context.deleters.lock().push(Deleter { call, data: data.expose_provenance() });
    Ok(())
}

/// `urContextGetInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_info<D: Driver>(
    context: ur_context_handle_t,
    property: ur_context_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (context, writer) =
        unsafe { (borrow::<Context<D>>(context)?, InfoWriter::new("urContextGetInfo", size, value, size_out)?) };
    match property {
        ur_context_info_t::NUM_DEVICES => writer.value(u32::try_from(context.members.len()).unwrap_or(u32::MAX)),
        ur_context_info_t::DEVICES => {
            writer.array(&context.devices().map(|device| device.handle()).collect::<Vec<_>>())
        }
        ur_context_info_t::REFERENCE_COUNT => writer.value(context.references()),
        ur_context_info_t::USM_MEMCPY2D_SUPPORT | ur_context_info_t::USM_FILL2D_SUPPORT => writer.boolean(true),
        _ => writer.unknown(property.0),
    }
}
