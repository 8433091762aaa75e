//! Native handles of devices, contexts, queues and events, both ways.
//!
//! A handle that is given out stays the object's. A handle that comes in is looked after (destroyed, released) only if
//! the application says so. A stream that somebody else has or gave may carry work that its stream has not counted, so
//! such a stream takes nothing for finished without asking ([`Stream::adopt`], [`Stream::allow_foreign_work`]). Nothing native is called
//! on a handle before what can be checked of it is.

use crate::object::params::Handles;
use crate::object::params::Out;
use ur_ffi::{
    ur_command_t, ur_context_handle_t, ur_context_native_properties_t, ur_device_handle_t,
    ur_device_native_properties_t, ur_event_handle_t, ur_event_native_properties_t, ur_native_handle_t,
    ur_platform_handle_t, ur_platform_native_properties_t, ur_queue_flags_t, ur_queue_handle_t, ur_queue_native_desc_t,
    ur_queue_native_properties_t, ur_queue_properties_t, ur_result_t,
};

use crate::context::Context;
use crate::device::Device;
use crate::device::adapter::{self, Adapter};
use crate::device::event_pool::PooledEvent;
use crate::device::platform::Platform;
use crate::driver::devices::DeviceName;
use crate::driver::{Driver, EventPurpose, Handle, NativeName, StreamKind};
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::{Object, known_flags};
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::Event;

/// Streams that every process has: which one a number means depends on the calling thread.
const DEFAULT_STREAMS: core::ops::RangeInclusive<usize> = 0..=2;

/// The error of a native handle that must not be null.
#[cold]
pub(crate) fn null_native(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_NULL_HANDLE, format!("{name}: the native handle is null"))
}

/// A device of a context that the application need not name where there is only one.
///
/// # Unsupported
/// - in a context of several devices: the native handle names none of them
pub(crate) fn only_device<'c, D: Driver>(name: &str, context: &'c Context<D>) -> Result<&'c Object<Device<D>>> {
    let mut devices = context.devices();
    match (devices.next(), devices.next()) {
        (Some(device), None) => Ok(device),
        _ => Err(Error::unsupported(&format!(
            "{name} in a context of several devices, of which the native handle names none; make a context of one \
             device for it: this"
        ))),
    }
}

/// `urPlatformGetNativeHandle`: native libraries have no object for all of their devices.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
///
/// # Unsupported
/// - always: native libraries have no object for all of their devices
pub fn platform_get<D: Driver>(_platform: &Object<Platform<D>>, _out: Out<'_, ur_native_handle_t>) -> Result<()> {
    Err(Error::unsupported("a platform's native handle (the native library has no such object)"))
}

/// `urPlatformCreateWithNativeHandle`: as [`platform_get`].
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
///
/// # Unsupported
/// - always: native libraries have no object for all of their devices
pub fn platform_create<D: Driver>(
    _native: ur_native_handle_t,
    _adapter: &Object<Adapter<D>>,
    _properties: Option<&ur_platform_native_properties_t>,
    _out: Out<'_, ur_platform_handle_t>,
) -> Result<()> {
    Err(Error::unsupported("a platform of a native handle (the native library has no such object)"))
}

/// `urDeviceGetNativeHandle`: the device's ordinal, `CUdevice` / HIP's number.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub fn device_get<D: Driver>(device: &Object<Device<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(device.raw.value());
    Ok(())
}

/// `urDeviceCreateWithNativeHandle`: the device of that ordinal. Devices are nobody's to destroy, so ownership of one is
/// accepted and means nothing.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_DEVICE` for a number that is no device; `UNINITIALIZED` without a native library.
pub fn device_create<D: Driver>(
    native: ur_native_handle_t,
    _adapter: &Object<Adapter<D>>,
    _properties: Option<&ur_device_native_properties_t>,
    out: Out<'_, ur_device_handle_t>,
) -> Result<()> {
    const NAME: &str = "urDeviceCreateWithNativeHandle";
    adapter::open::<D>().map_err(|reason| Error::new(ur_result_t::ERROR_UNINITIALIZED, format!("{NAME}: {reason}")))?;
    let device = Device::<D>::of_raw(D::Device::from_value(native)).ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_DEVICE, format!("{NAME}: {native} is no device of the native library"))
    })?;
    out.write(device.handle());
    Ok(())
}

/// # Unsupported
/// - HIP: always: the runtime's contexts are its devices; take a device's native handle
#[cold]
fn no_contexts() -> Error {
    Error::unsupported("a native context (this library's contexts are its devices: take a device's handle) ")
}

/// `urContextGetNativeHandle`: the primary context of the first device, kept alive by the UR context.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `UNSUPPORTED_FEATURE` where the library has no contexts; what it answers.
pub fn context_get<D: Driver>(context: &Object<Context<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    if !D::CONTEXTS_HAVE_HANDLES {
        return Err(no_contexts());
    }
    out.write(context.first_state()?.place.value());
    Ok(())
}

/// `urContextCreateWithNativeHandle`: over the device whose primary context it is. If owned, the application's
/// reference to the primary context goes with the UR context.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_NULL_HANDLE`; `INVALID_CONTEXT` for a handle that is not the primary context of one
/// of the devices; `UNSUPPORTED_FEATURE` where the library has no contexts; what it answers.
///
/// # Unsupported
/// - CUDA: contexts that are not a device's primary one
pub fn context_create<D: Driver>(
    native: ur_native_handle_t,
    _adapter: &Object<Adapter<D>>,
    devices: Handles<'_, Device<D>>,
    properties: Option<&ur_context_native_properties_t>,
    out: Out<'_, ur_context_handle_t>,
) -> Result<()> {
    const NAME: &str = "urContextCreateWithNativeHandle";
    if !D::CONTEXTS_HAVE_HANDLES {
        return Err(no_contexts());
    }
    if native == 0 {
        return Err(null_native(NAME));
    }
    let opened = adapter::open::<D>()
        .map_err(|reason| Error::new(ur_result_t::ERROR_UNINITIALIZED, format!("{NAME}: {reason}")))?;
    let driver = adapter::driver::<D>()?;
    let candidates: Vec<&Object<Device<D>>> = if devices.is_empty() {
        opened.devices.iter().map(|device| &**device).collect()
    } else {
        devices.iter().collect()
    };
    for device in candidates {
        // A device whose primary context does not exist cannot be the one, and must not get one for this question.
        if !driver.context_is_active(device.raw)? {
            continue;
        }
        let context = Object::new(Context::over([device.to_arc()]));
        // Recycled by the context, as it is asked for in it.
        let state = context.state(device)?;
        if state.place.value() != native {
            continue;
        }
        if properties.is_some_and(|properties| properties.isNativeHandleOwned.get()) {
            // The context holds a reference of its own, which takes the place of the application's.
            // SAFETY: it is the application's reference, which it gave up; the context's own is left.
            unsafe { driver.release_context(device.raw) }?;
        }
        out.write_object(context);
        return Ok(());
    }
    Err(Error::new(
        ur_result_t::ERROR_INVALID_CONTEXT,
        format!("{NAME}: {native:#x} is the primary context of none of the devices; only primary contexts are taken"),
    ))
}

/// `urQueueGetNativeHandle`: the stream, of an out-of-order queue the first of them. From then on somebody else may
/// put work on it.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
///
/// # Unsupported
/// - of an out-of-order queue, which has several streams, the first alone is given
pub fn queue_get<D: Driver>(
    queue: &Object<Queue<D>>,
    _desc: Option<&ur_queue_native_desc_t>,
    out: Out<'_, ur_native_handle_t>,
) -> Result<()> {
    queue.first().allow_foreign_work()?;
    out.write(queue.first().native.value());
    Ok(())
}

/// Flags of a queue that is chained to the native properties; only profiling changes anything for a stream that is
/// there already.
fn chained_flags(
    name: &'static str,
    properties: Option<Chained<'_, ur_queue_native_properties_t>>,
) -> Result<ur_queue_flags_t> {
    let Some(properties) = properties else { return Ok(ur_queue_flags_t::empty()) };
    let Some(queue) = properties.find::<ur_queue_properties_t>(name)? else { return Ok(ur_queue_flags_t::empty()) };
    known_flags(name, queue.flags.bits(), ur_ffi::UR_QUEUE_FLAGS_MASK)?;
    Ok(queue.flags & ur_queue_flags_t::PROFILING_ENABLE)
}

/// `urQueueCreateWithNativeHandle`: an in-order queue over a stream.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_DEVICE` for a stream of another device; `UNSUPPORTED_FEATURE` for the default
/// streams, which are another one on every thread or context; what the native library answers.
///
/// # Unsupported
/// - the default streams: which one is meant depends on the thread that uses it
/// - HIP: needs: a runtime with `hipStreamGetDevice`, in a context of several devices of which none is named
pub fn queue_create<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    named: Option<&Object<Device<D>>>,
    properties: Option<Chained<'_, ur_queue_native_properties_t>>,
    out: Out<'_, ur_queue_handle_t>,
) -> Result<()> {
    const NAME: &str = "urQueueCreateWithNativeHandle";
    if DEFAULT_STREAMS.contains(&native) {
        return Err(Error::unsupported(
            "a queue over a default stream (which one that is depends on the thread that uses it)",
        ));
    }
    let flags = chained_flags(NAME, properties)?;
    // SAFETY: by the manual a stream that is alive as long as the queue.
    let native_stream = unsafe { D::Stream::from_value(native) };
    let place = adapter::driver::<D>()?.stream_context(&native_stream)?;
    let device = match (named, place) {
        (Some(device), _) => device,
        (None, Some(place)) => owner(context, place)?.ok_or_else(|| elsewhere(NAME))?,
        (None, None) => only_device(NAME, context)?,
    };
    let state = context.state(device)?;
    if place.is_some_and(|place| place != state.place) {
        return Err(elsewhere(NAME));
    }
    if flags.contains(ur_queue_flags_t::PROFILING_ENABLE) {
        // On a stream of its own: the other may be busy for long.
        state.start_clock(
            &Stream::new(std::sync::Arc::clone(&state), &context.registry, StreamKind::default())?.native,
        )?;
    }
    let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
    let stream = Stream::adopt(std::sync::Arc::clone(&state), &context.registry, native_stream, owned);
    out.write_object(Queue::over_stream(context, state, flags, StreamKind::default(), stream));
    Ok(())
}

/// The device of a context that a place is of. Only devices in use can be it.
fn owner<D: Driver>(context: &Context<D>, place: D::Context) -> Result<Option<&Object<Device<D>>>> {
    let driver = adapter::driver::<D>()?;
    for device in context.devices() {
        if driver.context_is_active(device.raw)? && context.state(device)?.place == place {
            return Ok(Some(device));
        }
    }
    Ok(None)
}

#[cold]
fn elsewhere(name: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_DEVICE,
        format!("{name}: the stream is not of the device's own context; only streams of primary contexts are taken"),
    )
}

/// `urEventGetNativeHandle`: the native event, recorded now if there was none yet.
///
/// # Errors
/// `INVALID_NULL_POINTER`; what the native library answers.
pub fn event_get<D: Driver>(event: &Object<Event<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(event.native()?.raw().value());
    Ok(())
}

/// `urEventCreateWithNativeHandle`: an event that waits and answers for a native one. It has no queue and no times. The
/// native handle 0 asks for an event that is complete.
///
/// # Errors
/// `INVALID_NULL_POINTER`; what the native library answers.
///
/// # Unsupported
/// - note: such an event has no queue and no times
pub fn event_create<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    properties: Option<&ur_event_native_properties_t>,
    out: Out<'_, ur_event_handle_t>,
) -> Result<()> {
    let state = context.first_state()?;
    let marker = if native == 0 {
        // Native libraries take an event that was never recorded for one that is done.
        let _scope = state.enter()?;
        PooledEvent::adopt(state.driver.create_event(EventPurpose::Order)?, &state, true)
    } else {
        let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
        // SAFETY: by the manual an event that is alive as long as the UR event.
        PooledEvent::adopt(unsafe { D::Event::from_value(native) }, &state, owned)
    };
    // A stream that nothing is ever put on: its one command is the event, which has its native event from the start.
    let stream = Stream::without_stream(std::sync::Arc::clone(&state), &context.registry);
    if native == 0 {
        stream.note_completed(1);
    }
    let queue = Queue::over_stream(
        context,
        state,
        ur_queue_flags_t::empty(),
        StreamKind::default(),
        std::sync::Arc::clone(&stream),
    );
    let event = Object::new(Event::new(queue, stream, 1, ur_command_t::EVENTS_WAIT, Some(marker)));
    out.write_object(event);
    Ok(())
}
