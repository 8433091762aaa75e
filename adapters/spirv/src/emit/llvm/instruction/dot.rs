//! Dot products of small integers (`SPV_KHR_integer_dot_product`): vectors, or four bytes packed into 32 bits.

use super::super::Writer;
use super::super::types::Scalar;
use super::Inst;
use crate::error::{Error, Result};
use crate::grammar::op;

impl Writer<'_> {
    pub(super) fn packed_dot(&mut self, inst: Inst<'_>) -> Result<()> {
        let opcode = inst.opcode();
        let accumulates = matches!(opcode, op::S_DOT_ACC_SAT | op::U_DOT_ACC_SAT | op::SU_DOT_ACC_SAT);
        let extensions = match opcode {
            op::S_DOT | op::S_DOT_ACC_SAT => ("sext", "sext"),
            op::U_DOT | op::U_DOT_ACC_SAT => ("zext", "zext"),
            _ => ("sext", "zext"),
        };
        let result = self.scalar(inst.ty()?)?;
        let a = self.dot_elements(inst.arg(0)?, extensions.0)?;
        let b = self.dot_elements(inst.arg(1)?, extensions.1)?;
        if a.len() != b.len() {
            return Err(Error::malformed("the vectors differ in length"));
        }
        let mut sum = "0".to_owned();
        for (a, b) in a.iter().zip(&b) {
            let product = self.let_temp(format_args!("mul i64 {a}, {b}"));
            sum = self.let_temp(format_args!("add i64 {sum}, {product}"));
        }
        let sum = self.resize(&sum, 64, result.bits());
        if !accumulates {
            self.alias(inst.result()?, result.text(), &sum);
            return Ok(());
        }
        let name = if opcode == op::U_DOT_ACC_SAT { "u_add_sat" } else { "s_add_sat" };
        let start = self.value(inst.arg(2)?)?.to_string();
        let total = self.integer_function(name, result, &[sum, start])?;
        self.alias(inst.result()?, result.text(), &total);
        Ok(())
    }

    /// The elements of a vector or of packed bytes, as 64 bits.
    fn dot_elements(&mut self, id: u32, extend: &str) -> Result<Vec<String>> {
        let ty = self.module.type_of(id)?;
        let ((scalar, count), text, value) = (self.shape(ty)?, self.type_text(ty)?, self.value(id)?);
        if count == 1 && scalar != Scalar::Int(32) {
            return Err(Error::malformed("packed bytes are an integer of 32 bits"));
        }
        let mut elements = Vec::new();
        for at in 0..if count == 1 { 4 } else { count } {
            let element = match count {
                1 => {
                    let moved = self.let_temp(format_args!("lshr i32 {value}, {}", at * 8));
                    self.let_temp(format_args!("trunc i32 {moved} to i8"))
                }
                _ => self.let_temp(format_args!("extractelement {text} {value}, i32 {at}")),
            };
            let ty = if count == 1 { "i8" } else { scalar.text() };
            if ty == "i64" {
                elements.push(element);
            } else {
                elements.push(self.let_temp(format_args!("{extend} {ty} {element} to i64")));
            }
        }
        Ok(elements)
    }
}
