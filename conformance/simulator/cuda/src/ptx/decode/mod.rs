//! Instructions to operations.
//!
//! Every family consumes the modifiers it understands; one that is left over makes the instruction unknown, so
//! that nothing is ever silently taken for something else. The functions here must not guess a meaning.

mod arithmetic;
mod atomic;
mod bits;
mod call;
mod compare;
mod convert;
mod float;
mod flow;
mod half;
mod image;
mod memory;
mod moves;
mod warp;

use super::builder::Builder;
use super::error::{LoadError, LoadErrorKind};
use super::operand::Operand;
use super::parser::Parsed;
use super::types::Type;
use crate::exec::math::round::Round;
use crate::exec::op::{AluFn, Op, Slot};

/// An instruction being decoded.
struct Instr<'a> {
    b: &'a mut Builder,
    base: &'a str,
    mods: Vec<&'a str>,
    all: &'a [Box<str>],
    ops: &'a [Operand],
}

type Decoder = fn(&mut Instr<'_>, &mut Parsed) -> Result<(), LoadError>;

/// The family an instruction belongs to.
fn family(base: &str) -> Option<Decoder> {
    Some(match base {
        "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min" | "max" | "sad" | "mul24"
        | "mad24" | "addc" | "subc" | "madc" | "dp4a" | "dp2a" => arithmetic::decode,
        "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "ex2" | "lg2" | "tanh" | "copysign" | "testp" => {
            |i, _| float::function(i)
        }
        "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shl" | "shr" | "shf" | "prmt" | "popc" | "clz" | "bfind"
        | "fns" | "brev" | "bfe" | "bfi" | "bmsk" | "szext" => |i, _| bits::decode(i),
        "setp" | "set" | "selp" | "slct" => |i, _| compare::decode(i),
        "cvt" => |i, _| convert::decode(i),
        "mov" => |i, _| moves::decode(i),
        "ld" | "ldu" | "st" | "cvta" | "isspacep" | "prefetch" | "prefetchu" | "cp" | "discard" | "applypriority" => {
            |i, parsed| memory::decode(i, parsed)
        }
        "atom" | "red" => |i, _| atomic::decode(i),
        "bra" | "brx" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "bar" | "barrier" | "membar" | "fence"
        | "griddepcontrol" | "pmevent" => |i, _| flow::decode(i),
        "vote" | "match" | "redux" | "shfl" | "activemask" | "elect" => |i, _| warp::decode(i),
        "tex" | "suld" | "sust" | "txq" | "suq" => |i, _| image::decode(i),
        "call" => call::decode,
        _ => return None,
    })
}

fn unknown(base: &str, mods: &[Box<str>], line: u32) -> LoadError {
    let mut name = base.to_owned();
    for m in mods {
        name.push('.');
        name.push_str(m);
    }
    LoadError::new(line, LoadErrorKind::UnknownInstruction, format!("unknown instruction '{name}'"))
}

/// Refuses what no family knows, before its operands are read.
pub(super) fn require_known(base: &str, mods: &[Box<str>], line: u32) -> Result<(), LoadError> {
    match family(base) {
        Some(_) => Ok(()),
        None => Err(unknown(base, mods, line)),
    }
}

/// Decodes one instruction into the builder.
pub(super) fn decode(
    b: &mut Builder,
    parsed: &mut Parsed,
    base: &str,
    mods: &[Box<str>],
    ops: &[Operand],
) -> Result<(), LoadError> {
    let line = b.line;
    let Some(run) = family(base) else { return Err(unknown(base, mods, line)) };
    let mut instr = Instr { b, base, mods: mods.iter().map(|m| &**m).collect(), all: mods, ops };
    run(&mut instr, parsed)?;
    if instr.mods.is_empty() { Ok(()) } else { Err(instr.unknown()) }
}

impl<'a> Instr<'a> {
    fn unknown(&self) -> LoadError {
        unknown(self.base, self.all, self.b.line)
    }

    fn error(&self, message: impl Into<String>) -> LoadError {
        self.b.error(message)
    }

    /// Consumes a modifier.
    fn flag(&mut self, name: &str) -> bool {
        match self.mods.iter().position(|m| *m == name) {
            Some(i) => {
                self.mods.remove(i);
                true
            }
            None => false,
        }
    }

    /// Consumes the first modifier that the list names.
    fn choose<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        let (i, value) =
            self.mods.iter().enumerate().find_map(|(i, m)| choices.iter().find(|(n, _)| n == m).map(|c| (i, c.1)))?;
        self.mods.remove(i);
        Some(value)
    }

    /// The same, where one must be there.
    fn require<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result<T, LoadError> {
        self.choose(choices).ok_or_else(|| self.unknown())
    }

    /// Consumes all modifiers that the list names: those without a meaning here.
    fn ignore(&mut self, names: &[&str]) {
        self.mods.retain(|m| !names.contains(m));
    }

    /// Consumes the type, the last modifier.
    fn ty(&mut self) -> Result<Type, LoadError> {
        match self.mods.last().and_then(|m| Type::parse(m)) {
            Some(ty) => {
                self.mods.pop();
                Ok(ty)
            }
            None => Err(self.unknown()),
        }
    }

    /// Consumes a rounding direction of results.
    fn rounding(&mut self) -> Option<Round> {
        self.choose(&[("rn", Round::Nearest), ("rz", Round::Zero), ("rm", Round::Down), ("rp", Round::Up)])
    }

    /// Checks the number of operands.
    fn arity(&self, wanted: usize) -> Result<(), LoadError> {
        if self.ops.len() == wanted {
            return Ok(());
        }
        Err(self.error(format!("'{}' takes {wanted} operands, not {}", self.base, self.ops.len())))
    }

    fn op(&self, i: usize) -> Result<&'a Operand, LoadError> {
        self.ops.get(i).ok_or_else(|| self.error(format!("'{}' lacks an operand", self.base)))
    }

    fn read(&mut self, i: usize, ty: Type) -> Result<Slot, LoadError> {
        let op = self.op(i)?;
        self.b.read(op, ty)
    }

    fn write(&mut self, i: usize, ty: Type) -> Result<Slot, LoadError> {
        let op = self.op(i)?;
        self.b.write(op, ty)
    }

    fn alu(&mut self, run: AluFn, slots: &[Slot]) {
        let mut args = [0; 6];
        args[..slots.len()].copy_from_slice(slots);
        self.b.emit(Op::Alu { run, args });
    }

    /// Destination and sources all of one type.
    fn same_type(&mut self, run: AluFn, ty: Type, sources: usize) -> Result<(), LoadError> {
        self.arity(sources + 1)?;
        let mut slots = vec![self.write(0, ty)?];
        for i in 1..=sources {
            slots.push(self.read(i, ty)?);
        }
        self.alu(run, &slots);
        Ok(())
    }
}

/// An [`AluFn`] over integers of every width, by type; `None` for others.
macro_rules! int_alu {
    (@one $t:ty, $u:ty, $a:ident => $e:expr) => {
        crate::exec::lanes::alu!(x => { let $a = x as $t; ($e) as $u as u64 })
    };
    (@one $t:ty, $u:ty, $a:ident, $b:ident => $e:expr) => {
        crate::exec::lanes::alu!(x, y => { let ($a, $b) = (x as $t, y as $t); ($e) as $u as u64 })
    };
    (@one $t:ty, $u:ty, $a:ident, $b:ident, $c:ident => $e:expr) => {
        crate::exec::lanes::alu!(x, y, z => { let ($a, $b, $c) = (x as $t, y as $t, z as $t); ($e) as $u as u64 })
    };
    ($ty:expr, $($a:ident),+ => $e:expr) => {
        match $ty {
            Type::U16 | Type::B16 => Some(int_alu!(@one u16, u16, $($a),+ => $e)),
            Type::S16 => Some(int_alu!(@one i16, u16, $($a),+ => $e)),
            Type::U32 | Type::B32 => Some(int_alu!(@one u32, u32, $($a),+ => $e)),
            Type::S32 => Some(int_alu!(@one i32, u32, $($a),+ => $e)),
            Type::U64 | Type::B64 => Some(int_alu!(@one u64, u64, $($a),+ => $e)),
            Type::S64 => Some(int_alu!(@one i64, u64, $($a),+ => $e)),
            _ => None,
        }
    };
}

/// An expression with the direction as a constant, so that each direction is its own function.
macro_rules! per_round {
    ($round:expr, $r:ident => $e:expr) => {
        match $round {
            Round::Nearest => {
                const $r: Round = Round::Nearest;
                $e
            }
            Round::Zero => {
                const $r: Round = Round::Zero;
                $e
            }
            Round::Down => {
                const $r: Round = Round::Down;
                $e
            }
            Round::Up => {
                const $r: Round = Round::Up;
                $e
            }
        }
    };
}

use {int_alu, per_round};
