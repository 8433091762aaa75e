//! Sizes, alignments and field offsets as a C compiler lays them out where `long` and pointers have 64 bits.

use crate::ctype::{Array, CType};
use crate::model::{Kind, PRIMITIVES, Release, Struct};

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Size.
    pub size: usize,
    /// Alignment.
    pub align: usize,
}

const POINTER: Layout = Layout { size: 8, align: 8 };
const ENUM: Layout = Layout { size: 4, align: 4 };

/// The layout of a type, or `None` where it is unknown or a structure contains itself.
pub fn of_type(release: &Release, ty: &CType) -> Option<Layout> {
    nested(release, ty, 0)
}

/// A structure's layout with the offset of each field.
pub fn of_struct(release: &Release, item: &Struct) -> Option<(Layout, Vec<usize>)> {
    struct_at(release, item, 0)
}

/// A union's layout.
pub fn of_union(release: &Release, item: &Struct) -> Option<Layout> {
    union_at(release, item, 0)
}

/// Deeper nesting than any C header has: a structure that contains itself.
const DEPTH: usize = 32;

fn nested(release: &Release, ty: &CType, depth: usize) -> Option<Layout> {
    if depth > DEPTH {
        return None;
    }
    let one = if ty.is_pointer() { POINTER } else { base(release, &ty.base, depth)? };
    match ty.array {
        Array::None => Some(one),
        Array::Fixed(n) => Some(Layout { size: one.size * n, ..one }),
        Array::Open => None,
    }
}

fn base(release: &Release, name: &str, depth: usize) -> Option<Layout> {
    match release.kind(name)? {
        Kind::Primitive => {
            let size = PRIMITIVES.iter().find(|primitive| primitive.0 == name)?.2;
            Some(Layout { size, align: size })
        }
        Kind::Handle | Kind::Callback => Some(POINTER),
        Kind::Enum | Kind::Flag | Kind::Flags => Some(ENUM),
        Kind::Typedef => {
            let target = release.typedefs.iter().find(|item| item.name == name)?;
            nested(release, &target.ty, depth + 1)
        }
        Kind::Struct => {
            let item = release.structs.iter().find(|item| item.name == name)?;
            struct_at(release, item, depth + 1).map(|(layout, _)| layout)
        }
        Kind::Union => {
            let item = release.unions.iter().find(|item| item.name == name)?;
            union_at(release, item, depth + 1)
        }
    }
}

fn struct_at(release: &Release, item: &Struct, depth: usize) -> Option<(Layout, Vec<usize>)> {
    let mut whole = Layout { size: 0, align: 1 };
    let mut offsets = Vec::new();
    for field in &item.fields {
        let layout = nested(release, &field.ty, depth)?;
        let offset = whole.size.next_multiple_of(layout.align);
        offsets.push(offset);
        whole = Layout { size: offset + layout.size, align: whole.align.max(layout.align) };
    }
    whole.size = whole.size.next_multiple_of(whole.align);
    Some((whole, offsets))
}

fn union_at(release: &Release, item: &Struct, depth: usize) -> Option<Layout> {
    let mut whole = Layout { size: 0, align: 1 };
    for field in &item.fields {
        let layout = nested(release, &field.ty, depth)?;
        whole = Layout { size: whole.size.max(layout.size), align: whole.align.max(layout.align) };
    }
    whole.size = whole.size.next_multiple_of(whole.align);
    Some(whole)
}
