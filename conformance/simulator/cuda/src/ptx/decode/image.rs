//! Textures and surfaces by handle: `tex`, `suld.b`, `sust.b`, `txq`, `suq`.
//!
//! The forms that CUDA's texture and surface functions compile to, for images of one to three dimensions and layers of
//! one and two. Levels, gradients, cubes and references by name have no operation here and stay unknown.

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

/// What an instruction says of its image.
#[derive(Clone, Copy)]
struct Geometry {
    dimensions: usize,
    layered: bool,
}

fn geometry(i: &mut Instr<'_>) -> Result<Geometry, LoadError> {
    let of = |dimensions, layered| Geometry { dimensions, layered };
    i.require(&[
        ("1d", of(1, false)),
        ("2d", of(2, false)),
        ("3d", of(3, false)),
        ("a1d", of(1, true)),
        ("a2d", of(2, true)),
    ])
}

/// The slots of `[handle, {layer, x, y, z}]`, with a layer for layered images alone; a third number is followed by one
/// without meaning.
fn place(
    i: &mut Instr<'_>,
    at: usize,
    Geometry { dimensions, layered }: Geometry,
    ty: Type,
) -> Result<(Slot, [Slot; 3], Option<Slot>), LoadError> {
    let Operand::Texel(handle, coordinates) = i.op(at)? else {
        return Err(i.error("a handle and its coordinates in brackets are expected"));
    };
    let (first, count) = (usize::from(layered), dimensions + usize::from(layered));
    let wanted = if count == 3 { 4 } else { count };
    if coordinates.len() != wanted {
        return Err(i.error(format!("'{}' takes {wanted} coordinates here, not {}", i.base, coordinates.len())));
    }
    let handle = i.b.read(&Operand::Name(handle.clone()), Type::B64)?;
    let mut slots = [i.b.constant(0); 3];
    for (slot, coordinate) in slots.iter_mut().zip(&coordinates[first..count]) {
        *slot = i.b.read(coordinate, ty)?;
    }
    let layer = if layered { Some(i.b.read(&coordinates[0], Type::B32)?) } else { None };
    Ok((handle, slots, layer))
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
    let geometry = geometry(i)?;
    i.arity(2)?;
    let mut to = [0; 4];
    for (slot, element) in to.iter_mut().zip(elements(i, 0, 4)?) {
        *slot = i.b.write(element, value)?;
    }
    let (texture, at, layer) = place(i, 1, geometry, coordinate)?;
    let (integer, dimensions) = (coordinate == Type::S32, geometry.dimensions as u8);
    i.b.emit(Op::Sample(Box::new(Sample { texture, at, layer, dimensions, integer, to })));
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
    let geometry = geometry(i)?;
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
    let (surface, [x, y, z], layer) = place(i, at, geometry, Type::B32)?;
    let (at, layered) = ([x, y, layer.unwrap_or(z)], geometry.layered);
    let (width, count) = (ty.bytes() as u8, count as u8);
    i.b.emit(Op::Surface(Box::new(SurfaceAccess { store, surface, at, layered, outside, width, count, values })));
    Ok(())
}

fn query(i: &mut Instr<'_>) -> Result<(), LoadError> {
    if i.ty()? != Type::B32 {
        return Err(i.unknown());
    }
    // A driver refuses to load what asks a surface for its layers.
    let axes: &[_] = &[("width", 0), ("height", 1), ("depth", 2), ("array_size", 3)];
    let axis = i.require(if i.base == "suq" { &axes[..3] } else { axes })?;
    i.arity(2)?;
    let to = i.write(0, Type::B32)?;
    let Operand::Address(Some(handle), 0) = i.op(1)? else {
        return Err(i.error("a handle in brackets is expected"));
    };
    let object = i.b.read(&Operand::Name(handle.clone()), Type::B64)?;
    i.b.emit(Op::Query(Query { of_surface: i.base == "suq", object, axis, to }));
    Ok(())
}
