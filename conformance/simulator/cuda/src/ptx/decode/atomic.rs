//! `atom` and `red`.

use super::*;
use crate::exec::atomics::{self, Kind};
use crate::exec::op::Atomic;
use crate::ptx::builder::SINK;

const KINDS: [(&str, Kind); 10] = [
    ("add", Kind::Add),
    ("inc", Kind::Inc),
    ("dec", Kind::Dec),
    ("min", Kind::Min),
    ("max", Kind::Max),
    ("and", Kind::And),
    ("or", Kind::Or),
    ("xor", Kind::Xor),
    ("exch", Kind::Exchange),
    ("cas", Kind::CompareSwap),
];

/// What a type is to an atomic operation.
fn value(ty: Type) -> Option<atomics::Value> {
    use atomics::Value;
    Some(match ty {
        Type::U32 => Value::U32,
        Type::S32 => Value::S32,
        Type::B32 => Value::B32,
        Type::U64 => Value::U64,
        Type::S64 => Value::S64,
        Type::B64 => Value::B64,
        Type::B16 => Value::B16,
        Type::F16 => Value::F16,
        Type::F16x2 => Value::F16x2,
        Type::Bf16 => Value::Bf16,
        Type::Bf16x2 => Value::Bf16x2,
        Type::F32 => Value::F32,
        Type::F64 => Value::F64,
        _ => return None,
    })
}

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let kind = i.require(&KINDS)?;
    let space = memory::space(i);
    let policy = memory::hints(i);
    i.ignore(&["relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys"]);
    let half = matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2);
    if half && !i.flag("noftz") {
        return Err(i.unknown());
    }
    let run = value(ty).and_then(|v| atomics::function(kind, v)).ok_or_else(|| i.unknown())?;
    let returns = i.base == "atom";
    if !returns && matches!(kind, Kind::Exchange | Kind::CompareSwap) {
        return Err(i.unknown());
    }
    let first = usize::from(returns);
    let operands = if kind == Kind::CompareSwap { 3 } else { 2 };
    i.arity(first + operands + usize::from(policy))?;
    let to = if returns { i.write(0, ty)? } else { i.b.temp(SINK) };
    let address = i.b.address(i.op(first)?, space)?;
    let b = i.read(first + 1, ty)?;
    let c = if kind == Kind::CompareSwap { i.read(first + 2, ty)? } else { b };
    i.b.emit(Op::Atomic(Atomic { run, address, width: ty.bytes() as u8, to, b, c }));
    Ok(())
}
