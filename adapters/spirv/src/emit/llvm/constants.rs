//! The text of constants. Numbers are written by their bits, so that no digit is lost.

use std::fmt::Write as _;
use std::rc::Rc;

use super::Writer;
use super::types::Scalar;
use crate::error::{Error, Result};
use crate::fold::Value;
use crate::grammar::op;
use crate::limits;
use crate::model::{Id, Type, is_constant};

impl Writer<'_> {
    /// The text by which other instructions name the value `id`.
    ///
    /// # Errors
    /// It is no value, or a constant that has no text.
    pub(super) fn value(&mut self, id: Id) -> Result<Rc<str>> {
        if let Some(text) = self.constants.get(&id) {
            return Ok(Rc::clone(text));
        }
        let definition = *self.module.definition(id)?;
        let opcode = definition.instruction.opcode;
        if opcode == op::VARIABLE && definition.function.is_none() {
            return self.variable_text(id);
        }
        if !is_constant(opcode) {
            self.module.type_of(id)?;
            return Ok(format!("%v{id}").into());
        }
        let place = |error| Self::place(error, definition.instruction);
        let value = self.folder.value(self.module, id).map_err(place)?;
        let text: Rc<str> = self.constant_text(definition.ty, &value).map_err(place)?.into();
        self.names_length += text.len();
        self.check_length().map_err(place)?;
        self.constants.insert(id, Rc::clone(&text));
        Ok(text)
    }

    /// Type and text of the value `id`.
    ///
    /// # Errors
    /// As [`Writer::value`].
    pub(super) fn typed(&mut self, id: Id) -> Result<String> {
        let ty = self.type_text(self.module.type_of(id)?)?;
        Ok(format!("{ty} {}", self.value(id)?))
    }

    pub(super) fn constant_text(&mut self, ty: Id, value: &Value) -> Result<String> {
        let mut text = String::new();
        self.append_constant(&mut text, ty, value)?;
        Ok(text)
    }

    fn append_constant(&mut self, text: &mut String, ty: Id, value: &Value) -> Result<()> {
        if text.len() > limits::MAX_CONSTANT_TEXT {
            return Err(Error::limit(format!("a constant's text is longer than {} bytes", limits::MAX_CONSTANT_TEXT)));
        }
        match value {
            Value::Undef => text.push_str("undef"),
            Value::Null => text.push_str(match self.module.ty(ty)? {
                Type::Int(_) | Type::Event => "0",
                Type::Bool => "false",
                Type::Float(_) => "0.0",
                Type::Pointer(..) => "null",
                _ => "zeroinitializer",
            }),
            Value::Bits(bits) => match self.module.ty(ty)? {
                // A number that a specialisation constant's operation made of a pointer's bits.
                Type::Pointer(..) => {
                    let _ = write!(text, "inttoptr (i64 {bits} to {})", self.type_text(ty)?);
                }
                _ => text.push_str(&scalar_text(self.scalar(ty)?, *bits)),
            },
            Value::Composite(parts) => self.append_composite(text, ty, parts)?,
            Value::Address(id) => text.push_str(&self.address_text(*id)?),
        }
        Ok(())
    }

    fn append_composite(&mut self, text: &mut String, ty: Id, parts: &[Value]) -> Result<()> {
        let (open, close) = match self.module.ty(ty)? {
            Type::Vector(..) => ("<", ">"),
            Type::Array(..) => ("[", "]"),
            Type::Structure(_) if self.module.decoration(ty, crate::model::kind::CPACKED).is_some() => ("<{ ", " }>"),
            Type::Structure(_) => ("{ ", " }"),
            _ => return Err(Error::malformed("a composite constant of a type that is none")),
        };
        text.push_str(open);
        for (at, part) in parts.iter().enumerate() {
            let part_type = self.part_type(ty, at as u32)?;
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}{} ", self.type_text(part_type)?);
            self.append_constant(text, part_type, part)?;
        }
        text.push_str(close);
        Ok(())
    }

    /// The type of a composite's part.
    ///
    /// # Errors
    /// The type is no composite, or has no such part.
    pub(super) fn part_type(&self, ty: Id, at: u32) -> Result<Id> {
        let missing = || Error::malformed(format!("type {ty} has no part {at}"));
        match self.module.ty(ty)? {
            Type::Vector(element, count) => (at < count).then_some(element).ok_or_else(missing),
            Type::Array(element, _) => Ok(element),
            Type::Structure(members) => members.get(at as usize).copied().ok_or_else(missing),
            _ => Err(missing()),
        }
    }

    /// A constant expression: the address of a variable or a function, or what is computed from one.
    fn address_text(&mut self, id: Id) -> Result<Rc<str>> {
        let definition = *self.module.definition(id)?;
        let instruction = definition.instruction;
        let operand = |at| self.module.operand(instruction, at);
        match instruction.opcode {
            op::VARIABLE => self.variable_text(id),
            op::CONSTANT_FUNCTION_POINTER_INTEL => {
                let function = operand(2)?;
                let name = self.function_name(function)?;
                let from = self.function_pointer_text(function)?;
                let to = self.type_text(definition.ty)?;
                Ok(if self.opaque || *from == *to { name } else { format!("bitcast ({from} {name} to {to})").into() })
            }
            op::SPEC_CONSTANT_OP => {
                let opcode = u16::try_from(operand(2)?).unwrap_or(u16::MAX);
                let operands = self.module.operands(instruction).get(3..).unwrap_or(&[]).to_vec();
                self.address_operation(definition.ty, opcode, &operands)
            }
            _ => Err(Error::unsupported("a constant made of this address")),
        }
    }

    fn address_operation(&mut self, ty: Id, opcode: u16, operands: &[Id]) -> Result<Rc<str>> {
        let &[base, ref indices @ ..] = operands else {
            return Err(Error::malformed("an operand is missing"));
        };
        let base_type = self.module.type_of(base)?;
        let (from, base, to) = (self.type_text(base_type)?, self.constant_operand(base)?, self.type_text(ty)?);
        let cast = |name: &str| -> Rc<str> {
            if from == to { base.clone() } else { format!("{name} ({from} {base} to {to})").into() }
        };
        Ok(match opcode {
            op::BITCAST => match (self.module.ty(base_type)?, self.module.ty(ty)?) {
                (Type::Pointer(..), Type::Int(_)) => cast("ptrtoint"),
                (Type::Int(_), Type::Pointer(..)) => cast("inttoptr"),
                _ => cast("bitcast"),
            },
            op::PTR_CAST_TO_GENERIC | op::GENERIC_CAST_TO_PTR => cast(self.pointer_cast(base_type, ty)?),
            op::CONVERT_PTR_TO_U => cast("ptrtoint"),
            op::CONVERT_U_TO_PTR => cast("inttoptr"),
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN => {
                let pointee = self.module.pointer(base_type)?.1;
                let pointee = self.type_text(pointee)?;
                let mut text = format!("getelementptr ({pointee}, {from} {base}");
                if matches!(opcode, op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN) {
                    text.push_str(", i32 0");
                }
                for &index in indices {
                    let ty = self.type_text(self.module.type_of(index)?)?;
                    let _ = write!(text, ", {ty} {}", self.constant_operand(index)?);
                }
                text.push(')');
                if text.len() > 1 << 16 {
                    return Err(Error::limit("the constant address is longer than 65536 bytes"));
                }
                text.into()
            }
            _ => {
                return Err(Error::unsupported(format!(
                    "{} of an address in a constant",
                    crate::grammar::name(opcode)
                )));
            }
        })
    }

    /// The text of a constant that another is made of. Its value was folded before, so the way down ends.
    fn constant_operand(&mut self, id: Id) -> Result<Rc<str>> {
        let is_variable = self.module.definition(id)?.instruction.opcode == op::VARIABLE;
        if !is_variable {
            self.folder.value(self.module, id)?;
        }
        self.address_depth(|writer| writer.value(id))
    }

    /// Bounds how deep constants of addresses nest.
    fn address_depth<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.current.address_depth > limits::MAX_NESTING {
            return Err(Error::limit("constants of addresses nest too deep"));
        }
        self.current.address_depth += 1;
        let result = inner(self);
        self.current.address_depth -= 1;
        result
    }
}

/// A number by its bits.
pub(super) fn scalar_text(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::Bool => if bits == 0 { "false" } else { "true" }.to_owned(),
        Scalar::Int(8) => (bits as i8).to_string(),
        Scalar::Int(16) => (bits as i16).to_string(),
        Scalar::Int(32) => (bits as i32).to_string(),
        Scalar::Int(_) => (bits as i64).to_string(),
        Scalar::Float(16) => format!("0xH{:04X}", bits as u16),
        // LLVM writes a float as the double of the same value.
        Scalar::Float(32) => format!("0x{:016X}", widen_single(bits as u32)),
        Scalar::Float(_) => format!("0x{bits:016X}"),
    }
}

/// The bits of a double with the value of these of a float; a NaN keeps sign and payload.
fn widen_single(bits: u32) -> u64 {
    let value = f32::from_bits(bits);
    if !value.is_nan() {
        return f64::from(value).to_bits();
    }
    u64::from(bits >> 31) << 63 | 0x7ff << 52 | u64::from(bits & 0x7f_ffff) << 29
}

/// A number as a constant of a floating-point type.
pub(super) fn float_text(scalar: Scalar, value: f64) -> String {
    let bits = match scalar {
        Scalar::Float(16) => u64::from(crate::fold::to_half(value)),
        Scalar::Float(32) => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    scalar_text(scalar, bits)
}
