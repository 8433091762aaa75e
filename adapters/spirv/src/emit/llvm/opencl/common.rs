//! Common functions of OpenCL: clamping, mixing, steps. Each is a few operations; their errors are those of the operations.

use super::super::Writer;
use super::super::constants::float_text;
use super::super::types::Scalar;
use crate::error::{Error, Result};

impl Writer<'_> {
    pub(super) fn common_function(
        &mut self,
        name: &str,
        scalar: Scalar,
        _to: Scalar,
        values: &[String],
    ) -> Result<String> {
        let ty = scalar.text();
        match name {
            "fclamp" => {
                let above = self.math_call("fmax", scalar, &values[..2])?;
                self.math_call("fmin", scalar, &[above, values[2].clone()])
            }
            "degrees" => {
                let factor = float_text(scalar, 180.0 / std::f64::consts::PI);
                Ok(self.let_temp(format_args!("fmul {ty} {}, {factor}", values[0])))
            }
            "radians" => {
                let factor = float_text(scalar, std::f64::consts::PI / 180.0);
                Ok(self.let_temp(format_args!("fmul {ty} {}, {factor}", values[0])))
            }
            "fmax_common" => self.math_call("fmax", scalar, values),
            "fmin_common" => self.math_call("fmin", scalar, values),
            "mix" => {
                let span = self.let_temp(format_args!("fsub {ty} {}, {}", values[1], values[0]));
                let part = self.let_temp(format_args!("fmul {ty} {span}, {}", values[2]));
                Ok(self.let_temp(format_args!("fadd {ty} {}, {part}", values[0])))
            }
            "step" => {
                let below = self.let_temp(format_args!("fcmp olt {ty} {}, {}", values[1], values[0]));
                let one = float_text(scalar, 1.0);
                Ok(self.let_temp(format_args!("select i1 {below}, {ty} 0.0, {ty} {one}")))
            }
            "smoothstep" => self.smooth_step(scalar, values),
            "sign" => self.sign(scalar, &values[0]),
            _ => Err(Error::unsupported("no function of floating-point numbers")),
        }
    }

    /// `t * t * (3 - 2 * t)`, where `t` is how far `x` is from one edge to the other.
    fn smooth_step(&mut self, scalar: Scalar, values: &[String]) -> Result<String> {
        let ty = scalar.text();
        let (zero, one) = (float_text(scalar, 0.0), float_text(scalar, 1.0));
        let (two, three) = (float_text(scalar, 2.0), float_text(scalar, 3.0));
        let from = self.let_temp(format_args!("fsub {ty} {}, {}", values[2], values[0]));
        let span = self.let_temp(format_args!("fsub {ty} {}, {}", values[1], values[0]));
        let part = self.let_temp(format_args!("fdiv {ty} {from}, {span}"));
        let part = self.math_call("fmax", scalar, &[part, zero])?;
        let part = self.math_call("fmin", scalar, &[part, one])?;
        let double = self.let_temp(format_args!("fmul {ty} {two}, {part}"));
        let rest = self.let_temp(format_args!("fsub {ty} {three}, {double}"));
        let square = self.let_temp(format_args!("fmul {ty} {part}, {part}"));
        Ok(self.let_temp(format_args!("fmul {ty} {square}, {rest}")))
    }

    /// One with the sign of `x`; zeroes keep theirs, what is no number becomes zero.
    fn sign(&mut self, scalar: Scalar, x: &str) -> Result<String> {
        let ty = scalar.text();
        let one = self.math_call("copysign", scalar, &[float_text(scalar, 1.0), x.to_owned()])?;
        let zero = self.let_temp(format_args!("fcmp oeq {ty} {x}, 0.0"));
        let value = self.let_temp(format_args!("select i1 {zero}, {ty} {x}, {ty} {one}"));
        let unordered = self.let_temp(format_args!("fcmp uno {ty} {x}, {x}"));
        Ok(self.let_temp(format_args!("select i1 {unordered}, {ty} 0.0, {ty} {value}")))
    }
}
