//! Comparisons, classes of numbers, logic, selection.

use super::super::Writer;
use super::super::types::Scalar;
use super::Inst;
use crate::error::Result;
use crate::grammar::op;

impl Writer<'_> {
    pub(super) fn compare(&mut self, inst: Inst<'_>) -> Result<()> {
        if let Some(predicate) = predicate(inst.opcode()) {
            let (a, b) = (self.value(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
            let ty = self.type_text(self.module.type_of(inst.arg(0)?)?)?;
            self.set(inst.result()?, format_args!("{predicate} {ty} {a}, {b}"));
            return Ok(());
        }
        match inst.opcode() {
            op::ANY => self.across(inst, "or"),
            op::ALL => self.across(inst, "and"),
            op::IS_NAN => {
                let (ty, a) = (self.type_text(self.module.type_of(inst.arg(0)?)?)?, self.value(inst.arg(0)?)?);
                self.set(inst.result()?, format_args!("fcmp uno {ty} {a}, {a}"));
                Ok(())
            }
            op::IS_INF..=op::SIGN_BIT_SET => self.classify(inst),
            op::LOGICAL_OR => self.binary(inst, "or", false),
            op::LOGICAL_AND => self.binary(inst, "and", false),
            op::LOGICAL_NOT => {
                let (ty, a) = (self.type_text(inst.ty()?)?, self.value(inst.arg(0)?)?);
                let count = self.shape(inst.ty()?)?.1;
                let ones = match count {
                    1 => "true".to_owned(),
                    _ => format!("<{}>", vec!["i1 true"; count as usize].join(", ")),
                };
                self.set(inst.result()?, format_args!("xor {ty} {a}, {ones}"));
                Ok(())
            }
            op::SELECT => self.select(inst),
            opcode => Err(crate::grammar::refusal(opcode)),
        }
    }

    fn across(&mut self, inst: Inst<'_>, name: &str) -> Result<()> {
        let ty = self.module.type_of(inst.arg(0)?)?;
        let (count, text, value) = (self.shape(ty)?.1, self.type_text(ty)?, self.value(inst.arg(0)?)?);
        if count == 1 {
            return self.copy_of(inst, inst.arg(0)?);
        }
        let mut sum = self.let_temp(format_args!("extractelement {text} {value}, i32 0"));
        for at in 1..count {
            let next = self.let_temp(format_args!("extractelement {text} {value}, i32 {at}"));
            sum = self.let_temp(format_args!("{name} i1 {sum}, {next}"));
        }
        self.alias(inst.result()?, "i1", &sum);
        Ok(())
    }

    fn classify(&mut self, inst: Inst<'_>) -> Result<()> {
        let scalar = self.shape(self.module.type_of(inst.arg(0)?)?)?.0;
        self.set_per_element(inst, inst.args(), |writer, values| Ok(writer.class_of(inst.opcode(), scalar, &values[0])))
    }

    /// Whether a number is infinite, finite, normal or negative, from its bits.
    pub(in super::super) fn class_of(&mut self, opcode: u16, scalar: Scalar, value: &str) -> String {
        let (float, int) = (scalar.text(), scalar.integer().text());
        let (infinity, smallest): (u64, u64) = match scalar.bits() {
            16 => (0x7c00, 0x0400),
            32 => (0x7f80_0000, 0x0080_0000),
            _ => (0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000),
        };
        let bits = self.let_temp(format_args!("bitcast {float} {value} to {int}"));
        if opcode == op::SIGN_BIT_SET {
            return self.let_temp(format_args!("icmp slt {int} {bits}, 0"));
        }
        let mask = (1u64 << (scalar.bits() - 1)) - 1;
        let size = self.let_temp(format_args!("and {int} {bits}, {mask}"));
        match opcode {
            op::IS_INF => self.let_temp(format_args!("icmp eq {int} {size}, {infinity}")),
            op::IS_FINITE => self.let_temp(format_args!("icmp ult {int} {size}, {infinity}")),
            _ => {
                let above = self.let_temp(format_args!("sub {int} {size}, {smallest}"));
                self.let_temp(format_args!("icmp ult {int} {above}, {}", infinity - smallest))
            }
        }
    }

    fn select(&mut self, inst: Inst<'_>) -> Result<()> {
        let condition = self.typed(inst.arg(0)?)?;
        let (a, b) = (self.typed(inst.arg(1)?)?, self.typed(inst.arg(2)?)?);
        self.set(inst.result()?, format_args!("select {condition}, {a}, {b}"));
        Ok(())
    }
}

/// The comparison of LLVM that an instruction is.
fn predicate(opcode: u16) -> Option<&'static str> {
    Some(match opcode {
        op::LESS_OR_GREATER => "fcmp one",
        op::ORDERED => "fcmp ord",
        op::UNORDERED => "fcmp uno",
        op::LOGICAL_EQUAL | op::I_EQUAL => "icmp eq",
        op::LOGICAL_NOT_EQUAL | op::I_NOT_EQUAL => "icmp ne",
        op::U_GREATER_THAN => "icmp ugt",
        op::S_GREATER_THAN => "icmp sgt",
        op::U_GREATER_THAN_EQUAL => "icmp uge",
        op::S_GREATER_THAN_EQUAL => "icmp sge",
        op::U_LESS_THAN => "icmp ult",
        op::S_LESS_THAN => "icmp slt",
        op::U_LESS_THAN_EQUAL => "icmp ule",
        op::S_LESS_THAN_EQUAL => "icmp sle",
        op::F_ORD_EQUAL => "fcmp oeq",
        op::F_UNORD_EQUAL => "fcmp ueq",
        op::F_ORD_NOT_EQUAL => "fcmp one",
        op::F_UNORD_NOT_EQUAL => "fcmp une",
        op::F_ORD_LESS_THAN => "fcmp olt",
        op::F_UNORD_LESS_THAN => "fcmp ult",
        op::F_ORD_GREATER_THAN => "fcmp ogt",
        op::F_UNORD_GREATER_THAN => "fcmp ugt",
        op::F_ORD_LESS_THAN_EQUAL => "fcmp ole",
        op::F_UNORD_LESS_THAN_EQUAL => "fcmp ule",
        op::F_ORD_GREATER_THAN_EQUAL => "fcmp oge",
        op::F_UNORD_GREATER_THAN_EQUAL => "fcmp uge",
        _ => return None,
    })
}
