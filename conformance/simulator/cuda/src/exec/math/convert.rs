//! Conversions between numbers of different kinds.

use super::round::{Round, step, to_single};

/// A signed integer to double.
pub(crate) fn double_of(value: i128, round: Round) -> f64 {
    let nearest = value as f64;
    step(nearest, (value - nearest as i128).signum() as f64, round)
}

/// An integer to single.
pub(crate) fn single_of(value: i128, round: Round) -> f32 {
    let nearest = value as f32;
    if round == Round::Nearest {
        return nearest;
    }
    let lost = (value - nearest as i128).signum();
    match round {
        Round::Up if lost > 0 => nearest.next_up(),
        Round::Down if lost < 0 => nearest.next_down(),
        Round::Zero if lost > 0 && nearest < 0.0 => nearest.next_up(),
        Round::Zero if lost < 0 && nearest > 0.0 => nearest.next_down(),
        _ => nearest,
    }
}

/// A number to an integral number.
#[inline(always)]
pub(crate) fn integral(value: f64, round: Round) -> f64 {
    match round {
        Round::Nearest => value.round_ties_even(),
        Round::Zero => value.trunc(),
        Round::Down => value.floor(),
        Round::Up => value.ceil(),
    }
}

/// A number to an integer of that width, clamped; `nan` is what NaN becomes.
#[inline(always)]
pub(crate) fn integer_of(value: f64, round: Round, width: u32, signed: bool, nan: u64) -> u64 {
    if value.is_nan() {
        return nan;
    }
    let value = integral(value, round);
    if signed {
        let (low, high) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
        (value as i64).clamp(low, high) as u64
    } else {
        (value as u64).min(u64::MAX >> (64 - width))
    }
}

/// A double to single, any NaN to the canonical one.
#[inline(always)]
pub(crate) fn narrow(value: f64, round: Round) -> u64 {
    super::float::bits32(to_single(value, round))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_by_direction() {
        let odd = (1i128 << 24) + 1;
        assert_eq!(single_of(odd, Round::Nearest), 16777216.0);
        assert_eq!(single_of(odd, Round::Up), 16777218.0);
        assert_eq!(single_of(-odd, Round::Down), -16777218.0);
        assert_eq!(single_of(-odd, Round::Zero), -16777216.0);
        assert_eq!(double_of((1 << 53) + 1, Round::Up), 9007199254740994.0);
        assert_eq!(double_of(i128::from(u64::MAX), Round::Zero), 18446744073709549568.0);
    }

    #[test]
    fn floats_clamp() {
        assert_eq!(integer_of(1e20, Round::Zero, 32, true, 0), i32::MAX as u64);
        assert_eq!(integer_of(-1e20, Round::Zero, 32, true, 0), i64::from(i32::MIN) as u64);
        assert_eq!(integer_of(-3.0, Round::Zero, 32, false, 0), 0);
        assert_eq!(integer_of(300.0, Round::Zero, 8, false, 0), 255);
        assert_eq!(integer_of(f64::NAN, Round::Zero, 64, true, 1 << 63), 1 << 63);
        assert_eq!(integer_of(2.5, Round::Nearest, 32, true, 0), 2);
        assert_eq!(integer_of(2.5, Round::Up, 32, true, 0), 3);
        assert_eq!(integer_of(-2.5, Round::Down, 32, true, 0) as i64, -3);
    }
}
