//! Geometry of vectors. A length is the root of the sum of squares, which have room whatever the elements are: those of half precision
//! in single, others of a vector that is scaled by a power of two; 2 ulp. The `fast_` functions do not scale, as OpenCL lets them.

use super::super::Writer;
use super::super::constants::float_text;
use super::super::instruction::Inst;
use super::super::types::Scalar;
use crate::error::{Error, Result};
use crate::grammar::op;
use crate::model::Id;

/// What a vector is multiplied by before its squares are summed, and its length after that.
struct Scale {
    down: String,
    up: String,
}

impl<'m> Writer<'m> {
    pub(super) fn geometric(&mut self, inst: Inst<'m>, name: &str, operands: &'m [Id]) -> Result<()> {
        let (scalar, count) = self.shape(self.module.type_of(operands[0])?)?;
        if !matches!(scalar, Scalar::Float(_)) {
            return Err(Error::malformed("vectors of floating-point numbers are wanted"));
        }
        let mut values = Vec::new();
        for &operand in operands {
            values.push(self.value(operand)?.to_string());
        }
        let result = match name {
            "cross" => self.cross(scalar, count, &values[0], &values[1])?,
            _ => self.with_room(name, scalar, count, values)?,
        };
        let text = self.type_text(inst.ty()?)?;
        self.alias(inst.result()?, &text, &result);
        Ok(())
    }

    /// Lengths and directions, computed where the squares of the elements have room.
    fn with_room(&mut self, name: &str, scalar: Scalar, count: u32, mut values: Vec<String>) -> Result<String> {
        let (name, fast) = name.strip_prefix("fast_").map_or((name, false), |name| (name, true));
        let half = scalar.bits() == 16;
        let wide = if half { Scalar::Float(32) } else { scalar };
        let (narrow_text, text) = (Self::shaped(scalar, count), Self::shaped(wide, count));
        if half {
            for value in &mut values {
                *value = self.let_temp(format_args!("fpext {narrow_text} {value} to {text}"));
            }
        }
        if name == "distance" {
            values[0] = self.let_temp(format_args!("fsub {text} {}, {}", values[0], values[1]));
        }
        if name == "normalize" && !fast {
            values[0] = self.without_infinities(wide, count, &values[0])?;
        }
        let scale = if half || fast { None } else { Some(self.scale(wide, count, &values[0])) };
        let vector = match &scale {
            Some(scale) => self.times(wide, count, &values[0], &scale.down),
            None => values[0].clone(),
        };
        let square = self.dot_of(wide, count, &vector, &vector);
        let length = self.math_call("sqrt", wide, &[square])?;
        let (result, result_count) = match (name, scale) {
            ("normalize", _) => (self.divided(wide, count, &vector, &length), count),
            (_, Some(scale)) => (self.times(wide, 1, &length, &scale.up), 1),
            (_, None) => (length, 1),
        };
        if half {
            let (from, to) = (Self::shaped(wide, result_count), Self::shaped(scalar, result_count));
            return Ok(self.let_temp(format_args!("fptrunc {from} {result} to {to}")));
        }
        Ok(result)
    }

    /// The vector whose direction one with infinite elements has: as OpenCL's conformance suite wants it, 1 with the sign of such an
    /// element, and 0 times any other. Without infinite elements, the vector.
    fn without_infinities(&mut self, scalar: Scalar, count: u32, vector: &str) -> Result<String> {
        let (ty, text, one) = (scalar.text(), Self::shaped(scalar, count), float_text(scalar, 1.0));
        let (mut any, mut direction) = ("false".to_owned(), "undef".to_owned());
        for at in 0..count {
            let element = self.element(scalar, count, vector, at);
            let infinite = self.class_of(op::IS_INF, scalar, &element);
            any = self.let_temp(format_args!("or i1 {any}, {infinite}"));
            // NaN stays NaN, and makes the length so.
            let zero = self.let_temp(format_args!("fmul {ty} {element}, 0.0"));
            let signed = self.math_call("copysign", scalar, &[one.clone(), element])?;
            let part = self.let_temp(format_args!("select i1 {infinite}, {ty} {signed}, {ty} {zero}"));
            direction = match count {
                1 => part,
                _ => self.let_temp(format_args!("insertelement {text} {direction}, {ty} {part}, i32 {at}")),
            };
        }
        Ok(self.let_temp(format_args!("select i1 {any}, {text} {direction}, {text} {vector}")))
    }

    /// Powers of two that take the largest element near 1, and back. Of elements whose squares vanish then nothing is left in the sum.
    fn scale(&mut self, scalar: Scalar, count: u32, vector: &str) -> Scale {
        let (ty, int) = (scalar.text(), scalar.integer().text());
        // In the word with the exponent: the bits below that, and the exponent of 1.
        let (low_bits, one) = if scalar.bits() == 64 { (20, 1023) } else { (23, 127) };
        let mut largest = String::new();
        for at in 0..count {
            let element = self.element(scalar, count, vector, at);
            let mut word = self.let_temp(format_args!("bitcast {ty} {element} to {int}"));
            if scalar.bits() == 64 {
                word = self.let_temp(format_args!("lshr i64 {word}, 32"));
                word = self.let_temp(format_args!("trunc i64 {word} to i32"));
            }
            let exponent = self.let_temp(format_args!("and i32 {word}, {}", (2 * one + 1) << low_bits));
            largest = if at == 0 { exponent } else { self.pick("sgt", "i32", &exponent, &largest) };
        }
        // Both powers are normal numbers; beyond them the squares of what is left still have room.
        let largest = self.pick("sgt", "i32", &largest, &(1 << low_bits).to_string());
        let largest = self.pick("slt", "i32", &largest, &((2 * one - 2) << low_bits).to_string());
        let down = self.let_temp(format_args!("sub i32 {}, {largest}", (2 * one) << low_bits));
        let [down, up] = [down, largest].map(|mut word| {
            if scalar.bits() == 64 {
                word = self.let_temp(format_args!("zext i32 {word} to i64"));
                word = self.let_temp(format_args!("shl i64 {word}, 32"));
            }
            self.let_temp(format_args!("bitcast {int} {word} to {ty}"))
        });
        Scale { down, up }
    }

    /// An element of a vector, or the number that stands for one.
    fn element(&mut self, scalar: Scalar, count: u32, vector: &str, at: u32) -> String {
        match count {
            1 => vector.to_owned(),
            _ => self.let_temp(format_args!("extractelement {} {vector}, i32 {at}", Self::shaped(scalar, count))),
        }
    }

    /// Each element times a number.
    fn times(&mut self, scalar: Scalar, count: u32, vector: &str, factor: &str) -> String {
        self.with_each(scalar, count, vector, ("fmul", factor))
    }

    /// A vector divided by its length; if that is zero, itself.
    fn divided(&mut self, scalar: Scalar, count: u32, vector: &str, length: &str) -> String {
        let (ty, text) = (scalar.text(), Self::shaped(scalar, count));
        let zero = self.let_temp(format_args!("fcmp oeq {ty} {length}, 0.0"));
        let unit = self.with_each(scalar, count, vector, ("fdiv", length));
        self.let_temp(format_args!("select i1 {zero}, {text} {vector}, {text} {unit}"))
    }

    /// An operation of each element and the same number.
    fn with_each(&mut self, scalar: Scalar, count: u32, vector: &str, (operation, with): (&str, &str)) -> String {
        let (ty, text) = (scalar.text(), Self::shaped(scalar, count));
        if count == 1 {
            return self.let_temp(format_args!("{operation} {ty} {vector}, {with}"));
        }
        let mut made = "undef".to_owned();
        for at in 0..count {
            let part = self.let_temp(format_args!("extractelement {text} {vector}, i32 {at}"));
            let part = self.let_temp(format_args!("{operation} {ty} {part}, {with}"));
            made = self.let_temp(format_args!("insertelement {text} {made}, {ty} {part}, i32 {at}"));
        }
        made
    }

    fn cross(&mut self, scalar: Scalar, count: u32, a: &str, b: &str) -> Result<String> {
        if !matches!(count, 3 | 4) {
            return Err(Error::malformed("a cross product of vectors of three or four"));
        }
        let (ty, text) = (scalar.text(), Self::shaped(scalar, count));
        let mut parts = Vec::new();
        for vector in [a, b] {
            for at in 0..3 {
                parts.push(self.let_temp(format_args!("extractelement {text} {vector}, i32 {at}")));
            }
        }
        let mut result = "zeroinitializer".to_owned();
        for at in 0..3 {
            let (next, after) = ((at + 1) % 3, (at + 2) % 3);
            let plus = self.let_temp(format_args!("fmul {ty} {}, {}", parts[next], parts[3 + after]));
            let minus = self.let_temp(format_args!("fmul {ty} {}, {}", parts[after], parts[3 + next]));
            let part = self.let_temp(format_args!("fsub {ty} {plus}, {minus}"));
            result = self.let_temp(format_args!("insertelement {text} {result}, {ty} {part}, i32 {at}"));
        }
        Ok(result)
    }

    /// `shuffle` and `shuffle2`: elements by numbers that are known when the kernel runs.
    pub(super) fn dynamic_shuffle(&mut self, inst: Inst<'m>, operands: &'m [Id]) -> Result<()> {
        let from = self.module.type_of(operands[0])?;
        let (length, text) = (self.shape(from)?.1, self.type_text(from)?);
        let mask_id = operands[operands.len() - 1];
        let mask_type = self.module.type_of(mask_id)?;
        let (mask_scalar, mask_text, mask) =
            (self.shape(mask_type)?.0, self.type_text(mask_type)?, self.value(mask_id)?);
        let (scalar, count) = self.shape(inst.ty()?)?;
        let ty = scalar.text();
        let result_text = self.type_text(inst.ty()?)?;
        let first = self.value(operands[0])?;
        let second = if operands.len() == 3 { Some(self.value(operands[1])?) } else { None };
        let mut result = "undef".to_owned();
        for at in 0..count {
            let pick = self.let_temp(format_args!("extractelement {mask_text} {mask}, i32 {at}"));
            let pick = self.resize(&pick, mask_scalar.bits(), 32);
            let index = self.let_temp(format_args!("and i32 {pick}, {}", length - 1));
            let mut value = self.let_temp(format_args!("extractelement {text} {first}, i32 {index}"));
            if let Some(second) = &second {
                let other = self.let_temp(format_args!("extractelement {text} {second}, i32 {index}"));
                let bit = self.let_temp(format_args!("and i32 {pick}, {length}"));
                let is_other = self.let_temp(format_args!("icmp ne i32 {bit}, 0"));
                value = self.let_temp(format_args!("select i1 {is_other}, {ty} {other}, {ty} {value}"));
            }
            result = self.let_temp(format_args!("insertelement {result_text} {result}, {ty} {value}, i32 {at}"));
        }
        self.alias(inst.result()?, &result_text, &result);
        Ok(())
    }
}
