//! OpenCL.std. Where libdevice has a function it is called, and its error bounds hold (CUDA C++ Programming Guide, "Mathematical
//! Functions"): all are within OpenCL's. What libdevice lacks is written out; each says its error. Half precision is computed in
//! single and rounded once.

mod common;
mod float;
mod geometric;
mod import;
mod integer;
mod intrinsic;
mod math;
mod pointer_result;
mod print;
mod vector_memory;

use super::Writer;
use super::instruction::Inst;
use super::types::Scalar;
use crate::error::{Error, Result};
use crate::grammar;
use crate::model::Id;

/// Those operands of an instruction of OpenCL.std that are ids. Others are the number of elements that `vload` reads, and the rounding
/// mode of `vstore`.
pub(super) fn id_operands(number: u32, operands: &[u32]) -> &[Id] {
    let ids = match grammar::opencl_std(number) {
        Some((name, _)) if name.starts_with("vload") => 2,
        Some((name, _)) if name.starts_with("vstore") => 3,
        _ => operands.len(),
    };
    operands.get(..ids).unwrap_or(operands)
}

impl<'m> Writer<'m> {
    pub(super) fn opencl(&mut self, inst: Inst<'m>) -> Result<()> {
        let number = inst.arg(1)?;
        let Some((name, least)) = grammar::opencl_std(number) else {
            return Err(Error::malformed(format!("OpenCL.std has no instruction {number}")));
        };
        let operands = inst.args().get(2..).unwrap_or(&[]);
        if operands.len() < least {
            return Err(Error::malformed(format!("{name} takes {least} operands, not {}", operands.len())));
        }
        let named = |error: Error| match error.kind() {
            crate::error::ErrorKind::Unsupported => Error::unsupported(format!("{name}: {}", error.message())),
            _ => error,
        };
        self.opencl_function(inst, name, operands).map_err(named)
    }

    fn opencl_function(&mut self, inst: Inst<'m>, name: &str, operands: &'m [u32]) -> Result<()> {
        match name {
            "printf" => return self.print(inst, operands),
            "prefetch" => return Ok(()),
            "fract" | "frexp" | "lgamma_r" | "modf" | "remquo" | "sincos" => {
                return self.with_pointer_result(inst, name, operands);
            }
            "cross" | "distance" | "length" | "normalize" | "fast_distance" | "fast_length" | "fast_normalize" => {
                return self.geometric(inst, name, operands);
            }
            "shuffle" | "shuffle2" => return self.dynamic_shuffle(inst, operands),
            _ if name.starts_with("vload") || name.starts_with("vstore") => {
                return self.vector_memory(inst, name, operands);
            }
            _ => {}
        }
        let scalar = self.shape(inst.ty()?)?.0;
        let from = self.shape(self.module.type_of(inst.arg(2)?)?)?.0;
        self.set_per_element(inst, operands, |writer, values| match (from, name) {
            (_, "select") => writer.select_by_sign(inst, operands, scalar, values),
            (_, "bitselect") => Ok(writer.bit_select(scalar, values)),
            (Scalar::Int(_), "nan") => Ok(writer.nan(scalar, &values[0])),
            (Scalar::Int(_), _) => writer.integer_function(name, scalar, values),
            (Scalar::Float(_), _) => writer.float_function(name, from, scalar, values),
            (Scalar::Bool, _) => Err(Error::malformed("a boolean operand")),
        })
    }

    /// `select(a, b, c)`: of vectors the sign of `c` decides, of scalars whether it is zero.
    fn select_by_sign(
        &mut self,
        inst: Inst<'_>,
        operands: &[u32],
        scalar: Scalar,
        values: &[String],
    ) -> Result<String> {
        let vector = self.shape(inst.ty()?)?.1 > 1;
        let condition = self.shape(self.module.type_of(operands[2])?)?.0.text();
        let predicate = if vector { "slt" } else { "ne" };
        let chosen = self.let_temp(format_args!("icmp {predicate} {condition} {}, 0", values[2]));
        let ty = scalar.text();
        Ok(self.let_temp(format_args!("select i1 {chosen}, {ty} {}, {ty} {}", values[1], values[0])))
    }

    fn bit_select(&mut self, scalar: Scalar, values: &[String]) -> String {
        let (ty, int) = (scalar.text(), scalar.integer().text());
        let mut bits = Vec::new();
        for value in values {
            bits.push(match scalar {
                Scalar::Float(_) => self.let_temp(format_args!("bitcast {ty} {value} to {int}")),
                _ => value.clone(),
            });
        }
        let differ = self.let_temp(format_args!("xor {int} {}, {}", bits[0], bits[1]));
        let wanted = self.let_temp(format_args!("and {int} {differ}, {}", bits[2]));
        let result = self.let_temp(format_args!("xor {int} {}, {wanted}", bits[0]));
        match scalar {
            Scalar::Float(_) => self.let_temp(format_args!("bitcast {int} {result} to {ty}")),
            _ => result,
        }
    }

    /// A quiet NaN with a payload.
    fn nan(&mut self, scalar: Scalar, payload: &str) -> String {
        let (ty, int) = (scalar.text(), scalar.integer().text());
        let quiet: u64 = match scalar.bits() {
            16 => 0x7e00,
            32 => 0x7fc0_0000,
            _ => 0x7ff8_0000_0000_0000,
        };
        let most = (1u64 << (scalar.bits() - 1)) - 1;
        let payload = self.let_temp(format_args!("and {int} {payload}, {most}"));
        let bits = self.let_temp(format_args!("or {int} {payload}, {quiet}"));
        self.let_temp(format_args!("bitcast {int} {bits} to {ty}"))
    }
}
