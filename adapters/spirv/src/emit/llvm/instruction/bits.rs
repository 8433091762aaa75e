//! Bits: shifts, logic, fields, counts, and Intel's integer functions.

use super::super::Writer;
use super::super::types::Scalar;
use super::Inst;
use crate::error::Result;
use crate::grammar::op;

impl Writer<'_> {
    pub(super) fn bits(&mut self, inst: Inst<'_>) -> Result<()> {
        match inst.opcode() {
            op::SHIFT_RIGHT_LOGICAL => self.shift(inst, "lshr"),
            op::SHIFT_RIGHT_ARITHMETIC => self.shift(inst, "ashr"),
            op::SHIFT_LEFT_LOGICAL => self.shift(inst, "shl"),
            op::BITWISE_OR => self.binary(inst, "or", false),
            op::BITWISE_XOR => self.binary(inst, "xor", false),
            op::BITWISE_AND => self.binary(inst, "and", false),
            op::NOT => self.set_per_element(inst, inst.args(), |writer, values| {
                let ty = writer.shape(inst.ty()?)?.0.text();
                Ok(writer.let_temp(format_args!("xor {ty} {}, -1", values[0])))
            }),
            op::BIT_FIELD_INSERT => self.insert_field(inst),
            op::BIT_FIELD_S_EXTRACT | op::BIT_FIELD_U_EXTRACT => self.extract_field(inst),
            op::BIT_REVERSE => self.counted(inst, "llvm.bitreverse", ""),
            op::BIT_COUNT => self.counted(inst, "llvm.ctpop", ""),
            op::U_COUNT_LEADING_ZEROS_INTEL => self.counted(inst, "llvm.ctlz", ", i1 false"),
            op::U_COUNT_TRAILING_ZEROS_INTEL => self.counted(inst, "llvm.cttz", ", i1 false"),
            op::ABS_I_SUB_INTEL..=op::U_SUB_SAT_INTEL => self.intel_integer(inst),
            opcode => Err(crate::grammar::refusal(opcode)),
        }
    }

    fn shift(&mut self, inst: Inst<'_>, name: &str) -> Result<()> {
        let (shape, by) = (self.shape(inst.ty()?)?, self.shape(self.module.type_of(inst.arg(1)?)?)?);
        if shape == by {
            return self.binary(inst, name, false);
        }
        let ty = shape.0.text();
        self.set_per_element(inst, inst.args(), |writer, values| {
            let by = writer.resize(&values[1], by.0.bits(), shape.0.bits());
            Ok(writer.let_temp(format_args!("{name} {ty} {}, {by}", values[0])))
        })
    }

    /// An intrinsic of one integer, whose result may have another size.
    fn counted(&mut self, inst: Inst<'_>, name: &str, flag: &str) -> Result<()> {
        let from = self.shape(self.module.type_of(inst.arg(0)?)?)?.0;
        let to = self.shape(inst.ty()?)?.0;
        self.set_per_element(inst, inst.args(), |writer, values| {
            let value = writer.count_bits(name, flag, from, &values[0]);
            Ok(writer.resize(&value, from.bits(), to.bits()))
        })
    }

    /// `llvm.NAME.iN` of one value.
    pub(in super::super) fn count_bits(&mut self, name: &str, flag: &str, scalar: Scalar, value: &str) -> String {
        let ty = scalar.text();
        let name = format!("{name}.{ty}");
        let parameters = if flag.is_empty() { ty.to_owned() } else { format!("{ty}, i1") };
        self.declare(&name, ty, &parameters);
        self.call(ty, &name, &format!("{ty} {value}{flag}"))
    }

    /// Ones in the lowest `count` bits; all, if there are as many.
    fn low_mask(&mut self, scalar: Scalar, count: &str) -> String {
        let (ty, bits) = (scalar.text(), scalar.bits());
        let one = self.let_temp(format_args!("shl {ty} 1, {count}"));
        let mask = self.let_temp(format_args!("sub {ty} {one}, 1"));
        let all = self.let_temp(format_args!("icmp uge {ty} {count}, {bits}"));
        self.let_temp(format_args!("select i1 {all}, {ty} -1, {ty} {mask}"))
    }

    /// The bits of an operand as a number of the field's type.
    fn field_operand(&mut self, inst: Inst<'_>, at: usize, scalar: Scalar) -> Result<String> {
        let (from, value) = (self.shape(self.module.type_of(inst.arg(at)?)?)?.0, self.value(inst.arg(at)?)?);
        Ok(self.resize(&value, from.bits(), scalar.bits()))
    }

    /// Where a field begins. One without bits may begin behind the highest bit: LLVM knows no shift by that much, and any place will do.
    fn field_offset(&mut self, inst: Inst<'_>, at: usize, scalar: Scalar) -> Result<String> {
        let offset = self.field_operand(inst, at, scalar)?;
        Ok(self.let_temp(format_args!("and {} {offset}, {}", scalar.text(), scalar.bits() - 1)))
    }

    fn insert_field(&mut self, inst: Inst<'_>) -> Result<()> {
        let scalar = self.shape(inst.ty()?)?.0;
        let (offset, count) = (self.field_offset(inst, 2, scalar)?, self.field_operand(inst, 3, scalar)?);
        let ty = scalar.text();
        let low = self.low_mask(scalar, &count);
        let mask = self.let_temp(format_args!("shl {ty} {low}, {offset}"));
        let others = self.let_temp(format_args!("xor {ty} {mask}, -1"));
        self.set_per_element(inst, &inst.args()[..2], |writer, values| {
            let kept = writer.let_temp(format_args!("and {ty} {}, {others}", values[0]));
            let moved = writer.let_temp(format_args!("shl {ty} {}, {offset}", values[1]));
            let field = writer.let_temp(format_args!("and {ty} {moved}, {mask}"));
            Ok(writer.let_temp(format_args!("or {ty} {kept}, {field}")))
        })
    }

    fn extract_field(&mut self, inst: Inst<'_>) -> Result<()> {
        let scalar = self.shape(inst.ty()?)?.0;
        let (offset, count) = (self.field_offset(inst, 1, scalar)?, self.field_operand(inst, 2, scalar)?);
        let (ty, bits) = (scalar.text(), scalar.bits());
        let mask = self.low_mask(scalar, &count);
        let none = self.let_temp(format_args!("icmp eq {ty} {count}, 0"));
        let left = self.let_temp(format_args!("sub {ty} {bits}, {count}"));
        let left = self.let_temp(format_args!("select i1 {none}, {ty} 0, {ty} {left}"));
        let signed = inst.opcode() == op::BIT_FIELD_S_EXTRACT;
        self.set_per_element(inst, &inst.args()[..1], |writer, values| {
            let moved = writer.let_temp(format_args!("lshr {ty} {}, {offset}", values[0]));
            let field = writer.let_temp(format_args!("and {ty} {moved}, {mask}"));
            if !signed {
                return Ok(field);
            }
            let high = writer.let_temp(format_args!("shl {ty} {field}, {left}"));
            Ok(writer.let_temp(format_args!("ashr {ty} {high}, {left}")))
        })
    }

    fn intel_integer(&mut self, inst: Inst<'_>) -> Result<()> {
        let name = match inst.opcode() {
            op::ABS_I_SUB_INTEL => "s_abs_diff",
            op::ABS_U_SUB_INTEL => "u_abs_diff",
            op::I_ADD_SAT_INTEL => "s_add_sat",
            op::U_ADD_SAT_INTEL => "u_add_sat",
            op::I_AVERAGE_INTEL => "s_hadd",
            op::U_AVERAGE_INTEL => "u_hadd",
            op::I_AVERAGE_ROUNDED_INTEL => "s_rhadd",
            op::U_AVERAGE_ROUNDED_INTEL => "u_rhadd",
            op::I_SUB_SAT_INTEL => "s_sub_sat",
            _ => "u_sub_sat",
        };
        let scalar = self.shape(inst.ty()?)?.0;
        self.set_per_element(inst, inst.args(), |writer, values| writer.integer_function(name, scalar, values))
    }
}
