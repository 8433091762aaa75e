//! Events for other processes: reusable events that the application made to share.
//!
//! Every process that has such an event may signal it, wait for it and query it. A wait is for the last signal before it,
//! whichever process sent that. `urEventRelease` releases an opened event. Must never open an event of this process natively,
//! which no library allows: opening it here gives the same event a second handle.

use core::ffi::c_void;

use ur_ffi::{ur_event_handle_t, ur_result_t};

use crate::command::reusable_event;
use crate::context::Context;
use crate::driver::Driver;
use crate::ipc::{Part, retain_handle, seal, take_back, unseal};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::stream::event::Event;
use crate::stream::reusable::{Reusable, SharedEvents};

const EVENT: [u8; 8] = *b"URIPCEVT";

/// `urIPCGetEventHandleExp`. Only the process that made an event shares it, so an opened event is refused.
///
/// # Errors
/// `INVALID_EVENT` for an event that was not made to be shared, or was opened.
pub fn get<D: Driver>(event: &Object<Event<D>>, data: Out<'_, *mut c_void>, size: Out<'_, usize>) -> Result<()> {
    const NAME: &str = "urIPCGetEventHandleExp";
    let own = event.as_reusable().filter(|_| !event.is_imported());
    let (device, handle) = own.and_then(|event| event.handle()).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_EVENT,
            format!("{NAME}: the event was not made by urEventCreateExp with UR_EXP_EVENT_FLAG_IPC_EXP"),
        )
    })?;
    retain_handle(seal(EVENT, device, Part::default(), handle), None, data, size);
    Ok(())
}

/// `urIPCPutEventHandleExp`. Processes that have opened the event keep it.
///
/// # Errors
/// As [`take_back`].
pub fn put<D: Driver>(_context: &Object<Context<D>>, data: Address) -> Result<()> {
    take_back("urIPCPutEventHandleExp", EVENT, data)
}

/// `urIPCOpenEventHandleExp`, of an event on a device of the context.
///
/// # Errors
/// `INVALID_VALUE` for bytes that are no handle data of this adapter, for an event of a device
/// that the context does not have, and for an event that is gone.
pub fn open<D: Driver>(context: &Object<Context<D>>, data: &[u8], out: Out<'_, ur_event_handle_t>) -> Result<()> {
    const NAME: &str = "urIPCOpenEventHandleExp";
    let content = unseal::<D>(NAME, EVENT, data)?;
    let device = context.devices().find(|device| content.is_of(device)).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: the event is on a device that the context does not have"),
        )
    })?;
    let state = context.state(device)?;
    let reusable = match SharedEvents::of(device).find(&content.handle) {
        Some(own) => own,
        None => {
            let _scope = state.enter()?;
            let raw = state.driver.open_event_ipc(&content.handle).map_err(|error| gone(NAME, error))?;
            Reusable::opened(&state, raw, content.handle)
        }
    };
    out.write_object(reusable_event::create_on(context, state, reusable, Event::imported));
    Ok(())
}

/// Gives the libraries' different answers to a handle of a destroyed event one code.
fn gone(name: &str, error: Error) -> Error {
    if error.code() == ur_result_t::ERROR_DEVICE_LOST || error.code() == ur_result_t::ERROR_OUT_OF_RESOURCES {
        return error;
    }
    Error::native(
        ur_result_t::ERROR_INVALID_VALUE,
        name,
        error.native_status(),
        "no process has this event any more, or it belongs to another user",
    )
}
