//! A loop around a loop is not unrolled where it calls what is long.
//!
//! libnvvm writes out every loop of few rounds, outer ones too. An elementwise kernel of dpnp's goes twice through a group of four elements, and
//! has one more loop for what is left: nine copies of `atan2`, of which libnvvm makes five in 0.7 of the time, and `fmod` or `logaddexp` in 0.6.
//! The rounds of the inner loop stay beside each other. Those of the outer one have the barriers of a sub-group between them, over which
//! nothing is moved, so they gain little by being written out.

use std::collections::{HashMap, HashSet};

use super::super::{Target, Writer};
use crate::error::Result;
use crate::grammar::{self, op};
use crate::model::{Function, Id, Instruction, InstructionSet};

/// Instructions of a loop that is looked at: none that is longer is unrolled, and looking at one must not take long.
const MOST: usize = 2048;

/// Functions of OpenCL.std that libdevice computes by dozens of instructions.
const LONG: &[&str] = &[
    "acos",
    "acosh",
    "acospi",
    "asin",
    "asinh",
    "asinpi",
    "atan",
    "atan2",
    "atan2pi",
    "atanh",
    "atanpi",
    "cbrt",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fmod",
    "hypot",
    "lgamma",
    "lgamma_r",
    "log",
    "log10",
    "log1p",
    "log2",
    "pow",
    "pown",
    "powr",
    "remainder",
    "remquo",
    "rootn",
    "sin",
    "sincos",
    "sinh",
    "sinpi",
    "tan",
    "tanh",
    "tanpi",
    "tgamma",
];

impl Writer<'_> {
    /// Whether the loop from this head up to what merges it has a loop in it, and calls what is long. `places` says where each block stands.
    pub(in super::super) fn is_long_around_a_loop(
        &self,
        function: &Function,
        places: &HashMap<Id, usize>,
        (head, merge): (Id, Id),
    ) -> Result<bool> {
        if self.target != Target::Nvptx {
            return Ok(false);
        }
        let (mut seen, mut next, mut left) = (HashSet::from([merge]), vec![head], MOST);
        let (mut has_loop, mut is_long) = (false, false);
        while let Some(label) = next.pop() {
            let Some(&at) = places.get(&label).filter(|_| seen.insert(label)) else { continue };
            let block = &function.blocks[at];
            let body = &self.module.body[block.first..block.end];
            let Some(rest) = left.checked_sub(body.len() + 1) else { return Ok(false) };
            left = rest;
            is_long |= body.iter().any(|instruction| self.is_long(*instruction));
            let targets = self.targets(block)?;
            // Not every loop has an instruction that says so.
            has_loop |= targets.iter().any(|target| *target != head && places.get(target).is_some_and(|&to| to <= at));
            next.extend(targets);
        }
        Ok(has_loop && is_long)
    }

    fn is_long(&self, instruction: Instruction) -> bool {
        match *self.module.operands(instruction) {
            [_, _, set, number, ..] if instruction.opcode == op::EXT_INST => {
                self.module.instruction_sets.get(&set) == Some(&InstructionSet::OpenClStd)
                    && grammar::opencl_std(number).is_some_and(|(name, _)| LONG.contains(&name))
            }
            _ => matches!(instruction.opcode, op::F_REM | op::F_MOD),
        }
    }
}
