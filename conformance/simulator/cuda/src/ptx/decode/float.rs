//! Single and double precision.
//!
//! `.ftz` and `.sat` are operations of their own before and after the arithmetic.

use super::*;
use crate::exec::lanes::{alu, compare};
use crate::exec::math::float::*;
use crate::exec::op::{Combine, Compare, Pred};
use crate::ptx::builder::TEMP;

/// Reads sources of type f32, flushed if asked.
pub(super) fn flushed(i: &mut Instr<'_>, slot: Slot, which: usize, ftz: bool) -> Slot {
    if !ftz {
        return slot;
    }
    let temp = i.b.temp(TEMP + which);
    i.alu(alu!(a => u64::from(flush(a as u32))), &[temp, slot]);
    temp
}

/// Emits `run` on a destination and `n` sources of type `ty`, between flushes and saturation.
fn emit(i: &mut Instr<'_>, run: AluFn, ty: Type, n: usize, ftz: bool, sat: bool) -> Result<(), LoadError> {
    i.arity(n + 1)?;
    let d = i.write(0, ty)?;
    let mut slots = vec![d];
    for k in 1..=n {
        let slot = i.read(k, ty)?;
        slots.push(flushed(i, slot, k - 1, ftz));
    }
    i.alu(run, &slots);
    if ftz {
        i.alu(alu!(a => u64::from(flush(a as u32))), &[d, d]);
    }
    if sat {
        saturate(i, d, ty);
    }
    Ok(())
}

pub(super) fn saturate(i: &mut Instr<'_>, d: Slot, ty: Type) {
    let run = if ty == Type::F32 {
        alu!(a => bits32(saturate32(f32_of(a))))
    } else {
        alu!(a => saturate64(f64::from_bits(a)).to_bits())
    };
    i.alu(run, &[d, d]);
}

macro_rules! f32_alu {
    ($($a:ident),+ => $e:expr) => { alu!($($a),+ => { $(let $a = f32_of($a);)+ bits32($e) }) };
}

macro_rules! f64_alu {
    ($($a:ident),+ => $e:expr) => { alu!($($a),+ => { $(let $a = f64::from_bits($a);)+ ($e).to_bits() }) };
}

/// `add`, `sub`, `mul`, `fma`, `mad`, `div`, `min`, `max`, `abs`, `neg`.
pub(super) fn arithmetic(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let single = ty == Type::F32;
    let approximate = i.base == "div" && single && (i.flag("approx") || i.flag("full"));
    let round = match i.base {
        "add" | "sub" | "mul" | "fma" | "mad" | "div" if !approximate => i.rounding(),
        _ => None,
    };
    // Fused multiply-add and division of doubles name their rounding.
    if round.is_none() && (i.base == "fma" || i.base == "mad" && !single) {
        return Err(i.unknown());
    }
    let round = round.unwrap_or(Round::Nearest);
    let ftz = single && i.flag("ftz");
    let sat = matches!(i.base, "add" | "sub" | "mul" | "fma" | "mad") && single && i.flag("sat");
    let (run, n) = match (i.base, single) {
        ("add", true) => (per_round!(round, R => f32_alu!(a, b => add32(a, b, R))), 2),
        ("sub", true) => (per_round!(round, R => f32_alu!(a, b => add32(a, -b, R))), 2),
        ("mul", true) => (per_round!(round, R => f32_alu!(a, b => mul32(a, b, R))), 2),
        ("fma" | "mad", true) => (per_round!(round, R => f32_alu!(a, b, c => fma32(a, b, c, R))), 3),
        ("div", true) => (per_round!(round, R => f32_alu!(a, b => div32(a, b, R))), 2),
        ("add", false) => (per_round!(round, R => f64_alu!(a, b => add64(a, b, R))), 2),
        ("sub", false) => (per_round!(round, R => f64_alu!(a, b => add64(a, -b, R))), 2),
        ("mul", false) => (per_round!(round, R => f64_alu!(a, b => mul64(a, b, R))), 2),
        ("fma" | "mad", false) => (per_round!(round, R => f64_alu!(a, b, c => fma64(a, b, c, R))), 3),
        ("div", false) => (per_round!(round, R => f64_alu!(a, b => div64(a, b, R))), 2),
        ("abs", true) => (alu!(a => a & 0x7fff_ffff), 1),
        ("abs", false) => (alu!(a => a & !(1 << 63)), 1),
        ("neg", true) => (alu!(a => a ^ 0x8000_0000), 1),
        ("neg", false) => (alu!(a => a ^ 1 << 63), 1),
        ("min" | "max", _) => (extremum(i, single), 2),
        _ => return Err(i.unknown()),
    };
    emit(i, run, ty, n, ftz, sat)
}

fn extremum(i: &mut Instr<'_>, single: bool) -> AluFn {
    let max = i.base == "max";
    if !single {
        return if max { f64_alu!(a, b => max64(a, b, false)) } else { f64_alu!(a, b => min64(a, b, false)) };
    }
    let nan = i.flag("NaN");
    let absolute = i.mods.windows(2).any(|m| m == ["xorsign", "abs"]) && i.flag("xorsign") && i.flag("abs");
    match (max, nan, absolute) {
        (false, false, false) => f32_alu!(a, b => min32(a, b, false)),
        (false, true, false) => f32_alu!(a, b => min32(a, b, true)),
        (true, false, false) => f32_alu!(a, b => max32(a, b, false)),
        (true, true, false) => f32_alu!(a, b => max32(a, b, true)),
        (false, false, true) => f32_alu!(a, b => xor_sign(a, b, min32(a.abs(), b.abs(), false))),
        (false, true, true) => f32_alu!(a, b => xor_sign(a, b, min32(a.abs(), b.abs(), true))),
        (true, false, true) => f32_alu!(a, b => xor_sign(a, b, max32(a.abs(), b.abs(), false))),
        (true, true, true) => f32_alu!(a, b => xor_sign(a, b, max32(a.abs(), b.abs(), true))),
    }
}

fn xor_sign(a: f32, b: f32, value: f32) -> f32 {
    if a.is_sign_negative() ^ b.is_sign_negative() { -value } else { value }
}

/// Functions of one operand, `copysign` and `testp`.
pub(super) fn function(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let single = match ty {
        Type::F32 => true,
        Type::F64 => false,
        _ => return half::function(i, ty),
    };
    match i.base {
        "testp" => return classify(i, ty),
        "copysign" => {
            let run = if single {
                alu!(a, b => b & 0x7fff_ffff | a & 0x8000_0000)
            } else {
                alu!(a, b => b & !(1 << 63) | a & 1 << 63)
            };
            return i.same_type(run, ty, 2);
        }
        _ => {}
    }
    let approximate = i.flag("approx");
    let ftz = i.flag("ftz");
    // Doubles flush only in the approximations that exist in that form alone.
    if ftz && !single && !approximate {
        return Err(i.unknown());
    }
    let round = if approximate { None } else { i.rounding() };
    let run = match (i.base, single, round) {
        ("rcp", true, r) if approximate || r.is_some() => {
            per_round!(r.unwrap_or(Round::Nearest), R => f32_alu!(a => div32(1.0, a, R)))
        }
        ("sqrt", true, r) if approximate || r.is_some() => {
            per_round!(r.unwrap_or(Round::Nearest), R => f32_alu!(a => sqrt32(a, R)))
        }
        ("rcp", false, r) if approximate || r.is_some() => {
            per_round!(r.unwrap_or(Round::Nearest), R => f64_alu!(a => div64(1.0, a, R)))
        }
        ("sqrt", false, Some(r)) => per_round!(r, R => f64_alu!(a => sqrt64(a, R))),
        ("rsqrt", true, _) if approximate => f32_alu!(a => rsqrt32(a)),
        ("rsqrt", false, _) if approximate => f64_alu!(a => 1.0 / a.sqrt()),
        ("sin", true, _) if approximate => f32_alu!(a => sin32(a)),
        ("cos", true, _) if approximate => f32_alu!(a => cos32(a)),
        ("ex2", true, _) if approximate => f32_alu!(a => exp2_32(a)),
        ("lg2", true, _) if approximate => f32_alu!(a => log2_32(a)),
        ("tanh", true, _) if approximate => f32_alu!(a => tanh32(a)),
        _ => return Err(i.unknown()),
    };
    emit(i, run, ty, 1, ftz && single, false)
}

fn classify(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let class = i.require(&[
        ("finite", Class::Finite),
        ("infinite", Class::Infinite),
        ("number", Class::Number),
        ("notanumber", Class::NotANumber),
        ("normal", Class::Normal),
        ("subnormal", Class::Subnormal),
    ])?;
    macro_rules! tests {
        ($x:ident => $value:expr) => {
            match class {
                Class::Finite => compare!($x, _b => $value.is_finite()),
                Class::Infinite => compare!($x, _b => $value.is_infinite()),
                Class::Number => compare!($x, _b => !$value.is_nan()),
                Class::NotANumber => compare!($x, _b => $value.is_nan()),
                Class::Normal => compare!($x, _b => $value.is_normal()),
                Class::Subnormal => compare!($x, _b => $value.is_subnormal()),
            }
        };
    }
    let run = if ty == Type::F32 { tests!(x => f32_of(x)) } else { tests!(x => f64::from_bits(x)) };
    i.arity(2)?;
    let p = i.op(0)?;
    let p = i.b.predicate_target(p)?;
    let a = i.read(1, ty)?;
    i.b.emit(Op::Compare(Compare { run, a, b: a, combine: Combine::And, c: Pred::TRUE, p, q: 0 }));
    Ok(())
}
