//! Functions of one element that libdevice has, by name. Native functions are the fast approximations, half functions the
//! precise ones.

use super::super::types::Scalar;
use super::super::{Target, Writer};
use crate::error::{Error, Result};

/// Functions that libdevice names as OpenCL does, and how many values they take.
const SAME: [(&str, usize); 50] = [
    ("acos", 1),
    ("acosh", 1),
    ("asin", 1),
    ("asinh", 1),
    ("atan", 1),
    ("atan2", 2),
    ("atanh", 1),
    ("cbrt", 1),
    ("ceil", 1),
    ("copysign", 2),
    ("cos", 1),
    ("cosh", 1),
    ("cospi", 1),
    ("erf", 1),
    ("erfc", 1),
    ("exp", 1),
    ("exp10", 1),
    ("exp2", 1),
    ("expm1", 1),
    ("fabs", 1),
    ("fdim", 2),
    ("floor", 1),
    ("fma", 3),
    ("fmax", 2),
    ("fmin", 2),
    ("fmod", 2),
    ("hypot", 2),
    ("lgamma", 1),
    ("log", 1),
    ("log10", 1),
    ("log1p", 1),
    ("log2", 1),
    ("logb", 1),
    ("pow", 2),
    ("remainder", 2),
    ("rint", 1),
    ("round", 1),
    ("rsqrt", 1),
    ("sin", 1),
    ("sinh", 1),
    ("sinpi", 1),
    ("sqrt", 1),
    ("tan", 1),
    ("tanh", 1),
    ("tgamma", 1),
    ("trunc", 1),
    ("erfinv", 1),
    ("erfcinv", 1),
    ("rcbrt", 1),
    ("nextafter", 2),
];

/// Fast approximations that libdevice has for 32 bits.
const FAST: [(&str, &str); 9] = [
    ("sin", "fast_sinf"),
    ("cos", "fast_cosf"),
    ("tan", "fast_tanf"),
    ("exp", "fast_expf"),
    ("exp10", "fast_exp10f"),
    ("log", "fast_logf"),
    ("log2", "fast_log2f"),
    ("log10", "fast_log10f"),
    ("powr", "fast_powf"),
];

/// Whether libdevice has the function for 32 and 64 bits.
pub(super) fn is_device_function(name: &str) -> bool {
    device_function_operands(name).is_some()
}

/// How many operands a function has that libdevice names so.
pub(super) fn device_function_operands(name: &str) -> Option<usize> {
    SAME.iter().find(|(known, _)| *known == name).map(|(_, count)| *count)
}

impl Writer<'_> {
    /// Calls the function of this name in libdevice or OCML.
    pub(in super::super) fn math_call(&mut self, name: &str, scalar: Scalar, values: &[String]) -> Result<String> {
        let ty = scalar.text();
        if name == "fma" && scalar.bits() == 16 {
            return Ok(self.intrinsic("fma", scalar, values));
        }
        if scalar.bits() == 16 {
            let mut wide = Vec::with_capacity(values.len());
            for value in values {
                wide.push(self.let_temp(format_args!("fpext half {value} to float")));
            }
            let result = self.math_call(name, Scalar::Float(32), &wide)?;
            return Ok(self.let_temp(format_args!("fptrunc float {result} to half")));
        }
        match SAME.iter().find(|(known, _)| *known == name) {
            Some((_, count)) if *count == values.len() => {}
            _ => return Err(Error::unsupported("libdevice has no such function of these operands")),
        }
        let full = self.library_function(name, scalar);
        self.declare(&full, ty, &vec![ty; values.len()].join(", "));
        let arguments: Vec<String> = values.iter().map(|value| format!("{ty} {value}")).collect();
        Ok(self.call(ty, &full, &arguments.join(", ")))
    }

    /// The name of a function of single or double precision in the target's library: libdevice or OCML.
    pub(super) fn library_function(&self, name: &str, scalar: Scalar) -> String {
        match (self.target, scalar.bits()) {
            (Target::Amdgcn, bits) => format!("__ocml_{name}_f{bits}"),
            (Target::Nvptx, 32) => format!("__nv_{name}f"),
            (Target::Nvptx, _) => format!("__nv_{name}"),
        }
    }

    /// `llvm.NAME` of this type.
    pub(super) fn intrinsic(&mut self, name: &str, scalar: Scalar, values: &[String]) -> String {
        let (ty, full) = (scalar.text(), format!("llvm.{name}.f{}", scalar.bits()));
        self.declare(&full, ty, &vec![ty; values.len()].join(", "));
        let arguments: Vec<String> = values.iter().map(|value| format!("{ty} {value}")).collect();
        self.call(ty, &full, &arguments.join(", "))
    }

    /// A function of floating-point values. `from` is the operands' type, `to` the result's.
    pub(in super::super) fn float_function(
        &mut self,
        name: &str,
        from: Scalar,
        to: Scalar,
        values: &[String],
    ) -> Result<String> {
        if let Some(base) = name.strip_prefix("native_") {
            return self.native_function(base, from, values);
        }
        let name = name.strip_prefix("half_").unwrap_or(name);
        match name {
            "mad" => self.math_call("fma", from, values),
            // Numbers of half precision next to each other are not next to each other in single.
            "nextafter" if from.bits() == 16 => Ok(self.next_half(&values[0], &values[1])),
            "ilogb" => {
                // OpenCL's headers say INT_MAX for what is no number, libdevice INT_MIN.
                let exponent = self.with_integer_result("ilogb", from, &values[0])?;
                let (ty, x) = (from.text(), &values[0]);
                let unordered = self.let_temp(format_args!("fcmp uno {ty} {x}, {x}"));
                Ok(self.let_temp(format_args!("select i1 {unordered}, i32 {}, i32 {exponent}", i32::MAX)))
            }
            "ldexp" => self.load_exponent(from, values),
            _ if is_device_function(name) => self.math_call(name, from, values),
            "divide" => Ok(self.let_temp(format_args!("fdiv {} {}, {}", from.text(), values[0], values[1]))),
            "recip" => Ok(self.let_temp(format_args!(
                "fdiv {} {}, {}",
                from.text(),
                super::super::constants::float_text(from, 1.0),
                values[0]
            ))),
            _ => self.written_out(name, from, to, values),
        }
    }

    fn native_function(&mut self, name: &str, scalar: Scalar, values: &[String]) -> Result<String> {
        if self.target == Target::Amdgcn {
            return self.amdgcn_native(name, scalar, values);
        }
        let ty = scalar.text();
        match (name, scalar.bits()) {
            (_, 32) if FAST.iter().any(|fast| fast.0 == name) => {
                let fast = FAST.iter().find(|fast| fast.0 == name).map_or("", |fast| fast.1);
                let full = format!("__nv_{fast}");
                self.declare(&full, ty, &vec![ty; values.len()].join(", "));
                let arguments: Vec<String> = values.iter().map(|value| format!("float {value}")).collect();
                Ok(self.call(ty, &full, &arguments.join(", ")))
            }
            ("divide", 32) => {
                self.declare("__nv_fast_fdividef", ty, "float, float");
                Ok(self.call(ty, "__nv_fast_fdividef", &format!("float {}, float {}", values[0], values[1])))
            }
            _ => self.float_function(name, scalar, scalar, values),
        }
    }

    /// A function of libdevice whose result is 32 bits.
    fn with_integer_result(&mut self, name: &str, scalar: Scalar, value: &str) -> Result<String> {
        let (value, scalar) = self.at_least_single(scalar, value);
        let full = self.library_function(name, scalar);
        self.declare(&full, "i32", scalar.text());
        Ok(self.call("i32", &full, &format!("{} {value}", scalar.text())))
    }

    /// The value, in single precision if it is half.
    pub(super) fn at_least_single(&mut self, scalar: Scalar, value: &str) -> (String, Scalar) {
        match scalar.bits() {
            16 => (self.let_temp(format_args!("fpext half {value} to float")), Scalar::Float(32)),
            _ => (value.to_owned(), scalar),
        }
    }

    fn load_exponent(&mut self, scalar: Scalar, values: &[String]) -> Result<String> {
        let (value, wide) = self.at_least_single(scalar, &values[0]);
        let full = self.library_function("ldexp", wide);
        let ty = wide.text();
        self.declare(&full, ty, &format!("{ty}, i32"));
        let result = self.call(ty, &full, &format!("{ty} {value}, i32 {}", values[1]));
        Ok(self.back_to(scalar, &result))
    }

    /// A value of single precision as `scalar`.
    pub(super) fn back_to(&mut self, scalar: Scalar, value: &str) -> String {
        match scalar.bits() {
            16 => self.let_temp(format_args!("fptrunc float {value} to half")),
            _ => value.to_owned(),
        }
    }

    /// The number of half precision next to `x` towards `y`, from its bits. Exact.
    fn next_half(&mut self, x: &str, y: &str) -> String {
        let bits = self.let_temp(format_args!("bitcast half {x} to i16"));
        let negative = self.let_temp(format_args!("icmp slt i16 {bits}, 0"));
        let below = self.let_temp(format_args!("fcmp olt half {x}, {y}"));
        // Away from zero the bits count up, towards it down.
        let outwards = self.let_temp(format_args!("xor i1 {below}, {negative}"));
        let step = self.let_temp(format_args!("select i1 {outwards}, i16 1, i16 -1"));
        let moved = self.let_temp(format_args!("add i16 {bits}, {step}"));
        let zero = self.let_temp(format_args!("fcmp oeq half {x}, 0xH0000"));
        let smallest = self.let_temp(format_args!("select i1 {below}, i16 1, i16 -32767"));
        let moved = self.let_temp(format_args!("select i1 {zero}, i16 {smallest}, i16 {moved}"));
        let moved = self.let_temp(format_args!("bitcast i16 {moved} to half"));
        let equal = self.let_temp(format_args!("fcmp oeq half {x}, {y}"));
        let result = self.let_temp(format_args!("select i1 {equal}, half {y}, half {moved}"));
        let unordered = self.let_temp(format_args!("fcmp uno half {x}, {y}"));
        let sum = self.let_temp(format_args!("fadd half {x}, {y}"));
        self.let_temp(format_args!("select i1 {unordered}, half {sum}, half {result}"))
    }
}
