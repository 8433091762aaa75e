//! The thread's current HIP device, and the CUDA context inside of a call.
//!
//! The device is a number of the thread that starts at 0, and needs no native call. The CUDA context is made current
//! only for as long as a call needs it, and what the thread had is put back on every path: to the rest of the process
//! this library is another one, whose calls leave `cuCtxGetCurrent` alone.

use core::cell::{Cell, RefCell};
use core::ffi::c_int;

use crate::device::{self, Device};
use crate::stream;
use crate::sys::status::*;

thread_local! {
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
    /// What `hipCtxPushCurrent` pushed. HIP keeps it beside the current device: popping restores nothing.
    static STACK: RefCell<Vec<c_int>> = const { RefCell::new(Vec::new()) };
}

/// The current device.
pub fn device() -> Result<&'static Device> {
    device::get(DEVICE.get())
}

/// Makes a device current.
pub fn set(ordinal: c_int) -> Result {
    device::get(ordinal)?;
    DEVICE.set(ordinal);
    Ok(())
}

/// Makes a device current and notes it on the stack.
pub fn push(ordinal: c_int) -> Result {
    set(ordinal)?;
    STACK.with_borrow_mut(|stack| stack.push(ordinal));
    Ok(())
}

/// Takes the top of the stack away, and leaves the current device as it is.
pub fn pop() -> Result<c_int> {
    STACK.with_borrow_mut(Vec::pop).ok_or(hipErrorInvalidContext)
}

/// Puts a device in the place of the stack's top and makes it current; with none, only takes the top away.
pub fn replace(ordinal: Option<c_int>) -> Result {
    let Some(ordinal) = ordinal else {
        let _ = pop();
        return Ok(());
    };
    set(ordinal)?;
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        stack.push(ordinal);
    });
    Ok(())
}

/// A CUDA context made current; dropping it puts back what the thread had.
#[must_use = "the context is current for as long as this lives"]
pub struct Scope {
    /// What to put back, if anything was changed.
    previous: Option<usize>,
}

impl Scope {
    /// The thread's current device.
    pub fn here() -> Result<Self> {
        Self::on(device()?)
    }

    /// A given device.
    pub fn on(device: &Device) -> Result<Self> {
        let wanted = device.context()?;
        let mut previous = 0;
        cu!(context_current(&raw mut previous))?;
        if previous == wanted {
            return Ok(Self { previous: None });
        }
        cu!(context_set_current(wanted))?;
        Ok(Self { previous: Some(previous) })
    }

    /// What work on a stream needs: the default streams are the current device's, any other knows its own.
    pub fn for_stream(stream: usize) -> Result<Option<Self>> {
        if stream::is_default(stream) {
            return Self::here().map(Some);
        }
        device::all().map(|_| None)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(previous) = self.previous {
            // There is nobody to tell; the call's own status stands.
            let _ = cu!(context_set_current(previous));
        }
    }
}
