//! Phis, branches, returns, and the hints of loops.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::super::Writer;
use super::super::loops::{NOT_UNROLLED, places};
use super::Inst;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Function, Id, Instruction, Type};

impl Writer<'_> {
    pub(super) fn control(&mut self, inst: Inst<'_>) -> Result<()> {
        match inst.opcode() {
            op::PHI => self.phi(inst),
            op::BRANCH => {
                let hint = self.loop_hint(&[inst.plain(0)?]);
                self.put(format_args!("br label %b{}{hint}", inst.plain(0)?));
                Ok(())
            }
            op::BRANCH_CONDITIONAL => {
                let (then, other) = (inst.plain(1)?, inst.plain(2)?);
                let hint = self.loop_hint(&[then, other]);
                if then == other {
                    // A phi names each block once.
                    self.put(format_args!("br label %b{then}{hint}"));
                    return Ok(());
                }
                let condition = self.value(inst.plain(0)?)?;
                self.put(format_args!("br i1 {condition}, label %b{then}, label %b{other}{hint}"));
                Ok(())
            }
            op::SWITCH => self.switch(inst),
            op::RETURN => {
                self.put(format_args!("ret void"));
                Ok(())
            }
            op::RETURN_VALUE => {
                let value = self.typed(inst.plain(0)?)?;
                self.put(format_args!("ret {value}"));
                Ok(())
            }
            op::UNREACHABLE => {
                self.put(format_args!("unreachable"));
                Ok(())
            }
            opcode => Err(crate::grammar::refusal(opcode)),
        }
    }

    fn phi(&mut self, inst: Inst<'_>) -> Result<()> {
        let mut text = format!("phi {} ", self.type_text(inst.ty()?)?);
        let (mut first, mut parents) = (true, HashMap::new());
        for pair in inst.args().chunks(2) {
            let &[value, parent] = pair else {
                return Err(Error::malformed("a value has no parent block"));
            };
            // Khronos' translator said a pair once for each edge until July 2026. Written again with all edges it would be wrong, and
            // many would multiply.
            match parents.insert(parent, value) {
                None => {}
                Some(known) if known == value => continue,
                Some(_) => return Err(Error::malformed(format!("the phi has two values for block {parent}"))),
            }
            let value = self.value(value)?;
            // LLVM wants one entry for each edge, SPIR-V one for each parent.
            for _ in 0..self.edges(parent)? {
                let comma = if first { "" } else { ", " };
                let _ = write!(text, "{comma}[ {value}, %b{parent} ]");
                first = false;
                Self::check_instruction_length(&text)?;
            }
        }
        self.set(inst.result()?, format_args!("{text}"));
        Ok(())
    }

    /// How often the terminator of `parent` names the block that is being written.
    fn edges(&mut self, parent: Id) -> Result<usize> {
        let missing = || Error::malformed(format!("block {parent} does not exist"));
        let &terminator = self.current.terminators.get(&parent).ok_or_else(missing)?;
        if terminator.opcode != op::SWITCH {
            return Ok(1);
        }
        let here = self.current.block;
        if !self.current.switches.contains_key(&parent) {
            let mut named: HashMap<Id, usize> = HashMap::new();
            for (_, label) in self.cases(terminator)? {
                *named.entry(label).or_default() += 1;
            }
            *named.entry(self.module.operand(terminator, 1)?).or_default() += 1;
            self.current.switches.insert(parent, named);
        }
        let named = self.current.switches.get(&parent).and_then(|named| named.get(&here));
        Ok(named.copied().unwrap_or(1))
    }

    /// The literals and labels of a switch.
    pub(in super::super) fn cases(&self, switch: Instruction) -> Result<Vec<(u64, Id)>> {
        let selector = self.module.operand(switch, 0)?;
        let Type::Int(bits) = self.module.ty(self.module.type_of(selector)?)? else {
            return Err(Error::malformed("a switch over what is no integer"));
        };
        let words = self.module.operands(switch).get(2..).unwrap_or(&[]);
        let width = if bits == 64 { 3 } else { 2 };
        let mut cases = Vec::with_capacity(words.len() / width);
        for case in words.chunks(width) {
            cases.push(match *case {
                [value, label] if width == 2 => (u64::from(value), label),
                [low, high, label] => (u64::from(low) | u64::from(high) << 32, label),
                _ => return Err(Error::malformed("a case of a switch is cut short")),
            });
        }
        Ok(cases)
    }

    fn switch(&mut self, inst: Inst<'_>) -> Result<()> {
        let selector = inst.plain(0)?;
        let scalar = self.shape(self.module.type_of(selector)?)?.0;
        let ty = scalar.text();
        let mut text = format!("switch {} , label %b{} [", self.typed(selector)?, inst.plain(1)?);
        for (value, label) in self.cases(inst.raw)? {
            if !self.current.terminators.contains_key(&label) {
                return Err(Error::malformed(format!("block {label} does not exist")));
            }
            let value = super::super::constants::scalar_text(scalar, value);
            let _ = write!(text, " {ty} {value}, label %b{label}");
        }
        self.put(format_args!("{text} ]"));
        Ok(())
    }

    /// Finds the hints of the function's loops.
    pub(in super::super) fn find_loops(&mut self, function: &Function) -> Result<()> {
        let mut known = None;
        for block in &function.blocks {
            let merge = self.module.body[block.first..block.end].iter().find(|i| i.opcode == op::LOOP_MERGE);
            let Some(&merge) = merge else { continue };
            let continues = self.module.operand(merge, 1)?;
            let mut hints = loop_hints(self.module.operands(merge).get(2..).unwrap_or(&[]));
            let ends = (block.label, self.module.operand(merge, 0)?);
            // A wish without a number is the compiler's own.
            let counts = hints.iter().any(|hint| hint.contains("unroll.count"));
            if !counts && self.is_long_around_a_loop(function, known.get_or_insert_with(|| places(function)), ends)? {
                hints = vec![NOT_UNROLLED.to_owned()];
            }
            if hints.is_empty() {
                continue;
            }
            let nodes: Vec<usize> = hints.iter().map(|hint| self.metadata.node(hint)).collect();
            let node = self.metadata.distinct(&nodes);
            self.current.loops.insert(continues, (block.label, node));
        }
        Ok(())
    }

    /// The metadata of a branch that goes back to a loop's head.
    fn loop_hint(&self, targets: &[Id]) -> String {
        match self.current.loops.get(&self.current.block) {
            Some((head, node)) if targets.contains(head) => format!(", !llvm.loop !{node}"),
            _ => String::new(),
        }
    }
}

/// LLVM's metadata for the mask of a loop and its parameters.
fn loop_hints(words: &[u32]) -> Vec<String> {
    let Some((&mask, mut rest)) = words.split_first() else {
        return Vec::new();
    };
    let mut hints = Vec::new();
    if mask & 1 != 0 {
        hints.push("!{!\"llvm.loop.unroll.enable\"}".to_owned());
    }
    if mask & 2 != 0 {
        hints.push(NOT_UNROLLED.to_owned());
    }
    // The parameters stand in the order of their bits; those before the count of an unrolling are passed over.
    for bit in [8, 0x10, 0x20, 0x40, 0x80, 0x100] {
        if mask & bit == 0 {
            continue;
        }
        let Some((&value, others)) = rest.split_first() else { break };
        rest = others;
        if bit == 0x100 && value > 0 {
            hints.push(format!("!{{!\"llvm.loop.unroll.count\", i32 {value}}}"));
        }
    }
    hints
}
