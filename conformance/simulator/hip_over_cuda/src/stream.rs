//! Streams: CUDA's own, handed through. HIP's default streams have the numbers of CUDA's.
//!
//! What differs is here: which values name a default stream, callbacks, whose status has to be HIP's, and HIP's mask
//! for waits on memory, which CUDA lacks.

use core::ffi::{c_int, c_uint, c_void};
use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::cuda::CUresult;
use crate::current::{self, Scope};
use crate::device;
use crate::error;
use crate::sys::status::*;
use crate::sys::value::flag::{hipStreamDefault, hipStreamNonBlocking};
use crate::sys::value::handle::{hipStreamLegacy, hipStreamPerThread};

/// The devices of the streams that were made here, for launches alone.
static DEVICES: Mutex<BTreeMap<usize, c_int>> = Mutex::new(BTreeMap::new());

/// HIP's callback of a stream.
pub type Callback = unsafe extern "C" fn(stream: usize, status: hipError_t, data: *mut c_void);

/// Whether a handle names a default stream: the null stream, the legacy one (the same), the thread's own.
pub fn is_default(stream: usize) -> bool {
    stream == 0 || stream == hipStreamLegacy || stream == hipStreamPerThread
}

/// Makes a stream on the current device.
pub fn create(flags: c_uint, priority: c_int) -> Result<usize> {
    if flags != hipStreamDefault && flags != hipStreamNonBlocking {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let mut stream = 0;
    cu!(stream_create(&raw mut stream, flags, priority))?;
    DEVICES.lock().insert(stream, current::device()?.ordinal);
    Ok(stream)
}

/// Destroys a stream; a default one cannot be. Like AMD's runtime, which CUDA is quicker than, it waits for the stream's work
/// first.
pub fn destroy(stream: usize) -> Result {
    if is_default(stream) {
        return Err(hipErrorInvalidResourceHandle);
    }
    device::all()?;
    // A failure of the work is not the destruction's.
    let _ = cu!(stream_synchronize(stream));
    DEVICES.lock().remove(&stream);
    cu!(stream_destroy(stream))
}

/// `CU_STREAM_CAPTURE_STATUS_NONE`.
const NOT_CAPTURING: c_int = 0;

/// Fails where a launch on the stream, which is not captured, finds another device current than the stream's. AMD's runtime
/// looks since 7.1 or 7.2, and CUDA's driver does not.
pub fn check_launches(stream: usize) -> Result {
    let current = current::device()?.ordinal;
    // No call of CUDA's where all is well: tests count them. A default stream is the current device's.
    if DEVICES.lock().get(&stream).is_none_or(|device| *device == current) {
        return Ok(());
    }
    let mut capture = NOT_CAPTURING;
    cu!(capture_status(stream, &raw mut capture))?;
    if capture == NOT_CAPTURING { Err(hipErrorInvalidResourceHandle) } else { Ok(()) }
}

/// The device of a stream.
pub fn device_of(stream: usize) -> Result<c_int> {
    if is_default(stream) {
        return Ok(current::device()?.ordinal);
    }
    let _scope = Scope::here()?;
    let mut context = 0;
    cu!(stream_context(stream, &raw mut context))?;
    device::of_context(context).ok_or(hipErrorInvalidHandle)
}

/// What a CUDA callback needs to become a HIP one.
struct Adapter {
    callback: Callback,
    stream: usize,
    data: *mut c_void,
}

/// Calls the HIP callback that `data` holds, with HIP's status.
unsafe extern "C" fn run_callback(_stream: usize, status: CUresult, data: *mut c_void) {
    // SAFETY: `data` is the box that `add_callback` gave away, and a callback runs once.
    let adapter = unsafe { Box::from_raw(data.cast::<Adapter>()) };
    let status = error::of(status);
    // SAFETY: the callback, its stream and its data are what HIP's caller gave for this.
    unsafe { (adapter.callback)(adapter.stream, status, adapter.data) };
}

/// Calls back on the host once all work of the stream so far has finished.
pub fn add_callback(stream: usize, callback: Option<Callback>, data: *mut c_void, flags: c_uint) -> Result {
    let callback = callback.ok_or(hipErrorInvalidValue)?;
    if flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::for_stream(stream)?;
    let adapter = Box::into_raw(Box::new(Adapter { callback, stream, data }));
    cu!(stream_callback(stream, run_callback, adapter.cast(), 0)).inspect_err(|_| {
        // SAFETY: the driver refused the callback, so the box is still this function's.
        drop(unsafe { Box::from_raw(adapter) });
    })
}

/// Checks the mask of a wait on memory: CUDA compares all bits.
pub fn check_mask<T: PartialEq>(mask: T, all: T) -> Result {
    if mask == all { Ok(()) } else { Err(hipErrorNotSupported) }
}
