//! Jumps, ends, barriers and fences.

use super::*;
use crate::exec::op::BarrierKind;
use crate::exec::op::Pred;
use crate::ptx::builder::Symbol;

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    match i.base {
        "bra" => branch(i),
        "brx" => branch_indexed(i),
        "bar" | "barrier" => barrier(i),
        "membar" | "fence" => fence(i),
        "ret" => {
            i.flag("uni");
            simple(i, Op::Return)
        }
        "exit" => simple(i, Op::Exit),
        "trap" | "brkpt" => simple(i, Op::Trap),
        "nanosleep" => {
            i.flag("u32");
            i.arity(1)?;
            i.read(0, Type::U32)?;
            i.b.emit(Op::Pause);
            Ok(())
        }
        // Marks for dependent launches and profilers.
        _ => {
            i.ignore(&["launch_dependents", "wait", "mask"]);
            i.b.emit(Op::Nop);
            Ok(())
        }
    }
}

fn simple(i: &mut Instr<'_>, op: Op) -> Result<(), LoadError> {
    i.arity(0)?;
    i.b.emit(op);
    Ok(())
}

fn label<'a>(i: &Instr<'a>, op: &'a Operand) -> Result<&'a str, LoadError> {
    match op {
        Operand::Name(name) => Ok(name),
        _ => Err(i.error("a label is expected")),
    }
}

fn branch(i: &mut Instr<'_>) -> Result<(), LoadError> {
    i.flag("uni");
    i.arity(1)?;
    let name = label(i, i.op(0)?)?;
    i.b.jump(0, name);
    i.b.emit(Op::Branch { target: 0 });
    Ok(())
}

fn branch_indexed(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if !i.flag("idx") {
        return Err(i.unknown());
    }
    i.flag("uni");
    i.arity(2)?;
    let index = i.read(0, Type::U32)?;
    let name = label(i, i.op(1)?)?;
    let Some(Symbol::Targets(targets)) = i.b.lookup(name) else {
        return Err(i.error(format!("'{name}' is not a list of branch targets")));
    };
    for (k, target) in targets.iter().enumerate() {
        i.b.jump(k, target);
    }
    i.b.emit(Op::BranchIndexed { index, targets: vec![0; targets.len()].into() });
    Ok(())
}

fn barrier(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if i.flag("warp") {
        if !i.flag("sync") {
            return Err(i.unknown());
        }
        i.arity(1)?;
        let members = i.read(0, Type::B32)?;
        i.b.emit(Op::WarpSync { members });
        return Ok(());
    }
    i.flag("cta");
    i.flag("aligned");
    if i.flag("arrive") {
        i.arity(2)?;
        let (id, count) = (i.read(0, Type::U32)?, i.read(1, Type::U32)?);
        i.b.emit(Op::Barrier { kind: BarrierKind::Arrive, id, count: Some(count), p: Pred::TRUE });
        return Ok(());
    }
    if i.flag("red") {
        return reduction(i);
    }
    if !i.flag("sync") {
        return Err(i.unknown());
    }
    if i.ops.len() != 2 {
        i.arity(1)?;
    }
    let id = i.read(0, Type::U32)?;
    let count = if i.ops.len() == 2 { Some(i.read(1, Type::U32)?) } else { None };
    i.b.emit(Op::Barrier { kind: BarrierKind::Sync, id, count, p: Pred::TRUE });
    Ok(())
}

fn reduction(i: &mut Instr<'_>) -> Result<(), LoadError> {
    #[derive(Clone, Copy)]
    enum Which {
        Popc,
        And,
        Or,
    }
    let ty = i.ty()?;
    let which = i.require(&[("popc", Which::Popc), ("and", Which::And), ("or", Which::Or)])?;
    if i.ops.len() != 4 {
        i.arity(3)?;
    }
    let target = i.op(0)?;
    let kind = match (which, ty) {
        (Which::Popc, Type::U32) => BarrierKind::Popc(i.b.write(target, ty)?),
        (Which::And, Type::Pred) => BarrierKind::And(i.b.predicate_target(target)?),
        (Which::Or, Type::Pred) => BarrierKind::Or(i.b.predicate_target(target)?),
        _ => return Err(i.unknown()),
    };
    let id = i.read(1, Type::U32)?;
    let count = if i.ops.len() == 4 { Some(i.read(2, Type::U32)?) } else { None };
    let p = i.b.predicate(i.op(i.ops.len() - 1)?)?;
    i.b.emit(Op::Barrier { kind, id, count, p });
    Ok(())
}

fn fence(i: &mut Instr<'_>) -> Result<(), LoadError> {
    i.ignore(&["cta", "cluster", "gl", "gpu", "sys", "sc", "acq_rel", "acquire", "release"]);
    if i.base == "fence" && i.flag("proxy") {
        i.ignore(&["alias", "async", "global", "shared::cta", "shared::cluster", "generic"]);
    }
    i.arity(0)?;
    i.b.emit(Op::Fence);
    Ok(())
}
