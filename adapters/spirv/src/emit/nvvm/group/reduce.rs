//! Reductions and scans of a sub-group. All 32 lanes take the short way, a tree of five shuffles; any other set of lanes is
//! walked lane by lane, which is right for every set.

use super::super::Writer;
use super::super::helper::{Head, Motion};
use super::super::types::Scalar;
use super::operation::Operation;
use super::shuffle::Mode;
use super::{EXCLUSIVE_SCAN, INCLUSIVE_SCAN, REDUCE};
use crate::error::{Error, Result};

impl Writer<'_> {
    /// A reduction or scan. `lanes` are those that execute this, and those whose values count for this one.
    pub(super) fn sub_group_operation(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        kind: u32,
        value: &str,
        (lanes, members): (&str, &str),
    ) -> Result<String> {
        let ty = scalar.text();
        let what = match kind {
            REDUCE => "reduce",
            INCLUSIVE_SCAN => "scan",
            EXCLUSIVE_SCAN => "before",
            _ => return Err(Error::unsupported(format!("group operation {kind}"))),
        };
        let name = format!("ur_{what}_{}_{}", operation.name(), scalar.suffix());
        let parameters = format!("{ty} %x, i32 %lanes, i32 %members");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| match kind {
            REDUCE => writer.reduce_body(operation, scalar),
            INCLUSIVE_SCAN => writer.scan_body(operation, scalar),
            _ => writer.exclusive_body(operation, scalar),
        })?;
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}, i32 {lanes}, i32 {members}) #0")))
    }

    /// Branches to `tree` if all lanes take part, else to `walk`.
    fn choose_way(&mut self) {
        self.label("entry");
        let both = self.let_temp(format_args!("and i32 %lanes, %members"));
        let all = self.let_temp(format_args!("icmp eq i32 {both}, -1"));
        self.put(format_args!("br i1 {all}, label %tree, label %walk"));
    }

    fn reduce_body(&mut self, operation: Operation, scalar: Scalar) -> Result<()> {
        self.choose_way();
        self.label("tree");
        let value = self.butterfly(operation, scalar, "%x", 32, "-1")?;
        self.ret(scalar.text(), &value);
        self.walk(operation, scalar, false)
    }

    /// Every lane combines with the lane that differs by one bit, for each bit below `size`: all get the same result.
    pub(super) fn butterfly(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        value: &str,
        size: u32,
        mask: &str,
    ) -> Result<String> {
        let (mut value, mut distance) = (value.to_owned(), size / 2);
        while distance > 0 {
            let other = self.shuffle(Mode::Xor, scalar, &value, &distance.to_string(), mask)?;
            value = self.combine(operation, scalar, &value, &other)?;
            distance /= 2;
        }
        Ok(value)
    }

    fn scan_body(&mut self, operation: Operation, scalar: Scalar) -> Result<()> {
        self.choose_way();
        self.label("tree");
        let value = self.scan_tree(operation, scalar, "%x")?;
        self.ret(scalar.text(), &value);
        self.walk(operation, scalar, true)
    }

    /// The inclusive scan of all 32 lanes.
    pub(super) fn scan_tree(&mut self, operation: Operation, scalar: Scalar, value: &str) -> Result<String> {
        let ty = scalar.text();
        let lane = self.register("laneid");
        let mut value = value.to_owned();
        for distance in [1, 2, 4, 8, 16] {
            let below = self.shuffle(Mode::Up, scalar, &value, &distance.to_string(), "-1")?;
            let both = self.combine(operation, scalar, &below, &value)?;
            let exists = self.let_temp(format_args!("icmp uge i32 {lane}, {distance}"));
            value = self.let_temp(format_args!("select i1 {exists}, {ty} {both}, {ty} {value}"));
        }
        Ok(value)
    }

    /// Looks at each lane in turn; the members' values count, in a scan those up to this lane.
    fn walk(&mut self, operation: Operation, scalar: Scalar, scans: bool) -> Result<()> {
        let (ty, neutral) = (scalar.text(), operation.neutral(scalar));
        self.label("walk");
        let counted = if scans {
            let up_to_here = self.register("lanemask.le");
            self.let_temp(format_args!("and i32 %members, {up_to_here}"))
        } else {
            "%members".to_owned()
        };
        self.put(format_args!("br label %step"));
        self.label("step");
        self.put(format_args!("%at = phi i32 [ 0, %walk ], [ %next, %step ]"));
        self.put(format_args!("%sum = phi {ty} [ {neutral}, %walk ], [ %kept, %step ]"));
        let other = self.shuffle(Mode::Index, scalar, "%x", "%at", "%lanes")?;
        let both = self.combine(operation, scalar, "%sum", &other)?;
        let bit = self.let_temp(format_args!("shl i32 1, %at"));
        let present = self.let_temp(format_args!("and i32 {counted}, {bit}"));
        let counts = self.let_temp(format_args!("icmp ne i32 {present}, 0"));
        self.put(format_args!("%kept = select i1 {counts}, {ty} {both}, {ty} %sum"));
        self.put(format_args!("%next = add i32 %at, 1"));
        let done = self.let_temp(format_args!("icmp eq i32 %next, 32"));
        // Unrolled, the way that is seldom taken would be most of a kernel's code.
        let hint = self.metadata.node("!{!\"llvm.loop.unroll.disable\"}");
        let hint = self.metadata.distinct(&[hint]);
        self.put(format_args!("br i1 {done}, label %end, label %step, !llvm.loop !{hint}"));
        self.label("end");
        self.ret(ty, "%kept");
        Ok(())
    }

    /// The inclusive scan of the member before this lane.
    fn exclusive_body(&mut self, operation: Operation, scalar: Scalar) -> Result<()> {
        let (ty, neutral) = (scalar.text(), operation.neutral(scalar));
        // The sum of nothing is zero, not minus zero.
        let neutral = if operation == Operation::FloatAdd { "0.0".to_owned() } else { neutral };
        self.label("entry");
        let inclusive = self.sub_group_operation(operation, scalar, INCLUSIVE_SCAN, "%x", ("%lanes", "%members"))?;
        let lower = self.register("lanemask.lt");
        let before = self.let_temp(format_args!("and i32 %members, {lower}"));
        let zeros = self.count_bits("llvm.ctlz", ", i1 false", Scalar::Int(32), &before);
        let previous = self.let_temp(format_args!("sub i32 31, {zeros}"));
        let value = self.shuffle(Mode::Index, scalar, &inclusive, &previous, "%lanes")?;
        let none = self.let_temp(format_args!("icmp eq i32 {before}, 0"));
        let value = self.let_temp(format_args!("select i1 {none}, {ty} {neutral}, {ty} {value}"));
        self.ret(ty, &value);
        Ok(())
    }

    /// A reduction of each `size` neighbouring lanes.
    pub(super) fn clustered_reduce(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        size: u32,
        value: &str,
        lanes: &str,
    ) -> Result<String> {
        let ty = scalar.text();
        let name = format!("ur_cluster{size}_{}_{}", operation.name(), scalar.suffix());
        let parameters = format!("{ty} %x, i32 %lanes, i32 %members");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| {
            writer.label("entry");
            let all = writer.let_temp(format_args!("icmp eq i32 %lanes, -1"));
            writer.put(format_args!("br i1 {all}, label %tree, label %walk"));
            writer.label("tree");
            let value = writer.butterfly(operation, scalar, "%x", size, "-1")?;
            writer.ret(ty, &value);
            writer.walk(operation, scalar, false)
        })?;
        let lane = self.register("laneid");
        let first = self.let_temp(format_args!("and i32 {lane}, {}", -(size as i32)));
        let ones = if size == 32 { -1 } else { (1i32 << size) - 1 };
        let cluster = self.let_temp(format_args!("shl i32 {ones}, {first}"));
        let members = self.let_temp(format_args!("and i32 {cluster}, {lanes}"));
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}, i32 {lanes}, i32 {members}) #0")))
    }
}
