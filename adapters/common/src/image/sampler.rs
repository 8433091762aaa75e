//! Samplers: how a kernel reads an image between and beyond its elements.
//!
//! Neither native library has samplers. A kernel compiled from SYCL takes one as the 32 bits that [`Sampler::bits`]
//! makes; a texture, which is an image and a sampler in one, is made from [`Sampler::sampling`].

use std::sync::Arc;

use ur_ffi::{
    ur_native_handle_t, ur_result_t, ur_sampler_addressing_mode_t as Mode, ur_sampler_desc_t,
    ur_sampler_filter_mode_t as Filter, ur_sampler_handle_t, ur_sampler_handle_t_, ur_sampler_info_t,
    ur_sampler_native_properties_t,
};

use crate::context::Context;
use crate::driver::Driver;
use crate::driver::images::{Addressing, Sampling};
use crate::image::format::{Extents, Pixel};
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::params::{self, Out};
use crate::object::{Body, Object, TableAddress};

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
    fn of_bits(context: Arc<Object<Context<D>>>, bits: u32) -> Result<Self> {
        let (filter, addressing) = (Filter(bits >> FILTER_SHIFT & 1), Mode(bits >> ADDRESSING_SHIFT));
        params::enumeration(
            "urSamplerCreateWithNativeHandle: the addressing mode in hNativeSampler",
            addressing.0,
            Mode::MIRRORED_REPEAT.0,
        )?;
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
                ur_result_t::ERROR_UNSUPPORTED_IMAGE_FORMAT,
                "a texture does not interpolate integers; take a nearest filter or a normalised format",
            ));
        }
        let addressing =
            core::array::from_fn(|axis| if axis < extents.dimensions { addressing } else { Addressing::Clamp });
        Ok(Sampling { addressing, linear, normalized: self.normalized, as_integer: pixel.is_integer() })
    }
}

/// `urSamplerCreate`.
///
/// # Errors
/// None.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    desc: &ur_sampler_desc_t,
    out: Out<'_, ur_sampler_handle_t>,
) -> Result<()> {
    // The parameter's position says what the structure is; clients leave its `stype` 0.
    let sampler = Sampler {
        context: context.to_arc(),
        normalized: desc.normalizedCoords.get(),
        addressing: desc.addressingMode,
        filter: desc.filterMode,
    };
    out.write_object(Object::new(sampler));
    Ok(())
}

/// `urSamplerGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    sampler: &Object<Sampler<D>>,
    property: ur_sampler_info_t,
    writer: InfoWriter,
) -> Result<()> {
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
/// # Errors
/// None.
pub fn get_native_handle<D: Driver>(sampler: &Object<Sampler<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(sampler.bits() as ur_native_handle_t);
    Ok(())
}

/// `urSamplerCreateWithNativeHandle`: of the bits that [`get_native_handle`] gives. There is nothing to own.
///
/// # Errors
/// `INVALID_ENUMERATION` for bits that no sampler has.
pub fn create_with_native_handle<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    _properties: Option<&ur_sampler_native_properties_t>,
    out: Out<'_, ur_sampler_handle_t>,
) -> Result<()> {
    let bits = u32::try_from(native).unwrap_or(u32::MAX);
    let sampler = Sampler::of_bits(context.to_arc(), bits)?;
    out.write_object(Object::new(sampler));
    Ok(())
}
