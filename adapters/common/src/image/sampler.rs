//! Samplers: how a kernel reads an image between and beyond its elements.
//!
//! Neither native library has samplers. A kernel compiled from SYCL takes one as the 32 bits that [`Sampler::bits`]
//! makes; a texture, which is an image and a sampler in one, is made from [`Sampler::sampling`].

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    ur_context_handle_t, ur_native_handle_t, ur_result_t, ur_sampler_addressing_mode_t as Mode, ur_sampler_desc_t,
    ur_sampler_filter_mode_t as Filter, ur_sampler_handle_t, ur_sampler_handle_t_, ur_sampler_info_t,
    ur_sampler_native_properties_t,
};

use crate::context::Context;
use crate::driver::Driver;
use crate::driver::native_image::{Addressing, Sampling};
use crate::image::format::{Extents, Pixel};
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress, borrow, null_pointer};

/// What the sampler's handle names.
pub struct Sampler<D: Driver> {
    context: Arc<Object<Context<D>>>,
    normalized: bool,
    addressing: Mode,
    filter: Filter,
}

impl<D: Driver> Body for Sampler<D> {
    type Opaque = ur_sampler_handle_t_;
    const TAG: u32 = 0x5552_001a;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_SAMPLER;
    const NAME: &'static str = "sampler";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

/// Bit 0: normalised coordinates. Bit 1: linear filter. From bit 2 on: the addressing mode.
const FILTER_SHIFT: u32 = 1;
const ADDRESSING_SHIFT: u32 = 2;

impl<D: Driver> Sampler<D> {
    /// The sampler as kernels compiled from SYCL take it (libclc for nvptx and amdgcn take the same bits apart).
    #[must_use]
    pub fn bits(&self) -> u32 {
        u32::from(self.normalized) | self.filter.0 << FILTER_SHIFT | self.addressing.0 << ADDRESSING_SHIFT
    }

    /// The sampler that [`Sampler::bits`] are of.
    fn of_bits(name: &str, context: Arc<Object<Context<D>>>, bits: u32) -> Result<Self> {
        let (filter, addressing) = (Filter(bits >> FILTER_SHIFT & 1), Mode(bits >> ADDRESSING_SHIFT));
        check_modes(name, addressing, filter)?;
        Ok(Self { context, normalized: bits & 1 != 0, addressing, filter })
    }

    /// How a texture of an image and this sampler reads.
    ///
    /// # Errors
    /// `UNSUPPORTED_IMAGE_FORMAT` for a linear filter of integers; `INVALID_VALUE` for repetition of coordinates that
    /// are not normalised: the hardware has neither, and the native libraries take both without a word.
    pub fn sampling(&self, pixel: &Pixel, extents: &Extents) -> Result<Sampling> {
        let addressing = match self.addressing {
            Mode::CLAMP => Addressing::Border,
            Mode::REPEAT => Addressing::Wrap,
            Mode::MIRRORED_REPEAT => Addressing::Mirror,
            _ => Addressing::Clamp,
        };
        if !self.normalized && matches!(addressing, Addressing::Wrap | Addressing::Mirror) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                "a texture repeats an image for normalised coordinates alone",
            ));
        }
        let linear = self.filter == Filter::LINEAR;
        if linear && pixel.is_integer() {
            return Err(Error::new(
                // coverage: none because no API says what lies between two integers
                ur_result_t::ERROR_UNSUPPORTED_IMAGE_FORMAT,
                "a texture does not interpolate integers; take a nearest filter or a normalised format",
            ));
        }
        let addressing =
            core::array::from_fn(|axis| if axis < extents.dimensions { addressing } else { Addressing::Clamp });
        Ok(Sampling { addressing, linear, normalized: self.normalized, as_integer: pixel.is_integer() })
    }
}

fn check_modes(name: &str, addressing: Mode, filter: Filter) -> Result<()> {
    let unknown =
        |what, value| Error::new(ur_result_t::ERROR_INVALID_ENUMERATION, format!("{name}: {value:#x} is no {what}"));
    if addressing > Mode::MIRRORED_REPEAT {
        return Err(unknown("addressing mode", addressing.0));
    }
    if filter > Filter::LINEAR {
        return Err(unknown("filter mode", filter.0));
    }
    Ok(())
}

/// `urSamplerCreate`.
///
/// # Safety
/// The C contract: `desc` valid, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_ENUMERATION` for an unknown mode.
///
/// # Unsupported
/// - the structures of bindless images behind `pNext` (mipmaps, cubemaps, modes by axis) are passed over
pub unsafe fn create<D: Driver>(
    context: ur_context_handle_t,
    desc: *const ur_sampler_desc_t,
    out: *mut ur_sampler_handle_t,
) -> Result<()> {
    const NAME: &str = "urSamplerCreate";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    // The descriptor's place says what it is; clients leave its `stype` 0.
    // SAFETY: null or valid by the caller's promise.
    let Some(desc) = (unsafe { desc.as_ref() }).filter(|_| !out.is_null()) else { return Err(null_pointer(NAME)) };
    check_modes(NAME, desc.addressingMode, desc.filterMode)?;
    let sampler = Sampler {
        context: context.to_arc(),
        normalized: desc.normalizedCoords.get(),
        addressing: desc.addressingMode,
        filter: desc.filterMode,
    };
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(Object::new(sampler))) };
    Ok(())
}

/// `urSamplerGetInfo`.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property.
pub unsafe fn get_info<D: Driver>(
    sampler: ur_sampler_handle_t,
    property: ur_sampler_info_t,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (sampler, writer) =
        unsafe { (borrow::<Sampler<D>>(sampler)?, InfoWriter::new("urSamplerGetInfo", size, value, size_out)?) };
    match property {
        ur_sampler_info_t::REFERENCE_COUNT => writer.value(sampler.references()),
        ur_sampler_info_t::CONTEXT => writer.value(sampler.context.handle()),
        ur_sampler_info_t::NORMALIZED_COORDS => writer.boolean(sampler.normalized),
        ur_sampler_info_t::ADDRESSING_MODE => writer.value(sampler.addressing),
        ur_sampler_info_t::FILTER_MODE => writer.value(sampler.filter),
        _ => writer.unknown(property.0),
    }
}

/// `urSamplerGetNativeHandle`: what a kernel takes, since there is no native object.
///
/// # Safety
/// The C contract: the handle is live, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
pub unsafe fn get_native_handle<D: Driver>(sampler: ur_sampler_handle_t, out: *mut ur_native_handle_t) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let sampler = unsafe { borrow::<Sampler<D>>(sampler) }?;
    if out.is_null() {
        return Err(null_pointer("urSamplerGetNativeHandle"));
    }
    // SAFETY: not null, so writable.
    unsafe { out.write(sampler.bits() as ur_native_handle_t) };
    Ok(())
}

/// `urSamplerCreateWithNativeHandle`: of the bits that [`get_native_handle`] gives. There is nothing to own.
///
/// # Safety
/// The C contract: `properties` null or valid, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_ENUMERATION` for bits that no sampler has.
pub unsafe fn create_with_native_handle<D: Driver>(
    native: ur_native_handle_t,
    context: ur_context_handle_t,
    _properties: *const ur_sampler_native_properties_t,
    out: *mut ur_sampler_handle_t,
) -> Result<()> {
    const NAME: &str = "urSamplerCreateWithNativeHandle";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    let bits = u32::try_from(native).unwrap_or(u32::MAX);
    let sampler = Sampler::of_bits(NAME, context.to_arc(), bits)?;
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(Object::new(sampler))) };
    Ok(())
}
