//! Instructions of extensions that are a few lines each: a sub-group's reads and writes of a block, clocks, arithmetic fences,
//! barriers in two parts.

use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::Inst;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::Id;

impl<'m> Writer<'m> {
    /// `SPV_INTEL_subgroups`: component `i` of each lane's value lies at element `i * lanes + lane`.
    pub(super) fn block_access(&mut self, inst: Inst<'m>) -> Result<()> {
        let reads = inst.opcode() == op::SUBGROUP_BLOCK_READ_INTEL;
        let (pointer, value) = if reads { (inst.arg(0)?, inst.result()?) } else { (inst.plain(0)?, inst.plain(1)?) };
        let ty = self.module.type_of(value)?;
        let ((scalar, count), text) = (self.shape(ty)?, self.type_text(ty)?);
        let (element, align) = (scalar.text(), scalar.bits() / 8);
        let (first, pointer_text) = self.block_start(pointer, scalar)?;
        if reads {
            let mut vector = "undef".to_owned();
            for at in 0..count {
                let place = self.block_place(element, &pointer_text, &first, at);
                let one = self.let_temp(format_args!("load {element}, {place}, align {align}"));
                vector = match count {
                    1 => one,
                    _ => self.let_temp(format_args!("insertelement {text} {vector}, {element} {one}, i32 {at}")),
                };
            }
            self.alias(value, &text, &vector);
            return Ok(());
        }
        let value = self.value(value)?;
        for at in 0..count {
            let place = self.block_place(element, &pointer_text, &first, at);
            let one = match count {
                1 => value.to_string(),
                _ => self.let_temp(format_args!("extractelement {text} {value}, i32 {at}")),
            };
            self.put(format_args!("store {element} {one}, {place}, align {align}"));
        }
        Ok(())
    }

    /// This lane's first element of a block.
    fn block_start(&mut self, pointer: Id, scalar: Scalar) -> Result<(String, String)> {
        let (class, pointee) = self.module.pointer(self.module.type_of(pointer)?)?;
        if self.shape(pointee)? != (scalar, 1) {
            return Err(Error::malformed("a block of other elements than its pointer's"));
        }
        let text = self.pointer_text(scalar.text(), self.pointer_space(class)?);
        let (base, lane) = (self.typed(pointer)?, self.register("laneid"));
        let first = self.let_temp(format_args!("getelementptr {}, {base}, i32 {lane}", scalar.text()));
        Ok((first, text))
    }

    fn block_place(&mut self, element: &str, pointer: &str, first: &str, at: u32) -> String {
        let far = at * self.lanes;
        format!("{pointer} {}", self.let_temp(format_args!("getelementptr {element}, {pointer} {first}, i32 {far}")))
    }

    /// NVIDIA's device clock counts nanoseconds, AMD's ticks of a constant frequency; that of a group's multiprocessor cycles.
    pub(super) fn read_clock(&mut self, inst: Inst<'m>) -> Result<()> {
        let of_device = match self.constant(inst.arg(0)?)? {
            1 => true,
            2 | 3 => false,
            other => return Err(Error::unsupported(format!("a clock of scope {other}"))),
        };
        let text = self.type_text(inst.ty()?)?;
        let now = match self.target {
            Target::Amdgcn => self.amdgcn_clock(of_device),
            Target::Nvptx => {
                let register = if of_device { "%globaltimer" } else { "%clock64" };
                self.let_temp(format_args!(
                    "call i64 asm sideeffect \"mov.u64 $0, {register};\", \"=l,~{{memory}}\"() #3"
                ))
            }
        };
        self.set(inst.result()?, format_args!("bitcast i64 {now} to {text}"));
        Ok(())
    }

    /// A value that no optimisation of libnvvm's reaches through. ptxas does: it sees a `mov`, and fuses a product before it with
    /// a sum behind it unless both say how they round. A product comes here by many ways (a selection, a call, a variable), so the
    /// whole program is compiled without fused operations.
    pub(super) fn arithmetic_fence(&mut self, inst: Inst<'m>) -> Result<()> {
        if self.target == Target::Amdgcn {
            return self.amdgcn_arithmetic_fence(inst);
        }
        self.result.contraction_off = true;
        let scalar = self.shape(inst.ty()?)?.0;
        self.set_per_element(inst, inst.args(), |writer, values| {
            let (ty, int, value) = (scalar.text(), scalar.integer().text(), &values[0]);
            let letter = match scalar {
                Scalar::Float(16) => "h",
                Scalar::Float(32) => "r",
                Scalar::Float(_) => "l",
                _ => return Err(Error::malformed("a fence of what is no floating-point number")),
            };
            let bits = writer.let_temp(format_args!("bitcast {ty} {value} to {int}"));
            let fenced = writer.let_temp(format_args!(
                "call {int} asm \"mov.b{} $0, $1;\", \"={letter},{letter}\"({int} {bits}) #3",
                scalar.bits()
            ));
            Ok(writer.let_temp(format_args!("bitcast {int} {fenced} to {ty}")))
        })
    }

    /// Arriving is a fence: nobody leaves the wait before all are in it, and so have arrived.
    pub(super) fn split_barrier(&mut self, inst: Inst<'m>) -> Result<()> {
        let order = (inst.plain(1)?, inst.plain(2)?);
        if inst.opcode() == op::CONTROL_BARRIER_ARRIVE_INTEL {
            return self.fence_of(order.0, order.1);
        }
        self.execution_barrier(inst.plain(0)?)?;
        self.fence_of(order.0, order.1)
    }
}
