//! The values of constants. LLVM's own constant expressions differ between the dialects and lack most operations, so all that is
//! not an address is computed here. Constants that name each other in a circle end at a depth limit.

mod float;
mod operation;

use std::collections::HashMap;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::grammar::op;
use crate::limits;
use crate::model::{Id, Module, Type};

pub(crate) use float::{half_to_single, to_half};

/// A constant's value. Its type is its id's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// The bits of a number, or 0 and 1.
    Bits(u64),
    Composite(Rc<[Value]>),
    Null,
    Undef,
    /// An address, or what is computed from one: the constant's instruction says how.
    Address(Id),
}

impl Value {
    /// Whether all its bits are 0.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null | Self::Bits(0) => true,
            Self::Composite(parts) => parts.iter().all(Self::is_zero),
            Self::Bits(_) | Self::Undef | Self::Address(_) => false,
        }
    }
}

/// The constants computed so far.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    known: HashMap<Id, Value>,
    /// Parts of the composites that were computed.
    parts: usize,
}

impl Folder {
    /// The value of an integer constant, as an unsigned number.
    ///
    /// # Errors
    /// `id` is no integer constant.
    pub(crate) fn integer(&mut self, module: &Module, id: Id) -> Result<u64> {
        let definition = module.definition(id)?;
        let plain = definition.instruction.opcode == op::CONSTANT;
        if plain && module.ty(definition.ty).is_ok_and(|ty| ty == Type::Int(32)) {
            return module.operand(definition.instruction, 2).map(u64::from);
        }
        match self.value(module, id)? {
            Value::Bits(bits) => Ok(bits),
            Value::Null => Ok(0),
            _ => Err(Error::unsupported(format!("id {id} is no integer constant"))),
        }
    }

    /// The value of the constant `id`.
    ///
    /// # Errors
    /// It is no constant, or one that cannot be computed before the kernel runs.
    pub(crate) fn value(&mut self, module: &Module, id: Id) -> Result<Value> {
        self.at_depth(module, id, 0)
    }

    fn at_depth(&mut self, module: &Module, id: Id, depth: u32) -> Result<Value> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        if depth > limits::MAX_NESTING {
            return Err(Error::limit(format!("constants nest deeper than {}", limits::MAX_NESTING)));
        }
        let definition = *module.definition(id)?;
        let place = |error: Error| error.at(definition.instruction.at as usize, definition.instruction.opcode);
        let value = self.compute(module, id, depth).map_err(place)?;
        if let Value::Composite(parts) = &value {
            self.parts += parts.len();
            if self.parts > limits::MAX_CONSTANT_PARTS {
                return Err(place(Error::limit(format!(
                    "constants of more than {} parts",
                    limits::MAX_CONSTANT_PARTS
                ))));
            }
        }
        self.known.insert(id, value.clone());
        Ok(value)
    }

    fn compute(&mut self, module: &Module, id: Id, depth: u32) -> Result<Value> {
        let definition = *module.definition(id)?;
        let instruction = definition.instruction;
        let specialised = module.specialised.get(&id).copied();
        Ok(match instruction.opcode {
            op::UNDEF => Value::Undef,
            op::CONSTANT_TRUE => Value::Bits(1),
            op::CONSTANT_FALSE => Value::Bits(0),
            op::SPEC_CONSTANT_TRUE => Value::Bits(specialised.map_or(1, |value| u64::from(value != 0))),
            op::SPEC_CONSTANT_FALSE => Value::Bits(specialised.map_or(0, |value| u64::from(value != 0))),
            op::CONSTANT | op::SPEC_CONSTANT => {
                let bits = literal(module, definition.ty, module.operands(instruction).get(2..).unwrap_or(&[]))?;
                Value::Bits(specialised.unwrap_or(bits))
            }
            op::CONSTANT_NULL => Value::Null,
            op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => {
                let parts = module.operands(instruction).get(2..).unwrap_or(&[]);
                let parts: Result<Vec<_>> = parts.iter().map(|&part| self.at_depth(module, part, depth + 1)).collect();
                Value::Composite(parts?.into())
            }
            op::SPEC_CONSTANT_OP => self.operation(module, id, depth)?,
            op::VARIABLE | op::FUNCTION | op::CONSTANT_FUNCTION_POINTER_INTEL => Value::Address(id),
            _ => return Err(Error::malformed(format!("id {id} is no constant"))),
        })
    }

    fn operation(&mut self, module: &Module, id: Id, depth: u32) -> Result<Value> {
        let definition = *module.definition(id)?;
        let operands = module.operands(definition.instruction);
        let opcode = module.operand(definition.instruction, 2)?;
        let operands = operands.get(3..).unwrap_or(&[]);
        let opcode = u16::try_from(opcode).map_err(|_| Error::malformed(format!("opcode {opcode}")))?;
        if is_address(opcode) {
            return Ok(Value::Address(id));
        }
        let values = ids(opcode, operands);
        let mut known = Vec::with_capacity(values.len());
        for &operand in values {
            let value = self.at_depth(module, operand, depth + 1)?;
            if matches!(value, Value::Address(_)) {
                return Ok(Value::Address(id));
            }
            known.push((module.type_of(operand)?, value));
        }
        operation::compute(module, opcode, definition.ty, &known, &operands[values.len()..])
    }
}

/// Operations whose result is an address, or that ask for one.
fn is_address(opcode: u16) -> bool {
    matches!(
        opcode,
        op::ACCESS_CHAIN
            | op::IN_BOUNDS_ACCESS_CHAIN
            | op::PTR_ACCESS_CHAIN
            | op::IN_BOUNDS_PTR_ACCESS_CHAIN
            | op::PTR_CAST_TO_GENERIC
            | op::GENERIC_CAST_TO_PTR
            | op::CONVERT_U_TO_PTR
            | op::CONVERT_PTR_TO_U
    )
}

/// The operands that are ids; literals follow in some instructions.
fn ids(opcode: u16, operands: &[u32]) -> &[u32] {
    let count = match opcode {
        op::COMPOSITE_EXTRACT => 1,
        op::COMPOSITE_INSERT | op::VECTOR_SHUFFLE => 2,
        _ => operands.len(),
    };
    &operands[..count.min(operands.len())]
}

/// The bits of a literal number of type `ty`.
fn literal(module: &Module, ty: Id, words: &[u32]) -> Result<u64> {
    let (Type::Int(bits) | Type::Float(bits)) = module.ty(ty)? else {
        return Err(Error::malformed("a literal of a type that is no number"));
    };
    match (bits, words) {
        (64, &[low, high]) => Ok(u64::from(low) | u64::from(high) << 32),
        (8 | 16 | 32, &[word]) => Ok(u64::from(word) & operation::mask(bits)),
        _ => Err(Error::malformed(format!("a literal of {bits} bits in {} words", words.len()))),
    }
}
