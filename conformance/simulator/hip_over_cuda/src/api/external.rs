//! Memory and semaphores of other APIs. HIP describes them as CUDA does, so descriptions go on as they are.

use core::ffi::c_uint;

use crate::args::{Out, Raw};
use crate::current::Scope;
use crate::guard::call;
use crate::module;
use crate::sys::status::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipImportExternalMemory(out: Out<usize>, described: Raw) -> hipError_t {
    call!(hipImportExternalMemory, {
        out.required().and(described.required())?;
        let _scope = Scope::here()?;
        cu!(external_memory_import(out.raw(), described.raw().cast_const()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipExternalMemoryGetMappedBuffer(out: Out<usize>, memory: usize, described: Raw) -> hipError_t {
    call!(hipExternalMemoryGetMappedBuffer, {
        out.required().and(described.required()).and(module::required(memory))?;
        let _scope = Scope::here()?;
        cu!(external_memory_map(out.raw(), memory, described.raw().cast_const()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDestroyExternalMemory(memory: usize) -> hipError_t {
    call!(hipDestroyExternalMemory, {
        module::required(memory)?;
        let _scope = Scope::here()?;
        cu!(external_memory_destroy(memory))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipImportExternalSemaphore(out: Out<usize>, described: Raw) -> hipError_t {
    call!(hipImportExternalSemaphore, {
        out.required().and(described.required())?;
        let _scope = Scope::here()?;
        cu!(external_semaphore_import(out.raw(), described.raw().cast_const()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDestroyExternalSemaphore(semaphore: usize) -> hipError_t {
    call!(hipDestroyExternalSemaphore, {
        module::required(semaphore)?;
        let _scope = Scope::here()?;
        cu!(external_semaphore_destroy(semaphore))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSignalExternalSemaphoresAsync(
    semaphores: Raw,
    parameters: Raw,
    count: c_uint,
    stream: usize,
) -> hipError_t {
    call!(hipSignalExternalSemaphoresAsync, {
        semaphores.required().and(parameters.required())?;
        let _scope = Scope::here()?;
        let (semaphores, parameters) = (semaphores.raw().cast_const(), parameters.raw().cast_const());
        cu!(external_semaphore_signal(semaphores, parameters, count, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipWaitExternalSemaphoresAsync(
    semaphores: Raw,
    parameters: Raw,
    count: c_uint,
    stream: usize,
) -> hipError_t {
    call!(hipWaitExternalSemaphoresAsync, {
        semaphores.required().and(parameters.required())?;
        let _scope = Scope::here()?;
        let (semaphores, parameters) = (semaphores.raw().cast_const(), parameters.raw().cast_const());
        cu!(external_semaphore_wait(semaphores, parameters, count, stream))
    })
}
