//! Image formats and extents of the ABI as native arrays have them.
//!
//! Pure functions: what an array can hold, what it cannot and why, and the sizes that follow. A channel order is
//! supported when the array's channels are what a kernel reads, in that order: there is no hardware that swaps them.

use ur_ffi::{
    ur_image_channel_order_t as Order, ur_image_channel_type_t as Type, ur_image_desc_t, ur_image_format_t,
    ur_mem_type_t, ur_rect_offset_t, ur_rect_region_t, ur_result_t,
};

use crate::driver::images::{ArrayShape, Channel};
use crate::driver::properties::DeviceProperties;
use crate::object::error::{Error, Result};

/// What an element of an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixel {
    /// The type of a channel in the array.
    pub channel: Channel,
    /// Channels: 1, 2 or 4.
    pub channels: u32,
    /// Whether integers stand for fractions of their largest value when they are sampled.
    pub normalized: bool,
}

impl Pixel {
    /// The element of a format.
    ///
    /// # Errors
    /// `INVALID_ENUMERATION` for a number that is no order or type; `UNSUPPORTED_IMAGE_FORMAT` with the reason.
    pub fn of(name: &str, format: &ur_image_format_t) -> Result<Self> {
        let channels = match format.channelOrder {
            Order::R => 1,
            Order::RG => 2,
            Order::RGBA => 4,
            Order::RGB | Order::RGX => return Err(unsupported(name, "arrays have 1, 2 or 4 channels")),
            order if Order::VALUES.contains(&order) => {
                let reason = format!("no channels are swapped or added when an image is read, as {order:?} needs");
                return Err(unsupported(name, &reason));
            }
            other => return Err(unknown(name, "channel order", other.0)),
        };
        let (channel, normalized) = match format.channelType {
            Type::SNORM_INT8 => (Channel::Signed8, true),
            Type::SNORM_INT16 => (Channel::Signed16, true),
            Type::UNORM_INT8 => (Channel::Unsigned8, true),
            Type::UNORM_INT16 => (Channel::Unsigned16, true),
            Type::SIGNED_INT8 => (Channel::Signed8, false),
            Type::SIGNED_INT16 => (Channel::Signed16, false),
            Type::SIGNED_INT32 => (Channel::Signed32, false),
            Type::UNSIGNED_INT8 => (Channel::Unsigned8, false),
            Type::UNSIGNED_INT16 => (Channel::Unsigned16, false),
            Type::UNSIGNED_INT32 => (Channel::Unsigned32, false),
            Type::HALF_FLOAT => (Channel::Half, false),
            Type::FLOAT => (Channel::Float, false),
            kind if Type::VALUES.contains(&kind) => {
                return Err(unsupported(name, &format!("no array packs its channels as {kind:?} does")));
            }
            other => return Err(unknown(name, "channel type", other.0)),
        };
        Ok(Self { channel, channels, normalized })
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.channel.bytes() * self.channels as usize
    }

    /// Whether sampling gives integers.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        !self.normalized && !matches!(self.channel, Channel::Half | Channel::Float)
    }
}

fn unsupported(name: &str, reason: &str) -> Error {
    Error::new(ur_result_t::ERROR_UNSUPPORTED_IMAGE_FORMAT, format!("{name}: {reason}"))
}

fn unknown(name: &str, what: &str, value: u32) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_ENUMERATION, format!("{name}: {value:#x} is no {what}"))
}

/// What a number of elements along each axis of an image is called.
const AXES: [&str; 3] = ["width", "height", "depth"];

/// The extents of an image. Layers of an array are along the third axis, as native arrays have them. The ABI, like
/// OpenCL, counts the layers of one-dimensional images along the second axis: [`Extents::exchange_axes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    /// 1, 2 or 3; 1 or 2 for one image of an array.
    pub dimensions: usize,
    /// Elements along every axis, 1 along those that the image does not have.
    pub size: [usize; 3],
    /// Whether the third axis counts layers.
    pub layered: bool,
}

impl Extents {
    /// The extents of a description.
    ///
    /// # Errors
    /// `INVALID_IMAGE_FORMAT_DESCRIPTOR` for an unknown kind, mipmap levels or samples; `INVALID_IMAGE_SIZE` for an
    /// extent of 0 and for no layers.
    pub fn of(name: &str, desc: &ur_image_desc_t) -> Result<Self> {
        let wrong = |text: String| Error::new(ur_result_t::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR, text);
        let (dimensions, size, layered) = match desc.type_ {
            ur_mem_type_t::IMAGE1D => (1, [desc.width, 1, 1], false),
            ur_mem_type_t::IMAGE2D => (2, [desc.width, desc.height, 1], false),
            ur_mem_type_t::IMAGE3D => (3, [desc.width, desc.height, desc.depth], false),
            ur_mem_type_t::IMAGE1D_ARRAY => (1, [desc.width, 1, desc.arraySize], true),
            ur_mem_type_t::IMAGE2D_ARRAY => (2, [desc.width, desc.height, desc.arraySize], true),
            other => return Err(wrong(format!("{name}: {:#x} is no kind of image that this call makes", other.0))),
        };
        if desc.numMipLevel != 0 || desc.numSamples != 0 {
            let (levels, samples) = (desc.numMipLevel, desc.numSamples);
            return Err(wrong(format!("{name}: {levels} mipmap levels and {samples} samples given; both must be 0")));
        }
        let extents = Self { dimensions, size, layered };
        if let Some(axis) = size.iter().position(|size| *size == 0) {
            let axis = extents.axis(axis);
            return Err(Error::new(ur_result_t::ERROR_INVALID_IMAGE_SIZE, format!("{name}: the {axis} is 0")));
        }
        Ok(extents)
    }

    /// What the description calls an axis.
    fn axis(&self, axis: usize) -> &'static str {
        if self.layered && axis == 2 { "arraySize" } else { AXES[axis] }
    }

    /// Turns origins and sizes of native arrays into the ABI's, and the other way around.
    fn exchange_axes<T>(&self, [x, y, z]: [T; 3]) -> [T; 3] {
        if self.layered && self.dimensions == 1 { [x, z, y] } else { [x, y, z] }
    }

    /// Refuses extents that a device does not have.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` on a device without images, `INVALID_IMAGE_SIZE` with the limit.
    pub fn check_fits(&self, name: &str, device: &DeviceProperties) -> Result<()> {
        if !device.has_images() {
            return Err(Error::unsupported("images on this device"));
        }
        let limits = match (self.dimensions, self.layered) {
            (1, false) => [device.image1d, 1, 1],
            (1, true) => [device.image1d_array[0], 1, device.image1d_array[1]],
            (2, false) => [device.image2d[0], device.image2d[1], 1],
            (2, true) => device.image2d_array,
            _ => device.image3d,
        };
        match (0..3).find(|axis| self.size[*axis] > limits[*axis]) {
            None => Ok(()),
            Some(axis) => Err(Error::new(
                ur_result_t::ERROR_INVALID_IMAGE_SIZE,
                format!(
                    "{name}: the {} of {} is more than the {} that the device takes",
                    self.axis(axis),
                    self.size[axis],
                    limits[axis]
                ),
            )),
        }
    }

    /// The native array of this extent.
    #[must_use]
    pub fn array(&self, pixel: &Pixel) -> ArrayShape {
        let has = |axis| axis < self.dimensions || self.layered && axis == 2;
        let extent = core::array::from_fn(|axis| if has(axis) { self.size[axis] } else { 0 });
        ArrayShape { extent, layered: self.layered, channel: pixel.channel, channels: pixel.channels }
    }

    /// Bytes of all elements, packed.
    ///
    /// # Errors
    /// `INVALID_IMAGE_SIZE` for more than an address can tell.
    pub fn bytes(&self, name: &str, pixel: &Pixel) -> Result<usize> {
        self.size.iter().try_fold(pixel.bytes(), |bytes, size| bytes.checked_mul(*size)).ok_or_else(|| {
            Error::new(ur_result_t::ERROR_INVALID_IMAGE_SIZE, format!("{name}: the image's size overflows"))
        })
    }
}

/// A box of elements inside an image, by the axes of [`Extents`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its first element.
    pub origin: [usize; 3],
    /// Elements along every axis.
    pub size: [usize; 3],
}

impl Region {
    /// A box of the ABI, which must lie inside.
    ///
    /// # Errors
    /// `INVALID_SIZE` for a box without elements or one that leaves the image.
    pub fn new(name: &str, image: &Extents, origin: &ur_rect_offset_t, region: &ur_rect_region_t) -> Result<Self> {
        let wrong = |text: String| Error::new(ur_result_t::ERROR_INVALID_SIZE, text);
        let (from, size) = ([origin.x, origin.y, origin.z], [region.width, region.height, region.depth]);
        let whole = image.exchange_axes(image.size);
        let (mut first, mut elements) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let word = AXES[axis];
            if size[axis] == 0 {
                return Err(wrong(format!("{name}: the region's {word} is 0; along an axis without extent it is 1")));
            }
            let inside = from[axis].checked_add(size[axis]).is_some_and(|end| end <= whole[axis] as u64);
            if !inside {
                return Err(wrong(format!(
                    "{name}: the region's {word} of {} from {} on leaves the image, which has {}",
                    size[axis], from[axis], whole[axis]
                )));
            }
            // Not above the image's, which are of the host's width.
            (first[axis], elements[axis]) = (from[axis] as usize, size[axis] as usize);
        }
        Ok(Self { origin: image.exchange_axes(first), size: image.exchange_axes(elements) })
    }

    /// All of an image.
    #[must_use]
    pub fn whole(image: &Extents) -> Self {
        Self { origin: [0; 3], size: image.size }
    }

    /// Whether both have an element in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|axis| {
            self.origin[axis] < other.origin[axis] + other.size[axis]
                && other.origin[axis] < self.origin[axis] + self.size[axis]
        })
    }
}

/// How rows and slices of a box lie in host memory. A layer is a slice; slices of one row are stepped over by that row's
/// pitch, which then is the slices'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pitches {
    /// Bytes from row to row.
    pub row: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
}

impl Pitches {
    /// The pitches given for a box, where 0 means packed.
    ///
    /// # Errors
    /// `code` for a pitch too small for what it steps over.
    pub fn new(name: &str, code: ur_result_t, size: &[usize; 3], pixel: usize, given: [usize; 2]) -> Result<Self> {
        let wrong = |text: String| Error::new(code, format!("{name}: {text}"));
        let overflow = || wrong("the pitches overflow".to_owned());
        let [row, slice] = given;
        let width = size[0].checked_mul(pixel).ok_or_else(overflow)?;
        if row != 0 && row < width {
            return Err(wrong(format!("a row pitch of {row} bytes; a row of the region has {width}")));
        }
        // A pitch that nothing is stepped over by is nobody's.
        let row = if row == 0 || size[1] == 1 && size[2] == 1 { width } else { row };
        let plane = row.checked_mul(size[1]).ok_or_else(overflow)?;
        if slice != 0 && slice < plane && size[2] > 1 {
            return Err(wrong(format!("a slice pitch of {slice} bytes; the region's rows take {plane}")));
        }
        let slice = if slice == 0 || size[2] == 1 { plane } else { slice };
        slice.checked_mul(size[2]).ok_or_else(overflow)?;
        Ok(Self { row: if size[1] == 1 { slice } else { row }, slice })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(order: Order, kind: Type) -> ur_image_format_t {
        ur_image_format_t { channelOrder: order, channelType: kind }
    }

    #[test]
    fn every_format_is_an_array_s_or_refused_with_a_reason() {
        let mut there = 0;
        for &order in Order::VALUES {
            for &kind in Type::VALUES {
                match Pixel::of("test", &format(order, kind)) {
                    Ok(pixel) => {
                        there += 1;
                        assert!([1, 2, 4].contains(&pixel.channels) && pixel.bytes() <= 16);
                    }
                    Err(error) => {
                        assert_eq!(error.code(), ur_result_t::ERROR_UNSUPPORTED_IMAGE_FORMAT, "{order:?} {kind:?}");
                    }
                }
            }
        }
        assert_eq!(there, 3 * 12, "1, 2 and 4 channels of 12 types");
        for wrong in [format(Order(99), Type::FLOAT), format(Order::R, Type(99))] {
            assert_eq!(Pixel::of("test", &wrong).unwrap_err().code(), ur_result_t::ERROR_INVALID_ENUMERATION);
        }
    }

    #[test]
    fn boxes_overlap_only_where_all_axes_do() {
        let image = Extents { dimensions: 3, size: [8, 8, 8], layered: false };
        let region = |x, y, z| {
            let (origin, size) = (ur_rect_offset_t { x, y, z }, ur_rect_region_t { width: 2, height: 2, depth: 2 });
            Region::new("test", &image, &origin, &size).unwrap()
        };
        assert!(region(0, 0, 0).overlaps(&region(1, 1, 1)) && region(3, 3, 3).overlaps(&region(3, 3, 3)));
        for other in [region(2, 0, 0), region(0, 2, 0), region(0, 0, 2), region(1, 1, 2)] {
            assert!(!region(0, 0, 0).overlaps(&other) && !other.overlaps(&region(0, 0, 0)));
        }
    }

    #[test]
    fn layers_of_lines_are_the_second_axis_of_the_abi_and_the_third_of_an_array() {
        let image = Extents { dimensions: 1, size: [8, 1, 5], layered: true };
        let region = |y, z, height, depth| {
            let (origin, size) = (ur_rect_offset_t { x: 1, y, z }, ur_rect_region_t { width: 2, height, depth });
            Region::new("test", &image, &origin, &size)
        };
        assert_eq!(region(3, 0, 2, 1).unwrap(), Region { origin: [1, 0, 3], size: [2, 1, 2] });
        for wrong in [region(3, 0, 3, 1), region(0, 3, 1, 1), region(0, 0, 1, 2), region(0, 0, 0, 1)] {
            assert_eq!(wrong.unwrap_err().code(), ur_result_t::ERROR_INVALID_SIZE);
        }
        let pixel = Pixel { channel: Channel::Float, channels: 1, normalized: false };
        let array = image.array(&pixel);
        assert_eq!((array.extent, array.layered), ([8, 0, 5], true));
    }

    #[test]
    fn rows_of_layers_that_have_one_each_lie_a_slice_apart() {
        let pitches = |given| Pitches::new("test", ur_result_t::ERROR_INVALID_SIZE, &[8, 1, 5], 4, given);
        for (given, step) in [([0, 0], 32), ([40, 0], 40), ([0, 50], 50), ([40, 50], 50)] {
            assert_eq!(pitches(given).unwrap(), Pitches { row: step, slice: step }, "{given:?}");
        }
        for wrong in [[31, 0], [0, 31], [40, 39], [usize::MAX, 0], [0, usize::MAX]] {
            assert_eq!(pitches(wrong).unwrap_err().code(), ur_result_t::ERROR_INVALID_SIZE, "{wrong:?}");
        }
    }

    #[test]
    fn a_region_that_overflows_is_refused() {
        let image = Extents { dimensions: 1, size: [8, 1, 1], layered: false };
        let (origin, size) =
            (ur_rect_offset_t { x: u64::MAX, y: 0, z: 0 }, ur_rect_region_t { width: 2, height: 1, depth: 1 });
        let error = Region::new("test", &image, &origin, &size).unwrap_err();
        assert_eq!(error.code(), ur_result_t::ERROR_INVALID_SIZE);
        let pitches = Pitches::new("test", ur_result_t::ERROR_INVALID_SIZE, &[8, 8, 8], 4, [usize::MAX / 2, 0]);
        assert_eq!(pitches.unwrap_err().code(), ur_result_t::ERROR_INVALID_SIZE);
    }
}
