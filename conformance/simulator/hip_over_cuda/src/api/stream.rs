//! Streams, host functions, and waits and writes of memory in a stream's order.

use core::ffi::{c_int, c_uint, c_ulonglong};

use crate::args::{Out, Raw};
use crate::cuda::HostFn;
use crate::current::Scope;
use crate::event;
use crate::guard::call;
use crate::stream::{self, Callback};
use crate::sys::status::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamCreate(out: Out<usize>) -> hipError_t {
    call!(hipStreamCreate, {
        out.required()?;
        out.put(stream::create(0, 0)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamCreateWithFlags(out: Out<usize>, flags: c_uint) -> hipError_t {
    call!(hipStreamCreateWithFlags, {
        out.required()?;
        out.put(stream::create(flags, 0)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamCreateWithPriority(out: Out<usize>, flags: c_uint, priority: c_int) -> hipError_t {
    call!(hipStreamCreateWithPriority, {
        out.required()?;
        out.put(stream::create(flags, priority)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(stream: usize) -> hipError_t {
    call!(hipStreamDestroy, { stream::destroy(stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: usize) -> hipError_t {
    call!(hipStreamSynchronize, {
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_synchronize(stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamQuery(stream: usize) -> hipError_t {
    call!(hipStreamQuery, {
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_query(stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(stream: usize, event: usize, flags: c_uint) -> hipError_t {
    call!(hipStreamWaitEvent, {
        event::required(event)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_wait_event(stream, event, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamGetFlags(stream: usize, flags: Out<c_uint>) -> hipError_t {
    call!(hipStreamGetFlags, {
        flags.required()?;
        let _scope = Scope::here()?;
        cu!(stream_flags(stream, flags.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamGetPriority(stream: usize, priority: Out<c_int>) -> hipError_t {
    call!(hipStreamGetPriority, {
        priority.required()?;
        let _scope = Scope::here()?;
        cu!(stream_priority(stream, priority.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamGetDevice(stream: usize, device: Out<c_int>) -> hipError_t {
    call!(hipStreamGetDevice, {
        device.required()?;
        device.put(stream::device_of(stream)?)
    })
}

/// The device of a stream, -1 when there is none: this one answers no status.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetStreamDeviceId(stream: usize) -> c_int {
    let mut device = -1;
    call!(hipGetStreamDeviceId, {
        device = stream::device_of(stream)?;
        Ok(())
    });
    device
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamGetId(stream: usize, id: Out<c_ulonglong>) -> hipError_t {
    call!(hipStreamGetId, {
        id.required()?;
        let _scope = Scope::here()?;
        cu!(stream_id(stream, id.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamAddCallback(
    stream: usize,
    callback: Option<Callback>,
    data: Raw,
    flags: c_uint,
) -> hipError_t {
    call!(hipStreamAddCallback, { stream::add_callback(stream, callback, data.raw(), flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipLaunchHostFunc(stream: usize, function: Option<HostFn>, data: Raw) -> hipError_t {
    call!(hipLaunchHostFunc, {
        let function = function.ok_or(hipErrorInvalidValue)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_host_function(stream, function, data.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitValue32(
    stream: usize,
    address: Raw,
    value: u32,
    flags: c_uint,
    mask: u32,
) -> hipError_t {
    call!(hipStreamWaitValue32, {
        address.required()?;
        stream::check_mask(mask, u32::MAX)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_wait32(stream, address.address(), value, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitValue64(
    stream: usize,
    address: Raw,
    value: u64,
    flags: c_uint,
    mask: u64,
) -> hipError_t {
    call!(hipStreamWaitValue64, {
        address.required()?;
        stream::check_mask(mask, u64::MAX)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_wait64(stream, address.address(), value, flags))
    })
}

/// HIP's flags for writes are reserved, and ignored.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWriteValue32(stream: usize, address: Raw, value: u32, _flags: c_uint) -> hipError_t {
    call!(hipStreamWriteValue32, {
        address.required()?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_write32(stream, address.address(), value, 0))
    })
}

/// As `hipStreamWriteValue32`.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWriteValue64(stream: usize, address: Raw, value: u64, _flags: c_uint) -> hipError_t {
    call!(hipStreamWriteValue64, {
        address.required()?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_write64(stream, address.address(), value, 0))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamAttachMemAsync(stream: usize, address: Raw, length: usize, flags: c_uint) -> hipError_t {
    call!(hipStreamAttachMemAsync, {
        address.required()?;
        let _scope = Scope::here()?;
        cu!(stream_attach(stream, address.address(), length, flags))
    })
}
