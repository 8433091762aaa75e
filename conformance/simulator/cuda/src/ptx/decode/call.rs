//! Calls, direct, through an address, and of what the device provides.

use super::*;
use crate::exec::op::{Call, Callee, Load, Space, Store};
use crate::ptx::builder::Symbol;

/// An argument or result: bytes of the frame, and the register that goes with them if one was written.
struct Passed {
    place: (u64, u64),
    register: Option<(Slot, Type)>,
}

pub(super) fn decode(i: &mut Instr<'_>, parsed: &mut Parsed) -> Result<(), LoadError> {
    i.flag("uni");
    let (results, rest) = match i.ops {
        [Operand::List(list), rest @ ..] => (list.as_slice(), rest),
        all => (&[][..], all),
    };
    let [Operand::Name(target), rest @ ..] = rest else {
        return Err(i.error("the name of a function, or a register, is expected"));
    };
    let (arguments, prototype) = match rest {
        [Operand::List(list), rest @ ..] => (list.as_slice(), rest),
        all => (&[][..], all),
    };
    let callee = match i.b.lookup(target) {
        Some(Symbol::Function(index)) => {
            if !prototype.is_empty() {
                return Err(i.error("too many operands"));
            }
            match parsed.functions[index as usize].builtin {
                Some(builtin) => Callee::Builtin(builtin),
                None => {
                    i.b.calls.push(index);
                    Callee::Function(index)
                }
            }
        }
        Some(Symbol::Register(slot, Type::U64 | Type::B64 | Type::S64)) => {
            match prototype {
                [Operand::Name(name)] if matches!(i.b.lookup(name), Some(Symbol::Prototype | Symbol::Targets(_))) => {}
                _ => return Err(i.error("a call through a register names its prototype")),
            }
            i.b.calls_indirectly = true;
            Callee::Address(slot)
        }
        Some(_) => return Err(i.error(format!("'{target}' is not a function"))),
        None => return Err(i.b.undefined(target)),
    };
    let results = passed(i, results, &[])?;
    let wanted: Vec<usize> = match callee {
        Callee::Function(f) => parsed.functions[f as usize].params.iter().map(|p| p.1).collect(),
        _ => Vec::new(),
    };
    let arguments = passed(i, arguments, &wanted)?;
    if let Callee::Function(f) = callee {
        check(i, &parsed.functions[f as usize], &arguments, &results)?;
    }
    if let Callee::Builtin(_) = callee {
        let wanted = if callee == Callee::Builtin(crate::exec::op::Builtin::Printf) { 2 } else { 5 };
        if arguments.len() != wanted {
            return Err(i.error(format!("'{target}' takes {wanted} arguments, not {}", arguments.len())));
        }
    }
    emit(i, callee, arguments, results)
}

fn check(
    i: &Instr<'_>,
    f: &crate::ptx::parser::FunctionDeclaration,
    arguments: &[Passed],
    results: &[Passed],
) -> Result<(), LoadError> {
    let fits = |have: &[Passed], want: &[(usize, usize, usize)]| {
        have.len() == want.len() && have.iter().zip(want).all(|(h, w)| h.place.1 == w.1 as u64)
    };
    if fits(arguments, &f.params) && fits(results, &f.results) {
        return Ok(());
    }
    Err(i.error(format!("the arguments of the call do not match the declaration of '{}'", f.name)))
}

fn passed(i: &mut Instr<'_>, list: &[Operand], wanted: &[usize]) -> Result<Vec<Passed>, LoadError> {
    let mut out = Vec::new();
    for (k, op) in list.iter().enumerate() {
        let symbol = if let Operand::Name(name) = op { i.b.lookup(name) } else { None };
        out.push(match (symbol, op) {
            (Some(Symbol::Frame(offset, size)), _) => Passed { place: (offset, size), register: None },
            (Some(Symbol::Register(slot, ty)), _) => {
                let size = ty.bytes() as u64;
                Passed { place: (i.b.reserve(size, size)?, size), register: Some((slot, ty)) }
            }
            (_, Operand::Int(_) | Operand::Single(_) | Operand::Double(_)) => {
                let ty = if wanted.get(k) == Some(&8) { Type::B64 } else { Type::B32 };
                let slot = i.b.read(op, ty)?;
                let size = ty.bytes() as u64;
                Passed { place: (i.b.reserve(size, size)?, size), register: Some((slot, ty)) }
            }
            _ => return Err(i.error("a call passes .param variables, registers or constants")),
        });
    }
    Ok(out)
}

fn emit(i: &mut Instr<'_>, callee: Callee, arguments: Vec<Passed>, results: Vec<Passed>) -> Result<(), LoadError> {
    for p in &arguments {
        if let Some((slot, ty)) = p.register {
            let address = frame(i, p.place.0);
            let from = [slot, 0, 0, 0];
            i.b.emit(Op::Store(Store { address, width: ty.bytes() as u8, count: 1, from }));
        }
    }
    let places = |list: &[Passed]| list.iter().map(|p| p.place).collect();
    let call = Call { callee, arguments: places(&arguments), results: places(&results) };
    i.b.emit(Op::Call(Box::new(call)));
    for p in &results {
        if let Some((slot, ty)) = p.register {
            let address = frame(i, p.place.0);
            let to = [slot, 0, 0, 0];
            let (width, keep) = (ty.bytes() as u8, ty.bits() as u8);
            i.b.emit(Op::Load(Load { address, width, count: 1, sign_shift: 0, keep, to }));
        }
    }
    Ok(())
}

/// An address in the frame.
fn frame(i: &mut Instr<'_>, offset: u64) -> crate::exec::op::Address {
    let base = i.b.source(crate::exec::op::Source::Local(offset));
    let site = i.b.code.sites;
    i.b.code.sites += 1;
    crate::exec::op::Address { space: Space::Local, base, offset: 0, site }
}
