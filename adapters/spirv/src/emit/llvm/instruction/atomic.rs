//! Atomic operations and fences, as PTX writes them: its scopes and orders are SPIR-V's, while LLVM 7 has neither. An order is
//! relaxed, or made of fences around a relaxed operation where PTX has no form of its own.

use super::super::helper::{Head, Motion};
use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::Inst;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Id, Type, storage};

/// SPIR-V's numbers for scopes.
const WORK_GROUP: u64 = 2;
const SUB_GROUP: u64 = 3;

/// What `Scope` and `MemorySemantics` say together.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Order {
    /// `cta`, `gpu` or `sys`; `None` for the thread alone.
    pub scope: Option<&'static str>,
    pub acquire: bool,
    pub release: bool,
    pub sequential: bool,
}

/// Memory that an atomic operation works on.
pub(in super::super) struct Place {
    /// `.global`, `.shared`, or nothing for a generic address.
    space: &'static str,
    pub pointer: String,
}

/// How PTX's assembler takes a value: its letter, its type, and the type's text.
#[derive(Clone, Copy)]
struct Register {
    letter: &'static str,
    text: &'static str,
    bits: u32,
}

impl Register {
    fn of(scalar: Scalar) -> Result<Self> {
        Ok(match scalar.bits() {
            32 => Self { letter: "r", text: "i32", bits: 32 },
            64 => Self { letter: "l", text: "i64", bits: 64 },
            bits => return Err(Error::unsupported(format!("an atomic operation on {bits} bits"))),
        })
    }
}

impl Writer<'_> {
    /// Scope and order from their ids. What is no constant is the strongest.
    pub(in super::super) fn order(&self, scope: Id, semantics: Id) -> Result<Order> {
        let scope = match self.constant(scope).unwrap_or(0) {
            0 => Some("sys"),
            1 | 5 => Some("gpu"),
            2 | 3 => Some("cta"),
            4 => None,
            other => return Err(Error::unsupported(format!("scope {other}"))),
        };
        let semantics = self.constant(semantics).unwrap_or(0x10);
        let has = |bits: u64| semantics & bits != 0;
        Ok(Order { scope, acquire: has(0x1a), release: has(0x1c), sequential: has(0x10) })
    }

    fn fence(&mut self, order: Order) {
        if self.target == Target::Amdgcn {
            return self.amdgcn_fence(order);
        }
        let Some(scope) = order.scope else { return };
        let kind = if order.sequential { "sc" } else { "acq_rel" };
        self.put(format_args!("call void asm sideeffect \"fence.{kind}.{scope};\", \"~{{memory}}\"() #3"));
    }

    /// The fence that scope and semantics ask for, if they ask for one.
    pub(super) fn fence_of(&mut self, scope: Id, semantics: Id) -> Result<()> {
        let order = self.order(scope, semantics)?;
        if order.acquire || order.release {
            self.fence(order);
        }
        Ok(())
    }

    /// `OpMemoryBarrier` and `OpControlBarrier`.
    pub(super) fn barrier(&mut self, inst: Inst<'_>) -> Result<()> {
        if inst.opcode() == op::MEMORY_BARRIER {
            return self.fence_of(inst.plain(0)?, inst.plain(1)?);
        }
        let order = self.order(inst.plain(1)?, inst.plain(2)?)?;
        if self.target == Target::Amdgcn {
            return self.amdgcn_barrier(inst.plain(0)?, order);
        }
        // A barrier orders the memory of those who meet in it by itself. A sub-group's does not for the rest of the work-group.
        let is_wider = match order.scope {
            Some("cta") => self.constant(inst.plain(0)?)? == SUB_GROUP && self.constant(inst.plain(1)?)? == WORK_GROUP,
            Some(_) => true,
            None => false,
        };
        if is_wider && (order.acquire || order.release) {
            self.fence(order);
        }
        self.execution_barrier(inst.plain(0)?)
    }

    pub(in super::super) fn execution_barrier(&mut self, scope: Id) -> Result<()> {
        match self.constant(scope)? {
            2 => self.group_barrier(),
            3 if self.target == Target::Amdgcn => self.amdgcn_wave_barrier(),
            // All lanes, by a constant: those that do not exist, or have ended, are not waited for. Where each lane computes the mask, what
            // ptxas makes compares all of them first (`MATCH`).
            3 => self.put(format_args!("call void asm sideeffect \"bar.warp.sync -1;\", \"~{{memory}}\"() #0")),
            4 => {}
            other => return Err(Error::unsupported(format!("a barrier of scope {other}"))),
        }
        Ok(())
    }

    pub(in super::super) fn group_barrier(&mut self) {
        if self.target == Target::Amdgcn {
            return self.amdgcn_group_barrier();
        }
        self.put(format_args!("call void asm sideeffect \"bar.sync 0;\", \"~{{memory}}\"() #0"));
    }

    pub(in super::super) fn place_of(&mut self, pointer: Id) -> Result<Place> {
        let class = self.module.pointer(self.module.type_of(pointer)?)?.0;
        let space = match class {
            storage::CROSS_WORKGROUP | storage::DEVICE_ONLY_INTEL | storage::HOST_ONLY_INTEL => ".global",
            storage::WORKGROUP => ".shared",
            storage::GENERIC => "",
            _ => return Err(Error::unsupported("an atomic operation on memory that no other thread sees")),
        };
        Ok(Place { space, pointer: self.typed(pointer)? })
    }

    pub(super) fn atomic(&mut self, inst: Inst<'_>) -> Result<()> {
        if self.target == Target::Amdgcn {
            return self.amdgcn_atomic(inst);
        }
        match inst.opcode() {
            op::ATOMIC_STORE => {
                return self.atomic_store(inst.plain(0)?, inst.plain(1)?, inst.plain(2)?, Some(inst.plain(3)?));
            }
            op::ATOMIC_FLAG_CLEAR => return self.atomic_store(inst.plain(0)?, inst.plain(1)?, inst.plain(2)?, None),
            op::ATOMIC_LOAD => return self.atomic_load(inst),
            op::ATOMIC_COMPARE_EXCHANGE | op::ATOMIC_COMPARE_EXCHANGE_WEAK => return self.compare_exchange(inst),
            op::ATOMIC_FLAG_TEST_AND_SET => return self.test_and_set(inst),
            op::ATOMIC_F_MIN_EXT | op::ATOMIC_F_MAX_EXT => return self.float_extremum(inst),
            op::ATOMIC_F_ADD_EXT => return self.float_add(inst),
            _ => {}
        }
        let (ty, order) = (inst.ty()?, self.order(inst.arg(1)?, inst.arg(2)?)?);
        let place = self.place_of(inst.arg(0)?)?;
        let register = self.atomic_register(ty)?;
        let bits = register.bits;
        let (name, value) = match inst.opcode() {
            op::ATOMIC_I_INCREMENT => (format!("add.u{bits}"), "1".to_owned()),
            op::ATOMIC_I_DECREMENT => (format!("add.u{bits}"), "-1".to_owned()),
            op::ATOMIC_EXCHANGE => (format!("exch.b{bits}"), self.bits_of(inst.arg(3)?, register)?),
            opcode => {
                let value = self.value(inst.arg(3)?)?.to_string();
                match opcode {
                    op::ATOMIC_I_ADD => (format!("add.u{bits}"), value),
                    op::ATOMIC_I_SUB => {
                        (format!("add.u{bits}"), self.let_temp(format_args!("sub {} 0, {value}", register.text)))
                    }
                    op::ATOMIC_S_MIN => (format!("min.s{bits}"), value),
                    op::ATOMIC_U_MIN => (format!("min.u{bits}"), value),
                    op::ATOMIC_S_MAX => (format!("max.s{bits}"), value),
                    op::ATOMIC_U_MAX => (format!("max.u{bits}"), value),
                    op::ATOMIC_AND => (format!("and.b{bits}"), value),
                    op::ATOMIC_OR => (format!("or.b{bits}"), value),
                    _ => (format!("xor.b{bits}"), value),
                }
            }
        };
        let old = self.read_modify_write(order, &place, &name, register, &value);
        self.set_from_bits(inst, &old, register)
    }

    /// The register for a number or an address of 32 or 64 bits.
    fn atomic_register(&self, ty: Id) -> Result<Register> {
        match self.module.ty(ty)? {
            Type::Pointer(..) => Register::of(Scalar::Int(64)),
            _ => Register::of(self.scalar(ty)?),
        }
    }

    /// A value as an integer of the register's size.
    fn bits_of(&mut self, id: Id, register: Register) -> Result<String> {
        let (value, ty) = (self.typed(id)?, self.module.type_of(id)?);
        Ok(match self.module.ty(ty)? {
            Type::Pointer(..) => self.let_temp(format_args!("ptrtoint {value} to i64")),
            Type::Float(_) => self.let_temp(format_args!("bitcast {value} to {}", register.text)),
            _ => self.value(id)?.to_string(),
        })
    }

    fn set_from_bits(&mut self, inst: Inst<'_>, bits: &str, register: Register) -> Result<()> {
        let (ty, result) = (self.type_text(inst.ty()?)?, inst.result()?);
        let name = if matches!(self.module.ty(inst.ty()?)?, Type::Pointer(..)) { "inttoptr" } else { "bitcast" };
        self.set(result, format_args!("{name} {} {bits} to {ty}", register.text));
        Ok(())
    }

    /// `.relaxed.gpu` and the like. For the thread alone the narrowest scope there is.
    fn strength(order: Order) -> String {
        let strength = match (order.acquire, order.release) {
            (false, false) => "relaxed",
            (true, false) => "acquire",
            (false, true) => "release",
            (true, true) => "acq_rel",
        };
        format!(".{strength}.{}", order.scope.unwrap_or("cta"))
    }

    fn read_modify_write(
        &mut self,
        order: Order,
        place: &Place,
        name: &str,
        register: Register,
        value: &str,
    ) -> String {
        if order.sequential {
            self.fence(order);
        }
        let (strength, space, letter, ty) = (Self::strength(order), place.space, register.letter, register.text);
        let pointer = &place.pointer;
        self.let_temp(format_args!(
            "call {ty} asm sideeffect \"atom{strength}{space}.{name} $0, [$1], $2;\", \"={letter},l,{letter},~{{memory}}\"({pointer}, {ty} {value}) #3"
        ))
    }

    fn compare_exchange(&mut self, inst: Inst<'_>) -> Result<()> {
        let (equal, unequal) = (self.order(inst.arg(1)?, inst.arg(2)?)?, self.order(inst.arg(1)?, inst.arg(3)?)?);
        let order = Order {
            acquire: equal.acquire || unequal.acquire,
            release: equal.release,
            sequential: equal.sequential || unequal.sequential,
            ..equal
        };
        let place = self.place_of(inst.arg(0)?)?;
        let register = self.atomic_register(inst.ty()?)?;
        let (value, comparator) = (self.bits_of(inst.arg(4)?, register)?, self.bits_of(inst.arg(5)?, register)?);
        if order.sequential {
            self.fence(order);
        }
        let (strength, space, letter, ty) = (Self::strength(order), place.space, register.letter, register.text);
        let (pointer, bits) = (&place.pointer, register.bits);
        let old = self.let_temp(format_args!(
            "call {ty} asm sideeffect \"atom{strength}{space}.cas.b{bits} $0, [$1], $2, $3;\", \"={letter},l,{letter},{letter},~{{memory}}\"({pointer}, {ty} {comparator}, {ty} {value}) #3"
        ));
        self.set_from_bits(inst, &old, register)
    }

    fn test_and_set(&mut self, inst: Inst<'_>) -> Result<()> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let place = self.place_of(inst.arg(0)?)?;
        let register = Register::of(Scalar::Int(32))?;
        let old = self.read_modify_write(order, &place, "exch.b32", register, "1");
        self.set(inst.result()?, format_args!("icmp ne i32 {old}, 0"));
        Ok(())
    }

    /// Loads and stores also of small numbers, in registers of 16 bits.
    fn memory_register(&self, ty: Id) -> Result<(Register, u32)> {
        let scalar = match self.module.ty(ty)? {
            Type::Pointer(..) => Scalar::Int(64),
            _ => self.scalar(ty)?,
        };
        Ok(match scalar.bits() {
            8 | 16 => (Register { letter: "h", text: "i16", bits: 16 }, scalar.bits()),
            bits => (Register::of(scalar)?, bits),
        })
    }

    fn atomic_load(&mut self, inst: Inst<'_>) -> Result<()> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let place = self.place_of(inst.arg(0)?)?;
        let (register, bits) = self.memory_register(inst.ty()?)?;
        if order.sequential {
            self.fence(order);
        }
        let (scope, space, letter, text) = (order.scope.unwrap_or("cta"), place.space, register.letter, register.text);
        let pointer = &place.pointer;
        let value = self.let_temp(format_args!(
            "call {text} asm sideeffect \"ld.relaxed.{scope}{space}.b{bits} $0, [$1];\", \"={letter},l,~{{memory}}\"({pointer}) #3"
        ));
        if order.acquire {
            self.fence(Order { sequential: false, ..order });
        }
        if bits == 8 {
            let narrow = self.let_temp(format_args!("trunc i16 {value} to i8"));
            self.alias(inst.result()?, "i8", &narrow);
            return Ok(());
        }
        self.set_from_bits(inst, &value, register)
    }

    fn atomic_store(&mut self, pointer: Id, scope: Id, semantics: Id, value: Option<Id>) -> Result<()> {
        let order = self.order(scope, semantics)?;
        let place = self.place_of(pointer)?;
        let (register, bits, value) = match value {
            None => (Register::of(Scalar::Int(32))?, 32, "0".to_owned()),
            Some(id) => {
                let (register, bits) = self.memory_register(self.module.type_of(id)?)?;
                let value = self.bits_of(id, register)?;
                let value = if bits == 8 { self.let_temp(format_args!("zext i8 {value} to i16")) } else { value };
                (register, bits, value)
            }
        };
        if order.release {
            self.fence(order);
        }
        let (scope, space, letter, text) = (order.scope.unwrap_or("cta"), place.space, register.letter, register.text);
        let pointer = &place.pointer;
        self.put(format_args!(
            "call void asm sideeffect \"st.relaxed.{scope}{space}.b{bits} [$0], $1;\", \"l,{letter},~{{memory}}\"({pointer}, {text} {value}) #3"
        ));
        Ok(())
    }

    fn float_add(&mut self, inst: Inst<'_>) -> Result<()> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let place = self.place_of(inst.arg(0)?)?;
        let value = self.value(inst.arg(3)?)?;
        let (register, name) = match self.scalar(inst.ty()?)? {
            Scalar::Float(16) => {
                let bits = self.let_temp(format_args!("bitcast half {value} to i16"));
                let register = Register { letter: "h", text: "i16", bits: 16 };
                let old = self.read_modify_write(order, &place, "add.noftz.f16", register, &bits);
                return self.set_from_bits(inst, &old, register);
            }
            Scalar::Float(32) => (Register { letter: "f", text: "float", bits: 32 }, "add.f32"),
            Scalar::Float(_) => (Register { letter: "d", text: "double", bits: 64 }, "add.f64"),
            _ => return Err(Error::malformed("a floating-point operation on integers")),
        };
        let old = self.read_modify_write(order, &place, name, register, &value);
        self.alias(inst.result()?, register.text, &old);
        Ok(())
    }

    /// Minimum and maximum of floating-point numbers: a loop of compare and exchange.
    fn float_extremum(&mut self, inst: Inst<'_>) -> Result<()> {
        let order = self.order(inst.arg(1)?, inst.arg(2)?)?;
        let scalar = self.scalar(inst.ty()?)?;
        let function = if inst.opcode() == op::ATOMIC_F_MIN_EXT { "fmin" } else { "fmax" };
        let register = match scalar.bits() {
            16 => Register { letter: "h", text: "i16", bits: 16 },
            _ => Register::of(scalar)?,
        };
        let place = self.place_of(inst.arg(0)?)?;
        let scope = order.scope.unwrap_or("cta");
        let space = place.space.trim_start_matches('.');
        let name = format!("ur_atomic_{function}_{}_{space}_{scope}", scalar.suffix());
        let ty = scalar.text();
        let number = match space {
            "global" => 1,
            "shared" => 3,
            _ => 0,
        };
        let pointer = self.pointer_text(ty, number);
        let head =
            Head { name: &name, returns: ty, parameters: &format!("{pointer} %p, {ty} %x"), motion: Motion::Free };
        self.helper(&head, |writer| writer.extremum_loop(scalar, function, register, &pointer, (place.space, scope)))?;
        if order.release {
            self.fence(order);
        }
        let value = self.value(inst.arg(3)?)?;
        self.set(inst.result()?, format_args!("call {ty} @{name}({}, {ty} {value})", place.pointer));
        if order.acquire {
            self.fence(order);
        }
        Ok(())
    }

    fn extremum_loop(
        &mut self,
        scalar: Scalar,
        function: &str,
        register: Register,
        pointer: &str,
        (space, scope): (&str, &str),
    ) -> Result<()> {
        let (ty, int, letter, bits) = (scalar.text(), register.text, register.letter, register.bits);
        self.label("entry");
        let first = self.let_temp(format_args!(
            "call {int} asm sideeffect \"ld.relaxed.{scope}{space}.b{bits} $0, [$1];\", \"={letter},l,~{{memory}}\"({pointer} %p) #3"
        ));
        self.put(format_args!("br label %loop"));
        self.label("loop");
        self.put(format_args!("%seen = phi {int} [ {first}, %entry ], [ %old, %loop ]"));
        let seen = self.let_temp(format_args!("bitcast {int} %seen to {ty}"));
        let wanted = self.math_call(function, scalar, &[seen, "%x".to_owned()])?;
        let wanted = self.let_temp(format_args!("bitcast {ty} {wanted} to {int}"));
        self.put(format_args!(
            "%old = call {int} asm sideeffect \"atom.relaxed.{scope}{space}.cas.b{bits} $0, [$1], $2, $3;\", \"={letter},l,{letter},{letter},~{{memory}}\"({pointer} %p, {int} %seen, {int} {wanted}) #3"
        ));
        let done = self.let_temp(format_args!("icmp eq {int} %old, %seen"));
        self.put(format_args!("br i1 {done}, label %end, label %loop"));
        self.label("end");
        let old = self.let_temp(format_args!("bitcast {int} %old to {ty}"));
        self.ret(ty, &old);
        Ok(())
    }
}
