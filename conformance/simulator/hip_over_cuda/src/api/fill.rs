//! Fills.
//!
//! Those without a stream are in the order of the null stream. Nothing to fill is no error, whatever the address.

use core::ffi::{c_int, c_uchar, c_uint, c_ushort};

use crate::args::Raw;
use crate::current::Scope;
use crate::guard::call;
use crate::sys::status::*;

/// The byte that C passes in an `int`.
fn byte(value: c_int) -> u8 {
    value.to_ne_bytes()[if cfg!(target_endian = "little") { 0 } else { 3 }]
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemset(to: Raw, value: c_int, size: usize) -> hipError_t {
    call!(hipMemset, {
        let _scope = Scope::here()?;
        if size == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill8(to.address(), byte(value), size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD8(to: Raw, value: c_uchar, count: usize) -> hipError_t {
    call!(hipMemsetD8, {
        let _scope = Scope::here()?;
        if count == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill8(to.address(), value, count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD16(to: Raw, value: c_ushort, count: usize) -> hipError_t {
    call!(hipMemsetD16, {
        let _scope = Scope::here()?;
        if count == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill16(to.address(), value, count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD32(to: Raw, value: c_int, count: usize) -> hipError_t {
    call!(hipMemsetD32, {
        let _scope = Scope::here()?;
        if count == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill32(to.address(), value.cast_unsigned(), count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemset2D(to: Raw, pitch: usize, value: c_int, width: usize, height: usize) -> hipError_t {
    call!(hipMemset2D, {
        let _scope = Scope::here()?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d8(to.address(), pitch, byte(value), width, height))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD2D8(to: Raw, pitch: usize, value: c_uchar, width: usize, height: usize) -> hipError_t {
    call!(hipMemsetD2D8, {
        let _scope = Scope::here()?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d8(to.address(), pitch, value, width, height))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD2D16(to: Raw, pitch: usize, value: c_ushort, width: usize, height: usize) -> hipError_t {
    call!(hipMemsetD2D16, {
        let _scope = Scope::here()?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d16(to.address(), pitch, value, width, height))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD2D32(to: Raw, pitch: usize, value: c_uint, width: usize, height: usize) -> hipError_t {
    call!(hipMemsetD2D32, {
        let _scope = Scope::here()?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d32(to.address(), pitch, value, width, height))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetAsync(to: Raw, value: c_int, size: usize, stream: usize) -> hipError_t {
    call!(hipMemsetAsync, {
        let _scope = Scope::for_stream(stream)?;
        if size == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill8_async(to.address(), byte(value), size, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD8Async(to: Raw, value: c_uchar, count: usize, stream: usize) -> hipError_t {
    call!(hipMemsetD8Async, {
        let _scope = Scope::for_stream(stream)?;
        if count == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill8_async(to.address(), value, count, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD16Async(to: Raw, value: c_ushort, count: usize, stream: usize) -> hipError_t {
    call!(hipMemsetD16Async, {
        let _scope = Scope::for_stream(stream)?;
        if count == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill16_async(to.address(), value, count, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD32Async(to: Raw, value: c_int, count: usize, stream: usize) -> hipError_t {
    call!(hipMemsetD32Async, {
        let _scope = Scope::for_stream(stream)?;
        if count == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill32_async(to.address(), value.cast_unsigned(), count, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemset2DAsync(
    to: Raw,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    stream: usize,
) -> hipError_t {
    call!(hipMemset2DAsync, {
        let _scope = Scope::for_stream(stream)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d8_async(to.address(), pitch, byte(value), width, height, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD2D8Async(
    to: Raw,
    pitch: usize,
    value: c_uchar,
    width: usize,
    height: usize,
    stream: usize,
) -> hipError_t {
    call!(hipMemsetD2D8Async, {
        let _scope = Scope::for_stream(stream)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d8_async(to.address(), pitch, value, width, height, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD2D16Async(
    to: Raw,
    pitch: usize,
    value: c_ushort,
    width: usize,
    height: usize,
    stream: usize,
) -> hipError_t {
    call!(hipMemsetD2D16Async, {
        let _scope = Scope::for_stream(stream)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d16_async(to.address(), pitch, value, width, height, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD2D32Async(
    to: Raw,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
    stream: usize,
) -> hipError_t {
    call!(hipMemsetD2D32Async, {
        let _scope = Scope::for_stream(stream)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        to.required()?;
        cu!(fill2d32_async(to.address(), pitch, value, width, height, stream))
    })
}
