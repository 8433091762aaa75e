//! Single and double precision as a GPU computes them: every rounding direction, one NaN, its minimum and maximum.

use super::round::{Round, odd, step, to_single, two_sum};

/// The NaN that single-precision instructions produce.
pub(crate) const NAN32: u32 = 0x7fff_ffff;

/// Bits to value.
#[inline(always)]
pub(crate) fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Value to bits, any NaN to the canonical one.
#[inline(always)]
pub(crate) fn bits32(value: f32) -> u64 {
    u64::from(if value.is_nan() { NAN32 } else { value.to_bits() })
}

/// A subnormal number becomes a zero of its sign.
#[inline(always)]
pub(crate) fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// Clamps to `[0, 1]`; NaN becomes 0.
#[inline(always)]
pub(crate) fn saturate32(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Clamps to `[0, 1]`; NaN becomes 0.
#[inline(always)]
pub(crate) fn saturate64(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The sign of an exact zero sum depends on the direction.
fn zero_sum(a: f64, b: f64, round: Round) -> f64 {
    if a == 0.0 && b == 0.0 && a.is_sign_negative() == b.is_sign_negative() {
        a
    } else if round == Round::Down {
        -0.0
    } else {
        0.0
    }
}

fn sum_to_single(a: f64, b: f64, round: Round) -> f32 {
    let (sum, lost) = two_sum(a, b);
    if sum == 0.0 && lost == 0.0 {
        return zero_sum(a, b, round) as f32;
    }
    to_single(odd(sum, lost), round)
}

#[inline(always)]
pub(crate) fn add32(a: f32, b: f32, round: Round) -> f32 {
    if round == Round::Nearest { a + b } else { sum_to_single(a.into(), b.into(), round) }
}

#[inline(always)]
pub(crate) fn mul32(a: f32, b: f32, round: Round) -> f32 {
    if round == Round::Nearest { a * b } else { to_single(f64::from(a) * f64::from(b), round) }
}

#[inline(always)]
pub(crate) fn fma32(a: f32, b: f32, c: f32, round: Round) -> f32 {
    // The product is exact in double precision, so one sticky sum is all it takes, without a slow call for
    // fused multiplication on hosts that lack it.
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let (sum, lost) = two_sum(product, c);
    if round == Round::Nearest {
        return odd(sum, lost) as f32;
    }
    if sum == 0.0 && lost == 0.0 {
        return zero_sum(product, c, round) as f32;
    }
    to_single(odd(sum, lost), round)
}

#[inline(always)]
pub(crate) fn div32(a: f32, b: f32, round: Round) -> f32 {
    if round == Round::Nearest {
        return a / b;
    }
    let (wide_a, wide_b) = (f64::from(a), f64::from(b));
    let quotient = wide_a / wide_b;
    let lost = (-quotient).mul_add(wide_b, wide_a) * b.signum() as f64;
    to_single(odd(quotient, lost), round)
}

#[inline(always)]
pub(crate) fn sqrt32(a: f32, round: Round) -> f32 {
    if round == Round::Nearest {
        return a.sqrt();
    }
    let root = f64::from(a).sqrt();
    to_single(odd(root, (-root).mul_add(root, a.into())), round)
}

#[inline(always)]
pub(crate) fn add64(a: f64, b: f64, round: Round) -> f64 {
    if round == Round::Nearest {
        return a + b;
    }
    let (sum, lost) = two_sum(a, b);
    if sum == 0.0 {
        return zero_sum(a, b, round);
    }
    step(sum, overflow_or(sum, lost, a.is_finite() && b.is_finite()), round)
}

/// When finite operands overflowed to infinity, what was lost has the opposite sign of it.
fn overflow_or(result: f64, lost: f64, finite_operands: bool) -> f64 {
    if result.is_infinite() { if finite_operands { -result.signum() } else { 0.0 } } else { lost }
}

/// Exact `a * b` minus `product`, or at least its sign, also where it underflows.
fn product_error(a: f64, b: f64, product: f64) -> f64 {
    const UP: f64 = 1.2676506002282294e30; // 2^100
    if product.abs() < 1e-280 && a != 0.0 && b != 0.0 {
        let (small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
        // Twice 2^100 lifts the error out of the subnormal numbers; a product of zero stays below its error.
        return (small * UP * UP).mul_add(large, -(product * UP * UP));
    }
    a.mul_add(b, -product)
}

#[inline(always)]
pub(crate) fn mul64(a: f64, b: f64, round: Round) -> f64 {
    let product = a * b;
    if round == Round::Nearest {
        return product;
    }
    let lost = product_error(a, b, product);
    step(product, overflow_or(product, lost, a.is_finite() && b.is_finite()), round)
}

pub(crate) fn fma64(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let result = a.mul_add(b, c);
    if round == Round::Nearest || result.is_nan() {
        return result;
    }
    let product = a * b;
    if result == 0.0 && product_error(a, b, product) == 0.0 {
        return zero_sum(product, c, round);
    }
    // The error of a fused multiply-add after Boldo and Muller.
    let low = product_error(a, b, product);
    let (first, rest) = two_sum(c, low);
    let (second, middle) = two_sum(product, first);
    let lost = ((second - result) + middle) + rest;
    step(result, overflow_or(result, lost, a.is_finite() && b.is_finite() && c.is_finite()), round)
}

pub(crate) fn div64(a: f64, b: f64, round: Round) -> f64 {
    let quotient = a / b;
    if round == Round::Nearest || !quotient.is_finite() && b == 0.0 {
        return quotient;
    }
    let lost = (-quotient).mul_add(b, a) * b.signum();
    step(quotient, overflow_or(quotient, lost, a.is_finite()), round)
}

pub(crate) fn sqrt64(a: f64, round: Round) -> f64 {
    let root = a.sqrt();
    if round == Round::Nearest || !root.is_finite() {
        return root;
    }
    step(root, (-root).mul_add(root, a), round)
}

macro_rules! extrema {
    ($min:ident, $max:ident, $float:ty) => {
        /// The smaller; a number before a NaN unless `nan`, and -0 before +0.
        #[inline(always)]
        pub(crate) fn $min(a: $float, b: $float, nan: bool) -> $float {
            if a.is_nan() || b.is_nan() {
                if nan || a.is_nan() && b.is_nan() {
                    <$float>::NAN
                } else if a.is_nan() {
                    b
                } else {
                    a
                }
            } else if a < b || (a == b && a.is_sign_negative()) {
                a
            } else {
                b
            }
        }

        /// The larger; a number before a NaN unless `nan`, and +0 before -0.
        #[inline(always)]
        pub(crate) fn $max(a: $float, b: $float, nan: bool) -> $float {
            if a.is_nan() || b.is_nan() {
                if nan || a.is_nan() && b.is_nan() {
                    <$float>::NAN
                } else if a.is_nan() {
                    b
                } else {
                    a
                }
            } else if a > b || (a == b && a.is_sign_positive()) {
                a
            } else {
                b
            }
        }
    };
}

extrema!(min32, max32, f32);
extrema!(min64, max64, f64);

/// What `testp` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

macro_rules! transcendental {
    ($($name:ident($x:ident) = $e:expr;)*) => {$(
        /// The approximate instruction of that name; here nearly correctly rounded.
        #[inline(always)]
        pub(crate) fn $name(x: f32) -> f32 {
            let $x = f64::from(x);
            $e as f32
        }
    )*};
}

transcendental! {
    rsqrt32(x) = 1.0 / x.sqrt();
    sin32(x) = x.sin();
    cos32(x) = x.cos();
    exp2_32(x) = x.exp2();
    log2_32(x) = x.log2();
    tanh32(x) = x.tanh();
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECTIONS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];

    /// Down, nearest and up enclose the exact result within one step, and zero is one of the two.
    fn check64(results: [f64; 4], what: &str) {
        let [nearest, zero, down, up] = results;
        if nearest.is_nan() {
            return;
        }
        assert!(down <= nearest && nearest <= up, "{what}: {results:?}");
        assert!(down == up || down.next_up() == up, "{what}: {results:?}");
        assert_eq!(zero, if nearest.is_sign_negative() { up } else { down }, "{what}");
    }

    fn samples() -> Vec<f64> {
        let mut out =
            vec![0.0, -0.0, 1.0, -1.0, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, -3e-310];
        let mut state = 42u64;
        for _ in 0..60 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            out.push(f64::from_bits(state & 0x800f_ffff_ffff_ffff | (1023 - 40 + (state >> 44) % 80) << 52));
        }
        out
    }

    #[test]
    fn directed_doubles_enclose_the_exact_result() {
        for &a in &samples() {
            for &b in &samples() {
                check64(DIRECTIONS.map(|r| add64(a, b, r)), &format!("{a:e} + {b:e}"));
                check64(DIRECTIONS.map(|r| mul64(a, b, r)), &format!("{a:e} * {b:e}"));
                if a.abs() < 1e100 && b.abs() < 1e100 && a.abs() > 1e-100 && b.abs() > 1e-100 {
                    check64(DIRECTIONS.map(|r| div64(a, b, r)), &format!("{a:e} / {b:e}"));
                    check64(DIRECTIONS.map(|r| fma64(a, b, 0.1, r)), &format!("{a:e} * {b:e} + 0.1"));
                }
            }
        }
    }

    #[test]
    fn exact_results_do_not_depend_on_the_direction() {
        for r in DIRECTIONS {
            assert_eq!(add32(1.5, 2.25, r), 3.75);
            assert_eq!(mul32(1.5, -2.0, r), -3.0);
            assert_eq!(div32(-9.0, 3.0, r), -3.0);
            assert_eq!(sqrt32(49.0, r), 7.0);
            assert_eq!(fma32(3.0, 5.0, -14.0, r), 1.0);
            assert_eq!(sqrt64(2.25, r), 1.5);
            assert_eq!(div64(1.0, 0.0, r), f64::INFINITY);
        }
    }

    #[test]
    fn inexact_singles_step_by_direction() {
        let third = 1.0f32 / 3.0; // nearest is above
        assert_eq!(div32(1.0, 3.0, Round::Down), third.next_down());
        assert_eq!(div32(1.0, 3.0, Round::Up), third);
        assert_eq!(div32(-1.0, 3.0, Round::Zero), -third.next_down());
        assert_eq!(add32(1.0, 1e-20, Round::Up), 1.0f32.next_up());
        assert_eq!(add32(1.0, -1e-20, Round::Zero), 1.0f32.next_down());
        assert_eq!(mul32(f32::MAX, 2.0, Round::Zero), f32::MAX);
        assert_eq!(mul32(f32::MAX, 2.0, Round::Up), f32::INFINITY);
        assert!(add32(1.0, -1.0, Round::Down).is_sign_negative());
        assert!(add32(1.0, -1.0, Round::Zero).is_sign_positive());
    }

    #[test]
    fn fused_single_rounds_once() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            f32::from_bits((state >> 32) as u32)
        };
        for _ in 0..200_000 {
            let (a, b, c) = (next(), next(), next());
            let (ours, host) = (fma32(a, b, c, Round::Nearest), a.mul_add(b, c));
            assert!(ours.to_bits() == host.to_bits() || ours.is_nan() && host.is_nan(), "{a:e} {b:e} {c:e}");
        }
        assert!(fma32(-1.0, 0.0, 0.0, Round::Nearest).is_sign_positive());
        assert!(fma32(-1.0, 0.0, -0.0, Round::Nearest).is_sign_negative());
    }

    #[test]
    fn minimum_and_maximum_treat_nan_and_zeros_as_the_hardware_does() {
        assert_eq!(min32(f32::NAN, 2.0, false), 2.0);
        assert!(min32(f32::NAN, 2.0, true).is_nan());
        assert!(max64(f64::NAN, f64::NAN, false).is_nan());
        assert!(min32(0.0, -0.0, false).is_sign_negative());
        assert!(max32(-0.0, 0.0, false).is_sign_positive());
    }
}
