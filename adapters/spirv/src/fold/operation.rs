//! What an instruction computes from constants (`OpSpecConstantOp`).

use std::rc::Rc;

use super::{Value, half_to_single, to_half};
use crate::error::{Error, Result};
use crate::grammar::{self, op};
use crate::model::{Id, Module, Type};

pub(super) fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The result of `opcode` on constants; `literals` are the operands behind the ids.
///
/// # Errors
/// The instruction is none that has a constant result, or its operands do not fit it.
pub(super) fn compute(
    module: &Module,
    opcode: u16,
    result: Id,
    operands: &[(Id, Value)],
    literals: &[u32],
) -> Result<Value> {
    match opcode {
        op::COMPOSITE_EXTRACT => extract(operand(operands, 0)?, literals),
        op::COMPOSITE_INSERT => insert(module, result, operand(operands, 1)?, operand(operands, 0)?, literals),
        op::VECTOR_SHUFFLE => shuffle(module, operands, literals),
        op::SELECT if module.elements(operands.first().map_or(0, |o| o.0))?.1 == 1 => {
            select(operand(operands, 0)?, operand(operands, 1)?, operand(operands, 2)?)
        }
        op::BITCAST => bitcast(module, result, operands),
        _ => elementwise(module, opcode, result, operands),
    }
}

fn operand(operands: &[(Id, Value)], at: usize) -> Result<&Value> {
    operands.get(at).map(|operand| &operand.1).ok_or_else(|| Error::malformed("an operand is missing"))
}

fn scalar(value: &Value) -> Result<u64> {
    match value {
        Value::Bits(bits) => Ok(*bits),
        Value::Null => Ok(0),
        _ => Err(Error::malformed("a scalar is wanted")),
    }
}

fn element(value: &Value, at: usize) -> Result<Value> {
    match value {
        Value::Composite(parts) => {
            parts.get(at).cloned().ok_or_else(|| Error::malformed(format!("element {at} of {}", parts.len())))
        }
        Value::Null => Ok(Value::Null),
        Value::Undef => Ok(Value::Undef),
        _ => Err(Error::malformed("a composite is wanted")),
    }
}

fn extract(value: &Value, path: &[u32]) -> Result<Value> {
    path.iter().try_fold(value.clone(), |value, &at| element(&value, at as usize))
}

/// The elements of a composite of type `ty`, those of a null one too.
fn parts(module: &Module, ty: Id, value: &Value) -> Result<Vec<Value>> {
    let count = match (value, module.ty(ty)?) {
        (Value::Composite(parts), _) => return Ok(parts.to_vec()),
        (_, Type::Vector(_, count)) => count as usize,
        (_, Type::Structure(members)) => members.len(),
        _ => return Err(Error::unsupported("a constant array that is not written part by part is changed")),
    };
    Ok(vec![value.clone(); count])
}

fn part_type(module: &Module, ty: Id, at: u32) -> Result<Id> {
    match module.ty(ty)? {
        Type::Vector(element, _) | Type::Array(element, _) => Ok(element),
        Type::Structure(members) => {
            members.get(at as usize).copied().ok_or_else(|| Error::malformed(format!("member {at} does not exist")))
        }
        _ => Err(Error::malformed("a composite is wanted")),
    }
}

fn insert(module: &Module, ty: Id, into: &Value, what: &Value, path: &[u32]) -> Result<Value> {
    let mut levels = vec![(ty, into.clone())];
    for &at in path {
        let Some((ty, value)) = levels.last() else { break };
        let level = (part_type(module, *ty, at)?, element(value, at as usize)?);
        levels.push(level);
    }
    levels.pop();
    let mut value = what.clone();
    for (&at, (ty, outer)) in path.iter().zip(levels).rev() {
        let mut parts = parts(module, ty, &outer)?;
        *parts.get_mut(at as usize).ok_or_else(|| Error::malformed(format!("element {at} does not exist")))? = value;
        value = Value::Composite(parts.into());
    }
    Ok(value)
}

fn shuffle(module: &Module, operands: &[(Id, Value)], picks: &[u32]) -> Result<Value> {
    let mut all = Vec::new();
    for (ty, value) in operands {
        all.extend(parts(module, *ty, value)?);
    }
    let pick = |&at: &u32| match at {
        u32::MAX => Ok(Value::Undef),
        _ => all.get(at as usize).cloned().ok_or_else(|| Error::malformed(format!("element {at} does not exist"))),
    };
    picks.iter().map(pick).collect::<Result<Vec<_>>>().map(|parts| Value::Composite(parts.into()))
}

fn select(condition: &Value, then: &Value, other: &Value) -> Result<Value> {
    match condition {
        Value::Undef => Ok(Value::Undef),
        condition => Ok(if scalar(condition)? != 0 { then } else { other }.clone()),
    }
}

fn elementwise(module: &Module, opcode: u16, result: Id, operands: &[(Id, Value)]) -> Result<Value> {
    let (element_type, count) = module.elements(result)?;
    let one = |at: Option<usize>| -> Result<Value> {
        let mut values = Vec::with_capacity(operands.len());
        for (_, value) in operands {
            values.push(match at {
                Some(at) => element(value, at)?,
                None => value.clone(),
            });
        }
        match (opcode, &values[..]) {
            (op::SELECT, [condition, then, other]) => return select(condition, then, other),
            _ if values.contains(&Value::Undef) => return Ok(Value::Undef),
            _ => {}
        }
        let mut inputs = Vec::with_capacity(operands.len());
        for ((ty, _), value) in operands.iter().zip(&values) {
            inputs.push((module.ty(module.elements(*ty)?.0)?, scalar(value)?));
        }
        Ok(Value::Bits(one(opcode, module.ty(element_type)?, &inputs)?))
    };
    if count == 1 {
        return one(None);
    }
    let parts: Result<Vec<_>> = (0..count as usize).map(|at| one(Some(at))).collect();
    Ok(Value::Composite(Rc::from(parts?)))
}

/// The elements' bytes side by side, lowest element and byte first, cut into the result's elements. A byte that is undefined beside one
/// that is not becomes 0.
fn bitcast(module: &Module, result: Id, operands: &[(Id, Value)]) -> Result<Value> {
    let (from, value) = operands.first().ok_or_else(|| Error::malformed("an operand is missing"))?;
    let (size, count) = element_bytes(module, *from)?;
    let mut bytes: Vec<Option<u8>> = Vec::with_capacity(size * count);
    for at in 0..count {
        let part = if count == 1 { value.clone() } else { element(value, at)? };
        match part {
            Value::Undef => bytes.extend(vec![None; size]),
            part => bytes.extend(scalar(&part)?.to_le_bytes()[..size].iter().copied().map(Some)),
        }
    }
    let (size, count) = element_bytes(module, result)?;
    if bytes.len() != size * count {
        return Err(Error::malformed("a bit cast between types of different sizes"));
    }
    let mut parts = bytes.chunks(size).map(|chunk| match chunk.iter().all(Option::is_none) {
        true => Value::Undef,
        false => Value::Bits(chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(byte.unwrap_or(0)))),
    });
    match count {
        1 => parts.next().ok_or_else(|| Error::malformed("an element is missing")),
        _ => Ok(Value::Composite(parts.collect())),
    }
}

/// The size of an element, and how many there are.
fn element_bytes(module: &Module, ty: Id) -> Result<(usize, usize)> {
    let (element, count) = module.elements(ty)?;
    match module.ty(element)? {
        Type::Int(bits) | Type::Float(bits) => Ok((bits as usize / 8, count as usize)),
        Type::Pointer(..) => Ok((8, count as usize)),
        _ => Err(Error::malformed("a bit cast of what is no number and no pointer")),
    }
}

fn signed(bits: u32, value: u64) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused) as i64 >> unused
}

fn to_float(ty: Type<'_>, bits: u64) -> f64 {
    match ty {
        Type::Float(16) => f64::from(half_to_single(bits as u16)),
        Type::Float(32) => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn from_float(ty: Type<'_>, value: f64) -> u64 {
    match ty {
        Type::Float(16) => u64::from(to_half(value)),
        Type::Float(32) => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// One element's result.
fn one(opcode: u16, result: Type<'_>, inputs: &[(Type<'_>, u64)]) -> Result<u64> {
    let &[(first, a), ..] = inputs else {
        return Err(Error::malformed("an operand is missing"));
    };
    let second = inputs.get(1).copied();
    let (bits, out) = match (first, result) {
        (Type::Int(bits) | Type::Float(bits), Type::Int(out) | Type::Float(out)) => (bits, out),
        (Type::Int(bits) | Type::Float(bits), _) => (bits, 1),
        (_, Type::Int(out) | Type::Float(out)) => (1, out),
        _ => (1, 1),
    };
    let unary = match opcode {
        op::U_CONVERT | op::COPY_OBJECT => Some(a),
        op::S_CONVERT => Some(signed(bits, a) as u64),
        op::S_NEGATE => Some(a.wrapping_neg()),
        op::NOT => Some(!a),
        op::LOGICAL_NOT => Some(a ^ 1),
        op::F_NEGATE => Some(a ^ 1 << (bits - 1)),
        op::F_CONVERT => Some(from_float(result, to_float(first, a))),
        op::CONVERT_F_TO_S => Some(to_float(first, a) as i64 as u64),
        op::CONVERT_F_TO_U => Some(to_float(first, a) as u64),
        // Straight from the integer: by way of a double it would be rounded twice.
        op::CONVERT_S_TO_F if result == Type::Float(32) => Some(u64::from((signed(bits, a) as f32).to_bits())),
        op::CONVERT_U_TO_F if result == Type::Float(32) => Some(u64::from((a as f32).to_bits())),
        op::CONVERT_S_TO_F => Some(from_float(result, signed(bits, a) as f64)),
        op::CONVERT_U_TO_F => Some(from_float(result, a as f64)),
        _ => None,
    };
    if let Some(value) = unary {
        return Ok(value & mask(out));
    }
    let Some((_, b)) = second else {
        return Err(Error::unsupported(format!("{} of constants", grammar::name(opcode))));
    };
    if let Type::Float(_) = first {
        return float(opcode, first, to_float(first, a), to_float(first, b));
    }
    integer(opcode, bits, a, b).map(|value| value & mask(out))
}

fn float(opcode: u16, ty: Type<'_>, a: f64, b: f64) -> Result<u64> {
    let number = match opcode {
        op::F_ADD => a + b,
        op::F_SUB => a - b,
        op::F_MUL => a * b,
        op::F_DIV => a / b,
        op::F_REM => a % b,
        op::F_MOD => {
            let rest = a % b;
            match rest == 0.0 {
                true => 0f64.copysign(b),
                false if (rest < 0.0) != (b < 0.0) => rest + b,
                false => rest,
            }
        }
        op::F_ORD_EQUAL => return Ok(u64::from(a == b)),
        op::F_ORD_NOT_EQUAL => return Ok(u64::from(a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne))),
        op::F_UNORD_NOT_EQUAL => return Ok(u64::from(a != b)),
        op::F_ORD_LESS_THAN => return Ok(u64::from(a < b)),
        op::F_ORD_LESS_THAN_EQUAL => return Ok(u64::from(a <= b)),
        op::F_ORD_GREATER_THAN => return Ok(u64::from(a > b)),
        op::F_ORD_GREATER_THAN_EQUAL => return Ok(u64::from(a >= b)),
        _ => return Err(Error::unsupported(format!("{} of constants", grammar::name(opcode)))),
    };
    Ok(from_float(ty, number))
}

fn integer(opcode: u16, bits: u32, a: u64, b: u64) -> Result<u64> {
    let (sa, sb) = (signed(bits, a), signed(bits, b));
    let zero = || Error::malformed("a constant is divided by zero");
    Ok(match opcode {
        op::I_ADD => a.wrapping_add(b),
        op::I_SUB => a.wrapping_sub(b),
        op::I_MUL => a.wrapping_mul(b),
        op::U_DIV => a.checked_div(b).ok_or_else(zero)?,
        op::U_MOD => a.checked_rem(b).ok_or_else(zero)?,
        op::S_DIV if sb != 0 => sa.wrapping_div(sb) as u64,
        op::S_REM if sb != 0 => sa.wrapping_rem(sb) as u64,
        op::S_MOD if sb != 0 => {
            let rest = sa.wrapping_rem(sb);
            (if rest != 0 && (rest < 0) != (sb < 0) { rest + sb } else { rest }) as u64
        }
        op::S_DIV | op::S_REM | op::S_MOD => return Err(zero()),
        op::SHIFT_LEFT_LOGICAL => a.checked_shl(b.min(64) as u32).unwrap_or(0),
        op::SHIFT_RIGHT_LOGICAL => a.checked_shr(b.min(64) as u32).unwrap_or(0),
        op::SHIFT_RIGHT_ARITHMETIC => (sa >> b.min(63)) as u64,
        op::BITWISE_OR | op::LOGICAL_OR => a | b,
        op::BITWISE_XOR | op::LOGICAL_NOT_EQUAL => a ^ b,
        op::BITWISE_AND | op::LOGICAL_AND => a & b,
        op::LOGICAL_EQUAL | op::I_EQUAL => u64::from(a == b),
        op::I_NOT_EQUAL => u64::from(a != b),
        op::U_GREATER_THAN => u64::from(a > b),
        op::S_GREATER_THAN => u64::from(sa > sb),
        op::U_GREATER_THAN_EQUAL => u64::from(a >= b),
        op::S_GREATER_THAN_EQUAL => u64::from(sa >= sb),
        op::U_LESS_THAN => u64::from(a < b),
        op::S_LESS_THAN => u64::from(sa < sb),
        op::U_LESS_THAN_EQUAL => u64::from(a <= b),
        op::S_LESS_THAN_EQUAL => u64::from(sa <= sb),
        _ => return Err(Error::unsupported(format!("{} of constants", grammar::name(opcode)))),
    })
}
