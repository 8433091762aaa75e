//! A context: devices that share memory and programs, and what the engine keeps for each of them.
//!
//! Creating a context makes no native call. A device's native context, with its event pools and its clock, comes
//! into being when the first queue, allocation or program needs it and stays for the next context
//! ([`crate::device::native_context`]). Stream-ordered memory finds its streams through the context's registry.

pub mod device_state;
pub mod external_mappings;
pub mod graph_memory;
pub mod native_handle;
pub mod over_aligned;
pub mod reservations;

use crate::object::params::Handles;
use crate::object::params::Out;
use core::ffi::c_void;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use ur_ffi::{ur_context_handle_t, ur_context_handle_t_, ur_context_info_t, ur_context_properties_t, ur_result_t};

pub use crate::context::device_state::DeviceState;
use crate::context::external_mappings::ExternalMappings;
use crate::context::graph_memory::GraphMemory;
use crate::context::over_aligned::OverAligned;
use crate::context::reservations::Reservations;
use crate::device::Device;
use crate::device::adapter;
use crate::driver::Driver;
use crate::memory_pool::plain::label::Label;
use crate::memory_pool::plain::{Figures, Heap};
use crate::memory_pool::registry::Registry;
use crate::object::attachment::Attachment;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress};

/// A device's place in a context: its state is made at first need.
struct Member<D: Driver> {
    device: Arc<Object<Device<D>>>,
    /// The stream for memory that comes and goes without a queue, kept by [`crate::stream`].
    service: Attachment,
    /// Streams of released queues, kept by [`crate::stream`].
    idle_streams: Attachment,
    state: OnceLock<Arc<DeviceState<D>>>,
    /// Held while the state is made.
    making: Mutex<()>,
}

/// What the context's handle names.
pub struct Context<D: Driver> {
    /// The streams of the context's queues.
    pub registry: Arc<Registry<D>>,
    /// Plain memory that starts elsewhere than the native library knows.
    pub over_aligned: OverAligned,
    /// Ranges of addresses for virtual memory.
    pub reservations: Mutex<Reservations<D::Device>>,
    /// Mapped memory of other APIs.
    pub external_mappings: ExternalMappings<D::Device>,
    /// Memory that launches of graphs allocate.
    pub graph_memory: GraphMemory,
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
        let member = |device| Member {
            device,
            service: Attachment::new(),
            idle_streams: Attachment::new(),
            state: OnceLock::new(),
            making: Mutex::new(()),
        };
        let members = devices.into_iter().map(member).collect();
        Self {
            registry: Arc::default(),
            over_aligned: OverAligned::default(),
            reservations: Mutex::default(),
            external_mappings: ExternalMappings::default(),
            graph_memory: GraphMemory::default(),
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
        self.state_of(device).map(Arc::clone)
    }

    /// As [`Context::state`], for a call that needs it no longer than it has the context.
    ///
    /// # Errors
    /// As [`Context::state`].
    #[inline]
    pub fn state_of(&self, device: &Object<Device<D>>) -> Result<&Arc<DeviceState<D>>> {
        let found = self.members.iter().position(|member| core::ptr::eq(&raw const *member.device, device));
        self.state_at(found.ok_or_else(not_a_member)?)
    }

    #[inline]
    fn state_at(&self, index: usize) -> Result<&Arc<DeviceState<D>>> {
        self.members[index].state.get().map_or_else(|| self.make_state(index), Ok)
    }

    #[cold]
    fn make_state(&self, index: usize) -> Result<&Arc<DeviceState<D>>> {
        let member = &self.members[index];
        let _one_at_a_time = member.making.lock();
        if let Some(state) = member.state.get() {
            return Ok(state);
        }
        let made = DeviceState::new(adapter::driver::<D>()?, Arc::clone(&member.device), index, &self.registry)?;
        Ok(member.state.get_or_init(|| made))
    }

    /// The heap that a plain block came from.
    #[inline]
    pub fn heap_of(&self, label: Label) -> Option<&Arc<Heap<D>>> {
        self.members.get(usize::from(label.device_index()))?.state.get()?.known_heap(label.kind())
    }

    /// The states that were needed so far.
    pub fn known_states(&self) -> impl Iterator<Item = Arc<DeviceState<D>>> {
        self.members.iter().filter_map(|member| member.state.get().cloned())
    }

    /// The figures of all plain memory.
    fn plain_figures(&self) -> Figures {
        let states = self.members.iter().filter_map(|member| member.state.get());
        states.flat_map(|state| state.known_heaps()).fold(Figures::default(), |all, heap| {
            let Figures { reserved, live } = heap.figures();
            Figures { reserved: all.reserved + reserved, live: all.live + live }
        })
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
        found.ok_or_else(not_a_member)
    }

    /// Where the stream for memory of a device that comes and goes without a queue is kept. It goes with the context.
    ///
    /// # Errors
    /// `INVALID_DEVICE` for a device of another context.
    pub fn service(&self, device: &Object<Device<D>>) -> Result<&Attachment> {
        self.member(device).map(|member| &member.service)
    }

    /// Where streams of released queues of a device are kept. They go with the context.
    ///
    /// # Errors
    /// `INVALID_DEVICE` for a device of another context.
    pub fn idle_streams(&self, device: &Object<Device<D>>) -> Result<&Attachment> {
        self.member(device).map(|member| &member.idle_streams)
    }

    /// The state of the context's first device, for memory that belongs to no device.
    ///
    /// # Errors
    /// As [`Context::state`].
    pub fn first_state(&self) -> Result<Arc<DeviceState<D>>> {
        self.state_at(0).map(Arc::clone)
    }

    /// As [`Context::first_state`], for a call that needs it no longer than it has the context.
    ///
    /// # Errors
    /// As [`Context::state`].
    #[inline]
    pub fn first(&self) -> Result<&Arc<DeviceState<D>>> {
        self.state_at(0)
    }
}

#[cold]
fn not_a_member() -> Error {
    Error::new(ur_result_t::ERROR_INVALID_DEVICE, "the device is not one of the context's; give one that is")
}

/// `urContextCreate`.
///
/// # Errors
/// `INVALID_SIZE` for no device, `INVALID_NULL_POINTER`, `INVALID_ENUMERATION` for unknown flags,
/// `INVALID_VALUE` for a device given twice.
pub fn create<D: Driver>(
    devices: Handles<'_, Device<D>>,
    _properties: Option<&ur_context_properties_t>,
    out: Out<'_, ur_context_handle_t>,
) -> Result<()> {
    let devices: Vec<&Object<Device<D>>> = devices.iter().collect();
    let twice =
        |(at, device): (usize, &&Object<Device<D>>)| devices[..at].iter().any(|one| core::ptr::eq(*one, *device));
    if devices.iter().enumerate().any(twice) {
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, "urContextCreate: a device is given twice"));
    }
    let context = Context::over(devices.into_iter().map(Object::to_arc));
    out.write_object(Object::new(context));
    Ok(())
}

/// `urContextSetExtendedDeleter`: one more function to call when the context dies, after those given before.
///
/// # Errors
/// As [`borrow`]; `INVALID_NULL_POINTER` without a function.
pub fn set_extended_deleter<D: Driver>(
    context: &Object<Context<D>>,
    deleter: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<()> {
    context.deleters.lock().push(Deleter { call: deleter, data: data.expose_provenance() });
    Ok(())
}

/// `urContextGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    context: &Object<Context<D>>,
    property: ur_context_info_t,
    writer: InfoWriter,
) -> Result<()> {
    match property {
        ur_context_info_t::NUM_DEVICES => writer.value(u32::try_from(context.members.len()).unwrap_or(u32::MAX)),
        ur_context_info_t::DEVICES => {
            writer.array(&context.devices().map(|device| device.handle()).collect::<Vec<_>>())
        }
        ur_context_info_t::REFERENCE_COUNT => writer.value(context.references()),
        ur_context_info_t::USM_MEMCPY2D_SUPPORT => writer.boolean(true),
        // `urEnqueueUSMFill2D` is there, but libsycl, where it is told so, passes numbers of elements for numbers of bytes.
        ur_context_info_t::USM_FILL2D_SUPPORT => writer.boolean(false),
        ur_context_info_t::USM_RESERVED_BYTES_EXP => writer.value(context.plain_figures().reserved as u64),
        ur_context_info_t::USM_USED_BYTES_EXP => writer.value(context.plain_figures().live as u64),
        _ => writer.unknown(property.0),
    }
}
