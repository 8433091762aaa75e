//! Scalar functions lifted to 32 lanes.
//!
//! The macros turn an expression over the raw 64-bit values of its operands into a plain function pointer, one
//! loop over the lanes inside, which the compiler vectorises. All lanes are computed and the masked ones kept:
//! the expressions must not trap or panic for any input.

use super::op::{LANES, Lanes, Slot};

/// Writes the lanes of `mask`.
#[inline(always)]
pub(crate) fn keep(regs: &mut [Lanes], to: Slot, value: &Lanes, mask: u32) {
    let to = &mut regs[to as usize];
    if mask == u32::MAX {
        *to = *value;
    } else {
        for lane in 0..LANES {
            if mask >> lane & 1 != 0 {
                to[lane] = value[lane];
            }
        }
    }
}

#[inline(always)]
pub(crate) fn lanes1(regs: &mut [Lanes], s: &[Slot; 6], mask: u32, f: impl Fn(u64) -> u64) {
    let mut out = [0; LANES];
    let a = &regs[s[1] as usize];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    keep(regs, s[0], &out, mask);
}

#[inline(always)]
pub(crate) fn lanes2(regs: &mut [Lanes], s: &[Slot; 6], mask: u32, f: impl Fn(u64, u64) -> u64) {
    let mut out = [0; LANES];
    let (a, b) = (&regs[s[1] as usize], &regs[s[2] as usize]);
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    keep(regs, s[0], &out, mask);
}

#[inline(always)]
pub(crate) fn lanes3(regs: &mut [Lanes], s: &[Slot; 6], mask: u32, f: impl Fn(u64, u64, u64) -> u64) {
    let mut out = [0; LANES];
    let (a, b, c) = (&regs[s[1] as usize], &regs[s[2] as usize], &regs[s[3] as usize]);
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    keep(regs, s[0], &out, mask);
}

#[inline(always)]
pub(crate) fn lanes4(regs: &mut [Lanes], s: &[Slot; 6], mask: u32, f: impl Fn(u64, u64, u64, u64) -> u64) {
    let mut out = [0; LANES];
    let (a, b) = (&regs[s[1] as usize], &regs[s[2] as usize]);
    let (c, d) = (&regs[s[3] as usize], &regs[s[4] as usize]);
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane], d[lane]);
    }
    keep(regs, s[0], &out, mask);
}

/// Three operands and a carry in the last slot, which is both read and written.
#[inline(always)]
pub(crate) fn lanes_carry(regs: &mut [Lanes], s: &[Slot; 6], mask: u32, f: impl Fn(u64, u64, u64, u64) -> (u64, u64)) {
    let mut out = [0; LANES];
    let mut carry = regs[s[4] as usize];
    let (a, b, c) = (&regs[s[1] as usize], &regs[s[2] as usize], &regs[s[3] as usize]);
    for lane in 0..LANES {
        let (value, next) = f(a[lane], b[lane], c[lane], carry[lane]);
        out[lane] = value;
        carry[lane] = next;
    }
    keep(regs, s[0], &out, mask);
    keep(regs, s[4], &carry, mask);
}

#[inline(always)]
pub(crate) fn lanes_compare(regs: &[Lanes], a: Slot, b: Slot, f: impl Fn(u64, u64) -> bool) -> u32 {
    let (a, b) = (&regs[a as usize], &regs[b as usize]);
    let mut out = 0;
    for lane in 0..LANES {
        out |= u32::from(f(a[lane], b[lane])) << lane;
    }
    out
}

/// An [`AluFn`](super::op::AluFn) of one to four operands: `alu!(a, b => expression)`.
macro_rules! alu {
    ($a:ident => $e:expr) => {{
        fn run(regs: &mut [$crate::exec::op::Lanes], s: &[u32; 6], mask: u32) {
            $crate::exec::lanes::lanes1(regs, s, mask, |$a| $e)
        }
        run as $crate::exec::op::AluFn
    }};
    ($a:ident, $b:ident => $e:expr) => {{
        fn run(regs: &mut [$crate::exec::op::Lanes], s: &[u32; 6], mask: u32) {
            $crate::exec::lanes::lanes2(regs, s, mask, |$a, $b| $e)
        }
        run as $crate::exec::op::AluFn
    }};
    ($a:ident, $b:ident, $c:ident => $e:expr) => {{
        fn run(regs: &mut [$crate::exec::op::Lanes], s: &[u32; 6], mask: u32) {
            $crate::exec::lanes::lanes3(regs, s, mask, |$a, $b, $c| $e)
        }
        run as $crate::exec::op::AluFn
    }};
    ($a:ident, $b:ident, $c:ident, $d:ident => $e:expr) => {{
        fn run(regs: &mut [$crate::exec::op::Lanes], s: &[u32; 6], mask: u32) {
            $crate::exec::lanes::lanes4(regs, s, mask, |$a, $b, $c, $d| $e)
        }
        run as $crate::exec::op::AluFn
    }};
}

/// An [`AluFn`](super::op::AluFn) that also reads and writes the carry: `alu_carry!(a, b, c, carry => (value, carry))`.
macro_rules! alu_carry {
    ($a:ident, $b:ident, $c:ident, $cc:ident => $e:expr) => {{
        fn run(regs: &mut [$crate::exec::op::Lanes], s: &[u32; 6], mask: u32) {
            $crate::exec::lanes::lanes_carry(regs, s, mask, |$a, $b, $c, $cc| $e)
        }
        run as $crate::exec::op::AluFn
    }};
}

/// A [`CompareFn`](super::op::CompareFn).
macro_rules! compare {
    ($a:ident, $b:ident => $e:expr) => {{
        fn run(regs: &[$crate::exec::op::Lanes], a: u32, b: u32) -> u32 {
            $crate::exec::lanes::lanes_compare(regs, a, b, |$a, $b| $e)
        }
        run as $crate::exec::op::CompareFn
    }};
}

pub(crate) use {alu, alu_carry, compare};
