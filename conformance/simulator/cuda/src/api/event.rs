//! Events.

use super::args::Out;
use super::guard::{Rules, call};
use crate::context;
use crate::event::{EVENTS, Event};
use crate::graph::capture;
use crate::graph::node::Work;
use crate::pool;
use crate::stream;
use crate::sys::*;
use crate::waiting;
use core::ffi::c_uint;

#[unsafe(no_mangle)]
pub extern "C" fn cuEventCreate(out: Out<Handle>, flags: c_uint) -> CUresult {
    call!(cuEventCreate, {
        out.required()?;
        let context = context::current()?;
        if flags & !7 != 0 || (flags & CU_EVENT_INTERPROCESS != 0 && flags & CU_EVENT_DISABLE_TIMING == 0) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        waiting::for_those_inside(&context);
        out.put(Event::create(context, flags)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: Handle) -> CUresult {
    call!(cuEventDestroy_v2, { EVENTS.take(event, CUDA_ERROR_INVALID_HANDLE).map(drop) })
}

/// The flag of a record that becomes a node of its own in a capture.
const EXTERNAL: c_uint = 1;

fn record(event: Handle, stream: Handle, flags: c_uint) -> Result {
    let event = EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?;
    let stream = stream::resolve(stream)?;
    let recorded = match flags {
        0 => capture::record_event(&event, &stream)?,
        EXTERNAL if capture::record(&stream, || Ok(Work::Record(event.clone())))? => true,
        // Outside of captures the flag means nothing, and is refused.
        EXTERNAL => return Err(CUDA_ERROR_ILLEGAL_STATE),
        _ => return Err(CUDA_ERROR_INVALID_VALUE),
    };
    if recorded { Ok(()) } else { event.record(&stream) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: Handle, stream: Handle) -> CUresult {
    call!(cuEventRecord, { record(event, stream, 0) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) -> CUresult {
    call!(cuEventRecordWithFlags, { record(event, stream, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: Handle) -> CUresult {
    call!(cuEventQuery, Rules::Query, {
        let event = EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?;
        event.context.usable()?;
        event.refuse_captured()?;
        capture::refuse_unsafe()?;
        match event.latest() {
            Some(latest) if !latest.query() => Err(CUDA_ERROR_NOT_READY),
            _ => Ok(()),
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(event: Handle) -> CUresult {
    call!(cuEventSynchronize, {
        let event = EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?;
        event.context.usable()?;
        event.refuse_captured()?;
        capture::refuse_unsafe()?;
        if let Some(latest) = event.latest() {
            latest.synchronize();
        }
        pool::on_synchronize();
        event.context.failure().map_or(Ok(()), Err)
    })
}

fn elapsed(out: &Out<f32>, start: Handle, end: Handle) -> Result {
    let start = EVENTS.lookup(start, CUDA_ERROR_INVALID_HANDLE)?;
    let end = EVENTS.lookup(end, CUDA_ERROR_INVALID_HANDLE)?;
    start.context.usable()?;
    start.refuse_captured()?;
    end.refuse_captured()?;
    out.put(end.elapsed_since(&start)?)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventElapsedTime(out: Out<f32>, start: Handle, end: Handle) -> CUresult {
    call!(cuEventElapsedTime, { elapsed(&out, start, end) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventElapsedTime_v2(out: Out<f32>, start: Handle, end: Handle) -> CUresult {
    call!(cuEventElapsedTime_v2, { elapsed(&out, start, end) })
}
