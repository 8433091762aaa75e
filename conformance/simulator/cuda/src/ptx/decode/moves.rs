//! `mov`: values, special registers, addresses, packing and unpacking.

use super::*;
use crate::exec::lanes::alu;
use crate::exec::op::{Clock, Logic, Source, Space};
use crate::ptx::builder::{Symbol, TEMP};

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    i.arity(2)?;
    if ty == Type::Pred {
        let p = i.op(0)?;
        let to = i.b.predicate_target(p)?;
        let a = i.b.predicate(i.op(1)?)?;
        i.b.emit(Op::Logic { to, a, b: a, logic: Logic::And });
        return Ok(());
    }
    if ty.bits() < 16 {
        return Err(i.unknown());
    }
    match (i.op(0)?, i.op(1)?) {
        (Operand::Vector(to), source) => unpack(i, to, source, ty),
        (_, Operand::Vector(from)) => pack(i, from, ty),
        (_, source) => scalar(i, source, ty),
    }
}

fn scalar(i: &mut Instr<'_>, source: &Operand, ty: Type) -> Result<(), LoadError> {
    if let Operand::Name(name) = source
        && let Some((clock, keep)) = clock(name)
    {
        let to = i.write(0, ty)?;
        i.b.emit(Op::ReadClock { to, clock, keep });
        return Ok(());
    }
    let d = match i.op(0)? {
        // Sizes of special registers changed over time; a wider destination takes them all.
        op if matches!(source, Operand::Member(..)) => i.b.write_wide(op, Type::U16)?.0,
        op => i.b.write(op, ty)?,
    };
    let a = match source {
        Operand::Name(name) | Operand::Offset(name, _) => match i.b.lookup(name) {
            Some(Symbol::Register(..) | Symbol::Predicate(_)) | None => i.b.read(source, ty)?,
            Some(_) => {
                let offset = if let Operand::Offset(_, offset) = source { *offset } else { 0 };
                return address(i, d, name, offset, ty);
            }
        },
        _ => i.b.read(source, ty)?,
    };
    i.alu(alu!(a => a), &[d, a]);
    Ok(())
}

fn address(i: &mut Instr<'_>, d: Slot, name: &str, offset: i64, ty: Type) -> Result<(), LoadError> {
    let (slot, space) = i.b.address_of(name)?;
    // Shared and local addresses fit 32 bits; others do not.
    if ty.bits() < 32 || (ty.bits() == 32 && !matches!(space, Space::Shared | Space::Local | Space::Param)) {
        return Err(i.error(format!("the address of '{name}' does not fit .{}", ty.name())));
    }
    let offset = i.b.source(Source::Const(offset as u64));
    let run =
        if ty.bits() == 32 { alu!(a, b => a.wrapping_add(b) & 0xffff_ffff) } else { alu!(a, b => a.wrapping_add(b)) };
    i.alu(run, &[d, slot, offset]);
    Ok(())
}

fn clock(name: &str) -> Option<(Clock, u8)> {
    Some(match name {
        "%clock" => (Clock::Cycles, 32),
        "%clock64" => (Clock::Cycles, 64),
        "%clock_hi" => (Clock::Cycles, 33),
        "%globaltimer" => (Clock::Nanoseconds, 64),
        "%globaltimer_lo" => (Clock::Nanoseconds, 32),
        "%globaltimer_hi" => (Clock::Nanoseconds, 33),
        _ => return None,
    })
}

/// The type of one of `n` elements of a value of type `ty`.
fn element(i: &Instr<'_>, ty: Type, n: usize) -> Result<Type, LoadError> {
    match (ty.bits() as usize).checked_div(n) {
        Some(8) if n > 1 => Ok(Type::B8),
        Some(16) if n > 1 => Ok(Type::B16),
        Some(32) if n > 1 => Ok(Type::B32),
        _ => Err(i.error(format!("a .{} value is not made of {n} elements", ty.name()))),
    }
}

fn pack(i: &mut Instr<'_>, from: &[Operand], ty: Type) -> Result<(), LoadError> {
    let part = element(i, ty, from.len())?;
    let d = i.write(0, ty)?;
    let temp = i.b.temp(TEMP);
    let mask = i.b.constant((1 << part.bits()) - 1);
    let mut slots = Vec::new();
    for op in from {
        slots.push(if part == Type::B8 { i.b.read_wide(op, part)? } else { i.b.read(op, part)? });
    }
    for (k, &slot) in slots.iter().enumerate() {
        if k == 0 {
            i.alu(alu!(a, m => a & m), &[temp, slot, mask]);
        } else {
            let shift = i.b.constant(k as u64 * u64::from(part.bits()));
            i.alu(alu!(a, b, n, m => a | (b & m).wrapping_shl(n as u32)), &[temp, temp, slot, shift, mask]);
        }
    }
    i.alu(alu!(a => a), &[d, temp]);
    Ok(())
}

fn unpack(i: &mut Instr<'_>, to: &[Operand], source: &Operand, ty: Type) -> Result<(), LoadError> {
    let part = element(i, ty, to.len())?;
    let a = i.b.read(source, ty)?;
    let mask = i.b.constant((1 << part.bits()) - 1);
    for (k, op) in to.iter().enumerate() {
        let d = if part == Type::B8 { i.b.write_wide(op, part)?.0 } else { i.b.write(op, part)? };
        let shift = i.b.constant(k as u64 * u64::from(part.bits()));
        i.alu(alu!(a, n, m => a.wrapping_shr(n as u32) & m), &[d, a, shift, mask]);
    }
    Ok(())
}
