//! Divisions that only one later block needs are written in that block.
//!
//! A division of integers is some twenty instructions of the device. libnvvm makes branches of one of 64 bits before anything could move
//! it, and may not move what divides by what may be zero. dpnp's reductions divide at their start for the one work-item that
//! stores a group's result. Moving back is never wrong here: the operands reach as far as the result did. Text for AMD's devices stays as the
//! module has it.

use std::collections::{HashMap, HashSet};

use super::opencl::id_operands;
use super::{Target, Writer};
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Function, Id, Instruction, InstructionSet, Type};
use crate::parse;

/// What is written elsewhere, by where instructions stand in the module.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Divisions that are not written where they stand.
    moved: HashSet<u32>,
    /// What is written before an instruction, in the module's order.
    before: HashMap<u32, Vec<Instruction>>,
}

/// Where a division is needed.
struct Need {
    division: Instruction,
    made_in: usize,
    /// The block that needs it and the first instruction there, once there is one.
    used: Option<(usize, u32)>,
    stays: bool,
}

impl Writer<'_> {
    /// Finds them in a function, before it is written.
    pub(super) fn find_late_divisions(&mut self, function: &Function) -> Result<()> {
        if self.target != Target::Nvptx || function.blocks.len() < 2 {
            return Ok(());
        }
        let module = self.module;
        let mut needs = Vec::new();
        let mut known: HashMap<Id, usize> = HashMap::new();
        for (at, block) in function.blocks.iter().enumerate() {
            for &instruction in &module.body[block.first..block.end] {
                if self.is_costly_division(instruction, function)? {
                    known.insert(module.operand(instruction, 1)?, needs.len());
                    needs.push(Need { division: instruction, made_in: at, used: None, stays: false });
                }
            }
        }
        if needs.is_empty() {
            return Ok(());
        }
        for (at, block) in function.blocks.iter().enumerate() {
            for &instruction in &module.body[block.first..block.end] {
                self.for_each_needed(instruction, |id| {
                    let Some(&need) = known.get(&id) else { return };
                    let need = &mut needs[need];
                    if need.division == instruction {
                        return;
                    }
                    match need.used {
                        None => need.used = Some((at, instruction.at)),
                        Some((block, _)) => need.stays |= block != at,
                    }
                    // A phi needs its values in the blocks before it.
                    need.stays |= instruction.opcode == op::PHI;
                });
            }
        }
        let innermost = self.innermost_loops(function)?;
        for Need { division, made_in, used, stays } in needs {
            let Some((block, first)) = used.filter(|&(block, _)| block > made_in && !stays) else { continue };
            // A loop's block may run more often.
            if innermost[block].is_none() || innermost[block] == innermost[made_in] {
                self.current.late.moved.insert(division.at);
                self.current.late.before.entry(first).or_default().push(division);
            }
        }
        Ok(())
    }

    /// Calls `each` with the ids that an instruction has, that of its result included. Literals may look like an id: where one counted
    /// as a division's only use, the division was written in a block that its operands do not reach.
    fn for_each_needed(&self, instruction: Instruction, each: impl FnMut(Id)) {
        let module = self.module;
        match *module.operands(instruction) {
            // What debuggers are told is not written.
            [_, _, set, number, ref operands @ ..] if instruction.opcode == op::EXT_INST => {
                if module.instruction_sets.get(&set) == Some(&InstructionSet::OpenClStd) {
                    id_operands(number, operands).iter().copied().for_each(each);
                }
            }
            // The others have literals alone where the grammar does not know, or ids that are no numbers.
            _ => parse::for_each_id(&module.words, instruction, each),
        }
    }

    /// Whether it divides numbers by something that no constant tells: libnvvm multiplies for those.
    fn is_costly_division(&self, instruction: Instruction, function: &Function) -> Result<bool> {
        let divides = matches!(instruction.opcode, op::U_DIV | op::S_DIV | op::U_MOD | op::S_REM | op::S_MOD);
        if !divides || !matches!(self.module.ty(self.module.operand(instruction, 0)?)?, Type::Int(_)) {
            return Ok(false);
        }
        let divisor = self.module.operand(instruction, 3)?;
        Ok(self.module.find(divisor).is_some_and(|made| made.instruction.at > function.instruction.at))
    }

    /// The divisions that are written before an instruction.
    pub(super) fn take_late_divisions(&mut self, before: Instruction) -> Vec<Instruction> {
        self.current.late.before.remove(&before.at).unwrap_or_default()
    }

    /// Whether an instruction is written where it is needed.
    pub(super) fn is_late(&self, instruction: Instruction) -> bool {
        self.current.late.moved.contains(&instruction.at)
    }
}
