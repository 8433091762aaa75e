//! What is written otherwise because it stands in a loop. libnvvm decides these for fewer registers and shorter code, which costs time
//! where loads wait for arithmetic: `bases` keeps addresses before the loop, `products` turns products into sums. `copies` is about the
//! compiler's own time. Values are the same to the last bit. Text for AMD's devices has none of it: LLVM's own passes run there.

mod bases;
mod copies;
mod products;

use std::collections::HashMap;

use super::Writer;
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Block, Function, Id};

pub(super) use products::CountedLoop;

/// The hint that a loop stays one.
pub(super) const NOT_UNROLLED: &str = "!{!\"llvm.loop.unroll.disable\"}";

impl Writer<'_> {
    /// The labels that a block's terminator names, once for each edge.
    fn targets(&self, block: &Block) -> Result<Vec<Id>> {
        let Some(&last) = self.module.body[block.first..block.end].last() else { return Ok(Vec::new()) };
        let operands = match last.opcode {
            op::BRANCH => 0..1,
            op::BRANCH_CONDITIONAL => 1..3,
            op::SWITCH => {
                let mut targets: Vec<Id> = self.cases(last)?.into_iter().map(|(_, label)| label).collect();
                targets.push(self.module.operand(last, 1)?);
                return Ok(targets);
            }
            _ => 0..0,
        };
        operands.map(|at| self.module.operand(last, at)).collect()
    }

    /// For each block where the head of the innermost loop around it stands. Loops are what a branch back spans in the order of the
    /// blocks: a block too many costs a register, and nothing else.
    pub(super) fn innermost_loops(&self, function: &Function) -> Result<Vec<Option<usize>>> {
        let places = places(function);
        let mut ends = vec![None; function.blocks.len()];
        for (at, block) in function.blocks.iter().enumerate() {
            for target in self.targets(block)? {
                if let Some(&head) = places.get(&target)
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
}

/// Where each block stands among the function's.
pub(super) fn places(function: &Function) -> HashMap<Id, usize> {
    function.blocks.iter().enumerate().map(|(at, block)| (block.label, at)).collect()
}
