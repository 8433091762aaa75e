//! Votes of a sub-group. A ballot has a bit for each lane, in its first word or its first two; the others are zero.

use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::shuffle::Mode;
use super::{EXCLUSIVE_SCAN, INCLUSIVE_SCAN};
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::Id;

impl Writer<'_> {
    /// The lanes of `mask` where the value is true.
    pub(super) fn ballot(&mut self, value: &str, mask: &str) -> String {
        if self.target == Target::Amdgcn {
            return self.amdgcn_ballot(value);
        }
        let word = self.let_temp(format_args!("zext i1 {value} to i32"));
        self.let_temp(format_args!(
            "call i32 asm sideeffect \"{{ .reg .pred %p1; setp.ne.u32 %p1, $1, 0; vote.sync.ballot.b32 $0, %p1, $2; }}\", \"=r,r,r\"(i32 {word}, i32 {mask}) #0"
        ))
    }

    pub(super) fn ballot_instruction(&mut self, inst: Inst<'_>) -> Result<()> {
        let khr = matches!(inst.opcode(), op::SUBGROUP_BALLOT_KHR | op::SUBGROUP_ALL_KHR..=op::SUBGROUP_ALL_EQUAL_KHR);
        let first = usize::from(!khr);
        if !khr {
            self.must_be_sub_group(inst.arg(0)?)?;
        }
        match inst.opcode() {
            op::GROUP_NON_UNIFORM_ELECT => {
                let (mask, lower) = (self.active_mask(), self.register("lanemask.lt"));
                let ty = self.mask().text();
                let before = self.let_temp(format_args!("and {ty} {mask}, {lower}"));
                self.set(inst.result()?, format_args!("icmp eq {ty} {before}, 0"));
            }
            op::GROUP_NON_UNIFORM_ALL | op::SUBGROUP_ALL_KHR => {
                let (mask, value) = (self.active_mask(), self.value(inst.arg(first)?)?);
                let votes = self.ballot(&value, &mask);
                self.set(inst.result()?, format_args!("icmp eq {} {votes}, {mask}", self.mask().text()));
            }
            op::GROUP_NON_UNIFORM_ANY | op::SUBGROUP_ANY_KHR => {
                let (mask, value) = (self.active_mask(), self.value(inst.arg(first)?)?);
                let votes = self.ballot(&value, &mask);
                self.set(inst.result()?, format_args!("icmp ne {} {votes}, 0", self.mask().text()));
            }
            op::GROUP_NON_UNIFORM_ALL_EQUAL | op::SUBGROUP_ALL_EQUAL_KHR => self.all_equal(inst, first)?,
            op::GROUP_NON_UNIFORM_BALLOT | op::SUBGROUP_BALLOT_KHR => {
                let (mask, value) = (self.active_mask(), self.value(inst.arg(first)?)?);
                let votes = self.ballot(&value, &mask);
                self.set_ballot(inst, &votes)?;
            }
            _ => self.ballot_question(inst)?,
        }
        Ok(())
    }

    /// A mask as the vector that the module knows: `set_ballot`'s, or a built-in variable's.
    pub(in super::super) fn ballot_vector(&mut self, count: u32, mask: &str) -> String {
        let (low, high) = self.mask_words(mask);
        let vector = self.let_temp(format_args!("insertelement <{count} x i32> zeroinitializer, i32 {low}, i32 0"));
        match high {
            Some(high) if count > 1 => {
                self.let_temp(format_args!("insertelement <{count} x i32> {vector}, i32 {high}, i32 1"))
            }
            _ => vector,
        }
    }

    /// The words of a mask: the second where there are more than 32 lanes.
    fn mask_words(&mut self, mask: &str) -> (String, Option<String>) {
        if self.lanes == 32 {
            return (mask.to_owned(), None);
        }
        let low = self.let_temp(format_args!("trunc i64 {mask} to i32"));
        let high = self.let_temp(format_args!("lshr i64 {mask}, 32"));
        (low, Some(self.let_temp(format_args!("trunc i64 {high} to i32"))))
    }

    fn set_ballot(&mut self, inst: Inst<'_>, votes: &str) -> Result<()> {
        let (low, high) = self.mask_words(votes);
        let first = format!("insertelement <4 x i32> zeroinitializer, i32 {low}, i32 0");
        match high {
            None => self.set(inst.result()?, format_args!("{first}")),
            Some(high) => {
                let first = self.let_temp(format_args!("{first}"));
                self.set(inst.result()?, format_args!("insertelement <4 x i32> {first}, i32 {high}, i32 1"));
            }
        }
        Ok(())
    }

    /// The lanes that a ballot of the module names.
    pub(super) fn ballot_mask(&mut self, ballot: Id) -> Result<String> {
        let ballot = self.typed(ballot)?;
        let low = self.let_temp(format_args!("extractelement {ballot}, i32 0"));
        if self.lanes == 32 {
            return Ok(low);
        }
        let high = self.let_temp(format_args!("extractelement {ballot}, i32 1"));
        let low = self.let_temp(format_args!("zext i32 {low} to i64"));
        let high = self.let_temp(format_args!("zext i32 {high} to i64"));
        let high = self.let_temp(format_args!("shl i64 {high}, 32"));
        Ok(self.let_temp(format_args!("or i64 {low}, {high}")))
    }

    /// The number of a mask's first lane.
    pub(super) fn lowest_lane(&mut self, mask: &str) -> String {
        let lane = self.count_bits("llvm.cttz", ", i1 false", self.mask(), mask);
        self.resize(&lane, self.lanes, 32)
    }

    fn all_equal(&mut self, inst: Inst<'_>, first: usize) -> Result<()> {
        let ty = self.module.type_of(inst.arg(first)?)?;
        let ((scalar, count), text, value) = (self.shape(ty)?, self.type_text(ty)?, self.value(inst.arg(first)?)?);
        let mask = self.active_mask();
        let leader = self.lowest_lane(&mask);
        let mut same = "true".to_owned();
        for at in 0..count {
            let element = match count {
                1 => value.to_string(),
                _ => self.let_temp(format_args!("extractelement {text} {value}, i32 {at}")),
            };
            let theirs = self.shuffle(Mode::Index, scalar, &element, &leader, &mask)?;
            let compare = if matches!(scalar, Scalar::Float(_)) { "fcmp oeq" } else { "icmp eq" };
            let equal = self.let_temp(format_args!("{compare} {} {element}, {theirs}", scalar.text()));
            same = self.let_temp(format_args!("and i1 {same}, {equal}"));
        }
        let votes = self.ballot(&same, &mask);
        self.set(inst.result()?, format_args!("icmp eq {} {votes}, {mask}", self.mask().text()));
        Ok(())
    }

    /// What is asked of a ballot that was taken before.
    fn ballot_question(&mut self, inst: Inst<'_>) -> Result<()> {
        let at = usize::from(inst.opcode() == op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT) + 1;
        let word = self.ballot_mask(inst.arg(at)?)?;
        let result = inst.result()?;
        let word_type = self.mask();
        let ty = word_type.text();
        match inst.opcode() {
            op::GROUP_NON_UNIFORM_INVERSE_BALLOT => {
                let own = self.register("lanemask.eq");
                let bit = self.let_temp(format_args!("and {ty} {word}, {own}"));
                self.set(result, format_args!("icmp ne {ty} {bit}, 0"));
                return Ok(());
            }
            op::GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT => {
                let index = self.lane_of(inst.arg(2)?)?;
                let index = self.let_temp(format_args!("and i32 {index}, {}", self.lanes - 1));
                let index = self.resize(&index, 32, self.lanes);
                let moved = self.let_temp(format_args!("lshr {ty} {word}, {index}"));
                self.set(result, format_args!("trunc {ty} {moved} to i1"));
                return Ok(());
            }
            _ => {}
        }
        let count = match inst.opcode() {
            op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT => {
                let counted = match inst.arg(1)? {
                    INCLUSIVE_SCAN => self.masked(&word, "lanemask.le"),
                    EXCLUSIVE_SCAN => self.masked(&word, "lanemask.lt"),
                    0 => word,
                    other => return Err(Error::unsupported(format!("group operation {other}"))),
                };
                self.count_bits("llvm.ctpop", "", word_type, &counted)
            }
            op::GROUP_NON_UNIFORM_BALLOT_FIND_LSB => self.count_bits("llvm.cttz", ", i1 false", word_type, &word),
            _ => {
                let zeros = self.count_bits("llvm.ctlz", ", i1 false", word_type, &word);
                self.let_temp(format_args!("sub {ty} {}, {zeros}", self.lanes - 1))
            }
        };
        let scalar = self.scalar(inst.ty()?)?;
        let count = self.resize(&count, self.lanes, scalar.bits());
        self.alias(result, scalar.text(), &count);
        Ok(())
    }

    fn masked(&mut self, word: &str, register: &str) -> String {
        let mask = self.register(register);
        self.let_temp(format_args!("and {} {word}, {mask}", self.mask().text()))
    }
}
