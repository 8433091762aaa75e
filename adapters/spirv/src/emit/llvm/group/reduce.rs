//! Reductions and scans of a sub-group, by trees of five shuffles. Lanes that begin at the first and have no gap, as those of every
//! uniform operation, always take a tree; of any other set only all 32 do, else one lane after the other is looked at.

use super::super::Writer;
use super::super::helper::{Head, Motion};
use super::super::loops::NOT_UNROLLED;
use super::super::types::Scalar;
use super::operation::Operation;
use super::shuffle::Mode;
use super::{EXCLUSIVE_SCAN, INCLUSIVE_SCAN, REDUCE};
use crate::error::{Error, Result};

/// The lanes of an operation.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    /// Those that execute it.
    pub active: &'a str,
    /// Those whose values count for this one.
    pub members: &'a str,
    /// Both are the lanes below some number.
    pub contiguous: bool,
}

impl<'a> Lanes<'a> {
    /// All lanes of a sub-group.
    pub(super) fn existing(mask: &'a str) -> Self {
        Self { active: mask, members: mask, contiguous: true }
    }

    /// The lanes of a helper's parameters.
    fn of_helper(contiguous: bool) -> Lanes<'static> {
        Lanes { active: "%lanes", members: "%members", contiguous }
    }
}

impl Writer<'_> {
    /// A reduction or scan.
    pub(super) fn sub_group_operation(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        kind: u32,
        value: &str,
        lanes: Lanes<'_>,
    ) -> Result<String> {
        let ty = scalar.text();
        let what = match kind {
            REDUCE => "reduce",
            INCLUSIVE_SCAN => "scan",
            EXCLUSIVE_SCAN => "before",
            _ => return Err(Error::unsupported(format!("group operation {kind}"))),
        };
        if kind == REDUCE
            && lanes.active == lanes.members
            && let Some(reduced) = self.redux(operation, scalar, value, lanes.active)
        {
            return Ok(reduced);
        }
        let some = if lanes.contiguous { "" } else { "some_" };
        let name = format!("ur_{what}_{some}{}_{}", operation.name(), scalar.suffix());
        let mask = self.mask().text();
        let parameters = format!("{ty} %x, {mask} %lanes, {mask} %members");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| match (kind, lanes.contiguous) {
            (REDUCE, true) => writer.reduce_front(operation, scalar),
            (INCLUSIVE_SCAN, true) => {
                writer.label("entry");
                let value = writer.scan_tree(operation, scalar, "%x", "%lanes")?;
                writer.ret(ty, &value);
                Ok(())
            }
            (REDUCE, false) => writer.reduce_some(operation, scalar),
            (INCLUSIVE_SCAN, false) => writer.scan_some(operation, scalar),
            (_, contiguous) => writer.exclusive_body(operation, scalar, contiguous),
        })?;
        let Lanes { active, members, .. } = lanes;
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}, {mask} {active}, {mask} {members}) #0")))
    }

    /// One instruction for integers of up to 32 bits, for any set of lanes; `None` where the device has none.
    fn redux(&mut self, operation: Operation, scalar: Scalar, value: &str, lanes: &str) -> Option<String> {
        const FIRST_SM: u32 = 80;
        let name = match operation {
            Operation::IntegerAdd => "add.u32",
            Operation::SignedMin => "min.s32",
            Operation::SignedMax => "max.s32",
            Operation::UnsignedMin => "min.u32",
            Operation::UnsignedMax => "max.u32",
            Operation::And => "and.b32",
            Operation::Or => "or.b32",
            Operation::Xor => "xor.b32",
            _ => return None,
        };
        if self.options.sm < FIRST_SM || scalar.bits() > 32 {
            return None;
        }
        let (ty, narrow) = (scalar.text(), scalar.bits() < 32);
        let mut value = value.to_owned();
        if narrow {
            let extend = if name.ends_with("s32") { "sext" } else { "zext" };
            value = self.let_temp(format_args!("{extend} {ty} {value} to i32"));
        }
        let reduced = self.let_temp(format_args!(
            "call i32 asm sideeffect \"redux.sync.{name} $0, $1, $2;\", \"=r,r,r\"(i32 {value}, i32 {lanes}) #0"
        ));
        Some(if narrow { self.let_temp(format_args!("trunc i32 {reduced} to {ty}")) } else { reduced })
    }

    /// The reduction of all 32 lanes, which all get.
    pub(super) fn reduce_all(&mut self, operation: Operation, scalar: Scalar, value: &str) -> Result<String> {
        match self.redux(operation, scalar, value, "-1") {
            Some(reduced) => Ok(reduced),
            None => self.butterfly(operation, scalar, value, self.lanes),
        }
    }

    /// The lanes below some number: a tree towards the first, which then tells the others.
    fn reduce_front(&mut self, operation: Operation, scalar: Scalar) -> Result<()> {
        let ty = scalar.text();
        self.label("entry");
        let all = self.let_temp(format_args!("icmp eq {} %lanes, -1", self.mask().text()));
        self.put(format_args!("br i1 {all}, label %tree, label %front"));
        self.label("tree");
        let value = self.butterfly(operation, scalar, "%x", self.lanes)?;
        self.ret(ty, &value);
        self.label("front");
        let lane = self.register("laneid");
        let count = self.count_bits("llvm.ctpop", "", self.mask(), "%lanes");
        let count = self.resize(&count, self.lanes, 32);
        let mut value = "%x".to_owned();
        for distance in distances(self.lanes).rev() {
            let above = self.shuffle(Mode::Down, scalar, &value, &distance.to_string(), "%lanes")?;
            let both = self.combine(operation, scalar, &value, &above)?;
            let from = self.let_temp(format_args!("add i32 {lane}, {distance}"));
            let exists = self.let_temp(format_args!("icmp ult i32 {from}, {count}"));
            value = self.let_temp(format_args!("select i1 {exists}, {ty} {both}, {ty} {value}"));
        }
        let whole = self.shuffle(Mode::Index, scalar, &value, "0", "%lanes")?;
        self.ret(ty, &whole);
        Ok(())
    }

    /// Branches to `tree` if all lanes take part, else to `walk`.
    fn choose_way(&mut self) {
        self.label("entry");
        let ty = self.mask().text();
        let both = self.let_temp(format_args!("and {ty} %lanes, %members"));
        let all = self.let_temp(format_args!("icmp eq {ty} {both}, -1"));
        self.put(format_args!("br i1 {all}, label %tree, label %walk"));
    }

    fn reduce_some(&mut self, operation: Operation, scalar: Scalar) -> Result<()> {
        self.choose_way();
        self.label("tree");
        let value = self.butterfly(operation, scalar, "%x", self.lanes)?;
        self.ret(scalar.text(), &value);
        self.walk(operation, scalar, false)
    }

    /// Every lane combines with the lane that differs by one bit, for each bit below `size`: all get the same result.
    fn butterfly(&mut self, operation: Operation, scalar: Scalar, value: &str, size: u32) -> Result<String> {
        let (mut value, mut distance) = (value.to_owned(), size / 2);
        while distance > 0 {
            let other = self.shuffle(Mode::Xor, scalar, &value, &distance.to_string(), "-1")?;
            value = self.combine(operation, scalar, &value, &other)?;
            distance /= 2;
        }
        Ok(value)
    }

    fn scan_some(&mut self, operation: Operation, scalar: Scalar) -> Result<()> {
        self.choose_way();
        self.label("tree");
        let value = self.scan_tree(operation, scalar, "%x", "-1")?;
        self.ret(scalar.text(), &value);
        self.walk(operation, scalar, true)
    }

    /// The inclusive scan of the lanes of `mask`, which are those below some number.
    pub(super) fn scan_tree(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        value: &str,
        mask: &str,
    ) -> Result<String> {
        let ty = scalar.text();
        let lane = self.register("laneid");
        let mut value = value.to_owned();
        for distance in distances(self.lanes) {
            let below = self.shuffle(Mode::Up, scalar, &value, &distance.to_string(), mask)?;
            let both = self.combine(operation, scalar, &below, &value)?;
            let exists = self.let_temp(format_args!("icmp uge i32 {lane}, {distance}"));
            value = self.let_temp(format_args!("select i1 {exists}, {ty} {both}, {ty} {value}"));
        }
        Ok(value)
    }

    /// Looks at each active lane in turn; the members' values count, in a scan those up to this lane.
    fn walk(&mut self, operation: Operation, scalar: Scalar, scans: bool) -> Result<()> {
        let (ty, neutral, mask) = (scalar.text(), operation.neutral(scalar), self.mask().text());
        self.label("walk");
        let counted = if scans {
            let up_to_here = self.register("lanemask.le");
            self.let_temp(format_args!("and {mask} %members, {up_to_here}"))
        } else {
            "%members".to_owned()
        };
        self.put(format_args!("br label %step"));
        self.label("step");
        self.put(format_args!("%left = phi {mask} [ %lanes, %walk ], [ %rest, %step ]"));
        self.put(format_args!("%sum = phi {ty} [ {neutral}, %walk ], [ %kept, %step ]"));
        let at = self.lowest_lane("%left");
        let other = self.shuffle(Mode::Index, scalar, "%x", &at, "%lanes")?;
        let both = self.combine(operation, scalar, "%sum", &other)?;
        let others = self.let_temp(format_args!("add {mask} %left, -1"));
        self.put(format_args!("%rest = and {mask} %left, {others}"));
        let bit = self.let_temp(format_args!("xor {mask} %left, %rest"));
        let present = self.let_temp(format_args!("and {mask} {counted}, {bit}"));
        let counts = self.let_temp(format_args!("icmp ne {mask} {present}, 0"));
        self.put(format_args!("%kept = select i1 {counts}, {ty} {both}, {ty} %sum"));
        let done = self.let_temp(format_args!("icmp eq {mask} %rest, 0"));
        // Unrolled, the way that is seldom taken would be most of a kernel's code.
        let hint = self.metadata.node(NOT_UNROLLED);
        let hint = self.metadata.distinct(&[hint]);
        self.put(format_args!("br i1 {done}, label %end, label %step, !llvm.loop !{hint}"));
        self.label("end");
        self.ret(ty, "%kept");
        Ok(())
    }

    /// The inclusive scan of the member before this lane.
    fn exclusive_body(&mut self, operation: Operation, scalar: Scalar, contiguous: bool) -> Result<()> {
        let (ty, neutral) = (scalar.text(), operation.neutral(scalar));
        // The sum of nothing is zero, not minus zero.
        let neutral = if operation == Operation::FloatAdd { "0.0".to_owned() } else { neutral };
        self.label("entry");
        let lanes = Lanes::of_helper(contiguous);
        let inclusive = self.sub_group_operation(operation, scalar, INCLUSIVE_SCAN, "%x", lanes)?;
        let lower = self.register("lanemask.lt");
        let mask = self.mask().text();
        let before = self.let_temp(format_args!("and {mask} %members, {lower}"));
        let value = if contiguous {
            self.shuffle(Mode::Up, scalar, &inclusive, "1", "%lanes")?
        } else {
            let zeros = self.count_bits("llvm.ctlz", ", i1 false", self.mask(), &before);
            let zeros = self.resize(&zeros, self.lanes, 32);
            let previous = self.let_temp(format_args!("sub i32 {}, {zeros}", self.lanes - 1));
            self.shuffle(Mode::Index, scalar, &inclusive, &previous, "%lanes")?
        };
        let none = self.let_temp(format_args!("icmp eq {mask} {before}, 0"));
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
        let mask = self.mask().text();
        let parameters = format!("{ty} %x, {mask} %lanes, {mask} %members");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| {
            writer.label("entry");
            let all = writer.let_temp(format_args!("icmp eq {mask} %lanes, -1"));
            writer.put(format_args!("br i1 {all}, label %tree, label %walk"));
            writer.label("tree");
            let value = writer.butterfly(operation, scalar, "%x", size)?;
            writer.ret(ty, &value);
            writer.walk(operation, scalar, false)
        })?;
        let lane = self.register("laneid");
        let first = self.let_temp(format_args!("and i32 {lane}, {}", -(size as i32)));
        let first = self.resize(&first, 32, self.lanes);
        let ones = if size == self.lanes { -1 } else { (1i64 << size) - 1 };
        let cluster = self.let_temp(format_args!("shl {mask} {ones}, {first}"));
        let members = self.let_temp(format_args!("and {mask} {cluster}, {lanes}"));
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}, {mask} {lanes}, {mask} {members}) #0")))
    }
}

/// The powers of two below the number of lanes.
fn distances(lanes: u32) -> impl DoubleEndedIterator<Item = u32> {
    (0..lanes.trailing_zeros()).map(|bit| 1 << bit)
}
