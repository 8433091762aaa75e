//! Geometry of vectors. Lengths are computed as they are written in OpenCL, without scaling: 2 ulp of the sum of squares; what
//! would overflow overflows.

use super::super::Writer;
use super::super::instruction::Inst;
use super::super::types::Scalar;
use crate::error::{Error, Result};
use crate::model::Id;

impl<'m> Writer<'m> {
    pub(super) fn geometric(&mut self, inst: Inst<'m>, name: &str, operands: &'m [Id]) -> Result<()> {
        let name = name.strip_prefix("fast_").unwrap_or(name);
        let (ty, first) = (self.module.type_of(operands[0])?, operands[0]);
        let (scalar, count) = self.shape(ty)?;
        if !matches!(scalar, Scalar::Float(_)) {
            return Err(Error::malformed("vectors of floating-point numbers are wanted"));
        }
        let (text, value) = (self.type_text(ty)?, self.value(first)?.to_string());
        let result = match name {
            "length" => self.length(scalar, count, &value)?,
            "distance" => {
                let other = self.value(operands[1])?;
                let apart = self.let_temp(format_args!("fsub {text} {value}, {other}"));
                self.length(scalar, count, &apart)?
            }
            "normalize" => self.normalized(scalar, count, &value)?,
            _ => {
                let other = self.value(operands[1])?.to_string();
                self.cross(scalar, count, &value, &other)?
            }
        };
        let text = self.type_text(inst.ty()?)?;
        self.alias(inst.result()?, &text, &result);
        Ok(())
    }

    fn length(&mut self, scalar: Scalar, count: u32, vector: &str) -> Result<String> {
        let square = self.dot_of(scalar, count, vector, vector);
        self.math_call("sqrt", scalar, &[square])
    }

    fn normalized(&mut self, scalar: Scalar, count: u32, vector: &str) -> Result<String> {
        let (ty, text) = (scalar.text(), Self::shaped(scalar, count));
        let length = self.length(scalar, count, vector)?;
        let zero = self.let_temp(format_args!("fcmp oeq {ty} {length}, 0.0"));
        if count == 1 {
            let unit = self.let_temp(format_args!("fdiv {ty} {vector}, {length}"));
            return Ok(self.let_temp(format_args!("select i1 {zero}, {ty} {vector}, {ty} {unit}")));
        }
        let mut unit = "undef".to_owned();
        for at in 0..count {
            let part = self.let_temp(format_args!("extractelement {text} {vector}, i32 {at}"));
            let part = self.let_temp(format_args!("fdiv {ty} {part}, {length}"));
            unit = self.let_temp(format_args!("insertelement {text} {unit}, {ty} {part}, i32 {at}"));
        }
        Ok(self.let_temp(format_args!("select i1 {zero}, {text} {vector}, {text} {unit}")))
    }

    fn cross(&mut self, scalar: Scalar, count: u32, a: &str, b: &str) -> Result<String> {
        if !matches!(count, 3 | 4) {
            return Err(Error::malformed("a cross product of vectors of three or four"));
        }
        let (ty, text) = (scalar.text(), Self::shaped(scalar, count));
        let mut parts = Vec::new();
        for vector in [a, b] {
            for at in 0..3 {
                parts.push(self.let_temp(format_args!("extractelement {text} {vector}, i32 {at}")));
            }
        }
        let mut result = "zeroinitializer".to_owned();
        for at in 0..3 {
            let (next, after) = ((at + 1) % 3, (at + 2) % 3);
            let plus = self.let_temp(format_args!("fmul {ty} {}, {}", parts[next], parts[3 + after]));
            let minus = self.let_temp(format_args!("fmul {ty} {}, {}", parts[after], parts[3 + next]));
            let part = self.let_temp(format_args!("fsub {ty} {plus}, {minus}"));
            result = self.let_temp(format_args!("insertelement {text} {result}, {ty} {part}, i32 {at}"));
        }
        Ok(result)
    }

    /// `shuffle` and `shuffle2`: elements by numbers that are known when the kernel runs.
    pub(super) fn dynamic_shuffle(&mut self, inst: Inst<'m>, operands: &'m [Id]) -> Result<()> {
        let from = self.module.type_of(operands[0])?;
        let (length, text) = (self.shape(from)?.1, self.type_text(from)?);
        let mask_id = operands[operands.len() - 1];
        let mask_type = self.module.type_of(mask_id)?;
        let (mask_scalar, mask_text, mask) =
            (self.shape(mask_type)?.0, self.type_text(mask_type)?, self.value(mask_id)?);
        let (scalar, count) = self.shape(inst.ty()?)?;
        let ty = scalar.text();
        let result_text = self.type_text(inst.ty()?)?;
        let first = self.value(operands[0])?;
        let second = if operands.len() == 3 { Some(self.value(operands[1])?) } else { None };
        let mut result = "undef".to_owned();
        for at in 0..count {
            let pick = self.let_temp(format_args!("extractelement {mask_text} {mask}, i32 {at}"));
            let pick = self.resize(&pick, mask_scalar.bits(), 32);
            let index = self.let_temp(format_args!("and i32 {pick}, {}", length - 1));
            let mut value = self.let_temp(format_args!("extractelement {text} {first}, i32 {index}"));
            if let Some(second) = &second {
                let other = self.let_temp(format_args!("extractelement {text} {second}, i32 {index}"));
                let bit = self.let_temp(format_args!("and i32 {pick}, {length}"));
                let is_other = self.let_temp(format_args!("icmp ne i32 {bit}, 0"));
                value = self.let_temp(format_args!("select i1 {is_other}, {ty} {other}, {ty} {value}"));
            }
            result = self.let_temp(format_args!("insertelement {result_text} {result}, {ty} {value}, i32 {at}"));
        }
        self.alias(inst.result()?, &result_text, &result);
        Ok(())
    }
}
