//! Conversions between numbers, with rounding modes and saturation, and bit casts.

use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::Inst;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::{Id, Type, kind};

/// Letters of PTX's rounding modes, by the numbers of `FPRoundingMode`: to even, to zero, up, down.
const ROUNDING: [&str; 4] = ["rn", "rz", "rp", "rm"];

impl Writer<'_> {
    pub(super) fn convert(&mut self, inst: Inst<'_>) -> Result<()> {
        match inst.opcode() {
            op::BITCAST => return self.bitcast(inst),
            op::CONVERT_F_TO_BF16_INTEL => {
                return self.set_per_element(inst, inst.args(), |w, v| w.round_to_bfloat(&v[0]));
            }
            op::CONVERT_BF16_TO_FINTEL => {
                return self.set_per_element(inst, inst.args(), |writer, values| {
                    let wide = writer.let_temp(format_args!("zext i16 {} to i32", values[0]));
                    let bits = writer.let_temp(format_args!("shl i32 {wide}, 16"));
                    Ok(writer.let_temp(format_args!("bitcast i32 {bits} to float")))
                });
            }
            _ => {}
        }
        let to = self.shape(inst.ty()?)?;
        let from = self.shape(self.module.type_of(inst.arg(0)?)?)?;
        let result = inst.result()?;
        let saturates = self.module.decoration(result, kind::SATURATED_CONVERSION).is_some()
            || matches!(inst.opcode(), op::SAT_CONVERT_S_TO_U | op::SAT_CONVERT_U_TO_S);
        // Between integers a rounding mode says nothing, yet LLVM's own backend writes it for `convert_uchar_rte` of an integer.
        let between_integers = matches!((from.0, to.0), (Scalar::Int(_), Scalar::Int(_)));
        let rounding = if between_integers { None } else { self.rounding(result) };
        if saturates || rounding.is_some() {
            return self.set_per_element(inst, inst.args(), |writer, values| {
                writer.careful_conversion(inst.opcode(), from.0, to.0, (rounding, saturates), &values[0])
            });
        }
        let name = match inst.opcode() {
            op::CONVERT_F_TO_U => "fptoui",
            op::CONVERT_F_TO_S => "fptosi",
            op::CONVERT_S_TO_F => "sitofp",
            op::CONVERT_U_TO_F => "uitofp",
            op::U_CONVERT => widening("zext", "trunc", from.0, to.0),
            op::S_CONVERT => widening("sext", "trunc", from.0, to.0),
            op::F_CONVERT => widening("fpext", "fptrunc", from.0, to.0),
            opcode => return Err(crate::grammar::refusal(opcode)),
        };
        if name.is_empty() {
            return self.copy_of(inst, inst.arg(0)?);
        }
        let (value, text) = (self.typed(inst.arg(0)?)?, self.type_text(inst.ty()?)?);
        self.set(result, format_args!("{name} {value} to {text}"));
        Ok(())
    }

    fn rounding(&self, result: Id) -> Option<usize> {
        let mode = *self.module.decoration(result, kind::FP_ROUNDING_MODE)?.first()?;
        Some((mode as usize).min(3))
    }

    /// A conversion of one element with a rounding mode or saturation.
    fn careful_conversion(
        &mut self,
        opcode: u16,
        from: Scalar,
        to: Scalar,
        (rounding, saturates): (Option<usize>, bool),
        value: &str,
    ) -> Result<String> {
        match (from, to) {
            (Scalar::Float(_), Scalar::Int(_)) => {
                let signed = opcode == op::CONVERT_F_TO_S;
                let whole = match rounding {
                    // To zero is what the conversion does.
                    None | Some(1) => value.to_owned(),
                    Some(mode) => {
                        let name = ["rint", "trunc", "ceil", "floor"][mode];
                        self.math_call(name, from, &[value.to_owned()])?
                    }
                };
                if saturates {
                    self.saturate_float(signed, from, to, &whole)
                } else {
                    Ok(self.float_to_integer(signed, from, to, &whole))
                }
            }
            (Scalar::Int(bits), Scalar::Float(_)) => {
                let signed = opcode == op::CONVERT_S_TO_F;
                self.round_integer(signed, bits, to, rounding.unwrap_or(0), value)
            }
            (Scalar::Float(_), Scalar::Float(_)) => self.round_float(from, to, rounding.unwrap_or(0), value),
            (Scalar::Int(_), Scalar::Int(_)) => {
                let source_signed = matches!(opcode, op::SAT_CONVERT_S_TO_U | op::S_CONVERT);
                let target_signed = matches!(opcode, op::SAT_CONVERT_U_TO_S | op::S_CONVERT);
                Ok(self.saturate_integer(source_signed, target_signed, from, to, value))
            }
            _ => Err(Error::malformed("a conversion between these types")),
        }
    }

    fn float_to_integer(&mut self, signed: bool, from: Scalar, to: Scalar, value: &str) -> String {
        let name = if signed { "fptosi" } else { "fptoui" };
        self.let_temp(format_args!("{name} {} {value} to {}", from.text(), to.text()))
    }

    /// Clamps to the integer's range; what is no number becomes 0.
    fn saturate_float(&mut self, signed: bool, from: Scalar, to: Scalar, value: &str) -> Result<String> {
        let (float, int, bits) = (from.text(), to.text(), to.bits());
        let (least, most, beyond) = match signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1, 2f64.powi(bits as i32 - 1)),
            false => (0, (1i128 << bits) - 1, 2f64.powi(bits as i32)),
        };
        let constant = |value: f64| super::super::constants::float_text(from, value);
        let plain = self.float_to_integer(signed, from, to, value);
        let low = self.let_temp(format_args!("fcmp ole {float} {value}, {}", constant(least as f64)));
        let high = self.let_temp(format_args!("fcmp oge {float} {value}, {}", constant(beyond)));
        let unordered = self.let_temp(format_args!("fcmp uno {float} {value}, {value}"));
        let value = self.let_temp(format_args!("select i1 {low}, {int} {least}, {int} {plain}"));
        let value = self.let_temp(format_args!("select i1 {high}, {int} {most}, {int} {value}"));
        Ok(self.let_temp(format_args!("select i1 {unordered}, {int} 0, {int} {value}")))
    }

    fn saturate_integer(
        &mut self,
        from_signed: bool,
        to_signed: bool,
        from: Scalar,
        to: Scalar,
        value: &str,
    ) -> String {
        // All values of both types fit into an integer one bit longer than the longer of them.
        let wide = from.bits().max(to.bits()) + 8;
        let (source, target, bits) = (from.text(), to.text(), to.bits());
        let (least, most) = match to_signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        let extend = if from_signed { "sext" } else { "zext" };
        let value = self.let_temp(format_args!("{extend} {source} {value} to i{wide}"));
        let low = self.let_temp(format_args!("icmp slt i{wide} {value}, {least}"));
        let high = self.let_temp(format_args!("icmp sgt i{wide} {value}, {most}"));
        let value = self.let_temp(format_args!("select i1 {low}, i{wide} {least}, i{wide} {value}"));
        let value = self.let_temp(format_args!("select i1 {high}, i{wide} {most}, i{wide} {value}"));
        self.let_temp(format_args!("trunc i{wide} {value} to {target}"))
    }

    fn round_integer(&mut self, signed: bool, bits: u32, to: Scalar, mode: usize, value: &str) -> Result<String> {
        if self.target == Target::Amdgcn {
            return Ok(self.amdgcn_round_integer(signed, bits, to, mode, value));
        }
        let (wide, letter) = if bits == 64 { (64, "l") } else { (32, "r") };
        let extend = if signed { "sext" } else { "zext" };
        let value =
            if bits < 32 { self.let_temp(format_args!("{extend} i{bits} {value} to i32")) } else { value.to_owned() };
        let kind = format!("{}{wide}", if signed { "s" } else { "u" });
        Ok(self.ptx_conversion(ROUNDING[mode], to, &kind, (&format!("i{wide}"), letter), &value))
    }

    /// A conversion between floating-point types; to a longer one it is exact.
    pub(in super::super) fn round_float(
        &mut self,
        from: Scalar,
        to: Scalar,
        mode: usize,
        value: &str,
    ) -> Result<String> {
        if from.bits() == to.bits() {
            return Ok(value.to_owned());
        }
        if from.bits() < to.bits() {
            return Ok(self.let_temp(format_args!("fpext {} {value} to {}", from.text(), to.text())));
        }
        if self.target == Target::Amdgcn {
            return Ok(self.amdgcn_round_float(from, to, mode, value));
        }
        let letter = if from == Scalar::Float(32) { "f" } else { "d" };
        let rounding = format!("{}{}", ROUNDING[mode], self.flush_suffix(&[from, to]));
        Ok(self.ptx_conversion(&rounding, to, &format!("f{}", from.bits()), (from.text(), letter), value))
    }

    /// `cvt.MODE.TO.FROM`.
    fn ptx_conversion(
        &mut self,
        mode: &str,
        to: Scalar,
        from: &str,
        (ty, letter): (&str, &str),
        value: &str,
    ) -> String {
        let name = format!("cvt.{mode}.f{}.{from}", to.bits());
        match to {
            Scalar::Float(16) => {
                let bits =
                    self.let_temp(format_args!("call i16 asm \"{name} $0, $1;\", \"=h,{letter}\"({ty} {value}) #3"));
                self.let_temp(format_args!("bitcast i16 {bits} to half"))
            }
            _ => {
                let out = if to == Scalar::Float(32) { "f" } else { "d" };
                let text = to.text();
                self.let_temp(format_args!("call {text} asm \"{name} $0, $1;\", \"={out},{letter}\"({ty} {value}) #3"))
            }
        }
    }

    /// The nearest bfloat16's bits, ties to even; a NaN stays one.
    fn round_to_bfloat(&mut self, value: &str) -> Result<String> {
        let bits = self.let_temp(format_args!("bitcast float {value} to i32"));
        let above = self.let_temp(format_args!("lshr i32 {bits}, 16"));
        let odd = self.let_temp(format_args!("and i32 {above}, 1"));
        let bias = self.let_temp(format_args!("add i32 {odd}, 32767"));
        let sum = self.let_temp(format_args!("add i32 {bits}, {bias}"));
        let rounded = self.let_temp(format_args!("lshr i32 {sum}, 16"));
        let quiet = self.let_temp(format_args!("or i32 {above}, 64"));
        let unordered = self.let_temp(format_args!("fcmp uno float {value}, {value}"));
        let chosen = self.let_temp(format_args!("select i1 {unordered}, i32 {quiet}, i32 {rounded}"));
        Ok(self.let_temp(format_args!("trunc i32 {chosen} to i16")))
    }

    fn bitcast(&mut self, inst: Inst<'_>) -> Result<()> {
        let (from, to) = (self.module.type_of(inst.arg(0)?)?, inst.ty()?);
        let (value, text) = (self.typed(inst.arg(0)?)?, self.type_text(to)?);
        let name = match (self.module.ty(from)?, self.module.ty(to)?) {
            (Type::Pointer(..), Type::Pointer(..)) => self.pointer_cast(from, to)?,
            (Type::Pointer(..), _) => "ptrtoint",
            (_, Type::Pointer(..)) => "inttoptr",
            _ => "bitcast",
        };
        // A vector that becomes an address, or the other way.
        if name != "bitcast"
            && !matches!(self.scalar(from), Ok(Scalar::Int(_)))
            && !matches!(self.scalar(to), Ok(Scalar::Int(_)))
        {
            let pointers =
                matches!((self.module.ty(from)?, self.module.ty(to)?), (Type::Pointer(..), Type::Pointer(..)));
            if !pointers {
                return self.bitcast_through_integer(inst, name, &value, &text);
            }
        }
        self.set(inst.result()?, format_args!("{name} {value} to {text}"));
        Ok(())
    }

    fn bitcast_through_integer(&mut self, inst: Inst<'_>, name: &str, value: &str, text: &str) -> Result<()> {
        let first = if name == "ptrtoint" { "ptrtoint" } else { "bitcast" };
        let second = if name == "ptrtoint" { "bitcast" } else { "inttoptr" };
        let bits = self.let_temp(format_args!("{first} {value} to i64"));
        self.set(inst.result()?, format_args!("{second} i64 {bits} to {text}"));
        Ok(())
    }
}

fn widening(longer: &'static str, shorter: &'static str, from: Scalar, to: Scalar) -> &'static str {
    match from.bits().cmp(&to.bits()) {
        std::cmp::Ordering::Less => longer,
        std::cmp::Ordering::Greater => shorter,
        std::cmp::Ordering::Equal => "",
    }
}
