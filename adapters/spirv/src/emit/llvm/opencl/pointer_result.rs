//! Functions with a second result behind a pointer.

use super::super::constants::float_text;
use super::super::helper::{Head, Motion};
use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::super::{Target, Writer};
use crate::error::Result;
use crate::grammar::op;
use crate::model::Id;

impl<'m> Writer<'m> {
    /// Computes both results of each element, then stores the second.
    pub(super) fn with_pointer_result(&mut self, inst: Inst<'m>, name: &str, operands: &'m [Id]) -> Result<()> {
        let ty = inst.ty()?;
        let shape = self.shape(ty)?;
        let pointer = operands[operands.len() - 1];
        let pointee = self.module.pointer(self.module.type_of(pointer)?)?.1;
        let (second_scalar, count) = self.shape(pointee)?;
        let second_text = self.type_text(pointee)?;
        let (mut second, mut at) = ("undef".to_owned(), 0);
        let first = self.per_element(shape, &operands[..operands.len() - 1], |writer, values| {
            let (first, other) = writer.two_results(name, shape.0, values)?;
            second = match count {
                1 => other,
                _ => writer.let_temp(format_args!(
                    "insertelement {second_text} {second}, {} {other}, i32 {at}",
                    second_scalar.text()
                )),
            };
            at += 1;
            Ok(first)
        })?;
        let pointer = self.typed(pointer)?;
        let align = self.layouts.of(self.module, pointee)?.align;
        self.put(format_args!("store {second_text} {second}, {pointer}, align {align}"));
        let text = self.type_text(ty)?;
        self.alias(inst.result()?, &text, &first);
        Ok(())
    }

    fn two_results(&mut self, name: &str, scalar: Scalar, values: &[String]) -> Result<(String, String)> {
        if scalar.bits() == 16 {
            let mut wide = Vec::new();
            for value in values {
                wide.push(self.at_least_single(scalar, value).0);
            }
            let (first, second) = self.two_results(name, Scalar::Float(32), &wide)?;
            let mut first = self.back_to(scalar, &first);
            if name == "fract" {
                // Rounding may have reached 1.
                let one = self.let_temp(format_args!("fcmp oge half {first}, {}", float_text(scalar, 1.0)));
                let below = float_text(scalar, 1.0 - 2f64.powi(-11));
                first = self.let_temp(format_args!("select i1 {one}, half {below}, half {first}"));
            }
            let is_number = matches!(name, "fract" | "modf" | "sincos");
            return Ok((first, if is_number { self.back_to(scalar, &second) } else { second }));
        }
        match name {
            "fract" => self.fraction(scalar, &values[0]),
            "modf" => self.whole_and_rest(scalar, &values[0]),
            "sincos" => Ok((self.math_call("sin", scalar, values)?, self.math_call("cos", scalar, values)?)),
            "frexp" => self.mantissa_and_exponent(scalar, &values[0]),
            "lgamma_r" => self.gamma_and_sign(scalar, &values[0]),
            _ => self.rest_and_quotient(scalar, values),
        }
    }

    /// `fmin(x - floor(x), the number below 1)`; zeroes stay as they are. Exact.
    fn fraction(&mut self, scalar: Scalar, x: &str) -> Result<(String, String)> {
        let ty = scalar.text();
        let floor = self.math_call("floor", scalar, &[x.to_owned()])?;
        let rest = self.let_temp(format_args!("fsub {ty} {x}, {floor}"));
        let below_one = if scalar.bits() == 32 { 1.0 - 2f64.powi(-24) } else { 1.0 - 2f64.powi(-53) };
        let rest = self.math_call("fmin", scalar, &[rest, float_text(scalar, below_one)])?;
        let infinite = self.class_of(op::IS_INF, scalar, x);
        let rest = self.let_temp(format_args!("select i1 {infinite}, {ty} 0.0, {ty} {rest}"));
        let signed = self.math_call("copysign", scalar, &[rest.clone(), x.to_owned()])?;
        let rest = self.let_temp(format_args!("select i1 {infinite}, {ty} {signed}, {ty} {rest}"));
        let itself = self.let_temp(format_args!("fcmp ueq {ty} {x}, 0.0"));
        Ok((self.let_temp(format_args!("select i1 {itself}, {ty} {x}, {ty} {rest}")), floor))
    }

    fn whole_and_rest(&mut self, scalar: Scalar, x: &str) -> Result<(String, String)> {
        let ty = scalar.text();
        let whole = self.math_call("trunc", scalar, &[x.to_owned()])?;
        let rest = self.let_temp(format_args!("fsub {ty} {x}, {whole}"));
        let infinite = self.class_of(op::IS_INF, scalar, x);
        let rest = self.let_temp(format_args!("select i1 {infinite}, {ty} 0.0, {ty} {rest}"));
        Ok((self.math_call("copysign", scalar, &[rest, x.to_owned()])?, whole))
    }

    /// The library stores the exponent in memory of the thread.
    fn mantissa_and_exponent(&mut self, scalar: Scalar, x: &str) -> Result<(String, String)> {
        let ty = scalar.text();
        let name = if scalar.bits() == 32 { "ur_frexp_f32" } else { "ur_frexp_f64" };
        // OCML stores to private memory, libdevice to a generic address.
        let (function, space, place) = match self.target {
            Target::Nvptx => (self.library_function("frexp", scalar), 0, ""),
            Target::Amdgcn => (self.library_function("frexp", scalar), 5, ", addrspace(5)"),
        };
        let function = function.as_str();
        let (pair, pointer) = (format!("{{ {ty}, i32 }}"), self.pointer_text("i32", space));
        self.declare(function, ty, &format!("{ty}, {pointer}"));
        let parameters = format!("{ty} %x");
        let head = Head { name, returns: &pair, parameters: &parameters, motion: Motion::Free };
        self.helper(&head, |writer| {
            writer.label("entry");
            let exponent = writer.let_temp(format_args!("alloca i32, align 4{place}"));
            let value = writer.call(ty, function, &format!("{ty} %x, {pointer} {exponent}"));
            let exponent = writer.let_temp(format_args!("load i32, {pointer} {exponent}, align 4"));
            let half = writer.let_temp(format_args!("insertvalue {pair} undef, {ty} {value}, 0"));
            let both = writer.let_temp(format_args!("insertvalue {pair} {half}, i32 {exponent}, 1"));
            writer.ret(&pair, &both);
            Ok(())
        })?;
        let both = self.let_temp(format_args!("call {pair} @{name}({ty} {x})"));
        let first = self.let_temp(format_args!("extractvalue {pair} {both}, 0"));
        Ok((first, self.let_temp(format_args!("extractvalue {pair} {both}, 1"))))
    }

    /// The sign is minus where the floor of a negative number is odd.
    fn gamma_and_sign(&mut self, scalar: Scalar, x: &str) -> Result<(String, String)> {
        let ty = scalar.text();
        let value = self.math_call("lgamma", scalar, &[x.to_owned()])?;
        let floor = self.math_call("floor", scalar, &[x.to_owned()])?;
        let whole = self.let_temp(format_args!("fcmp oeq {ty} {floor}, {x}"));
        let half = self.let_temp(format_args!("fmul {ty} {floor}, {}", float_text(scalar, 0.5)));
        let half_floor = self.math_call("floor", scalar, std::slice::from_ref(&half))?;
        let odd = self.let_temp(format_args!("fcmp one {ty} {half}, {half_floor}"));
        let negative = self.let_temp(format_args!("fcmp olt {ty} {x}, 0.0"));
        let minus = self.let_temp(format_args!("and i1 {odd}, {negative}"));
        let sign = self.let_temp(format_args!("select i1 {minus}, i32 -1, i32 1"));
        // At the poles there is no sign; at zero it is zero's own.
        let pole = self.let_temp(format_args!("and i1 {whole}, {negative}"));
        let sign = self.let_temp(format_args!("select i1 {pole}, i32 0, i32 {sign}"));
        let zero = self.let_temp(format_args!("fcmp oeq {ty} {x}, 0.0"));
        let below = self.class_of(op::SIGN_BIT_SET, scalar, x);
        let of_zero = self.let_temp(format_args!("select i1 {below}, i32 -1, i32 1"));
        Ok((value, self.let_temp(format_args!("select i1 {zero}, i32 {of_zero}, i32 {sign}"))))
    }

    /// The rest is libdevice's; the quotient's lowest seven bits come from what is left of `x` by 128 divisors. Exact.
    fn rest_and_quotient(&mut self, scalar: Scalar, values: &[String]) -> Result<(String, String)> {
        let (ty, x, y) = (scalar.text(), &values[0], &values[1]);
        let rest = self.math_call("remainder", scalar, values)?;
        let (size_x, size_y) = (
            self.math_call("fabs", scalar, std::slice::from_ref(x))?,
            self.math_call("fabs", scalar, std::slice::from_ref(y))?,
        );
        let many = self.let_temp(format_args!("fmul {ty} {size_y}, {}", float_text(scalar, 128.0)));
        let left = self.math_call("fmod", scalar, &[size_x.clone(), many.clone()])?;
        let beyond = self.class_of(op::IS_INF, scalar, &many);
        let left = self.let_temp(format_args!("select i1 {beyond}, {ty} {size_x}, {ty} {left}"));
        let x_negative = self.class_of(op::SIGN_BIT_SET, scalar, x);
        let y_negative = self.class_of(op::SIGN_BIT_SET, scalar, y);
        let turned = self.let_temp(format_args!("fsub {ty} 0.0, {rest}"));
        let rest_size = self.let_temp(format_args!("select i1 {x_negative}, {ty} {turned}, {ty} {rest}"));
        // Each is divided by itself: their difference may be larger than any number. What the divisions round is less than 2^-16.
        let [most, rest_share] =
            [left, rest_size].map(|part| self.let_temp(format_args!("fdiv {ty} {part}, {size_y}")));
        let quotient = self.let_temp(format_args!("fsub {ty} {most}, {rest_share}"));
        let quotient = self.math_call("rint", scalar, &[quotient])?;
        let finite = self.class_of(op::IS_FINITE, scalar, &quotient);
        let quotient = self.let_temp(format_args!("select i1 {finite}, {ty} {quotient}, {ty} 0.0"));
        let bits = self.let_temp(format_args!("fptosi {ty} {quotient} to i32"));
        let bits = self.let_temp(format_args!("and i32 {bits}, 127"));
        let negated = self.let_temp(format_args!("sub i32 0, {bits}"));
        let minus = self.let_temp(format_args!("xor i1 {x_negative}, {y_negative}"));
        Ok((rest, self.let_temp(format_args!("select i1 {minus}, i32 {negated}, i32 {bits}"))))
    }
}
