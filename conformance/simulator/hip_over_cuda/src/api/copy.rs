//! Copies.
//!
//! A direction is checked and otherwise a hint. Copies without a stream wait for their end; those of host memory that
//! the driver does not know behave as CUDA's do.

use core::ffi::c_int;

use crate::args::{In, Raw};
use crate::current::Scope;
use crate::guard::call;
use crate::sys::layout::{HIP_MEMCPY3D, hip_Memcpy2D};
use crate::sys::status::*;
use crate::{copy, device};

fn copy_now(to: Raw, from: Raw, size: usize) -> Result {
    let _scope = Scope::here()?;
    if !copy::is_needed(to.address(), from.address(), size)? {
        return Ok(());
    }
    cu!(copy(to.address(), from.address(), size))
}

fn copy_in_stream(to: Raw, from: Raw, size: usize, stream: usize) -> Result {
    let _scope = Scope::for_stream(stream)?;
    if !copy::is_needed(to.address(), from.address(), size)? {
        return Ok(());
    }
    let copied = cu!(copy_async(to.address(), from.address(), size, stream));
    if copied != Err(hipErrorInvalidValue) {
        return copied;
    }
    // Over the border of two mappings CUDA copies with a context current alone; HIP does anyway.
    let _scope = Scope::here()?;
    cu!(copy_async(to.address(), from.address(), size, stream))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpy(to: Raw, from: Raw, size: usize, kind: c_int) -> hipError_t {
    call!(hipMemcpy, {
        copy::check_kind(kind)?;
        copy_now(to, from, size)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyAsync(to: Raw, from: Raw, size: usize, kind: c_int, stream: usize) -> hipError_t {
    call!(hipMemcpyAsync, {
        copy::check_kind(kind)?;
        copy_in_stream(to, from, size, stream)
    })
}

/// In the stream's order, and waits for the end.
#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyWithStream(to: Raw, from: Raw, size: usize, kind: c_int, stream: usize) -> hipError_t {
    call!(hipMemcpyWithStream, {
        copy::check_kind(kind)?;
        copy_in_stream(to, from, size, stream)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(stream_synchronize(stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyHtoD(to: Raw, from: Raw, size: usize) -> hipError_t {
    call!(hipMemcpyHtoD, {
        let _scope = Scope::here()?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_to_device(to.address(), from.raw().cast_const(), size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyHtoDAsync(to: Raw, from: Raw, size: usize, stream: usize) -> hipError_t {
    call!(hipMemcpyHtoDAsync, {
        let _scope = Scope::for_stream(stream)?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_to_device_async(to.address(), from.raw().cast_const(), size, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyDtoH(to: Raw, from: Raw, size: usize) -> hipError_t {
    call!(hipMemcpyDtoH, {
        let _scope = Scope::here()?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_to_host(to.raw(), from.address(), size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyDtoHAsync(to: Raw, from: Raw, size: usize, stream: usize) -> hipError_t {
    call!(hipMemcpyDtoHAsync, {
        let _scope = Scope::for_stream(stream)?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_to_host_async(to.raw(), from.address(), size, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyDtoD(to: Raw, from: Raw, size: usize) -> hipError_t {
    call!(hipMemcpyDtoD, {
        let _scope = Scope::here()?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_on_device(to.address(), from.address(), size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyDtoDAsync(to: Raw, from: Raw, size: usize, stream: usize) -> hipError_t {
    call!(hipMemcpyDtoDAsync, {
        let _scope = Scope::for_stream(stream)?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_on_device_async(to.address(), from.address(), size, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyPeer(to: Raw, to_device: c_int, from: Raw, from_device: c_int, size: usize) -> hipError_t {
    call!(hipMemcpyPeer, {
        let (there, here) = (device::get(to_device)?.context()?, device::get(from_device)?.context()?);
        let _scope = Scope::here()?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_peer(to.address(), there, from.address(), here, size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyPeerAsync(
    to: Raw,
    to_device: c_int,
    from: Raw,
    from_device: c_int,
    size: usize,
    stream: usize,
) -> hipError_t {
    call!(hipMemcpyPeerAsync, {
        let (there, here) = (device::get(to_device)?.context()?, device::get(from_device)?.context()?);
        let _scope = Scope::for_stream(stream)?;
        if !copy::is_needed(to.address(), from.address(), size)? {
            return Ok(());
        }
        cu!(copy_peer_async(to.address(), there, from.address(), here, size, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpy2D(
    to: Raw,
    to_pitch: usize,
    from: Raw,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> hipError_t {
    call!(hipMemcpy2D, {
        copy::check_kind(kind)?;
        let _scope = Scope::here()?;
        let to = (to.address(), to_pitch);
        let from = (from.address(), from_pitch);
        let Some(rows) = copy::rows(to, from, width, height)? else { return Ok(()) };
        cu!(copy_2d(&raw const rows))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyParam2D(description: In<hip_Memcpy2D>) -> hipError_t {
    call!(hipMemcpyParam2D, {
        let rows = copy::described_rows(&description.get()?)?;
        let _scope = Scope::here()?;
        cu!(copy_2d(&raw const rows))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvMemcpy3D(description: In<HIP_MEMCPY3D>) -> hipError_t {
    call!(hipDrvMemcpy3D, {
        let whole = copy::described_box(&description.get()?)?;
        let _scope = Scope::here()?;
        cu!(copy_3d(&raw const whole))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpy2DAsync(
    to: Raw,
    to_pitch: usize,
    from: Raw,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    stream: usize,
) -> hipError_t {
    call!(hipMemcpy2DAsync, {
        copy::check_kind(kind)?;
        let _scope = Scope::here()?;
        let to = (to.address(), to_pitch);
        let from = (from.address(), from_pitch);
        let Some(rows) = copy::rows(to, from, width, height)? else { return Ok(()) };
        cu!(copy_2d_async(&raw const rows, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyParam2DAsync(description: In<hip_Memcpy2D>, stream: usize) -> hipError_t {
    call!(hipMemcpyParam2DAsync, {
        let rows = copy::described_rows(&description.get()?)?;
        let _scope = Scope::here()?;
        cu!(copy_2d_async(&raw const rows, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvMemcpy3DAsync(description: In<HIP_MEMCPY3D>, stream: usize) -> hipError_t {
    call!(hipDrvMemcpy3DAsync, {
        let whole = copy::described_box(&description.get()?)?;
        let _scope = Scope::here()?;
        cu!(copy_3d_async(&raw const whole, stream))
    })
}
