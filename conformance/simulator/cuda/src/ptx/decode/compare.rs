//! Comparisons and selections.

use super::*;
use crate::exec::lanes::{alu, compare};
use crate::exec::math::float::{f32_of, flush};
use crate::exec::math::half::Half;
use crate::exec::op::{Combine, Compare, CompareFn, Pred};

#[derive(Clone, Copy, PartialEq)]
enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

const COMPARISONS: [(&str, Cmp); 18] = [
    ("eq", Cmp::Eq),
    ("ne", Cmp::Ne),
    ("lt", Cmp::Lt),
    ("le", Cmp::Le),
    ("gt", Cmp::Gt),
    ("ge", Cmp::Ge),
    ("lo", Cmp::Lt),
    ("ls", Cmp::Le),
    ("hi", Cmp::Gt),
    ("hs", Cmp::Ge),
    ("equ", Cmp::Equ),
    ("neu", Cmp::Neu),
    ("ltu", Cmp::Ltu),
    ("leu", Cmp::Leu),
    ("gtu", Cmp::Gtu),
    ("geu", Cmp::Geu),
    ("num", Cmp::Num),
    ("nan", Cmp::Nan),
];

macro_rules! integers {
    ($cmp:expr, $t:ty) => {
        match $cmp {
            Cmp::Eq => Some(compare!(a, b => a as $t == b as $t)),
            Cmp::Ne => Some(compare!(a, b => a as $t != b as $t)),
            Cmp::Lt => Some(compare!(a, b => (a as $t) < (b as $t))),
            Cmp::Le => Some(compare!(a, b => a as $t <= b as $t)),
            Cmp::Gt => Some(compare!(a, b => a as $t > b as $t)),
            Cmp::Ge => Some(compare!(a, b => a as $t >= b as $t)),
            _ => None,
        }
    };
}

macro_rules! floats {
    ($cmp:expr, $x:ident => $value:expr) => {{
        macro_rules! v {
            ($y:expr) => {{
                let $x = $y;
                $value
            }};
        }
        match $cmp {
            Cmp::Eq => compare!(a, b => v!(a) == v!(b)),
            // Unordered operands are not "not equal".
            Cmp::Ne => compare!(a, b => v!(a) < v!(b) || v!(a) > v!(b)),
            Cmp::Lt => compare!(a, b => v!(a) < v!(b)),
            Cmp::Le => compare!(a, b => v!(a) <= v!(b)),
            Cmp::Gt => compare!(a, b => v!(a) > v!(b)),
            Cmp::Ge => compare!(a, b => v!(a) >= v!(b)),
            Cmp::Equ => compare!(a, b => !(v!(a) < v!(b) || v!(a) > v!(b))),
            Cmp::Neu => compare!(a, b => v!(a) != v!(b)),
            Cmp::Ltu => compare!(a, b => !(v!(a) >= v!(b))),
            Cmp::Leu => compare!(a, b => !(v!(a) > v!(b))),
            Cmp::Gtu => compare!(a, b => !(v!(a) <= v!(b))),
            Cmp::Geu => compare!(a, b => !(v!(a) < v!(b))),
            Cmp::Num => compare!(a, b => !v!(a).is_nan() && !v!(b).is_nan()),
            Cmp::Nan => compare!(a, b => v!(a).is_nan() || v!(b).is_nan()),
        }
    }};
}

#[allow(clippy::neg_cmp_op_on_partial_ord)]
fn comparison(cmp: Cmp, ty: Type) -> Option<CompareFn> {
    match ty {
        Type::B16 | Type::U16 => integers!(cmp, u16),
        Type::S16 => integers!(cmp, i16),
        Type::B32 | Type::U32 => integers!(cmp, u32),
        Type::S32 => integers!(cmp, i32),
        Type::B64 | Type::U64 => integers!(cmp, u64),
        Type::S64 => integers!(cmp, i64),
        Type::F32 => Some(floats!(cmp, x => f32_of(x))),
        Type::F64 => Some(floats!(cmp, x => f64::from_bits(x))),
        Type::F16 => Some(floats!(cmp, x => Half::F16.value(x as u16))),
        Type::Bf16 => Some(floats!(cmp, x => Half::Bf16.value(x as u16))),
        _ => None,
    }
}

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    match i.base {
        "setp" => {
            let ty = i.ty()?;
            setp(i, ty)
        }
        "set" => set(i),
        "selp" => selp(i),
        _ => slct(i),
    }
}

/// Reads the modifiers and sources that `setp` and `set` share, and emits the comparison.
fn emit(i: &mut Instr<'_>, ty: Type, p: u32, q: u32) -> Result<(), LoadError> {
    let cmp = i.require(&COMPARISONS)?;
    let combine = i.choose(&[("and", Combine::And), ("or", Combine::Or), ("xor", Combine::Xor)]);
    let ftz = matches!(ty, Type::F32 | Type::F16) && i.flag("ftz");
    let run = comparison(cmp, ty).ok_or_else(|| i.unknown())?;
    i.arity(if combine.is_some() { 4 } else { 3 })?;
    let (mut a, mut b) = (i.read(1, ty)?, i.read(2, ty)?);
    if ftz && ty == Type::F32 {
        a = float::flushed(i, a, 0, true);
        b = float::flushed(i, b, 1, true);
    }
    let (combine, c) = match combine {
        Some(c) => (c, i.b.predicate(i.op(3)?)?),
        None => (Combine::And, Pred::TRUE),
    };
    i.b.emit(Op::Compare(Compare { run, a, b, combine, c, p, q }));
    Ok(())
}

fn setp(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let (p, q) = match i.op(0)? {
        Operand::Pair(p, q) => (i.b.predicate_target(p)?, i.b.predicate_target(q)?),
        p => (i.b.predicate_target(p)?, 0),
    };
    emit(i, ty, p, q)
}

fn set(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let source = i.ty()?;
    let to = i.ty()?;
    let one = match to {
        Type::U32 | Type::S32 => 0xffff_ffff,
        Type::F32 => 0x3f80_0000,
        _ => return Err(i.unknown()),
    };
    let p = i.b.scratch();
    let d = i.write(0, to)?;
    emit(i, source, p, 0)?;
    let (a, b) = (i.b.constant(one), i.b.constant(0));
    i.b.emit(Op::Select { to: d, a, b, p: Pred { index: p, negated: false } });
    Ok(())
}

fn selp(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    if ty.bits() < 16 {
        return Err(i.unknown());
    }
    i.arity(4)?;
    let (to, a, b) = (i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?);
    let p = i.b.predicate(i.op(3)?)?;
    i.b.emit(Op::Select { to, a, b, p });
    Ok(())
}

fn slct(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let (by, ty) = (i.ty()?, i.ty()?);
    let ftz = by == Type::F32 && i.flag("ftz");
    let run = match by {
        Type::S32 => alu!(a, b, c => if c as i32 >= 0 { a } else { b }),
        Type::F32 if ftz => alu!(a, b, c => if f32::from_bits(flush(c as u32)) >= 0.0 { a } else { b }),
        Type::F32 => alu!(a, b, c => if f32_of(c) >= 0.0 { a } else { b }),
        _ => return Err(i.unknown()),
    };
    i.arity(4)?;
    let slots = [i.write(0, ty)?, i.read(1, ty)?, i.read(2, ty)?, i.read(3, by)?];
    i.alu(run, &slots);
    Ok(())
}
