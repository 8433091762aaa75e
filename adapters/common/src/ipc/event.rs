//! Events for other processes: reusable ones that were made to be shared.
//!
//! Whoever has such an event may signal it, wait for it and ask for it, whichever process made it; a wait is for the
//! signal that came last, from wherever, when it began. An opened event is released like any other. Must never open an
//! event of this very process natively, which no library allows: it is the same event under a second handle.

use core::ffi::c_void;
use ur_ffi::{ur_context_handle_t, ur_event_handle_t, ur_result_t};

use crate::command::reusable_event;
use crate::context::Context;
use crate::driver::Driver;
use crate::ipc::{retain_handle, seal, take_back, unseal};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};
use crate::stream::event::Event;
use crate::stream::reusable::{Reusable, SharedEvents};

const EVENT: [u8; 8] = *b"URIPCEVT";

/// `urIPCGetEventHandleExp`. An event that was opened is not handed on: whoever made it does that.
///
/// # Safety
/// The C contract: the handle is live, the outputs are writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_EVENT` for an event that was not made to be shared, or was opened.
pub unsafe fn get<D: Driver>(event: ur_event_handle_t, data: *mut *mut c_void, size: *mut usize) -> Result<()> {
    const NAME: &str = "urIPCGetEventHandleExp";
    // SAFETY: the caller's promise is the same.
    let event = unsafe { borrow::<Event<D>>(event) }?;
    if data.is_null() || size.is_null() {
        return Err(null_pointer(NAME));
    }
    let own = event.as_reusable().filter(|_| !event.is_imported());
    let (device, handle) = own.and_then(|event| event.handle()).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_EVENT,
            format!("{NAME}: the event was not made by urEventCreateExp with UR_EXP_EVENT_FLAG_IPC_EXP"),
        )
    })?;
    // SAFETY: neither is null, so both are writable.
    unsafe { retain_handle(seal(EVENT, device, handle), None, data, size) };
    Ok(())
}

/// `urIPCPutEventHandleExp`. Processes that opened the event keep it.
///
/// # Safety
/// The C contract: the handle is live.
///
/// # Errors
/// As [`take_back`].
pub unsafe fn put<D: Driver>(context: ur_context_handle_t, data: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Context<D>>(context) }?;
    take_back("urIPCPutEventHandleExp", EVENT, data)
}

/// `urIPCOpenEventHandleExp`, of an event on a device of the context.
///
/// # Safety
/// The C contract: the handle is live, `data` readable for `size` bytes, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for bytes that are no handle data of this adapter, for an event of a device
/// that the context does not have, and for an event that is gone.
pub unsafe fn open<D: Driver>(
    context: ur_context_handle_t,
    data: *const c_void,
    size: usize,
    out: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urIPCOpenEventHandleExp";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    // SAFETY: readable for `size` bytes by the caller's promise.
    let content = unsafe { unseal::<D>(NAME, EVENT, data, size) }?;
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
    let event = reusable_event::create_on(context, state, reusable, Event::imported);
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(event)) };
    Ok(())
}

/// What a library says of a handle that nothing is behind any more is said alike by all.
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
