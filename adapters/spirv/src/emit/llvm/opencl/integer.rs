//! Integer functions of OpenCL, all exact. Results that may not fit are computed in twice the bits, or from overflow by sign.

use super::super::Writer;
use super::super::types::Scalar;
use crate::error::{Error, Result};

impl Writer<'_> {
    /// A function of integers of one type.
    pub(in super::super) fn integer_function(
        &mut self,
        name: &str,
        scalar: Scalar,
        values: &[String],
    ) -> Result<String> {
        let ty = scalar.text();
        let (a, b) = (values[0].clone(), values.get(1).cloned().unwrap_or_default());
        let c = values.get(2).cloned().unwrap_or_default();
        let signed = name.starts_with("s_");
        let (less, more) = if signed { ("slt", "sgt") } else { ("ult", "ugt") };
        Ok(match name {
            "s_abs" => {
                let negated = self.let_temp(format_args!("sub {ty} 0, {a}"));
                self.pick("sgt", ty, &a, &negated)
            }
            "u_abs" => a,
            "s_abs_diff" | "u_abs_diff" => {
                let larger = self.let_temp(format_args!("icmp {more} {ty} {a}, {b}"));
                let down = self.let_temp(format_args!("sub {ty} {a}, {b}"));
                let up = self.let_temp(format_args!("sub {ty} {b}, {a}"));
                self.let_temp(format_args!("select i1 {larger}, {ty} {down}, {ty} {up}"))
            }
            "s_add_sat" => self.saturating_sum(scalar, &a, &b),
            "s_sub_sat" => self.saturating_difference(scalar, &a, &b),
            "u_add_sat" => {
                let sum = self.let_temp(format_args!("add {ty} {a}, {b}"));
                let over = self.let_temp(format_args!("icmp ult {ty} {sum}, {a}"));
                self.let_temp(format_args!("select i1 {over}, {ty} -1, {ty} {sum}"))
            }
            "u_sub_sat" => {
                let rest = self.let_temp(format_args!("sub {ty} {a}, {b}"));
                let under = self.let_temp(format_args!("icmp ult {ty} {a}, {b}"));
                self.let_temp(format_args!("select i1 {under}, {ty} 0, {ty} {rest}"))
            }
            // Half the sum is what both have, and half of where they differ.
            "s_hadd" | "u_hadd" => self.halved_sum(ty, signed, ("and", "add"), &a, &b),
            "s_rhadd" | "u_rhadd" => self.halved_sum(ty, signed, ("or", "sub"), &a, &b),
            "s_clamp" | "u_clamp" => {
                let above = self.pick(more, ty, &a, &b);
                self.pick(less, ty, &above, &c)
            }
            "s_max" | "u_max" => self.pick(more, ty, &a, &b),
            "s_min" | "u_min" => self.pick(less, ty, &a, &b),
            "clz" => self.count_bits("llvm.ctlz", ", i1 false", scalar, &a),
            "ctz" => self.count_bits("llvm.cttz", ", i1 false", scalar, &a),
            "popcount" => self.count_bits("llvm.ctpop", "", scalar, &a),
            "rotate" => self.rotate(scalar, &a, &b),
            "s_mul_hi" | "u_mul_hi" => self.high_product(signed, scalar, &a, &b),
            "s_mad_hi" | "u_mad_hi" => {
                let high = self.high_product(signed, scalar, &a, &b);
                self.let_temp(format_args!("add {ty} {high}, {c}"))
            }
            "s_mad_sat" | "u_mad_sat" => self.saturating_mad(scalar, signed, values)?,
            "s_mul24" | "u_mul24" => self.product24(signed, &a, &b),
            "s_mad24" | "u_mad24" => {
                let product = self.product24(signed, &a, &b);
                self.let_temp(format_args!("add i32 {product}, {c}"))
            }
            "u_upsample" | "s_upsample" => {
                let half = scalar.bits() / 2;
                let high = self.let_temp(format_args!("zext i{half} {a} to {ty}"));
                let high = self.let_temp(format_args!("shl {ty} {high}, {half}"));
                let low = self.let_temp(format_args!("zext i{half} {b} to {ty}"));
                self.let_temp(format_args!("or {ty} {high}, {low}"))
            }
            _ => return Err(Error::unsupported("no function of integers")),
        })
    }

    /// The least or greatest number, by the sign of `a`.
    fn limit_by_sign(&mut self, scalar: Scalar, a: &str) -> String {
        let (ty, bits) = (scalar.text(), scalar.bits());
        let sign = self.let_temp(format_args!("ashr {ty} {a}, {}", bits - 1));
        let most = (1u128 << (bits - 1)) - 1;
        self.let_temp(format_args!("xor {ty} {sign}, {most}"))
    }

    /// Chooses the limit where two sign differences meet in the sign bit.
    fn saturate(&mut self, scalar: Scalar, first: &str, second: &str, a: &str, plain: &str) -> String {
        let ty = scalar.text();
        let both = self.let_temp(format_args!("and {ty} {first}, {second}"));
        let over = self.let_temp(format_args!("icmp slt {ty} {both}, 0"));
        let limit = self.limit_by_sign(scalar, a);
        self.let_temp(format_args!("select i1 {over}, {ty} {limit}, {ty} {plain}"))
    }

    fn saturating_sum(&mut self, scalar: Scalar, a: &str, b: &str) -> String {
        let ty = scalar.text();
        let sum = self.let_temp(format_args!("add {ty} {a}, {b}"));
        let first = self.let_temp(format_args!("xor {ty} {sum}, {a}"));
        let second = self.let_temp(format_args!("xor {ty} {sum}, {b}"));
        self.saturate(scalar, &first, &second, a, &sum)
    }

    fn saturating_difference(&mut self, scalar: Scalar, a: &str, b: &str) -> String {
        let ty = scalar.text();
        let rest = self.let_temp(format_args!("sub {ty} {a}, {b}"));
        let first = self.let_temp(format_args!("xor {ty} {a}, {b}"));
        let second = self.let_temp(format_args!("xor {ty} {a}, {rest}"));
        self.saturate(scalar, &first, &second, a, &rest)
    }

    fn halved_sum(&mut self, ty: &str, signed: bool, (shared, join): (&str, &str), a: &str, b: &str) -> String {
        let both = self.let_temp(format_args!("{shared} {ty} {a}, {b}"));
        let differ = self.let_temp(format_args!("xor {ty} {a}, {b}"));
        let half = self.let_temp(format_args!("{} {ty} {differ}, 1", if signed { "ashr" } else { "lshr" }));
        self.let_temp(format_args!("{join} {ty} {both}, {half}"))
    }

    fn rotate(&mut self, scalar: Scalar, a: &str, by: &str) -> String {
        let (ty, last) = (scalar.text(), scalar.bits() - 1);
        let left = self.let_temp(format_args!("and {ty} {by}, {last}"));
        let back = self.let_temp(format_args!("sub {ty} 0, {by}"));
        let right = self.let_temp(format_args!("and {ty} {back}, {last}"));
        let high = self.let_temp(format_args!("shl {ty} {a}, {left}"));
        let low = self.let_temp(format_args!("lshr {ty} {a}, {right}"));
        self.let_temp(format_args!("or {ty} {high}, {low}"))
    }

    /// The product's both halves say whether it fits; the sum saturates by itself.
    fn saturating_mad(&mut self, scalar: Scalar, signed: bool, values: &[String]) -> Result<String> {
        let (ty, bits) = (scalar.text(), scalar.bits());
        let (a, b, c) = (&values[0], &values[1], &values[2]);
        let low = self.let_temp(format_args!("mul {ty} {a}, {b}"));
        let high = self.high_product(signed, scalar, a, b);
        if !signed {
            let over = self.let_temp(format_args!("icmp ne {ty} {high}, 0"));
            let sum = self.integer_function("u_add_sat", scalar, &[low, c.clone()])?;
            return Ok(self.let_temp(format_args!("select i1 {over}, {ty} -1, {ty} {sum}")));
        }
        if bits <= 32 {
            let wide = bits * 2;
            let (a, b, c) = (
                self.let_temp(format_args!("sext {ty} {a} to i{wide}")),
                self.let_temp(format_args!("sext {ty} {b} to i{wide}")),
                self.let_temp(format_args!("sext {ty} {c} to i{wide}")),
            );
            let product = self.let_temp(format_args!("mul i{wide} {a}, {b}"));
            let sum = self.let_temp(format_args!("add i{wide} {product}, {c}"));
            let (least, most) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
            let sum = self.pick("sgt", &format!("i{wide}"), &sum, &least.to_string());
            let sum = self.pick("slt", &format!("i{wide}"), &sum, &most.to_string());
            return Ok(self.let_temp(format_args!("trunc i{wide} {sum} to {ty}")));
        }
        // 128 bits of product and addend, in two halves.
        let sum = self.let_temp(format_args!("add i64 {low}, {c}"));
        let carry = self.let_temp(format_args!("icmp ult i64 {sum}, {low}"));
        let carry = self.let_temp(format_args!("zext i1 {carry} to i64"));
        let sign = self.let_temp(format_args!("ashr i64 {c}, 63"));
        let high = self.let_temp(format_args!("add i64 {high}, {sign}"));
        let high = self.let_temp(format_args!("add i64 {high}, {carry}"));
        let wanted = self.let_temp(format_args!("ashr i64 {sum}, 63"));
        let fits = self.let_temp(format_args!("icmp eq i64 {high}, {wanted}"));
        let limit = self.limit_by_sign(scalar, &high);
        Ok(self.let_temp(format_args!("select i1 {fits}, i64 {sum}, i64 {limit}")))
    }

    fn product24(&mut self, signed: bool, a: &str, b: &str) -> String {
        let mut parts = Vec::new();
        for value in [a, b] {
            let high = self.let_temp(format_args!("shl i32 {value}, 8"));
            parts.push(self.let_temp(format_args!("{} i32 {high}, 8", if signed { "ashr" } else { "lshr" })));
        }
        self.let_temp(format_args!("mul i32 {}, {}", parts[0], parts[1]))
    }
}
