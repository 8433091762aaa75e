//! Functions that modules import and that this crate defines: intrinsics of LLVM that a translator left as they are, assertions,
//! and mathematical functions of SYCL's device library. What else is imported stays so, for another module to define.

use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::float::is_device_function;
use crate::error::{Error, Result};
use crate::model::Id;

impl<'m> Writer<'m> {
    /// Writes a call of a function that has no body in the module; false if nothing is known of it.
    pub(in super::super) fn known_import(&mut self, inst: Inst<'m>, name: &str) -> Result<bool> {
        let operands = inst.args().get(1..).unwrap_or(&[]);
        if let Some(intrinsic) = name.strip_prefix("llvm.") {
            return self.intrinsic_import(inst, intrinsic, operands);
        }
        match name {
            "__devicelib_assert_fail" | "__assert_fail" | "__assertfail" => {
                self.assertion(operands)?;
                Ok(true)
            }
            _ => match name.strip_prefix("__devicelib_") {
                Some(function) => self.library_import(inst, function, operands),
                None => Ok(false),
            },
        }
    }

    /// `__devicelib_sinf` and the like, `__devicelib_memcpy` and `__devicelib_memset`.
    fn library_import(&mut self, inst: Inst<'m>, name: &str, operands: &'m [Id]) -> Result<bool> {
        if let ("memcpy" | "memset", &[to, what, size]) = (name, operands) {
            return self.memory_import(inst, name, (to, what, size));
        }
        let Ok((scalar @ Scalar::Float(32 | 64), 1)) = self.shape(inst.ty()?) else {
            return Ok(false);
        };
        let base = if scalar.bits() == 32 { name.strip_suffix('f') } else { Some(name) };
        let Some(base) = base else {
            return Ok(false);
        };
        if let ("frexp" | "modf", 2) | ("remquo", 3) = (base, operands.len()) {
            self.with_pointer_result(inst, base, operands)?;
            return Ok(true);
        }
        if let ("ldexp" | "scalbn", &[_, exponent]) = (base, operands) {
            let int = self.shape(self.module.type_of(exponent)?)? == (Scalar::Int(32), 1);
            if int {
                self.set_per_element(inst, operands, |w, values| w.float_function("ldexp", scalar, scalar, values))?;
            }
            return Ok(int);
        }
        if !is_device_function(base) {
            return Ok(false);
        }
        for &operand in operands {
            if self.shape(self.module.type_of(operand)?)? != (scalar, 1) {
                return Ok(false);
            }
        }
        self.set_per_element(inst, operands, |writer, values| writer.math_call(base, scalar, values))?;
        Ok(true)
    }

    /// Both return the address that they write to.
    fn memory_import(&mut self, inst: Inst<'m>, name: &str, (to, what, size): (Id, Id, Id)) -> Result<bool> {
        let bits = self.scalar(self.module.type_of(size)?)?.bits();
        let value = self.value(size)?;
        let size = format!("i64 {}", self.resize(&value, bits, 64));
        if name == "memcpy" {
            let (target, from) = (self.copy_side(to, 1)?, self.copy_side(what, 1)?);
            self.copy_bytes(&target, &from, &size, false);
        } else {
            let (bits, byte) = (self.scalar(self.module.type_of(what)?)?.bits(), self.value(what)?);
            let byte = self.resize(&byte, bits, 8);
            let target = self.spaced(to)?;
            self.fill_bytes(&target, &byte, &size);
        }
        if *self.type_text(inst.ty()?)? != *"void" {
            self.copy_of(inst, to)?;
        }
        Ok(true)
    }

    /// Expression, file, line, function: the driver prints them with the thread, and the launch fails.
    fn assertion(&mut self, operands: &'m [Id]) -> Result<()> {
        let &[expression, file, line, function, ..] = operands else {
            return Err(Error::malformed("an assertion has an expression, a file, a line and a function"));
        };
        if self.target == Target::Amdgcn {
            self.remark(
                "an assertion that fails ends the kernel without its words: AMD's devices have no place for them",
            );
            self.trap();
            return Ok(());
        }
        let bytes = self.pointer_text("i8", 0);
        let mut texts = Vec::new();
        for id in [expression, file, function] {
            let value = self.typed(id)?;
            let class = self.module.pointer(self.module.type_of(id)?)?.0;
            let same = self.pointer_space(class)? == 0;
            let name = if same { "bitcast" } else { "addrspacecast" };
            texts.push(self.let_temp(format_args!("{name} {value} to {bytes}")));
        }
        let (bits, value) = (self.scalar(self.module.type_of(line)?)?.bits(), self.value(line)?);
        let line = self.resize(&value, bits, 32);
        self.declare("__assertfail", "void", &format!("{bytes}, {bytes}, i32, {bytes}, i64"));
        let (expression, file, function) = (&texts[0], &texts[1], &texts[2]);
        self.put(format_args!(
            "call void @__assertfail({bytes} {expression}, {bytes} {file}, i32 {line}, {bytes} {function}, i64 1)"
        ));
        Ok(())
    }
}
