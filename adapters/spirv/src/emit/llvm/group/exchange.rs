//! Values that lanes of a sub-group give each other.
//!
//! Intel's shuffles are what SYCL's group functions become, which all lanes of the sub-group reach: they name the lanes that exist, so
//! that lanes which parted before them wait for each other. All others are about the active lanes, and must not wait for any.

use super::super::Writer;
use super::super::instruction::Inst;
use super::shuffle::Mode;
use crate::error::{Error, Result};
use crate::grammar::op;

impl Writer<'_> {
    pub(super) fn exchange(&mut self, inst: Inst<'_>) -> Result<()> {
        match inst.opcode() {
            op::SUBGROUP_SHUFFLE_DOWN_INTEL | op::SUBGROUP_SHUFFLE_UP_INTEL => return self.shuffle_of_two(inst),
            op::SUBGROUP_SHUFFLE_INTEL | op::SUBGROUP_SHUFFLE_XOR_INTEL => {
                let mode = if inst.opcode() == op::SUBGROUP_SHUFFLE_INTEL { Mode::Index } else { Mode::Xor };
                let (lane, existing) = (self.lane_of(inst.arg(1)?)?, self.sub_group_mask());
                return self.exchanged(inst, 0, mode, &lane, &existing);
            }
            op::SUBGROUP_READ_INVOCATION_KHR => {
                let (lane, active) = (self.lane_of(inst.arg(1)?)?, self.active_mask());
                return self.exchanged(inst, 0, Mode::Index, &lane, &active);
            }
            op::SUBGROUP_FIRST_INVOCATION_KHR => {
                let active = self.active_mask();
                let lane = self.lowest_lane(&active);
                return self.exchanged(inst, 0, Mode::Index, &lane, &active);
            }
            _ => {}
        }
        self.must_be_sub_group(inst.arg(0)?)?;
        let active = self.active_mask();
        let (mode, lane) = match inst.opcode() {
            op::GROUP_NON_UNIFORM_BROADCAST_FIRST => (Mode::Index, self.lowest_lane(&active)),
            op::GROUP_NON_UNIFORM_BROADCAST | op::GROUP_NON_UNIFORM_SHUFFLE => {
                (Mode::Index, self.lane_of(inst.arg(2)?)?)
            }
            op::GROUP_NON_UNIFORM_SHUFFLE_XOR => (Mode::Xor, self.lane_of(inst.arg(2)?)?),
            op::GROUP_NON_UNIFORM_SHUFFLE_UP => (Mode::Up, self.lane_of(inst.arg(2)?)?),
            op::GROUP_NON_UNIFORM_SHUFFLE_DOWN => (Mode::Down, self.lane_of(inst.arg(2)?)?),
            op::GROUP_NON_UNIFORM_QUAD_BROADCAST => {
                let (lane, index) = (self.register("laneid"), self.lane_of(inst.arg(2)?)?);
                let first = self.let_temp(format_args!("and i32 {lane}, -4"));
                (Mode::Index, self.let_temp(format_args!("add i32 {first}, {index}")))
            }
            op::GROUP_NON_UNIFORM_QUAD_SWAP => {
                let direction = self.constant(inst.arg(2)?)?;
                if direction > 2 {
                    return Err(Error::malformed(format!("direction {direction} of a quad")));
                }
                (Mode::Xor, (direction + 1).to_string())
            }
            _ => (Mode::Index, self.rotated_lane(inst)?),
        };
        self.exchanged(inst, 1, mode, &lane, &active)
    }

    /// The value of operand `at` from another lane; `mask` names the lanes that take part.
    fn exchanged(&mut self, inst: Inst<'_>, at: usize, mode: Mode, lane: &str, mask: &str) -> Result<()> {
        let scalar = self.shape(inst.ty()?)?.0;
        self.set_per_element(inst, &[inst.arg(at)?], |writer, values| {
            writer.shuffle(mode, scalar, &values[0], lane, mask)
        })
    }

    /// The lane so far above, around the end of the sub-group or of the cluster.
    fn rotated_lane(&mut self, inst: Inst<'_>) -> Result<String> {
        let (lane, by) = (self.register("laneid"), self.lane_of(inst.arg(2)?)?);
        let size = match inst.arg(3) {
            Ok(cluster) => self.constant(cluster)?,
            Err(_) => self.lanes.into(),
        };
        if !size.is_power_of_two() || size > u64::from(self.lanes) {
            return Err(Error::unsupported(format!("clusters of {size}")));
        }
        let moved = self.let_temp(format_args!("add i32 {lane}, {by}"));
        let within = self.let_temp(format_args!("and i32 {moved}, {}", size - 1));
        let first = self.let_temp(format_args!("and i32 {lane}, {}", -(size as i32)));
        Ok(self.let_temp(format_args!("or i32 {first}, {within}")))
    }

    /// Intel's shuffles up and down: two values that stand side by side, as if the sub-group were twice as long.
    fn shuffle_of_two(&mut self, inst: Inst<'_>) -> Result<()> {
        let down = inst.opcode() == op::SUBGROUP_SHUFFLE_DOWN_INTEL;
        let (lane, by) = (self.register("laneid"), self.lane_of(inst.arg(2)?)?);
        let moved = match down {
            true => self.let_temp(format_args!("add i32 {lane}, {by}")),
            false => self.let_temp(format_args!("sub i32 {lane}, {by}")),
        };
        let from = self.let_temp(format_args!("and i32 {moved}, {}", self.lanes - 1));
        let beyond = self.let_temp(format_args!("icmp ugt i32 {moved}, {}", self.lanes - 1));
        let (scalar, mask) = (self.shape(inst.ty()?)?.0, self.sub_group_mask());
        let ty = scalar.text();
        self.set_per_element(inst, &inst.args()[..2], |writer, values| {
            // Down takes (current, next), up (previous, current).
            let (inside, outside) = if down { (0, 1) } else { (1, 0) };
            let near = writer.shuffle(Mode::Index, scalar, &values[inside], &from, &mask)?;
            let far = writer.shuffle(Mode::Index, scalar, &values[outside], &from, &mask)?;
            Ok(writer.let_temp(format_args!("select i1 {beyond}, {ty} {far}, {ty} {near}")))
        })
    }
}
