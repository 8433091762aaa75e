//! Logic, shifts and bit fields.

use super::*;
use crate::exec::lanes::alu;
use crate::exec::math::integer::*;
use crate::exec::op::Logic;

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    match i.base {
        "shf" => return funnel(i),
        "lop3" => return lop3(i),
        "prmt" => return prmt(i),
        "bmsk" | "szext" => return clamped(i),
        "bfind" => return bfind(i),
        _ => {}
    }
    let ty = i.ty()?;
    if ty == Type::Pred {
        return predicates(i);
    }
    let bits = matches!(ty, Type::B16 | Type::B32 | Type::B64);
    let words = matches!(ty, Type::B32 | Type::B64);
    match i.base {
        "and" if bits => i.same_type(alu!(a, b => a & b), ty, 2),
        "or" if bits => i.same_type(alu!(a, b => a | b), ty, 2),
        "xor" if bits => i.same_type(alu!(a, b => a ^ b), ty, 2),
        "not" if bits => {
            let run = int_alu!(ty, a => !a).ok_or_else(|| i.unknown())?;
            i.same_type(run, ty, 1)
        }
        "cnot" if bits => i.same_type(alu!(a => u64::from(a == 0)), ty, 1),
        "shl" | "shr" => shift(i, ty),
        "popc" if words => count(i, ty, alu!(a => u64::from(a.count_ones()))),
        "clz" if words => {
            let run = if ty == Type::B32 {
                alu!(a => u64::from((a as u32).leading_zeros()))
            } else {
                alu!(a => u64::from(a.leading_zeros()))
            };
            count(i, ty, run)
        }
        "brev" if words => {
            let run = int_alu!(ty, a => a.reverse_bits()).ok_or_else(|| i.unknown())?;
            i.same_type(run, ty, 1)
        }
        "bfe" => bfe(i, ty),
        "bfi" if words => bfi(i, ty),
        "fns" if ty == Type::B32 => {
            i.arity(4)?;
            let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?, i.read(3, Type::S32)?];
            i.alu(alu!(m, b, o => u64::from(find_nth(m as u32, b as u32, o as i32))), &slots);
            Ok(())
        }
        _ => Err(i.unknown()),
    }
}

fn count(i: &mut Instr<'_>, ty: Type, run: AluFn) -> Result<(), LoadError> {
    i.arity(2)?;
    let slots = [i.write(0, Type::U32)?, i.read(1, ty)?];
    i.alu(run, &slots);
    Ok(())
}

fn predicates(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let p = i.op(0)?;
    let to = i.b.predicate_target(p)?;
    let (logic, negate, sources) = match i.base {
        "and" => (Logic::And, false, 2),
        "or" => (Logic::Or, false, 2),
        "xor" => (Logic::Xor, false, 2),
        "not" => (Logic::And, true, 1),
        _ => return Err(i.unknown()),
    };
    i.arity(sources + 1)?;
    let mut a = i.b.predicate(i.op(1)?)?;
    a.negated ^= negate;
    let b = if sources == 2 { i.b.predicate(i.op(2)?)? } else { a };
    i.b.emit(Op::Logic { to, a, b, logic });
    Ok(())
}

fn shift(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    // Amounts beyond the width shift everything out.
    let run = match (i.base, ty) {
        ("shl", Type::B16) => alu!(a, n => if n as u32 > 15 { 0 } else { (a << (n & 15)) as u16 as u64 }),
        ("shl", Type::B32) => alu!(a, n => if n as u32 > 31 { 0 } else { ((a as u32) << (n as u32 & 31)) as u64 }),
        ("shl", Type::B64) => alu!(a, n => if n as u32 > 63 { 0 } else { a << (n & 63) }),
        ("shr", Type::B16 | Type::U16) => alu!(a, n => if n as u32 > 15 { 0 } else { a >> (n & 15) }),
        ("shr", Type::B32 | Type::U32) => {
            alu!(a, n => if n as u32 > 31 { 0 } else { (a as u32 >> (n as u32 & 31)) as u64 })
        }
        ("shr", Type::B64 | Type::U64) => alu!(a, n => if n as u32 > 63 { 0 } else { a >> (n & 63) }),
        ("shr", Type::S16) => alu!(a, n => (a as i16 >> (n as u32).min(15)) as u16 as u64),
        ("shr", Type::S32) => alu!(a, n => (a as i32 >> (n as u32).min(31)) as u32 as u64),
        ("shr", Type::S64) => alu!(a, n => (a as i64 >> (n as u32).min(63)) as u64),
        _ => return Err(i.unknown()),
    };
    i.arity(3)?;
    let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, Type::U32)?];
    i.alu(run, &slots);
    Ok(())
}

fn funnel(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let left = i.require(&[("l", true), ("r", false)])?;
    let wrap = i.require(&[("wrap", true), ("clamp", false)])?;
    if ty != Type::B32 {
        return Err(i.unknown());
    }
    let run = match (left, wrap) {
        (true, true) => alu!(a, b, c => ((b << 32 | a & 0xffff_ffff) << (c & 31)) >> 32),
        (true, false) => alu!(a, b, c => ((b << 32 | a & 0xffff_ffff) << (c as u32).min(32)) >> 32),
        (false, true) => alu!(a, b, c => (b << 32 | a & 0xffff_ffff) >> (c & 31) & 0xffff_ffff),
        (false, false) => alu!(a, b, c => (b << 32 | a & 0xffff_ffff) >> (c as u32).min(32) & 0xffff_ffff),
    };
    i.arity(4)?;
    let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?, i.read(3, Type::U32)?];
    i.alu(run, &slots);
    Ok(())
}

fn lop3(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if i.ty()? != Type::B32 {
        return Err(i.unknown());
    }
    i.arity(5)?;
    let Operand::Int(table) = i.op(4)? else { return Err(i.error("the table of lop3 is a constant")) };
    let table = *table & 0xff;
    let slots = [
        i.write(0, Type::B32)?,
        i.read(1, Type::B32)?,
        i.read(2, Type::B32)?,
        i.read(3, Type::B32)?,
        i.b.constant(table),
    ];
    let run = match table {
        0x96 => alu!(a, b, c, _t => a ^ b ^ c),
        0xe8 => alu!(a, b, c, _t => a & b | a & c | b & c),
        0xf8 => alu!(a, b, c, _t => a | b & c),
        0x80 => alu!(a, b, c, _t => a & b & c),
        0xfe => alu!(a, b, c, _t => a | b | c),
        _ => alu!(a, b, c, t => u64::from(logic3(a as u32, b as u32, c as u32, t as u32))),
    };
    i.alu(run, &slots);
    Ok(())
}

fn prmt(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let mode = i.choose(&[
        ("f4e", PermuteMode::Forward4),
        ("b4e", PermuteMode::Backward4),
        ("rc8", PermuteMode::Replicate8),
        ("ecl", PermuteMode::EdgeLeft),
        ("ecr", PermuteMode::EdgeRight),
        ("rc16", PermuteMode::Replicate16),
    ]);
    macro_rules! moded {
        ($m:expr) => {
            alu!(a, b, c => u64::from(permute(a as u32, b as u32, permute_selector($m, c as u32))))
        };
    }
    let run = match mode {
        None => alu!(a, b, c => u64::from(permute(a as u32, b as u32, c as u32))),
        Some(PermuteMode::Forward4) => moded!(PermuteMode::Forward4),
        Some(PermuteMode::Backward4) => moded!(PermuteMode::Backward4),
        Some(PermuteMode::Replicate8) => moded!(PermuteMode::Replicate8),
        Some(PermuteMode::EdgeLeft) => moded!(PermuteMode::EdgeLeft),
        Some(PermuteMode::EdgeRight) => moded!(PermuteMode::EdgeRight),
        Some(PermuteMode::Replicate16) => moded!(PermuteMode::Replicate16),
    };
    if i.ty()? != Type::B32 {
        return Err(i.unknown());
    }
    i.same_type(run, Type::B32, 3)
}

fn clamped(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let wrap = i.require(&[("wrap", true), ("clamp", false)])?;
    let run = match (i.base, ty, wrap) {
        ("bmsk", Type::B32, true) => alu!(a, b => u64::from(mask(a as u32, b as u32, true))),
        ("bmsk", Type::B32, false) => alu!(a, b => u64::from(mask(a as u32, b as u32, false))),
        ("szext", Type::U32, true) => alu!(a, b => u64::from(extend(a as u32, b as u32, true, false))),
        ("szext", Type::U32, false) => alu!(a, b => u64::from(extend(a as u32, b as u32, false, false))),
        ("szext", Type::S32, true) => alu!(a, b => u64::from(extend(a as u32, b as u32, true, true))),
        ("szext", Type::S32, false) => alu!(a, b => u64::from(extend(a as u32, b as u32, false, true))),
        _ => return Err(i.unknown()),
    };
    i.arity(3)?;
    let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, Type::U32)?];
    i.alu(run, &slots);
    Ok(())
}

fn bfind(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let amount = i.flag("shiftamt");
    let signed = ty.is_signed();
    macro_rules! find {
        ($w:literal) => {
            match (signed, amount) {
                (false, false) => alu!(a => u64::from(find_high(a, $w, false, false))),
                (false, true) => alu!(a => u64::from(find_high(a, $w, false, true))),
                (true, false) => alu!(a => u64::from(find_high(a, $w, true, false))),
                (true, true) => alu!(a => u64::from(find_high(a, $w, true, true))),
            }
        };
    }
    let run = match ty {
        Type::U32 | Type::S32 => find!(32),
        Type::U64 | Type::S64 => find!(64),
        _ => return Err(i.unknown()),
    };
    count(i, ty, run)
}

fn bfe(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let run = match ty {
        Type::U32 => alu!(a, s, n => extract(a, s, n, 32, false)),
        Type::S32 => alu!(a, s, n => extract(a, s, n, 32, true)),
        Type::U64 => alu!(a, s, n => extract(a, s, n, 64, false)),
        Type::S64 => alu!(a, s, n => extract(a, s, n, 64, true)),
        _ => return Err(i.unknown()),
    };
    i.arity(4)?;
    let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, Type::U32)?, i.read(3, Type::U32)?];
    i.alu(run, &slots);
    Ok(())
}

fn bfi(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let run = if ty == Type::B32 {
        alu!(f, into, s, n => insert(f, into, s, n, 32))
    } else {
        alu!(f, into, s, n => insert(f, into, s, n, 64))
    };
    i.arity(5)?;
    let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?, i.read(3, Type::U32)?, i.read(4, Type::U32)?];
    i.alu(run, &slots);
    Ok(())
}
