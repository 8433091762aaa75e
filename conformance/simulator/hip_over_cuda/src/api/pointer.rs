//! Questions about pointers.

use core::ffi::{c_int, c_uint, c_void};

use crate::args::{In, Out, Raw};
use crate::guard::call;
use crate::sys::layout::hipPointerAttribute_t;
use crate::sys::status::*;
use crate::sys::value::enumerator::{
    HIP_POINTER_ATTRIBUTE_CONTEXT, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
};
use crate::{device, memory};

/// By ROCm 7's rule a null place for the answer is no error either.
#[unsafe(no_mangle)]
pub extern "C" fn hipPointerGetAttributes(out: Out<hipPointerAttribute_t>, pointer: Raw) -> hipError_t {
    call!(hipPointerGetAttributes, {
        out.put_if(memory::attributes(pointer.address())?);
        Ok(())
    })
}

/// Writes one attribute. All have CUDA's numbers and types; two have values of HIP's own.
fn attribute(data: Raw, attribute: c_int, address: usize) -> Result {
    data.required()?;
    device::all()?;
    match attribute {
        HIP_POINTER_ATTRIBUTE_CONTEXT => {
            let known = memory::known(address)?.ok_or(hipErrorInvalidValue)?;
            data.put(device::get(known.device).map_err(|_| hipErrorInvalidValue)?.handle())
        }
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => data.put(memory::known(address)?.ok_or(hipErrorInvalidValue)?.memory),
        3..=HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => {
            cu!(pointer_attribute(data.raw(), attribute, address))
        }
        _ => Err(hipErrorInvalidValue),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipPointerGetAttribute(data: Raw, wanted: c_int, pointer: Raw) -> hipError_t {
    call!(hipPointerGetAttribute, { attribute(data, wanted, pointer.address()) })
}

/// Answers all that there are answers to; the places of the others are left alone.
#[unsafe(no_mangle)]
pub extern "C" fn hipDrvPointerGetAttributes(
    count: c_uint,
    wanted: In<c_int>,
    data: In<*mut c_void>,
    pointer: Raw,
) -> hipError_t {
    call!(hipDrvPointerGetAttributes, {
        let wanted = wanted.list(count as usize)?;
        let places = data.list(count as usize)?;
        for (number, place) in wanted.into_iter().zip(places) {
            // SAFETY: the caller gave this address for this attribute.
            let place = unsafe { Raw::of(place) };
            let _ = attribute(place, number, pointer.address());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipPointerSetAttribute(value: Raw, attribute: c_int, pointer: Raw) -> hipError_t {
    call!(hipPointerSetAttribute, {
        value.required()?;
        device::all()?;
        cu!(pointer_set_attribute(value.raw().cast_const(), attribute, pointer.address()))
    })
}

/// Works for any device's memory, whichever device is current. Of registered memory AMD's runtime tells no start: it answers the
/// place where it keeps what it allocated itself, which such memory has none of.
#[unsafe(no_mangle)]
pub extern "C" fn hipMemGetAddressRange(base: Out<usize>, size: Out<usize>, pointer: Raw) -> hipError_t {
    call!(hipMemGetAddressRange, {
        device::all()?;
        let known = memory::known(pointer.address())?.ok_or(hipErrorNotFound)?;
        base.put_if(if memory::is_registered(pointer.address()) { 0 } else { known.base });
        size.put_if(known.size);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPtrGetInfo(pointer: Raw, size: Out<usize>) -> hipError_t {
    call!(hipMemPtrGetInfo, {
        size.required()?;
        pointer.required()?;
        device::all()?;
        size.put(memory::known(pointer.address())?.ok_or(hipErrorInvalidValue)?.size)
    })
}
