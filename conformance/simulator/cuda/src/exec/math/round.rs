//! Rounding in all four IEEE directions on a host that rounds to nearest.
//!
//! Two tools suffice. *Round to odd*: a sum or quotient in double precision together with the sign of what it
//! lost becomes a double whose last bit is sticky, and rounding that once to a format of at most 51 bits gives
//! the correctly rounded result. *Stepping*: the nearest result and the sign of what it lost give the directed
//! one, at most one step away.

/// A rounding direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A binary format narrower than double.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Explicit mantissa bits.
    pub mantissa: u32,
    /// Exponent of the smallest normal number.
    pub min_exponent: i32,
    /// Exponent of the largest finite numbers.
    pub max_exponent: i32,
}

/// IEEE half precision.
pub(crate) const F16: Format = Format { mantissa: 10, min_exponent: -14, max_exponent: 15 };
/// The upper half of a single.
pub(crate) const BF16: Format = Format { mantissa: 7, min_exponent: -126, max_exponent: 127 };
/// IEEE single precision.
pub(crate) const F32: Format = Format { mantissa: 23, min_exponent: -126, max_exponent: 127 };

/// The sum and what rounding it lost, exactly.
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `value`, from which the exact result differs in the direction of the sign of `lost`, rounded to odd.
pub(crate) fn odd(value: f64, lost: f64) -> f64 {
    if lost == 0.0 || !lost.is_finite() || !value.is_finite() {
        return value;
    }
    if value == 0.0 {
        return f64::from_bits(1).copysign(lost);
    }
    let bits = value.to_bits();
    if value.is_sign_negative() == lost.is_sign_negative() {
        f64::from_bits(bits | 1)
    } else if bits & 1 == 0 {
        f64::from_bits(bits - 1)
    } else {
        value
    }
}

/// The bits of `value` in a narrower format. NaN is the caller's matter.
pub(crate) fn to_format(value: f64, format: Format, round: Round) -> u32 {
    let bits = value.to_bits();
    let negative = bits >> 63 != 0;
    let exponent_bits = 32 - (format.max_exponent as u32 + 1).leading_zeros();
    let sign = u32::from(negative) << (format.mantissa + exponent_bits);
    let infinity = ((1u32 << exponent_bits) - 1) << format.mantissa;
    if value.is_infinite() {
        return sign | infinity;
    }
    if value == 0.0 {
        return sign;
    }
    // Doubles below their own normal range lie below half the smallest number of every format here.
    let exponent = ((bits >> 52 & 0x7ff) as i32 - 1023).max(-1022);
    let significand = if bits >> 52 & 0x7ff == 0 { bits & ((1 << 52) - 1) } else { bits & ((1 << 52) - 1) | 1 << 52 };
    let denormal_shift = (format.min_exponent - exponent).max(0) as u32;
    let shift = (52 - format.mantissa + denormal_shift).min(63);
    let (kept, lost, half) = (significand >> shift, significand & ((1 << shift) - 1), 1u64 << (shift - 1));
    let up = match round {
        Round::Nearest => lost > half || (lost == half && kept & 1 != 0),
        Round::Zero => false,
        Round::Down => negative && lost != 0,
        Round::Up => !negative && lost != 0,
    };
    let kept = (kept + u64::from(up)) as u32;
    // With the implicit bit in place a carry out of the mantissa is a step of the exponent.
    let magnitude = if denormal_shift > 0 {
        kept
    } else {
        let biased = (exponent - format.min_exponent) as u64;
        ((biased << format.mantissa) + u64::from(kept)).min(u64::from(infinity)) as u32
    };
    if magnitude >= infinity {
        let to_infinity = match round {
            Round::Nearest => true,
            Round::Zero => false,
            Round::Down => negative,
            Round::Up => !negative,
        };
        return sign | if to_infinity { infinity } else { infinity - 1 };
    }
    sign | magnitude
}

/// A double rounded once to single precision.
pub(crate) fn to_single(value: f64, round: Round) -> f32 {
    if round == Round::Nearest || value.is_nan() { value as f32 } else { f32::from_bits(to_format(value, F32, round)) }
}

/// The directed result, given the nearest one and the sign of exact minus nearest.
pub(crate) fn step(nearest: f64, lost: f64, round: Round) -> f64 {
    if lost == 0.0 || lost.is_nan() || nearest.is_nan() {
        return nearest;
    }
    let too_small = lost > 0.0;
    match round {
        Round::Up if too_small => nearest.next_up(),
        Round::Down if !too_small => nearest.next_down(),
        Round::Zero if too_small && nearest.is_sign_negative() => toward_zero(nearest),
        Round::Zero if !too_small && !nearest.is_sign_negative() => toward_zero(nearest),
        _ => nearest,
    }
}

fn toward_zero(value: f64) -> f64 {
    if value == 0.0 { value } else { f64::from_bits(value.to_bits() - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_format_agrees_with_the_host_on_singles() {
        let mut state = 1u64;
        for _ in 0..20000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let exponent = 1023 - 160 + (state >> 40) % 320;
            let value = f64::from_bits(state & 0x800f_ffff_ffff_ffff | exponent << 52);
            assert_eq!(to_format(value, F32, Round::Nearest), (value as f32).to_bits(), "{value:e}");
            let (down, up) = (to_single(value, Round::Down), to_single(value, Round::Up));
            assert!(f64::from(down) <= value && value <= f64::from(up), "{value:e}");
            assert!(down == up || down.next_up() == up, "{value:e}");
        }
    }

    #[test]
    fn odd_remembers_what_was_lost() {
        let (sum, lost) = two_sum(1.0, 1e-30);
        assert_eq!(sum, 1.0);
        assert_eq!(to_single(odd(sum, lost), Round::Up), 1.0f32.next_up());
        assert_eq!(to_single(odd(sum, lost), Round::Nearest), 1.0);
        let (sum, lost) = two_sum(1.0, -1e-30);
        assert_eq!(to_single(odd(sum, lost), Round::Zero), 1.0f32.next_down());
    }

    #[test]
    fn halves_overflow_and_underflow_by_direction() {
        assert_eq!(to_format(65520.0, F16, Round::Nearest), 0x7c00);
        assert_eq!(to_format(65519.0, F16, Round::Nearest), 0x7bff);
        assert_eq!(to_format(1e9, F16, Round::Zero), 0x7bff);
        assert_eq!(to_format(-1e9, F16, Round::Down), 0xfc00);
        assert_eq!(to_format(-1e9, F16, Round::Up), 0xfbff);
        assert_eq!(to_format(1e-30, F16, Round::Up), 1);
        assert_eq!(to_format(1e-30, F16, Round::Nearest), 0);
        assert_eq!(to_format(2f64.powi(-24), F16, Round::Nearest), 1);
    }
}
