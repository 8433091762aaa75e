//! One instruction of a block at a time. Each file has the instructions of one subject; this one only chooses.

mod arithmetic;
mod atomic;
mod bits;
mod compare;
mod composite;
mod control;
mod convert;
mod dot;
mod extension;
mod memory;
mod pointer;

pub(super) use atomic::Order;
pub(super) use memory::CopySide;

use super::Writer;
use super::types::Scalar;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Id, Instruction, InstructionSet, kind};

/// An instruction with its operands at hand.
#[derive(Clone, Copy)]
pub(super) struct Inst<'m> {
    pub raw: Instruction,
    operands: &'m [u32],
}

impl<'m> Inst<'m> {
    pub(super) fn opcode(&self) -> u16 {
        self.raw.opcode
    }

    /// The result's type.
    pub(super) fn ty(&self) -> Result<Id> {
        self.plain(0)
    }

    pub(super) fn result(&self) -> Result<Id> {
        self.plain(1)
    }

    /// The operand at `index` behind type and result.
    pub(super) fn arg(&self, index: usize) -> Result<u32> {
        self.plain(index + 2)
    }

    /// All operands behind type and result.
    pub(super) fn args(&self) -> &'m [u32] {
        self.operands.get(2..).unwrap_or(&[])
    }

    /// The operand at `index` of an instruction without a result.
    pub(super) fn plain(&self, index: usize) -> Result<u32> {
        self.operands.get(index).copied().ok_or_else(|| Error::malformed(format!("operand {index} is missing")))
    }

    pub(super) fn all(&self) -> &'m [u32] {
        self.operands
    }
}

impl<'m> Writer<'m> {
    pub(super) fn write_instruction(&mut self, raw: Instruction) -> Result<()> {
        let inst = Inst { raw, operands: self.module.operands(raw) };
        match raw.opcode {
            op::NOP
            | op::NO_LINE
            | op::SELECTION_MERGE
            | op::LIFETIME_START
            | op::LIFETIME_STOP
            | op::LOOP_CONTROL_INTEL => Ok(()),
            // Constants and what is undefined are written where they are used.
            op::UNDEF | op::LOOP_MERGE => Ok(()),
            op::LINE => self.take_line(raw),
            op::EXT_INST => self.extended(inst),
            op::FUNCTION_CALL..=op::COPY_MEMORY_SIZED | op::FUNCTION_POINTER_CALL_INTEL => self.memory_or_call(inst),
            op::ACCESS_CHAIN..=op::PTR_ACCESS_CHAIN
            | op::IN_BOUNDS_PTR_ACCESS_CHAIN
            | op::CONVERT_PTR_TO_U
            | op::CONVERT_U_TO_PTR
            | op::PTR_CAST_TO_GENERIC..=op::GENERIC_CAST_TO_PTR_EXPLICIT
            | op::PTR_EQUAL..=op::PTR_DIFF => self.pointer(inst),
            op::VECTOR_EXTRACT_DYNAMIC..=op::COPY_OBJECT => self.composite(inst),
            op::CONVERT_F_TO_U..=op::F_CONVERT
            | op::SAT_CONVERT_S_TO_U
            | op::SAT_CONVERT_U_TO_S
            | op::CONVERT_F_TO_BF16_INTEL
            | op::CONVERT_BF16_TO_FINTEL
            | op::BITCAST => self.convert(inst),
            op::S_NEGATE..=op::VECTOR_TIMES_SCALAR | op::DOT..=op::S_MUL_EXTENDED => self.arithmetic(inst),
            op::ANY..=op::F_UNORD_GREATER_THAN_EQUAL => self.compare(inst),
            op::SHIFT_RIGHT_LOGICAL..=op::BIT_COUNT | op::U_COUNT_LEADING_ZEROS_INTEL..=op::U_MUL32X16_INTEL => {
                self.bits(inst)
            }
            op::S_DOT..=op::S_DOT_ACC_SAT | op::U_DOT_ACC_SAT | op::SU_DOT_ACC_SAT => self.packed_dot(inst),
            op::CONTROL_BARRIER | op::MEMORY_BARRIER => self.barrier(inst),
            op::CONTROL_BARRIER_ARRIVE_INTEL | op::CONTROL_BARRIER_WAIT_INTEL => self.split_barrier(inst),
            op::SUBGROUP_BLOCK_READ_INTEL | op::SUBGROUP_BLOCK_WRITE_INTEL => self.block_access(inst),
            op::READ_CLOCK_KHR => self.read_clock(inst),
            op::ARITHMETIC_FENCE_EXT => self.arithmetic_fence(inst),
            op::ATOMIC_LOAD..=op::ATOMIC_XOR
            | op::ATOMIC_FLAG_TEST_AND_SET
            | op::ATOMIC_FLAG_CLEAR
            | op::ATOMIC_F_MIN_EXT
            | op::ATOMIC_F_MAX_EXT
            | op::ATOMIC_F_ADD_EXT => self.atomic(inst),
            op::PHI | op::BRANCH..=op::UNREACHABLE => self.control(inst),
            op::ASSUME_TRUE_KHR => self.assume(inst),
            op::EXPECT_KHR => self.copy_of(inst, inst.arg(0)?),
            op::SIZE_OF => self.size_of_instruction(inst),
            op::GENERIC_PTR_MEM_SEMANTICS => self.generic_semantics(inst),
            _ => self.group_instruction(inst),
        }
    }

    fn extended(&mut self, inst: Inst<'m>) -> Result<()> {
        match self.module.instruction_sets.get(&inst.arg(0)?) {
            Some(InstructionSet::OpenClStd) => self.opencl(inst),
            Some(InstructionSet::Ignored) => Ok(()),
            _ => Err(Error::unsupported("an instruction of a set that is not OpenCL.std")),
        }
    }

    /// Gives the result the value of another id.
    pub(super) fn copy_of(&mut self, inst: Inst<'_>, from: Id) -> Result<()> {
        let (ty, value) = (self.type_text(inst.ty()?)?, self.value(from)?);
        self.alias(inst.result()?, &ty, &value);
        Ok(())
    }

    fn assume(&mut self, inst: Inst<'_>) -> Result<()> {
        let value = self.value(inst.plain(0)?)?;
        self.declare("llvm.assume", "void", "i1");
        self.put(format_args!("call void @llvm.assume(i1 {value})"));
        Ok(())
    }

    fn size_of_instruction(&mut self, inst: Inst<'_>) -> Result<()> {
        let pointee = self.module.pointer(self.module.type_of(inst.arg(0)?)?)?.1;
        let (size, ty) = (self.size_of(pointee)?, self.type_text(inst.ty()?)?);
        self.alias(inst.result()?, &ty, &size.to_string());
        Ok(())
    }

    /// A constant operand: scope, semantics.
    ///
    /// # Errors
    /// It is no constant.
    pub(super) fn constant(&self, id: Id) -> Result<u64> {
        if !self.module.is_constant(id) {
            return Err(Error::unsupported(format!("operand {id} is no constant")));
        }
        self.numbers.borrow_mut().integer(self.module, id)
    }

    /// Applies `each` to every element of the operands and puts the results together; a scalar among vectors goes to each.
    pub(super) fn per_element(
        &mut self,
        result: (Scalar, u32),
        operands: &[Id],
        mut each: impl FnMut(&mut Self, &[String]) -> Result<String>,
    ) -> Result<String> {
        self.per_element_by(result, operands, &mut each)
    }

    /// As [`Writer::per_element`], compiled once for all that is done with elements.
    fn per_element_by(
        &mut self,
        result: (Scalar, u32),
        operands: &[Id],
        each: &mut dyn FnMut(&mut Self, &[String]) -> Result<String>,
    ) -> Result<String> {
        let mut values = Vec::with_capacity(operands.len());
        for &operand in operands {
            let ty = self.module.type_of(operand)?;
            let count = self.module.elements(ty)?.1;
            if count != 1 && count != result.1 {
                return Err(Error::malformed(format!(
                    "operand {operand} has {count} elements, the result {}",
                    result.1
                )));
            }
            values.push((count, self.type_text(ty)?, self.value(operand)?));
        }
        if result.1 == 1 {
            let values: Vec<String> = values.iter().map(|value| value.2.to_string()).collect();
            return each(self, &values);
        }
        let text = Self::shaped(result.0, result.1);
        let mut vector = "undef".to_owned();
        for at in 0..result.1 {
            let mut elements = Vec::with_capacity(values.len());
            for (count, ty, value) in &values {
                elements.push(match count {
                    1 => value.to_string(),
                    _ => self.let_temp(format_args!("extractelement {ty} {value}, i32 {at}")),
                });
            }
            let element = each(self, &elements)?;
            vector =
                self.let_temp(format_args!("insertelement {text} {vector}, {} {element}, i32 {at}", result.0.text()));
        }
        Ok(vector)
    }

    /// As [`Writer::per_element`], with the instruction's result type, and gives the result to its id.
    pub(super) fn set_per_element(
        &mut self,
        inst: Inst<'_>,
        operands: &[Id],
        mut each: impl FnMut(&mut Self, &[String]) -> Result<String>,
    ) -> Result<()> {
        self.set_per_element_by(inst, operands, &mut each)
    }

    fn set_per_element_by(
        &mut self,
        inst: Inst<'_>,
        operands: &[Id],
        each: &mut dyn FnMut(&mut Self, &[String]) -> Result<String>,
    ) -> Result<()> {
        let ty = inst.ty()?;
        let shape = self.shape(ty)?;
        let value = self.per_element_by(shape, operands, each)?;
        let text = self.type_text(ty)?;
        self.alias(inst.result()?, &text, &value);
        Ok(())
    }

    /// The fast-math flags that the result's decorations allow.
    pub(super) fn fast_math(&self, result: Id) -> String {
        const FLAGS: [(u32, &str); 7] = [
            (0x10, "fast "),
            (1, "nnan "),
            (2, "ninf "),
            (4, "nsz "),
            (8, "arcp "),
            (0x1_0000, "contract "),
            (0x2_0000, "reassoc "),
        ];
        let Some(mask) = self.module.decoration(result, kind::FP_FAST_MATH_MODE).and_then(|words| words.first()) else {
            return String::new();
        };
        let wanted = FLAGS.iter().filter(|(bit, _)| mask & bit != 0);
        if mask & 0x10 != 0 { "fast ".to_owned() } else { wanted.map(|flag| flag.1).collect() }
    }
}
