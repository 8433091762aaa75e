//! Numbers: fast functions of OCML, conversions that round another way than to the nearest, and arithmetic fences.

use super::super::Writer;
use super::super::instruction::Inst;
use super::super::types::Scalar;
use crate::error::{Error, Result};

/// Functions of single precision that OCML has as the hardware's approximations.
const NATIVE: [&str; 9] = ["sin", "cos", "exp", "exp2", "exp10", "log", "log2", "log10", "rsqrt"];

/// The numbers of `FPRoundingMode` but that of the nearest.
const TO_ZERO: usize = 1;
const UP: usize = 2;

impl Writer<'_> {
    pub(in super::super) fn amdgcn_native(&mut self, name: &str, scalar: Scalar, values: &[String]) -> Result<String> {
        let ty = scalar.text();
        if scalar.bits() == 32 && NATIVE.contains(&name) {
            let full = format!("__ocml_native_{name}_f32");
            self.declare(&full, ty, ty);
            return Ok(self.call(ty, &full, &format!("{ty} {}", values[0])));
        }
        self.float_function(name, scalar, scalar, values)
    }

    /// A number as a shorter one. The nearest is the hardware's; another mode takes that or a neighbour of it, by a comparison with
    /// what it was made of.
    pub(in super::super) fn amdgcn_round_float(
        &mut self,
        from: Scalar,
        to: Scalar,
        mode: usize,
        value: &str,
    ) -> String {
        let (wide, narrow, int) = (from.text(), to.text(), to.integer().text());
        let nearest = self.let_temp(format_args!("fptrunc {wide} {value} to {narrow}"));
        if mode == 0 {
            return nearest;
        }
        let back = self.let_temp(format_args!("fpext {narrow} {nearest} to {wide}"));
        let bits = self.let_temp(format_args!("bitcast {narrow} {nearest} to {int}"));
        let negative = self.let_temp(format_args!("icmp slt {int} {bits}, 0"));
        // The bits count up away from zero.
        let (wrong, step) = match mode {
            TO_ZERO => {
                let above = self.let_temp(format_args!("fcmp ogt {wide} {back}, {value}"));
                let below = self.let_temp(format_args!("fcmp olt {wide} {back}, {value}"));
                (self.let_temp(format_args!("select i1 {negative}, i1 {below}, i1 {above}")), "-1".to_owned())
            }
            UP => {
                let wrong = self.let_temp(format_args!("fcmp olt {wide} {back}, {value}"));
                (wrong, self.let_temp(format_args!("select i1 {negative}, {int} -1, {int} 1")))
            }
            _ => {
                let wrong = self.let_temp(format_args!("fcmp ogt {wide} {back}, {value}"));
                (wrong, self.let_temp(format_args!("select i1 {negative}, {int} 1, {int} -1")))
            }
        };
        let next = self.let_temp(format_args!("add {int} {bits}, {step}"));
        let chosen = self.let_temp(format_args!("select i1 {wrong}, {int} {next}, {int} {bits}"));
        self.let_temp(format_args!("bitcast {int} {chosen} to {narrow}"))
    }

    /// An integer as a floating-point number. The nearest is the hardware's. In another mode the integer's size loses the bits that
    /// do not fit, which makes the conversion exact, and the next number is taken where the mode goes away from zero.
    pub(in super::super) fn amdgcn_round_integer(
        &mut self,
        signed: bool,
        bits: u32,
        to: Scalar,
        mode: usize,
        value: &str,
    ) -> String {
        let (float, int) = (to.text(), to.integer().text());
        if mode == 0 {
            let name = if signed { "sitofp" } else { "uitofp" };
            return self.let_temp(format_args!("{name} i{bits} {value} to {float}"));
        }
        let extend = if signed { "sext" } else { "zext" };
        let wide = match bits {
            64 => value.to_owned(),
            _ => self.let_temp(format_args!("{extend} i{bits} {value} to i64")),
        };
        let negative = match signed {
            true => self.let_temp(format_args!("icmp slt i64 {wide}, 0")),
            false => "false".to_owned(),
        };
        let turned = self.let_temp(format_args!("sub i64 0, {wide}"));
        let size = self.let_temp(format_args!("select i1 {negative}, i64 {turned}, i64 {wide}"));
        let digits = match to.bits() {
            16 => 11,
            32 => 24,
            _ => 53,
        };
        let zeros = self.count_bits("llvm.ctlz", ", i1 false", Scalar::Int(64), &size);
        let over = self.let_temp(format_args!("sub i64 {}, {zeros}", 64 - digits));
        let fits = self.let_temp(format_args!("icmp slt i64 {over}, 0"));
        let lost = self.let_temp(format_args!("select i1 {fits}, i64 0, i64 {over}"));
        let kept = self.let_temp(format_args!("lshr i64 {size}, {lost}"));
        let mut kept = self.let_temp(format_args!("shl i64 {kept}, {lost}"));
        if to.bits() == 16 {
            // Half precision ends at 65504.
            let beyond = self.let_temp(format_args!("icmp ugt i64 {kept}, 65504"));
            kept = self.let_temp(format_args!("select i1 {beyond}, i64 65504, i64 {kept}"));
        }
        let exact = self.let_temp(format_args!("icmp eq i64 {kept}, {size}"));
        let number = match to.bits() {
            16 => {
                let narrow = self.let_temp(format_args!("trunc i64 {kept} to i32"));
                self.let_temp(format_args!("uitofp i32 {narrow} to {float}"))
            }
            _ => self.let_temp(format_args!("uitofp i64 {kept} to {float}")),
        };
        let bits = self.let_temp(format_args!("bitcast {float} {number} to {int}"));
        let away = match mode {
            TO_ZERO => "false".to_owned(),
            UP => self.let_temp(format_args!("xor i1 {negative}, true")),
            _ => negative.clone(),
        };
        let inexact = self.let_temp(format_args!("xor i1 {exact}, true"));
        let steps = self.let_temp(format_args!("and i1 {inexact}, {away}"));
        let step = self.let_temp(format_args!("zext i1 {steps} to {int}"));
        let bits = self.let_temp(format_args!("add {int} {bits}, {step}"));
        let number = self.let_temp(format_args!("bitcast {int} {bits} to {float}"));
        let opposite = self.let_temp(format_args!("fneg {float} {number}"));
        self.let_temp(format_args!("select i1 {negative}, {float} {opposite}, {float} {number}"))
    }

    /// A value that the compiler knows nothing of, so that nothing is fused or reordered through it.
    pub(in super::super) fn amdgcn_arithmetic_fence(&mut self, inst: Inst<'_>) -> Result<()> {
        let scalar = self.shape(inst.ty()?)?.0;
        let Scalar::Float(_) = scalar else {
            return Err(Error::malformed("a fence of what is no floating-point number"));
        };
        self.set_per_element(inst, inst.args(), |writer, values| {
            let (ty, int) = (scalar.text(), scalar.integer().text());
            let bits = writer.let_temp(format_args!("bitcast {ty} {} to {int}", values[0]));
            let register = if scalar.bits() == 64 { "i64" } else { "i32" };
            let wide = writer.resize(&bits, scalar.bits(), scalar.bits().max(32));
            let fenced =
                writer.let_temp(format_args!("call {register} asm sideeffect \"\", \"=v,0\"({register} {wide}) #3"));
            let bits = writer.resize(&fenced, scalar.bits().max(32), scalar.bits());
            Ok(writer.let_temp(format_args!("bitcast {int} {bits} to {ty}")))
        })
    }
}
