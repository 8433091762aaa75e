//! Memory order: atomic operations, fences and barriers as LLVM writes them, whose orders are SPIR-V's and whose scopes are those of
//! AMD's memory model.

use super::super::Writer;
use super::super::helper::{Head, Motion};
use super::super::instruction::{Inst, Order};
use super::super::types::Scalar;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Id, Type};

/// SPIR-V's number for the scope of a sub-group.
const SUB_GROUP: u64 = 3;

impl Writer<'_> {
    pub(in super::super) fn amdgcn_fence(&mut self, order: Order) {
        let kind = match (order.sequential, order.acquire, order.release) {
            (true, ..) => "seq_cst",
            (_, true, false) => "acquire",
            (_, false, true) => "release",
            _ => "acq_rel",
        };
        self.put(format_args!("fence {}{kind}", scope_text(order)));
    }

    /// `OpControlBarrier`: what was written before it is seen behind it by who meets in it, and by the scope that it names.
    pub(in super::super) fn amdgcn_barrier(&mut self, execution: Id, order: Order) -> Result<()> {
        // What the barrier itself does is for those who meet in it: a work-group or, where that is asked for, a wave.
        let is_wider = match order.scope {
            Some("sys" | "gpu") => true,
            Some(_) => self.constant(execution)? == SUB_GROUP,
            None => false,
        };
        let fence = |writer: &mut Self, acquire| {
            if is_wider && (order.acquire || order.release) {
                writer.amdgcn_fence(Order { acquire, release: !acquire, ..order });
            }
        };
        fence(self, false);
        self.execution_barrier(execution)?;
        fence(self, true);
        Ok(())
    }

    pub(in super::super) fn amdgcn_group_barrier(&mut self) {
        self.declare("llvm.amdgcn.s.barrier", "void", "");
        self.put(format_args!("fence syncscope(\"workgroup\") release"));
        self.put(format_args!("call void @llvm.amdgcn.s.barrier() #0"));
        self.put(format_args!("fence syncscope(\"workgroup\") acquire"));
    }

    /// The lanes of a wave run in step; only the compiler must keep what is before the barrier there.
    pub(in super::super) fn amdgcn_wave_barrier(&mut self) {
        self.declare("llvm.amdgcn.wave.barrier", "void", "");
        self.put(format_args!("fence syncscope(\"wavefront\") release"));
        self.put(format_args!("call void @llvm.amdgcn.wave.barrier() #0"));
        self.put(format_args!("fence syncscope(\"wavefront\") acquire"));
    }

    pub(in super::super) fn amdgcn_atomic(&mut self, inst: Inst<'_>) -> Result<()> {
        match inst.opcode() {
            op::ATOMIC_STORE => return self.store_atomically(inst, Some(inst.plain(3)?)),
            op::ATOMIC_FLAG_CLEAR => return self.store_atomically(inst, None),
            op::ATOMIC_LOAD => return self.load_atomically(inst),
            op::ATOMIC_COMPARE_EXCHANGE | op::ATOMIC_COMPARE_EXCHANGE_WEAK => return self.exchange_if_equal(inst),
            op::ATOMIC_FLAG_TEST_AND_SET => {
                let old = self.modify(inst, "xchg", "i32", 32, "1")?;
                self.set(inst.result()?, format_args!("icmp ne i32 {old}, 0"));
                return Ok(());
            }
            op::ATOMIC_F_ADD_EXT => return self.modify_float(inst, "fadd"),
            op::ATOMIC_F_MIN_EXT => return self.modify_float(inst, "fmin"),
            op::ATOMIC_F_MAX_EXT => return self.modify_float(inst, "fmax"),
            _ => {}
        }
        let bits = self.atomic_bits(inst.ty()?, 32)?;
        let int = Scalar::Int(bits).text();
        let (name, value) = match inst.opcode() {
            op::ATOMIC_I_INCREMENT => ("add", "1".to_owned()),
            op::ATOMIC_I_DECREMENT => ("sub", "1".to_owned()),
            opcode => (operation(opcode), self.integer_bits(inst.arg(3)?, bits)?),
        };
        let old = self.modify(inst, name, int, bits, &value)?;
        self.set_integer_bits(inst, &old, bits)
    }

    /// Bits of a number or an address that an atomic operation takes, at least `least`.
    fn atomic_bits(&self, ty: Id, least: u32) -> Result<u32> {
        let bits = match self.module.ty(ty)? {
            Type::Pointer(..) => 64,
            _ => self.scalar(ty)?.bits(),
        };
        match bits {
            8 | 16 | 32 | 64 if bits >= least => Ok(bits),
            _ => Err(Error::unsupported(format!("an atomic operation on {bits} bits"))),
        }
    }

    /// `atomicrmw`, and the value that was there.
    fn modify(&mut self, inst: Inst<'_>, name: &str, ty: &str, bits: u32, value: &str) -> Result<String> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let pointer = self.place_of(inst.arg(0)?)?.pointer;
        let (scope, kind) = (scope_text(order), order_text(order));
        Ok(self.let_temp(format_args!("atomicrmw {name} {pointer}, {ty} {value} {scope}{kind}, align {}", bits / 8)))
    }

    fn modify_float(&mut self, inst: Inst<'_>, name: &str) -> Result<()> {
        let scalar = self.scalar(inst.ty()?)?;
        let Scalar::Float(bits) = scalar else {
            return Err(Error::malformed("a floating-point operation on integers"));
        };
        let value = self.value(inst.arg(3)?)?;
        let old = match bits {
            16 => self.modify_half(inst, name, &value)?,
            _ => self.modify(inst, name, scalar.text(), bits, &value)?,
        };
        self.alias(inst.result()?, scalar.text(), &old);
        Ok(())
    }

    /// The compiler has no code for `atomicrmw` of half precision, and ends the process over it: a loop of compare and exchange.
    fn modify_half(&mut self, inst: Inst<'_>, name: &str, value: &str) -> Result<String> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let pointer = self.place_of(inst.arg(0)?)?.pointer;
        let class = self.module.pointer(self.module.type_of(inst.arg(0)?)?)?.0;
        let space = self.pointer_space(class)?;
        let ty = self.pointer_text("half", space);
        let (scope, kind) = (scope_text(order), order_text(order));
        let failure = order_text(Order { release: false, ..order });
        let scope_name = scope.split('"').nth(1).unwrap_or("system");
        let helper = format!("ur_atomic_{name}_f16_{space}_{scope_name}_{kind}");
        let parameters = format!("{ty} %p, half %x");
        let head = Head { name: &helper, returns: "half", parameters: &parameters, motion: Motion::Free };
        self.helper(&head, |writer| {
            writer.label("entry");
            let first = writer.let_temp(format_args!("load atomic i16, {ty} %p {scope}monotonic, align 2"));
            writer.put(format_args!("br label %loop"));
            writer.label("loop");
            writer.put(format_args!("%seen = phi i16 [ {first}, %entry ], [ %old, %loop ]"));
            let seen = writer.let_temp(format_args!("bitcast i16 %seen to half"));
            let wanted = match name {
                "fadd" => writer.let_temp(format_args!("fadd half {seen}, %x")),
                _ => writer.math_call(name, Scalar::Float(16), &[seen, "%x".to_owned()])?,
            };
            let wanted = writer.let_temp(format_args!("bitcast half {wanted} to i16"));
            let pair = writer
                .let_temp(format_args!("cmpxchg {ty} %p, i16 %seen, i16 {wanted} {scope}{kind} {failure}, align 2"));
            writer.put(format_args!("%old = extractvalue {{ i16, i1 }} {pair}, 0"));
            let done = writer.let_temp(format_args!("extractvalue {{ i16, i1 }} {pair}, 1"));
            writer.put(format_args!("br i1 {done}, label %end, label %loop"));
            writer.label("end");
            let old = writer.let_temp(format_args!("bitcast i16 %old to half"));
            writer.ret("half", &old);
            Ok(())
        })?;
        Ok(self.let_temp(format_args!("call half @{helper}({pointer}, half {value})")))
    }

    fn integer_bits(&mut self, id: Id, bits: u32) -> Result<String> {
        let (value, ty) = (self.typed(id)?, self.module.type_of(id)?);
        Ok(match self.module.ty(ty)? {
            Type::Pointer(..) => self.let_temp(format_args!("ptrtoint {value} to i64")),
            Type::Float(_) => self.let_temp(format_args!("bitcast {value} to i{bits}")),
            _ => self.value(id)?.to_string(),
        })
    }

    fn set_integer_bits(&mut self, inst: Inst<'_>, value: &str, bits: u32) -> Result<()> {
        let ty = self.type_text(inst.ty()?)?;
        let name = if matches!(self.module.ty(inst.ty()?)?, Type::Pointer(..)) { "inttoptr" } else { "bitcast" };
        self.set(inst.result()?, format_args!("{name} i{bits} {value} to {ty}"));
        Ok(())
    }

    fn exchange_if_equal(&mut self, inst: Inst<'_>) -> Result<()> {
        let (equal, unequal) = (self.order(inst.arg(1)?, inst.arg(2)?)?, self.order(inst.arg(1)?, inst.arg(3)?)?);
        let bits = self.atomic_bits(inst.ty()?, 32)?;
        let pointer = self.place_of(inst.arg(0)?)?.pointer;
        let (value, expected) = (self.integer_bits(inst.arg(4)?, bits)?, self.integer_bits(inst.arg(5)?, bits)?);
        // What fails has stored nothing, so it releases nothing; LLVM takes no such order there.
        let failure = order_text(Order { release: false, ..unequal });
        let (scope, success) = (scope_text(equal), order_text(equal));
        let pair = self.let_temp(format_args!(
            "cmpxchg {pointer}, i{bits} {expected}, i{bits} {value} {scope}{success} {failure}, align {}",
            bits / 8
        ));
        let old = self.let_temp(format_args!("extractvalue {{ i{bits}, i1 }} {pair}, 0"));
        self.set_integer_bits(inst, &old, bits)
    }

    fn load_atomically(&mut self, inst: Inst<'_>) -> Result<()> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let bits = self.atomic_bits(inst.ty()?, 8)?;
        let pointer = self.place_of(inst.arg(0)?)?.pointer;
        // A load releases nothing.
        let (scope, kind) = (scope_text(order), order_text(Order { release: false, ..order }));
        let value = self.let_temp(format_args!("load atomic i{bits}, {pointer} {scope}{kind}, align {}", bits / 8));
        self.set_integer_bits(inst, &value, bits)
    }

    /// Stores the value, or clears a flag if there is none.
    fn store_atomically(&mut self, inst: Inst<'_>, value: Option<Id>) -> Result<()> {
        let order = self.order(inst.plain(1)?, inst.plain(2)?)?;
        let pointer = self.place_of(inst.plain(0)?)?.pointer;
        let (bits, value) = match value {
            None => (32, "0".to_owned()),
            Some(id) => {
                let bits = self.atomic_bits(self.module.type_of(id)?, 8)?;
                (bits, self.integer_bits(id, bits)?)
            }
        };
        // A store acquires nothing.
        let (scope, kind) = (scope_text(order), order_text(Order { acquire: false, ..order }));
        self.put(format_args!("store atomic i{bits} {value}, {pointer} {scope}{kind}, align {}", bits / 8));
        Ok(())
    }
}

/// LLVM's name for what an instruction does to an integer.
fn operation(opcode: u16) -> &'static str {
    match opcode {
        op::ATOMIC_EXCHANGE => "xchg",
        op::ATOMIC_I_ADD => "add",
        op::ATOMIC_I_SUB => "sub",
        op::ATOMIC_S_MIN => "min",
        op::ATOMIC_U_MIN => "umin",
        op::ATOMIC_S_MAX => "max",
        op::ATOMIC_U_MAX => "umax",
        op::ATOMIC_AND => "and",
        op::ATOMIC_OR => "or",
        _ => "xor",
    }
}

/// `syncscope("agent") ` and the like; nothing for the whole system.
fn scope_text(order: Order) -> &'static str {
    match order.scope {
        Some("sys") => "",
        Some("gpu") => "syncscope(\"agent\") ",
        Some(_) => "syncscope(\"workgroup\") ",
        None => "syncscope(\"singlethread\") ",
    }
}

fn order_text(order: Order) -> &'static str {
    match (order.sequential, order.acquire, order.release) {
        (true, ..) => "seq_cst",
        (_, true, true) => "acq_rel",
        (_, true, false) => "acquire",
        (_, false, true) => "release",
        _ => "monotonic",
    }
}
