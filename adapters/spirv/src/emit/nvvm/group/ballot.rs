//! Votes of a sub-group. A ballot's first word has a bit for each lane; its others are zero.

use super::super::Writer;
use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::shuffle::Mode;
use super::{EXCLUSIVE_SCAN, INCLUSIVE_SCAN};
use crate::error::{Error, Result};
use crate::grammar::op;

impl Writer<'_> {
    /// The lanes of `mask` where the value is true.
    pub(super) fn ballot(&mut self, value: &str, mask: &str) -> String {
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
                let before = self.let_temp(format_args!("and i32 {mask}, {lower}"));
                self.set(inst.result()?, format_args!("icmp eq i32 {before}, 0"));
            }
            op::GROUP_NON_UNIFORM_ALL | op::SUBGROUP_ALL_KHR => {
                let (mask, value) = (self.active_mask(), self.value(inst.arg(first)?)?);
                let votes = self.ballot(&value, &mask);
                self.set(inst.result()?, format_args!("icmp eq i32 {votes}, {mask}"));
            }
            op::GROUP_NON_UNIFORM_ANY | op::SUBGROUP_ANY_KHR => {
                let (mask, value) = (self.active_mask(), self.value(inst.arg(first)?)?);
                let votes = self.ballot(&value, &mask);
                self.set(inst.result()?, format_args!("icmp ne i32 {votes}, 0"));
            }
            op::GROUP_NON_UNIFORM_ALL_EQUAL | op::SUBGROUP_ALL_EQUAL_KHR => self.all_equal(inst, first)?,
            op::GROUP_NON_UNIFORM_BALLOT | op::SUBGROUP_BALLOT_KHR => {
                let (mask, value) = (self.active_mask(), self.value(inst.arg(first)?)?);
                let votes = self.ballot(&value, &mask);
                self.set(inst.result()?, format_args!("insertelement <4 x i32> zeroinitializer, i32 {votes}, i32 0"));
            }
            _ => self.ballot_question(inst)?,
        }
        Ok(())
    }

    fn all_equal(&mut self, inst: Inst<'_>, first: usize) -> Result<()> {
        let ty = self.module.type_of(inst.arg(first)?)?;
        let ((scalar, count), text, value) = (self.shape(ty)?, self.type_text(ty)?, self.value(inst.arg(first)?)?);
        let mask = self.active_mask();
        let leader = self.count_bits("llvm.cttz", ", i1 false", Scalar::Int(32), &mask);
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
        self.set(inst.result()?, format_args!("icmp eq i32 {votes}, {mask}"));
        Ok(())
    }

    /// What is asked of a ballot that was taken before.
    fn ballot_question(&mut self, inst: Inst<'_>) -> Result<()> {
        let at = usize::from(inst.opcode() == op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT) + 1;
        let ballot = self.typed(inst.arg(at)?)?;
        let word = self.let_temp(format_args!("extractelement {ballot}, i32 0"));
        let result = inst.result()?;
        let word_type = Scalar::Int(32);
        match inst.opcode() {
            op::GROUP_NON_UNIFORM_INVERSE_BALLOT => {
                let own = self.register("lanemask.eq");
                let bit = self.let_temp(format_args!("and i32 {word}, {own}"));
                self.set(result, format_args!("icmp ne i32 {bit}, 0"));
                return Ok(());
            }
            op::GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT => {
                let index = self.lane_of(inst.arg(2)?)?;
                let index = self.let_temp(format_args!("and i32 {index}, 31"));
                let moved = self.let_temp(format_args!("lshr i32 {word}, {index}"));
                self.set(result, format_args!("trunc i32 {moved} to i1"));
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
                self.let_temp(format_args!("sub i32 31, {zeros}"))
            }
        };
        let scalar = self.scalar(inst.ty()?)?;
        let count = self.resize(&count, 32, scalar.bits());
        self.alias(result, scalar.text(), &count);
        Ok(())
    }

    fn masked(&mut self, word: &str, register: &str) -> String {
        let mask = self.register(register);
        self.let_temp(format_args!("and i32 {word}, {mask}"))
    }
}
