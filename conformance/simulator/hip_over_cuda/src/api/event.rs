//! Events.

use core::ffi::c_uint;

use crate::args::Out;
use crate::current::Scope;
use crate::guard::call;
use crate::sys::status::*;
use crate::sys::value::flag7::hipEventRecordExternal;
use crate::{device, event};

#[unsafe(no_mangle)]
pub extern "C" fn hipEventCreate(out: Out<usize>) -> hipError_t {
    call!(hipEventCreate, {
        out.required()?;
        out.put(event::create(0)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventCreateWithFlags(out: Out<usize>, flags: c_uint) -> hipError_t {
    call!(hipEventCreateWithFlags, {
        out.required()?;
        out.put(event::create(flags)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: usize) -> hipError_t {
    call!(hipEventDestroy, {
        device::all()?;
        event::required(event)?;
        cu!(event_destroy(event))
    })
}

fn record(event: usize, stream: usize) -> Result {
    event::required(event)?;
    let _scope = Scope::for_stream(stream)?;
    cu!(event_record(event, stream))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: usize, stream: usize) -> hipError_t {
    call!(hipEventRecord, { record(event, stream) })
}

/// The one flag makes a record in a capture a node of its own, and has CUDA's number.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecordWithFlags(event: usize, stream: usize, flags: c_uint) -> hipError_t {
    call!(hipEventRecordWithFlags, {
        match flags {
            0 => record(event, stream),
            hipEventRecordExternal => {
                event::required(event)?;
                let _scope = Scope::for_stream(stream)?;
                cu!(event_record_flags(event, stream, flags))
            }
            _ => Err(hipErrorInvalidValue),
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: usize) -> hipError_t {
    call!(hipEventQuery, {
        device::all()?;
        event::required(event)?;
        cu!(event_query(event))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: usize) -> hipError_t {
    call!(hipEventSynchronize, {
        device::all()?;
        event::required(event)?;
        cu!(event_synchronize(event))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventElapsedTime(milliseconds: Out<f32>, start: usize, stop: usize) -> hipError_t {
    call!(hipEventElapsedTime, {
        milliseconds.required()?;
        device::all()?;
        event::required(start).and(event::required(stop))?;
        cu!(event_elapsed(milliseconds.raw(), start, stop))
    })
}
