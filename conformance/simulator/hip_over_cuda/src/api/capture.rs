//! Captures: work of streams that becomes a graph in the place of running.
//!
//! Which calls a capture forbids, and what they answer, is CUDA's to say; its statuses have HIP's numbers.

use core::ffi::{c_int, c_uint, c_ulonglong};

use crate::args::{In, Out, Raw};
use crate::current::Scope;
use crate::device;
use crate::graph;
use crate::guard::call;
use crate::sys::status::*;
use crate::sys::value::enumerator::{
    hipStreamAddCaptureDependencies, hipStreamCaptureModeGlobal, hipStreamCaptureModeRelaxed,
    hipStreamSetCaptureDependencies,
};
use crate::sys::value::handle::hipStreamLegacy;

/// Fails on a mode that is none.
fn check_mode(mode: c_int) -> Result {
    let known = hipStreamCaptureModeGlobal..=hipStreamCaptureModeRelaxed;
    if known.contains(&mode) { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Whether a stream is the legacy default one, which cannot be captured.
fn is_legacy(stream: usize) -> bool {
    stream == 0 || stream == hipStreamLegacy
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamBeginCapture(stream: usize, mode: c_int) -> hipError_t {
    call!(hipStreamBeginCapture, {
        if is_legacy(stream) {
            return Err(hipErrorStreamCaptureUnsupported);
        }
        check_mode(mode)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(capture_begin(stream, mode))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamBeginCaptureToGraph(
    stream: usize,
    graph: usize,
    after: In<usize>,
    edges: Raw,
    count: usize,
    mode: c_int,
) -> hipError_t {
    call!(hipStreamBeginCaptureToGraph, {
        if edges.address() != 0 {
            return Err(hipErrorNotSupported);
        }
        graph::required(graph)?;
        if after.raw().is_null() != (count == 0) {
            return Err(hipErrorInvalidValue);
        }
        if is_legacy(stream) {
            return Err(hipErrorStreamCaptureUnsupported);
        }
        check_mode(mode)?;
        let after = after.list(count)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(capture_begin_to_graph(stream, graph, after.as_ptr(), core::ptr::null(), count, mode))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamEndCapture(stream: usize, out: Out<usize>) -> hipError_t {
    call!(hipStreamEndCapture, {
        out.required()?;
        if is_legacy(stream) {
            return Err(hipErrorIllegalState);
        }
        let _scope = Scope::for_stream(stream)?;
        cu!(capture_end(stream, out.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamIsCapturing(stream: usize, status: Out<c_int>) -> hipError_t {
    call!(hipStreamIsCapturing, {
        status.required()?;
        let _scope = Scope::for_stream(stream)?;
        cu!(capture_status(stream, status.raw()))
    })
}

fn info(
    stream: usize,
    status: &Out<c_int>,
    id: *mut c_ulonglong,
    graph: *mut usize,
    nodes: *mut *const usize,
    count: *mut usize,
) -> Result {
    status.required()?;
    let _scope = Scope::for_stream(stream)?;
    cu!(capture_info(stream, status.raw(), id, graph, nodes, count))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamGetCaptureInfo(stream: usize, status: Out<c_int>, id: Out<c_ulonglong>) -> hipError_t {
    use core::ptr::null_mut;
    call!(hipStreamGetCaptureInfo, { info(stream, &status, id.raw(), null_mut(), null_mut(), null_mut()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: usize,
    status: Out<c_int>,
    id: Out<c_ulonglong>,
    graph: Out<usize>,
    nodes: Out<*const usize>,
    count: Out<usize>,
) -> hipError_t {
    call!(hipStreamGetCaptureInfo_v2, { info(stream, &status, id.raw(), graph.raw(), nodes.raw(), count.raw()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamUpdateCaptureDependencies(
    stream: usize,
    nodes: In<usize>,
    count: usize,
    flags: c_uint,
) -> hipError_t {
    call!(hipStreamUpdateCaptureDependencies, {
        let known = [hipStreamAddCaptureDependencies, hipStreamSetCaptureDependencies];
        if !known.iter().any(|flag| flag.unsigned_abs() == flags) {
            return Err(hipErrorInvalidValue);
        }
        let mut nodes = nodes.list(count)?;
        if is_legacy(stream) {
            return Err(hipErrorIllegalState);
        }
        let _scope = Scope::for_stream(stream)?;
        cu!(capture_update(stream, nodes.as_mut_ptr(), count, flags))
    })
}

/// The thread's mode goes in and its former one comes back.
#[unsafe(no_mangle)]
pub extern "C" fn hipThreadExchangeStreamCaptureMode(mode: Out<c_int>) -> hipError_t {
    call!(hipThreadExchangeStreamCaptureMode, {
        mode.required()?;
        // SAFETY: not null, and the caller gives a mode to be read and written.
        check_mode(unsafe { In::of(mode.raw().cast_const()) }.get()?)?;
        device::all()?;
        cu!(capture_exchange_mode(mode.raw()))
    })
}
