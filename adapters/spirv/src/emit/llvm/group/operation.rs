//! The operations that groups combine values with, and their neutral values.

use super::super::Writer;
use super::super::constants::{float_text, scalar_text};
use super::super::types::Scalar;
use crate::error::Result;
use crate::grammar::op;

/// What combines two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Operation {
    IntegerAdd,
    IntegerMultiply,
    FloatAdd,
    FloatMultiply,
    SignedMin,
    SignedMax,
    UnsignedMin,
    UnsignedMax,
    FloatMin,
    FloatMax,
    And,
    Or,
    Xor,
}

impl Operation {
    /// The operation of an instruction that every thread of the group executes.
    pub(super) fn uniform(opcode: u16) -> Option<Self> {
        Some(match opcode {
            op::GROUP_I_ADD => Self::IntegerAdd,
            op::GROUP_F_ADD => Self::FloatAdd,
            op::GROUP_F_MIN => Self::FloatMin,
            op::GROUP_U_MIN => Self::UnsignedMin,
            op::GROUP_S_MIN => Self::SignedMin,
            op::GROUP_F_MAX => Self::FloatMax,
            op::GROUP_U_MAX => Self::UnsignedMax,
            op::GROUP_S_MAX => Self::SignedMax,
            op::GROUP_I_MUL_KHR => Self::IntegerMultiply,
            op::GROUP_F_MUL_KHR => Self::FloatMultiply,
            op::GROUP_BITWISE_AND_KHR | op::GROUP_LOGICAL_AND_KHR => Self::And,
            op::GROUP_BITWISE_OR_KHR | op::GROUP_LOGICAL_OR_KHR => Self::Or,
            op::GROUP_BITWISE_XOR_KHR | op::GROUP_LOGICAL_XOR_KHR => Self::Xor,
            _ => return None,
        })
    }

    /// The operation of an instruction that those threads execute that get there.
    pub(super) fn non_uniform(opcode: u16) -> Option<Self> {
        Some(match opcode {
            op::GROUP_NON_UNIFORM_I_ADD | op::GROUP_I_ADD_NON_UNIFORM_AMD => Self::IntegerAdd,
            op::GROUP_NON_UNIFORM_F_ADD | op::GROUP_F_ADD_NON_UNIFORM_AMD => Self::FloatAdd,
            op::GROUP_NON_UNIFORM_I_MUL => Self::IntegerMultiply,
            op::GROUP_NON_UNIFORM_F_MUL => Self::FloatMultiply,
            op::GROUP_NON_UNIFORM_S_MIN | op::GROUP_S_MIN_NON_UNIFORM_AMD => Self::SignedMin,
            op::GROUP_NON_UNIFORM_U_MIN | op::GROUP_U_MIN_NON_UNIFORM_AMD => Self::UnsignedMin,
            op::GROUP_NON_UNIFORM_F_MIN | op::GROUP_F_MIN_NON_UNIFORM_AMD => Self::FloatMin,
            op::GROUP_NON_UNIFORM_S_MAX | op::GROUP_S_MAX_NON_UNIFORM_AMD => Self::SignedMax,
            op::GROUP_NON_UNIFORM_U_MAX | op::GROUP_U_MAX_NON_UNIFORM_AMD => Self::UnsignedMax,
            op::GROUP_NON_UNIFORM_F_MAX | op::GROUP_F_MAX_NON_UNIFORM_AMD => Self::FloatMax,
            op::GROUP_NON_UNIFORM_BITWISE_AND | op::GROUP_NON_UNIFORM_LOGICAL_AND => Self::And,
            op::GROUP_NON_UNIFORM_BITWISE_OR | op::GROUP_NON_UNIFORM_LOGICAL_OR => Self::Or,
            op::GROUP_NON_UNIFORM_BITWISE_XOR | op::GROUP_NON_UNIFORM_LOGICAL_XOR => Self::Xor,
            _ => return None,
        })
    }

    /// What names of helpers hold.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::IntegerAdd => "add",
            Self::IntegerMultiply => "mul",
            Self::FloatAdd => "fadd",
            Self::FloatMultiply => "fmul",
            Self::SignedMin => "smin",
            Self::SignedMax => "smax",
            Self::UnsignedMin => "umin",
            Self::UnsignedMax => "umax",
            Self::FloatMin => "fmin",
            Self::FloatMax => "fmax",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        }
    }

    /// The value that changes none it is combined with.
    pub(super) fn neutral(self, scalar: Scalar) -> String {
        let bits = scalar.bits();
        let ones = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        match self {
            Self::IntegerAdd | Self::UnsignedMax | Self::Or | Self::Xor => scalar_text(scalar, 0),
            Self::IntegerMultiply => scalar_text(scalar, 1),
            Self::UnsignedMin | Self::And => scalar_text(scalar, ones),
            Self::SignedMin => scalar_text(scalar, ones >> 1),
            Self::SignedMax => scalar_text(scalar, ones & !(ones >> 1)),
            Self::FloatAdd => float_text(scalar, -0.0),
            Self::FloatMultiply => float_text(scalar, 1.0),
            Self::FloatMin => float_text(scalar, f64::INFINITY),
            Self::FloatMax => float_text(scalar, f64::NEG_INFINITY),
        }
    }
}

impl Writer<'_> {
    /// Combines two values.
    pub(super) fn combine(&mut self, operation: Operation, scalar: Scalar, a: &str, b: &str) -> Result<String> {
        let ty = scalar.text();
        let name = match operation {
            Operation::FloatMin | Operation::FloatMax => {
                return self.math_call(operation.name(), scalar, &[a.to_owned(), b.to_owned()]);
            }
            Operation::SignedMin => return Ok(self.pick("slt", ty, a, b)),
            Operation::SignedMax => return Ok(self.pick("sgt", ty, a, b)),
            Operation::UnsignedMin => return Ok(self.pick("ult", ty, a, b)),
            Operation::UnsignedMax => return Ok(self.pick("ugt", ty, a, b)),
            other => other.name(),
        };
        Ok(self.let_temp(format_args!("{name} {ty} {a}, {b}")))
    }

    pub(in super::super) fn pick(&mut self, predicate: &str, ty: &str, a: &str, b: &str) -> String {
        let first = self.let_temp(format_args!("icmp {predicate} {ty} {a}, {b}"));
        self.let_temp(format_args!("select i1 {first}, {ty} {a}, {ty} {b}"))
    }
}
