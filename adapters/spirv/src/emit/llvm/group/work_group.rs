//! Operations of a work-group: each sub-group combines its own values, the first one combines the sub-groups', and all read the
//! result, so that every thread gets the same bits. `ur_scratch` has a word for each of the 32 sub-groups and one for the result.

use super::super::Writer;
use super::super::helper::{Head, Motion};
use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::operation::Operation;
use super::reduce::Lanes;
use super::{EXCLUSIVE_SCAN, INCLUSIVE_SCAN, REDUCE};
use crate::error::{Error, Result};

const SCRATCH_WORDS: u64 = 33;
const RESULT_WORD: &str = "32";

impl Writer<'_> {
    pub(super) fn work_group_operation(
        &mut self,
        operation: Operation,
        scalar: Scalar,
        kind: u32,
        value: &str,
    ) -> Result<String> {
        let ty = scalar.text();
        let what = match kind {
            REDUCE => "reduce",
            INCLUSIVE_SCAN => "scan",
            EXCLUSIVE_SCAN => "before",
            _ => return Err(Error::unsupported(format!("group operation {kind}"))),
        };
        let name = format!("ur_group_{what}_{}_{}", operation.name(), scalar.suffix());
        let parameters = format!("{ty} %x");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| writer.work_group_body(operation, scalar, kind))?;
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}) #0")))
    }

    fn work_group_body(&mut self, operation: Operation, scalar: Scalar, kind: u32) -> Result<()> {
        let ty = scalar.text();
        self.label("entry");
        let mask = self.sub_group_mask();
        let own = self.sub_group_operation(operation, scalar, kind, "%x", Lanes::existing(&mask))?;
        // The last lane of a sub-group holds its whole result.
        let total = match kind {
            EXCLUSIVE_SCAN => self.combine(operation, scalar, &own, "%x")?,
            _ => own.clone(),
        };
        let count = self.sub_group_count();
        let single = self.let_temp(format_args!("icmp ult i32 {count}, 2"));
        self.put(format_args!("br i1 {single}, label %alone, label %publish"));
        self.label("alone");
        self.ret(ty, &own);
        self.label("publish");
        self.group_barrier();
        let (lane, size, index) = (self.register("laneid"), self.sub_group_size(), self.local_index());
        let group = self.sub_group_of(&index);
        let last = self.let_temp(format_args!("sub i32 {size}, 1"));
        let is_last = self.let_temp(format_args!("icmp eq i32 {lane}, {last}"));
        self.put(format_args!("br i1 {is_last}, label %write, label %written"));
        self.label("write");
        self.store_scratch(scalar, &group, &total);
        self.put(format_args!("br label %written"));
        self.label("written");
        self.group_barrier();
        let is_first = self.let_temp(format_args!("icmp eq i32 {group}, 0"));
        self.put(format_args!("br i1 {is_first}, label %join, label %joined"));
        // The first sub-group of several is full.
        self.label("join");
        let exists = self.let_temp(format_args!("icmp ult i32 {lane}, {count}"));
        // A wave of 64 has more lanes than there are words. Those without a sub-group take the result's, whose content they do not use
        // and which a scan does not read.
        let word = match self.lanes {
            64 => self.let_temp(format_args!("select i1 {exists}, i32 {lane}, i32 {RESULT_WORD}")),
            _ => lane.clone(),
        };
        let stored = self.load_scratch(scalar, &word);
        let neutral = operation.neutral(scalar);
        let part = self.let_temp(format_args!("select i1 {exists}, {ty} {stored}, {ty} {neutral}"));
        if kind == REDUCE {
            let whole = self.reduce_all(operation, scalar, &part)?;
            self.store_scratch(scalar, RESULT_WORD, &whole);
        } else {
            let whole = self.scan_tree(operation, scalar, &part, "-1")?;
            self.store_scratch(scalar, &word, &whole);
        }
        self.put(format_args!("br label %joined"));
        self.label("joined");
        self.group_barrier();
        if kind == REDUCE {
            let whole = self.load_scratch(scalar, RESULT_WORD);
            self.ret(ty, &whole);
            return Ok(());
        }
        let previous = self.let_temp(format_args!("sub i32 {group}, 1"));
        let previous = self.let_temp(format_args!("select i1 {is_first}, i32 0, i32 {previous}"));
        let before = self.load_scratch(scalar, &previous);
        let both = self.combine(operation, scalar, &before, &own)?;
        let value = self.let_temp(format_args!("select i1 {is_first}, {ty} {own}, {ty} {both}"));
        self.ret(ty, &value);
        Ok(())
    }

    pub(super) fn work_group_broadcast(&mut self, scalar: Scalar, value: &str, index: &str) -> Result<String> {
        let (ty, name) = (scalar.text(), format!("ur_group_broadcast_{}", scalar.suffix()));
        let parameters = format!("{ty} %x, i32 %index");
        let head = Head { name: &name, returns: ty, parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| {
            writer.label("entry");
            writer.group_barrier();
            let own = writer.local_index();
            let is_it = writer.let_temp(format_args!("icmp eq i32 {own}, %index"));
            writer.put(format_args!("br i1 {is_it}, label %write, label %written"));
            writer.label("write");
            writer.store_scratch(scalar, RESULT_WORD, "%x");
            writer.put(format_args!("br label %written"));
            writer.label("written");
            writer.group_barrier();
            let value = writer.load_scratch(scalar, RESULT_WORD);
            writer.ret(ty, &value);
            Ok(())
        })?;
        Ok(self.let_temp(format_args!("call {ty} @{name}({ty} {value}, i32 {index}) #0")))
    }

    /// The address of a word of the scratch memory.
    fn scratch(&mut self, at: &str) -> String {
        let pointer = self.pointer_text(&format!("[{SCRATCH_WORDS} x i64]"), 3);
        if !self.declared.contains_key("ur_scratch") {
            let text = format!("@ur_scratch = internal addrspace(3) global [{SCRATCH_WORDS} x i64] undef, align 8");
            self.declared.insert("ur_scratch".to_owned(), text);
            self.result.static_shared_bytes += SCRATCH_WORDS * 8;
        }
        let word = self.let_temp(format_args!(
            "getelementptr inbounds [{SCRATCH_WORDS} x i64], {pointer} @ur_scratch, i32 0, i32 {at}"
        ));
        format!("{} {word}", self.pointer_text("i64", 3))
    }

    fn store_scratch(&mut self, scalar: Scalar, at: &str, value: &str) {
        let (ty, int, bits) = (scalar.text(), scalar.integer().text(), scalar.bits());
        let mut value = value.to_owned();
        if let Scalar::Float(_) = scalar {
            value = self.let_temp(format_args!("bitcast {ty} {value} to {int}"));
        }
        let value = self.resize(&value, bits, 64);
        let word = self.scratch(at);
        // Volatile, so that no load or store moves across the barriers between the threads.
        self.put(format_args!("store volatile i64 {value}, {word}, align 8"));
    }

    fn load_scratch(&mut self, scalar: Scalar, at: &str) -> String {
        let (ty, int, bits) = (scalar.text(), scalar.integer().text(), scalar.bits());
        let word = self.scratch(at);
        let value = self.let_temp(format_args!("load volatile i64, {word}, align 8"));
        let value = self.resize(&value, 64, bits);
        match scalar {
            Scalar::Float(_) => self.let_temp(format_args!("bitcast {int} {value} to {ty}")),
            _ => value,
        }
    }

    /// `OpGroupAsyncCopy`: the threads of the group copy every so many elements each; the event is nothing to wait for but the
    /// others, which `OpGroupWaitEvents` does.
    pub(super) fn async_copy(&mut self, inst: Inst<'_>) -> Result<()> {
        let (to, from, count, stride) = (inst.arg(1)?, inst.arg(2)?, inst.arg(3)?, inst.arg(4)?);
        let element = self.module.pointer(self.module.type_of(to)?)?.1;
        let (to_type, from_type) = (self.module.type_of(to)?, self.module.type_of(from)?);
        let to_local = self.module.pointer(to_type)?.0 == crate::model::storage::WORKGROUP;
        let (ty, to_text, from_text) = (self.type_text(element)?, self.type_text(to_type)?, self.type_text(from_type)?);
        let name = format!("ur_async_copy_{to_type}_{from_type}");
        let parameters = format!("{to_text} %to, {from_text} %from, i64 %count, i64 %stride");
        let head = Head { name: &name, returns: "void", parameters: &parameters, motion: Motion::Convergent };
        self.helper(&head, |writer| {
            writer.label("entry");
            let (index, size) = (writer.local_index(), writer.group_size());
            let first = writer.let_temp(format_args!("zext i32 {index} to i64"));
            let step = writer.let_temp(format_args!("zext i32 {size} to i64"));
            let any = writer.let_temp(format_args!("icmp ult i64 {first}, %count"));
            writer.put(format_args!("br i1 {any}, label %step, label %end"));
            writer.label("step");
            writer.put(format_args!("%at = phi i64 [ {first}, %entry ], [ %next, %step ]"));
            let far = writer.let_temp(format_args!("mul i64 %at, %stride"));
            // The stride is the global side's.
            let (source, target) = if to_local { (far.as_str(), "%at") } else { ("%at", far.as_str()) };
            let source = writer.let_temp(format_args!("getelementptr {ty}, {from_text} %from, i64 {source}"));
            let target = writer.let_temp(format_args!("getelementptr {ty}, {to_text} %to, i64 {target}"));
            let value = writer.let_temp(format_args!("load {ty}, {from_text} {source}"));
            writer.put(format_args!("store {ty} {value}, {to_text} {target}"));
            writer.put(format_args!("%next = add i64 %at, {step}"));
            let more = writer.let_temp(format_args!("icmp ult i64 %next, %count"));
            writer.put(format_args!("br i1 {more}, label %step, label %end"));
            writer.label("end");
            writer.put(format_args!("ret void"));
            Ok(())
        })?;
        let mut numbers = Vec::new();
        for id in [count, stride] {
            let (bits, value) = (self.scalar(self.module.type_of(id)?)?.bits(), self.value(id)?);
            numbers.push(self.resize(&value, bits, 64));
        }
        let (to, from) = (self.typed(to)?, self.typed(from)?);
        self.put(format_args!("call void @{name}({to}, {from}, i64 {}, i64 {}) #0", numbers[0], numbers[1]));
        if self.constant(inst.arg(0)?)? != 2 {
            return Err(Error::unsupported("an asynchronous copy of another group than the work-group"));
        }
        self.alias(inst.result()?, "i64", "0");
        Ok(())
    }
}
