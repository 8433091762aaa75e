//! Memory and semaphores of other APIs.

use super::args::{In, Out, Slice};
use super::guard::call;
use crate::command::Command;
use crate::external_semaphore::{self as semaphore, Semaphore};
use crate::graph::capture;
use crate::sys::*;
use crate::{context, external, stream};
use core::ffi::c_uint;
use std::sync::Arc;

#[unsafe(no_mangle)]
pub extern "C" fn cuImportExternalMemory(
    out: Out<Handle>,
    described: In<CUDA_EXTERNAL_MEMORY_HANDLE_DESC>,
) -> CUresult {
    call!(cuImportExternalMemory, {
        out.required()?;
        out.put(external::import(context::current()?, &described.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuExternalMemoryGetMappedBuffer(
    out: Out<CUdeviceptr>,
    memory: Handle,
    described: In<CUDA_EXTERNAL_MEMORY_BUFFER_DESC>,
) -> CUresult {
    call!(cuExternalMemoryGetMappedBuffer, {
        out.required()?;
        context::current()?;
        out.put(external::map(memory, &described.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDestroyExternalMemory(memory: Handle) -> CUresult {
    call!(cuDestroyExternalMemory, {
        context::current()?;
        external::destroy(memory)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuImportExternalSemaphore(
    out: Out<Handle>,
    described: In<CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC>,
) -> CUresult {
    call!(cuImportExternalSemaphore, {
        out.required()?;
        out.put(semaphore::import(context::current()?, &described.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDestroyExternalSemaphore(handle: Handle) -> CUresult {
    call!(cuDestroyExternalSemaphore, {
        context::current()?;
        semaphore::destroy(handle)
    })
}

/// Puts a command for each semaphore on a stream of the context that it was imported in.
fn enqueue(
    handles: &Slice<Handle>,
    parameters: &Slice<CUDA_EXTERNAL_SEMAPHORE_PARAMS>,
    count: c_uint,
    stream: Handle,
    command: impl Fn(Arc<Semaphore>, u64) -> Command,
) -> Result {
    context::current()?;
    let stream = stream::resolve(stream)?;
    let semaphores = semaphore::lookup(&handles.read(count as usize)?)?;
    let parameters = parameters.read(count as usize)?;
    let foreign = |semaphore: &Arc<Semaphore>| semaphore.context.id != stream.context.id;
    if semaphores.iter().any(foreign) || parameters.iter().any(|parameters| parameters.flags != 0) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    capture::refuse_on(&stream)?;
    for (semaphore, parameters) in semaphores.into_iter().zip(parameters) {
        stream.submit(|_| command(semaphore, parameters.value));
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuSignalExternalSemaphoresAsync(
    semaphores: Slice<Handle>,
    parameters: Slice<CUDA_EXTERNAL_SEMAPHORE_PARAMS>,
    count: c_uint,
    stream: Handle,
) -> CUresult {
    call!(cuSignalExternalSemaphoresAsync, {
        enqueue(&semaphores, &parameters, count, stream, Command::SignalSemaphore)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuWaitExternalSemaphoresAsync(
    semaphores: Slice<Handle>,
    parameters: Slice<CUDA_EXTERNAL_SEMAPHORE_PARAMS>,
    count: c_uint,
    stream: Handle,
) -> CUresult {
    call!(cuWaitExternalSemaphoresAsync, { enqueue(&semaphores, &parameters, count, stream, Command::WaitSemaphore) })
}
