//! Loads, stores, address conversions, prefetches and asynchronous copies.
//!
//! Memory here is coherent and every access is at least relaxed, so cache hints and orders weaker than acquire
//! have no operation of their own; acquire and release add a fence.

use super::*;
use crate::exec::lanes::alu;
use crate::exec::op::{Address, LOCAL_WINDOW, Load, PARAM_WINDOW, SHARED_WINDOW, Slot, Space, Store};

const SPACES: [(&str, Space); 10] = [
    ("global", Space::Global),
    ("const", Space::Global),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::Shared),
    ("local", Space::Local),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
    ("generic", Space::Generic),
];

/// The version of PTX that has volatile accesses of local memory.
const VOLATILE_LOCAL: f64 = 9.1;

const SCOPES: [&str; 5] = ["cta", "cluster", "gpu", "sys", "gl"];

pub(super) fn decode(i: &mut Instr<'_>, parsed: &Parsed) -> Result<(), LoadError> {
    match i.base {
        "ld" | "ldu" | "st" => access(i, parsed.version),
        "cvta" => cvta(i),
        "isspacep" => isspacep(i),
        "cp" => copy(i),
        _ => prefetch(i),
    }
}

/// The state space an instruction names; generic without one.
pub(super) fn space(i: &mut Instr<'_>) -> Space {
    i.choose(&SPACES).unwrap_or(Space::Generic)
}

/// Removes cache hints; whether one of them comes with an operand.
pub(super) fn hints(i: &mut Instr<'_>) -> bool {
    let policy = i.flag("L2::cache_hint");
    i.mods.retain(|m| {
        !(matches!(*m, "L1::evict_normal" | "L1::evict_unchanged" | "L1::evict_first" | "L1::evict_last")
            || matches!(*m, "L1::no_allocate" | "L2::64B" | "L2::128B" | "L2::256B")
            || matches!(*m, "L2::evict_first" | "L2::evict_last" | "L2::evict_normal"))
    });
    policy
}

fn access(i: &mut Instr<'_>, version: f64) -> Result<(), LoadError> {
    let ty = i.ty()?;
    if ty == Type::Pred {
        return Err(i.unknown());
    }
    let store = i.base == "st";
    let space = space(i);
    let count = i.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    if count * ty.bytes() > 16 {
        return Err(i.unknown());
    }
    let policy = hints(i);
    let ordered = if store { i.flag("release") } else { i.flag("acquire") };
    if i.flag("volatile") && space == Space::Local && version < VOLATILE_LOCAL {
        return Err(i.error("'.volatile' with '.local' needs .version 9.1"));
    }
    i.ignore(&["weak", "relaxed", "mmio", "unified"]);
    i.ignore(&SCOPES[..4]);
    i.ignore(if store { &["wb", "cg", "cs", "wt"] } else { &["ca", "cg", "cs", "lu", "cv", "nc"] });
    i.arity(if policy { 3 } else { 2 })?;
    if ordered && store {
        i.b.emit(Op::Fence);
    }
    let (at, value) = if store { (0, 1) } else { (1, 0) };
    let address = i.b.address(i.op(at)?, space)?;
    let elements: &[Operand] = match i.op(value)? {
        Operand::Vector(list) => list,
        one => std::slice::from_ref(one),
    };
    if elements.len() != count {
        return Err(i.error(format!("'{}' takes {count} elements, not {}", i.base, elements.len())));
    }
    if store {
        emit_store(i, address, elements, ty)?
    } else {
        emit_load(i, address, elements, ty)?
    }
    if ordered && !store {
        i.b.emit(Op::Fence);
    }
    Ok(())
}

fn emit_load(i: &mut Instr<'_>, address: Address, elements: &[Operand], ty: Type) -> Result<(), LoadError> {
    let mut to = [0; 4];
    let mut keep = 64;
    for (k, op) in elements.iter().enumerate() {
        let (slot, width) = i.b.write_wide(op, ty)?;
        to[k] = slot;
        keep = width;
    }
    let sign_shift = if ty.is_signed() { 64 - ty.bits() as u8 } else { 0 };
    let (width, count) = (ty.bytes() as u8, elements.len() as u8);
    i.b.emit(Op::Load(Load { address, width, count, sign_shift, keep: keep as u8, to }));
    Ok(())
}

fn emit_store(i: &mut Instr<'_>, address: Address, elements: &[Operand], ty: Type) -> Result<(), LoadError> {
    if address.space == Space::Param {
        return Err(i.error("a kernel's parameters cannot be written"));
    }
    let mut from = [0; 4];
    for (k, op) in elements.iter().enumerate() {
        from[k] = i.b.read_wide(op, ty)?;
    }
    let (width, count) = (ty.bytes() as u8, elements.len() as u8);
    i.b.emit(Op::Store(Store { address, width, count, from }));
    Ok(())
}

fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Global | Space::Generic => 0,
    }
}

fn cvta(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let to = i.flag("to");
    let mut space = i.require(&SPACES)?;
    if ty != Type::U64 && ty != Type::B64 {
        return Err(i.unknown());
    }
    i.arity(2)?;
    let d = i.write(0, Type::U64)?;
    let a = match i.op(1)? {
        Operand::Name(name) | Operand::Offset(name, _) if i.b.register_type(i.op(1)?).is_none() => {
            let (slot, found) = i.b.address_of(name)?;
            space = if space == Space::Param { found } else { space };
            if let Operand::Offset(_, offset) = i.op(1)? {
                let offset = i.b.constant(*offset as u64);
                i.alu(alu!(a, b => a.wrapping_add(b)), &[d, slot, offset]);
                d
            } else {
                slot
            }
        }
        op => {
            // A function's own parameters live in its frame.
            space = if space == Space::Param && !i.b.entry { Space::Local } else { space };
            i.b.read(op, Type::U64)?
        }
    };
    let base = i.b.constant(window(space));
    let run = if to { alu!(a, w => a.wrapping_sub(w)) } else { alu!(a, w => a.wrapping_add(w)) };
    i.alu(run, &[d, a, base]);
    Ok(())
}

fn isspacep(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let space = i.require(&SPACES)?;
    i.arity(2)?;
    let p = i.op(0)?;
    let to = i.b.predicate_target(p)?;
    let address = i.read(1, Type::U64)?;
    i.b.emit(Op::IsSpace { to, address, space });
    Ok(())
}

fn prefetch(i: &mut Instr<'_>) -> Result<(), LoadError> {
    space(i);
    i.ignore(&["L1", "L2", "tensormap", "L2::evict_last", "L2::evict_normal", "L2", "128", "uniform"]);
    i.b.emit(Op::Nop);
    Ok(())
}

/// `cp.async`: done at once, which its waiting instructions then need not do.
fn copy(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if !i.flag("async") {
        return Err(i.unknown());
    }
    if i.flag("commit_group") || i.flag("wait_all") || i.flag("wait_group") {
        i.b.emit(Op::Nop);
        return Ok(());
    }
    if i.mods.iter().any(|m| m.starts_with("bulk") || m.starts_with("mbarrier")) {
        return Err(i.unknown());
    }
    i.require(&[("ca", ()), ("cg", ())])?;
    let to = i.require(&SPACES)?;
    let from = i.require(&SPACES)?;
    let policy = hints(i);
    let operands = i.ops.len() - usize::from(policy);
    if !(3..=4).contains(&operands) {
        return Err(i.error("'cp.async' takes 3 or 4 operands"));
    }
    let Operand::Int(size) = i.op(2)? else { return Err(i.error("the size of cp.async is a constant")) };
    if !matches!(size, 4 | 8 | 16) {
        return Err(i.error(format!("cp.async copies 4, 8 or 16 bytes, not {size}")));
    }
    let to = i.b.address(i.op(0)?, to)?;
    let from = i.b.address(i.op(1)?, from)?;
    let read: Slot = if operands == 4 { i.read(3, Type::U32)? } else { i.b.constant(*size) };
    i.b.emit(Op::CopyBytes { from, to, size: *size as u8, read });
    Ok(())
}
