//! Textures and surfaces by handle: `tex`, `suld.b`, `sust.b`, `txq`, `suq`.
//!
//! The forms that CUDA's texture and surface functions compile to, for images of one to three dimensions. Levels,
//! gradients, layers, cubes and references by name have no operation here and stay unknown.

use super::*;
use crate::exec::image::Outside;
use crate::exec::op::{Query, Sample, SurfaceAccess};

pub(super) fn decode(i: &mut Instr<'_>) -> Result<(), LoadError> {
    match i.base {
        "tex" => sample(i),
        "suld" | "sust" => surface(i),
        _ => query(i),
    }
}

fn dimensions(i: &mut Instr<'_>) -> Result<usize, LoadError> {
    i.require(&[("1d", 1), ("2d", 2), ("3d", 3)])
}

/// The slots of `[handle, {x, y, z}]`; a third coordinate is followed by one without meaning.
fn place(i: &mut Instr<'_>, at: usize, dimensions: usize, ty: Type) -> Result<(Slot, [Slot; 3]), LoadError> {
    let Operand::Texel(handle, coordinates) = i.op(at)? else {
        return Err(i.error("a handle and its coordinates in brackets are expected"));
    };
    let wanted = if dimensions == 3 { 4 } else { dimensions };
    if coordinates.len() != wanted {
        return Err(i.error(format!("'{}' takes {wanted} coordinates here, not {}", i.base, coordinates.len())));
    }
    let handle = i.b.read(&Operand::Name(handle.clone()), Type::B64)?;
    let mut slots = [i.b.constant(0); 3];
    for (slot, coordinate) in slots.iter_mut().zip(&coordinates[..dimensions]) {
        *slot = i.b.read(coordinate, ty)?;
    }
    Ok((handle, slots))
}

/// The registers of `{a, b, c, d}`, or of one alone.
fn elements<'o>(i: &Instr<'o>, at: usize, count: usize) -> Result<&'o [Operand], LoadError> {
    let elements: &[Operand] = match i.op(at)? {
        Operand::Vector(list) => list,
        one => std::slice::from_ref(one),
    };
    if elements.len() == count {
        return Ok(elements);
    }
    Err(i.error(format!("'{}' takes {count} elements, not {}", i.base, elements.len())))
}

fn sample(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let coordinate = i.ty()?;
    let value = i.ty()?;
    if !matches!(coordinate, Type::F32 | Type::S32) || !matches!(value, Type::F32 | Type::S32 | Type::U32) {
        return Err(i.unknown());
    }
    i.require(&[("v4", ())])?;
    let dimensions = dimensions(i)?;
    i.arity(2)?;
    let mut to = [0; 4];
    for (slot, element) in to.iter_mut().zip(elements(i, 0, 4)?) {
        *slot = i.b.write(element, value)?;
    }
    let (texture, at) = place(i, 1, dimensions, coordinate)?;
    let (integer, dimensions) = (coordinate == Type::S32, dimensions as u8);
    i.b.emit(Op::Sample(Box::new(Sample { texture, at, dimensions, integer, to })));
    Ok(())
}

fn surface(i: &mut Instr<'_>) -> Result<(), LoadError> {
    let store = i.base == "sust";
    let outside = i.require(&[("trap", Outside::Trap), ("clamp", Outside::Clamp), ("zero", Outside::Zero)])?;
    let ty = i.ty()?;
    if !matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64) {
        return Err(i.unknown());
    }
    i.require(&[("b", ())])?;
    let count = i.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let dimensions = dimensions(i)?;
    i.ignore(if store { &["wb", "cg", "cs", "wt"] } else { &["ca", "cg", "cs", "cv"] });
    if count * ty.bytes() > 16 {
        return Err(i.unknown());
    }
    i.arity(2)?;
    let (at, value) = if store { (0, 1) } else { (1, 0) };
    let mut values = [0; 4];
    for (slot, element) in values.iter_mut().zip(elements(i, value, count)?) {
        *slot = if store { i.b.read_wide(element, ty)? } else { i.b.write_wide(element, ty)?.0 };
    }
    let (surface, at) = place(i, at, dimensions, Type::B32)?;
    let (width, count) = (ty.bytes() as u8, count as u8);
    i.b.emit(Op::Surface(Box::new(SurfaceAccess { store, surface, at, outside, width, count, values })));
    Ok(())
}

fn query(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if i.ty()? != Type::B32 {
        return Err(i.unknown());
    }
    let axis = i.require(&[("width", 0), ("height", 1), ("depth", 2)])?;
    i.arity(2)?;
    let to = i.write(0, Type::B32)?;
    let Operand::Address(Some(handle), 0) = i.op(1)? else {
        return Err(i.error("a handle in brackets is expected"));
    };
    let object = i.b.read(&Operand::Name(handle.clone()), Type::B64)?;
    i.b.emit(Op::Query(Query { of_surface: i.base == "suq", object, axis, to }));
    Ok(())
}
