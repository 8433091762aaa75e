//! Sizes and alignments of types in memory, as the OpenCL environment lays them out: natural alignment, vectors of three as
//! large as those of four, structures as in C unless they are packed. LLVM's own layout for this target is the same.

use std::collections::HashMap;

use super::{Id, Module, Type, kind};
use crate::error::{Error, Result};
use crate::fold::Folder;
use crate::limits;

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub size: u64,
    pub align: u64,
}

/// The layouts computed so far. Lengths of arrays may be specialised, so they are those of one translation.
#[derive(Debug, Default)]
pub(crate) struct Layouts {
    known: HashMap<Id, Layout>,
    lengths: HashMap<Id, u64>,
    /// The constants that lengths and modes are.
    pub(super) folder: Folder,
}

impl Layouts {
    /// The length of an array, which is a constant.
    ///
    /// # Errors
    /// It is no positive integer.
    pub(crate) fn length(&mut self, module: &Module, constant: Id) -> Result<u64> {
        if let Some(&known) = self.lengths.get(&constant) {
            return Ok(known);
        }
        let length = self.folder.integer(module, constant)?;
        if length == 0 || length > limits::MAX_TYPE_BYTES {
            return Err(Error::malformed(format!("an array has {length} elements")));
        }
        self.lengths.insert(constant, length);
        Ok(length)
    }

    /// # Errors
    /// The type has no size, or is larger than [`limits::MAX_TYPE_BYTES`].
    pub(crate) fn of(&mut self, module: &Module, ty: Id) -> Result<Layout> {
        if let Some(&known) = self.known.get(&ty) {
            return Ok(known);
        }
        let layout = match module.ty(ty)? {
            Type::Bool => Layout { size: 1, align: 1 },
            Type::Int(bits) | Type::Float(bits) => {
                let bytes = u64::from(bits / 8);
                Layout { size: bytes, align: bytes }
            }
            Type::Pointer(..) | Type::Event => Layout { size: 8, align: 8 },
            Type::Vector(element, count) => {
                let element = self.of(module, element)?;
                let size = element.size * u64::from(count.next_power_of_two());
                Layout { size, align: size }
            }
            Type::Array(element, length) => {
                let (element, length) = (self.of(module, element)?, self.length(module, length)?);
                Layout { size: element.size.saturating_mul(length), align: element.align }
            }
            Type::Structure(members) => self.structure(module, ty, members)?,
            Type::Void | Type::Function(..) | Type::Other(_) => {
                return Err(Error::unsupported(format!("type {ty} has no size in memory")));
            }
        };
        if layout.size > limits::MAX_TYPE_BYTES {
            return Err(Error::limit(format!("type {ty} is larger than {} bytes", limits::MAX_TYPE_BYTES)));
        }
        self.known.insert(ty, layout);
        Ok(layout)
    }

    fn structure(&mut self, module: &Module, ty: Id, members: &[Id]) -> Result<Layout> {
        let packed = module.decoration(ty, kind::CPACKED).is_some();
        let mut layout = Layout { size: 0, align: 1 };
        for &member in members {
            let Layout { size, align } = self.of(module, member)?;
            let align = if packed { 1 } else { align.max(1) };
            layout.align = layout.align.max(align);
            layout.size = layout.size.next_multiple_of(align).saturating_add(size);
            if layout.size > limits::MAX_TYPE_BYTES {
                break;
            }
        }
        layout.size = layout.size.next_multiple_of(layout.align);
        Ok(layout)
    }
}
