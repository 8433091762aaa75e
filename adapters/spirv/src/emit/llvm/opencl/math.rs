//! Mathematical functions that libdevice lacks. Half precision is computed in single.

use super::super::Writer;
use super::super::constants::float_text;
use super::super::types::Scalar;
use crate::error::Result;
use crate::grammar::op;

const PI: f64 = std::f64::consts::PI;

impl Writer<'_> {
    pub(super) fn written_out(&mut self, name: &str, from: Scalar, to: Scalar, values: &[String]) -> Result<String> {
        if from.bits() == 16 {
            let mut wide = Vec::with_capacity(values.len());
            for (at, value) in values.iter().enumerate() {
                let exponent = at == 1 && matches!(name, "pown" | "rootn");
                wide.push(if exponent { value.clone() } else { self.at_least_single(from, value).0 });
            }
            let result = self.written_out(name, Scalar::Float(32), Scalar::Float(32), &wide)?;
            return Ok(self.back_to(from, &result));
        }
        match name {
            // Two roundings more than the function itself: 4 ulp; OpenCL allows 5 (atan2pi: 6).
            "acospi" => self.divided_by_pi("acos", from, values),
            "asinpi" => self.divided_by_pi("asin", from, values),
            "atanpi" => self.divided_by_pi("atan", from, values),
            "atan2pi" => self.divided_by_pi("atan2", from, values),
            // A quotient of two functions of 2 ulp: 5 ulp; OpenCL allows 6.
            "tanpi" => {
                let (sine, cosine) = (self.math_call("sinpi", from, values)?, self.math_call("cospi", from, values)?);
                Ok(self.let_temp(format_args!("fdiv {} {sine}, {cosine}", from.text())))
            }
            "pown" => self.integer_power(from, values),
            "powr" => self.positive_power(from, values),
            "rootn" => self.root(from, values),
            "maxmag" => self.by_magnitude(from, "ogt", "fmax", values),
            "minmag" => self.by_magnitude(from, "olt", "fmin", values),
            _ => self.common_function(name, from, to, values),
        }
    }

    fn divided_by_pi(&mut self, name: &str, scalar: Scalar, values: &[String]) -> Result<String> {
        let angle = self.math_call(name, scalar, values)?;
        let factor = float_text(scalar, 1.0 / PI);
        Ok(self.let_temp(format_args!("fmul {} {angle}, {factor}", scalar.text())))
    }

    fn widened(&mut self, scalar: Scalar, value: &str) -> String {
        match scalar.bits() {
            64 => value.to_owned(),
            _ => self.let_temp(format_args!("fpext float {value} to double")),
        }
    }

    fn narrowed(&mut self, scalar: Scalar, value: &str) -> String {
        match scalar.bits() {
            64 => value.to_owned(),
            _ => self.let_temp(format_args!("fptrunc double {value} to float")),
        }
    }

    /// In double precision, where every exponent is exact: `pow`'s own error, below 1 ulp in single.
    fn integer_power(&mut self, scalar: Scalar, values: &[String]) -> Result<String> {
        let base = self.widened(scalar, &values[0]);
        let exponent = self.let_temp(format_args!("sitofp i32 {} to double", values[1]));
        let power = self.math_call("pow", Scalar::Float(64), &[base, exponent])?;
        Ok(self.narrowed(scalar, &power))
    }

    /// `pow` of a base that is not negative; what the limits do not define is no number. `pow`'s error.
    fn positive_power(&mut self, scalar: Scalar, values: &[String]) -> Result<String> {
        let (ty, x, y) = (scalar.text(), &values[0], &values[1]);
        let power = self.math_call("pow", scalar, values)?;
        let (one, infinity) = (float_text(scalar, 1.0), float_text(scalar, f64::INFINITY));
        let ordered = self.let_temp(format_args!("fcmp ord {ty} {x}, {y}"));
        let not_negative = self.let_temp(format_args!("fcmp oge {ty} {x}, 0.0"));
        let is_zero = self.let_temp(format_args!("fcmp oeq {ty} {x}, 0.0"));
        let is_infinite = self.let_temp(format_args!("fcmp oeq {ty} {x}, {infinity}"));
        let extreme = self.let_temp(format_args!("or i1 {is_zero}, {is_infinite}"));
        let no_power = self.let_temp(format_args!("fcmp oeq {ty} {y}, 0.0"));
        let undefined = self.let_temp(format_args!("and i1 {extreme}, {no_power}"));
        let is_one = self.let_temp(format_args!("fcmp oeq {ty} {x}, {one}"));
        let endless = self.class_of(op::IS_INF, scalar, y);
        let also = self.let_temp(format_args!("and i1 {is_one}, {endless}"));
        let undefined = self.let_temp(format_args!("or i1 {undefined}, {also}"));
        let defined = self.let_temp(format_args!("xor i1 {undefined}, true"));
        let good = self.let_temp(format_args!("and i1 {ordered}, {not_negative}"));
        let good = self.let_temp(format_args!("and i1 {good}, {defined}"));
        let nan = float_text(scalar, f64::NAN);
        // The power of a negative zero is that of zero.
        let size = self.math_call("fabs", scalar, &[power])?;
        Ok(self.let_temp(format_args!("select i1 {good}, {ty} {size}, {ty} {nan}")))
    }

    /// The root by `pow` in double precision. The exponent `1 / n` is not exact, which a logarithm makes up for in doubles: 4 ulp;
    /// OpenCL allows 16.
    fn root(&mut self, scalar: Scalar, values: &[String]) -> Result<String> {
        let double = Scalar::Float(64);
        let (x, n) = (self.widened(scalar, &values[0]), &values[1]);
        let size = self.math_call("fabs", double, std::slice::from_ref(&x))?;
        let degree = self.let_temp(format_args!("sitofp i32 {n} to double"));
        let inverse = self.let_temp(format_args!("fdiv double 1.0, {degree}"));
        let mut root = self.math_call("pow", double, &[size.clone(), inverse.clone()])?;
        if scalar.bits() == 64 {
            let opposite = self.let_temp(format_args!("fsub double -0.0, {inverse}"));
            let left = self.math_call("fma", double, &[opposite, degree.clone(), "1.0".to_owned()])?;
            let left = self.let_temp(format_args!("fdiv double {left}, {degree}"));
            let logarithm = self.math_call("log", double, std::slice::from_ref(&size))?;
            let share = self.let_temp(format_args!("fmul double {left}, {logarithm}"));
            let change = self.let_temp(format_args!("fmul double {root}, {share}"));
            let better = self.let_temp(format_args!("fadd double {root}, {change}"));
            let finite = self.class_of(op::IS_FINITE, double, &better);
            root = self.let_temp(format_args!("select i1 {finite}, double {better}, double {root}"));
        }
        let signed = self.math_call("copysign", double, &[root.clone(), x.clone()])?;
        let low = self.let_temp(format_args!("and i32 {n}, 1"));
        let odd = self.let_temp(format_args!("icmp ne i32 {low}, 0"));
        let value = self.let_temp(format_args!("select i1 {odd}, double {signed}, double {root}"));
        let negative = self.let_temp(format_args!("fcmp olt double {x}, 0.0"));
        let even = self.let_temp(format_args!("xor i1 {odd}, true"));
        let wrong = self.let_temp(format_args!("and i1 {negative}, {even}"));
        let none = self.let_temp(format_args!("icmp eq i32 {n}, 0"));
        let unordered = self.let_temp(format_args!("fcmp uno double {x}, {x}"));
        let wrong = self.let_temp(format_args!("or i1 {wrong}, {none}"));
        let wrong = self.let_temp(format_args!("or i1 {wrong}, {unordered}"));
        let nan = float_text(double, f64::NAN);
        let value = self.let_temp(format_args!("select i1 {wrong}, double {nan}, double {value}"));
        Ok(self.narrowed(scalar, &value))
    }

    /// The value that is larger or smaller without its sign; the usual extremum if both are as large. Exact.
    fn by_magnitude(&mut self, scalar: Scalar, predicate: &str, tie: &str, values: &[String]) -> Result<String> {
        let (ty, x, y) = (scalar.text(), &values[0], &values[1]);
        let a = self.math_call("fabs", scalar, std::slice::from_ref(x))?;
        let b = self.math_call("fabs", scalar, std::slice::from_ref(y))?;
        let first = self.let_temp(format_args!("fcmp {predicate} {ty} {a}, {b}"));
        let second = self.let_temp(format_args!("fcmp {predicate} {ty} {b}, {a}"));
        let tie = self.math_call(tie, scalar, values)?;
        let value = self.let_temp(format_args!("select i1 {second}, {ty} {y}, {ty} {tie}"));
        Ok(self.let_temp(format_args!("select i1 {first}, {ty} {x}, {ty} {value}")))
    }
}
