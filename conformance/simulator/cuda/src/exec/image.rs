//! Images as kernels see them: textures with their filters and coordinates, surfaces with their bytes.
//!
//! The arithmetic is the hardware's as the CUDA programming guide states it: nearest elements by the floor of the
//! coordinate, linear weights with 8 fractional bits, repetition and mirroring of normalised coordinates alone.
//! Whoever launches says through [`Memory`](super::Memory) what a handle is and which addresses may be touched.

use super::math::half::Half;

/// The type of a channel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, unsigned.
    U32,
    /// 8 bits, signed.
    S8,
    /// 16 bits, signed.
    S16,
    /// 32 bits, signed.
    S32,
    /// Half precision.
    Half,
    /// Single precision.
    Float,
}

impl Channel {
    /// Bytes.
    pub fn bytes(self) -> usize {
        match self {
            Channel::U8 | Channel::S8 => 1,
            Channel::U16 | Channel::S16 | Channel::Half => 2,
            Channel::U32 | Channel::S32 | Channel::Float => 4,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Channel::Half | Channel::Float)
    }

    /// The integer that a texture gives for a channel's bits.
    fn integer(self, bits: u32) -> u32 {
        match self {
            Channel::S8 => bits as i8 as i32 as u32,
            Channel::S16 => bits as i16 as i32 as u32,
            _ => bits,
        }
    }

    /// The number that a texture gives for a channel's bits: integers are fractions of their largest value.
    fn number(self, bits: u32) -> f64 {
        match self {
            Channel::U8 => f64::from(bits) / 255.0,
            Channel::U16 => f64::from(bits) / 65535.0,
            Channel::U32 => f64::from(bits) / f64::from(u32::MAX),
            Channel::S8 => (f64::from(bits as i8) / 127.0).max(-1.0),
            Channel::S16 => (f64::from(bits as i16) / 32767.0).max(-1.0),
            Channel::S32 => (f64::from(bits as i32) / f64::from(i32::MAX)).max(-1.0),
            Channel::Half => Half::F16.value(bits as u16),
            Channel::Float => f64::from(f32::from_bits(bits)),
        }
    }
}

/// Where elements lie: packed, row by row, slice by slice or layer by layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texels {
    /// Address of the first.
    pub base: u64,
    /// Elements along each axis, 1 where there is none. Layers are along the third.
    pub extent: [u32; 3],
    /// 1, 2 or 3; 1 or 2 of a layer.
    pub dimensions: u8,
    /// Whether the third axis counts layers.
    pub layered: bool,
    /// The type of each channel.
    pub channel: Channel,
    /// Channels of an element.
    pub channels: u8,
}

impl Texels {
    /// Bytes of an element.
    pub fn element(&self) -> u64 {
        self.channel.bytes() as u64 * u64::from(self.channels)
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        self.element() * u64::from(self.extent[0])
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.row_bytes() * u64::from(self.extent[1]) * u64::from(self.extent[2])
    }

    /// What `txq` and `suq` tell of an axis: of those that there are not, textures alone have a height of 1. The fourth
    /// is the number of layers.
    pub(super) fn told(&self, axis: usize, of_surface: bool) -> u32 {
        if axis == 3 {
            return if self.layered { self.extent[2] } else { 0 };
        }
        let there = axis < usize::from(self.dimensions) || axis == 1 && !of_surface;
        if there { self.extent[axis] } else { 0 }
    }

    /// The address of the byte `x` of a row.
    pub fn address(&self, x: u64, y: u64, z: u64) -> u64 {
        self.base + (z * u64::from(self.extent[1]) + y) * self.row_bytes() + x
    }
}

/// What happens to coordinates outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// They wrap around, if normalised; else the nearest element.
    Wrap,
    /// The nearest element.
    Clamp,
    /// They are mirrored, if normalised; else the nearest element.
    Mirror,
    /// Zeros.
    Border,
}

/// A texture object.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// The elements.
    pub texels: Texels,
    /// For each axis.
    pub addressing: [Addressing; 3],
    /// Whether elements are interpolated, which integers never are.
    pub linear: bool,
    /// Whether coordinates go from 0 to 1.
    pub normalized: bool,
    /// Whether integers are read as they are.
    pub as_integer: bool,
}

/// A surface object.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    /// The elements.
    pub texels: Texels,
}

/// The elements that one coordinate selects along an axis, and the second one's weight in 256ths. `None` is the border.
struct Pick {
    at: [Option<u64>; 2],
    weight: u32,
}

fn index(addressing: Addressing, i: i64, n: i64) -> Option<u64> {
    let inside = match addressing {
        Addressing::Clamp => i.clamp(0, n - 1),
        Addressing::Wrap => i.rem_euclid(n),
        Addressing::Mirror => {
            let turn = i.rem_euclid(2 * n);
            if turn < n { turn } else { 2 * n - 1 - turn }
        }
        Addressing::Border => i,
    };
    (0..n).contains(&inside).then_some(inside as u64)
}

impl Texture {
    fn mode(&self, axis: usize) -> Addressing {
        match self.addressing[axis] {
            Addressing::Wrap | Addressing::Mirror if !self.normalized => Addressing::Clamp,
            mode => mode,
        }
    }

    fn is_linear(&self) -> bool {
        self.linear && (!self.as_integer || self.texels.channel.is_float())
    }

    fn pick(&self, axis: usize, coordinate: f32) -> Pick {
        let n = i64::from(self.texels.extent[axis]);
        let scaled = if self.normalized { f64::from(coordinate) * n as f64 } else { f64::from(coordinate) };
        // No number is no place; the hardware takes it for 0. What is far away saturates in the cast.
        let scaled = if scaled.is_nan() { 0.0 } else { scaled };
        if !self.is_linear() {
            return Pick { at: [index(self.mode(axis), scaled.floor() as i64, n), None], weight: 0 };
        }
        let between = scaled - 0.5;
        let first = between.floor();
        let weight = ((between - first) * 256.0 + 0.5).floor() as u32;
        let first = (first as i64).clamp(i64::MIN / 4, i64::MAX / 4);
        Pick { at: [index(self.mode(axis), first, n), index(self.mode(axis), first + 1, n)], weight }
    }

    /// An element by its number: outside there are zeros whatever the address mode, and an array of one dimension is
    /// not read so at all.
    fn exactly(&self, axis: usize, coordinate: i32) -> Pick {
        let there = index(Addressing::Border, coordinate.into(), self.texels.extent[axis].into());
        Pick { at: [there.filter(|_| self.texels.dimensions > 1), None], weight: 0 }
    }

    /// The four channels at a place of a layer, each as the 32 bits of an integer or a float. `read` gives a channel's
    /// bits. A layer that there is not is the last one.
    pub(super) fn sample(&self, at: Place, dimensions: usize, layer: u32, read: &dyn Fn(u64) -> u32) -> [u32; 4] {
        let layer = u64::from(layer.min(self.texels.extent[2] - 1));
        let pick = |axis: usize| match at {
            _ if axis == 2 && self.texels.layered => Pick { at: [Some(layer), None], weight: 0 },
            // To the filter a line is a plane, whose rows it mixes with what its sampler says is above.
            Place::Float(_) if axis == 1 && dimensions == 1 => self.pick(1, 0.0),
            _ if axis >= dimensions => Pick { at: [Some(0), None], weight: 0 },
            Place::Float(c) => self.pick(axis, c[axis]),
            Place::Integer(c) => self.exactly(axis, c[axis]),
        };
        let picks = [pick(0), pick(1), pick(2)];
        let as_bits = self.as_integer && !self.texels.channel.is_float();
        // Channels that there are none of are 0, the last one too.
        let mut out = [0; 4];
        let width = self.texels.channel.bytes() as u64;
        for channel in 0..u64::from(self.texels.channels) {
            let bits = |corner: [usize; 3]| {
                let place = [0, 1, 2].map(|axis: usize| picks[axis].at[corner[axis]]);
                let [Some(x), Some(y), Some(z)] = place else { return 0 };
                read(self.texels.address(x * self.texels.element() + channel * width, y, z))
            };
            out[channel as usize] = if as_bits {
                self.texels.channel.integer(bits([0; 3]))
            } else {
                (self.blend(&picks, &bits) as f32).to_bits()
            };
        }
        out
    }

    fn blend(&self, picks: &[Pick; 3], bits: &dyn Fn([usize; 3]) -> u32) -> f64 {
        let mut sum = 0.0;
        for corner in 0..8usize {
            let corner = [corner & 1, corner >> 1 & 1, corner >> 2];
            let weight = (0..3).fold(1.0, |weight, axis| {
                let second = f64::from(picks[axis].weight) / 256.0;
                weight * if corner[axis] == 1 { second } else { 1.0 - second }
            });
            if weight != 0.0 {
                sum += weight * self.texels.channel.number(bits(corner));
            }
        }
        sum
    }
}

/// The coordinates of a texture instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Floating-point: places between elements.
    Float([f32; 3]),
    /// Integers: elements.
    Integer([i32; 3]),
}

/// What a surface instruction does outside of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// The kernel fails.
    Trap,
    /// The nearest element.
    Clamp,
    /// Loads give zeros, stores nothing.
    Zero,
}

impl Surface {
    /// The address of `len` bytes at byte `x` of a row; `Ok(None)` for nowhere, `Err` for a trap.
    pub(super) fn place(&self, at: [i32; 3], len: u64, outside: Outside) -> Result<Option<u64>, ()> {
        let [_, height, depth] = self.texels.extent;
        let last = [self.texels.row_bytes() as i64 - len as i64, i64::from(height) - 1, i64::from(depth) - 1];
        let at = at.map(i64::from);
        if last[0] < 0 {
            return if outside == Outside::Trap { Err(()) } else { Ok(None) };
        }
        if (0..3).all(|axis| (0..=last[axis]).contains(&at[axis])) {
            return Ok(Some(self.texels.address(at[0] as u64, at[1] as u64, at[2] as u64)));
        }
        match outside {
            Outside::Trap => Err(()),
            Outside::Zero => Ok(None),
            Outside::Clamp => {
                let [x, y, z]: [u64; 3] = std::array::from_fn(|axis| at[axis].clamp(0, last[axis]) as u64);
                Ok(Some(self.texels.address(x, y, z)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(n: u32) -> Texture {
        let texels =
            Texels { base: 0, extent: [n, 1, 1], dimensions: 1, layered: false, channel: Channel::Float, channels: 1 };
        Texture { texels, addressing: [Addressing::Clamp; 3], linear: false, normalized: false, as_integer: false }
    }

    /// The element at `i` is `i * i + 1`.
    fn at(texture: &Texture, x: f32) -> f32 {
        let read = |address: u64| ((address / 4 * (address / 4) + 1) as f32).to_bits();
        f32::from_bits(texture.sample(Place::Float([x, 0.0, 0.0]), 1, 0, &read)[0])
    }

    #[test]
    fn the_nearest_element_is_the_floor() {
        let t = texture(4);
        assert_eq!(
            [-3.0, 0.0, 0.99, 1.0, 3.99, 4.0, 1e30, f32::NAN].map(|x| at(&t, x)),
            [1.0, 1.0, 1.0, 2.0, 10.0, 10.0, 10.0, 1.0]
        );
    }

    #[test]
    fn linear_weights_have_8_fractional_bits() {
        let t = Texture { linear: true, ..texture(4) };
        assert_eq!([0.0, 0.5, 1.0, 1.5, 3.5, 9.0].map(|x| at(&t, x)), [1.0, 1.0, 1.5, 2.0, 10.0, 10.0]);
        // 1/3 is 85/256, between 1 and 2.
        assert_eq!(at(&t, 0.5 + 1.0 / 3.0), 1.0 + 85.0 / 256.0);
        // What rounds to a whole is the next element.
        assert_eq!(at(&t, 1.4999), 2.0);
    }

    #[test]
    fn normalised_coordinates_wrap_and_mirror_and_others_do_not() {
        let mut t = Texture { normalized: true, addressing: [Addressing::Wrap; 3], ..texture(4) };
        assert_eq!([-0.25, 0.0, 0.25, 1.0, 1.25, -1.0].map(|x| at(&t, x)), [10.0, 1.0, 2.0, 1.0, 2.0, 1.0]);
        t.addressing = [Addressing::Mirror; 3];
        assert_eq!([-0.25, -0.1, 0.0, 1.0, 1.25, 2.0].map(|x| at(&t, x)), [1.0, 1.0, 1.0, 10.0, 5.0, 1.0]);
        t.normalized = false;
        assert_eq!([-0.25, 4.0, 100.0].map(|x| at(&t, x)), [1.0, 10.0, 10.0]);
        t.addressing = [Addressing::Border; 3];
        assert_eq!([-0.25, 0.0, 4.0].map(|x| at(&t, x)), [0.0, 1.0, 0.0]);
        t.linear = true;
        t.addressing[1] = Addressing::Clamp;
        assert_eq!([0.0, 4.0].map(|x| at(&t, x)), [0.5, 5.0]);
        // The hardware mixes a line with the border above it, as measured on an H200.
        t.addressing[1] = Addressing::Border;
        assert_eq!([0.0, 4.0].map(|x| at(&t, x)), [0.25, 2.5]);
    }

    #[test]
    fn integers_are_fractions_of_their_largest_value_or_themselves() {
        let one = |channel: Channel, as_integer, bits: u32| {
            let texels = Texels { base: 0, extent: [1, 1, 1], dimensions: 1, layered: false, channel, channels: 1 };
            let t = Texture { texels, as_integer, ..texture(1) };
            t.sample(Place::Float([0.0; 3]), 1, 0, &|_| bits)
        };
        let float = |channel, bits| f32::from_bits(one(channel, false, bits)[0]);
        assert_eq!((float(Channel::U8, 255), float(Channel::U16, 0), float(Channel::S8, 0x80)), (1.0, 0.0, -1.0));
        assert_eq!((float(Channel::S16, 0x7fff), float(Channel::Half, 0x3c00)), (1.0, 1.0));
        assert_eq!(one(Channel::S8, true, 0xff), [u32::MAX, 0, 0, 0]);
        assert_eq!(one(Channel::U16, true, 0xffff)[0], 0xffff);
        assert_eq!(one(Channel::Float, true, 1f32.to_bits()), [1f32.to_bits(), 0, 0, 0]);
    }
}
