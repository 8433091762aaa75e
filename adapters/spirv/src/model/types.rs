//! What a type id means.

use super::{Id, Module};
use crate::error::{Error, Result};
use crate::grammar::op;

/// A type, with the ids of its parts. Members of structures and parameters of functions borrow the module's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type<'m> {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    Vector(Id, u32),
    /// Element, and the constant that is the length.
    Array(Id, Id),
    Structure(&'m [Id]),
    /// Storage class and what it points to.
    Pointer(u32, Id),
    /// What it returns and takes.
    Function(Id, &'m [Id]),
    /// An event of an asynchronous copy.
    Event,
    /// Images, samplers, queues, pipes: the instruction that declares it.
    Other(u16),
}

/// Numbers of storage classes.
pub(crate) mod storage {
    pub const UNIFORM_CONSTANT: u32 = 0;
    pub const INPUT: u32 = 1;
    pub const WORKGROUP: u32 = 4;
    pub const CROSS_WORKGROUP: u32 = 5;
    pub const PRIVATE: u32 = 6;
    pub const FUNCTION: u32 = 7;
    pub const GENERIC: u32 = 8;
    pub const CODE_SECTION_INTEL: u32 = 5605;
    pub const DEVICE_ONLY_INTEL: u32 = 5936;
    pub const HOST_ONLY_INTEL: u32 = 5937;
}

impl Module {
    /// The type that `id` names.
    ///
    /// # Errors
    /// It names none.
    pub(crate) fn ty(&self, id: Id) -> Result<Type<'_>> {
        let instruction = self.definition(id)?.instruction;
        let operands = self.operands(instruction);
        let operand = |at: usize| self.operand(instruction, at);
        Ok(match instruction.opcode {
            op::TYPE_VOID => Type::Void,
            op::TYPE_BOOL => Type::Bool,
            op::TYPE_INT => Type::Int(operand(1)?),
            op::TYPE_FLOAT => Type::Float(operand(1)?),
            op::TYPE_VECTOR => Type::Vector(operand(1)?, operand(2)?),
            op::TYPE_ARRAY => Type::Array(operand(1)?, operand(2)?),
            op::TYPE_STRUCT => Type::Structure(operands.get(1..).unwrap_or(&[])),
            op::TYPE_POINTER => Type::Pointer(operand(1)?, operand(2)?),
            op::TYPE_FUNCTION => Type::Function(operand(1)?, operands.get(2..).unwrap_or(&[])),
            op::TYPE_EVENT => Type::Event,
            op::TYPE_OPAQUE..=op::TYPE_PIPE | op::TYPE_IMAGE..=op::TYPE_SAMPLED_IMAGE => {
                Type::Other(instruction.opcode)
            }
            _ => return Err(Error::malformed(format!("id {id} is no type"))),
        })
    }

    /// The element's type and the number of elements; a scalar is one.
    ///
    /// # Errors
    /// `id` names no type.
    pub(crate) fn elements(&self, id: Id) -> Result<(Id, u32)> {
        Ok(match self.ty(id)? {
            Type::Vector(element, count) => (element, count),
            _ => (id, 1),
        })
    }

    /// Storage class and pointee of a pointer.
    ///
    /// # Errors
    /// `id` names no pointer type.
    pub(crate) fn pointer(&self, id: Id) -> Result<(u32, Id)> {
        match self.ty(id)? {
            Type::Pointer(class, pointee) => Ok((class, pointee)),
            _ => Err(Error::malformed(format!("type {id} is no pointer"))),
        }
    }
}
