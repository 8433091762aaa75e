//! Numbers: sums, products, quotients, rests.

use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::Inst;
use crate::error::Result;
use crate::grammar::op;
use crate::model::{Id, kind};

impl Writer<'_> {
    pub(super) fn arithmetic(&mut self, inst: Inst<'_>) -> Result<()> {
        let result = inst.result()?;
        match inst.opcode() {
            op::S_NEGATE => {
                let (ty, a) = (self.type_text(inst.ty()?)?, self.value(inst.arg(0)?)?);
                let zero = if self.shape(inst.ty()?)?.1 == 1 { "0" } else { "zeroinitializer" };
                let flags = self.wrap_flags(result);
                self.set(result, format_args!("sub {flags}{ty} {zero}, {a}"));
            }
            op::F_NEGATE => self.negate(inst)?,
            op::I_ADD | op::I_MUL if self.take_carried(inst)? => {}
            op::I_ADD => self.binary(inst, "add", true)?,
            op::I_SUB => self.binary(inst, "sub", true)?,
            op::I_MUL => self.binary(inst, "mul", true)?,
            op::U_DIV => self.binary(inst, "udiv", false)?,
            op::S_DIV => self.binary(inst, "sdiv", false)?,
            op::U_MOD => self.binary(inst, "urem", false)?,
            op::S_REM => self.binary(inst, "srem", false)?,
            op::S_MOD => self.signed_modulo(inst)?,
            op::F_ADD => self.float_binary(inst, "fadd")?,
            op::F_SUB => self.float_binary(inst, "fsub")?,
            op::F_MUL => self.float_binary(inst, "fmul")?,
            op::F_DIV => self.float_binary(inst, "fdiv")?,
            op::F_REM => self.set_per_element(inst, inst.args(), |writer, values| {
                let scalar = writer.shape(inst.ty()?)?.0;
                writer.math_call("fmod", scalar, values)
            })?,
            op::F_MOD => self.float_modulo(inst)?,
            op::VECTOR_TIMES_SCALAR => {
                let (scalar, rounded) = (self.shape(inst.ty()?)?.0, self.is_rounded(result));
                self.set_per_element(inst, inst.args(), |writer, values| {
                    let (a, b) = (&values[0], &values[1]);
                    Ok(match rounded {
                        true => writer.rounded("fmul", scalar, a, b),
                        false => writer.let_temp(format_args!("fmul {} {a}, {b}", scalar.text())),
                    })
                })?;
            }
            op::DOT => self.dot(inst)?,
            op::I_ADD_CARRY | op::I_SUB_BORROW => self.carry(inst)?,
            op::U_MUL_EXTENDED | op::S_MUL_EXTENDED => self.extended_product(inst)?,
            opcode => return Err(crate::grammar::refusal(opcode)),
        }
        Ok(())
    }

    fn wrap_flags(&self, result: Id) -> &'static str {
        let has = |kind| self.module.decoration(result, kind).is_some();
        match (has(kind::NO_UNSIGNED_WRAP), has(kind::NO_SIGNED_WRAP)) {
            (true, true) => "nuw nsw ",
            (true, false) => "nuw ",
            (false, true) => "nsw ",
            (false, false) => "",
        }
    }

    /// An instruction of LLVM that takes two values of the result's type.
    pub(super) fn binary(&mut self, inst: Inst<'_>, name: &str, may_wrap: bool) -> Result<()> {
        let (ty, a, b) = (self.type_text(inst.ty()?)?, self.value(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
        let flags = if may_wrap { self.wrap_flags(inst.result()?) } else { "" };
        self.set(inst.result()?, format_args!("{name} {flags}{ty} {a}, {b}"));
        Ok(())
    }

    fn float_binary(&mut self, inst: Inst<'_>, name: &str) -> Result<()> {
        let result = inst.result()?;
        let (scalar, count) = self.shape(inst.ty()?)?;
        let uncontracted = self.module.decoration(result, kind::NO_CONTRACTION).is_some() && name != "fdiv";
        if uncontracted && self.target == Target::Nvptx {
            return self.set_per_element(inst, inst.args(), |writer, values| {
                Ok(writer.rounded(name, scalar, &values[0], &values[1]))
            });
        }
        let ty = Self::shaped(scalar, count);
        let (a, b) = (self.value(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
        let flags = if uncontracted { String::new() } else { self.contractible(result) };
        self.set(result, format_args!("{name} {flags}{ty} {a}, {b}"));
        Ok(())
    }

    /// The flags of a sum, a difference or a product. libnvvm fuses unless its options say otherwise; AMD's compiler fuses what says
    /// that it may be.
    fn contractible(&self, result: Id) -> String {
        let mut flags = self.fast_math(result);
        let says = flags.contains("fast") || flags.contains("contract");
        if self.target == Target::Amdgcn && !says && !self.forbids_contraction {
            flags.push_str("contract ");
        }
        flags
    }

    /// Whether the result says that it is rounded before anything else is done with it, and the compiler must be told so. AMD's
    /// fuses only what says that it may.
    fn is_rounded(&self, result: Id) -> bool {
        self.target == Target::Nvptx && self.module.decoration(result, kind::NO_CONTRACTION).is_some()
    }

    /// An operation that no compiler fuses with another.
    fn rounded(&mut self, name: &str, scalar: Scalar, a: &str, b: &str) -> String {
        let (ty, what) = (scalar.text(), name.trim_start_matches('f'));
        if scalar == Scalar::Float(16) {
            let a = self.let_temp(format_args!("bitcast half {a} to i16"));
            let b = self.let_temp(format_args!("bitcast half {b} to i16"));
            let bits = self
                .let_temp(format_args!("call i16 asm \"{what}.rn.f16 $0, $1, $2;\", \"=h,h,h\"(i16 {a}, i16 {b}) #3"));
            return self.let_temp(format_args!("bitcast i16 {bits} to half"));
        }
        let (letter, constraint) = if scalar == Scalar::Float(32) { ("f32", "f") } else { ("f64", "d") };
        let flush = self.flush_suffix(&[scalar]);
        self.let_temp(format_args!(
            "call {ty} asm \"{what}.rn{flush}.{letter} $0, $1, $2;\", \"={constraint},{constraint},{constraint}\"({ty} {a}, {ty} {b}) #3"
        ))
    }

    /// What says in PTX that subnormal numbers are flushed to zero: the compiler's option does not reach assembly.
    pub(super) fn flush_suffix(&self, types: &[Scalar]) -> &'static str {
        if self.program.flushes_denormals && types.contains(&Scalar::Float(32)) { ".ftz" } else { "" }
    }

    fn negate(&mut self, inst: Inst<'_>) -> Result<()> {
        let ty = self.type_text(inst.ty()?)?;
        let (a, flags) = (self.value(inst.arg(0)?)?, self.fast_math(inst.result()?));
        if self.opaque {
            self.set(inst.result()?, format_args!("fneg {flags}{ty} {a}"));
            return Ok(());
        }
        let (scalar, count) = self.shape(inst.ty()?)?;
        let zero = super::super::constants::float_text(scalar, -0.0);
        let zero = match count {
            1 => zero,
            _ => format!("<{}>", vec![format!("{} {zero}", scalar.text()); count as usize].join(", ")),
        };
        self.set(inst.result()?, format_args!("fsub {flags}{ty} {zero}, {a}"));
        Ok(())
    }

    /// The rest with the divisor's sign.
    fn signed_modulo(&mut self, inst: Inst<'_>) -> Result<()> {
        let (scalar, _) = self.shape(inst.ty()?)?;
        let ty = scalar.text();
        self.set_per_element(inst, inst.args(), |writer, values| {
            let (a, b) = (&values[0], &values[1]);
            let rest = writer.let_temp(format_args!("srem {ty} {a}, {b}"));
            let signs = writer.let_temp(format_args!("xor {ty} {rest}, {b}"));
            let differ = writer.let_temp(format_args!("icmp slt {ty} {signs}, 0"));
            let some = writer.let_temp(format_args!("icmp ne {ty} {rest}, 0"));
            let wrong = writer.let_temp(format_args!("and i1 {differ}, {some}"));
            let moved = writer.let_temp(format_args!("add {ty} {rest}, {b}"));
            Ok(writer.let_temp(format_args!("select i1 {wrong}, {ty} {moved}, {ty} {rest}")))
        })
    }

    fn float_modulo(&mut self, inst: Inst<'_>) -> Result<()> {
        let scalar = self.shape(inst.ty()?)?.0;
        let ty = scalar.text();
        self.set_per_element(inst, inst.args(), |writer, values| {
            let rest = writer.math_call("fmod", scalar, values)?;
            let b = &values[1];
            let zero = writer.let_temp(format_args!("fcmp oeq {ty} {rest}, 0.0"));
            let (low, high) = (
                writer.let_temp(format_args!("fcmp olt {ty} {rest}, 0.0")),
                writer.let_temp(format_args!("fcmp olt {ty} {b}, 0.0")),
            );
            let differ = writer.let_temp(format_args!("xor i1 {low}, {high}"));
            let moved = writer.let_temp(format_args!("fadd {ty} {rest}, {b}"));
            let shifted = writer.let_temp(format_args!("select i1 {differ}, {ty} {moved}, {ty} {rest}"));
            let signed = writer.math_call("copysign", scalar, &[rest, b.clone()])?;
            Ok(writer.let_temp(format_args!("select i1 {zero}, {ty} {signed}, {ty} {shifted}")))
        })
    }

    /// The sum of the products of two vectors' elements.
    pub(in super::super) fn dot_of(&mut self, scalar: Scalar, count: u32, a: &str, b: &str) -> String {
        let (ty, vector) = (scalar.text(), Self::shaped(scalar, count));
        let products = self.let_temp(format_args!("fmul {vector} {a}, {b}"));
        if count == 1 {
            return products;
        }
        let mut sum = self.let_temp(format_args!("extractelement {vector} {products}, i32 0"));
        for at in 1..count {
            let next = self.let_temp(format_args!("extractelement {vector} {products}, i32 {at}"));
            sum = self.let_temp(format_args!("fadd {ty} {sum}, {next}"));
        }
        sum
    }

    /// As [`Writer::dot_of`], where no sum is fused with a product.
    fn rounded_dot(&mut self, scalar: Scalar, count: u32, a: &str, b: &str) -> String {
        let vector = Self::shaped(scalar, count);
        let mut sum = String::new();
        for at in 0..count {
            let [a, b] = [a, b].map(|value| match count {
                1 => value.to_owned(),
                _ => self.let_temp(format_args!("extractelement {vector} {value}, i32 {at}")),
            });
            let product = self.rounded("fmul", scalar, &a, &b);
            sum = if at == 0 { product } else { self.rounded("fadd", scalar, &sum, &product) };
        }
        sum
    }

    fn dot(&mut self, inst: Inst<'_>) -> Result<()> {
        let (scalar, count) = self.shape(self.module.type_of(inst.arg(0)?)?)?;
        let (a, b) = (self.value(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
        let sum = match self.is_rounded(inst.result()?) {
            true => self.rounded_dot(scalar, count, &a, &b),
            false => self.dot_of(scalar, count, &a, &b),
        };
        self.alias(inst.result()?, scalar.text(), &sum);
        Ok(())
    }

    /// Two results in a structure.
    fn pair(&mut self, inst: Inst<'_>, first: &str, second: &str) -> Result<()> {
        let ty = self.type_text(inst.ty()?)?;
        let part = self.part_type(inst.ty()?, 0)?;
        let part = self.type_text(part)?;
        let half = self.let_temp(format_args!("insertvalue {ty} undef, {part} {first}, 0"));
        self.set(inst.result()?, format_args!("insertvalue {ty} {half}, {part} {second}, 1"));
        Ok(())
    }

    fn carry(&mut self, inst: Inst<'_>) -> Result<()> {
        let part = self.part_type(inst.ty()?, 0)?;
        let shape = self.shape(part)?;
        let ty = Self::shaped(shape.0, shape.1);
        let flags = Self::shaped(Scalar::Bool, shape.1);
        let (a, b) = (self.value(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
        let adds = inst.opcode() == op::I_ADD_CARRY;
        let sum = self.let_temp(format_args!("{} {ty} {a}, {b}", if adds { "add" } else { "sub" }));
        let over = match adds {
            true => self.let_temp(format_args!("icmp ult {ty} {sum}, {a}")),
            false => self.let_temp(format_args!("icmp ult {ty} {a}, {b}")),
        };
        let over = self.let_temp(format_args!("zext {flags} {over} to {ty}"));
        self.pair(inst, &sum, &over)
    }

    fn extended_product(&mut self, inst: Inst<'_>) -> Result<()> {
        let part = self.part_type(inst.ty()?, 0)?;
        let shape = self.shape(part)?;
        let ty = Self::shaped(shape.0, shape.1);
        let (a, b) = (self.value(inst.arg(0)?)?, self.value(inst.arg(1)?)?);
        let low = self.let_temp(format_args!("mul {ty} {a}, {b}"));
        let signed = inst.opcode() == op::S_MUL_EXTENDED;
        let high = self.per_element(shape, &inst.args()[..2], |writer, values| {
            Ok(writer.high_product(signed, shape.0, &values[0], &values[1]))
        })?;
        self.pair(inst, &low, &high)
    }

    /// The upper half of a product.
    pub(in super::super) fn high_product(&mut self, signed: bool, scalar: Scalar, a: &str, b: &str) -> String {
        let bits = scalar.bits();
        if bits == 64 && self.target == Target::Nvptx {
            let name = if signed { "__nv_mul64hi" } else { "__nv_umul64hi" };
            self.declare(name, "i64", "i64, i64");
            return self.call("i64", name, &format!("i64 {a}, i64 {b}"));
        }
        let (ty, wide) = (scalar.text(), bits * 2);
        let extend = if signed { "sext" } else { "zext" };
        let a = self.let_temp(format_args!("{extend} {ty} {a} to i{wide}"));
        let b = self.let_temp(format_args!("{extend} {ty} {b} to i{wide}"));
        let product = self.let_temp(format_args!("mul i{wide} {a}, {b}"));
        let high = self.let_temp(format_args!("lshr i{wide} {product}, {bits}"));
        self.let_temp(format_args!("trunc i{wide} {high} to {ty}"))
    }
}
