//! Timelines: values that only grow, signalled and waited for by queues and by the host, in any order.
//!
//! A signal that was submitted is its command's event, so a wait for it is what a wait for an event is. A wait for what nobody
//! has submitted is a promise ([`crate::stream::promise`]): commands behind it are kept ([`crate::command::deferral`]). So
//! everything here is events; nothing is put on a stream but by [`crate::command::barrier`].
//!
//! A timeline's lock is a leaf: no event is asked, resolved or dropped while it is held.

pub mod enqueue;
mod fast;
pub mod foreign;
pub mod host_wait;
mod questions;
mod reservations;
pub mod shared;
mod state;
pub mod values;

use std::sync::Arc;

use ur_ffi::{
    ur_event_handle_t, ur_ext_timeline_desc_t, ur_ext_timeline_flags_t, ur_ext_timeline_handle_t,
    ur_ext_timeline_handle_t_, ur_ext_timeline_info_t, ur_result_t,
};

use crate::context::Context;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::params::Out;
use crate::object::{Body, Object, TableAddress};
use crate::timeline::shared::file::TimelineFile;
use crate::timeline::values::Values;

/// What a timeline's handle names. Signals that are kept have the values too, and outlive the handle.
pub struct Timeline<D: Driver> {
    values: Arc<Values<D>>,
    _farewell: Farewell,
}

impl<D: Driver> Body for Timeline<D> {
    type Opaque = ur_ext_timeline_handle_t_;
    const TAG: u32 = 0x5552_0041;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    const NAME: &'static str = "timeline";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Timeline<D> {
    /// One over values that there are.
    pub fn over(values: Arc<Values<D>>) -> Self {
        let _farewell = Farewell(values.shared().map(|link| Arc::clone(link.file())));
        Self { values, _farewell }
    }

    fn flags(&self) -> ur_ext_timeline_flags_t {
        let is_shared = self.values.shared().is_some();
        if is_shared { ur_ext_timeline_flags_t::IPC } else { ur_ext_timeline_flags_t::empty() }
    }

    /// Its values.
    pub fn values(&self) -> &Arc<Values<D>> {
        &self.values
    }
}

/// Told when a handle of a timeline goes, after its values: threads that wait for other processes' signals then learn
/// that nobody here can signal any more.
struct Farewell(Option<Arc<TimelineFile>>);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.iter().for_each(|file| file.tell());
    }
}

/// `urTimelineCreateExt`.
///
/// # Errors
/// For one that other processes share `OUT_OF_RESOURCES` where the system has no descriptor or thread left; what the native
/// library answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    description: Option<&ur_ext_timeline_desc_t>,
    out: Out<'_, ur_ext_timeline_handle_t>,
) -> Result<()> {
    let initial = description.map_or(0, |description| description.initialValue);
    let is_shared = description.is_some_and(|description| description.flags.contains(ur_ext_timeline_flags_t::IPC));
    let values = if is_shared { Values::new_shared(context, initial)? } else { Values::new(context, initial)? };
    out.write_object(Object::new(Timeline::over(values)));
    Ok(())
}

/// `urTimelineGetInfoExt`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    timeline: &Object<Timeline<D>>,
    property: ur_ext_timeline_info_t,
    writer: InfoWriter,
) -> Result<()> {
    match property {
        ur_ext_timeline_info_t::VALUE if timeline.values.foreign().is_some() => foreign::unsupported("the value"),
        ur_ext_timeline_info_t::VALUE => writer.value(timeline.values.reached()),
        ur_ext_timeline_info_t::STATUS => {
            let failure = timeline.values.failure();
            writer.value(failure.map_or(ur_result_t::SUCCESS, |failure| failure.code()))
        }
        ur_ext_timeline_info_t::REFERENCE_COUNT => writer.value(timeline.references()),
        ur_ext_timeline_info_t::CONTEXT => writer.value(timeline.values.context().handle()),
        ur_ext_timeline_info_t::FLAGS => writer.value(timeline.flags()),
        _ => writer.unknown(property.0),
    }
}

/// `urTimelineSignalExt`.
///
/// # Errors
/// `INVALID_VALUE` for a value that does not grow, `INVALID_OPERATION` for a timeline that has failed; what the native library
/// answers for another API's.
pub fn signal<D: Driver>(timeline: &Object<Timeline<D>>, value: u64) -> Result<()> {
    timeline.values.signal(value)
}

/// `urTimelineFailExt`.
///
/// # Errors
/// `INVALID_VALUE` for success, `INVALID_OPERATION` for a timeline that has failed; `UNSUPPORTED_FEATURE` for another API's.
pub fn fail<D: Driver>(timeline: &Object<Timeline<D>>, result: ur_result_t) -> Result<()> {
    if result == ur_result_t::SUCCESS {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            "urTimelineFailExt: result is UR_RESULT_SUCCESS, which is no failure; give the error that waits shall answer",
        ));
    }
    if timeline.values.foreign().is_some() {
        return foreign::unsupported("a failure");
    }
    timeline.values.fail(&Error::new(result, "the application made the timeline fail (urTimelineFailExt)"))
}

/// `urTimelineGetEventExt`.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` for a value of another API's timeline that nobody here has signalled.
pub fn get_event<D: Driver>(timeline: &Object<Timeline<D>>, value: u64, out: Out<'_, ur_event_handle_t>) -> Result<()> {
    timeline.values.check_is_known(value, "an event for a value")?;
    out.write_object(timeline.values.event(value));
    Ok(())
}
