//! Vectors, arrays and structures as values.

use std::fmt::Write as _;

use super::super::Writer;
use super::Inst;
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Id, Type};

impl Writer<'_> {
    pub(super) fn composite(&mut self, inst: Inst<'_>) -> Result<()> {
        let result = inst.result()?;
        match inst.opcode() {
            op::VECTOR_EXTRACT_DYNAMIC => {
                let (vector, index) = (self.typed(inst.arg(0)?)?, self.typed(inst.arg(1)?)?);
                self.set(result, format_args!("extractelement {vector}, {index}"));
            }
            op::VECTOR_INSERT_DYNAMIC => {
                let (vector, element) = (self.typed(inst.arg(0)?)?, self.typed(inst.arg(1)?)?);
                let index = self.typed(inst.arg(2)?)?;
                self.set(result, format_args!("insertelement {vector}, {element}, {index}"));
            }
            op::VECTOR_SHUFFLE => self.vector_shuffle(inst)?,
            op::COMPOSITE_CONSTRUCT => self.construct(inst)?,
            op::COMPOSITE_EXTRACT => {
                let (id, path) = (inst.arg(0)?, &inst.args()[1..]);
                let ty = self.module.type_of(id)?;
                let value = self.value(id)?.to_string();
                let (_, value) = self.extract(ty, value, path)?;
                let text = self.type_text(inst.ty()?)?;
                self.alias(result, &text, &value);
            }
            op::COMPOSITE_INSERT => self.insert(inst)?,
            op::COPY_OBJECT => self.copy_of(inst, inst.arg(0)?)?,
            opcode => return Err(crate::grammar::refusal(opcode)),
        }
        Ok(())
    }

    /// Follows literal indices into a value: the part's type and its name.
    fn extract(&mut self, ty: Id, value: String, path: &[u32]) -> Result<(Id, String)> {
        let (mut ty, mut value) = (ty, value);
        for &at in path {
            let part = self.part_type(ty, at)?;
            let text = self.type_text(ty)?;
            value = match self.module.ty(ty)? {
                Type::Vector(..) => self.let_temp(format_args!("extractelement {text} {value}, i32 {at}")),
                _ => self.let_temp(format_args!("extractvalue {text} {value}, {at}")),
            };
            ty = part;
        }
        Ok((ty, value))
    }

    fn insert(&mut self, inst: Inst<'_>) -> Result<()> {
        let path = inst.args().get(2..).unwrap_or(&[]);
        let ty = inst.ty()?;
        // The composites on the way down, then each again with its new part on the way up.
        let mut levels = vec![(ty, self.value(inst.arg(1)?)?.to_string())];
        for &at in path.iter().rev().skip(1).rev() {
            let (ty, value) = levels[levels.len() - 1].clone();
            levels.push(self.extract(ty, value, &[at])?);
        }
        let mut value = self.value(inst.arg(0)?)?.to_string();
        for ((ty, whole), &at) in levels.iter().zip(path).rev() {
            let (text, part) = (self.type_text(*ty)?, self.part_type(*ty, at)?);
            let part = self.type_text(part)?;
            value = match self.module.ty(*ty)? {
                Type::Vector(..) => {
                    self.let_temp(format_args!("insertelement {text} {whole}, {part} {value}, i32 {at}"))
                }
                _ => self.let_temp(format_args!("insertvalue {text} {whole}, {part} {value}, {at}")),
            };
        }
        let text = self.type_text(ty)?;
        self.alias(inst.result()?, &text, &value);
        Ok(())
    }

    fn construct(&mut self, inst: Inst<'_>) -> Result<()> {
        let ty = inst.ty()?;
        let text = self.type_text(ty)?;
        let mut value = "undef".to_owned();
        let is_vector = matches!(self.module.ty(ty)?, Type::Vector(..));
        let mut at = 0;
        for &part in inst.args() {
            let part_type = self.module.type_of(part)?;
            let (typed, count) = (self.typed(part)?, if is_vector { self.module.elements(part_type)?.1 } else { 1 });
            let element = self.part_type(ty, at)?;
            let element = self.type_text(element)?;
            match (is_vector, count) {
                (true, 1) => value = self.let_temp(format_args!("insertelement {text} {value}, {typed}, i32 {at}")),
                (true, _) => {
                    for inner in 0..count {
                        let one = self.let_temp(format_args!("extractelement {typed}, i32 {inner}"));
                        let to = at + inner;
                        value = self.let_temp(format_args!("insertelement {text} {value}, {element} {one}, i32 {to}"));
                    }
                }
                (false, _) => value = self.let_temp(format_args!("insertvalue {text} {value}, {typed}, {at}")),
            }
            at += count;
        }
        self.alias(inst.result()?, &text, &value);
        Ok(())
    }

    fn vector_shuffle(&mut self, inst: Inst<'_>) -> Result<()> {
        let (first, second) = (self.module.type_of(inst.arg(0)?)?, self.module.type_of(inst.arg(1)?)?);
        let picks = inst.args().get(2..).unwrap_or(&[]);
        if first == second {
            let (a, b) = (self.typed(inst.arg(0)?)?, self.typed(inst.arg(1)?)?);
            let mut mask = String::new();
            for (at, &pick) in picks.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                let _ = match pick {
                    u32::MAX => write!(mask, "{comma}i32 undef"),
                    pick => write!(mask, "{comma}i32 {pick}"),
                };
            }
            let count = picks.len();
            self.set(inst.result()?, format_args!("shufflevector {a}, {b}, <{count} x i32> <{mask}>"));
            return Ok(());
        }
        // LLVM's vectors must be of one length.
        let ty = inst.ty()?;
        let (text, element) = (self.type_text(ty)?, self.shape(ty)?.0.text());
        let length = self.shape(first)?.1;
        let (a, b) = (self.typed(inst.arg(0)?)?, self.typed(inst.arg(1)?)?);
        let mut value = "undef".to_owned();
        for (at, &pick) in picks.iter().enumerate().filter(|(_, pick)| **pick != u32::MAX) {
            let (from, index) = if pick < length { (&a, pick) } else { (&b, pick - length) };
            let one = self.let_temp(format_args!("extractelement {from}, i32 {index}"));
            value = self.let_temp(format_args!("insertelement {text} {value}, {element} {one}, i32 {at}"));
        }
        self.alias(inst.result()?, &text, &value);
        Ok(())
    }
}
