//! Integer arithmetic; floating-point operands are handed on by type.

use super::*;
use crate::exec::lanes::{alu, alu_carry};
use crate::exec::math::integer::{dot2, dot4, mul24};
use crate::ptx::builder::{CARRY, TEMP};

pub(super) fn decode(i: &mut Instr<'_>, _: &mut Parsed) -> Result<(), LoadError> {
    match i.base {
        "dp4a" | "dp2a" => return dot(i),
        "sad" => return sad(i),
        "mul24" | "mad24" => return short_product(i),
        "addc" | "subc" | "madc" => return carry(i),
        _ => {}
    }
    if matches!(i.base, "add" | "sub" | "mad") && i.mods.contains(&"cc") {
        return carry(i);
    }
    let ty = i.ty()?;
    match ty {
        Type::F32 | Type::F64 => return float::arithmetic(i, ty),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => return half::arithmetic(i, ty),
        Type::Pred | Type::B8 | Type::U8 | Type::S8 | Type::B16 | Type::B32 | Type::B64 => return Err(i.unknown()),
        _ => {}
    }
    match i.base {
        "mul" => product(i, ty),
        "mad" => multiply_add(i, ty),
        _ => simple(i, ty),
    }
}

fn simple(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let saturate = ty == Type::S32 && i.flag("sat");
    let (run, sources) = match i.base {
        "add" if saturate => (Some(alu!(a, b => (a as i32).saturating_add(b as i32) as u32 as u64)), 2),
        "sub" if saturate => (Some(alu!(a, b => (a as i32).saturating_sub(b as i32) as u32 as u64)), 2),
        _ if saturate => (None, 0),
        "add" => (int_alu!(ty, a, b => a.wrapping_add(b)), 2),
        "sub" => (int_alu!(ty, a, b => a.wrapping_sub(b)), 2),
        // Division by zero gives all ones on the hardware, its remainder the dividend.
        "div" => (int_alu!(ty, a, b => if b == 0 { !0 } else { a.wrapping_div(b) }), 2),
        "rem" => (int_alu!(ty, a, b => if b == 0 { a } else { a.wrapping_rem(b) }), 2),
        "min" => (int_alu!(ty, a, b => a.min(b)), 2),
        "max" => (int_alu!(ty, a, b => a.max(b)), 2),
        "neg" if ty.is_signed() => (int_alu!(ty, a => a.wrapping_neg()), 1),
        "abs" => (
            match ty {
                Type::S16 => Some(alu!(a => (a as i16).wrapping_abs() as u16 as u64)),
                Type::S32 => Some(alu!(a => (a as i32).wrapping_abs() as u32 as u64)),
                Type::S64 => Some(alu!(a => (a as i64).wrapping_abs() as u64)),
                _ => None,
            },
            1,
        ),
        _ => (None, 0),
    };
    match run {
        Some(run) => i.same_type(run, ty, sources),
        None => Err(i.unknown()),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    Wide,
}

const PARTS: [(&str, Part); 3] = [("lo", Part::Low), ("hi", Part::High), ("wide", Part::Wide)];

/// The product's function and its destination's type.
fn product_of(ty: Type, part: Part) -> Option<(AluFn, Type)> {
    let run = match part {
        Part::Low => int_alu!(ty, a, b => a.wrapping_mul(b))?,
        Part::High => match ty {
            Type::U16 => alu!(a, b => (a as u16 as u32 * b as u16 as u32) as u64 >> 16),
            Type::S16 => alu!(a, b => (a as i16 as i32 * b as i16 as i32) as u32 as u64 >> 16),
            Type::U32 => alu!(a, b => (a as u32 as u64 * b as u32 as u64) >> 32),
            Type::S32 => alu!(a, b => (a as i32 as i64 * b as i32 as i64) as u64 >> 32),
            Type::U64 => alu!(a, b => ((a as u128 * b as u128) >> 64) as u64),
            Type::S64 => alu!(a, b => ((a as i64 as i128 * b as i64 as i128) >> 64) as u64),
            _ => return None,
        },
        Part::Wide => match ty {
            Type::U16 => alu!(a, b => (a as u16 as u32 * b as u16 as u32) as u64),
            Type::S16 => alu!(a, b => (a as i16 as i32 * b as i16 as i32) as u32 as u64),
            Type::U32 => alu!(a, b => a as u32 as u64 * b as u32 as u64),
            Type::S32 => alu!(a, b => (a as i32 as i64 * b as i32 as i64) as u64),
            _ => return None,
        },
    };
    let to = match (part, ty) {
        (Part::Wide, Type::U16) => Type::U32,
        (Part::Wide, Type::S16) => Type::S32,
        (Part::Wide, Type::U32) => Type::U64,
        (Part::Wide, Type::S32) => Type::S64,
        _ => ty,
    };
    Some((run, to))
}

fn product(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let part = i.require(&PARTS)?;
    let (run, to) = product_of(ty, part).ok_or_else(|| i.unknown())?;
    i.arity(3)?;
    let slots = [i.write(0, to)?, i.read(1, ty)?, i.read(2, ty)?];
    i.alu(run, &slots);
    Ok(())
}

fn multiply_add(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let part = i.require(&PARTS)?;
    i.arity(4)?;
    if part == Part::Low {
        let run = int_alu!(ty, a, b, c => a.wrapping_mul(b).wrapping_add(c)).ok_or_else(|| i.unknown())?;
        return i.same_type(run, ty, 3);
    }
    let saturate = part == Part::High && ty == Type::S32 && i.flag("sat");
    let (multiply, to) = product_of(ty, part).ok_or_else(|| i.unknown())?;
    let temp = i.b.temp(TEMP);
    let (d, a, b, c) = (i.write(0, to)?, i.read(1, ty)?, i.read(2, ty)?, i.read(3, to)?);
    i.alu(multiply, &[temp, a, b]);
    let add = if saturate {
        alu!(a, b => (a as i32).saturating_add(b as i32) as u32 as u64)
    } else {
        int_alu!(to, a, b => a.wrapping_add(b)).ok_or_else(|| i.unknown())?
    };
    i.alu(add, &[d, temp, c]);
    Ok(())
}

/// Instructions that read or write the carry.
fn carry(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let wide = match ty {
        Type::U32 | Type::S32 | Type::B32 => false,
        Type::U64 | Type::S64 | Type::B64 => true,
        _ => return Err(i.unknown()),
    };
    let (writes, reads) = (i.flag("cc"), i.base.ends_with('c'));
    let cc = i.b.temp(CARRY);
    let zero = i.b.constant(0);
    let (d, a, b) = if i.base.starts_with("mad") {
        let part = i.require(&PARTS[..2])?;
        let unsigned = match ty {
            Type::B32 => Type::U32,
            Type::B64 => Type::U64,
            t => t,
        };
        let (multiply, _) = product_of(unsigned, part).ok_or_else(|| i.unknown())?;
        i.arity(4)?;
        let temp = i.b.temp(TEMP);
        let (x, y) = (i.read(1, ty)?, i.read(2, ty)?);
        i.alu(multiply, &[temp, x, y]);
        (i.write(0, ty)?, temp, i.read(3, ty)?)
    } else {
        i.arity(3)?;
        (i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?)
    };
    let subtracts = i.base.starts_with("sub");
    // The third operand scales the incoming carry.
    let run = match (wide, subtracts) {
        (false, false) => alu_carry!(a, b, c, cc => {
            let sum = (a as u32 as u64) + (b as u32 as u64) + (c & 1 & cc);
            (sum as u32 as u64, if c & 2 != 0 { sum >> 32 } else { cc })
        }),
        (true, false) => alu_carry!(a, b, c, cc => {
            let sum = a as u128 + b as u128 + (c & 1 & cc) as u128;
            (sum as u64, if c & 2 != 0 { (sum >> 64) as u64 } else { cc })
        }),
        (false, true) => alu_carry!(a, b, c, cc => {
            let difference = (a as u32 as u64).wrapping_sub(b as u32 as u64).wrapping_sub(c & 1 & cc);
            (difference as u32 as u64, if c & 2 != 0 { difference >> 63 } else { cc })
        }),
        (true, true) => alu_carry!(a, b, c, cc => {
            let difference = (a as u128).wrapping_sub(b as u128).wrapping_sub((c & 1 & cc) as u128);
            (difference as u64, if c & 2 != 0 { (difference >> 127) as u64 } else { cc })
        }),
    };
    let mode = u64::from(reads) | u64::from(writes) << 1;
    let mode = if mode == 0 { zero } else { i.b.constant(mode) };
    i.alu(run, &[d, a, b, mode, cc]);
    Ok(())
}

fn sad(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let run = match ty {
        Type::B16 | Type::B32 | Type::B64 => None,
        _ => int_alu!(ty, a, b, c => if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) }.wrapping_add(c)),
    };
    match run {
        Some(run) => i.same_type(run, ty, 3),
        None => Err(i.unknown()),
    }
}

fn short_product(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let high = i.require(&[("lo", false), ("hi", true)])?;
    let multiply = match (ty, high) {
        (Type::U32, false) => alu!(a, b => mul24(a as u32, b as u32, false, false) as u64),
        (Type::U32, true) => alu!(a, b => mul24(a as u32, b as u32, false, true) as u64),
        (Type::S32, false) => alu!(a, b => mul24(a as u32, b as u32, true, false) as u64),
        (Type::S32, true) => alu!(a, b => mul24(a as u32, b as u32, true, true) as u64),
        _ => return Err(i.unknown()),
    };
    if i.base == "mul24" {
        return i.same_type(multiply, ty, 2);
    }
    let saturate = high && ty == Type::S32 && i.flag("sat");
    i.arity(4)?;
    let (d, a, b, c) = (i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?, i.read(3, ty)?);
    let temp = i.b.temp(TEMP);
    i.alu(multiply, &[temp, a, b]);
    let add = if saturate {
        alu!(a, b => (a as i32).saturating_add(b as i32) as u32 as u64)
    } else {
        alu!(a, b => (a as u32).wrapping_add(b as u32) as u64)
    };
    i.alu(add, &[d, temp, c]);
    Ok(())
}

fn dot(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let high = if i.base == "dp2a" { i.require(&[("lo", false), ("hi", true)])? } else { false };
    let (b, a) = (i.ty()?, i.ty()?);
    let signed = |t: Type| matches!(t, Type::S32);
    if ![a, b].iter().all(|t| matches!(t, Type::U32 | Type::S32)) {
        return Err(i.unknown());
    }
    let flags = u64::from(signed(a)) | u64::from(signed(b)) << 1 | u64::from(high) << 2;
    i.arity(4)?;
    let to = if signed(a) || signed(b) { Type::S32 } else { Type::U32 };
    let slots = [i.write(0, to)?, i.read(1, a)?, i.read(2, b)?, i.read(3, to)?, i.b.constant(flags)];
    let run = if i.base == "dp4a" {
        alu!(a, b, c, f => dot4(a as u32, b as u32, c as u32, f & 1 != 0, f & 2 != 0) as u64)
    } else {
        alu!(a, b, c, f => dot2(a as u32, b as u32, c as u32, f & 1 != 0, f & 2 != 0, f & 4 != 0) as u64)
    };
    i.alu(run, &slots);
    Ok(())
}
