//! Images as memory objects: creating them, wrapping native arrays, and what an image alone answers to queries.
//!
//! What every memory object has is in [`crate::memory_object`], what an image does in [`crate::image::object`].

use ur_ffi::{
    ur_image_desc_t, ur_image_format_t, ur_image_info_t, ur_mem_flags_t, ur_mem_handle_t, ur_mem_native_properties_t,
    ur_native_handle_t, ur_result_t, ur_structure_type_t,
};

use crate::context::{Context, DeviceState};
use crate::driver::Driver;
use crate::driver::images::Array;
use crate::image::contents::Contents;
use crate::image::format::{Extents, Pitches, Pixel};
use crate::image::object::Image;
use crate::memory_object::{Mem, MemBody, check_host_flags};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::params::{Address, Out};

/// The image that a format and a description ask for, checked.
struct RequestedImage {
    format: ur_image_format_t,
    pixel: Pixel,
    extents: Extents,
    pitches: [usize; 2],
}

impl RequestedImage {
    fn new<D: Driver>(
        name: &str,
        context: &Context<D>,
        format: &ur_image_format_t,
        desc: &ur_image_desc_t,
    ) -> Result<Self> {
        // The parameter's position says what the structure is, and clients leave its `stype` 0; another one is a mistake.
        if !matches!(desc.stype, ur_structure_type_t::IMAGE_DESC | ur_structure_type_t(0)) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                format!("{name}: pImageDesc has the stype {:#x}; give UR_STRUCTURE_TYPE_IMAGE_DESC", desc.stype.0),
            ));
        }
        let (extents, pixel) = (Extents::of(name, desc)?, Pixel::of(name, format)?);
        context.devices().try_for_each(|device| extents.check_fits(name, &device.properties))?;
        extents.bytes(name, &pixel)?;
        Ok(Self { format: *format, pixel, extents, pitches: [desc.rowPitch, desc.slicePitch] })
    }

    /// The host's elements.
    fn contents<D: Driver>(
        &self,
        name: &str,
        state: &DeviceState<D>,
        host: Option<Address>,
    ) -> Result<Option<Contents<D>>> {
        const WRONG: ur_result_t = ur_result_t::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR;
        let Some(host) = host else {
            if self.pitches != [0, 0] {
                return Err(Error::new(WRONG, format!("{name}: pitches are of host memory, and pHost is null")));
            }
            return Ok(None);
        };
        let (size, element) = (&self.extents.size, self.pixel.bytes());
        let pitches = Pitches::new(name, WRONG, size, element, self.pitches)?;
        Contents::packed(&state.native, host, pitches, [size[0] * element, size[1], size[2]]).map(Some)
    }
}

/// `urMemImageCreate`. Contents are taken from `host` now, with either of the flags that name host memory.
///
/// # Errors
/// `INVALID_VALUE` and `INVALID_HOST_PTR` for the flags; `INVALID_IMAGE_FORMAT_DESCRIPTOR`, `INVALID_IMAGE_SIZE`,
/// `UNSUPPORTED_IMAGE_FORMAT`; `UNSUPPORTED_FEATURE` on devices without images; what the native library answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    flags: ur_mem_flags_t,
    format: &ur_image_format_t,
    desc: &ur_image_desc_t,
    host: Option<Address>,
    out: Out<'_, ur_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urMemImageCreate";
    check_host_flags(NAME, flags, host.is_some())?;
    let requested = RequestedImage::new(NAME, context, format, desc)?;
    let first = context.first_state()?;
    let contents = requested.contents(NAME, &first, host)?;
    let image = Image::new(context.to_arc(), requested.format, requested.pixel, requested.extents, contents);
    if context.devices().count() == 1 {
        // Nobody else can be the first to use it, so the array is made where its failure is best understood.
        image.prepare(&first)?;
    }
    out.write_new(Mem { flags, body: MemBody::Image(Box::new(image)) });
    Ok(())
}

/// `urMemImageCreateWithNativeHandle`: the native handle is a `CUarray` or `hipArray_t` of the context's device.
///
/// # Errors
/// As [`create`]; `INVALID_NULL_HANDLE` for no array, `UNSUPPORTED_FEATURE` for a context of several devices, since
/// nobody can say whose the array is.
pub fn create_with_native_handle<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    format: &ur_image_format_t,
    desc: &ur_image_desc_t,
    properties: Option<&ur_mem_native_properties_t>,
    out: Out<'_, ur_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urMemImageCreateWithNativeHandle";
    if native == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_NULL_HANDLE, format!("{NAME}: the native array is null")));
    }
    let requested = RequestedImage::new(NAME, context, format, desc)?;
    if requested.pitches != [0, 0] {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            format!("{NAME}: an array has no pitches; give 0"),
        ));
    }
    if context.devices().count() != 1 {
        return Err(Error::unsupported("a native array in a context of several devices"));
    }
    // SAFETY: the manual wants the array of that format and shape, alive as long as the image, or given away with this call.
    let array = unsafe { Array::from_value(native) };
    let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
    let flags = ur_mem_flags_t::READ_WRITE;
    let state = context.first_state()?;
    let image = Image::new(context.to_arc(), requested.format, requested.pixel, requested.extents, None);
    image.adopt(state, array, owned);
    out.write_new(Mem { flags, body: MemBody::Image(Box::new(image)) });
    Ok(())
}

/// `urMemImageGetInfo`. Pitches are those of packed host memory.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_image_info<D: Driver>(mem: &Object<Mem<D>>, property: ur_image_info_t, writer: InfoWriter) -> Result<()> {
    let image = mem.image()?;
    let Extents { dimensions, size: [width, height, depth], layered } = image.extents;
    let of = |there: bool, value: usize| if there { value } else { 0 };
    let row = width * image.pixel.bytes();
    match property {
        ur_image_info_t::FORMAT => writer.value(image.format),
        ur_image_info_t::ELEMENT_SIZE => writer.value(image.pixel.bytes()),
        ur_image_info_t::ROW_PITCH => writer.value(row),
        ur_image_info_t::SLICE_PITCH => writer.value(of(dimensions == 3 || layered, row * height)),
        ur_image_info_t::WIDTH => writer.value(width),
        ur_image_info_t::HEIGHT => writer.value(of(dimensions >= 2, height)),
        ur_image_info_t::DEPTH => writer.value(of(dimensions == 3, depth)),
        ur_image_info_t::ARRAY_SIZE => writer.value(of(layered, depth)),
        ur_image_info_t::NUM_MIP_LEVELS | ur_image_info_t::NUM_SAMPLES => writer.value(0u32),
        _ => writer.unknown(property.0),
    }
}
