//! Intrinsics of LLVM that a translator to SPIR-V left as imports: integers that saturate, overflow or turn, floating-point
//! functions, and what only tells the compiler something.

use super::super::instruction::Inst;
use super::super::types::Scalar;
use super::super::{Target, Writer};
use super::float::device_function_operands;
use crate::error::{Error, Result};
use crate::model::Id;

/// Integer functions: LLVM's name, OpenCL's, and how many operands it takes of those that LLVM gives.
const INTEGER: [(&str, &str, usize); 12] = [
    ("usub.sat", "u_sub_sat", 2),
    ("uadd.sat", "u_add_sat", 2),
    ("ssub.sat", "s_sub_sat", 2),
    ("sadd.sat", "s_add_sat", 2),
    ("umin", "u_min", 2),
    ("umax", "u_max", 2),
    ("smin", "s_min", 2),
    ("smax", "s_max", 2),
    ("ctpop", "popcount", 1),
    ("abs", "s_abs", 1),
    ("ctlz", "clz", 1),
    ("cttz", "ctz", 1),
];

/// Floating-point functions whose names differ from libdevice's.
const FLOAT: [(&str, &str); 6] = [
    ("minnum", "fmin"),
    ("maxnum", "fmax"),
    ("nearbyint", "rint"),
    ("roundeven", "rint"),
    ("fmuladd", "fma"),
    ("powi", "pown"),
];

/// What tells the compiler something and does nothing.
const HINTS: [&str; 7] =
    ["lifetime.start", "lifetime.end", "invariant.start", "invariant.end", "dbg", "experimental.noalias", "donothing"];

impl<'m> Writer<'m> {
    /// A call of `llvm.NAME`; false if nothing is known of it.
    pub(super) fn intrinsic_import(&mut self, inst: Inst<'m>, name: &str, operands: &'m [Id]) -> Result<bool> {
        if HINTS.iter().any(|hint| name.strip_prefix(hint).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
        {
            return Ok(true);
        }
        if matches!(name, "trap" | "debugtrap") {
            self.trap();
            return Ok(true);
        }
        if name == "assume" {
            let value = self.value(*operands.first().ok_or_else(|| missing(name))?)?;
            self.declare("llvm.assume", "void", "i1");
            self.put(format_args!("call void @llvm.assume(i1 {value})"));
            return Ok(true);
        }
        let Some((base, _)) = name.rsplit_once('.') else {
            return Ok(false);
        };
        if let Some(kind) = base.strip_suffix(".with.overflow") {
            return self.overflow(inst, kind, operands);
        }
        let Ok((scalar, _)) = self.shape(inst.ty()?) else {
            return Ok(false);
        };
        if base == "is.fpclass" {
            return self.class_test(inst, operands);
        }
        match scalar {
            Scalar::Int(_) => self.integer_intrinsic(inst, base, scalar, operands),
            Scalar::Float(_) => self.float_intrinsic(inst, base, scalar, operands),
            Scalar::Bool => Ok(false),
        }
    }

    /// Ends the kernel.
    pub(super) fn trap(&mut self) {
        match self.target {
            Target::Nvptx => self.put(format_args!("call void asm sideeffect \"trap;\", \"~{{memory}}\"() #3")),
            Target::Amdgcn => {
                self.declare("llvm.trap", "void", "");
                self.put(format_args!("call void @llvm.trap()"));
            }
        }
    }

    fn integer_intrinsic(&mut self, inst: Inst<'m>, name: &str, scalar: Scalar, operands: &'m [Id]) -> Result<bool> {
        let taken = |count: usize| operands.get(..count).ok_or_else(|| missing(name));
        if let Some(&(_, function, count)) = INTEGER.iter().find(|row| row.0 == name) {
            let operands = taken(count)?;
            self.set_per_element(inst, operands, |writer, values| writer.integer_function(function, scalar, values))?;
            return Ok(true);
        }
        match name {
            "bswap" | "bitreverse" => {
                let full = format!("llvm.{name}");
                self.set_per_element(inst, taken(1)?, |w, values| Ok(w.count_bits(&full, "", scalar, &values[0])))?;
            }
            "fshl" | "fshr" => {
                let left = name == "fshl";
                self.set_per_element(inst, taken(3)?, |writer, values| Ok(writer.funnel_shift(left, scalar, values)))?;
            }
            "expect" => self.copy_of(inst, taken(1)?[0])?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The upper (or lower) half of two numbers side by side, shifted left (or right).
    fn funnel_shift(&mut self, left: bool, scalar: Scalar, values: &[String]) -> String {
        let (ty, last) = (scalar.text(), scalar.bits() - 1);
        let by = self.let_temp(format_args!("and {ty} {}, {last}", values[2]));
        let rest = self.let_temp(format_args!("xor {ty} {by}, {last}"));
        // The other number moves by one and then by the rest, so that a shift by nothing leaves none of it.
        let (kept, other, forth, back) =
            if left { (&values[0], &values[1], "shl", "lshr") } else { (&values[1], &values[0], "lshr", "shl") };
        let kept = self.let_temp(format_args!("{forth} {ty} {kept}, {by}"));
        let other = self.let_temp(format_args!("{back} {ty} {other}, 1"));
        let other = self.let_temp(format_args!("{back} {ty} {other}, {rest}"));
        self.let_temp(format_args!("or {ty} {kept}, {other}"))
    }

    /// A sum, difference or product, and whether it fits.
    fn overflow(&mut self, inst: Inst<'m>, kind: &str, operands: &'m [Id]) -> Result<bool> {
        let part = self.part_type(inst.ty()?, 0)?;
        let (Ok((scalar @ Scalar::Int(_), 1)), &[a, b, ..]) = (self.shape(part), operands) else {
            return Ok(false);
        };
        let (a, b) = (self.value(a)?.to_string(), self.value(b)?.to_string());
        let ty = scalar.text();
        let (sign, name) = match kind {
            "uadd" | "sadd" => (&kind[..1], "add"),
            "usub" | "ssub" => (&kind[..1], "sub"),
            "umul" | "smul" => (&kind[..1], "mul"),
            _ => return Ok(false),
        };
        let value = self.let_temp(format_args!("{name} {ty} {a}, {b}"));
        let over = match (sign, name) {
            ("u", "add") => self.let_temp(format_args!("icmp ult {ty} {value}, {a}")),
            ("u", "sub") => self.let_temp(format_args!("icmp ult {ty} {a}, {b}")),
            (_, "mul") => {
                let signed = sign == "s";
                let high = self.high_product(signed, scalar, &a, &b);
                let fits = match signed {
                    true => self.let_temp(format_args!("ashr {ty} {value}, {}", scalar.bits() - 1)),
                    false => "0".to_owned(),
                };
                self.let_temp(format_args!("icmp ne {ty} {high}, {fits}"))
            }
            // Both operands differ from a sum in sign; of a difference the second differs from the first.
            (_, name) => {
                let first = self.let_temp(format_args!("xor {ty} {a}, {value}"));
                let other = if name == "add" { &value } else { &a };
                let second = self.let_temp(format_args!("xor {ty} {b}, {other}"));
                let both = self.let_temp(format_args!("and {ty} {first}, {second}"));
                self.let_temp(format_args!("icmp slt {ty} {both}, 0"))
            }
        };
        let text = self.type_text(inst.ty()?)?;
        let half = self.let_temp(format_args!("insertvalue {text} undef, {ty} {value}, 0"));
        self.set(inst.result()?, format_args!("insertvalue {text} {half}, i1 {over}, 1"));
        Ok(true)
    }

    /// Whether a number is of one of the classes that a mask names: signalling and quiet NaN, then from minus to plus infinity.
    fn class_test(&mut self, inst: Inst<'m>, operands: &'m [Id]) -> Result<bool> {
        let &[number, _] = operands else {
            return Err(missing("is.fpclass"));
        };
        let (scalar @ Scalar::Float(bits), _) = self.shape(self.module.type_of(number)?)? else {
            return Ok(false);
        };
        let (infinity, smallest, quiet): (u64, u64, u64) = match bits {
            16 => (0x7c00, 0x0400, 0x7e00),
            32 => (0x7f80_0000, 0x0080_0000, 0x7fc0_0000),
            _ => (0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000, 0x7ff8_0000_0000_0000),
        };
        let (ty, int) = (scalar.text(), scalar.integer().text());
        let magnitude = (1u64 << (bits - 1)) - 1;
        self.set_per_element(inst, operands, |writer, values| {
            let raw = writer.let_temp(format_args!("bitcast {ty} {} to {int}", values[0]));
            let size = writer.let_temp(format_args!("and {int} {raw}, {magnitude}"));
            let negative = writer.let_temp(format_args!("icmp slt {int} {raw}, 0"));
            let mut class = writer.let_temp(format_args!("select i1 {negative}, i32 4, i32 512"));
            // The classes of finite numbers, each below the one before.
            let finite = [(infinity, 8, 256), (smallest, 16, 128), (1, 32, 64)];
            for (limit, minus, plus) in finite {
                let below = writer.let_temp(format_args!("icmp ult {int} {size}, {limit}"));
                let inner = writer.let_temp(format_args!("select i1 {negative}, i32 {minus}, i32 {plus}"));
                class = writer.let_temp(format_args!("select i1 {below}, i32 {inner}, i32 {class}"));
            }
            let is_quiet = writer.let_temp(format_args!("icmp uge {int} {size}, {quiet}"));
            let nan = writer.let_temp(format_args!("select i1 {is_quiet}, i32 2, i32 1"));
            let unordered = writer.let_temp(format_args!("icmp ugt {int} {size}, {infinity}"));
            class = writer.let_temp(format_args!("select i1 {unordered}, i32 {nan}, i32 {class}"));
            let wanted = writer.let_temp(format_args!("and i32 {class}, {}", values[1]));
            Ok(writer.let_temp(format_args!("icmp ne i32 {wanted}, 0")))
        })?;
        Ok(true)
    }

    fn float_intrinsic(&mut self, inst: Inst<'m>, name: &str, scalar: Scalar, operands: &'m [Id]) -> Result<bool> {
        let name = FLOAT.iter().find(|row| row.0 == name).map_or(name, |row| row.1);
        let wanted = if name == "pown" { Some(2) } else { device_function_operands(name) };
        match wanted {
            None => return Ok(false),
            Some(count) if count != operands.len() => return Err(missing(name)),
            Some(_) => {}
        }
        self.set_per_element(inst, operands, |writer, values| writer.float_function(name, scalar, scalar, values))?;
        Ok(true)
    }
}

fn missing(name: &str) -> Error {
    Error::malformed(format!("llvm.{name} lacks an operand"))
}
