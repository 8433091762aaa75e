//! Half precision and bfloat16, alone and in pairs, through double precision with one rounding.

use super::round::{BF16, F16, Format, Round, odd, to_format, two_sum};

/// Which sixteen-bit float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    F16,
    Bf16,
}

/// The NaN that half-precision instructions produce.
const NAN: u16 = 0x7fff;

impl Half {
    fn format(self) -> Format {
        match self {
            Half::F16 => F16,
            Half::Bf16 => BF16,
        }
    }

    /// The value of the bits.
    pub(crate) fn value(self, bits: u16) -> f64 {
        match self {
            Half::Bf16 => f32::from_bits(u32::from(bits) << 16).into(),
            Half::F16 => {
                let magnitude = u64::from(bits & 0x7fff);
                let sign = if bits >> 15 != 0 { -1.0 } else { 1.0 };
                match magnitude >> 10 {
                    0 => sign * magnitude as f64 * 2f64.powi(-24),
                    31 if magnitude & 0x3ff != 0 => f64::NAN,
                    31 => sign * f64::INFINITY,
                    e => sign * f64::from_bits((e + 1023 - 15) << 52 | (magnitude & 0x3ff) << 42),
                }
            }
        }
    }

    /// The bits of the value, rounded.
    pub(crate) fn bits(self, value: f64, round: Round) -> u16 {
        if value.is_nan() { NAN } else { to_format(value, self.format(), round) as u16 }
    }

    pub(crate) fn add(self, a: u16, b: u16) -> u16 {
        self.sum(self.value(a), self.value(b))
    }

    pub(crate) fn sub(self, a: u16, b: u16) -> u16 {
        self.sum(self.value(a), -self.value(b))
    }

    pub(crate) fn mul(self, a: u16, b: u16) -> u16 {
        self.bits(self.value(a) * self.value(b), Round::Nearest)
    }

    pub(crate) fn fma(self, a: u16, b: u16, c: u16) -> u16 {
        self.sum(self.value(a) * self.value(b), self.value(c))
    }

    fn sum(self, a: f64, b: f64) -> u16 {
        let (sum, lost) = two_sum(a, b);
        self.bits(odd(sum, lost), Round::Nearest)
    }

    /// The smaller, as [`super::float::min64`].
    pub(crate) fn min(self, a: u16, b: u16, nan: bool) -> u16 {
        self.bits(super::float::min64(self.value(a), self.value(b), nan), Round::Nearest)
    }

    /// The larger, as [`super::float::max64`].
    pub(crate) fn max(self, a: u16, b: u16, nan: bool) -> u16 {
        self.bits(super::float::max64(self.value(a), self.value(b), nan), Round::Nearest)
    }

    /// Subnormal numbers become zeros of their sign.
    pub(crate) fn flush(self, a: u16) -> u16 {
        let magnitude = a & 0x7fff;
        if magnitude >> self.format().mantissa == 0 { a & 0x8000 } else { a }
    }

    /// Clamps to `[0, 1]`; NaN becomes 0.
    pub(crate) fn saturate(self, a: u16) -> u16 {
        self.bits(super::float::saturate64(self.value(a)), Round::Nearest)
    }

    /// Negative numbers become 0; NaN stays.
    pub(crate) fn relu(self, a: u16) -> u16 {
        let value = self.value(a);
        if value.is_nan() {
            NAN
        } else if a >> 15 != 0 {
            0
        } else {
            a
        }
    }

    pub(crate) fn exp2(self, a: u16) -> u16 {
        self.bits(self.value(a).exp2(), Round::Nearest)
    }

    pub(crate) fn tanh(self, a: u16) -> u16 {
        self.bits(self.value(a).tanh(), Round::Nearest)
    }
}

/// Applies a function to both halves of a pair.
#[inline(always)]
pub(crate) fn pair1(a: u64, f: impl Fn(u16) -> u16) -> u64 {
    u64::from(f(a as u16)) | u64::from(f((a >> 16) as u16)) << 16
}

/// Applies a function to both halves of two pairs.
#[inline(always)]
pub(crate) fn pair2(a: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16)) | u64::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Applies a function to both halves of three pairs.
#[inline(always)]
pub(crate) fn pair3(a: u64, b: u64, c: u64, f: impl Fn(u16, u16, u16) -> u16) -> u64 {
    u64::from(f(a as u16, b as u16, c as u16))
        | u64::from(f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_through_double() {
        for half in [Half::F16, Half::Bf16] {
            for bits in 0..=u16::MAX {
                let value = half.value(bits);
                if !value.is_nan() {
                    assert_eq!(half.bits(value, Round::Nearest), bits);
                }
            }
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(Half::F16.value(0x3c00), 1.0);
        assert_eq!(Half::F16.value(0x7bff), 65504.0);
        assert_eq!(Half::F16.value(0x0001), 2f64.powi(-24));
        assert_eq!(Half::Bf16.value(0x3f80), 1.0);
        assert_eq!(Half::F16.add(0x7bff, 0x7bff), 0x7c00);
        assert_eq!(Half::F16.add(0x3c00, 0x0001), 0x3c00);
        assert_eq!(Half::F16.fma(0x3c01, 0x3c01, 0xbc02), 0x0010); // 2^-20 survives, fused
        assert_eq!(Half::F16.relu(0xbc00), 0);
        assert_eq!(Half::F16.flush(0x83ff), 0x8000);
    }
}
