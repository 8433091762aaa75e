//! Communication among the lanes of a warp.

use super::*;
use crate::exec::op::{Redux, Shuffle, Vote};

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    match i.base {
        "shfl" => shuffle(i),
        "vote" => vote(i),
        "match" => matching(i),
        "redux" => redux(i),
        "activemask" => {
            if i.ty()? != Type::B32 {
                return Err(i.unknown());
            }
            i.arity(1)?;
            let to = i.write(0, Type::B32)?;
            i.b.emit(Op::ActiveMask { to });
            Ok(())
        }
        _ => elect(i),
    }
}

/// A destination, and the predicate behind its `|` or a scratch one.
fn with_predicate(i: &mut Instr<'_>, ty: Type) -> Result<(Slot, u32), LoadError> {
    match i.op(0)? {
        Operand::Pair(d, p) => Ok((i.b.write(d, ty)?, i.b.predicate_target(p)?)),
        d => Ok((i.b.write(d, ty)?, i.b.scratch())),
    }
}

fn shuffle(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if i.ty()? != Type::B32 {
        return Err(i.unknown());
    }
    let sync = i.flag("sync");
    let mode =
        i.require(&[("up", Shuffle::Up), ("down", Shuffle::Down), ("bfly", Shuffle::Bfly), ("idx", Shuffle::Idx)])?;
    i.arity(if sync { 5 } else { 4 })?;
    let (to, ok) = with_predicate(i, Type::B32)?;
    let (a, b, c) = (i.read(1, Type::B32)?, i.read(2, Type::B32)?, i.read(3, Type::B32)?);
    let members = if sync { Some(i.read(4, Type::B32)?) } else { None };
    i.b.emit(Op::Shuffle { mode, to, ok, a, b, c, members });
    Ok(())
}

fn vote(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let sync = i.flag("sync");
    let mode = i.require(&[("all", 0), ("any", 1), ("uni", 2), ("ballot", 3)])?;
    i.arity(if sync { 3 } else { 2 })?;
    let target = i.op(0)?;
    let vote = match (mode, ty) {
        (0, Type::Pred) => Vote::All(i.b.predicate_target(target)?),
        (1, Type::Pred) => Vote::Any(i.b.predicate_target(target)?),
        (2, Type::Pred) => Vote::Uni(i.b.predicate_target(target)?),
        (3, Type::B32) => Vote::Ballot(i.b.write(target, ty)?),
        _ => return Err(i.unknown()),
    };
    let p = i.b.predicate(i.op(1)?)?;
    let members = if sync { Some(i.read(2, Type::B32)?) } else { None };
    i.b.emit(Op::Vote { vote, p, members });
    Ok(())
}

fn matching(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let all = i.require(&[("any", false), ("all", true)])?;
    if !i.flag("sync") || !matches!(ty, Type::B32 | Type::B64) {
        return Err(i.unknown());
    }
    i.arity(3)?;
    let a = i.read(1, ty)?;
    let members = i.read(2, Type::B32)?;
    if all {
        let (to, ok) = with_predicate(i, Type::B32)?;
        i.b.emit(Op::MatchAll { to, ok, a, members });
    } else {
        let to = i.write(0, Type::B32)?;
        i.b.emit(Op::MatchAny { to, a, members });
    }
    Ok(())
}

fn redux(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let ty = i.ty()?;
    let redux = match (i.require(&[("add", 0), ("min", 1), ("max", 2), ("and", 3), ("or", 4), ("xor", 5)])?, ty) {
        (0, Type::U32 | Type::S32) => Redux::Add,
        (1, Type::U32) => Redux::MinU,
        (2, Type::U32) => Redux::MaxU,
        (1, Type::S32) => Redux::MinS,
        (2, Type::S32) => Redux::MaxS,
        (3, Type::B32) => Redux::And,
        (4, Type::B32) => Redux::Or,
        (5, Type::B32) => Redux::Xor,
        _ => return Err(i.unknown()),
    };
    if !i.flag("sync") {
        return Err(i.unknown());
    }
    i.arity(3)?;
    let (to, a, members) = (i.write(0, ty)?, i.read(1, ty)?, i.read(2, Type::B32)?);
    i.b.emit(Op::Redux { redux, to, a, members });
    Ok(())
}

fn elect(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if !i.flag("sync") {
        return Err(i.unknown());
    }
    i.arity(2)?;
    let (to, ok) = with_predicate(i, Type::B32)?;
    let members = i.read(1, Type::B32)?;
    i.b.emit(Op::Elect { to, ok, members });
    Ok(())
}
