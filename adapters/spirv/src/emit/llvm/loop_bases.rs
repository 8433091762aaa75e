//! Addresses that are made before a loop and stepped from within it stay where they are made.
//!
//! libnvvm moves their arithmetic to where it is used, into the loop and behind its conditions, to save registers. A guarded load
//! (`if (i < n) sum += x[i]`, as reductions over a work-group have it) then has so much behind its condition that ptxas makes a branch
//! of it, and the loads of an unrolled loop wait for each other. With the address at hand they are predicated and in flight together.

use std::collections::HashMap;

use super::Writer;
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Function, Id, Instruction, storage};

impl Writer<'_> {
    /// Finds them in a function, before it is written.
    pub(super) fn find_loop_bases(&mut self, function: &Function) -> Result<()> {
        let innermost = self.innermost_loops(function)?;
        if innermost.iter().all(Option::is_none) {
            return Ok(());
        }
        let mut made_in = HashMap::new();
        let module = self.module;
        for (at, (block, innermost)) in function.blocks.iter().zip(innermost).enumerate() {
            for &instruction in &module.body[block.first..block.end] {
                if !self.steps_in_global_memory(instruction)? {
                    continue;
                }
                let base = module.operand(instruction, 2)?;
                if let (Some(head), Some(&made)) = (innermost, made_in.get(&base))
                    && made < head
                {
                    self.current.loop_bases.insert(base);
                }
                made_in.insert(module.operand(instruction, 1)?, at);
            }
        }
        Ok(())
    }

    /// For each block where the head of the innermost loop around it stands. Loops are what a branch back spans in the order of the
    /// blocks: a block too many costs a register, and nothing else.
    fn innermost_loops(&self, function: &Function) -> Result<Vec<Option<usize>>> {
        let places: HashMap<Id, usize> =
            function.blocks.iter().enumerate().map(|(at, block)| (block.label, at)).collect();
        let mut ends = vec![None; function.blocks.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            let Some(&last) = self.module.body[block.first..block.end].last() else { continue };
            let targets = match last.opcode {
                op::BRANCH => 0..1,
                op::BRANCH_CONDITIONAL => 1..3,
                _ => continue,
            };
            for target in targets {
                if let Some(&head) = places.get(&self.module.operand(last, target)?)
                    && head <= at
                {
                    ends[head] = Some(at);
                }
            }
        }
        let mut around: Vec<(usize, usize)> = Vec::new();
        Ok(ends
            .into_iter()
            .enumerate()
            .map(|(at, end)| {
                around.extend(end.map(|end| (at, end)));
                while around.pop_if(|(_, end)| *end < at).is_some() {}
                around.last().map(|&(head, _)| head)
            })
            .collect())
    }

    fn steps_in_global_memory(&self, instruction: Instruction) -> Result<bool> {
        let is_step = matches!(
            instruction.opcode,
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN
        );
        Ok(is_step && self.module.pointer(self.module.operand(instruction, 0)?)?.0 == storage::CROSS_WORKGROUP)
    }
}
