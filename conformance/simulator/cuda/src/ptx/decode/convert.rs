//! `cvt`: through a 64-bit integer or a double, which hold every source exactly.

use super::*;
use crate::exec::lanes::alu;
use crate::exec::math::convert::*;
use crate::exec::math::float::{f32_of, flush};
use crate::exec::math::half::Half;
use crate::ptx::builder::TEMP;

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let from = i.ty()?;
    let to = i.ty()?;
    if matches!(to, Type::F16x2 | Type::Bf16x2) {
        return pack(i, from, to);
    }
    if from.bits() < 8 || to.bits() < 8 || matches!(from, Type::B8 | Type::B16 | Type::B32 | Type::B64) {
        return Err(i.unknown());
    }
    if matches!(to, Type::B8 | Type::B16 | Type::B32 | Type::B64) || matches!(from, Type::F16x2 | Type::Bf16x2) {
        return Err(i.unknown());
    }
    i.arity(2)?;
    match (from.is_float(), to.is_float()) {
        (false, false) => integers(i, from, to),
        (false, true) => to_float(i, from, to),
        (true, false) => to_integer(i, from, to),
        (true, true) => floats(i, from, to),
    }
}

/// Extends an integer to 64 bits.
fn widen(from: Type) -> AluFn {
    match from {
        Type::U8 => alu!(a => a & 0xff),
        Type::U16 => alu!(a => a & 0xffff),
        Type::U32 => alu!(a => a & 0xffff_ffff),
        Type::S8 => alu!(a => a as i8 as i64 as u64),
        Type::S16 => alu!(a => a as i16 as i64 as u64),
        Type::S32 => alu!(a => a as i32 as i64 as u64),
        _ => alu!(a => a),
    }
}

/// Keeps the low bits of a register narrower than 64.
fn truncate(bits: u32) -> Option<AluFn> {
    match bits {
        8 => Some(alu!(a => a & 0xff)),
        16 => Some(alu!(a => a & 0xffff)),
        32 => Some(alu!(a => a & 0xffff_ffff)),
        _ => None,
    }
}

fn integers(i: &mut Instr<'_>, from: Type, to: Type) -> Result<(), LoadError> {
    let sat = i.flag("sat");
    let (d, width) = i.b.write_wide(i.op(0)?, to)?;
    let a = i.b.read_wide(i.op(1)?, from)?;
    i.alu(widen(from), &[d, a]);
    if sat {
        // A 64-bit value of either sign, clamped to the destination.
        let (low, high) = limits(to);
        let (low, high) = (i.b.constant(low as u64), i.b.constant(high));
        let clamp = match (from.is_signed(), to.is_signed()) {
            (true, true) => alu!(a, low, high => (a as i64).clamp(low as i64, high as i64) as u64),
            (true, false) => alu!(a, _low, high => if (a as i64) < 0 { 0 } else { a.min(high) }),
            (false, _) => alu!(a, _low, high => a.min(high)),
        };
        i.alu(clamp, &[d, d, low, high]);
    } else if to.bits() < from.bits() || to.bits() < width {
        // The value is first what the destination's type makes of it, then extended to its register.
        i.alu(widen(to), &[d, d]);
    }
    if let Some(run) = truncate(width) {
        i.alu(run, &[d, d]);
    }
    Ok(())
}

fn limits(ty: Type) -> (i64, u64) {
    let bits = ty.bits();
    if ty.is_signed() {
        (i64::MIN >> (64 - bits), (i64::MAX >> (64 - bits)) as u64)
    } else {
        (0, u64::MAX >> (64 - bits))
    }
}

fn to_float(i: &mut Instr<'_>, from: Type, to: Type) -> Result<(), LoadError> {
    let round = i.rounding().ok_or_else(|| i.unknown())?;
    let sat = i.flag("sat");
    let ftz = to == Type::F32 && i.flag("ftz");
    let _ = ftz; // no integer becomes a subnormal number
    let (d, _) = i.b.write_wide(i.op(0)?, to)?;
    let a = i.b.read_wide(i.op(1)?, from)?;
    let temp = i.b.temp(TEMP);
    i.alu(widen(from), &[temp, a]);
    let run = match (to, from.is_signed()) {
        (Type::F32, true) => per_round!(round, R => alu!(a => single_of((a as i64).into(), R).to_bits().into())),
        (Type::F32, false) => per_round!(round, R => alu!(a => single_of(a.into(), R).to_bits().into())),
        (Type::F64, true) => per_round!(round, R => alu!(a => double_of((a as i64).into(), R).to_bits())),
        (Type::F64, false) => per_round!(round, R => alu!(a => double_of(a.into(), R).to_bits())),
        (Type::F16, true) => per_round!(round, R => alu!(a => Half::F16.bits(a as i64 as f64, R).into())),
        (Type::F16, false) => per_round!(round, R => alu!(a => Half::F16.bits(a as f64, R).into())),
        // Beyond 53 bits a bfloat16 rounds by its sticky bit alone.
        (_, true) => per_round!(round, R => alu!(a => Half::Bf16.bits(sticky((a as i64).into()), R).into())),
        (_, false) => per_round!(round, R => alu!(a => Half::Bf16.bits(sticky(a.into()), R).into())),
    };
    i.alu(run, &[d, temp]);
    if sat {
        saturate(i, d, to);
    }
    Ok(())
}

/// An integer as a double rounded to odd.
fn sticky(value: i128) -> f64 {
    let nearest = value as f64;
    crate::exec::math::round::odd(nearest, (value - nearest as i128) as f64)
}

fn saturate(i: &mut Instr<'_>, d: Slot, ty: Type) {
    match ty {
        Type::F32 | Type::F64 => float::saturate(i, d, ty),
        Type::F16 => i.alu(alu!(a => Half::F16.saturate(a as u16).into()), &[d, d]),
        _ => i.alu(alu!(a => Half::Bf16.saturate(a as u16).into()), &[d, d]),
    }
}

/// Emits the source as a double into a temporary.
fn as_double(i: &mut Instr<'_>, from: Type, ftz: bool) -> Result<Slot, LoadError> {
    let a = i.b.read_wide(i.op(1)?, from)?;
    let temp = i.b.temp(TEMP);
    let run = match from {
        Type::F32 if ftz => alu!(a => f64::from(f32::from_bits(flush(a as u32))).to_bits()),
        Type::F32 => alu!(a => f64::from(f32_of(a)).to_bits()),
        Type::F16 => alu!(a => Half::F16.value(a as u16).to_bits()),
        Type::Bf16 => alu!(a => Half::Bf16.value(a as u16).to_bits()),
        _ => return Ok(a),
    };
    i.alu(run, &[temp, a]);
    Ok(temp)
}

const INTEGRAL: [(&str, Round); 4] =
    [("rni", Round::Nearest), ("rzi", Round::Zero), ("rmi", Round::Down), ("rpi", Round::Up)];

fn to_integer(i: &mut Instr<'_>, from: Type, to: Type) -> Result<(), LoadError> {
    let round = i.require(&INTEGRAL)?;
    i.flag("sat"); // clamping is what happens anyway
    let ftz = from == Type::F32 && i.flag("ftz");
    let (d, width) = i.b.write_wide(i.op(0)?, to)?;
    let a = as_double(i, from, ftz)?;
    // NaN becomes 0, or the sign bit alone where a double or a 64-bit integer takes part.
    let nan = if from == Type::F64 || to.bits() == 64 { 1u64 << (to.bits() - 1) } else { 0 };
    let nan = i.b.constant(nan);
    macro_rules! to_width {
        ($w:literal, $signed:literal) => {
            per_round!(round, R => alu!(a, nan => integer_of(f64::from_bits(a), R, $w, $signed, nan)))
        };
    }
    let run = match to {
        Type::U8 => to_width!(8, false),
        Type::U16 => to_width!(16, false),
        Type::U32 => to_width!(32, false),
        Type::U64 => to_width!(64, false),
        Type::S8 => to_width!(8, true),
        Type::S16 => to_width!(16, true),
        Type::S32 => to_width!(32, true),
        _ => to_width!(64, true),
    };
    i.alu(run, &[d, a, nan]);
    if let Some(run) = truncate(width) {
        i.alu(run, &[d, d]);
    }
    Ok(())
}

/// The bits of a double in another format.
fn narrowed(to: Type, round: Round) -> AluFn {
    match to {
        Type::F32 => per_round!(round, R => alu!(a => narrow(f64::from_bits(a), R))),
        Type::F16 => per_round!(round, R => alu!(a => Half::F16.bits(f64::from_bits(a), R).into())),
        Type::Bf16 => per_round!(round, R => alu!(a => Half::Bf16.bits(f64::from_bits(a), R).into())),
        _ => alu!(a => a),
    }
}

fn floats(i: &mut Instr<'_>, from: Type, to: Type) -> Result<(), LoadError> {
    let whole = i.choose(&INTEGRAL);
    let round = i.rounding();
    let (sat, relu) = (i.flag("sat"), i.flag("relu"));
    let ftz = (from == Type::F32 || to == Type::F32) && i.flag("ftz");
    // What can lose bits names its rounding; what cannot has none.
    if whole.is_none() && round.is_none() && (to.bits() < from.bits()) {
        return Err(i.unknown());
    }
    let (d, _) = i.b.write_wide(i.op(0)?, to)?;
    let mut a = as_double(i, from, ftz)?;
    if let Some(round) = whole {
        let temp = i.b.temp(TEMP + 1);
        let run = per_round!(round, R => alu!(a => integral(f64::from_bits(a), R).to_bits()));
        i.alu(run, &[temp, a]);
        a = temp;
    }
    if relu {
        let temp = i.b.temp(TEMP + 2);
        i.alu(alu!(a => if (a as i64) < 0 && !f64::from_bits(a).is_nan() { 0 } else { a }), &[temp, a]);
        a = temp;
    }
    i.alu(narrowed(to, round.unwrap_or(Round::Nearest)), &[d, a]);
    if ftz && to == Type::F32 {
        i.alu(alu!(a => u64::from(flush(a as u32))), &[d, d]);
    }
    if sat {
        saturate(i, d, to);
    }
    Ok(())
}

/// Two singles into a pair; the first operand becomes the upper half.
fn pack(i: &mut Instr<'_>, from: Type, to: Type) -> Result<(), LoadError> {
    let round = i.choose(&[("rn", Round::Nearest), ("rz", Round::Zero)]).ok_or_else(|| i.unknown())?;
    let relu = i.flag("relu");
    if from != Type::F32 {
        return Err(i.unknown());
    }
    i.arity(3)?;
    let slots = [i.write(0, to)?, i.read(1, from)?, i.read(2, from)?];
    macro_rules! both {
        ($h:expr) => {
            per_round!(round, R => alu!(a, b => {
                u64::from($h.bits(f32_of(a).into(), R)) << 16 | u64::from($h.bits(f32_of(b).into(), R))
            }))
        };
    }
    let run = if to == Type::F16x2 { both!(Half::F16) } else { both!(Half::Bf16) };
    i.alu(run, &slots);
    if relu {
        let run = if to == Type::F16x2 {
            alu!(a => crate::exec::math::half::pair1(a, |x| Half::F16.relu(x)))
        } else {
            alu!(a => crate::exec::math::half::pair1(a, |x| Half::Bf16.relu(x)))
        };
        i.alu(run, &[slots[0], slots[0]]);
    }
    Ok(())
}
