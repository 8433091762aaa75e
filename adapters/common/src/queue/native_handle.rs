//! Native handles of queues, both ways.
//!
//! A stream that is given out stays the queue's. One that comes in is destroyed with the queue only if the application says
//! so. Somebody else can put work on either, which the engine does not count, so such a stream takes nothing for completed
//! without asking ([`Stream::adopt`], [`Stream::allow_foreign_work`]). No native call is made on a handle before all that
//! can be checked of it is.

use std::sync::Arc;

use ur_ffi::{
    ur_native_handle_t, ur_queue_flags_t, ur_queue_handle_t, ur_queue_native_desc_t, ur_queue_native_properties_t,
    ur_queue_properties_t, ur_result_t,
};

use crate::context::Context;
use crate::context::native_handle::only_device;
use crate::device::Device;
use crate::device::adapter;
use crate::driver::{Driver, Handle, NativeName, StreamKind};
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Object, known_flags};
use crate::queue::Queue;
use crate::stream::Stream;

/// Streams that every process has: which one a number means depends on the calling thread.
const DEFAULT_STREAMS: core::ops::RangeInclusive<usize> = 0..=2;

/// `urQueueGetNativeHandle`: the stream, of an out-of-order queue the first of them. From then on somebody else may
/// put work on it.
pub fn get_handle<D: Driver>(
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
/// `INVALID_DEVICE` for a stream of another device; `UNSUPPORTED_FEATURE` for the default
/// streams, which are another one on every thread or context; what the native library answers.
pub fn create<D: Driver>(
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
    let stream_context = adapter::driver::<D>()?.stream_context(&native_stream)?;
    let device = match (named, stream_context) {
        (Some(device), _) => device,
        (None, Some(native)) => owner(context, native)?.ok_or_else(|| other_context(NAME))?,
        (None, None) => only_device(NAME, context)?,
    };
    let state = context.state(device)?;
    if stream_context.is_some_and(|native| native != state.primary_context) {
        return Err(other_context(NAME));
    }
    if flags.contains(ur_queue_flags_t::PROFILING_ENABLE) {
        // On a stream of its own: the other may be busy for long.
        state.start_clock(&Stream::new(Arc::clone(&state), &context.registry, StreamKind::default())?.native)?;
    }
    let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
    let stream = Stream::adopt(Arc::clone(&state), &context.registry, native_stream, owned);
    out.write_object(Queue::over_stream(context, state, flags, StreamKind::default(), stream));
    Ok(())
}

/// The device of a context whose primary context is `native`. Only devices in use have one.
fn owner<D: Driver>(context: &Context<D>, native: D::Context) -> Result<Option<&Object<Device<D>>>> {
    let driver = adapter::driver::<D>()?;
    for device in context.devices() {
        if driver.context_is_active(device.raw)? && context.state(device)?.primary_context == native {
            return Ok(Some(device));
        }
    }
    Ok(None)
}

#[cold]
fn other_context(name: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_DEVICE,
        format!("{name}: the stream is not of the device's own context; only streams of primary contexts are taken"),
    )
}
