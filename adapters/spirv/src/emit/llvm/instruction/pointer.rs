//! Addresses: steps into what they point to, casts between address spaces, comparisons.

use std::fmt::Write as _;

use super::super::{Target, Writer};
use super::Inst;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Id, Type, storage};

impl Writer<'_> {
    pub(super) fn pointer(&mut self, inst: Inst<'_>) -> Result<()> {
        let result = inst.result()?;
        match inst.opcode() {
            op::ACCESS_CHAIN => self.access_chain(inst, false, false),
            op::IN_BOUNDS_ACCESS_CHAIN => self.access_chain(inst, false, true),
            op::PTR_ACCESS_CHAIN => self.access_chain(inst, true, false),
            op::IN_BOUNDS_PTR_ACCESS_CHAIN => self.access_chain(inst, true, true),
            op::CONVERT_PTR_TO_U => self.cast(inst, "ptrtoint"),
            op::CONVERT_U_TO_PTR => self.cast(inst, "inttoptr"),
            op::PTR_CAST_TO_GENERIC | op::GENERIC_CAST_TO_PTR => {
                let name = self.pointer_cast(self.module.type_of(inst.arg(0)?)?, inst.ty()?)?;
                self.cast(inst, name)
            }
            op::GENERIC_CAST_TO_PTR_EXPLICIT => self.explicit_cast(inst),
            op::PTR_EQUAL | op::PTR_NOT_EQUAL => {
                let (a, b) = (self.typed(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
                let name = if inst.opcode() == op::PTR_EQUAL { "eq" } else { "ne" };
                self.set(result, format_args!("icmp {name} {a}, {b}"));
                Ok(())
            }
            _ => self.pointer_difference(inst),
        }
    }

    fn cast(&mut self, inst: Inst<'_>, name: &str) -> Result<()> {
        let (value, ty) = (self.typed(inst.arg(0)?)?, self.type_text(inst.ty()?)?);
        self.set(inst.result()?, format_args!("{name} {value} to {ty}"));
        Ok(())
    }

    /// The cast between two pointer types.
    ///
    /// # Errors
    /// One is no pointer, or none of the spaces is the generic one.
    pub(in super::super) fn pointer_cast(&self, from: Id, to: Id) -> Result<&'static str> {
        let (from, to) =
            (self.pointer_space(self.module.pointer(from)?.0)?, self.pointer_space(self.module.pointer(to)?.0)?);
        match (from, to) {
            (from, to) if from == to => Ok("bitcast"),
            (0, _) | (_, 0) => Ok("addrspacecast"),
            _ => Err(Error::malformed("a cast between two address spaces that are not generic")),
        }
    }

    fn access_chain(&mut self, inst: Inst<'_>, element_first: bool, in_bounds: bool) -> Result<()> {
        if self.current.builtin_elements.contains_key(&inst.result()?) {
            return Ok(());
        }
        let base = inst.arg(0)?;
        let (_, mut pointee) = self.module.pointer(self.module.type_of(base)?)?;
        let (base, base_type) = (self.typed(base)?, self.type_text(pointee)?);
        let in_bounds = if in_bounds { "inbounds " } else { "" };
        let mut text = format!("getelementptr {in_bounds}{base_type}, {base}");
        let mut indices = inst.args()[1..].iter();
        if element_first {
            let &element = indices.next().ok_or_else(|| Error::malformed("the element is missing"))?;
            let _ = write!(text, ", {}", self.typed(element)?);
        } else {
            text.push_str(", i32 0");
        }
        for &index in indices {
            if let Type::Structure(_) = self.module.ty(pointee)? {
                let member = u32::try_from(self.constant(index)?).unwrap_or(u32::MAX);
                pointee = self.part_type(pointee, member)?;
                let _ = write!(text, ", i32 {member}");
            } else {
                pointee = self.part_type(pointee, 0)?;
                let _ = write!(text, ", {}", self.typed(index)?);
            }
        }
        let result = inst.result()?;
        if self.target == Target::Nvptx && self.current.loop_bases.contains(&result) {
            let (address, ty) = (self.let_temp(format_args!("{text}")), self.type_text(inst.ty()?)?);
            self.set(result, format_args!("call {ty} asm \"mov.b64 $0, $1;\", \"=l,l\"({ty} {address})"));
        } else {
            self.set(result, format_args!("{text}"));
        }
        Ok(())
    }

    /// The generic address as `i8*`.
    fn bytes_of(&mut self, id: Id) -> Result<String> {
        let value = self.typed(id)?;
        if self.opaque {
            return Ok(value);
        }
        let bytes = self.let_temp(format_args!("bitcast {value} to i8*"));
        Ok(format!("i8* {bytes}"))
    }

    fn is_space(&mut self, space: &str, bytes: &str) -> String {
        if self.target == Target::Amdgcn {
            return self.amdgcn_is_space(space, bytes);
        }
        let name = format!("llvm.nvvm.isspacep.{space}");
        let ty = self.pointer_text("i8", 0);
        self.declare(&name, "i1", &ty);
        self.call("i1", &name, bytes)
    }

    /// The address in the wanted space, or null if it lies in another.
    fn explicit_cast(&mut self, inst: Inst<'_>) -> Result<()> {
        let class = self.module.pointer(inst.ty()?)?.0;
        let space = match class {
            storage::CROSS_WORKGROUP => "global",
            storage::WORKGROUP => "shared",
            storage::FUNCTION => "local",
            _ => return Err(Error::malformed(format!("a cast to storage class {class}"))),
        };
        let name = self.pointer_cast(self.module.type_of(inst.arg(0)?)?, inst.ty()?)?;
        let (value, ty) = (self.typed(inst.arg(0)?)?, self.type_text(inst.ty()?)?);
        let bytes = self.bytes_of(inst.arg(0)?)?;
        let inside = self.is_space(space, &bytes);
        let cast = self.let_temp(format_args!("{name} {value} to {ty}"));
        self.set(inst.result()?, format_args!("select i1 {inside}, {ty} {cast}, {ty} null"));
        Ok(())
    }

    /// The memory semantics of the space that a generic address lies in.
    pub(super) fn generic_semantics(&mut self, inst: Inst<'_>) -> Result<()> {
        const WORKGROUP: u32 = 0x100;
        const CROSS_WORKGROUP: u32 = 0x200;
        let bytes = self.bytes_of(inst.arg(0)?)?;
        let (shared, global) = (self.is_space("shared", &bytes), self.is_space("global", &bytes));
        let outside = self.let_temp(format_args!("select i1 {global}, i32 {CROSS_WORKGROUP}, i32 0"));
        self.set(inst.result()?, format_args!("select i1 {shared}, i32 {WORKGROUP}, i32 {outside}"));
        Ok(())
    }

    fn pointer_difference(&mut self, inst: Inst<'_>) -> Result<()> {
        let pointee = self.module.pointer(self.module.type_of(inst.arg(0)?)?)?.1;
        let size = self.size_of(pointee)?.max(1);
        let (a, b) = (self.typed(inst.arg(0)?)?, self.typed(inst.arg(1)?)?);
        let (a, b) =
            (self.let_temp(format_args!("ptrtoint {a} to i64")), self.let_temp(format_args!("ptrtoint {b} to i64")));
        let bytes = self.let_temp(format_args!("sub i64 {a}, {b}"));
        let count = self.let_temp(format_args!("sdiv exact i64 {bytes}, {size}"));
        let (scalar, _) = self.shape(inst.ty()?)?;
        let count = self.resize(&count, 64, scalar.bits());
        self.alias(inst.result()?, scalar.text(), &count);
        Ok(())
    }
}
