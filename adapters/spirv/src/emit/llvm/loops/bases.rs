//! Addresses that are made before a loop and stepped from within it stay where they are made.
//!
//! libnvvm moves their arithmetic to where it is used, into the loop and behind its conditions, to save registers. A guarded load
//! (`if (i < n) sum += x[i]`, as reductions over a work-group have it) then has so much behind its condition that ptxas makes a branch
//! of it, and the loads of an unrolled loop wait for each other. With the address at hand they are predicated and in flight together.

use std::collections::HashMap;

use super::super::Writer;
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Function, Instruction, storage};

impl Writer<'_> {
    /// Finds them in a function, before it is written.
    pub(in super::super) fn find_loop_bases(&mut self, function: &Function) -> Result<()> {
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

    fn steps_in_global_memory(&self, instruction: Instruction) -> Result<bool> {
        let is_step = matches!(
            instruction.opcode,
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN
        );
        Ok(is_step && self.module.pointer(self.module.operand(instruction, 0)?)?.0 == storage::CROSS_WORKGROUP)
    }
}
