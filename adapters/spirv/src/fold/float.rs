//! Half-precision numbers as bits, since Rust has no type for them.

/// The number that 16 bits are.
pub(crate) fn half_to_single(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = ((bits >> 10) & 31, f32::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    }
}

/// The nearest half to a number, ties to even. By way of a single it would be rounded twice.
pub(crate) fn to_half(value: f64) -> u16 {
    let sign = ((value.to_bits() >> 48) & 0x8000) as u16;
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Adding a power of two whose last place is the half's rounds as the hardware does.
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-14);
    let step = 2f64.powi(exponent - 10);
    let units = (magnitude / step).round_ties_even() as u32;
    // Units of 1024 and more carry into the exponent by themselves.
    sign | ((exponent + 14) as u32 * 1024 + units) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_to_single_and_back() {
        for bits in 0..=u16::MAX {
            let value = half_to_single(bits);
            if !value.is_nan() {
                assert_eq!(to_half(value.into()), bits);
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_large_numbers_to_infinity() {
        assert_eq!(to_half(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(to_half(1.0 + 1.0 / 2048.0 + 2f64.powi(-40)), 0x3c01);
        assert_eq!(to_half(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(to_half(65519.9), 0x7bff);
        assert_eq!(to_half(65520.0), 0x7c00);
        assert_eq!(to_half(-f64::MIN_POSITIVE), 0x8000);
    }
}
