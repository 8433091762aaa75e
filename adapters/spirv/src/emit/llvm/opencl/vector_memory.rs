//! Vectors in memory that is only aligned to their elements, and numbers of half precision in memory.

use super::super::Writer;
use super::super::instruction::Inst;
use super::super::types::Scalar;
use crate::error::{Error, Result};
use crate::model::Id;

/// Where elements lie: the text of the pointer's type, the first element, and its alignment.
struct Elements {
    scalar: Scalar,
    pointer: String,
    first: String,
    align: u32,
}

impl<'m> Writer<'m> {
    pub(super) fn vector_memory(&mut self, inst: Inst<'m>, name: &str, operands: &'m [Id]) -> Result<()> {
        let aligned = name.starts_with("vloada") || name.starts_with("vstorea");
        if name.starts_with("vload") {
            return self.load_vector(inst, operands, aligned);
        }
        let rounding = match (name.ends_with("_r"), operands.get(3)) {
            (false, _) => 0,
            (true, Some(&mode)) => mode.min(3) as usize,
            (true, None) => return Err(Error::malformed("the rounding mode is missing")),
        };
        self.store_vector(operands, aligned, rounding)
    }

    /// The elements from `offset` vectors of `count` behind the pointer.
    fn elements_at(&mut self, pointer: Id, offset: Id, count: u32, aligned: bool) -> Result<Elements> {
        let (class, pointee) = self.module.pointer(self.module.type_of(pointer)?)?;
        let (scalar, space) = (self.shape(pointee)?.0, self.pointer_space(class)?);
        let (ty, pointer_text) = (scalar.text(), self.pointer_text(scalar.text(), space));
        let (bits, value) = (self.scalar(self.module.type_of(offset)?)?.bits(), self.value(offset)?);
        let offset = self.resize(&value, bits, 64);
        // The aligned functions keep three elements in the room of four.
        let stride = if aligned { count.next_power_of_two() } else { count };
        let start = self.let_temp(format_args!("mul i64 {offset}, {stride}"));
        let base = self.typed(pointer)?;
        let base = self.let_temp(format_args!("bitcast {base} to {pointer_text}"));
        let first = self.let_temp(format_args!("getelementptr {ty}, {pointer_text} {base}, i64 {start}"));
        let size = scalar.bits() / 8;
        Ok(Elements { scalar, pointer: pointer_text, first, align: if aligned { size * stride } else { size } })
    }

    fn element_pointer(&mut self, elements: &Elements, at: u32) -> (String, u32) {
        if at == 0 {
            return (elements.first.clone(), elements.align);
        }
        let ty = elements.scalar.text();
        let (pointer, first) = (&elements.pointer, &elements.first);
        (self.let_temp(format_args!("getelementptr {ty}, {pointer} {first}, i64 {at}")), elements.scalar.bits() / 8)
    }

    fn load_vector(&mut self, inst: Inst<'m>, operands: &'m [Id], aligned: bool) -> Result<()> {
        let (to, count) = self.shape(inst.ty()?)?;
        let elements = self.elements_at(operands[1], operands[0], count, aligned)?;
        let (from, text) = (elements.scalar, self.type_text(inst.ty()?)?);
        let mut result = "undef".to_owned();
        for at in 0..count {
            let (pointer, align) = self.element_pointer(&elements, at);
            let value =
                self.let_temp(format_args!("load {}, {} {pointer}, align {align}", from.text(), elements.pointer));
            let value = if from == to { value } else { self.round_float(from, to, 0, &value)? };
            result = match count {
                1 => value,
                _ => self.let_temp(format_args!("insertelement {text} {result}, {} {value}, i32 {at}", to.text())),
            };
        }
        self.alias(inst.result()?, &text, &result);
        Ok(())
    }

    fn store_vector(&mut self, operands: &'m [Id], aligned: bool, rounding: usize) -> Result<()> {
        let ty = self.module.type_of(operands[0])?;
        let ((from, count), text, value) = (self.shape(ty)?, self.type_text(ty)?, self.value(operands[0])?);
        let elements = self.elements_at(operands[2], operands[1], count, aligned)?;
        let to = elements.scalar;
        for at in 0..count {
            let element = match count {
                1 => value.to_string(),
                _ => self.let_temp(format_args!("extractelement {text} {value}, i32 {at}")),
            };
            let element = if from == to { element } else { self.round_float(from, to, rounding, &element)? };
            let (pointer, align) = self.element_pointer(&elements, at);
            self.put(format_args!("store {} {element}, {} {pointer}, align {align}", to.text(), elements.pointer));
        }
        Ok(())
    }
}
