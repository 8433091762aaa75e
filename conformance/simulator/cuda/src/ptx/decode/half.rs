//! Half precision and bfloat16, alone and in pairs.

use super::*;
use crate::exec::lanes::alu;
use crate::exec::math::half::{Half, pair1, pair2, pair3};
use crate::ptx::builder::TEMP;

/// A function on sixteen-bit floats as an [`AluFn`] for one of the four types.
macro_rules! half_alu {
    ($ty:expr, $h:ident, $a:ident => $e:expr) => {
        match $ty {
            Type::F16 => alu!(x => { let ($h, $a) = (Half::F16, x as u16); u64::from($e) }),
            Type::Bf16 => alu!(x => { let ($h, $a) = (Half::Bf16, x as u16); u64::from($e) }),
            Type::F16x2 => alu!(x => { let $h = Half::F16; pair1(x, |$a| $e) }),
            _ => alu!(x => { let $h = Half::Bf16; pair1(x, |$a| $e) }),
        }
    };
    ($ty:expr, $h:ident, $a:ident, $b:ident => $e:expr) => {
        match $ty {
            Type::F16 => alu!(x, y => { let ($h, $a, $b) = (Half::F16, x as u16, y as u16); u64::from($e) }),
            Type::Bf16 => alu!(x, y => { let ($h, $a, $b) = (Half::Bf16, x as u16, y as u16); u64::from($e) }),
            Type::F16x2 => alu!(x, y => { let $h = Half::F16; pair2(x, y, |$a, $b| $e) }),
            _ => alu!(x, y => { let $h = Half::Bf16; pair2(x, y, |$a, $b| $e) }),
        }
    };
    ($ty:expr, $h:ident, $a:ident, $b:ident, $c:ident => $e:expr) => {
        match $ty {
            Type::F16 => {
                alu!(x, y, z => { let ($h, $a, $b, $c) = (Half::F16, x as u16, y as u16, z as u16); u64::from($e) })
            }
            Type::Bf16 => {
                alu!(x, y, z => { let ($h, $a, $b, $c) = (Half::Bf16, x as u16, y as u16, z as u16); u64::from($e) })
            }
            Type::F16x2 => alu!(x, y, z => { let $h = Half::F16; pair3(x, y, z, |$a, $b, $c| $e) }),
            _ => alu!(x, y, z => { let $h = Half::Bf16; pair3(x, y, z, |$a, $b, $c| $e) }),
        }
    };
}

/// The type that a register of these operands has.
fn emit(i: &mut Instr<'_>, run: AluFn, ty: Type, n: usize, after: [bool; 3]) -> Result<(), LoadError> {
    let [ftz, sat, relu] = after;
    i.arity(n + 1)?;
    let d = i.write(0, ty)?;
    let mut slots = vec![d];
    for k in 1..=n {
        let mut slot = i.read(k, ty)?;
        if ftz {
            let temp = i.b.temp(TEMP + k - 1);
            i.alu(half_alu!(ty, h, a => h.flush(a)), &[temp, slot]);
            slot = temp;
        }
        slots.push(slot);
    }
    i.alu(run, &slots);
    if ftz {
        i.alu(half_alu!(ty, h, a => h.flush(a)), &[d, d]);
    }
    if sat {
        i.alu(half_alu!(ty, h, a => h.saturate(a)), &[d, d]);
    }
    if relu {
        i.alu(half_alu!(ty, h, a => h.relu(a)), &[d, d]);
    }
    Ok(())
}

/// `add`, `sub`, `mul`, `fma`, `min`, `max`, `abs`, `neg`.
pub(super) fn arithmetic(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    let ieee = matches!(ty, Type::F16 | Type::F16x2);
    let computes = matches!(i.base, "add" | "sub" | "mul" | "fma");
    let rounded = computes && i.flag("rn");
    if i.base == "fma" && !rounded {
        return Err(i.unknown());
    }
    let ftz = ieee && i.flag("ftz");
    let sat = ieee && computes && i.flag("sat");
    let relu = i.base == "fma" && i.flag("relu");
    let nan = matches!(i.base, "min" | "max") && i.flag("NaN");
    let (run, n) = match (i.base, nan) {
        ("add", _) => (half_alu!(ty, h, a, b => h.add(a, b)), 2),
        ("sub", _) => (half_alu!(ty, h, a, b => h.sub(a, b)), 2),
        ("mul", _) => (half_alu!(ty, h, a, b => h.mul(a, b)), 2),
        ("fma", _) => (half_alu!(ty, h, a, b, c => h.fma(a, b, c)), 3),
        ("min", false) => (half_alu!(ty, h, a, b => h.min(a, b, false)), 2),
        ("min", true) => (half_alu!(ty, h, a, b => h.min(a, b, true)), 2),
        ("max", false) => (half_alu!(ty, h, a, b => h.max(a, b, false)), 2),
        ("max", true) => (half_alu!(ty, h, a, b => h.max(a, b, true)), 2),
        ("abs", _) => (half_alu!(ty, _h, a => a & 0x7fff), 1),
        ("neg", _) => (half_alu!(ty, _h, a => a ^ 0x8000), 1),
        _ => return Err(i.unknown()),
    };
    emit(i, run, ty, n, [ftz, sat, relu])
}

/// `ex2` and `tanh`.
pub(super) fn function(i: &mut Instr<'_>, ty: Type) -> Result<(), LoadError> {
    if !matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2) || !i.flag("approx") {
        return Err(i.unknown());
    }
    let run = match i.base {
        "ex2" => half_alu!(ty, h, a => h.exp2(a)),
        "tanh" => half_alu!(ty, h, a => h.tanh(a)),
        _ => return Err(i.unknown()),
    };
    // bf16 says .ftz where f16 may: both are flushes of the same kind.
    let ftz = i.base == "ex2" && i.flag("ftz");
    emit(i, run, ty, 1, [ftz, false, false])
}
