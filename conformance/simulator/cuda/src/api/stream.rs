//! Streams.

use super::args::Out;
use super::guard::{Rules, call};
use crate::command::{Command, UserData, Value};
use crate::context;
use crate::event::EVENTS;
use crate::graph::capture;
use crate::graph::node::Work;
use crate::memory;
use crate::pool;
use crate::stream::{self, STREAMS, Sort, Stream};
use crate::sys::*;
use crate::waiting;
use core::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

/// Numerically lowest, that is most urgent, priority.
const GREATEST_PRIORITY: c_int = -5;

/// The flag of a wait that becomes a node of its own in a capture.
const EXTERNAL: c_uint = 1;

fn create(out: &Out<Handle>, flags: c_uint, priority: c_int) -> Result {
    out.required()?;
    let context = context::current()?;
    let sort = match flags {
        0 => Sort::Blocking,
        CU_STREAM_NON_BLOCKING => Sort::NonBlocking,
        _ => return Err(CUDA_ERROR_INVALID_VALUE),
    };
    waiting::for_those_inside(&context);
    out.put(Stream::create(context, sort, priority.clamp(GREATEST_PRIORITY, 0)))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamCreate(out: Out<Handle>, flags: c_uint) -> CUresult {
    call!(cuStreamCreate, { create(&out, flags, 0) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamCreateWithPriority(out: Out<Handle>, flags: c_uint, priority: c_int) -> CUresult {
    call!(cuStreamCreateWithPriority, { create(&out, flags, priority) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(handle: Handle) -> CUresult {
    call!(cuStreamDestroy_v2, {
        if matches!(handle, 0 | CU_STREAM_LEGACY | CU_STREAM_PER_THREAD) {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        STREAMS.take(handle, CUDA_ERROR_INVALID_HANDLE)?.close();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetPriority(handle: Handle, priority: Out<c_int>) -> CUresult {
    call!(cuStreamGetPriority, { priority.put(stream::resolve(handle)?.priority) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetFlags(handle: Handle, flags: Out<c_uint>) -> CUresult {
    call!(cuStreamGetFlags, { flags.put((stream::resolve(handle)?.sort == Sort::NonBlocking).into()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetId(handle: Handle, id: Out<u64>) -> CUresult {
    call!(cuStreamGetId, { id.put(stream::resolve(handle)?.id) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetCtx(handle: Handle, out: Out<Handle>) -> CUresult {
    call!(cuStreamGetCtx, { out.put(stream::resolve(handle)?.context.handle) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetDevice(handle: Handle, out: Out<CUdevice>) -> CUresult {
    call!(cuStreamGetDevice, { out.put(stream::resolve(handle)?.context.device.ordinal as CUdevice) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(handle: Handle) -> CUresult {
    call!(cuStreamQuery, Rules::Query, {
        let stream = stream::resolve(handle)?;
        capture::refuse_on(&stream)?;
        capture::refuse_unsafe()?;
        // Inside of a host function the stream it runs on counts as done with all before it.
        let done = crate::command::in_host_function() || stream.query();
        if done { Ok(()) } else { Err(CUDA_ERROR_NOT_READY) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(handle: Handle) -> CUresult {
    call!(cuStreamSynchronize, {
        let stream = stream::resolve(handle)?;
        capture::refuse_on(&stream)?;
        capture::refuse_unsafe()?;
        let result = stream.synchronize();
        pool::on_synchronize();
        result
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(handle: Handle, event: Handle, flags: c_uint) -> CUresult {
    call!(cuStreamWaitEvent, {
        if flags & !1 != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let stream = stream::resolve(handle)?;
        let event = EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?;
        event.check_wait(&stream)?;
        if flags == EXTERNAL {
            let captured = capture::record(&stream, || Ok(Work::Wait(event.clone())))?;
            return if captured { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) };
        }
        if capture::wait_event(&event, &stream)? {
            return Ok(());
        }
        if let Some(completion) = event.latest() {
            stream.submit_wait(completion);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamAddCallback(
    handle: Handle,
    callback: CUstreamCallback,
    data: *mut c_void,
    flags: c_uint,
) -> CUresult {
    let data = UserData(data);
    call!(cuStreamAddCallback, {
        if flags != 0 || callback.is_none() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let stream = stream::resolve(handle)?;
        capture::refuse_on(&stream)?;
        stream.submit(|_| Command::Callback(callback, data));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchHostFunc(handle: Handle, function: CUhostFn, data: *mut c_void) -> CUresult {
    let data = UserData(data);
    call!(cuLaunchHostFunc, {
        if function.is_none() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let stream = stream::resolve(handle)?;
        if !capture::record(&stream, || Ok(Work::Host(function, data)))? {
            waiting::for_those_inside(&stream.context);
            stream.submit(|_| Command::Host(function, data));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamAttachMemAsync(handle: Handle, address: CUdeviceptr, _len: usize, flags: c_uint) -> CUresult {
    call!(cuStreamAttachMemAsync, {
        let stream = stream::resolve(handle)?;
        let found = memory::find(address).filter(|found| found.kind == memory::Kind::Managed);
        if found.is_none() || !matches!(flags, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST | CU_MEM_ATTACH_SINGLE) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        capture::refuse_on(&stream)?;
        stream.submit(|_| Command::Nothing);
        Ok(())
    })
}

fn check_value(stream: &Arc<Stream>, value: &Value) -> Result {
    if !value.address.is_multiple_of(value.width as u64) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    memory::check(value.address, value.width, &stream.next_point(), None).map_err(|denied| {
        crate::reports::add(denied.kind, denied.message);
        CUDA_ERROR_INVALID_VALUE
    })?;
    Ok(())
}

fn wait_value(handle: Handle, address: CUdeviceptr, value: u64, width: usize, flags: c_uint) -> Result {
    let stream = stream::resolve(handle)?;
    let compare = flags & !CU_STREAM_WAIT_VALUE_FLUSH;
    if compare > CU_STREAM_WAIT_VALUE_NOR {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let value = Value { address, value, width, compare };
    check_value(&stream, &value)?;
    if !capture::record(&stream, || Ok(Work::WaitValue(value)))? {
        stream.submit(|_| Command::WaitValue(value));
    }
    Ok(())
}

fn write_value(handle: Handle, address: CUdeviceptr, value: u64, width: usize, flags: c_uint) -> Result {
    let stream = stream::resolve(handle)?;
    if flags & !1 != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let value = Value { address, value, width, compare: 0 };
    check_value(&stream, &value)?;
    if !capture::record(&stream, || Ok(Work::WriteValue(value)))? {
        stream.submit_to_device(Command::WriteValue(value));
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue32(handle: Handle, address: CUdeviceptr, value: u32, flags: c_uint) -> CUresult {
    call!(cuStreamWaitValue32, { wait_value(handle, address, value.into(), 4, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue32_v2(handle: Handle, address: CUdeviceptr, value: u32, flags: c_uint) -> CUresult {
    call!(cuStreamWaitValue32_v2, { wait_value(handle, address, value.into(), 4, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue64(handle: Handle, address: CUdeviceptr, value: u64, flags: c_uint) -> CUresult {
    call!(cuStreamWaitValue64, { wait_value(handle, address, value, 8, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitValue64_v2(handle: Handle, address: CUdeviceptr, value: u64, flags: c_uint) -> CUresult {
    call!(cuStreamWaitValue64_v2, { wait_value(handle, address, value, 8, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue32(handle: Handle, address: CUdeviceptr, value: u32, flags: c_uint) -> CUresult {
    call!(cuStreamWriteValue32, { write_value(handle, address, value.into(), 4, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue32_v2(handle: Handle, address: CUdeviceptr, value: u32, flags: c_uint) -> CUresult {
    call!(cuStreamWriteValue32_v2, { write_value(handle, address, value.into(), 4, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue64(handle: Handle, address: CUdeviceptr, value: u64, flags: c_uint) -> CUresult {
    call!(cuStreamWriteValue64, { write_value(handle, address, value, 8, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWriteValue64_v2(handle: Handle, address: CUdeviceptr, value: u64, flags: c_uint) -> CUresult {
    call!(cuStreamWriteValue64_v2, { write_value(handle, address, value, 8, flags) })
}
