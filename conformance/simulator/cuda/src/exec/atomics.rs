//! Read-modify-write operations on memory that other threads and the host touch too.
//!
//! All are sequentially consistent host atomics, stronger than any order PTX can ask for.

use super::math::half::Half;
use super::op::AtomicFn;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Add,
    Inc,
    Dec,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareSwap,
}

/// What it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    U32,
    S32,
    B32,
    U64,
    S64,
    B64,
    B16,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

/// An atomic update by a function of the old value and the operand.
macro_rules! update {
    ($atomic:ty, $int:ty, $old:ident, $b:ident => $e:expr) => {{
        // SAFETY: callers pass an aligned address that the launch may write for as long as it runs.
        unsafe fn run(address: *mut u8, b: u64, _: u64) -> u64 {
            // SAFETY: as promised by the caller; the width of the instruction is that of the atomic.
            let cell = unsafe { <$atomic>::from_ptr(address.cast()) };
            let $b = b as $int;
            let mut $old = cell.load(SeqCst);
            loop {
                let new: $int = $e;
                match cell.compare_exchange_weak($old, new, SeqCst, SeqCst) {
                    Ok(old) => return old as u64,
                    Err(now) => $old = now,
                }
            }
        }
        run as AtomicFn
    }};
}

/// An atomic method of the host.
macro_rules! method {
    ($atomic:ty, $int:ty, $method:ident) => {{
        // SAFETY: callers pass an aligned address that the launch may write for as long as it runs.
        unsafe fn run(address: *mut u8, b: u64, _: u64) -> u64 {
            // SAFETY: as promised by the caller; the width of the instruction is that of the atomic.
            let cell = unsafe { <$atomic>::from_ptr(address.cast()) };
            cell.$method(b as $int, SeqCst) as u64
        }
        run as AtomicFn
    }};
}

macro_rules! compare_swap {
    ($atomic:ty, $int:ty) => {{
        // SAFETY: callers pass an aligned address that the launch may write for as long as it runs.
        unsafe fn run(address: *mut u8, b: u64, c: u64) -> u64 {
            // SAFETY: as promised by the caller; the width of the instruction is that of the atomic.
            let cell = unsafe { <$atomic>::from_ptr(address.cast()) };
            match cell.compare_exchange(b as $int, c as $int, SeqCst, SeqCst) {
                Ok(old) | Err(old) => old as u64,
            }
        }
        run as AtomicFn
    }};
}

macro_rules! integers {
    ($kind:expr, $atomic:ty, $u:ty, $s:ty, $signed:expr) => {
        match $kind {
            Kind::Add => Some(method!($atomic, $u, fetch_add)),
            Kind::Min if $signed => Some(update!($atomic, $u, old, b => (old as $s).min(b as $s) as $u)),
            Kind::Max if $signed => Some(update!($atomic, $u, old, b => (old as $s).max(b as $s) as $u)),
            Kind::Min => Some(method!($atomic, $u, fetch_min)),
            Kind::Max => Some(method!($atomic, $u, fetch_max)),
            _ => None,
        }
    };
}

macro_rules! bits {
    ($kind:expr, $atomic:ty, $u:ty) => {
        match $kind {
            Kind::And => Some(method!($atomic, $u, fetch_and)),
            Kind::Or => Some(method!($atomic, $u, fetch_or)),
            Kind::Xor => Some(method!($atomic, $u, fetch_xor)),
            Kind::Exchange => Some(method!($atomic, $u, swap)),
            Kind::CompareSwap => Some(compare_swap!($atomic, $u)),
            _ => None,
        }
    };
}

/// Both halves of a pair, by a function of sixteen-bit floats.
fn pair(old: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    super::math::half::pair2(old.into(), b.into(), f) as u32
}

macro_rules! halves {
    ($kind:expr, $half:expr) => {
        match $kind {
            Kind::Add => Some(update!(AtomicU16, u16, old, b => $half.add(old, b))),
            Kind::Min => Some(update!(AtomicU16, u16, old, b => $half.min(old, b, false))),
            Kind::Max => Some(update!(AtomicU16, u16, old, b => $half.max(old, b, false))),
            _ => None,
        }
    };
    (pairs $kind:expr, $half:expr) => {
        match $kind {
            Kind::Add => Some(update!(AtomicU32, u32, old, b => pair(old, b, |x, y| $half.add(x, y)))),
            Kind::Min => Some(update!(AtomicU32, u32, old, b => pair(old, b, |x, y| $half.min(x, y, false)))),
            Kind::Max => Some(update!(AtomicU32, u32, old, b => pair(old, b, |x, y| $half.max(x, y, false)))),
            _ => None,
        }
    };
}

/// The function of an operation on a type, if PTX has it.
pub(crate) fn function(kind: Kind, value: Value) -> Option<AtomicFn> {
    match (value, kind) {
        (Value::U32, Kind::Inc) => Some(update!(AtomicU32, u32, old, b => if old >= b { 0 } else { old + 1 })),
        (Value::U32, Kind::Dec) => {
            Some(update!(AtomicU32, u32, old, b => if old == 0 || old > b { b } else { old - 1 }))
        }
        (Value::U32 | Value::S32, _) => integers!(kind, AtomicU32, u32, i32, value == Value::S32),
        (Value::U64 | Value::S64, _) => integers!(kind, AtomicU64, u64, i64, value == Value::S64),
        (Value::B32, _) => bits!(kind, AtomicU32, u32),
        (Value::B64, _) => bits!(kind, AtomicU64, u64),
        (Value::B16, Kind::CompareSwap) => Some(compare_swap!(AtomicU16, u16)),
        (Value::B16, _) => None,
        (Value::F32, Kind::Add) => Some(update!(AtomicU32, u32, old, b => {
            super::math::float::bits32(f32::from_bits(old) + f32::from_bits(b)) as u32
        })),
        (Value::F64, Kind::Add) => {
            Some(update!(AtomicU64, u64, old, b => (f64::from_bits(old) + f64::from_bits(b)).to_bits()))
        }
        (Value::F32 | Value::F64, _) => None,
        (Value::F16, _) => halves!(kind, Half::F16),
        (Value::Bf16, _) => halves!(kind, Half::Bf16),
        (Value::F16x2, _) => halves!(pairs kind, Half::F16),
        (Value::Bf16x2, _) => halves!(pairs kind, Half::Bf16),
    }
}
