//! Device, host and managed memory.

use core::ffi::c_uint;

use crate::args::{Out, Raw};
use crate::current::Scope;
use crate::guard::call;
use crate::sys::status::*;
use crate::sys::value::flag::{hipDeviceMallocDefault, hipDeviceMallocFinegrained, hipMallocSignalMemory};
use crate::sys::value::flag7::{hipDeviceMallocContiguous, hipDeviceMallocUncached};
use crate::{device, memory, pool};

#[unsafe(no_mangle)]
pub extern "C" fn hipMalloc(out: Out<usize>, size: usize) -> hipError_t {
    call!(hipMalloc, {
        out.required()?;
        out.put(memory::allocate(size)?)
    })
}

/// The flags choose caching on AMD's GPUs; here all device memory is alike.
#[unsafe(no_mangle)]
pub extern "C" fn hipExtMallocWithFlags(out: Out<usize>, size: usize, flags: c_uint) -> hipError_t {
    call!(hipExtMallocWithFlags, {
        out.required()?;
        match flags {
            hipDeviceMallocDefault
            | hipDeviceMallocFinegrained
            | hipDeviceMallocUncached
            | hipDeviceMallocContiguous => out.put(memory::allocate(size)?),
            hipMallocSignalMemory if size == size_of::<u64>() => out.put(memory::allocate(size)?),
            _ => Err(hipErrorInvalidValue),
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFree(pointer: Raw) -> hipError_t {
    call!(hipFree, {
        device::all()?;
        match pointer.address() {
            0 => Ok(()),
            address if pool::free_now(address)? => Ok(()),
            address => cu!(memory_free(address)),
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostMalloc(out: Out<usize>, size: usize, flags: c_uint) -> hipError_t {
    call!(hipHostMalloc, {
        out.required()?;
        out.put(memory::allocate_host(size, flags)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostAlloc(out: Out<usize>, size: usize, flags: c_uint) -> hipError_t {
    call!(hipHostAlloc, {
        out.required()?;
        out.put(memory::allocate_host(size, flags)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMallocHost(out: Out<usize>, size: usize) -> hipError_t {
    call!(hipMallocHost, {
        out.required()?;
        out.put(memory::allocate_host(size, 0)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAllocHost(out: Out<usize>, size: usize) -> hipError_t {
    call!(hipMemAllocHost, {
        out.required()?;
        out.put(memory::allocate_host(size, 0)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostFree(pointer: Raw) -> hipError_t {
    call!(hipHostFree, { memory::free_host(pointer.address()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFreeHost(pointer: Raw) -> hipError_t {
    call!(hipFreeHost, { memory::free_host(pointer.address()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostGetDevicePointer(out: Out<usize>, host: Raw, flags: c_uint) -> hipError_t {
    call!(hipHostGetDevicePointer, {
        out.required()?;
        host.required()?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        if memory::is_apart(host.address()) {
            return out.put(host.address() + memory::APART);
        }
        let _scope = Scope::here()?;
        cu!(memory_device_pointer(out.raw(), host.address(), 0))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostGetFlags(flags: Out<c_uint>, host: Raw) -> hipError_t {
    call!(hipHostGetFlags, {
        flags.required()?;
        flags.put(memory::host_flags(host.address()).ok_or(hipErrorInvalidValue)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostRegister(host: Raw, size: usize, flags: c_uint) -> hipError_t {
    call!(hipHostRegister, { memory::register(host.address(), size, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostUnregister(host: Raw) -> hipError_t {
    call!(hipHostUnregister, {
        host.required()?;
        memory::unregister(host.address())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMallocManaged(out: Out<usize>, size: usize, flags: c_uint) -> hipError_t {
    call!(hipMallocManaged, {
        out.required()?;
        out.put(memory::allocate_managed(size, flags)?)
    })
}

fn allocate_pitch(out: &Out<usize>, pitch: &Out<usize>, width: usize, height: usize, element: c_uint) -> Result {
    out.required().and(pitch.required())?;
    let (address, bytes) = memory::allocate_pitch(width, height, element)?;
    out.put(address)?;
    pitch.put(bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMallocPitch(out: Out<usize>, pitch: Out<usize>, width: usize, height: usize) -> hipError_t {
    /// The least that CUDA takes; the pitch then suits every element.
    const ELEMENT: c_uint = 4;
    call!(hipMallocPitch, { allocate_pitch(&out, &pitch, width, height, ELEMENT) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAllocPitch(
    out: Out<usize>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: c_uint,
) -> hipError_t {
    call!(hipMemAllocPitch, { allocate_pitch(&out, &pitch, width, height, element) })
}
