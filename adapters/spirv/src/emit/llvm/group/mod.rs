//! Instructions that the threads of a group execute together. A sub-group is a warp; a work-group's threads meet through a few
//! words of shared memory (`ur_scratch`). What takes steps is a helper function; see `reduce` and `shuffle`.

mod ballot;
mod exchange;
mod operation;
mod reduce;
mod shuffle;
mod work_group;

use super::instruction::Inst;
use super::types::Scalar;
use super::{Target, Writer};
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::Id;

pub(super) use operation::Operation;
use reduce::Lanes;
pub(super) use shuffle::Mode;

/// `GroupOperation`.
const REDUCE: u32 = 0;
const INCLUSIVE_SCAN: u32 = 1;
const EXCLUSIVE_SCAN: u32 = 2;
const CLUSTERED_REDUCE: u32 = 3;
const PARTITIONED_REDUCE: u32 = 6;
const PARTITIONED_EXCLUSIVE_SCAN: u32 = 8;

/// Which threads an instruction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Members {
    WorkGroup,
    SubGroup,
}

impl<'m> Writer<'m> {
    pub(super) fn group_instruction(&mut self, inst: Inst<'m>) -> Result<()> {
        if let Some(operation) = Operation::uniform(inst.opcode()) {
            return self.uniform_operation(inst, operation);
        }
        if let Some(operation) = Operation::non_uniform(inst.opcode()) {
            return self.non_uniform_operation(inst, operation);
        }
        match inst.opcode() {
            op::GROUP_ALL | op::GROUP_ANY => self.uniform_vote(inst),
            op::GROUP_BROADCAST => self.broadcast(inst),
            op::GROUP_ASYNC_COPY => self.async_copy(inst),
            op::GROUP_WAIT_EVENTS => self.execution_barrier(inst.plain(0)?),
            op::GROUP_NON_UNIFORM_ELECT..=op::GROUP_NON_UNIFORM_ALL_EQUAL
            | op::GROUP_NON_UNIFORM_BALLOT..=op::GROUP_NON_UNIFORM_BALLOT_FIND_MSB
            | op::SUBGROUP_BALLOT_KHR
            | op::SUBGROUP_ALL_KHR..=op::SUBGROUP_ALL_EQUAL_KHR => self.ballot_instruction(inst),
            op::GROUP_NON_UNIFORM_BROADCAST..=op::GROUP_NON_UNIFORM_BROADCAST_FIRST
            | op::GROUP_NON_UNIFORM_SHUFFLE..=op::GROUP_NON_UNIFORM_SHUFFLE_DOWN
            | op::GROUP_NON_UNIFORM_QUAD_BROADCAST..=op::GROUP_NON_UNIFORM_QUAD_SWAP
            | op::GROUP_NON_UNIFORM_ROTATE_KHR
            | op::SUBGROUP_FIRST_INVOCATION_KHR
            | op::SUBGROUP_READ_INVOCATION_KHR
            | op::SUBGROUP_SHUFFLE_INTEL..=op::SUBGROUP_SHUFFLE_XOR_INTEL => self.exchange(inst),
            opcode => Err(crate::grammar::refusal(opcode)),
        }
    }

    fn members(&self, scope: Id) -> Result<Members> {
        match self.constant(scope)? {
            2 => Ok(Members::WorkGroup),
            3 => Ok(Members::SubGroup),
            other => Err(Error::unsupported(format!("a group of scope {other}"))),
        }
    }

    fn must_be_sub_group(&self, scope: Id) -> Result<()> {
        match self.members(scope)? {
            Members::SubGroup => Ok(()),
            Members::WorkGroup => Err(Error::unsupported("a non-uniform operation of a work-group")),
        }
    }

    /// The lanes that execute this instruction now.
    fn active_mask(&mut self) -> String {
        if self.target == Target::Amdgcn {
            return self.amdgcn_ballot("true");
        }
        self.let_temp(format_args!("call i32 asm sideeffect \"activemask.b32 $0;\", \"=r\"() #0"))
    }

    /// `OpGroupIAdd` and the like: every thread of the group takes part.
    fn uniform_operation(&mut self, inst: Inst<'_>, operation: Operation) -> Result<()> {
        let (members, kind) = (self.members(inst.arg(0)?)?, inst.arg(1)?);
        let shape = self.shape(inst.ty()?)?;
        if members == Members::WorkGroup {
            return self.set_per_element(inst, &[inst.arg(2)?], |writer, values| {
                writer.work_group_operation(operation, shape.0, kind, &values[0])
            });
        }
        let mask = self.sub_group_mask();
        self.set_per_element(inst, &[inst.arg(2)?], |writer, values| {
            writer.sub_group_operation(operation, shape.0, kind, &values[0], Lanes::existing(&mask))
        })
    }

    /// `OpGroupNonUniformIAdd` and the like: those threads take part that get here.
    fn non_uniform_operation(&mut self, inst: Inst<'_>, operation: Operation) -> Result<()> {
        self.must_be_sub_group(inst.arg(0)?)?;
        let (mut kind, scalar) = (inst.arg(1)?, self.shape(inst.ty()?)?.0);
        let mask = self.active_mask();
        let mut members = mask.clone();
        if kind == CLUSTERED_REDUCE {
            let size = self.constant(inst.arg(3)?)?;
            if !size.is_power_of_two() || size > u64::from(self.lanes) {
                return Err(Error::unsupported(format!("clusters of {size}")));
            }
            return self.set_per_element(inst, &[inst.arg(2)?], |writer, values| {
                writer.clustered_reduce(operation, scalar, size as u32, &values[0], &mask)
            });
        }
        if (PARTITIONED_REDUCE..=PARTITIONED_EXCLUSIVE_SCAN).contains(&kind) {
            kind -= PARTITIONED_REDUCE;
            members = self.ballot_mask(inst.arg(3)?)?;
        }
        let lanes = Lanes { active: &mask, members: &members, contiguous: false };
        self.set_per_element(inst, &[inst.arg(2)?], |writer, values| {
            writer.sub_group_operation(operation, scalar, kind, &values[0], lanes)
        })
    }

    fn uniform_vote(&mut self, inst: Inst<'_>) -> Result<()> {
        let all = inst.opcode() == op::GROUP_ALL;
        let value = self.value(inst.arg(1)?)?.to_string();
        if self.members(inst.arg(0)?)? == Members::WorkGroup {
            let operation = if all { Operation::And } else { Operation::Or };
            let value = self.work_group_operation(operation, Scalar::Bool, REDUCE, &value)?;
            self.alias(inst.result()?, "i1", &value);
            return Ok(());
        }
        let mask = self.sub_group_mask();
        let votes = self.ballot(&value, &mask);
        if all {
            self.set(inst.result()?, format_args!("icmp eq {} {votes}, {mask}", self.mask().text()));
        } else {
            self.set(inst.result()?, format_args!("icmp ne {} {votes}, 0", self.mask().text()));
        }
        Ok(())
    }

    fn broadcast(&mut self, inst: Inst<'_>) -> Result<()> {
        let scalar = self.shape(inst.ty()?)?.0;
        let index = inst.arg(2)?;
        if self.members(inst.arg(0)?)? == Members::WorkGroup {
            let index = self.linear_index(index)?;
            return self.set_per_element(inst, &[inst.arg(1)?], |writer, values| {
                writer.work_group_broadcast(scalar, &values[0], &index)
            });
        }
        let lane = self.lane_of(index)?;
        let mask = self.sub_group_mask();
        self.set_per_element(inst, &[inst.arg(1)?], |writer, values| {
            writer.shuffle(shuffle::Mode::Index, scalar, &values[0], &lane, &mask)
        })
    }

    /// A lane's number as 32 bits.
    fn lane_of(&mut self, id: Id) -> Result<String> {
        let ((scalar, count), value) = (self.shape(self.module.type_of(id)?)?, self.value(id)?);
        if count != 1 {
            return Err(Error::malformed("a lane's number is a scalar"));
        }
        Ok(self.resize(&value, scalar.bits(), 32))
    }

    /// A thread's index in its group from its local id, which has one to three dimensions.
    fn linear_index(&mut self, id: Id) -> Result<String> {
        let ty = self.module.type_of(id)?;
        let ((scalar, count), text, value) = (self.shape(ty)?, self.type_text(ty)?, self.value(id)?);
        if count == 1 {
            return Ok(self.resize(&value, scalar.bits(), 32));
        }
        let mut index = "0".to_owned();
        for at in (0..count.min(3)).rev() {
            let size = self.register(&format!("ntid.{}", ["x", "y", "z"][at as usize]));
            let part = self.let_temp(format_args!("extractelement {text} {value}, i32 {at}"));
            let part = self.resize(&part, scalar.bits(), 32);
            let scaled = self.let_temp(format_args!("mul i32 {index}, {size}"));
            index = self.let_temp(format_args!("add i32 {scaled}, {part}"));
        }
        Ok(index)
    }
}
